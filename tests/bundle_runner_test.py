#!/usr/bin/env python3
"""run-tests, which scripts/bundle makes of what ctest lists."""

import importlib.machinery
import importlib.util
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


def load_bundle():
    sys.dont_write_bytecode = True  # no cache beside the script
    loader = importlib.machinery.SourceFileLoader("bundle", str(ROOT / "scripts/bundle"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("bundle", loader))
    loader.exec_module(module)
    return module


BUNDLE = load_bundle()


def entry(name, script, *, label=None, environment=()):
    """A test as ctest's JSON has it."""
    properties = [{"name": "ENVIRONMENT", "value": ["HOIST_BUILD_DIR=/elsewhere", *environment]}]
    if label:
        properties.append({"name": "LABELS", "value": [label]})
    return {"name": name, "command": [f"{BUNDLE.BUILD}/tests/sh", "-c", script],
            "properties": properties}


class RunnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hoist-runner-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        (self.path / "tests").mkdir()
        (self.path / "tests/sh").symlink_to("/bin/sh")
        self.make(entry("sort_test", "true"),
                  entry("gpu_sort_test", 'test "$HOIST_BUILD_DIR" = "$PWD"'),
                  entry("memory_test", 'test "$WHAT" = "a  *"', label="gpu",
                        environment=["WHAT=a  *"]),
                  entry("absent_test_gpu", "exit 77", label="gpu"))

    def make(self, *entries):
        runner = self.path / "run-tests"
        runner.write_text(BUNDLE.runner_text(entries))
        runner.chmod(0o755)

    def run_tests(self, *words, status=0):
        done = subprocess.run([self.path / "run-tests", *words], capture_output=True, text=True,
                              env={"PATH": os.environ["PATH"]}, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout.splitlines(), done.stderr

    def test_all(self):
        lines, _ = self.run_tests()
        self.assertEqual(lines, ["sort_test: passed", "gpu_sort_test: passed",
                                 "memory_test: passed", "absent_test_gpu: skipped",
                                 "3 passed, 0 failed, 1 skipped"])

    def test_a_pattern_is_of_names(self):
        lines, _ = self.run_tests("gpu")
        self.assertEqual(lines, ["gpu_sort_test: passed", "absent_test_gpu: skipped",
                                 "1 passed, 0 failed, 1 skipped"])
        lines, _ = self.run_tests("^(sort|memory)_test$")
        self.assertEqual(lines[-1], "2 passed, 0 failed, 0 skipped")

    def test_a_label(self):
        lines, _ = self.run_tests("--gpu")
        self.assertEqual(lines, ["memory_test: passed", "absent_test_gpu: skipped",
                                 "1 passed, 0 failed, 1 skipped"])
        lines, _ = self.run_tests("--gpu", "memory")
        self.assertEqual(lines[-1], "1 passed, 0 failed, 0 skipped")

    def test_a_list(self):
        lines, _ = self.run_tests("--list", "--gpu")
        self.assertEqual(lines, [r'memory_test: env WHAT=a\ \ \* tests/sh -c '
                                 r'test\ \"\$WHAT\"\ =\ \"a\ \ \*\"',
                                 r"absent_test_gpu: tests/sh -c exit\ 77"])

    def test_mistakes(self):
        self.assertIn("no test matches nothing", self.run_tests("nothing", status=1)[1])
        self.assertIn("no test matches nothing", self.run_tests("--list", "nothing", status=1)[1])
        self.assertIn("no regular expression", self.run_tests("(", status=2)[1])
        self.assertIn("no such option: --cpu", self.run_tests("--cpu", status=2)[1])
        self.assertIn("more than one pattern", self.run_tests("a", "b", status=2)[1])

    def test_help(self):
        lines, _ = self.run_tests("--help")
        self.assertEqual(lines[0], "run-tests [--gpu] [--list] [PATTERN]")
        self.assertIn("Exit status 1", lines[-1])

    def test_a_failure(self):
        self.make(entry("good_test", "true"), entry("bad_test", "echo why; exit 5"))
        lines, _ = self.run_tests(status=1)
        self.assertEqual(lines, ["good_test: passed", "why", "bad_test: FAILED (5)",
                                 "1 passed, 1 failed, 0 skipped"])


if __name__ == "__main__":
    unittest.main()
