#!/usr/bin/env python3
"""Lint: docs/operations.md names every metric and every log event, and nothing else.

Metrics: each "fenceline_…" or "process_…" string in the code has a row `| `name` | type | …` in the page, with the
type that it is registered with. Events: each base::log(level, "event", …) has a row `| `event` |
level | fields |` with exactly its fields. Queries in the page use only metrics that there are.
"""

import re

import cpp

PAGE = "docs/operations.md"
_METRIC_ROW = re.compile(r"\| `((?:fenceline|process)_[a-z_]+)` \| (counter|gauge|histogram) \|")
_EVENT_ROW = re.compile(r"\| `([a-z_]+)` \| (debug|info|warning|error) \|([^|]*)\|")
_USED = re.compile(r"\b(?:fenceline|process)_[a-z_]+\b")
_OF_HISTOGRAM = ("_bucket", "_sum", "_count")


def strings_from(tokens, start):
    """The string literal that begins at start, with those that follow it."""
    text = ""
    while start < len(tokens) and tokens[start].text.startswith('"'):
        text += tokens[start].text[1:-1]
        start += 1
    return text


def metrics_in(tokens):
    """name: (type, line) of what is registered here: registry.counter("name", …"""
    for i in range(len(tokens) - 2):
        kind = tokens[i].text
        if kind in ("counter", "gauge", "histogram") and tokens[i + 1].text == "(":
            name = strings_from(tokens, i + 2)
            if name.startswith(("fenceline_", "process_")):
                yield name, kind, tokens[i].line


def events_in(tokens):
    """(event, level, fields, line) of every call of log with a level."""
    partner = cpp.match_brackets(tokens)
    for i in range(len(tokens) - 8):
        if tokens[i].text != "log" or tokens[i + 1].text != "(":
            continue
        end = partner.get(i + 1, i + 1)
        inside = tokens[i + 2 : end]
        texts = [token.text for token in inside]
        if "LogLevel" not in texts[:4] or "," not in texts:
            continue
        comma = texts.index(",")
        event = strings_from(inside, comma + 1)
        if not event:
            continue
        level = texts[comma - 1].removeprefix("k").lower()
        fields = [texts[k + 1][1:-1] for k in range(len(texts) - 2)
                  if texts[k] == "{" and texts[k + 1].startswith('"') and texts[k + 2] == ","]
        yield event, level, fields, tokens[i].line


def in_code(root):
    metrics, events = {}, {}
    for path in cpp.sources(root):
        if path.parts[0] == "tests":
            continue
        tokens = cpp.code(cpp.read(root, path))
        for name, kind, line in metrics_in(tokens):
            metrics[name] = (kind, f"{path}:{line}")
        for event, level, fields, line in events_in(tokens):
            events[event] = (level, fields, f"{path}:{line}")
    return metrics, events


def check(root):
    page = root / PAGE
    if not page.is_file():
        return [f"{PAGE}:1: missing"]
    metrics, events = in_code(root)
    findings, documented_metrics, documented_events = [], set(), set()
    lines = page.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        if row := _METRIC_ROW.match(line):
            name, kind = row.groups()
            documented_metrics.add(name)
            if metrics.get(name, (kind,))[0] != kind:
                findings.append(f"{PAGE}:{number}: {name} is a {metrics[name][0]}")
        elif row := _EVENT_ROW.match(line):
            event, level, fields = row[1], row[2], re.findall(r"`([a-z_]+)`", row[3])
            documented_events.add(event)
            if event not in events:
                findings.append(f"{PAGE}:{number}: no code logs the event {event}")
            elif (level, fields) != events[event][:2]:
                findings.append(f"{PAGE}:{number}: the event {event} is {events[event][0]} and has "
                                f"the fields {', '.join(events[event][1]) or 'none'}")
        for used in _USED.findall(line):
            if used not in metrics and not is_part(used, metrics):
                findings.append(f"{PAGE}:{number}: there is no metric {used}")
    for name in sorted(set(metrics) - documented_metrics):
        findings.append(f"{metrics[name][1]}: {PAGE} has no row for the metric {name}")
    for event in sorted(set(events) - documented_events):
        findings.append(f"{events[event][2]}: {PAGE} has no row for the event {event}")
    return findings


def is_part(name, metrics):
    """True for what a histogram is exported as."""
    for suffix in _OF_HISTOGRAM:
        if name.endswith(suffix) and metrics.get(name.removesuffix(suffix), ("",))[0] == "histogram":
            return True
    return False


if __name__ == "__main__":
    cpp.run("operations", __doc__, check)
