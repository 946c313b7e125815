"""--verify: both programs run, the results are compared, a wrong engine is switched off."""
import glob
import os
import re
import resource
import signal
import subprocess
import sys
import threading
import time
import unittest

from verify_case import PROGRAMS, VerifyCase


def is_being_read(path):
    """Whether a process has it open for reading only, not as a copy of a descriptor of ours."""
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            if os.readlink(link) == path:
                with open(link.replace("/fd/", "/fdinfo/"), encoding="ascii") as info:
                    flags = re.search(r"^flags:\s*([0-7]+)", info.read(), re.MULTILINE)
                if int(flags.group(1), 8) & os.O_ACCMODE == os.O_RDONLY:
                    return True
        except OSError:  # another user's process, or one that has ended
            pass
    return False


class Results(VerifyCase):
    def test_same_result(self):
        for name in PROGRAMS:
            with self.subTest(name):
                result = self.run_engine(name, PROGRAMS[name].original, *self.arguments(name))
                self.assertEqual((result.returncode, result.stdout, result.stderr),
                                 (0, self.expected(name), b""))
                self.assertNotIn("left out", self.log())
        self.assertEqual(self.note(), "")

    def test_standard_input_from_pipe_and_file(self):
        for name, program in PROGRAMS.items():
            with self.subTest(name):
                options = self.arguments(name)[:-1]
                with open(self.input(name), "rb") as content:
                    result = self.run_engine(name, program.original, *options,
                                             input=content.read())
                self.assertEqual(result.stdout, self.expected(name, "-"))
                with open(self.input(name), "rb") as content:
                    result = self.run_engine(name, program.original, *options, stdin=content)
                self.assertEqual(result.stdout, self.expected(name, "-"))
        self.assertEqual(self.note(), "")

    def test_file_position_moves_on_as_without_us(self):
        for original in ("/usr/bin/sort", "/none/sort"):
            with open(self.text, "rb") as text:
                lines = text.readlines()
                text.seek(len(lines[0]))
                result = self.run_engine("sort", original, stdin=text)
                self.assertEqual(result.stdout, b"".join(sorted(lines[1:])))
                self.assertEqual(os.lseek(text.fileno(), 0, os.SEEK_CUR),
                                 os.path.getsize(self.text))

    def test_difference_gives_the_original_result_and_switches_off(self):
        wrong = self.script("wrong", "echo other; echo complaint >&2; exit 3")
        for count, (name, program) in enumerate(PROGRAMS.items(), 1):
            for _ in range(2):  # the second time the original runs alone
                result = self.run_engine(name, wrong, *self.arguments(name))
                self.assertEqual((result.returncode, result.stdout, result.stderr),
                                 (3, b"other\n", b"complaint\n"))
                self.assertEqual(self.note().count("\n"), count)
            self.assertIn(f"{program.operation} differed from the original: {name}", self.note())
            self.assertEqual(self.log().count("result differs"), count)

    def test_rate_zero_and_nonsense_do_not_verify(self):
        wrong = self.script("wrong", "echo other")
        for rate in ("0", "-1", "x", "", "1x", "nan"):
            result = self.run_engine("sort", wrong, self.text, rate=rate)
            self.assertEqual(result.stdout, self.expected("sort"))

    def test_rate_has_a_point_in_every_locale(self):
        locale = os.path.join(self.folder, "de_DE.utf8")
        try:
            made = subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", locale],
                                  capture_output=True).returncode == 0
        except FileNotFoundError:
            made = False
        if not made:
            self.skipTest("cannot make a locale with a decimal comma")
        wrong = self.script("wrong", "echo other")
        result = self.run_engine("sort", wrong, self.text, rate="0.999999999",
                                 LOCPATH=self.folder, LC_ALL="de_DE.utf8")
        self.assertEqual(result.stdout, b"other\n")


