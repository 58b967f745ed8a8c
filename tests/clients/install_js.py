#!/usr/bin/env python3
"""Installs the packages of js/package-lock.json, unless they are there already.

    install_js.py JS_FOLDER
"""

import shutil
import subprocess
import sys
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "js"
NAMES = ("package.json", "package-lock.json")


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    installed = folder / "node_modules/.installed"
    wanted = b"".join((SOURCES / name).read_bytes() for name in NAMES)
    if installed.is_file() and installed.read_bytes() == wanted:
        print(f"{folder} has them already")
        return
    for name in NAMES:
        shutil.copy(SOURCES / name, folder)
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder,
                   stdin=subprocess.DEVNULL, check=True)
    installed.write_bytes(wanted)


if __name__ == "__main__":
    main()
