#!/usr/bin/env python3
"""Lint: who may include what.

Rooms include only the rooms they are built on (docs: the README of each room), by paths from the
repository's root. A .cc file starts with the header of its name, so that building it shows that the
header compiles on its own. Heavy or private libraries stay where they belong: Beast costs 10 to 20
seconds per file, so it is in no header and in few files; spdlog and prometheus hide behind plain
headers.
"""

import re

import cpp

ALLOWED_ROOMS = {
    "base": {"base"},
    "config": {"base", "config"},
    "fencing": {"base", "fencing"},
    "backends": {"base", "backends"},
    "client": {"base", "client"},
    "proxy": {"base", "config", "fencing", "backends", "client", "proxy"},
    "tests": set(cpp.ROOMS),
}

MAX_BEAST_FILES = 8
BEAST = "boost/beast"

# Included from outside (prefix): the rooms that may do so, and whether a header may.
LIBRARIES = {
    "sqlite3.h": ({"base", "fencing", "backends", "tests"}, True),
    "yaml-cpp/": ({"config", "tests"}, True),
    "CLI/": ({"client", "proxy"}, False),
    "libpq-fe.h": ({"client", "tests"}, False),
    "spdlog/": ({"base"}, False),
    "prometheus/": ({"base", "proxy"}, False),
    "gtest/": ({"tests"}, True),
    "gmock/": ({"tests"}, True),
}

# Refused everywhere: header, reason.
REFUSED = {
    "ranges": "clang-tidy 14 cannot parse the views of libstdc++ 12; use <algorithm> or a loop",
    "boost/beast.hpp": "name the Beast headers that are needed; all of them cost 6 s per file",
    "boost/asio.hpp": "name the Asio headers that are needed; all of them cost seconds per file",
}

_INCLUDE = re.compile(r'#\s*include\s*(?:<(?P<angled>[^>]+)>|"(?P<quoted>[^"]+)")')


def includes(source):
    """(line, file, True if in quotes) for every #include that is not in a comment or a string."""
    for token in cpp.tokenize(source):
        if token.kind == "directive":
            match = _INCLUDE.match(token.text)
            if match:
                quoted = match.group("quoted")
                yield token.line, quoted or match.group("angled"), quoted is not None


def check_own(root, room, target):
    """The reason to refuse `#include "target"` in a file of this room, or None."""
    first = target.split("/")[0]
    if ".." in target.split("/") or first not in cpp.ROOMS:
        return f'"{target}" is not a path from the repository\'s root, such as "base/error.h"'
    if first not in ALLOWED_ROOMS[room]:
        allowed = ", ".join(sorted(ALLOWED_ROOMS[room]))
        return f'room {room} may not include "{target}": it is built on {allowed} only'
    if not (root / target).is_file():
        return f'"{target}" does not exist'
    return None


def check_library(path, room, target):
    """The reason to refuse `#include <target>` in this file, or None."""
    if target in REFUSED:
        return f"<{target}>: {REFUSED[target]}"
    if target.startswith(BEAST) and path.suffix == ".h":
        return f"<{target}>: no header includes Beast; hide it in a .cc file"
    for prefix, (rooms, header_may) in LIBRARIES.items():
        if target.startswith(prefix):
            if room not in rooms:
                return f"<{target}> belongs to {', '.join(sorted(rooms))}, not to {room}"
            if path.suffix == ".h" and not header_may:
                return f"<{target}>: only .cc files include it; keep it behind a plain header"
    if target.split("/")[0] in cpp.ROOMS and "/" in target:
        return f'<{target}> is ours: write it in quotes'
    return None


def check_first(root, path, source):
    """The finding if anything is in front of the header of this .cc file's name, or None."""
    header = path.with_suffix(".h")
    if path.suffix != ".cc" or not (root / header).is_file():
        return None
    for token in cpp.tokenize(source):
        if token.kind != "comment":
            if token.kind == "directive" and re.match(
                rf'#\s*include\s*"{re.escape(header.as_posix())}"', token.text
            ):
                return None
            line = token.line
            break
    else:
        line = 1
    return (f'{path}:{line}: #include "{header}" comes before anything else: that shows that the '
            "header compiles on its own")


def check(root):
    findings = []
    beast_files = []
    for path in cpp.sources(root):
        room = path.parts[0]
        source = cpp.read(root, path)
        sees_beast = False
        if reason := check_first(root, path, source):
            findings.append(reason)
        for line, target, quoted in includes(source):
            if quoted:
                reason = check_own(root, room, target)
            else:
                reason = check_library(path, room, target)
            if reason:
                findings.append(f"{path}:{line}: {reason}")
            sees_beast |= target.startswith(BEAST)
        if sees_beast:
            beast_files.append(str(path))
        if path.suffix == ".h" and not any(
            t.kind == "directive" and re.match(r"#\s*pragma\s+once\b", t.text)
            for t in cpp.tokenize(source)
        ):
            findings.append(f"{path}:1: a header starts with #pragma once")
    if len(beast_files) > MAX_BEAST_FILES:
        findings.append(
            f"{beast_files[-1]}:1: {len(beast_files)} files include Beast, at most "
            f"{MAX_BEAST_FILES} may: {', '.join(beast_files)}"
        )
    return findings


if __name__ == "__main__":
    cpp.run("includes", __doc__, check)
