"""`scripts/bench --counts`: the counts of both servers side by side."""

import counts
from ceilings import Ceilings


def run(binary, tools, record=False, keep=None):
    """Prints as it goes; gives the rows of the table, for the report."""
    ours, theirs = counts.fenceline(binary, tools), counts.nginx()
    ceilings = Ceilings()
    rows = []
    if keep:
        keep.mkdir(parents=True, exist_ok=True)
    for workload in counts.WORKLOADS:
        for kind in counts.KINDS:
            found = [counts.count(kind, peer, workload, tools, keep) for peer in (ours, theirs)]
            own, other = (each["total"] for each in found)
            rows.append((workload, kind, own, other, own / other))
            print(f"{workload}, {kind} per request: fenceline {own:,.2f}, nginx {other:,.2f}, "
                  f"ratio {own / other:.2f}", flush=True)
            for peer, each in zip((ours, theirs), found):
                _print_calls(peer.name, each)
            if record and kind in counts.GATED:
                ceilings.record(workload, kind, found[0])
    if record:
        ceilings.write()
        print("recorded in tests/bench/ceilings.json")
    return rows


def _print_calls(name, counted):
    calls = sorted((call, number) for call, number in counted.items()
                   if call not in ("total", "instructions") and abs(number) >= 0.05)
    if calls:
        print(f"  {name}: " + ", ".join(f"{call} {number:.2f}" for call, number in calls))
