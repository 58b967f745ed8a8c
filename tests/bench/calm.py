"""Is the machine calm enough to be believed? Every check gives the reason for doubt, or None."""

import json
import os
import subprocess

from servers import Failed

MAX_DRIFT = 0.3
# Below it the client could not keep up. A large PUT waits for the file system instead.
MIN_UTILISATION = 0.4
# Of the time in which it wanted a processor: above it, somebody else had it.
MAX_WAITING = 0.3
CPU_PROBES = ("system call ns",)
DISK_PROBES = ("fdatasync us",)
# At the usual priority on a busy machine, an fsync takes until the next tick: the scheduler would be
# measured. So what waits for a disk runs at real-time priority, and so do the probes.
REAL_TIME = ["chrt", "-f", "1"] if os.geteuid() == 0 else []


def probe(tools, folder):
    """What the machine costs now, by name."""
    done = subprocess.run([*REAL_TIME, str(tools / "bench_probe"), "--folder", str(folder)],
                          text=True, capture_output=True, timeout=60, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.strip())
    return json.loads(done.stdout)


def drift(before, after, names):
    for name in names:
        low, high = sorted((before[name], after[name]))
        if high > low * (1 + MAX_DRIFT):
            return (f"the probe `{name}` went from {before[name]:g} to {after[name]:g}, more than "
                    f"{MAX_DRIFT:.0%}")
    return None


def idle(name, on_s, all_s):
    if on_s < MIN_UTILISATION * all_s:
        return (f"{name} was on the processor only {on_s / all_s:.0%} of the time, less than "
                f"{MIN_UTILISATION:.0%}")
    return None


def waiting(name, on_ns, waiting_ns):
    share = waiting_ns / (on_ns + waiting_ns)
    if share > MAX_WAITING:
        return (f"{name} waited for a processor {share:.0%} of the time that it wanted one, more "
                f"than {MAX_WAITING:.0%}")
    return None
