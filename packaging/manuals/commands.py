"""The command line as fenceline_command_tree prints it (proxy/command_tree.h)."""

import json
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Option:
    names: tuple  # --long and -s, with their dashes; empty for an argument that is only positional
    positional: str
    value: str  # "" for a flag
    choices: tuple
    description: str
    required: bool

    @property
    def is_file(self):
        return self.value in ("FILE", "PATH", "DIR")


@dataclass(frozen=True)
class Command:
    path: tuple  # ("fences", "list"); () for fenceline itself
    description: str
    footer: str
    options: tuple
    commands: tuple

    @property
    def name(self):
        return " ".join(("fenceline", *self.path))

    @property
    def flags(self):
        return [option for option in self.options if option.names]

    @property
    def positionals(self):
        return [option for option in self.options if option.positional]

    def walk(self):
        """This command, then every one below it."""
        yield self
        for command in self.commands:
            yield from command.walk()


def _command(tree, path, footer_above):
    options = tuple(
        Option(names=tuple(f"-{name}" for name in option["short"])
               + tuple(f"--{name}" for name in option["long"]),
               positional=option["positional"], value=option["value"],
               choices=tuple(option["choices"]), description=option["description"],
               required=option["required"])
        for option in tree["options"])
    footer = tree["footer"]
    below = tuple(_command(sub, (*path, sub["name"]), footer) for sub in tree["commands"])
    # CLI11 hands the footer of a command down to those below it that have none.
    return Command(path, tree["description"], "" if footer == footer_above else footer, options,
                   below)


def read(program):
    printed = subprocess.run([program], check=True, stdout=subprocess.PIPE).stdout
    return _command(json.loads(printed), (), None)
