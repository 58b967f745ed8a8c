#!/usr/bin/env python3
"""The coroutine lint refuses every form that g++ 12 miscompiles and lets the accepted ones pass."""

import unittest

import support
import coroutines

# Each is the body of a coroutine.
GOOD = {
    "bare": "co_await f();",
    "auto": "auto r = co_await f(x, std::move(y));",
    "const auto": "const auto r = co_await f();",
    "auto reference": "const auto& r = co_await f(); auto&& s = co_await g();",
    "pointer": "auto* p = co_await f();",
    "binding": "auto [ec, n] = co_await s.async_read_some(b, token);",
    "const binding": "const auto& [ec, n] = co_await f();",
    "assignment": "r = co_await f();",
    "member assignment": "this->state_.result = co_await f();",
    "co_return": "co_return co_await f(x);",
    "co_return alone": "co_return; ",
    "co_return of a braced value": "co_return Reply{200, {}};",
    "several lines": "auto r =\n    co_await session->read(\n        a,  // why; {b}?\n        c);",
    "templates": "auto r = co_await f<std::vector<int>>(x); auto s = co_await g<int>::h(x);",
    "template value": "auto r = co_await f<sizeof(int), a::b*>(x);",
    "arithmetic in an argument": "co_await f(a + b, c < d, e == f && g);",
    "subscript": "auto r = co_await list[i]->f();",
    "braceless if": "if (ok) co_await f();",
    "braceless else": "if (ok) { g(); } else co_await f();",
    "braceless loops": "for (;;) co_await f(); while (x) r = co_await f();",
    "if constexpr": "if constexpr (kTrue) co_await f();",
    "if with co_return": "if (!r) co_return co_await f();",
    "case label": "switch (x) { case 1: co_await f(); break; default: co_await g(); }",
    "loop body": "for (auto& x : list) { co_await f(x); }",
    "try": "try { co_await f(); } catch (const E& e) { co_return; }",
    "line comment": "// if (co_await f()) {\nco_await f();",
    "block comment": "/* g(co_await f()) */ co_await f();",
    "comment over a continued line": "// g( \\\n co_await f())\nco_await f();",
    "string": 'log("if (co_await f()) {"); co_await f("{?}", \'{\');',
    "raw string": 'log(R"x(if (co_await f()) ")" {)x"); co_await f();',
    "digit separator": "co_await f(1'000'000); co_await g('\\'', 0x1'F);",
    "preprocessor line": "#define G(x) h(co_await x)\nco_await f();",
    "captureless lambda coroutine": "auto l = [](int x) -> T<int> { co_return co_await f(x); };",
    "captureless lambda argument": "co_await run([] { return Pair{1, 2}; });",
    "captureless coroutine argument": "co_await run([](int x) -> T<void> { co_await f(x); });",
    "capturing lambda, no coroutine": "auto l = [x, &y](int z) { return Pair{x, y + z}; };",
    "captureless in capturing": "auto l = [x] { return [](int y) -> T<int> { co_return y; }; };",
    "subscript before a block": "if (a[i]) { co_await f(); }",
    "array and attribute": "[[maybe_unused]] int a[3]; delete[] p; co_await f();",
    "parenthesised": "co_await (f() || g());",
    "awaiting what a pointer shows": "co_await *p;",
    "after a nested block": "{ int x = 1; } co_await f();",
}

