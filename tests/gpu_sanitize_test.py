#!/usr/bin/env python3
"""scripts/gpu-sanitize with a bundle, a GPU and a compute-sanitizer that are shell scripts."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from hoist_tree import tried_until

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts/gpu-sanitize"

RUNNER = r"""#!/bin/sh
[ "$*" = "--list --gpu" ] || exit 2
cat <<'END'
first_test_gpu: tests/first_test --gtest_filter=\*/cuda
sort_test_gpu: env SEED=7 tests/sort_test --gtest_filter=\*/cuda
whole_gpu_test: tests/whole_gpu_test
hoistd_test_gpu: env HOIST_TEST_DEVICE=cuda python3 tests/hoistd_test.py
END
"""
# Lists its cases whatever the filter says; runs as the file beside it says.
PROGRAM = r"""#!/bin/sh
case $* in *--gtest_list_tests*) cat "$0.cases"; exit 0 ;; esac
echo "[       OK ] Suite.Case ($* $SEED)"
[ ! -e "$0.run" ] || . "$0.run"
"""
SANITIZER = r"""#!/bin/sh
echo "$*" >>"$LOG"
while [ "${1#--}" != "$1" ]; do
  case $1 in --error-exitcode) code=$2 ;; esac
  shift 2
done
"$@"
status=$?
echo "========= ERROR SUMMARY: ${ERRORS:-0} errors"
[ "${ERRORS:-0}" = 0 ] || exit "$code"
exit $status
"""


class SanitizeTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hoist-sanitize-")
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name)
        self.script("run-tests", RUNNER)
        for name, suite, cases in (("first_test", "Device/First", "A/cuda"),
                                   ("sort_test", "Device/RadixSort",
                                    "EqualsTheOrderOfTheType/cuda GoesThereAndBack/cuda"),
                                   ("whole_gpu_test", "Whole", "One Two")):
            self.script(f"tests/{name}", PROGRAM)
            lines = [f"{suite}."] + [f"  {case}" for case in cases.split()]
            (self.path / f"tests/{name}.cases").write_text(
                "Running main() from somewhere\n" + "\n".join(lines) + "  # GetParam() = 1\n")
        self.script("tools/compute-sanitizer", SANITIZER)
        self.gpu(True)

    def script(self, name, text):
        path = self.path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def gpu(self, present):
        seen = {"devices": [{"kind": "cpu", "present": True, "why": ""},
                            {"kind": "cuda", "present": present, "why": "no driver"}],
                "features": [{"name": "cuda", "on": True, "why": ""}]}
        self.script("bin/hoist", f"#!/bin/sh\ncat <<'END'\n{json.dumps(seen)}\nEND\n")

    def sanitize(self, *words, status=0, tools="tools", **variables):
        """(lines of output, errors)"""
        # Nothing of this machine's CUDA is found.
        path = f"{self.path / tools}:/usr/bin:/bin"
        done = subprocess.run(
            [sys.executable, SCRIPT, "--build", self.path, *words], capture_output=True, text=True,
            env={"PATH": path, "CUDA_HOME": "/nonexistent", "LOG": str(self.path / "log"),
                 **variables}, check=False, timeout=60)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout.splitlines(), done.stderr

    def calls(self):
        log = (self.path / "log").read_text().replace(f"{self.path}/", "")
        return log.splitlines()

    def test_a_list(self):
        lines, _ = self.sanitize("--list", tools="none")
        self.assertEqual(lines, ["first_test_gpu: Device/First.A/cuda",
                                 "sort_test_gpu: Device/RadixSort.EqualsTheOrderOfTheType/cuda",
                                 "sort_test_gpu: Device/RadixSort.GoesThereAndBack/cuda",
                                 "whole_gpu_test: Whole.One", "whole_gpu_test: Whole.Two"])

    def test_what_a_tool_leaves_out_is_said(self):
        lines, _ = self.sanitize("--list", "--tool", "racecheck", "sort")
        self.assertRegex(lines[0], r"^left +sort_test_gpu: \S*EqualsTheOrderOfTheType/cuda: \w")
        self.assertEqual(lines[1:], ["sort_test_gpu: Device/RadixSort.GoesThereAndBack/cuda"])

    def test_all_pass(self):
        lines, _ = self.sanitize()
        for line, name, cases in zip(lines, ("first_test_gpu", "sort_test_gpu", "whole_gpu_test"),
                                     (1, 2, 2)):
            self.assertRegex(line, rf"^ok +{name}: [\d.]+ s, 0 errors, {cases} cases$")
        self.assertEqual(lines[3:], ["memcheck: 3 ok"])
        options = ("--tool memcheck --error-exitcode 99 --target-processes application-only "
                   "--launch-timeout 0 --report-api-errors no")
        self.assertEqual(self.calls(), [f"{options} tests/first_test --gtest_filter=*/cuda",
                                        f"{options} tests/sort_test --gtest_filter=*/cuda",
                                        f"{options} tests/whole_gpu_test"])

    def test_a_filter_without_what_is_left_out(self):
        self.sanitize("--tool", "racecheck", "sort")
        self.assertEqual(self.calls()[0].split()[-1],
                         "--gtest_filter=*/cuda:-*/RadixSort.EqualsTheOrderOfTheType/cuda")
        self.assertNotIn("--report-api-errors", self.calls()[0])

    def test_what_the_sanitizer_finds_is_a_failure(self):
        lines, _ = self.sanitize("whole", status=1, ERRORS="3")
        self.assertRegex(lines[0], r"^FAIL +whole_gpu_test: [\d.]+ s, 3 errors, 2 cases$")
        self.assertIn("    ========= ERROR SUMMARY: 3 errors", lines)
        self.assertEqual(lines[-1], "memcheck: 0 ok, 1 FAIL")

    def test_a_failing_case_is_a_failure(self):
        (self.path / "tests/first_test.run").write_text('echo "[  FAILED  ] Suite.Case"\nexit 1\n')
        lines, _ = self.sanitize("first|whole", status=1)
        self.assertRegex(lines[0], "^FAIL +first_test_gpu: ")
        self.assertIn("    [  FAILED  ] Suite.Case", lines)
        self.assertEqual(lines[-1], "memcheck: 1 ok, 1 FAIL")

    def test_hazards_are_errors(self):
        self.script("tools/compute-sanitizer",
                    '#!/bin/sh\necho "========= RACECHECK SUMMARY: 2 hazards displayed '
                    '(0 errors, 2 warnings)"\n')
        lines, _ = self.sanitize("--tool", "racecheck", "first", status=1)
        self.assertRegex(lines[0], "^FAIL +first_test_gpu: .* 2 errors")

    def test_no_summary_is_a_failure(self):
        self.script("tools/compute-sanitizer", "#!/bin/sh\nexit 0\n")
        lines, _ = self.sanitize("first", status=1)
        self.assertRegex(lines[0], "^FAIL +first_test_gpu: .* no summary")

    def test_a_program_that_skips_all(self):
        self.script("tools/compute-sanitizer",
                    '#!/bin/sh\necho "[  SKIPPED ] Suite.Case"\nexit 99\n')
        lines, _ = self.sanitize("first")
        self.assertRegex(lines[0], "^skipped first_test_gpu: ")
        self.assertEqual(lines[-1], "memcheck: 0 ok, 1 skipped")

    @staticmethod
    def is_gone(pid):
        time.sleep(0.01)
        try:
            state = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return True
        return state in "ZX"

    def test_a_program_that_takes_too_long(self):
        (self.path / "tests/first_test.run").write_text('echo $$ >"$0.pid"\nsleep 1000\n')
        lines, _ = self.sanitize("--limit", "5", "first", status=1)
        self.assertRegex(lines[0], "^timeout first_test_gpu: ")
        self.assertEqual(lines[-1], "memcheck: 0 ok, 1 timeout")
        pid = int((self.path / "tests/first_test.pid").read_text())
        self.assertTrue(tried_until(bool, lambda: self.is_gone(pid), times=500))

    def test_nothing_to_run(self):
        if shutil.which("compute-sanitizer", path="/usr/bin:/bin") is None:
            _, errors = self.sanitize(tools="none", status=3)
            self.assertIn("no compute-sanitizer", errors)
        _, errors = self.sanitize("no such test", status=3)
        self.assertIn("no test with GPU cases", errors)
        self.gpu(False)
        _, errors = self.sanitize(status=3)
        self.assertIn("no GPU: no driver", errors)

    def test_usage(self):
        lines, _ = self.sanitize("--help")
        text = "\n".join(lines)
        for part in ("--tool", "examples:", "Exit status:"):
            self.assertIn(part, text)
        for words in (["--tool", "leakcheck"], ["--limit", "0"], ["--limit", "x"], ["("],
                      ["a", "b"]):
            self.assertIn("error", self.sanitize(*words, status=2)[1])


if __name__ == "__main__":
    unittest.main()
