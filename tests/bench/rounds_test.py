#!/usr/bin/env python3
"""What the bench says about its numbers: ratios, doubts, goals. Without a server."""

import contextlib
import io
import random
import unittest

import calm
import rounds
from report import Report
from rounds import Outcome, Sample


def samples(*values, doubt=None):
    left = list(values)
    return lambda: Sample(left.pop(0), doubt)


def compare(ours, theirs, count):
    return rounds.compare(ours, theirs, count, random.Random(1))


class CompareTest(unittest.TestCase):
    def test_the_ratio_is_taken_within_each_round(self):
        outcome = compare(samples(10, 200, 9), samples(20, 400, 10), 3)
        self.assertEqual(outcome, Outcome(0.5, 0.5, 0.9, 10, 20, None))

    def test_the_order_changes_from_round_to_round(self):
        order = []

        def contender(name):
            order.append(name)
            return Sample(1, None)
        compare(lambda: contender("a"), lambda: contender("b"), 20)
        firsts = order[::2]
        self.assertIn("a", firsts)
        self.assertIn("b", firsts)

    def test_one_doubtful_sample_makes_the_outcome_doubtful(self):
        outcome = compare(samples(1, 1), samples(1, 1, doubt="starved"), 2)
        self.assertEqual(outcome.doubt, "starved")


class CalmTest(unittest.TestCase):
    def calmly(self, probes, doubts):
        left = list(probes)
        outcomes = [Outcome(1, 1, 1, 1, 1, doubt) for doubt in doubts]
        with contextlib.redirect_stderr(io.StringIO()):
            return rounds.calmly(lambda: outcomes.pop(0), lambda: {"x": left.pop(0)}, ["x"])

    def test_a_drift_of_the_probe_is_tried_again_and_then_doubted(self):
        self.assertIn("`x` went from 1 to 1.31", self.calmly([1, 1.31] * 3, [None] * 3).doubt)
        self.assertIsNone(self.calmly([1, 1.4, 1, 1.29], [None] * 2).doubt)

    def test_a_probe_that_falls_is_a_drift_too(self):
        self.assertIn("from 1.4 to 1", self.calmly([1.4, 1] * 3, [None] * 3).doubt)

    def test_a_doubt_of_the_measurement_is_tried_again(self):
        self.assertIsNone(self.calmly([1] * 4, ["starved", None]).doubt)
        self.assertEqual(self.calmly([1] * 6, ["starved"] * 3).doubt, "starved")

    def test_an_idle_and_a_starved_server_are_doubted(self):
        self.assertIsNone(calm.idle("s", 0.41, 1))
        self.assertIn("39%", calm.idle("s", 0.39, 1))
        self.assertIsNone(calm.waiting("s", 71, 29))
        self.assertIn("31%", calm.waiting("s", 69, 31))


class ReportTest(unittest.TestCase):
    def tell(self, outcome, lower_is_better=True, anyway=False):
        report = Report(anyway)
        with contextlib.redirect_stdout(io.StringIO()) as said:
            report.ratio("us", "GET", outcome, 0.8, None, lower_is_better)
        return report, said.getvalue()

    def test_goals_are_judged_in_their_direction(self):
        self.assertIn(": yes;", self.tell(Outcome(0.8, 0, 1, 1, 1, None))[1])
        self.assertIn(": no;", self.tell(Outcome(0.81, 0, 1, 1, 1, None))[1])
        self.assertIn(": no;", self.tell(Outcome(0.79, 0, 1, 1, 1, None), False)[1])

    def test_a_doubtful_number_is_refused(self):
        report, said = self.tell(Outcome(0.123, 0, 1, 1, 1, "starved"))
        self.assertEqual(report.refused, ["GET"])
        self.assertIn("starved", said)
        self.assertNotIn("0.12", said + report.markdown("bench", {}))

    def test_a_count_is_judged_by_its_goal(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            Report().count("GET", "instructions", 61, 100, "nginx", 0.6, 0.25)
            Report().count("GET", "instructions", 60, 100, "nginx", 0.6, 0.25)
            Report().count("GET", "system calls", 60, 100, "nginx")
        self.assertEqual([line.rpartition(": ")[2] for line in said.getvalue().splitlines()],
                         ["no", "yes", "60.0, nginx 100, ratio 0.60"])

    def test_with_anyway_it_is_told_and_marked_and_still_refused(self):
        report, said = self.tell(Outcome(0.123, 0, 1, 1, 1, "starved"), anyway=True)
        self.assertEqual(report.refused, ["GET"])
        self.assertIn("0.12", said)
        self.assertIn("| noisy |", report.markdown("bench", {}))


if __name__ == "__main__":
    unittest.main()