BAD = {
    # Falls off the end of the coroutine.
    "if": "if (co_await f()) co_return 1;",
    "if not": "if (!(co_await f())) co_return 1;",
    "if compared": "if ((co_await f()) > 0) { g(); }",
    "if over lines": "if (a &&\n    co_await f()) {\n  g();\n}",
    "switch": "switch (co_await f()) { case 5: co_return 1; }",
    "while": "while (co_await f()) { g(); }",
    "if with init": "if (auto r = co_await f(); r) { g(); }",
    "for header": "for (int i = 0; co_await f(); ++i) {}",
    "for step": "for (int i = 0; i < 3; i = co_await f()) {}",
    "range for": "for (auto x : co_await f()) {}",
    # Used in place.
    "argument": "g(co_await f());",
    "member of the result": "auto r = (co_await f()).value();",
    "cast": "(void)co_await f();",
    "static_cast": "static_cast<void>(co_await f());",
    "negated": "auto r = !co_await f();",
    "sum": "auto r = co_await f() + 1;",
    "compared": "auto r = co_await f() > 0;",
    "compared less": "auto r = co_await f() < b;",
    "and": "auto r = a && co_await f();",
    "and after": "auto r = co_await f() && a;",
    "compound assignment": "n += co_await f();",
    "typed declaration": "Result<int> r = co_await f();",
    "declaration of a plain type": "int r = co_await f();",
    "direct initialisation": "auto r(co_await f());",
    "two declarators": "auto r = co_await f(), s = 1;",
    "return": "return co_await f();",
    "co_return of more": "co_return Reply(co_await f());",
    "co_return negated": "co_return !co_await f();",
    "throw": "throw co_await f();",
    "subscript": "a[co_await f()] = 1;",
    "macro": "ASSERT_TRUE(co_await f());",
    "comma": "g(), co_await f();",
    "chained assignment": "a = b = co_await f();",
    # Destroyed twice.
    "braced initialiser": "auto r = Agg{co_await f()};",
    "braced list": "auto r = Agg{T(1), co_await f()};",
    "conditional": "auto r = c ? co_await f() : T(1);",
    "conditional, other branch": "auto r = c ? T(1) : co_await f();",
    "conditional of the result": "auto r = co_await f() ? 1 : 2;",
    "conditional argument": "co_await f(c ? T(1) : T(2));",
    "braced argument": "co_await f({a, b});",
    "named braced argument": "co_await f(Agg{a});",
    "empty braces": "co_await f(std::string{});",
    "braces over lines": "auto r = co_await f(\n    x,\n    {.a = 1,\n     .b = 2});",
    "designated": "co_return co_await f(Agg{.a = 1});",
    "capturing lambda argument": "co_await f([x] { return x; });",
    "capturing lambda deep inside": "co_await f(g(h([&] { return 1; })));",
    # Nested awaits.
    "nested await": "co_await f(co_await g());",
    "yield": "co_yield 1;",
    # Lambdas.
    "capturing lambda coroutine": "auto l = [x]() -> T<void> { co_return; };",
    "by reference": "auto l = [&](int a) -> T<void> { co_await f(a); };",
    "this": "spawn(io, [this] { co_await f(); });",
    "init capture": "auto l = [p = std::move(p)]() mutable noexcept -> T<int> { co_return 1; };",
    "invoked at once": "auto t = [s]() -> T<void> { co_await f(); }();",
    "capturing in captureless": "auto l = [] { return [x]() -> T<int> { co_return x; }; };",
    "after a comment": "/* fine */ auto l = [x /* ] */]() -> T<void> { co_return; };",
    "template lambda": "auto l = [x]<class T>(T y) -> A<T> { co_return y; };",
}


class CoroutinesTest(support.LintTest):
    def findings(self, body):
        return coroutines.check_source(
            f"#include <a>\nnamespace n {{\nasio::awaitable<int> C(int x) {{\n{body}\n}}\n}}\n"
        )

    def test_accepted_forms_pass(self):
        for name, body in GOOD.items():
            with self.subTest(name):
                self.assertEqual(self.findings(body), [])

    def test_miscompiled_forms_are_refused(self):
        for name, body in BAD.items():
            with self.subTest(name):
                self.assertNotEqual(self.findings(body), [])

    def test_finding_names_file_line_and_remedy(self):
        self.write("base/a.cc", "T<int> F() {\n  // one\n  if (co_await g(\n          1)) co_return 1;\n}")
        self.assert_refused(self.findings_of_root()[:1], "base/a.cc:3: ", "auto r = co_await")

    def findings_of_root(self):
        return coroutines.check(self.root)


if __name__ == "__main__":
    unittest.main()
