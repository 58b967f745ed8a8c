"""What a request may cost: the recorded counts of ceilings.json with a margin for their spread."""

import json
import pathlib

FILE = pathlib.Path(__file__).with_name("ceilings.json")


class Ceilings:
    def __init__(self, path=FILE):
        self._path = path
        self._values = json.loads(path.read_text())

    def ceiling(self, workload, kind):
        recorded = self._values["recorded"][workload][kind]
        margin = self._values["margin"][kind]
        if isinstance(margin, str):
            return recorded * (1 + float(margin.removesuffix("%")) / 100)
        return recorded + margin

    def judge(self, workload, kind, counted):
        """(True if `counted`, as counts.count gives it, is low enough; a sentence about it)."""
        ceiling = self.ceiling(workload, kind)
        recorded = self._values["recorded"][workload][kind]
        total = counted["total"]
        # Also false for what is no number.
        good = total <= ceiling
        text = (f"{workload}: {total:.2f} {kind} per request, ceiling {ceiling:.2f} "
                f"(recorded {recorded} and a margin of {self._values['margin'][kind]})")
        calls = sorted((name, number) for name, number in counted.items()
                       if name not in ("total", "instructions") and abs(number) >= 0.05)
        if calls:
            text += "\n  " + ", ".join(f"{name} {number:.2f}" for name, number in calls)
        if not good:
            text += (f"\n  A request became more expensive. Make it cheaper; or, if the reason is "
                     f"good, say it in the commit and record the new counts in {self._path.name}: "
                     "scripts/bench --counts --record")
        elif total < 0.95 * recorded:
            text += "\n  Cheaper than recorded: scripts/bench --counts --record lowers the ceiling"
        return good, text

    def record(self, workload, kind, counted):
        digits = 1 if kind == "system calls" else None
        self._values["recorded"][workload][kind] = round(counted["total"], digits)

    def write(self):
        rows = ",\n".join(f"    {json.dumps(workload)}: {json.dumps(values)}"
                          for workload, values in self._values["recorded"].items())
        margin = json.dumps(self._values["margin"])
        self._path.write_text(
            '{\n  "recorded": {\n' + rows + '\n  },\n  "margin": ' + margin + "\n}\n")
