#!/usr/bin/env python3
"""Fails when a request of this kind costs more than ceilings.json allows.

    gate.py FENCELINE TOOLS WORKLOAD     WORKLOAD as in counts.py, for example "GET 1 KiB"
"""

import pathlib
import sys

import counts
from ceilings import Ceilings
from servers import Failed


def main(binary, tools, workload):
    tools = pathlib.Path(tools).resolve()
    peer = counts.fenceline(pathlib.Path(binary).resolve(), tools, workload)
    ceilings = Ceilings()
    good = True
    for kind in counts.GATED:
        one, text = ceilings.judge(workload, kind, counts.count(kind, peer, workload, tools))
        print(text, flush=True)
        good &= one
    return 0 if good else 1


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except Failed as failure:
        sys.exit(f"gate: {failure}")
