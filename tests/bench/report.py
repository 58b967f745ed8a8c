"""What was found: printed as it comes, and as tables in Markdown at the end."""

import os
import pathlib
import platform
import subprocess


class Report:
    def __init__(self, anyway=False):
        """`anyway`: what is too noisy is told all the same, and marked."""
        self.refused = []
        self._anyway = anyway
        self._ratios = []
        self._counts = []
        self._facts = []

    def ratio(self, unit, name, outcome, goal, stretch, lower_is_better):
        """One comparison. The goal is at most, or for rates at least, this ratio."""
        if outcome.doubt:
            self.refused.append(name)
            print(f"{name}: too noisy: {outcome.doubt}", flush=True)
            if not self._anyway:
                self._ratios.append((name, unit, "", "", "too noisy", "", "", ""))
                return
        reached = outcome.ratio <= goal if lower_is_better else outcome.ratio >= goal
        wanted = f"{'≤' if lower_is_better else '≥'} {goal:g}"
        if stretch:
            wanted += f", stretch {stretch:g}"
        spread = f"{outcome.lowest:.2f} to {outcome.highest:.2f}"
        verdict = "noisy" if outcome.doubt else "yes" if reached else "no"
        ours, theirs = _number(outcome.ours), _number(outcome.theirs)
        self._ratios.append((name, unit, ours, theirs, f"{outcome.ratio:.2f}", spread, wanted,
                             verdict))
        print(f"{name}: ratio {outcome.ratio:.2f} ({spread}), goal {wanted}: {verdict}; {unit}: "
              f"{ours} and {theirs}", flush=True)

    def count(self, workload, kind, ours, theirs, peer, goal=None, stretch=None):
        """A pair of counts per request. The goal, if there is one, is at most this ratio."""
        ratio = ours / theirs
        wanted = f"≤ {goal:g}, stretch {stretch:g}" if goal else ""
        verdict = ("yes" if ratio <= goal else "no") if goal else ""
        self._counts.append((f"{workload}, beside {peer}", kind, _number(ours), _number(theirs),
                             f"{ratio:.2f}", wanted, verdict))
        print(f"{workload}, {kind} per request: {_number(ours)}, {peer} {_number(theirs)}, ratio "
              f"{ratio:.2f}" + (f", goal {wanted}: {verdict}" if goal else ""), flush=True)

    def fact(self, name, value, note):
        self._facts.append((name, value, note))
        print(f"{name}: {value}" + (f" ({note})" if note else ""), flush=True)

    def markdown(self, command, probes):
        parts = [f"`{command}` on {machine()}, commit {commit()}; "
                 + ", ".join(f"{name} {value:g}" for name, value in probes.items()) + "."]
        if self._ratios:
            parts.append(_table(("what", "unit", "fenceline", "peer", "ratio", "lowest to highest",
                                 "goal", "reached"), self._ratios))
        if self._counts:
            parts.append(_table(("per request", "count", "fenceline", "peer", "ratio", "goal",
                                 "reached"), self._counts))
        if self._facts:
            parts.append(_table(("what", "measured", "of"), self._facts))
        return "\n\n".join(parts) + "\n"


def _number(value):
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def _table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def machine():
    model = "processor unknown"
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return f"{os.cpu_count()} cores of {model}, Linux {platform.release()}"


def commit():
    done = subprocess.run(["git", "-C", str(pathlib.Path(__file__).parent), "describe", "--always",
                           "--dirty", "--abbrev=7"], text=True, capture_output=True, check=False)
    return done.stdout.strip() or "unknown"
