"""The benchmark itself: reproducible inputs, differences noticed, a page that stands alone."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ["HOIST_BUILD_DIR"])
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "bench" / "run"))
import measure  # noqa: E402
import report  # noqa: E402

# Stands in for `hoist run [--stats=FILE] -- PROGRAM …` and changes what HARM names.
FAKE_HOIST = """#!/bin/sh
shift
case $1 in
  --stats=*)
    echo '{"programs":[{"taken_over":true,"reason":"fake"}]}' >"${1#--stats=}"
    shift ;;
esac
shift
"$@"
status=$?
[ "$HARM" = stdout ] && echo more
[ "$HARM" = stderr ] && echo more >&2
[ "$HARM" = status ] && exit 9
exit $status
"""


class MakeDataTest(unittest.TestCase):
    def make(self, *arguments):
        result = subprocess.run([BUILD / "bench" / "make_data", *arguments], capture_output=True,
                                check=True)
        return result.stdout

    def test_same_bytes_on_every_machine(self):
        for kind, digest in (
                ("text", "560cdb06d136ad5b"),
                ("duplicates", "c5e121d5d457d010"),
                ("numbers", "de31b76d61fcff75"),
                ("csv", "e469a25b98b5a1b9"),
                ("bytes", "8377f2a5b210e649")):
            with self.subTest(kind=kind):
                data = self.make(kind, "1001")
                self.assertEqual(hashlib.sha256(data).hexdigest()[:16], digest)
                self.assertEqual(len(data) if kind == "bytes" else data.count(b"\n"), 1001)

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            self.make("files", "20", folder)
            sizes = [path.stat().st_size for path in pathlib.Path(folder).iterdir()]
        self.assertEqual(len(sizes), 20)
        self.assertTrue(all(1 <= size <= 16384 for size in sizes), sizes)

    def test_wrong_usage_and_full_disk(self):
        for arguments in ((), ("text",), ("text", "x"), ("text", "-1"), ("files", "3")):
            result = subprocess.run([BUILD / "bench" / "make_data", *arguments],
                                    capture_output=True, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertTrue(result.stderr)
        with open("/dev/full", "wb") as full:
            result = subprocess.run([BUILD / "bench" / "make_data", "text", "9999"], stdout=full,
                                    stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, 1)


class RunnerTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        hoist = self.folder / "hoist"
        hoist.write_text(FAKE_HOIST)
        hoist.chmod(0o755)
        self.runner = measure.Runner(hoist, self.folder, rounds=2)

    def measure(self, **env):
        command = ["sh", "-c", "echo out; echo err >&2; exit 3"]
        return self.runner.measure(measure.Case("case", "a <case>", command, env=env))

    def test_identical(self):
        row = self.measure()
        self.assertTrue(row["identical"])
        self.assertTrue(row["taken_over"])
        self.assertEqual(row["plain"]["status"], 3)
        self.assertEqual(len(row["hoist"]["seconds"]), 2)
        json.dumps(row)

    def test_every_difference_counts(self):
        for harm in ("stdout", "stderr", "status"):
            with self.subTest(harm=harm):
                self.assertFalse(self.measure(HARM=harm)["identical"])

    def test_page_stands_alone(self):
        facts = report.machine(self.folder / "absent")
        page = report.html_page("Title", "Intro", facts, [self.measure()], ["a note"])
        self.assertIn("a &lt;case&gt;", page)
        self.assertIn("a note", page)
        for outside in ("http:", "https:", "src=", "href=", "@import", "url("):
            self.assertNotIn(outside, page)
        self.assertIn("a <case>", report.terminal_table([self.measure()]))


class RunBenchTest(unittest.TestCase):
    def test_all_rows_on_tiny_inputs(self):
        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder, "result")
            result = subprocess.run(
                [sys.executable, ROOT / "bench" / "run" / "run_bench.py", "--build-dir", BUILD,
                 "--scale", "0.0005", "--rounds", "1", "--starts", "2", "--dir", folder,
                 "--output", output],
                capture_output=True, text=True, check=False)
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
            rows = json.loads(output.with_suffix(".json").read_text())["rows"]
            self.assertGreaterEqual(len(rows), 14)
            self.assertTrue(all(row["identical"] for row in rows))
            self.assertIn("<svg", output.with_suffix(".html").read_text())


if __name__ == "__main__":
    unittest.main()
