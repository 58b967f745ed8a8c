"""What the lints share: the rooms, their files, and C++ cut into tokens.

The tokenizer knows comments, strings (raw ones too), characters, digit separators, line
continuations and preprocessor lines, so that no rule is fooled by text that is not code.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOMS = ("base", "config", "fencing", "backends", "client", "proxy", "tests")
REPOSITORY = Path(__file__).resolve().parents[2]

_TOKEN = re.compile(
    r"""
      (?P<space>(?:\s|\\\n)+)
    | (?P<comment>//(?:\\\n|[^\n])*|/\*.*?\*/)
    | (?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^\s()\\]{0,16})\(.*?\)(?P=delimiter)")
    | (?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
    | (?P<char>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
    | (?P<number>\.?\d(?:'?[\w.]|(?<=[eEpP])[+-])*)
    | (?P<name>[^\W\d]\w*)
    | (?P<punct>::|->\*|->|\.\.\.|<=>|<<=|&&|\|\||<<|[-+*/%&|^=!<>]=|\+\+|--|.)
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    kind: str  # comment, string (raw ones too), char, number, name, punct, or directive
    text: str
    line: int


def tokenize(source):
    """Every token but white space; a preprocessor line is one token of kind directive.

    `>>` comes as two tokens, so that template arguments can be matched.
    """
    tokens = []
    position = 0
    line = 1
    at_line_start = True
    while position < len(source):
        if at_line_start and source[position] == "#":
            match = re.compile(r"(?:/\*.*?\*/|//[^\n]*|\\\n|[^\n])*", re.DOTALL).match(
                source, position
            )
            kind = "directive"
        else:
            match = _TOKEN.match(source, position)
            kind = "string" if match.lastgroup in ("raw", "delimiter") else match.lastgroup
        text = match.group()
        if kind != "space":
            tokens.append(Token(kind, text, line))
        at_line_start = "\n" in text or (at_line_start and kind in ("space", "comment"))
        line += text.count("\n")
        position = match.end()
    return tokens


def code(source):
    """The tokens of the code alone: no comments and no preprocessor lines."""
    return [t for t in tokenize(source) if t.kind not in ("comment", "directive")]


def match_brackets(tokens):
    """For the index of each bracket ( [ { the index of its partner, and the other way round."""
    partner = {}
    stack = []
    closing = {")": "(", "]": "[", "}": "{"}
    for i, token in enumerate(tokens):
        if token.kind != "punct":
            continue
        if token.text in "([{":
            stack.append(i)
        elif token.text in closing:
            if stack and tokens[stack[-1]].text == closing[token.text]:
                start = stack.pop()
                partner[start] = i
                partner[i] = start
    return partner


def sources(root, suffixes=(".h", ".cc")):
    """The C++ files of all rooms, as paths relative to root, sorted."""
    found = []
    for room in ROOMS:
        for path in (root / room).rglob("*"):
            if path.suffix in suffixes and path.is_file():
                found.append(path.relative_to(root))
    return sorted(found)


def read(root, path):
    return (root / path).read_text(encoding="utf-8")


def run(name, description, check):
    """Command line of a lint: prints what check(root) finds, `path:line: text`; 1 if any."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--root", type=Path, default=REPOSITORY, help="the repository to check")
    root = parser.parse_args().root
    findings = check(root)
    for finding in findings:
        print(finding)
    if findings:
        print(f"{name}: {len(findings)} refused", file=sys.stderr)
        sys.exit(1)
    print(f"{name}: nothing to refuse")
