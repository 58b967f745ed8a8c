#!/usr/bin/env python3
"""The include lint refuses every direction between rooms that is not meant."""

import unittest

import support
import includes

UPWARDS = [
    ("base", "config"), ("base", "fencing"), ("base", "backends"), ("base", "proxy"),
    ("config", "fencing"), ("config", "backends"), ("config", "proxy"),
    ("fencing", "config"), ("fencing", "backends"), ("fencing", "proxy"),
    ("backends", "config"), ("backends", "fencing"), ("backends", "proxy"),
    ("client", "config"), ("client", "fencing"), ("client", "backends"), ("client", "proxy"),
    ("base", "tests"), ("proxy", "tests"),
]
DOWNWARDS = [
    ("config", "base"), ("fencing", "base"), ("backends", "base"), ("client", "base"), ("proxy", "client"), ("proxy", "fencing"),
    ("proxy", "backends"), ("proxy", "config"), ("proxy", "base"), ("tests", "proxy"),
    ("tests", "fencing"), ("tests", "tests"), ("base", "base"),
]


class IncludesTest(support.LintTest):
    def setUp(self):
        super().setUp()
        for room in ("base", "config", "fencing", "backends", "client", "proxy", "tests"):
            self.write(f"{room}/known.h", "#pragma once\n")

    def findings(self, path, text):
        self.write(path, text)
        return includes.check(self.root)

    def test_allowed_directions_pass(self):
        for room, target in DOWNWARDS:
            with self.subTest(f"{room} to {target}"):
                text = f'// why\n#include <string>\n#  include "{target}/known.h"\n'
                self.assertEqual(self.findings(f"{room}/a.cc", text), [])

    def test_other_directions_are_refused(self):
        for room, target in UPWARDS:
            with self.subTest(f"{room} to {target}"):
                found = self.findings(f"{room}/a.cc", f'\n#include "{target}/known.h"\n')
                self.assert_refused(found, f"{room}/a.cc:2: ", f"{target}/known.h")
                (self.root / room / "a.cc").unlink()

    def test_includes_in_comments_and_strings_are_not_includes(self):
        text = (
            '// #include "proxy/known.h"\n/*\n#include "proxy/known.h"\n*/\n'
            'auto a = R"(\n#include "proxy/known.h"\n)";\n'
        )
        self.assertEqual(self.findings("base/a.cc", text), [])

    def test_paths_not_from_the_root(self):
        for target in ("known.h", "../base/known.h", "base/../proxy/known.h"):
            with self.subTest(target):
                found = self.findings("base/a.cc", f'#include "{target}"\n')
                self.assert_refused(found, "not a path from the repository's root")

    def test_missing_header(self):
        self.assert_refused(self.findings("base/a.cc", '#include "base/b.h"\n'), "does not exist")

    def test_own_header_in_angle_brackets(self):
        self.assert_refused(self.findings("base/a.cc", "#include <base/known.h>\n"), "quotes")

    def test_the_header_of_its_name_is_first(self):
        for text in ('// why\n/* how */\n#include "base/known.h"\n#include <string>\n',
                     '#  include "base/known.h"  // its own\n'):
            with self.subTest(text):
                self.assertEqual(self.findings("base/known.cc", text), [])

    def test_anything_in_front_of_the_header_of_its_name(self):
        for line, text in (
            (1, '#include <string>\n#include "base/known.h"\n'),
            (2, '// why\n#define BEFORE\n#include "base/known.h"\n'),
            (1, '#include "config/known.h"\n#include "base/known.h"\n'),
            (1, 'int early;\n#include "base/known.h"\n'),
            (1, '// #include "base/known.h"\n'),
        ):
            with self.subTest(text):
                found = [each for each in self.findings("base/known.cc", text)
                         if "before anything else" in each]
                self.assert_refused(found, f"base/known.cc:{line}: ", '"base/known.h"')

    def test_beast_in_a_header(self):
        for target in ("boost/beast/http.hpp", "boost/beast/core.hpp"):
            with self.subTest(target):
                found = self.findings("proxy/a.h", f"#pragma once\n#include <{target}>\n")
                self.assert_refused(found, "proxy/a.h:2", "no header includes Beast")

    def test_at_most_eight_files_include_beast(self):
        for i in range(8):
            found = self.findings(f"proxy/a{i}.cc", "#include <boost/beast/http.hpp>\n")
            self.assertEqual(found, [])
        found = self.findings("base/b.cc", "#include <boost/beast/http.hpp>\n")
        self.assert_refused(found, "9 files include Beast")

    def test_libraries_stay_in_their_rooms(self):
        misplaced = [
            ("proxy/a.cc", "sqlite3.h"), ("base/a.cc", "yaml-cpp/yaml.h"),
            ("base/a.cc", "CLI/CLI.hpp"), ("fencing/a.cc", "spdlog/spdlog.h"),
            ("backends/a.cc", "prometheus/counter.h"), ("base/a.cc", "gtest/gtest.h"),
        ]
        for path, target in misplaced:
            with self.subTest(f"{path} {target}"):
                self.assert_refused(self.findings(path, f"#include <{target}>\n"), target)
                (self.root / path).unlink()

    def test_libraries_hidden_behind_plain_headers(self):
        for target in ("spdlog/spdlog.h", "prometheus/counter.h"):
            with self.subTest(target):
                found = self.findings("base/a.h", f"#pragma once\n#include <{target}>\n")
                self.assert_refused(found, "only .cc files")

    def test_libraries_in_their_rooms_pass(self):
        placed = [
            ("fencing/a.cc", "sqlite3.h"), ("backends/a.cc", "sqlite3.h"),
            ("base/a.cc", "sqlite3.h"),
            ("config/a.cc", "yaml-cpp/yaml.h"), ("proxy/a.cc", "CLI/CLI.hpp"),
            ("base/a.cc", "spdlog/spdlog.h"), ("tests/a.cc", "gtest/gtest.h"),
        ]
        for path, target in placed:
            self.assertEqual(self.findings(path, f"#include <{target}>\n"), [])

    def test_refused_everywhere(self):
        for target in ("ranges", "boost/beast.hpp", "boost/asio.hpp"):
            with self.subTest(target):
                self.assert_refused(self.findings("base/a.cc", f"#include <{target}>\n"), target)

    def test_header_without_pragma_once(self):
        found = self.findings("base/a.h", "// #pragma once\n#ifndef A\n#define A\n#endif\n")
        self.assert_refused(found, "base/a.h:1", "#pragma once")


if __name__ == "__main__":
    unittest.main()
