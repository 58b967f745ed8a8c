"""A manual page, from text with the Markdown that docs/ uses: `code`, **bold**, *emphasis*, links,
headings, paragraphs, bullets, fences and tables. Anything else is refused, not guessed at.
"""

import re
import textwrap

_INLINE = re.compile(r"(?P<code>`+)(?P<literal>.+?)(?P=code)"
                     r"|\*\*(?P<bold>.+?)\*\*|(?<![\w*])\*(?P<emphasis>[^*\s][^*]*)\*"
                     r"|\[(?P<text>[^\]]+)\]\([^)]+\)")


def escape(text):
    return text.replace("\\", "\\e")


def literal(text):
    """Text to be typed as it stands: `-` stays a hyphen that can be copied."""
    return escape(text).replace("-", "\\-").replace("^", "\\(ha").replace("~", "\\(ti") \
        .replace("'", "\\(aq").replace("`", "\\(ga")


def inline(text):
    out, end = [], 0
    for match in _INLINE.finditer(text):
        out.append(escape(text[end:match.start()]))
        if match["literal"]:
            out.append(f"\\fB{literal(match['literal'])}\\fR")
        elif match["bold"]:
            out.append(f"\\fB{inline(match['bold'])}\\fR")
        elif match["emphasis"]:
            out.append(f"\\fI{inline(match['emphasis'])}\\fR")
        else:
            out.append(inline(match["text"]))
        end = match.end()
    return "".join(out) + escape(text[end:])


def _no_request(line):
    """A line that begins with . or ' would be a request of roff."""
    return "\\&" + line if line[:1] in (".", "'") else line


class Page:
    def __init__(self, name, section, date, source, manual):
        self.lines = [f'.TH {name.upper()} {section} "{date}" "{source}" "{manual}"']
        self._fresh = False  # just after a heading, where a paragraph needs no macro

    def __str__(self):
        return "\n".join(self.lines) + "\n"

    def section(self, title):
        self._heading("SH", title.upper())

    def subsection(self, title):
        self._heading("SS", title)

    def _heading(self, macro, title):
        self.lines.append(f'.{macro} "{literal(title)}"' if " " in title
                          else f".{macro} {literal(title)}")
        self._fresh = True

    def _text(self, roff):
        # A blank between words may be inside bold text; that is fine, fonts last over lines.
        lines = textwrap.wrap(roff, 74, break_long_words=False, break_on_hyphens=False)
        self.lines += [_no_request(line) for line in lines]

    def roff(self, text):
        """A paragraph that is roff already."""
        if not self._fresh:
            self.lines.append(".PP")
        self._fresh = False
        self._text(text)

    def paragraph(self, text):
        self.roff(inline(text))

    def tagged(self, tag, *texts):
        """tag is roff; the texts are Markdown, each a line of its own."""
        self.lines += [".TP", _no_request(tag)]
        for i, text in enumerate(texts):
            if i:
                self.lines.append(".br")
            self._text(inline(text))
        self._fresh = False

    def bullet(self, text):
        self.lines.append(".IP \\(bu 2")
        self._text(inline(text))
        self._fresh = False

    def example(self, lines):
        # Not .nf alone: a blank line there is a warning, .EX wants none either.
        self.lines += [".PP"] if not self._fresh else []
        self.lines += [".RS 4", ".nf"]
        self.lines += [_no_request(literal(line)) or "\\&" for line in lines]
        self.lines += [".fi", ".RE"]
        self._fresh = False


def cells(row):
    inner = row.strip().removeprefix("|").removesuffix("|")
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", inner)]


def _table(page, rows):
    header, body = cells(rows[0]), [cells(row) for row in rows[2:]]
    for row in body:
        if len(row) != len(header):
            raise ValueError(f"a row of {len(row)} cells under a header of {len(header)}: {row}")
        if header == ["key", "type", "default", "meaning"]:
            # `required` is also a value of `writes`.
            words = {} if row[2] in row[1].split(", ") else {"required": "required",
                                                             "none": "no default"}
            default = words.get(row[2], f"default `{row[2]}`")
            page.tagged(inline(row[0]), f"{row[1]}; {default}", *filter(None, row[3:]))
        elif len(header) == 2:
            page.tagged(inline(row[0]), row[1])
        else:
            page.tagged(inline(row[0]), *(f"{name}: {cell}"
                                          for name, cell in zip(header[1:], row[1:])))


def _blocks(markdown):
    """(kind, lines): heading, fence, table, bullet or paragraph."""
    lines = iter(markdown.splitlines())
    kind, block = None, []
    for line in lines:
        if line.startswith("```"):
            if block:
                yield kind, block
            block = []
            for inside in lines:
                if inside.startswith("```"):
                    break
                block.append(inside)
            yield "fence", block
            kind, block = None, []
            continue
        if re.match(r"(> |[0-9]+\. |<|- {2,}|\s+[-*] |!\[)", line):
            raise ValueError(f"a form of Markdown that manuals do not know: {line}")
        starts = ("heading" if line.startswith("#") else "table" if line.startswith("|")
                  else "bullet" if line.startswith("- ") else None)
        if not line.strip() or (starts and (starts != kind or starts != "table")):
            if block:
                yield kind, block
            kind, block = None, []
        if line.strip():
            kind = kind or starts or "paragraph"
            block.append(line.strip() if kind != "table" else line)
    if block:
        yield kind, block


def add_markdown(page, markdown):
    for kind, lines in _blocks(markdown):
        if kind == "heading":
            level, title = re.fullmatch(r"(#+) (.*)", " ".join(lines)).groups()
            (page.section if len(level) <= 2 else page.subsection)(title)
        elif kind == "fence":
            page.example(lines)
        elif kind == "table":
            _table(page, lines)
        elif kind == "bullet":
            page.bullet(" ".join(lines).removeprefix("- "))
        else:
            page.paragraph(" ".join(lines))
