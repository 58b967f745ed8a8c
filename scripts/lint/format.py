#!/usr/bin/env python3
"""Lint: every C++ file is as clang-format writes it (.clang-format of the repository).

`scripts/format` rewrites the files.
"""

import re
import shutil
import subprocess
import sys

import cpp

STYLE = cpp.REPOSITORY / ".clang-format"


def check(root):
    files = [str(path) for path in cpp.sources(root)]
    if not files:
        return []
    if shutil.which("clang-format") is None:
        sys.exit("format: clang-format is missing; run: apt-get install clang-format")
    result = subprocess.run(
        ["clang-format", "--dry-run", "-Werror", f"--style=file:{STYLE}", *files],
        cwd=root, capture_output=True, text=True, check=False,
    )
    lines = re.findall(r"^(\S+?:\d+):\d+: error: ", result.stderr, re.MULTILINE)
    findings = [f"{line}: not as clang-format writes it; run scripts/format"
                for line in dict.fromkeys(lines)]
    if result.returncode != 0 and not findings:
        return [result.stderr]
    return findings


if __name__ == "__main__":
    cpp.run("format", __doc__, check)
