#!/usr/bin/env python3
"""The recipes of docs/s3.md are those that the programs here run, all of them."""

import re
import unittest
from pathlib import Path

import recipes

HERE = Path(__file__).resolve().parent


class RecipesTest(unittest.TestCase):
    def test_each_recipe_is_run_and_each_that_is_run_is_there(self):
        run = set()
        for program in HERE.glob("*_test.py"):
            text = program.read_text(encoding="utf-8")
            run |= set(re.findall(r'^    recipe_name = "(.+)"$', text, re.MULTILINE))
        self.assertGreaterEqual(len(run), 8)
        self.assertEqual(sorted(run), sorted(recipes.names()))

    def test_each_has_a_place_and_a_token_of_its_own(self):
        """Otherwise the tests would not put in theirs."""
        for name in recipes.names():
            with self.subTest(name):
                blocks = recipes.blocks(name)
                self.assertIn(len(blocks), (1, 2))
                self.assertEqual(len(re.findall(recipes.TOKEN, blocks[0])), 1)
                self.assertRegex(blocks[0], r"127\.0\.0\.1")
                self.assertRegex(blocks[0], r"\b8080\b")


if __name__ == "__main__":
    unittest.main()
