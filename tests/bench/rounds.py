"""Two contenders, the same work, in turns: what disturbs one disturbs the other."""

import collections
import random
import statistics
import sys

import calm

ATTEMPTS = 3

# What a contender measured in one round, and the reason to doubt it, or None.
Sample = collections.namedtuple("Sample", "value doubt")
# The ratios of ours by theirs over the rounds, the medians of both, and the reason to doubt or None.
Outcome = collections.namedtuple("Outcome", "ratio lowest highest ours theirs doubt")


def compare(ours, theirs, rounds, order=random):
    """Runs both `rounds` times, each time in random order; both are functions that give a Sample.

    The ratio is taken within each round.
    """
    pairs = []
    for _ in range(rounds):
        pair = {}
        turns = [("ours", ours), ("theirs", theirs)]
        order.shuffle(turns)
        for name, run in turns:
            pair[name] = run()
        pairs.append(pair)
    ratios = [pair["ours"].value / pair["theirs"].value for pair in pairs]
    doubts = [sample.doubt for pair in pairs for sample in pair.values() if sample.doubt]
    return Outcome(statistics.median(ratios), min(ratios), max(ratios),
                   *(statistics.median(pair[who].value for pair in pairs)
                     for who in ("ours", "theirs")),
                   doubts[0] if doubts else None)


def calmly(measure, probe, probe_names):
    """The Outcome of `measure`, in up to ATTEMPTS tries until the machine was calm meanwhile."""
    for attempt in range(ATTEMPTS):
        before = probe()
        outcome = measure()
        drifted = calm.drift(before, probe(), probe_names)
        outcome = outcome._replace(doubt=outcome.doubt or drifted)
        if not outcome.doubt:
            break
        print(f"  too noisy, try {attempt + 1} of {ATTEMPTS}: {outcome.doubt}", file=sys.stderr)
    return outcome
