#!/usr/bin/env python3
"""Measures fenceline beside nginx; started by scripts/bench.

Without a choice of parts it does all of them. Times are taken with the fence on, on a journaled ext4
and on a tmpfs of its own, which needs root and two cores that have nothing else to do: when a probe
says that the machine was too noisy, the number is not printed and the status is 2.
"""

import argparse
import os
import pathlib
import re
import shlex
import signal
import sys

import calm
import counts_report
import durable
import leases
import places
import scale
import times
from report import Report
from servers import Failed

TOO_NOISY = 2
PARTS = ("times", "counts", "durable", "leases", "scale")


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/bench", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    parser.add_argument("--times", action="store_true", help="part: CPU time per request")
    parser.add_argument("--counts", action="store_true",
                        help="part: instructions and system calls per request; the machine may be "
                             "busy")
    parser.add_argument("--durable", action="store_true",
                        help="part: rates of durable writes and raises beside plain loops")
    parser.add_argument("--leases", action="store_true",
                        help="part: leases per second beside locks in etcd and Redis")
    parser.add_argument("--scale", action="store_true",
                        help="part: 10 million keys, 10,000 idle connections")
    parser.add_argument("--only", type=re.compile, default=re.compile(""), metavar="REGEX",
                        help="only rows whose name matches, for example 'PUT 1 KiB ext4'")
    parser.add_argument("--rounds", type=int, default=7, help="rounds of each comparison (7)")
    parser.add_argument("--seconds", type=float, default=2, help="of each contender in a round (2)")
    parser.add_argument("--keys", type=int, default=10_000_000, help="of --scale (10000000)")
    parser.add_argument("--quick", action="store_true",
                        help="3 rounds of half a second, 1 million keys: to see that it works")
    parser.add_argument("--disk", type=pathlib.Path, metavar="FOLDER",
                        help="with --durable or --leases: measure in a new folder below this one "
                             "instead of on an image, which is reached through kernel threads that have to wait for "
                             "their turn on a busy machine")
    parser.add_argument("--anyway", action="store_true",
                        help="print what is too noisy all the same, marked; the status stays 2")
    parser.add_argument("--record", action="store_true",
                        help="with --counts: make them the recorded counts of the gate "
                             "(ceilings.json)")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="with --counts: keep the output of callgrind there, for "
                             "callgrind_annotate")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE",
                        help="write the tables there")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds, options.keys = 3, 0.5, 1_000_000
    if not any(getattr(options, part) for part in PARTS):
        for part in PARTS:
            setattr(options, part, True)
    options.milliseconds = max(1, round(1000 * options.seconds))
    options.wanted = lambda name: options.only.search(name) is not None
    return options


def take_the_processor():
    """A session of our own and its weight: nice alone does nothing against other sessions."""
    try:
        os.setsid()
        pathlib.Path("/proc/self/autogroup").write_text("-15")
    except OSError as error:
        print(f"scripts/bench: goes on with the weight of everybody else ({error})", file=sys.stderr)


def measure(options, report, binary, tools, folder):
    if options.times and os.cpu_count() < 2:
        raise Failed("times need two cores, one for the server and one for the client")
    if options.times or options.durable or options.leases:
        take_the_processor()
    if options.times:
        times.run(report, options, binary, tools, folder)
    if options.durable:
        durable.run(report, options, binary, tools, folder)
    if options.leases:
        leases.run(report, options, binary, tools, folder)
    if options.counts:
        counts_report.run(report, options, binary, tools)
    if options.scale:
        scale.run(report, options, binary, tools, folder)


def main():
    options = arguments()
    # As an exception, so that servers are ended and file systems unmounted.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    binary = (options.build / "fenceline").resolve()
    tools = (options.build / "tests/bench").resolve()
    report = Report(options.anyway)
    with places.scratch() as folder:
        probes = calm.probe(tools, folder)
        measure(options, report, binary, tools, folder)
    if options.markdown:
        shown = [part for part in sys.argv[1:] if part not in ("--build", str(options.build))]
        options.markdown.write_text(
            report.markdown(shlex.join(["scripts/bench", *shown]), probes), encoding="utf-8")
    if report.refused:
        print(f"scripts/bench: too noisy to say: {'; '.join(report.refused)}", file=sys.stderr)
        return TOO_NOISY
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as failure:
        sys.exit(f"scripts/bench: {failure}")
    except KeyboardInterrupt:
        sys.exit("scripts/bench: stopped")
