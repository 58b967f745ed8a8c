"""The snippets of docs/s3.md, as the tests run them.

A recipe is a section `### <client>` below `## Recipes`. Its first block of code is how the client
is set up, which is all that these tests do before they use it; the second one is an example of its
use, which they run too. The address and 34 stand for what a reader has; the tests put in theirs.
"""

import re
from pathlib import Path

PAGE = Path(__file__).resolve().parents[2] / "docs/s3.md"
URL, HOST, TOKEN = "http://127.0.0.1:8080", "127.0.0.1:8080", r"\b34\b"


def names():
    return re.findall(r"^### (.+)$", _section(), re.MULTILINE)


def blocks(name):
    """The blocks of code of one recipe."""
    match = re.search(rf"^### {re.escape(name)}$(.*?)(?=^### |\Z)", _section(),
                      re.MULTILINE | re.DOTALL)
    if not match:
        raise AssertionError(f"{PAGE} has no recipe '{name}'; it has {names()}")
    return re.findall(r"^```[a-z]*\n(.*?)^```$", match[1], re.MULTILINE | re.DOTALL)


def filled(name, number, door, token):
    """Block `number` (from 0) of a recipe, for this server and this token."""
    found = blocks(name)
    if number >= len(found):
        raise AssertionError(f"the recipe '{name}' of {PAGE} has {len(found)} blocks of code")
    text = found[number].replace(URL, door.url).replace(HOST, door.host)
    return re.sub(TOKEN, str(token), text)


def _section():
    text = PAGE.read_text(encoding="utf-8")
    match = re.search(r"^## Recipes$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    if not match:
        raise AssertionError(f"{PAGE} has no section 'Recipes'")
    return match[1]
