#!/usr/bin/env python3
"""The gate on counts goes red when it must; and what it reads and subtracts is right."""

import json
import pathlib
import tempfile
import unittest

import ceilings
import counts

VALUES = {"recorded": {"GET": {"instructions": 1000, "system calls": 9.0}},
          "margin": {"instructions": "3%", "system calls": 0.3}}


class CeilingsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "ceilings.json"
        self.path.write_text(json.dumps(VALUES))
        self.ceilings = ceilings.Ceilings(self.path)

    def judge(self, kind, total, **calls):
        return self.ceilings.judge("GET", kind, {"total": total, **calls})

    def test_what_is_within_the_margin_passes(self):
        self.assertTrue(self.judge("instructions", 1029)[0])
        self.assertTrue(self.judge("system calls", 9.29)[0])

    def test_too_many_instructions_are_red_and_the_message_says_what_to_do(self):
        good, text = self.judge("instructions", 1031)
        self.assertFalse(good)
        for word in ("GET", "1031.00 instructions", "ceiling 1030.00", "--record", self.path.name):
            self.assertIn(word, text)

    def test_one_more_system_call_per_request_is_red_and_named(self):
        good, text = self.judge("system calls", 10.0, recvfrom=1.0, getppid=1.0)
        self.assertFalse(good)
        self.assertIn("getppid 1.00", text)

    def test_a_lower_ceiling_turns_it_red(self):
        self.assertTrue(self.judge("instructions", 1000)[0])
        self.ceilings.record("GET", "instructions", {"total": 900.4})
        self.ceilings.write()
        self.ceilings = ceilings.Ceilings(self.path)
        self.assertFalse(self.judge("instructions", 1000)[0])

    def test_no_number_is_red(self):
        self.assertFalse(self.judge("instructions", float("nan"))[0])

    def test_the_file_of_the_repository_has_every_gated_count(self):
        for workload in counts.WORKLOADS:
            for kind in counts.GATED:
                self.assertGreater(ceilings.Ceilings().ceiling(workload, kind), 0)


class CountsTest(unittest.TestCase):
    def test_ticks_are_not_a_cost_of_requests(self):
        slope = counts.without_ticks({"timerfd_settime": 0.08, "epoll_wait": 1.04, "read": 1}, 0.002)
        self.assertAlmostEqual(slope["total"], 2)

    def test_a_timer_that_is_set_for_each_request_is_one(self):
        slope = counts.without_ticks({"timerfd_settime": 1.08, "epoll_wait": 1.04, "read": 1}, 0.002)
        self.assertAlmostEqual(slope["total"], 3)

    def test_strace_and_callgrind_are_read(self):
        text = "    calls syscall\n--------- ---------\n      12 read\n       1 close\n      13 total\n"
        self.assertEqual(counts.read_strace(text), {"read": 12, "close": 1})
        self.assertEqual(counts.read_callgrind("events: Ir\nsummary: 42\ntotals: 42\n"),
                         {"instructions": 42})
        self.assertRaises(counts.Failed, counts.read_strace, "")
        self.assertRaises(counts.Failed, counts.read_callgrind, "")


if __name__ == "__main__":
    unittest.main()
