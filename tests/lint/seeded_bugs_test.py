#!/usr/bin/env python3
"""scripts/seeded-bugs refuses patches that prove nothing, and finds what a test program says."""

import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
_SCRIPT = str(pathlib.Path(__file__).resolve().parents[2] / "scripts/seeded-bugs")
_LOADER = importlib.machinery.SourceFileLoader("seeded_bugs", _SCRIPT)
seeded_bugs = importlib.util.module_from_spec(importlib.util.spec_from_loader("seeded_bugs", _LOADER))
_LOADER.exec_module(seeded_bugs)

DIFF = """--- a/base/a.cc
+++ b/base/a.cc
@@ -1,3 +1,3 @@
 one
-two
+2
 three
"""
HEAD = "# breaks: the second line\n# tests: base_tests:Token.*\n"


class SeededBugsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "base").mkdir()
        self.write("one\ntwo\nthree\n")

    def write(self, text):
        (self.root / "base/a.cc").write_text(text)

    def bug(self, text):
        path = self.root / "some.patch"
        path.write_text(text)
        return seeded_bugs.Bug(path)

    def refused(self, why, call):
        with self.assertRaisesRegex(seeded_bugs.Problem, why):
            call()

    def program(self, script, pattern="*", limit_s=20):
        """What a test program that runs `script` shows."""
        path = self.root / "build/tests/x_tests"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n" + script)
        path.chmod(0o755)
        copy = object.__new__(seeded_bugs.Copy)
        copy.root = self.root
        return copy.first_failure("x_tests", pattern, limit_s)

    def test_a_patch_is_planted(self):
        bug = self.bug(HEAD + DIFF)
        self.assertEqual((bug.name, bug.breaks), ("some", "the second line"))
        self.assertEqual(bug.tests, [("base_tests", "Token.*")])
        self.assertEqual(seeded_bugs.planted(self.root, bug), {"base/a.cc": "one\n2\nthree\n"})

    def test_code_that_moved_is_found(self):
        self.write("new\nnew\none\ntwo\nthree\n")
        planted = seeded_bugs.planted(self.root, self.bug(HEAD + DIFF))
        self.assertEqual(planted["base/a.cc"], "new\nnew\none\n2\nthree\n")

    def test_code_that_changed_or_is_ambiguous_is_refused(self):
        bug = self.bug(HEAD + DIFF)
        for text in ("one\nother\nthree\n", "x\none\ntwo\nthree\none\ntwo\nthree\n"):
            self.write(text)
            self.refused("does not apply", lambda: seeded_bugs.planted(self.root, bug))
        (self.root / "base/a.cc").unlink()
        self.refused("there is no", lambda: seeded_bugs.planted(self.root, bug))

    def test_a_removed_line_that_looks_like_a_head_stays_a_line(self):
        bug = self.bug(HEAD + "--- a/base/a.cc\n+++ b/base/a.cc\n@@ -1,2 +1 @@\n one\n--- two\n")
        self.write("one\n-- two\n")
        self.assertEqual(seeded_bugs.planted(self.root, bug), {"base/a.cc": "one\n"})

    def test_bad_headers_are_refused(self):
        self.refused("breaks", lambda: self.bug("# tests: base_tests:A.*\n" + DIFF))
        self.refused("tests", lambda: self.bug("# breaks: x\n" + DIFF))
        self.refused("gtest filter", lambda: self.bug("# breaks: x\n# tests: Token.*\n" + DIFF))
        self.refused("no whole unified diff", lambda: self.bug(HEAD))
        self.refused("no whole unified diff", lambda: self.bug(HEAD + DIFF[:-7]))
        self.refused("not code of the product",
                     lambda: self.bug(HEAD + DIFF.replace("base/a.cc", "tests/a.cc")))

    def test_a_misspelt_suite_is_refused(self):
        bug = self.bug(HEAD.replace("Token.", "Tokken.") + DIFF)
        self.refused("no suite `Tokken`", lambda: seeded_bugs.check_suites(bug))

    def test_the_first_failure_is_named(self):
        said = "echo '[ RUN      ] A.B'; echo '[  FAILED  ] A.B/1, where x (3 ms)'; exit 1"
        self.assertEqual(self.program(said), "A.B/1")

    def test_a_crash_is_a_failure(self):
        self.assertRegex(self.program("echo '[ RUN      ] A.B'; kill -SEGV $$"), "^A.B .ended")

    def test_green_is_no_failure(self):
        self.assertIsNone(self.program("echo '[ RUN      ] A.B'"))

    def test_no_test_and_no_time_prove_nothing(self):
        self.refused("no test", lambda: self.program("exit 0"))
        self.refused("ran out of time",
                     lambda: self.program("echo '[ RUN      ] A.B'; exec tail -f /dev/null", limit_s=1))


if __name__ == "__main__":
    unittest.main()
