#!/usr/bin/env python3
"""Lint: sizes, unfinished work, sleeping tests and room READMEs.

A source file has at most 500 lines and a function at most 80; every room has a README.md of at
most 20 lines; no comment postpones work; no test sleeps: it waits for a condition with a deadline.
"""

import re

import cpp

MAX_FILE_LINES = 500
MAX_FUNCTION_LINES = 80
MAX_README_LINES = 20
FOLDERS_WITH_README = (*cpp.ROOMS, "docs", "scripts")

SLEEPS = ("sleep_for", "sleep_until", "usleep", "nanosleep", "clock_nanosleep", "sleep")
_POSTPONED = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
_TYPE_WORDS = ("namespace", "class", "struct", "union", "enum")


def check_length(path, source):
    lines = source.count("\n")
    if lines > MAX_FILE_LINES:
        yield f"{path}:{MAX_FILE_LINES + 1}: {lines} lines; a file has at most {MAX_FILE_LINES}"


def check_postponed(path, source):
    for token in cpp.tokenize(source):
        match = _POSTPONED.search(token.text) if token.kind == "comment" else None
        if match:
            yield f"{path}:{token.line}: {match.group()}: finish it or file an issue"


def check_sleeps(path, source):
    tokens = cpp.code(source)
    for token, following in zip(tokens, tokens[1:]):
        if token.kind == "name" and token.text in SLEEPS and following.text == "(":
            yield (
                f"{path}:{token.line}: {token.text} in a test; wait for the condition with a "
                "deadline"
            )


def check_functions(path, source):
    """Outermost blocks that are not those of a namespace or a type; a lambda counts with its
    function."""
    tokens = cpp.code(source)
    partner = cpp.match_brackets(tokens)
    i = 0
    statement_start = 0
    while i < len(tokens):
        text = tokens[i].text if tokens[i].kind == "punct" else ""
        if text in (";", "}"):
            statement_start = i + 1
        elif text == "(" and i in partner:
            i = partner[i]
        elif text == "{" and i in partner:
            head = tokens[statement_start:i]
            if not _opens_scope(head):
                length = tokens[partner[i]].line - head[0].line + 1 if head else 0
                if length > MAX_FUNCTION_LINES and any(t.text == "(" for t in head):
                    yield (
                        f"{path}:{head[0].line}: a function of {length} lines; at most "
                        f"{MAX_FUNCTION_LINES}"
                    )
                i = partner[i]
            statement_start = i + 1
        i += 1


def _opens_scope(head):
    """True when these tokens before a { begin a namespace or a type: its inside is looked into."""
    words = [t.text for t in head]
    while words and words[0] in ("template", "inline", "export", "typedef", "static"):
        skip = 1
        if words[0] == "template":
            depth = 0
            for skip, word in enumerate(words[1:], 2):
                depth += {"<": 1, ">": -1}.get(word, 0)
                if depth == 0:
                    break
        words = words[skip:]
    if not words:
        return False
    if words[0] == "extern":
        return "(" not in words
    # `struct stat Get(int x) {` is a function in spite of its first word.
    return words[0] in _TYPE_WORDS and words[-1] not in (")", "const", "noexcept")


def check_readmes(root):
    for folder in FOLDERS_WITH_README:
        path = f"{folder}/README.md"
        if not (root / path).is_file():
            yield f"{path}:1: missing: why this folder exists, what belongs in it, what must never"
            continue
        lines = cpp.read(root, path).count("\n")
        if lines > MAX_README_LINES:
            yield f"{path}:{MAX_README_LINES + 1}: {lines} lines, at most {MAX_README_LINES}"


def check(root):
    findings = list(check_readmes(root))
    for path in cpp.sources(root):
        source = cpp.read(root, path)
        findings += check_length(path, source)
        findings += check_postponed(path, source)
        findings += check_functions(path, source)
        if path.parts[0] == "tests":
            findings += check_sleeps(path, source)
    return findings


if __name__ == "__main__":
    cpp.run("files", __doc__, check)
