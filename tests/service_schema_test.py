#!/usr/bin/env python3
"""`hoist match serve` against its own description: schemathesis makes requests from /openapi.json, right ones and
wrong ones, and compares status, headers and bodies of the answers. Exit status 77: it is not installed."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from hoist_tree import BUILD

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDERS = [ROOT / "build/venv/bin", BUILD.parent / "venv/bin", *map(pathlib.Path, os.get_exec_path())]
SCHEMATHESIS = next((folder / "st" for folder in FOLDERS if (folder / "st").exists()), None)


class Schema(unittest.TestCase):
    def test_answers_are_as_described(self):
        folder = tempfile.mkdtemp(prefix="hoist-schema-")
        self.addCleanup(shutil.rmtree, folder)
        server = subprocess.Popen(
            [str(BUILD / "bin/hoist"), "match", "serve", f"{folder}/data", "--listen", "127.0.0.1:0", "--json"],
            stdout=subprocess.PIPE, text=True)
        address = json.loads(server.stdout.readline())["listening"][0]
        # Right bodies may be refused for what was before: nothing to learn, vectors of another length.
        done = subprocess.run(
            [SCHEMATHESIS, "run", "--max-examples", "10", "--phases", "examples,coverage,fuzzing",
             "--exclude-checks", "positive_data_acceptance", "--continue-on-failure",
             f"http://{address}/openapi.json"],
            capture_output=True, text=True, cwd=folder, timeout=600, check=False)
        server.terminate()
        self.assertEqual(server.wait(60), 0)
        server.stdout.close()
        self.assertEqual(done.returncode, 0, done.stdout[-10000:])


if __name__ == "__main__":
    if SCHEMATHESIS is None:
        print("service_schema_test: skipped: no schemathesis", file=sys.stderr)
        sys.exit(77)
    unittest.main()
