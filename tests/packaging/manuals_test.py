#!/usr/bin/env python3
"""Manual pages and completions have everything that `--help` has, and their programs take them.

    manuals_test.py FENCELINE FOLDER     FOLDER: what packaging/manuals wrote
"""

import gzip
import json
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
import time
import unittest
from datetime import datetime, timezone
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging/manuals"))
sys.dont_write_bytecode = True

import changelog  # noqa: E402
import roff  # noqa: E402

FENCELINE = ""
FOLDER = Path()


def run(*command, stderr=subprocess.STDOUT, **options):
    return subprocess.run([str(part) for part in command], text=True, timeout=60, check=False,
                          stdout=subprocess.PIPE, stderr=stderr, **options)


def from_help(path=()):
    """{path: (commands below it, options)} as --help prints them: not what the generator reads."""
    text = run(FENCELINE, *path, "--help").stdout
    below = re.search(r"^Subcommands:\n((?:  .*\n?)*)", text, re.MULTILINE)
    commands = re.findall(r"^  (\S+)", below[1], re.MULTILINE) if below else []
    options = {name for line in re.findall(r"^  (-\S+)", text, re.MULTILINE)
               for name in line.split(",")}
    found = {path: (set(commands), options)}
    for command in commands:
        found |= from_help((*path, command))
    return found


def page(name):
    return gzip.decompress((FOLDER / name).read_bytes()).decode("utf-8")


class Everything(unittest.TestCase):
    def setUp(self):
        self.tree = from_help()
        self.assertIn("serve", self.tree[()][0])
        self.assertIn("--config", self.tree[("serve",)][1])

    def test_is_in_the_manual(self):
        text = page("fenceline.1.gz").replace("\\-", "-")
        headings = re.split(r"^\.S[SH] ", text, flags=re.MULTILINE)
        for path, (_, options) in self.tree.items():
            title = '"' + " ".join(("fenceline", *path)) + '"' if path else "OPTIONS"
            part = [heading for heading in headings if heading.startswith(title + "\n")]
            self.assertEqual(len(part), 1, title)
            tags = "\n".join(re.findall(r"^\.TP\n(.*)$", part[0], re.MULTILINE))
            for option in options:
                self.assertIn(f"\\fB{option}\\fR", tags, f"{title}: {option}")

    def test_is_completed_by_bash(self):
        for path, (commands, options) in self.tree.items():
            offered = set(complete_in_bash(*path, "-")) | set(complete_in_bash(*path, ""))
            self.assertEqual(offered, commands | options, path)

    def test_is_in_zsh_and_fish(self):
        zsh = (FOLDER / "_fenceline").read_text(encoding="utf-8")
        fish = (FOLDER / "fenceline.fish").read_text(encoding="utf-8")
        for path, (commands, options) in self.tree.items():
            function = re.search(rf"^_{'_'.join(('fenceline', *path))}\(\) \{{\n(.*?)^\}}", zsh,
                                 re.MULTILINE | re.DOTALL)[1]
            lines = [line for line in fish.splitlines()
                     if all(f"__fish_seen_subcommand_from {word}" in line for word in path)]
            for option in options:
                self.assertRegex(function, rf"\){option}=?\[")
                short = f"-l {option[2:]} " if option.startswith("--") else f"-s {option[1]} "
                self.assertTrue(any(short in line for line in lines), (path, option))
            for command in commands:
                self.assertIn(f"'{command}:", function)
                self.assertTrue(any(f"-a {command} " in line for line in lines), (path, command))

    def test_key_of_the_configuration_is_in_its_manual(self):
        table = (ROOT / "docs/config.md").read_text(encoding="utf-8").split("\n## Keys\n")[1]
        keys = re.findall(r"^\| `([^`]+)` \|", table.split("\n## ")[0], re.MULTILINE)
        self.assertGreater(len(keys), 30)
        tags = re.findall(r"^\.TP\n\\fB(.*)\\fR$", page("fenceline.yaml.5.gz"), re.MULTILINE)
        self.assertEqual([key for key in keys if key not in tags], [])


def complete_in_bash(*words, folder=None, made=None):
    """What bash offers for the last of these words, after `fenceline`."""
    script = """
      source "$1"; shift
      [[ "$(complete -p fenceline)" == "complete -F _fenceline fenceline" ]] || exit 9
      COMP_WORDS=(fenceline "$@"); COMP_CWORD=$#
      _fenceline
      [[ ${#COMPREPLY[@]} -eq 0 ]] || printf '%s\\n' "${COMPREPLY[@]}"
    """
    with tempfile.TemporaryDirectory() as empty:
        done = run("bash", "--norc", "-euc", script, "bash", (made or FOLDER) / "fenceline.bash",
                   *words, cwd=folder or empty)
    if done.returncode:
        raise AssertionError(f"bash ended with {done.returncode}: {done.stdout}")
    return done.stdout.splitlines()


