"""Writes the manual pages, the completions and Debian's changelog into a folder.

    python3 packaging/manuals COMMAND_TREE VERSION MAINTAINER FOLDER

COMMAND_TREE is the built fenceline_command_tree. The date is that of SOURCE_DATE_EPOCH, if set.
"""

import gzip
import os
import sys
import time
from datetime import datetime, timezone
from pathlib import Path

import changelog
import commands
import pages
import shells

ROOT = Path(__file__).resolve().parents[2]


def write_compressed(path, text):
    # -9n: Debian wants the best compression, and no time makes the file the same each time.
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def main(program, version, maintainer, folder):
    when = datetime.fromtimestamp(int(os.environ.get("SOURCE_DATE_EPOCH") or time.time()),
                                  timezone.utc)
    date = when.strftime("%Y-%m-%d")
    root = commands.read(program)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)

    config = (ROOT / "docs/config.md").read_text(encoding="utf-8")
    write_compressed(folder / "fenceline.1.gz", pages.command_page(root, version, date))
    write_compressed(folder / "fenceline.yaml.5.gz", pages.config_page(config, version, date))
    news = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    write_compressed(folder / "changelog.gz", changelog.debian(news, version, maintainer, when))
    (folder / "fenceline.bash").write_text(shells.bash(root), encoding="utf-8")
    (folder / "_fenceline").write_text(shells.zsh(root), encoding="utf-8")
    (folder / "fenceline.fish").write_text(shells.fish(root), encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
