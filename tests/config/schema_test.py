#!/usr/bin/env python3
"""config/schema.json and the loader accept the same documents.

    schema_test.py FENCELINE    compares with `FENCELINE check`

Each document of schema_documents.py is read with the types of YAML 1.2 (core), as editors do,
validated, and given to the loader. Both must agree, but for the documents that the list names as
exceptions with the one rule that a schema cannot say: there the schema accepts what the loader
refuses.
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import jsonschema
import yaml

import schema_documents

ROOT = Path(__file__).resolve().parents[2]
FENCELINE = ""
ENVIRONMENT = {"PORT": "8099", "SECRET": "0123456789abcdef", "EMPTY": "", "LEVEL": "loud",
               "PATTERN": "/x/{key...}"}


class CoreLoader(yaml.SafeLoader):
    """YAML 1.2, core schema; PyYAML itself speaks 1.1, where `off` is false."""

    yaml_implicit_resolvers = {}


for tag, pattern, first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    CoreLoader.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"),
                                     list(first))


def core_integer(_, node):
    text = node.value
    return int(text, 0) if text.startswith(("0x", "0o")) else int(text)


CoreLoader.add_constructor("tag:yaml.org,2002:int", core_integer)
CoreLoader.add_constructor("tag:yaml.org,2002:float", lambda _, node: float(node.value))


def ecma_pattern(_, pattern, instance, __):
    """`$` of ECMA-262 is the end; that of Python is also before a last line end."""
    if isinstance(instance, str) and not re.search(re.sub(r"\$$", r"\\Z", pattern), instance):
        yield jsonschema.ValidationError(f"{instance!r} does not match")


Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator,
                                         {"pattern": ecma_pattern})


class SchemaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.schema = yaml.safe_load((ROOT / "config/schema.json").read_text(encoding="utf-8"))
        cls.validator = Validator(cls.schema)

    def accepted_by_schema(self, text):
        return self.validator.is_valid(yaml.load(text, Loader=CoreLoader))

    def accepted_by_loader(self, text):
        """True or False, and what the loader said."""
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "fenceline.yaml"
            file.write_text(text, encoding="utf-8")
            done = subprocess.run([FENCELINE, "check", str(file)], cwd=folder, text=True,
                                  env={**os.environ, **ENVIRONMENT}, timeout=60,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        # Also without the certificates that it names a configuration is well formed.
        refused = re.search(r"^fenceline: [0-9]+ problems? in ", done.stderr, re.MULTILINE)
        missing = re.match(r"fenceline: (?:listen\.tls|route \S+ (?:http|s3)\.tls\.ca|route \S+ s3\.credentials): ", done.stderr)
        if not refused and not missing:
            self.assertEqual(done.returncode, 0, done.stderr)
        return refused is None, done.stderr

    def test_is_what_the_script_writes(self):
        subprocess.run([sys.executable, str(ROOT / "scripts/schema"), "--check"], check=True)

    def test_is_a_schema(self):
        jsonschema.Draft202012Validator.check_schema(self.schema)

    def test_good_documents(self):
        for name, text in schema_documents.GOOD.items():
            with self.subTest(name):
                loaded, said = self.accepted_by_loader(text)
                self.assertTrue(loaded, said)
                self.assertTrue(self.accepted_by_schema(text), text)

    def test_bad_documents(self):
        for name, text in schema_documents.BAD.items():
            with self.subTest(name):
                loaded, _ = self.accepted_by_loader(text)
                self.assertFalse(loaded, text)
                self.assertFalse(self.accepted_by_schema(text), text)

    def test_rules_that_a_schema_cannot_say(self):
        for rule, texts in schema_documents.ONLY_THE_LOADER.items():
            for text in texts:
                with self.subTest(rule, text=text):
                    loaded, _ = self.accepted_by_loader(text)
                    self.assertFalse(loaded, text)
                    self.assertTrue(self.accepted_by_schema(text), text)

    def test_every_key_has_a_good_and_a_bad_document(self):
        """A key that is new in the table makes this fail until somebody writes its documents."""
        known = re.findall(r'KnownKey\{"([^"]+)", "[^"]*", "[^"]*"\}',
                           (ROOT / "config/known_keys.cc").read_text(encoding="utf-8"))
        self.assertGreater(len(known), 70)
        for documents in (schema_documents.GOOD, schema_documents.BAD):
            seen = set()
            for text in documents.values():
                seen |= paths_in(yaml.load(text, Loader=CoreLoader), "")
            self.assertEqual(sorted(set(known) - seen), [])

    def test_there_are_enough_documents(self):
        self.assertGreaterEqual(len(schema_documents.GOOD), 40)
        self.assertGreaterEqual(len(schema_documents.BAD), 80)


def paths_in(value, path):
    """`routes[].files.root` and so on, for every key in a document."""
    found = {path} if path else set()
    if isinstance(value, dict):
        for name, below in value.items():
            # The names of statements are free.
            free = path.endswith(".statements")
            found |= paths_in(below, f"{path}[]" if free else f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for below in value:
            found |= paths_in(below, f"{path}[]" if isinstance(below, dict) else path)
    return found


if __name__ == "__main__":
    FENCELINE = str(Path(sys.argv.pop(1)).resolve())
    unittest.main()
