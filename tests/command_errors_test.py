#!/usr/bin/env python3
"""What the commands say of a wrong command line, and the exit status of what is missing (hoist(1),
EXIT STATUS)."""

import pathlib
import shutil
import tempfile
import unittest

from hoist_tree import BUILD, HOIST, environment, run

COMMANDS = BUILD / "libexec/hoist"


class CommandErrorsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hoist-errors-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def refused(self, words, said, status=2, program=HOIST, **variables):
        with self.subTest(words):
            done = run(program, *words, env=environment(**variables))
            self.assertEqual((done.returncode, done.stdout), (status, b""), done.stderr)
            self.assertEqual(done.stderr.decode().splitlines()[-1], f"hoist: error: {said}")

    def test_unknown_options(self):
        see = "see `hoist container info --help`"
        self.refused(["container", "info", "--jsn", "a"],
                     f"no option --jsn (hoist container info): is it --json? {see}")
        self.refused(["container", "info", "a", "--profile=b"],
                     f"no option --profile (hoist container info): {see}")
        self.refused(["container", "info", "a", "b"],
                     f"b is one argument too many (hoist container info): {see}")
        self.refused(["doctor", "--jso"],
                     "no option --jso (hoist doctor): is it --json? see `hoist doctor --help`")

    def test_values(self):
        see = "see `hoist tune --help`"
        self.refused(["tune", "--op"], f"--op needs a value, OP (hoist tune): {see}")
        self.refused(["tune", "--seconds", "x"], f"--seconds: x is not from 1 to 86400 (hoist tune): {see}")
        self.refused(["tensors", "pack", "a", "-o", "b", "--precision", "f31"],
                     "--precision f31 is not one of f32, f16, bf16 (hoist tensors pack): is it f32? see "
                     "`hoist tensors pack --help`")

    def test_a_missing_file_or_profile_is_a_failure(self):
        none = str(self.folder / "none")
        self.refused(["container", "info", none],
                     f"open {none}: No such file or directory: check the path", status=1)
        self.refused(["explain", "sort", "--plot", str(self.folder / "a.svg")],
                     "nothing is measured to plot (sort): run `hoist tune --op sort`", status=1,
                     HOIST_PROFILE=none)

    @unittest.skipUnless((COMMANDS / "hoist-match").exists(), "hoist match is not built")
    def test_a_missing_index_is_a_failure(self):
        done = run(HOIST, "match", "stats", self.folder / "none")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no index", done.stderr)

    def test_a_part_of_the_installation_that_is_missing(self):
        for name in ("bin/hoist", "libexec/hoist/hoist-command-line"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(BUILD / name, self.folder / name)
        if list((BUILD / "lib").glob("libmd4c.so*")):  # a bundle's libraries lie beside its programs
            (self.folder / "lib").symlink_to(BUILD / "lib")
        for words in (["tune"], ["help", "first-steps"]):  # an engine, a guide
            done = run(self.folder / "bin/hoist", *words)
            self.assertEqual(done.returncode, 3, done.stderr)


if __name__ == "__main__":
    unittest.main()
