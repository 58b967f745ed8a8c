"""fenceline(1) from the command line, fenceline.yaml(5) from docs/config.md."""

import re

import roff

_DESCRIPTION = """\
**fenceline** stands in front of storage. Every write carries a *fencing token*, a number that is
larger at each grant of a lease. fenceline keeps the highest token per key durably and refuses, at
the moment when the write would take effect, each one with a token that was overtaken. What it
serves is written in a file, fenceline.yaml(5)."""

_FILES = (
    ("/etc/fenceline/fenceline.yaml", "The configuration of the service."),
    ("/etc/fenceline/environment",
     "Lines `NAME=value` for `${NAME}` in the configuration, for secrets; not there by default."),
    ("/var/lib/fenceline/ledger.db",
     "The ledger of the service: the highest token of each key. Back it up, never delete it."),
    ("/usr/share/doc/fenceline/", "The API, the operation and the failures, in Markdown."),
)


def _signature(command):
    words = ["\\fB" + roff.literal(command.name) + "\\fR"]
    if command.commands:
        words.append("\\fIcommand\\fR")
    if any(option.names for option in command.options):
        words.append("[\\fIoptions\\fR]")
    for option in command.positionals:
        word = f"\\fI{roff.literal(option.positional)}\\fR"
        words.append(word if option.required else f"[{word}]")
    return " ".join(words)


def _tag(option):
    names = ", ".join(f"\\fB{roff.literal(name)}\\fR" for name in option.names)
    if not names:
        return f"\\fI{roff.literal(option.positional)}\\fR"
    return names + (f" \\fI{roff.literal(option.value)}\\fR" if option.value else "")


def _sentence(text):
    return text if text.endswith((".", ":")) else text + "."


def _add_options(page, options):
    for option in options:
        text = _sentence(option.description)
        if option.positional and option.names:
            text += f" May be given as the argument *{option.positional}*."
        if option.choices:
            text += " One of " + ", ".join(f"`{choice}`" for choice in option.choices) + "."
        if option.required:
            text += " Required."
        page.tagged(_tag(option), text)


def _footer_blocks(footer):
    """(heading or "", lines): `Example:` with indented lines below, or a plain paragraph."""
    for block in re.split(r"\n\s*\n", footer.strip("\n")):
        lines = block.splitlines()
        if lines and lines[0].endswith(":") and all(line.startswith(" ") for line in lines[1:]):
            yield lines[0].removesuffix(":"), [line.strip() for line in lines[1:]]
        elif lines:
            yield "", lines


def _add_footer(page, footer, headings):
    for heading, lines in _footer_blocks(footer):
        if heading in headings:
            page.section(headings[heading])
        elif heading:
            page.paragraph(f"{heading}:")
        codes = [re.fullmatch(r"([0-9]+)\s{2,}(.*)", line) for line in lines]
        if not heading:
            page.paragraph(" ".join(lines))
        elif all(codes):
            for code in codes:
                page.tagged(f"\\fB{code[1]}\\fR", _sentence(code[2]))
        else:
            page.example(lines)


def command_page(root, version, date):
    page = roff.Page("fenceline", 1, date, f"fenceline {version}", "User Commands")
    page.section("Name")
    summary = root.description.removeprefix("fenceline: a ").removesuffix(".")
    page.roff(f"fenceline \\- {roff.escape(summary)}")
    page.section("Synopsis")
    leaves = [command for command in root.walk() if command.path and not command.commands]
    for i, command in enumerate(leaves):
        page.lines += [".br"] if i else []
        page.lines.append(_signature(command))
    page.section("Description")
    page.paragraph(_DESCRIPTION)
    page.section("Commands")
    for command in root.walk():
        if command.path:
            page.subsection(command.name)
            page.roff(_signature(command))
            page.paragraph(_sentence(command.description))
            _add_options(page, command.options)
            _add_footer(page, command.footer, {})
    page.section("Options")
    _add_options(page, root.options)
    _add_footer(page, root.footer, {"Examples": "Examples", "Exit codes": "Exit status"})
    page.section("Files")
    for path, text in _FILES:
        page.tagged(f"\\fI{roff.literal(path)}\\fR", text)
    page.section("See also")
    page.roff("\\fBfenceline.yaml\\fR(5), \\fBsystemctl\\fR(1), \\fBjournalctl\\fR(1)")
    return str(page)


def config_page(markdown, version, date):
    title, body = markdown.split("\n", 1)
    if title != "# Configuration":
        raise ValueError(f"docs/config.md begins with {title!r}, not with its title")
    page = roff.Page("fenceline.yaml", 5, date, f"fenceline {version}", "File Formats")
    page.section("Name")
    page.roff("fenceline.yaml \\- configuration of the storage proxy fenceline")
    page.section("Description")
    roff.add_markdown(page, body)
    page.section("See also")
    page.roff("\\fBfenceline\\fR(1)")
    return str(page)
