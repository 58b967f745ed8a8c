#!/usr/bin/env python3
"""The operations lint refuses metrics and events that page and code do not share."""

import unittest

import support
import operations

CODE = """
void F() {
  registry.counter("fenceline_a_total", "help", {});
  registry_.histogram("fenceline_wait_seconds",
                      "help", {});
  base::log(base::LogLevel::kWarning, "lost", "a sentence, with a comma",
            {{"key", key}, {"peer", peer ? x : "none"}});
  log(LogLevel::kInfo, "stopped", "all ended");
  log("not an event");
}
"""
PAGE = """
| `fenceline_a_total` | counter | | what |
| `fenceline_wait_seconds` | histogram | | what |
| `lost` | warning | `key`, `peer` | when |
| `stopped` | info | | when |
`rate(fenceline_wait_seconds_bucket[5m])`
"""


class OperationsTest(support.LintTest):
    def findings(self, code=CODE, page=PAGE):
        self.write("proxy/a.cc", code)
        self.write("docs/operations.md", page)
        return operations.check(self.root)

    def test_what_agrees_passes(self):
        self.assertEqual(self.findings(), [])

    def test_missing_page(self):
        self.assert_refused(operations.check(self.root), "docs/operations.md", "missing")

    def test_undocumented_metric(self):
        page = PAGE.replace("| `fenceline_a_total` | counter | | what |", "")
        self.assert_refused(self.findings(page=page), "proxy/a.cc:3", "fenceline_a_total")

    def test_undocumented_event(self):
        page = PAGE.replace("| `stopped` | info | | when |", "")
        self.assert_refused(self.findings(page=page), "proxy/a.cc:8", "stopped")

    def test_metric_that_is_gone(self):
        found = self.findings(code=CODE.replace("fenceline_a_total", "fenceline_b_total"))
        self.assertIn("no metric fenceline_a_total", " ".join(found))
        self.assertIn("no row for the metric fenceline_b_total", " ".join(found))

    def test_event_that_is_gone(self):
        self.assert_refused(self.findings(page=PAGE + "| `won` | info | | when |\n"), "won")

    def test_wrong_type(self):
        page = PAGE.replace("_total` | counter", "_total` | gauge")
        self.assert_refused(self.findings(page=page), "docs/operations.md:2", "counter")

    def test_wrong_level_or_fields(self):
        for wrong in ("| `lost` | error | `key`, `peer` |", "| `lost` | warning | `key` |",
                      "| `lost` | warning | `peer`, `key` |"):
            page = PAGE.replace("| `lost` | warning | `key`, `peer` |", wrong)
            self.assert_refused(self.findings(page=page), "docs/operations.md:4", "key, peer")

    def test_query_of_no_metric(self):
        for wrong in ("fenceline_b_total", "fenceline_a_total_bucket"):
            found = self.findings(page=PAGE + f"`rate({wrong}[5m])`\n")
            self.assert_refused(found, "docs/operations.md:7", wrong)


if __name__ == "__main__":
    unittest.main()
