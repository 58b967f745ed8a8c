"""Helpers of the lints' own tests: a small repository in a temporary folder."""

import sys
import tempfile
import unittest
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(REPOSITORY / "scripts" / "lint"))


class LintTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def assert_refused(self, findings, *words):
        """Exactly one finding, which has all these words in it."""
        self.assertEqual(len(findings), 1, f"one finding expected, got {findings}")
        for word in words:
            self.assertIn(word, str(findings[0]))
