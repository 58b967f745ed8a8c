#!/usr/bin/env python3
"""The file lint refuses long files and functions, postponed work, sleeps and missing READMEs."""

import unittest

import support
import files


def function(lines, head="int F(int x)"):
    return head + " {\n" + "  G();\n" * (lines - 2) + "}\n"


class FilesTest(support.LintTest):
    def setUp(self):
        super().setUp()
        for folder in files.FOLDERS_WITH_README:
            self.write(f"{folder}/README.md", "# why\n" * 20)

    def findings(self, path, text):
        self.write(path, text)
        return files.check(self.root)

    def test_clean_repository_passes(self):
        self.assertEqual(self.findings("base/a.cc", "// 500 lines\n" * 500), [])

    def test_long_file(self):
        found = self.findings("base/a.cc", "int x;\n" * 501)
        self.assert_refused(found, "base/a.cc:501", "501 lines")

    def test_function_of_80_lines_passes(self):
        self.assertEqual(self.findings("base/a.cc", "namespace n {\n" + function(80) + "}\n"), [])

    def test_long_functions(self):
        heads = {
            "free": "int F(int x)",
            "method": "Result<T> A::F(std::function<int(int)> x) const noexcept",
            "trailing": "auto F() -> std::vector<int>",
            "constructor": "A::A(int x) : a_(x), b_(x)",
            "test": "TEST(Suite, Name)",
            "struct result": "struct stat F(int x)",
            "template": "template <class T, std::vector<int> U> T F(T x)",
            "extern": 'extern "C" int F(int x)',
        }
        for name, head in heads.items():
            with self.subTest(name):
                text = "namespace n {\nint a = 1;\n" + function(81, head) + "}\n"
                found = self.findings("tests/a_test.cc", text)
                self.assert_refused(found, "tests/a_test.cc:3", "81 lines")

    def test_long_methods_in_types(self):
        heads = ("class alignas(8) A final : public B<int>", "template <class T> struct A", "struct A")
        for head in heads:
            with self.subTest(head):
                text = head + " {\n  int a_ = 1;\n  void G() {}\n" + function(81) + "};\n"
                self.assert_refused(self.findings("base/a.h", text), "base/a.h:4:", "81 lines")

    def test_long_types_and_tables_pass(self):
        text = (
            "class A : public B<int> {\n" + "  void F() { G(); }\n" * 100 + "};\n"
            "enum class E {\n" + "  kA,\n" * 100 + "};\n"
            "constexpr int kTable[] = {\n" + "  1,\n" * 100 + "};\n"
        )
        self.assertEqual(self.findings("base/a.h", text), [])

    def test_postponed_work(self):
        for word in ("TODO", "FIXME", "XXX", "HACK"):
            with self.subTest(word):
                found = self.findings("proxy/a.cc", f"int x;\n/* {word}(me): later */\n")
                self.assert_refused(found, "proxy/a.cc:2", word)

    def test_postponed_words_in_code_and_strings_pass(self):
        self.assertEqual(self.findings("proxy/a.cc", 'auto a = "TODO"; int TODO_list;\n'), [])

    def test_sleeps_in_tests(self):
        calls = (
            "std::this_thread::sleep_for(1s);", "sleep_until(t);", "usleep(10);", "::sleep(1);",
            "nanosleep(&t, nullptr);",
        )
        for call in calls:
            with self.subTest(call):
                found = self.findings("tests/base/a_test.cc", f"void F() {{\n  {call}\n}}\n")
                self.assert_refused(found, "tests/base/a_test.cc:2", "deadline")

    def test_sleep_words_elsewhere_pass(self):
        text = '// sleep_for(1s)\nauto a = "usleep(1)";\nint sleep_ms = usleeper(1);\n'
        self.assertEqual(self.findings("tests/base/a_test.cc", text), [])

    def test_missing_readme(self):
        (self.root / "fencing/README.md").unlink()
        self.assert_refused(files.check(self.root), "fencing/README.md", "missing")

    def test_long_readme(self):
        found = self.findings("docs/README.md", "line\n" * 21)
        self.assert_refused(found, "docs/README.md:21", "21 lines")


if __name__ == "__main__":
    unittest.main()
