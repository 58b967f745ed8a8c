#!/usr/bin/env python3
"""Measures fenceline beside nginx; started by scripts/bench."""

import argparse
import pathlib
import signal
import sys

import counts_report
from servers import Failed


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--counts", action="store_true", required=True,
                        help="instructions and system calls per request; does not need a calm machine")
    parser.add_argument("--record", action="store_true",
                        help="with --counts: make them the recorded counts of the gate (ceilings.json)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="with --counts: keep the output of callgrind there, for "
                             "callgrind_annotate")
    return parser.parse_args()


def main():
    options = arguments()
    # As an exception, so that servers are ended and file systems unmounted.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    binary = options.build / "fenceline"
    tools = options.build / "tests/bench"
    counts_report.run(binary, tools, record=options.record, keep=options.keep)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"scripts/bench: {failure}")
    except KeyboardInterrupt:
        sys.exit("scripts/bench: stopped")