class BashTest(unittest.TestCase):
    def test_partial_words(self):
        self.assertEqual(complete_in_bash("se"), ["serve"])
        self.assertEqual(complete_in_bash("--ver"), ["--version"])
        self.assertEqual(complete_in_bash("check", "--c"), ["--config"])
        self.assertEqual(complete_in_bash("check", "--nothing"), [])
        self.assertEqual(complete_in_bash("nothing", "--c"), [])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "my routes.yaml").touch()
            Path(folder, "my").mkdir()
            for words in (("check", "my"), ("serve", "-c", "my"), ("serve", "--config", "my"),
                          ("serve", "--config", "=", "my")):
                self.assertEqual(sorted(complete_in_bash(*words, folder=folder)),
                                 ["my", "my routes.yaml"], words)
            self.assertEqual(complete_in_bash("serve", "--config", "=", folder=folder)[:1],
                             complete_in_bash("serve", "--config", "", folder=folder)[:1])
            self.assertEqual(complete_in_bash("version", "my", folder=folder), [])


class ZshTest(unittest.TestCase):
    """A zsh behind a terminal: the line as it stands after Tab is what it prints when entered."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        Path(folder.name, "routes.yaml").touch()
        leader, follower = pty.openpty()
        self.addCleanup(os.close, leader)
        environment = {"PATH": os.environ["PATH"], "TERM": "vt100", "HOME": folder.name}
        shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=follower, stdout=follower,
                                 stderr=follower, cwd=folder.name, env=environment,
                                 start_new_session=True)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.kill)
        os.close(follower)
        self.terminal = leader
        self.say(f"PROMPT= PS2=; unsetopt prompt_sp zle_bracketed_paste; fpath=({FOLDER} $fpath)"
                 "; autoload -Uz compinit; compinit -D; fenceline() { print -r -- \"<<$*>>\" }\n")
        self.say("print -r -- '<''<start>>'\n")
        self.hear("<<start>>")

    def say(self, text):
        os.write(self.terminal, text.encode())

    def hear(self, pattern):
        heard, deadline = "", time.monotonic() + 30
        while not (found := re.search(pattern, heard)):
            ready, _, _ = select.select([self.terminal], [], [], deadline - time.monotonic())
            self.assertTrue(ready, f"{pattern} is not in {heard!r}")
            heard += os.read(self.terminal, 4096).decode(errors="replace")
        return found

    def complete(self, text):
        self.say(f"fenceline {text}\t\n")
        return self.hear("<<(.*?)>>")[1].strip()

    def test_commands_options_and_files(self):
        self.assertEqual(self.complete("ser"), "serve")
        self.assertEqual(self.complete("--ver"), "--version")
        self.assertEqual(self.complete("check --conf"), "check --config")
        self.assertEqual(self.complete("check --config=rou"), "check --config=routes.yaml")
        self.assertEqual(self.complete("check -c rou"), "check -c routes.yaml")
        self.assertEqual(self.complete("serve rou"), "serve routes.yaml")
        self.assertEqual(self.complete("version rou"), "version rou")


class FishTest(unittest.TestCase):
    def test_commands_options_and_files(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "routes.yaml").touch()

            def complete(text):
                done = run("fish", "--no-config", "-c",
                           'source $argv[1]; complete -C "fenceline $argv[2]"',
                           FOLDER / "fenceline.fish", text, cwd=folder)
                self.assertEqual(done.returncode, 0, done.stdout)
                return [line.split("\t")[0] for line in done.stdout.splitlines()]

            self.assertEqual(complete("ser"), ["serve"])
            self.assertEqual(complete("--ver"), ["--version"])
            self.assertEqual(complete("check --conf"), ["--config"])
            self.assertEqual(complete("check --config rou"), ["routes.yaml"])
            self.assertEqual(complete("serve rou"), ["routes.yaml"])
            self.assertEqual(complete("version rou"), [])


def option(*names, value="", choices=(), positional=""):
    return {"long": [name[2:] for name in names if name.startswith("--")],
            "short": [name[1:] for name in names if not name.startswith("--")],
            "positional": positional, "value": value, "choices": list(choices),
            "description": "It's [one] of: \\ $x", "required": False}


def command(name, *options, commands=()):
    return {"name": name, "description": f"Do {name}'s work: [all] $of it", "footer": "",
            "options": list(options), "commands": list(commands)}


class FormsTest(unittest.TestCase):
    """Forms of a command line that fenceline may get: commands in commands, choices, quotes."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.made = Path(folder.name, "made")
        tree = command("fenceline", option("--version"), commands=[
            command("marks", option("--url", value="TEXT"), commands=[
                command("show", option(positional="key", value="TEXT"),
                        option("-o", "--output", value="TEXT", choices=("json", "text"))),
                command("import", option(positional="file", value="FILE"))])])
        program = Path(folder.name, "tree")
        program.write_text("#!/bin/sh\ncat <<'END'\n" + json.dumps(tree) + "\nEND\n")
        program.chmod(0o755)
        done = run(sys.executable, "-B", ROOT / "packaging/manuals", program, "1.0", "M <m@x>",
                   self.made)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_bash(self):
        def complete(*words):
            return complete_in_bash(*words, made=self.made, folder=ROOT)

        self.assertEqual(complete("marks", ""), ["show", "import", "--url"])
        self.assertEqual(complete("marks", "--url", ""), [])
        self.assertEqual(complete("marks", "show", "-"), ["-o", "--output"])
        self.assertEqual(complete("marks", "show", "-o", ""), ["json", "text"])
        self.assertEqual(complete("marks", "show", "--output", "=", "t"), ["text"])
        self.assertEqual(complete("marks", "show", "CHANGE"), [])
        self.assertEqual(complete("marks", "import", "CHANGE"), ["CHANGELOG.md"])

    def test_zsh_and_fish_can_read_them(self):
        for shell, name in (("zsh", "_fenceline"), ("fish", "fenceline.fish")):
            done = run(shell, "-n", self.made / name)
            self.assertEqual((done.returncode, done.stdout), (0, ""))
        script = 'source $argv[1]; complete -C "fenceline $argv[2]"'
        for text, expected in (("marks ", ["import", "show"]), ("marks show -o ", ["json", "text"]),
                               ("marks show --ou", ["--output"]), ("marks import CHANGE",
                                                                   ["CHANGELOG.md"])):
            done = run("fish", "--no-config", "-c", script, self.made / "fenceline.fish", text,
                       cwd=ROOT)
            self.assertEqual([line.split("\t")[0] for line in done.stdout.splitlines()], expected)

    def test_page(self):
        text = gzip.decompress((self.made / "fenceline.1.gz").read_bytes()).decode()
        done = run("mandoc", "-Tlint", input=text)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        shown = re.sub(r".\x08", "", run("mandoc", "-Tutf8", input=text).stdout)
        for line in ("fenceline marks show", "-o, --output TEXT", "It's [one] of: \\ $x",
                     "One of json, text."):
            self.assertIn(line, shown)


