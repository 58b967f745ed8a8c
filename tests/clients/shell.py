"""A client that is a command: its recipe is a script of bash."""

import os
import subprocess

import contract
from contract import Outcome

# Debian's commands, whatever else is installed.
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
TIMEOUT_S = 120


class ShellWorker(contract.Worker):
    """`recipe_name` names the recipe."""

    recipe_name = None

    def environment(self):
        """Whose home is empty, and who trusts the certificate of the tests."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("AWS", "RCLONE", "S3"))}
        kept.update(PATH=f"{PATH}:{os.environ['PATH']}", HOME=str(self.folder), LC_ALL="C.UTF-8")
        if self.door.ca:
            for name in ("AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "RCLONE_CA_CERT", "SSL_CERT_FILE"):
                kept[name] = str(self.door.ca)
        return kept

    def script(self, command):
        return f"{self.recipe(self.recipe_name, 0)}\n{command}"

    def start(self, command, *words, **options):
        """The script, with the words as $1, $2, …"""
        return subprocess.Popen(["bash", "-euo", "pipefail", "-c", self.script(command), "bash",
                                 *map(str, words)],
                                cwd=self.folder, env=self.environment(), stdout=subprocess.PIPE,
                                **options)

    def sh(self, command, *words, data=None):
        """Runs the script with `data` as its standard input."""
        stdin = subprocess.DEVNULL if data is None else subprocess.PIPE
        process = self.start(command, *words, stdin=stdin, stderr=subprocess.PIPE)
        try:
            out, err = process.communicate(data, timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise
        text = f"{out.decode(errors='replace')[:4000]}\n{err.decode(errors='replace')}"
        return Outcome(process.returncode == 0, text, out)

    def sh_lines(self, command, *words):
        outcome = self.sh(command, *words)
        return outcome._replace(data=outcome.data.decode().splitlines())

    def sh_line(self, command, *words):
        outcome = self.sh(command, *words)
        return outcome._replace(data=outcome.data.decode().strip())

    def sh_file(self, command, *words):
        """A command that writes the file `$OUT`."""
        target = self.folder / "out"
        outcome = self.sh(f"OUT={target}; {command}", *words)
        return outcome._replace(data=target.read_bytes() if target.exists() else b"")

    def example(self, data):
        (self.folder / "report.csv").write_bytes(data)
        return self.sh(self.recipe(self.recipe_name, 1))
