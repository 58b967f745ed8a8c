"""A client of JavaScript: its recipe is a module, one Node process does what a program asks for.

JS_FOLDER, an argument of the program, holds the packages of js/package.json (`install_js.py`).
"""

import atexit
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import contract
from contract import Outcome
from harness import Stage

SOURCES = Path(__file__).resolve().parent / "js"


class Node:
    """Where the recipes are run; beside the packages, which is where Node looks for them."""

    _running = {}

    def __init__(self, operations):
        stage = Stage.current()
        if stage.js is None:
            raise AssertionError("JS_FOLDER is missing: run this test through ctest")
        self.folder = Path(tempfile.mkdtemp(prefix="run-", dir=stage.js))
        for source in SOURCES.glob("*.mjs"):
            shutil.copy(source, self.folder)
        # Node reads it once, at its start.
        self.environment = {**os.environ, "NODE_EXTRA_CA_CERTS": str(stage.certificate)}
        self._process = subprocess.Popen(["node", "driver.mjs", f"./{operations}"], cwd=self.folder,
                                         env=self.environment, stdin=subprocess.PIPE,
                                         stdout=subprocess.PIPE, text=True)
        atexit.register(self._stop)

    @classmethod
    def of(cls, operations):
        if operations not in cls._running:
            cls._running[operations] = cls(operations)
        return cls._running[operations]

    def ask(self, module, operation, arguments):
        self._process.stdin.write(json.dumps(
            {"module": str(module), "operation": operation, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise AssertionError(f"node has ended with {self._process.wait()}")
        return Outcome(**json.loads(line))

    def _stop(self):
        self._process.stdin.close()
        self._process.wait(timeout=60)
        self._process.stdout.close()
        shutil.rmtree(self.folder)


class NodeWorker(contract.Worker):
    """`recipe_name` names the recipe, `operations` the file of js/ with what is done."""

    recipe_name = None
    operations = None

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.node = Node.of(self.operations)
        # Node reads a module of one name once.
        self.name = f"{type(self).__name__}-{self.door.scheme}-{self.token}"
        self._module = self.node.folder / f"{self.name}.mjs"
        self._module.write_text(self.recipe(self.recipe_name, 0) + "\nexport { s3 };\n",
                                encoding="utf-8")

    def do(self, operation, *arguments):
        return self.node.ask(self._module, operation, arguments)

    def do_file(self, operation, *arguments):
        """An operation that writes the file which is its last argument."""
        out = self.folder / "out"
        outcome = self.do(operation, *arguments, str(out))
        return outcome._replace(data=out.read_bytes() if out.exists() else b"")

    def saved(self, data):
        path = self.folder / "in"
        path.write_bytes(data)
        return str(path)

    def example(self, data):
        (self.folder / "report.csv").write_bytes(data)
        module = self.node.folder / f"{self.name}-example.mjs"
        module.write_text(self.recipe(self.recipe_name, 0) + self.recipe(self.recipe_name, 1),
                          encoding="utf-8")
        done = subprocess.run(["node", module], cwd=self.folder, env=self.node.environment,
                              timeout=60, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        return Outcome(done.returncode == 0, done.stdout)

    def get(self, bucket, key):
        return self.do_file("get", bucket, key)

    def get_range(self, bucket, key, first, last):
        return self.do_file("get_range", bucket, key, first, last)

    def list(self, bucket):
        return self.do("list", bucket)

    def copy(self, bucket, source, key):
        return self.do("copy", bucket, source, key)

    def delete(self, bucket, key):
        return self.do("delete", bucket, key)

    def delete_many(self, bucket, keys):
        return self.do("delete_many", bucket, keys)

    def presigned_get(self, bucket, key):
        return self.do("presigned_get", bucket, key)

    def presigned_put(self, bucket, key):
        return self.do("presigned_put", bucket, key)
