#!/usr/bin/env python3
"""The format lint refuses a file that clang-format would change."""

import unittest

import support
# A stand-alone name: `format` is a builtin.
import format as format_lint


class FormatTest(support.LintTest):
    def test_formatted_file_passes(self):
        self.write("base/a.cc", "#include <string>\n\nint F(int x) { return x + 1; }\n")
        self.assertEqual(format_lint.check(self.root), [])

    def test_line_of_100_columns_passes(self):
        line = "int " + "x" * (100 - len("int  = 1;")) + " = 1;\n"
        self.write("base/a.h", line)
        self.assertEqual(format_lint.check(self.root), [])

    def test_unformatted_files_are_refused(self):
        bad = {
            "spacing": "int F(int x){return x+1;}\n",
            "indent": "int F(int x) {\n    return x + 1;\n}\n",
            "pointer": "int *p;\n",
            "order": "#include <vector>\n#include <string>\n",
            "long line": "int F(int " + "x" * 60 + ", int " + "y" * 60 + ");\n",
        }
        for name, text in bad.items():
            with self.subTest(name):
                self.write("proxy/a.cc", text)
                found = format_lint.check(self.root)
                self.assertNotEqual(found, [])
                self.assertIn("proxy/a.cc:1: " if name != "indent" else "proxy/a.cc:", found[0])
                self.assertIn("scripts/format", found[0])

    def test_empty_repository_passes(self):
        self.assertEqual(format_lint.check(self.root), [])


if __name__ == "__main__":
    unittest.main()
