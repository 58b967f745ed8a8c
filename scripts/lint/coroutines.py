#!/usr/bin/env python3
"""Lint: only the coroutine forms that g++ 12 compiles correctly.

g++ 12.2 silently miscompiles others: control falls off the end, captures and temporaries are
destroyed twice. Accepted are whole statements of the forms

    co_await e;      auto r = co_await e;      r = co_await e;      co_return co_await e;

(also const auto, auto&, auto [a, b]), where e awaits nothing itself and holds no braced list, no
conditional operator and no capturing lambda, and no operator combines the awaited result with
something else. A lambda that captures must not be a coroutine.
"""

import cpp

AWAIT = "co_await"
COROUTINE_WORDS = ("co_await", "co_return", "co_yield")
CONTROL = ("if", "for", "while", "switch", "constexpr")
ADVICE = "write `auto r = co_await …;` on a line of its own and use r"


def check_source(source):
    """(line, reason) for each refused form in this text, in order."""
    return _Checker(source).run()


class _Checker:
    def __init__(self, source):
        self.tokens = cpp.code(source)
        self.text = [t.text if t.kind in ("name", "punct") else "\0" for t in self.tokens]
        self.partner = cpp.match_brackets(self.tokens)
        self.lambdas = self._find_lambdas()  # (start, body start, body end, captures)
        self.findings = []

    def run(self):
        for i, text in enumerate(self.text):
            if text not in COROUTINE_WORDS:
                continue
            self._check_enclosing_lambda(i)
            if text == "co_yield":
                self._refuse(i, "co_yield is not one of the accepted forms")
            elif text == AWAIT and (i == 0 or self.text[i - 1] != "operator"):
                self._check_before(i)
                self._check_after(i)
        return sorted(set(self.findings))

    def _refuse(self, i, reason):
        self.findings.append((self.tokens[i].line, reason))

    # ---- lambdas

    def _find_lambdas(self):
        found = []
        for i, text in enumerate(self.text):
            if text != "[" or i not in self.partner or not self._starts_lambda(i):
                continue
            body = self._lambda_body(self.partner[i])
            if body is not None and body in self.partner:
                found.append((i, body, self.partner[body], self.partner[i] > i + 1))
        return found

    def _starts_lambda(self, i):
        """True unless this [ is a subscript, an array bound, an attribute or a binding."""
        if self.text[i + 1] == "[" or (i > 0 and self.text[i - 1] == "["):
            return False
        if i == 0:
            return True
        before = self.tokens[i - 1]
        if before.kind in ("string", "number", "char") or before.text in (")", "]"):
            return False
        if before.kind == "name":
            return before.text in ("return", "case", "else", "do", "throw", *COROUTINE_WORDS)
        if before.text in ("&", "&&") and i > 1 and self.text[i - 2] == "auto":
            return False
        return True

    def _lambda_body(self, close):
        """The index of the { that opens the body, looking past parameters and specifiers."""
        i = close + 1
        while i < len(self.text):
            if self.text[i] == "{":
                return i
            if self.text[i] in (";", ")", "]", "}", ",", "="):
                return None
            i = self.partner[i] + 1 if self.text[i] in ("(", "[") and i in self.partner else i + 1
        return None

    def _check_enclosing_lambda(self, i):
        enclosing = [x for x in self.lambdas if x[1] < i < x[2]]
        if enclosing and max(enclosing)[3]:
            self._refuse(
                i,
                f"{self.text[i]} in a lambda that captures: g++ 12 destroys the captures twice; "
                "make it a function that takes its arguments by value",
            )

    # ---- what stands before co_await in its statement

    def _check_before(self, i):
        if not self._is_accepted_prefix(i):
            self._refuse(i, f"co_await inside a larger expression or condition; {ADVICE}")

    def _is_accepted_prefix(self, i):
        j = i - 1
        if j >= 0 and self.text[j] == "co_return":
            return self._is_statement_start(j)
        if j >= 0 and self.text[j] == "=":
            return self._is_accepted_target(j)
        return self._is_statement_start(i)

    def _is_accepted_target(self, equals):
        """What `=` assigns to: a declaration with auto, or a plain name such as a.b->c_."""
        j = equals - 1
        if j >= 0 and self.text[j] == "]" and j in self.partner:  # auto [a, b]
            j = self.partner[j] - 1
            if j >= 0 and self.text[j] in ("&", "&&"):
                j -= 1
            if j < 0 or self.text[j] != "auto":
                return False
        else:
            while j >= 0 and (
                self.tokens[j].kind == "name" or self.text[j] in (".", "->", "::", "*", "&", "&&")
            ):
                if self.text[j] in ("else", "do"):
                    break
                j -= 1
            words = [t for t in self.text[j + 1 : equals]]
            return self._is_declaration_or_name(words) and self._is_statement_start(j + 1)
        if j > 0 and self.text[j - 1] == "const":
            j -= 1
        return self._is_statement_start(j)

    @staticmethod
    def _is_declaration_or_name(words):
        if "auto" in words:
            rest = [w for w in words if w not in ("const", "auto", "&", "&&", "*")]
            return len(rest) == 1
        # A name: two words in a row would be a type and its variable.
        operators = (".", "->", "::", "*", "&", "&&")
        for first, second in zip(words, words[1:]):
            if first not in operators and second not in operators:
                return False
        return bool(words) and "&" not in words and "&&" not in words

    def _is_statement_start(self, i):
        """True when the token at i is the first one of a statement."""
        if i == 0:
            return True
        before = self.text[i - 1]
        if before in (";", "{", "}", "else", "do"):
            return not self._is_in_parentheses(i)
        if before == ")":
            start = self.partner.get(i - 1, 0)
            return start > 0 and self.text[start - 1] in CONTROL
        if before == ":":
            return self._ends_label(i - 1)
        return False

    def _is_in_parentheses(self, i):
        """True for the middle of for (…; …; …): the nearest open bracket is a parenthesis."""
        for j in range(i - 1, -1, -1):
            if self.text[j] in ("(", "[") and self.partner.get(j, -1) > i:
                return True
            if self.text[j] == "{" and self.partner.get(j, -1) > i:
                return False
        return False

    def _ends_label(self, colon):
        for j in range(colon - 1, -1, -1):
            if self.text[j] in (";", "{", "}"):
                return self.text[j + 1] in ("case", "default")
        return False

    # ---- the awaited expression, up to the ; of its statement

    def _check_after(self, i):
        end = self._end_of_statement(i)
        if end is None:
            self._refuse(i, f"co_await inside brackets or a list; {ADVICE}")
            return
        lambdas = [x for x in self.lambdas if i < x[0] < end]
        bodies = [(x[1], x[2]) for x in lambdas]
        for start, _, _, captures in lambdas:
            if captures:
                self._refuse(
                    start, "capturing lambda in a co_await expression; name it on its own line "
                    "before and pass std::move of it")
        j = i + 1
        while j < end:
            body = next((b for b in bodies if b[0] == j), None)
            if body is not None:
                j = body[1] + 1
                continue
            text = self.text[j]
            if text == AWAIT:
                self._refuse(j, f"co_await inside the expression of another; {ADVICE}")
            elif text == "{":
                self._refuse(j, "braced list in a co_await expression: g++ 12 destroys it twice "
                             "or stops; name the value on its own line before")
            elif text == "?":
                self._refuse(j, "conditional operator in a co_await expression; name the value "
                             "on its own line before")
            j += 1
        self._check_no_operator(i, end)

    def _end_of_statement(self, i):
        j = i + 1
        while j < len(self.text):
            if self.text[j] == ";":
                return j
            if self.text[j] in ("(", "[", "{"):
                if j not in self.partner:
                    return None
                j = self.partner[j]
            elif self.text[j] in (")", "]", "}"):
                return None
            j += 1
        return None

    def _check_no_operator(self, i, end):
        """Outside brackets, what is awaited is one call or name; operators would use its result."""
        j = i + 1
        if j < end and self.text[j] in ("*", "&", "-", "!", "~", "+"):
            j += 1  # a prefix operator belongs to what is awaited
        while j < end:
            text = self.text[j]
            if text in ("(", "[", "{"):
                j = self.partner[j]
            elif text == "<":
                close = self._template_end(j, end)
                if close is None:
                    self._refuse(j, f"the result of co_await is compared in place; {ADVICE}")
                    return
                j = close
            elif self.tokens[j].kind == "punct" and text not in (".", "->", "::", "?", ":"):
                self._refuse(j, f"operator {text} uses the result of co_await in place; {ADVICE}")
                return
            j += 1

    def _template_end(self, opening, end):
        """The > that closes these template arguments, or None when < is a comparison."""
        depth = 0
        j = opening
        while j < end:
            text = self.text[j]
            if text == "<":
                depth += 1
            elif text == ">":
                depth -= 1
                if depth == 0:
                    return j if self.text[j + 1] in ("(", "::", "{") else None
            elif text == "(" and j in self.partner:
                j = self.partner[j]
            elif self.tokens[j].kind == "punct" and text not in ("::", ",", "*", "&", "&&", "..."):
                return None
            j += 1
        return None


def check(root):
    findings = []
    for path in cpp.sources(root):
        for line, reason in check_source(cpp.read(root, path)):
            findings.append(f"{path}:{line}: {reason}")
    return findings


if __name__ == "__main__":
    cpp.run("coroutines", __doc__, check)
