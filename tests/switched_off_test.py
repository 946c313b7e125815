"""The note about operations that --verify switched off, and the log: files that may be hostile."""
import os
import stat
import subprocess
import unittest

from verify_case import PROGRAMS, VerifyCase


class Note(VerifyCase):
    def setUp(self):
        super().setUp()
        self.other = self.script("other", "echo other")
        os.makedirs(os.path.dirname(self.note_path()), 0o700)

    def outcome(self, **more):
        return self.run_engine("sort", self.other, self.text, rate="0", **more).stdout

    def assert_off(self):
        self.assertEqual(self.outcome(), b"other\n")

    def assert_on(self):
        self.assertEqual(self.outcome(), self.expected("sort"))

    def write_note(self, text, mode=0o600):
        with open(self.note_path(), "w") as out:
            out.write(text)
        os.chmod(self.note_path(), mode)

    def test_lines(self):
        self.assert_on()
        self.write_note("hash differed\n")
        self.assert_on()
        self.write_note("hash differed\nsort differed")
        self.assert_off()

    def test_a_note_that_cannot_be_trusted_switches_all_off(self):
        for mode in (0o620, 0o602):
            self.write_note("", mode)
            self.assert_off()
        self.write_note("x" * 70000)
        self.assert_off()
        os.unlink(self.note_path())
        os.symlink("/none", self.note_path())
        self.assert_off()
        os.unlink(self.note_path())
        os.mkdir(self.note_path())
        self.assert_off()

    def test_another_users_note(self):
        self.write_note("")
        if os.geteuid() != 0:
            self.skipTest("needs root")
        os.chown(self.note_path(), 65534, 65534)
        self.assert_off()

    def test_fifo_does_not_block(self):
        os.mkfifo(self.note_path())
        self.assert_off()

    def test_log_fifo_does_not_block(self):
        fifo = os.path.join(self.folder, "log-fifo")
        os.mkfifo(fifo)
        self.assertEqual(self.outcome(HOIST_LOG_FILE=fifo), self.expected("sort"))

    def test_log_through_a_link(self):
        target = os.path.join(self.folder, "target")
        link = os.path.join(self.folder, "link")
        os.symlink(target, link)
        self.assertEqual(self.outcome(HOIST_LOG_FILE=link, HOIST_LOG="info"), self.expected("sort"))
        with open(target) as log:
            self.assertIn(" info: sort: ", log.read())

    def test_folder_and_file_are_private(self):
        os.rmdir(os.path.dirname(self.note_path()))
        self.run_engine("sort", self.other, self.text)
        self.assertIn("sort differed", self.note())
        self.assertEqual(stat.S_IMODE(os.stat(os.path.dirname(self.note_path())).st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(os.stat(self.note_path()).st_mode), 0o600)

    def test_line_without_an_end_is_ended_first(self):
        self.write_note("hash differed")
        self.run_engine("sort", self.other, self.text)
        self.assertTrue(self.note().startswith("hash differed\nsort differed"))

    def test_several_at_once_lose_no_line(self):
        for _ in range(20):
            running = [self.start_engine(name, self.other, *self.arguments(name),
                                         stdout=subprocess.DEVNULL) for name in PROGRAMS]
            for process in running:
                process.wait(timeout=60)
            operations = sorted(line.split()[0] for line in self.note().splitlines())
            self.assertEqual(operations, ["gunzip", "hash", "sort"])
            os.unlink(self.note_path())


if __name__ == "__main__":
    unittest.main()