class PageTest(unittest.TestCase):
    PAGES = ("fenceline.1", "fenceline.yaml.5")

    def test_mandoc_and_man_have_nothing_to_say(self):
        for name in self.PAGES:
            with tempfile.TemporaryDirectory() as folder:
                file = Path(folder, name)
                file.write_text(page(name + ".gz"), encoding="utf-8")
                done = run("mandoc", "-Tlint", file)
                self.assertEqual((done.returncode, done.stdout), (0, ""))
                shown = run("man", "--warnings", "-E", "UTF-8", "-l", file,
                            stderr=subprocess.PIPE)
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                self.assertIn("SEE ALSO", shown.stdout)

    def test_mandoc_sees_a_mistake(self):
        done = run("mandoc", "-Tlint", input=page("fenceline.1.gz") + ".NOMACRO\n")
        self.assertIn("NOMACRO", done.stdout)

    def test_what_roff_would_take_for_its_own_is_escaped(self):
        made = roff.Page("x", 1, "2026-01-01", "x", "x")
        made.section("Name")
        roff.add_markdown(made, ".dot 'quote' back\\slash `a-b\\n`\n\n```\n.TH x\n'y\n```\n")
        shown = run("mandoc", "-Tutf8", "-Owidth=200", input=str(made)).stdout
        plain = re.sub(r".\x08", "", shown)
        for text in (".dot 'quote' back\\slash a-b\\n", ".TH x", "'y"):
            self.assertIn(text, plain)

    def test_markdown_that_is_not_known_is_refused(self):
        for text in ("> quoted", "1. numbered", "| a | b |\n|---|---|\n| only one |"):
            with self.assertRaises(ValueError, msg=text):
                roff.add_markdown(roff.Page("x", 1, "", "", ""), text)


class ChangelogTest(unittest.TestCase):
    def test_dpkg_reads_it(self):
        done = run("dpkg-parsechangelog", "-l", "-", input=page("changelog.gz"))
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"(?m)^Source: fenceline$")
        self.assertNotIn("warning", done.stdout)

    def test_a_version_has_its_own_part(self):
        news = ("# C\n\n## [Unreleased]\n\n### Added\n- New.\n\n"
                "## [1.0.0] - 2026\n\n### Fixed\n- Old.\n")
        when = datetime.fromtimestamp(0, timezone.utc)
        self.assertIn("  * Fixed: Old.\n", changelog.debian(news, "1.0.0", "M <m@x>", when))
        self.assertNotIn("New", changelog.debian(news, "1.0.0", "M <m@x>", when))
        self.assertIn("  * Added: New.\n", changelog.debian(news, "1.1.0", "M <m@x>", when))


if __name__ == "__main__":
    FENCELINE = str(Path(sys.argv.pop(1)).resolve())
    FOLDER = Path(sys.argv.pop(1)).resolve()
    unittest.main()
