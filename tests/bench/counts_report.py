"""The counts of fenceline beside those of nginx, and beside its own without a fence."""

import counts
from ceilings import Ceilings

# Now and stretch, in those of nginx.
INSTRUCTION_GOALS = (0.6, 0.25)
PROXIED_INSTRUCTION_GOALS = (0.5, 0.25)


def run(report, options, binary, tools):
    if options.keep:
        options.keep.mkdir(parents=True, exist_ok=True)
    ceilings = Ceilings()
    for workload in counts.WORKLOADS:
        for kind in counts.KINDS:
            if not options.wanted(f"{workload} {kind}"):
                continue
            counted = _compare(report, options, tools, workload, kind,
                               counts.fenceline(binary, tools, workload), counts.nginx(workload),
                               _goals(workload, kind))
            if options.record and kind in counts.GATED:
                ceilings.record(workload, kind, counted)
    if options.wanted("PUT 1 KiB instructions writes: off"):
        _compare(report, options, tools, "PUT 1 KiB", "instructions",
                 counts.fenceline(binary, tools, "PUT 1 KiB"),
                 counts.fenceline(binary, tools, "PUT 1 KiB", fenced=False))
    if options.record:
        ceilings.write()
        print("recorded in tests/bench/ceilings.json")


def _goals(workload, kind):
    # For S3 the goals are CPU time only: valgrind knows no SHA instructions.
    if kind != "instructions" or counts.is_s3(workload):
        return ()
    return PROXIED_INSTRUCTION_GOALS if counts.is_proxied(workload) else INSTRUCTION_GOALS


def _compare(report, options, tools, workload, kind, ours, theirs, goals=()):
    counted = [counts.count(kind, peer, workload, tools, options.keep) for peer in (ours, theirs)]
    own, other = (each["total"] for each in counted)
    report.count(workload, kind, own, other, theirs.name, *goals)
    for peer, each in zip((ours, theirs), counted):
        calls = sorted((call, number) for call, number in each.items()
                       if call not in ("total", "instructions") and abs(number) >= 0.05)
        if calls:
            print(f"  {peer.name}: " + ", ".join(f"{call} {number:.2f}" for call, number in calls))
    return counted[0]
