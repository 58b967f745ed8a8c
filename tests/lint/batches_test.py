#!/usr/bin/env python3
"""cmake/batches.py joins files, and what each keeps to itself stays its own."""

import unittest

import support

support.sys.path.insert(0, str(support.REPOSITORY / "cmake"))
import batches  # noqa: E402

# All in the unnamed namespace, as a test is; and one with something behind it.
WHOLE = """#include <string>
namespace fenceline::base {
namespace {
int answer() { return 1; }
}  // namespace
}  // namespace fenceline::base
"""
REST = WHOLE.replace("}  // namespace fenceline", "int shown() { return answer(); }\n"
                     "}  // namespace fenceline")


class BatchesTest(support.LintTest):
    def sources(self, *texts):
        found = []
        for number, text in enumerate(texts):
            self.write(f"base/{number}.cc", text)
            found.append(batches.Source(self.root, self.root / f"base/{number}.cc"))
        return found

    def sizes(self, *texts, size=8):
        return [len(members) for members in batches.batches(self.sources(*texts), size)]

    def test_as_many_as_it_is_told(self):
        self.assertEqual(self.sizes(*[WHOLE] * 5, size=2), [2, 2, 1])

    def test_an_unnamed_namespace_gets_the_name_of_its_place(self):
        text = self.sources(WHOLE)[0].joined(3)
        self.assertIn('#line 1 "base/0.cc"\n#include <string>\n', text)
        self.assertIn("\nnamespace own_3 {\nint answer()", text)
        self.assertNotIn("namespace {", text)
        self.assertNotIn("using namespace", text)

    def test_what_is_behind_it_uses_it(self):
        text = self.sources(REST)[0].joined(3)
        self.assertIn("\n} using namespace own_3;\nint shown()", text)

    def test_headers_are_in_front_of_everything(self):
        more = REST.replace("#include <string>", '#include <string>\n#include "base/a.h"')
        text = batches.batch_text(self.sources(REST, more))
        self.assertTrue(
            text.startswith('#include <string>\n#include "base/a.h"\n#line 1 "base/0.cc"\n'))

    def test_lines_stay_where_they_were(self):
        text = self.sources(REST)[0].joined(0).splitlines()[1:]
        self.assertEqual(len(text), len(REST.splitlines()))

    def test_files_with_nothing_behind_it_never_clash(self):
        self.assertEqual(self.sizes(WHOLE, WHOLE, REST), [3])

    def test_one_name_for_two_things(self):
        for mine, other in (
            ("int answer() {", "Result<int> answer(int a) {"),
            ("int answer() {", "constexpr int answer = 1;"),
            ("int answer() {", "const Table answer[2] = {"),
            ("int answer() {", "class answer final : public Base {"),
            ("int answer() {", "enum class answer { kYes };"),
            ("int answer() {", "using answer = std::string;"),
            ("using base::answer;", "using config::answer;"),
        ):
            with self.subTest(other):
                self.assertEqual(self.sizes(REST.replace("int answer() {", mine + "\nint a() {"),
                                            REST.replace("int answer() {", other + "\nint b() {")),
                                 [1, 1])

    def test_one_name_for_one_thing(self):
        used = REST.replace("int answer() {", "using base::Result;\nint {}() {{")
        self.assertEqual(self.sizes(used.replace("{}() {{", "a() {"),
                                    used.replace("{}() {{", "b() {")), [2])

    def test_other_namespaces_are_other_batches(self):
        self.assertEqual(self.sizes(WHOLE, WHOLE.replace("::base", "::base::net")), [1, 1])

    def test_what_would_reach_into_the_next_file_stays_alone(self):
        for text in ("#define ANSWER 1\n" + WHOLE,
                     '#pragma GCC diagnostic ignored "-Wall"\n' + WHOLE,
                     WHOLE + "static int more;\n", WHOLE + "int main() {}\n", "int bare;\n",
                     WHOLE.replace("}  // namespace\n", "}\n")):
            with self.subTest(text):
                self.assertFalse(self.sources(text)[0].can_join)
        self.assertTrue(self.sources(WHOLE)[0].can_join)


if __name__ == "__main__":
    unittest.main()