class Inputs(VerifyCase):
    """What can be read only once is read by the engine alone."""

    def check_once(self, name, *arguments, shown=None, **more):
        result = self.run_engine(name, self.script("wrong", "echo other"), *arguments, **more)
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (0, self.expected(name, shown or arguments[-1]), b""))
        self.assertIn("left out (input that cannot be read twice)", self.log())
        self.assertEqual(self.note(), "")
        self.clear_log()

    def test_dev_stdin(self):
        for name in PROGRAMS:
            with open(self.input(name), "rb") as content:
                self.check_once(name, *self.arguments(name)[:-1], "/dev/stdin",
                                input=content.read())

    def test_pipe_and_fifo_operands(self):
        for name in PROGRAMS:
            with subprocess.Popen(["cat", self.input(name)], stdout=subprocess.PIPE) as cat:
                fd = cat.stdout.fileno()
                self.check_once(name, *self.arguments(name)[:-1], f"/dev/fd/{fd}", pass_fds=[fd])
            fifo = os.path.join(self.folder, "fifo.gz")
            os.mkfifo(fifo)
            # gzip opens without waiting for a writer, and takes one that comes later for the end.
            end = os.open(fifo, os.O_RDWR)
            with open(self.input(name), "rb") as content:
                os.write(end, content.read())
            writer = threading.Thread(target=self.close_when_opened, args=(end, fifo))
            writer.start()
            try:
                self.check_once(name, *self.arguments(name)[:-1], fifo)
            finally:
                writer.join()
            os.unlink(fifo)

    def close_when_opened(self, end, fifo):
        """Closes the descriptor as soon as another process has opened the file."""
        for _ in range(3000):
            if is_being_read(fifo):
                break
            time.sleep(0.01)
        os.close(end)

    def test_files0_from_names_them(self):
        names = os.path.join(self.folder, "names")
        with open(names, "w") as out:
            out.write("/dev/stdin\0")
        with open(self.text, "rb") as content:
            self.check_once("sort", f"--files0-from={names}", shown="-", input=content.read())

    def test_made_up_file(self):
        name = "/proc/self/status"
        result = self.run_engine("sha256sum", "/usr/bin/sha256sum", name)
        self.assertEqual(result.returncode, 0)
        self.assertIn("cannot be read twice", self.log())
        self.assertEqual(self.note(), "")

    def test_changed_input_is_no_difference(self):
        changing = self.script("changing", f"echo more >> {self.text}; exec sort {self.text}")
        result = self.run_engine("sort", changing, self.text)
        self.assertEqual(result.stdout, self.expected("sort"))
        self.assertIn("left out (input changed)", self.log())
        self.assertEqual(self.note(), "")

    def test_check_and_output_files_are_left_out(self):
        wrong = self.script("wrong", "echo other")
        sums = os.path.join(self.folder, "sums")
        with open(sums, "wb") as out:
            out.write(self.expected("sha256sum"))
        result = self.run_engine("sha256sum", wrong, "-c", sums)
        self.assertEqual(result.stdout.decode(), f"{self.text}: OK\n")
        out = os.path.join(self.folder, "out")
        result = self.run_engine("sort", wrong, self.text, "-o", out)
        self.assertEqual((result.returncode, result.stdout), (0, b""))
        with open(out, "rb") as content:
            self.assertEqual(content.read(), self.expected("sort"))
        self.assertEqual(self.note(), "")


