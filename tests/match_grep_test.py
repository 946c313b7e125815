#!/usr/bin/env python3
"""Black-box tests of `hoist match grep`, beside a plain Levenshtein distance and beside grep."""

import json
import os
import pathlib
import pty
import random
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-match"
SEED = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(2**32)))
FOX = "the quick brown fox jumps over the lazy dog"
LINES = ["one", FOX, "two", "three", FOX.replace("jumps", "jumped"), "four", "five", "six",
         "a slow red fox sleeps under the busy cat", "seven"]


def grep(*arguments, text=None, **options):
    if text is not None:
        options["input"] = text if isinstance(text, bytes) else text.encode()
    done = run(TOOL, "grep", *arguments, **options)
    return done.returncode, done.stdout, done.stderr.decode()


def levenshtein(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a):
        diagonal, row[0] = row[0], i + 1
        for j, y in enumerate(b):
            diagonal, row[j + 1] = row[j + 1], min(row[j + 1] + 1, row[j] + 1, diagonal + (x != y))
    return row[-1]


def similarity(a, b):
    largest = max(len(a), len(b))
    return 1 - levenshtein(a, b) / largest if largest else 1.0


class Grep(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.file = self.folder / "lines"
        self.file.write_text("".join(line + "\n" for line in LINES))

    def prints(self, expected, *arguments, status=0, text=None):
        got, out, err = grep(*arguments, text=text)
        self.assertEqual((got, out.decode(), err), (status, expected, ""))

    def refused(self, pattern, *arguments, out=b"", **options):
        got, printed, err = grep(*arguments, **options)
        self.assertEqual((got, printed), (2, out), err)
        self.assertRegex(err, r"^hoist: error: " + pattern)

    def test_lines_that_resemble(self):
        alike = f"{LINES[1]}\n{LINES[4]}\n"
        self.prints(alike, FOX, self.file)
        self.prints(alike, FOX, text=self.file.read_text())
        self.prints(alike, FOX, "-", text=self.file.read_text())
        self.prints(f"2:{LINES[1]}\n5:{LINES[4]}\n", "-n", FOX, self.file)
        self.prints(f"{LINES[1]}\n", "--threshold", "1", FOX, self.file)
        self.prints("2\n", "-c", FOX, self.file)
        self.prints("0\n", "-c", "nothing of the kind", self.file, status=1)
        self.prints("", "nothing of the kind", self.file, status=1)
        self.prints("".join(f"{line}\n" for line in LINES if "fox jump" not in line), "-v", FOX,
                    self.file)
        self.prints("last\n", "--threshold", "1", "last", text="first\nlast")
        self.prints("", FOX, text="", status=1)
        self.prints("\n\n", "", text="\nx\n\n")
        self.prints("", FOX.upper(), self.file, status=1)
        self.prints(alike, "-i", FOX.upper(), self.file)
        self.prints("".join(f"{line}\n" for line in LINES), "--threshold", "0", FOX, self.file)

    def test_names(self):
        other = self.folder / "other"
        other.write_text(FOX + "\n")
        self.prints(f"{other}:{FOX}\n{self.file}:{FOX}\n", "--threshold", "1", FOX, other, self.file)
        self.prints(f"{FOX}\n{FOX}\n", "-h", "--threshold", "1", FOX, other, self.file)
        self.prints(f"{other}:1:{FOX}\n", "-Hn", FOX, other)
        self.prints(f"(standard input):{FOX}\n", "-H", FOX, text=FOX)
        self.prints(f"{other}:1\n{self.file}:2\n", "-c", FOX, other, self.file)
        folder = self.folder / "deep/er"
        folder.mkdir(parents=True)
        shutil.move(other, folder / "x")
        (folder / "link").symlink_to(self.file)
        os.mkfifo(folder / "fifo")
        found = [(folder / "x", 1), (self.file, 2), (self.file, 5)]
        self.prints("".join(f"{path}:{n}:{FOX if n < 5 else LINES[4]}\n" for path, n in found), "-rn",
                    FOX, self.folder)
        done = run(TOOL, "grep", "-r", FOX, cwd=folder)
        self.assertEqual(done.stdout.decode(), f"./x:{FOX}\n")

    @unittest.skipIf(shutil.which("grep") is None, "grep is not installed")
    def test_context_is_printed_as_grep_prints_it(self):
        rng = random.Random(SEED)
        files = []
        for name in "ab":
            files.append(self.folder / name)
            files[-1].write_text("".join(rng.choice(["needle", "hay", "a straw", "x", ""]) + "\n"
                                         for _ in range(rng.choice([0, 3, 40, 90000]))))
        for options in (["-A2"], ["-B2"], ["-C1"], ["-C", "3", "-A", "0"], ["-v", "-C1"], ["-B70"],
                        ["-nHA1"], ["-c", "-A3"], []):
            for paths in (files, files[:1]):
                wanted = run("grep", "-n", "-x", *options, "needle", *paths)
                got = run(TOOL, "grep", "-n", "--threshold", "1", *options, "needle", *paths)
                self.assertEqual(got.returncode, wanted.returncode, (options, SEED))
                self.assertTrue(got.stdout == wanted.stdout, (options, SEED))

    def test_the_best(self):
        self.prints(f"2:{FOX}\n", "-n", "-k", "1", FOX, self.file)
        self.prints(f"2:{FOX}\n5:{LINES[4]}\n", "-nk", "2", FOX, self.file)
        for most in (0, 10**9, 2**31, 2**63):
            self.prints(f"{FOX}\n{LINES[4]}\n", "-k", most, FOX, self.file)
        rng = random.Random(SEED)
        lines = ["".join(rng.choices("abc", k=6)) for _ in range(5000)]
        numbered = sorted(range(5000), key=lambda i: (-similarity("abcabc", lines[i]), i))
        for most in (1, 7, 1500, 4000):
            got, out, _ = grep("-n", "-k", most, "--scorer", "levenshtein", "--threshold", "0.5",
                               "abcabc", text="".join(line + "\n" for line in lines))
            wanted = [f"{i + 1}:{lines[i]}" for i in numbered[:most]
                      if similarity("abcabc", lines[i]) >= 0.5]
            self.assertEqual((got, out.decode().splitlines()), (0, wanted), SEED)

    def test_json(self):
        _, out, _ = grep("--json", "-B", "1", FOX, self.file)
        rows = [json.loads(line) for line in out.splitlines()]
        self.assertEqual([(row["line"], row["context"]) for row in rows],
                         [(1, True), (2, False), (4, True), (5, False)])
        self.assertEqual([row["score"] for row in rows], [None, 1, None, 1 - 3 / (43 + 44)])
        self.assertEqual({row["file"] for row in rows}, {str(self.file)})
        self.assertEqual([row["text"] for row in rows], [LINES[0], LINES[1], LINES[3], LINES[4]])
        _, out, _ = grep("--json", "-c", FOX, self.file)
        self.assertEqual(json.loads(out), {"file": str(self.file), "count": 2})
        _, out, _ = grep("--json", "a\\\"b\x01 é", text=b'a\\"b\x01 \xe9\n')
        self.assertEqual(json.loads(out)["text"], 'a\\"b\x01 �')

    def test_colours(self):
        _, out, _ = grep("--color", "always", "-n", "-H", "one fox", text="the one fox\n")
        self.assertEqual(out.decode(), "\x1b[35m(standard input)\x1b[0m\x1b[36m:\x1b[0m"
                         "\x1b[32m1\x1b[0m\x1b[36m:\x1b[0mthe \x1b[1;31mone fox\x1b[0m\n")
        _, out, _ = grep("--color", "always", "café noir", text="Le café, noir\n")
        self.assertEqual(out.decode(), "Le \x1b[1;31mcafé\x1b[0m,\x1b[1;31m noir\x1b[0m\n")
        _, out, _ = grep(FOX, text=FOX)
        self.assertNotIn(b"\x1b", out)
        for settings, is_coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            primary, secondary = pty.openpty()
            run_on = subprocess.Popen([TOOL, "grep", FOX, self.file], stdout=secondary,
                                      env=environment(**{"TERM": "xterm", "NO_COLOR": None} | settings))
            os.close(secondary)
            seen = os.read(primary, 1 << 16)
            self.assertEqual(run_on.wait(), 0)
            os.close(primary)
            self.assertEqual(b"\x1b[1;31m" in seen, is_coloured, settings)

    def test_scores_are_those_of_code_points(self):
        rng = random.Random(SEED)
        letters = ["a", "b", "é", "Ж", "€", "😀", "\udce9", "\udcff", " "]
        lines = ["".join(rng.choices(letters, k=rng.randint(0, 12))) for _ in range(400)]
        text = "\n".join(lines).encode("utf-8", "surrogateescape") + b"\n"
        for _ in range(5):
            pattern = "".join(rng.choices(letters, k=rng.randint(0, 9)))
            got, out, err = grep("--json", "--threshold", "0", "--scorer", "levenshtein", "--",
                                 os.fsencode(pattern).decode("utf-8", "surrogateescape"), text=text,
                                 env=environment())
            self.assertEqual((got, err), (0, ""))
            scores = [json.loads(line)["score"] for line in out.splitlines()]
            self.assertEqual(scores, [similarity(pattern, line) for line in lines], SEED)

    def test_wrong_command_lines_and_inputs(self):
        self.refused(r"no scorer jaro for lines \(--scorer\)", "--scorer", "jaro", FOX)
        self.refused(r"-v beside -k", "-v", "-k", "1", FOX)
        self.refused(r"-c beside -k", "-c", "-k", "1", FOX)
        self.refused(r"lines of context beside -k", "-C1", "-k", "1", FOX)
        self.refused(r"", "--threshold", "1.5", FOX)
        self.refused(r"", "-k", "-1", FOX)
        self.refused(r"")
        missing = self.folder / "missing"
        alike = f"{self.file}:{LINES[1]}\n{self.file}:{LINES[4]}\n".encode()
        self.refused(rf"open {missing}: No such file", FOX, missing, self.file, out=alike)
        self.refused(rf"a folder \({self.folder}\): pass -r", FOX, self.folder)
        with open(self.file, "a") as output:
            done = subprocess.run([TOOL, "grep", FOX, self.file], stdout=output, stderr=subprocess.PIPE,
                                  env=environment(), check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"the input is also the output", done.stderr)
        with open("/dev/full", "w") as full:
            done = subprocess.run([TOOL, "grep", FOX, self.file], stdout=full, stderr=subprocess.PIPE,
                                  env=environment(), check=False)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, rb"^hoist: error: .*No space left")

    def test_long_lines(self):
        long = "x" * (15 << 20)
        self.prints("first\n", "first", text=f"{long}\nfirst\n")
        self.refused(r"a line of more than 16 MiB \(standard input:2\): split it", "first",
                     text="first\n" + "x" * (17 << 20) + "\nfirst\n", out=b"first\n")

    @unittest.skipIf(os.environ.get("HOIST_SANITIZE"), "sanitizers take address space")
    def test_memory_is_bounded(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

        with open(self.file, "w") as file:
            for _ in range(200):
                file.write((FOX + " and something else\n") * 20_000)
        for options in ((), ("-k", 10)):
            done = subprocess.run([TOOL, "grep", "-n", "--threshold", "0.99", *map(str, options), FOX,
                                   self.file], preexec_fn=limit, capture_output=True,
                                  env=environment(HOIST_THREADS="2"), check=False)
            self.assertEqual((done.returncode, done.stdout), (1, b""), done.stderr)

    def test_order_of_the_input_on_many_threads(self):
        rng = random.Random(SEED)
        lines = [FOX if rng.random() < 0.2 else "".join(rng.choices("abc ", k=rng.randint(0, 200)))
                 for _ in range(60_000)]
        self.file.write_text("\n".join(lines) + "\n")
        wanted = "".join(f"{i + 1}:{FOX}\n" for i, line in enumerate(lines) if line == FOX)
        for threads in ("1", "2", "7"):
            for arguments, options in (([self.file], {}), ([], {"input": self.file.read_bytes()})):
                done = run(TOOL, "grep", "-n", FOX, *arguments, env=environment(HOIST_THREADS=threads),
                           **options)
                self.assertTrue(done.stdout.decode() == wanted, (threads, arguments, SEED))

    def test_lines_come_through_a_pipe_as_they_are_written(self):
        with subprocess.Popen([TOOL, "grep", FOX], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              env=environment()) as process:
            for _ in range(3):
                process.stdin.write(f"nothing\n{FOX}\n".encode())
                process.stdin.flush()
                self.assertEqual(process.stdout.readline().decode(), FOX + "\n")
            process.stdin.close()
            self.assertEqual(process.wait(), 0)

    def test_a_closed_pipe_ends_it_quietly(self):
        def ignore():
            signal.signal(signal.SIGPIPE, signal.SIG_IGN)

        self.file.write_text(FOX * 2 + "\n" + f"{FOX}\n" * 500_000)
        for setting, statuses in ((None, (-signal.SIGPIPE,)), (ignore, (0,))):
            with subprocess.Popen([TOOL, "grep", FOX, self.file], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, preexec_fn=setting,
                                  env=environment()) as process:
                self.assertEqual(process.stdout.readline().decode(), FOX + "\n")
                process.stdout.close()
                began = time.monotonic()
                self.assertEqual(process.stderr.read(), b"")
                self.assertIn(process.wait(), statuses)
                self.assertLess(time.monotonic() - began, 60)


if __name__ == "__main__":
    unittest.main()
