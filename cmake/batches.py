#!/usr/bin/env python3
"""Joins .cc files to batches, so that what they include is compiled once for several of them.

    batches.py ROOT FOLDER SIZE FILE...

Writes FOLDER/batch_<n>.cc, each of at most SIZE of the FILEs, and prints what is to be compiled
instead of them, one a line: the batches, and the files that stay by themselves. A batch is written
only if it changed.

What a file keeps to itself must stay its own in a batch. So its unnamed namespace gets a name,
which the rest of the file, if there is any, uses; and of the files that have such a rest no two in
a batch give one name to different things. All files of a batch are in one namespace. Headers come
in front of everything, where they see nothing of it.
"""

import pathlib
import re
import sys

_OPEN = re.compile(r"^namespace \{$", re.M)
_CLOSE = re.compile(r"^\}  // namespace$", re.M)
_NAMED = re.compile(r"^namespace (fenceline[\w:]*) \{$", re.M)
# What only a file by itself can hold: a macro would reach into the files behind it.
_ALONE = re.compile(r"^#\s*(?!include\b)|^static |^int main\(", re.M)
_WHOLE = re.compile(r"^namespace fenceline[\w:]* \{\n+namespace \{$(?:(?!^\}  // namespace).)*"
                    r"^\}  // namespace\n+\}  // namespace [\w:]+\n*\Z", re.M | re.S)
_INCLUDE = re.compile(r"^#\s*include\b.*$", re.M)
_USING = re.compile(r"^using (?:(\w+) = )?([^;]*?(\w+)[^\w;]*);", re.M)
_TYPE = re.compile(r"^(?:template <.*>\n?)?(?:class|struct|union|enum(?: class)?) (\w+)", re.M)
# The last word in front of what begins a function's parameters or a variable's value.
_VALUE = re.compile(r"^(?!using )[\w:<][^\n(={;]*?(?:\([^)\n]*\)[^\n(={;]*?)?"
                    r"\b(\w+)(?:\[\w*\])?(?:[({;]| = | =$)", re.M)


def names(text):
    """{name: what it stands for} for all that the file keeps to itself; None is its own."""
    found = {}
    for alias, target, last in _USING.findall(text):
        found[alias or last] = target
    for begin, end in zip(_OPEN.finditer(text), _CLOSE.finditer(text)):
        for pattern in (_TYPE, _VALUE):
            for name in pattern.findall(text, begin.end(), end.start()):
                found[name] = None
    return found


class Source:
    """A file, and whether and how it can be part of a batch."""

    def __init__(self, root, path):
        self.path = path
        self.shown = path.relative_to(root).as_posix()
        self.text = path.read_text(encoding="utf-8")
        self.namespaces = frozenset(_NAMED.findall(self.text))
        self.can_join = (len(self.namespaces) > 0 and not _ALONE.search(self.text)
                         and len(_OPEN.findall(self.text)) == len(_CLOSE.findall(self.text)))
        # Whether anything is outside of the unnamed namespace; in most tests nothing is.
        self.has_rest = not _WHOLE.search(self.text)
        self.names = names(self.text) if self.has_rest else {}

    def clashes(self, taken):
        return any(name in taken and (mine is None or taken[name] != mine)
                   for name, mine in self.names.items())

    def joined(self, number):
        own = f"own_{number}"
        text = _OPEN.sub(f"namespace {own} {{", self.text)
        text = _CLOSE.sub(f"}} using namespace {own};" if self.has_rest else "}", text)
        return f'#line 1 "{self.shown}"\n{text}'


def batches(sources, size):
    """Lists of sources; each goes to the first one that has room for it and for its names."""
    filling = []
    for source in sources:
        for members, taken in filling:
            if (len(members) < size and members[0].namespaces == source.namespaces
                    and not source.clashes(taken)):
                break
        else:
            members, taken = [], {}
            filling.append((members, taken))
        members.append(source)
        taken.update(source.names)
    return [members for members, _ in filling]


def batch_text(members):
    headers = dict.fromkeys(line for each in members for line in _INCLUDE.findall(each.text))
    return "\n".join(headers) + "\n" + "".join(
        each.joined(number) for number, each in enumerate(members))


def main():
    root, folder, size = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3])
    sources = [Source(root, pathlib.Path(path)) for path in sys.argv[4:]]
    compiled = [source.path for source in sources if not source.can_join]
    folder.mkdir(parents=True, exist_ok=True)
    for number, members in enumerate(batches([s for s in sources if s.can_join], size)):
        if len(members) == 1:
            compiled.append(members[0].path)
            continue
        text = batch_text(members)
        batch = folder / f"batch_{number}.cc"
        if not batch.is_file() or batch.read_text(encoding="utf-8") != text:
            batch.write_text(text, encoding="utf-8")
        compiled.append(batch)
    print("\n".join(path.as_posix() for path in compiled))


if __name__ == "__main__":
    main()