class Room(VerifyCase):
    """A limit on the size of files stands for a full $TMPDIR."""

    def limit(self):
        resource.setrlimit(resource.RLIMIT_FSIZE, (16384, 16384))

    def run_limited(self, name, *arguments, **more):
        # No counters: their file is larger.
        return self.run_engine(name, PROGRAMS[name].original, *arguments, preexec_fn=self.limit,
                               HOIST_COUNTERS="/none", **more)

    def test_results_that_do_not_fit(self):
        self.write_text(20000)
        for name in ("sort", "gzip"):
            for from_file in (False, True):
                with open(self.input(name), "rb") as content:
                    if from_file:
                        result = self.run_limited(name, *self.arguments(name)[:-1], stdin=content)
                    else:
                        result = self.run_limited(name, *self.arguments(name))
                self.assertEqual((result.returncode, result.stdout, result.stderr),
                                 (0, self.expected(name), b""))
        self.assertEqual(self.log().count("left out (no room)"), 4)
        self.assertEqual(self.note(), "")

    @unittest.skipIf(os.environ.get("HOIST_COVERAGE") == "ON", "the counts are over the limit")
    def test_standard_input_that_does_not_fit(self):
        self.write_text(200000)
        for name in PROGRAMS:
            with open(self.input(name), "rb") as content:
                result = self.run_limited(name, *self.arguments(name)[:-1], input=content.read())
            self.assertEqual((result.returncode, result.stdout, result.stderr),
                             (0, self.expected(name, "-"), b""))
        self.assertEqual(self.log().count("left out (no room for standard input)"), 3)
        self.assertEqual(self.note(), "")

    def test_no_temporary_directory(self):
        with open(self.text, "rb") as content:
            result = self.run_engine("sort", "/usr/bin/sort", input=content.read(),
                                     TMPDIR="/none")
        self.assertEqual(result.stdout, self.expected("sort"))
        self.assertIn("left out (no room)", self.log())

    def test_full_standard_output(self):
        for name, status in (("sort", 2), ("sha256sum", 1), ("gzip", 1)):
            with open("/dev/full", "wb") as full:
                result = self.run_engine(name, PROGRAMS[name].original, *self.arguments(name),
                                         capture_output=False, stdout=full,
                                         stderr=subprocess.PIPE)
            self.assertEqual(result.returncode, status)
            self.assertIn(f"{name}: ".encode(), result.stderr)
            self.assertIn(b"No space left on device", result.stderr)


class Processes(VerifyCase):
    def test_original_that_cannot_be_started(self):
        self.assertEqual(self.run_engine("sort", "/none/sort", self.text).stdout,
                         self.expected("sort"))
        self.assertIn("left out (original not started)", self.log())
        self.assertEqual(self.note(), "")

    def test_failing_fork(self):
        shim = self.fork_shim()
        for which, reason in (("1", "fork"), ("2", "original not started")):
            result = self.run_engine("sort", "/usr/bin/sort", self.text, LD_PRELOAD=shim,
                                     FAILING_FORK=which)
            self.assertEqual((result.returncode, result.stdout), (0, self.expected("sort")))
            self.assertIn(f"left out ({reason})", self.log())
        self.assertEqual(self.note(), "")

    def test_ignored_sigchld(self):
        ignore = {"preexec_fn": lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN)}
        wrong = self.script(
            "wrong", "import sys\n"
            "print(*(line for line in open('/proc/self/status') if 'SigIgn' in line))\n"
            "sys.exit(3)", interpreter=sys.executable)
        result = self.run_engine("sort", wrong, self.text, **ignore)
        self.assertEqual(result.returncode, 3)
        ignored = int(result.stdout.split()[1], 16)
        self.assertTrue(ignored & 1 << (signal.SIGCHLD - 1))
        self.assertIn("differed", self.note())

    def test_nothing_outlives_us(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL):
            slow = self.script("slow", "echo $$; exec sleep 60", stdout_to="pid")
            process = self.start_engine("sort", slow, self.text)
            child = self.wait_for_pid("pid")
            process.send_signal(number)
            self.assertEqual(process.wait(timeout=60), -number)
            self.assert_ends(child)
        self.assertEqual(self.note(), "")

    def test_killed_original_is_no_difference(self):
        killed = self.script("killed", "kill -KILL $$")
        self.assertEqual(self.run_engine("sort", killed, self.text).returncode, -signal.SIGKILL)
        self.assertEqual(self.note(), "")


if __name__ == "__main__":
    unittest.main()
