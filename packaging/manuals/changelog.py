"""The changelog as Debian wants it, from the newest part of CHANGELOG.md."""

import re
import textwrap


def debian(markdown, version, maintainer, when):
    """when is an aware datetime. The part of this version, or [Unreleased] if it has none yet."""
    parts = re.split(r"^## ", markdown, flags=re.MULTILINE)[1:]
    chosen = [part for part in parts if part.startswith(f"[{version}]")]
    chosen = chosen or [part for part in parts if part.startswith("[Unreleased]")]
    if not chosen:
        raise ValueError(f"CHANGELOG.md has neither [{version}] nor [Unreleased]")
    lines = [f"fenceline ({version}) unstable; urgency=medium", ""]
    kind = ""
    for item in re.split(r"^(?=### |- )", chosen[0], flags=re.MULTILINE)[1:]:
        text = " ".join(item.split())
        if text.startswith("### "):
            kind = text[4:]
            continue
        lines += textwrap.wrap(f"{kind}: {text[2:].replace('`', '')}", 78, initial_indent="  * ",
                               subsequent_indent="    ", break_long_words=False)
    lines += ["", f" -- {maintainer}  {when.strftime('%a, %d %b %Y %H:%M:%S %z')}"]
    return "\n".join(lines) + "\n"
