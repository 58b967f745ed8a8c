#!/usr/bin/env python3
"""Writes botocore_operations.h: every operation of botocore's model of S3.

    write_botocore_operations.py [MODEL]

MODEL is a `data/s3/2006-03-01/service-2.json`, perhaps with `.gz`; left out, that of the botocore which
this Python imports. Run it again with a newer botocore to see whether the table of
backends/s3/operation_table.cc still has everything. Needs clang-format.
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path

TARGET = Path(__file__).with_name("botocore_operations.h")

HEAD = """#pragma once

// Written by write_botocore_operations.py from {source}.

#include <array>
#include <string_view>

namespace fenceline::backends::s3 {{

struct BotocoreOperation {{
  std::string_view name;
  std::string_view method;
  std::string_view uri;
  std::string_view required;  ///< Parameters of the query, separated by blanks.
  std::string_view optional;  ///< The same.
  std::string_view fields;    ///< Required fields, separated by blanks.
}};

inline constexpr std::array<BotocoreOperation, {count}> kBotocoreOperations{{{{
"""


def find_model():
    if len(sys.argv) > 1:
        return Path(sys.argv[1]), "a given model"
    import botocore  # pylint: disable=import-outside-toplevel

    folder = Path(botocore.__file__).parent / "data/s3/2006-03-01"
    return next(folder.glob("service-2.json*")), f"botocore {botocore.__version__}"


def rows_of(model):
    for name, operation in sorted(model["operations"].items()):
        shape = model["shapes"][operation["input"]["shape"]] if "input" in operation else {}
        needed = shape.get("required", [])

        def names(place, want, shape=shape, needed=needed):
            return " ".join(sorted(
                member["locationName"] for key, member in shape.get("members", {}).items()
                if member.get("location") == place and (key in needed) == want))

        row = [name, operation["http"]["method"], operation["http"]["requestUri"],
               names("querystring", True), names("querystring", False), names("header", True)]
        yield "{" + ", ".join(json.dumps(cell) for cell in row) + "},\n"


def main():
    path, source = find_model()
    data = path.read_bytes()
    rows = list(rows_of(json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)))
    text = HEAD.format(source=source, count=len(rows)) + "".join(rows) + "}};\n\n" + \
        "}  // namespace fenceline::backends::s3\n"
    TARGET.write_text(text, encoding="utf-8")
    subprocess.run(["clang-format", "-i", str(TARGET)], check=True)


if __name__ == "__main__":
    main()
