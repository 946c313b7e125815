#!/usr/bin/env python3
"""`hoist records append` from pipes that are slow, stopped, killed or too much for the disk: a reader beside it always
sees whole rows from the first on, and what was committed stays."""

import contextlib
import fcntl
import json
import os
import pathlib
import random
import resource
import signal
import subprocess
import sys
import tempfile
import termios
import threading
import time
import unittest

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-records"
PATIENCE = 120  # seconds; nothing takes as long


def lines_of(first, end):
    return b"".join(b'{"row": %d, "text": "%s"}\n' % (i, b"x" * (i % 7)) for i in range(first, end))


class Append(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="hoist-records-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.file = self.folder / "x.hrec"
        self.good("encode", "-", "-o", self.file, input=lines_of(0, 10))

    def tool(self, *words, **options):
        done = run(TOOL, *words, env=environment(HOIST_THREADS="2"), **options)
        return done.returncode, done.stdout, done.stderr.decode()

    def good(self, *words, **options):
        status, out, err = self.tool(*words, **options)
        self.assertEqual((status, err), (0, ""), words)
        return out

    def start(self, *more, **options):
        process = subprocess.Popen([TOOL, "append", "-", self.file, *more], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   env=environment(HOIST_THREADS="2"), **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(BrokenPipeError):  # what was not flushed
                pipe.close()

    def test_a_file_without_rows_takes_the_format_of_what_is_named(self):
        empty, head, rows = (self.folder / name for name in ("empty.csv", "head.csv", "rows.csv"))
        empty.write_bytes(b"")
        head.write_bytes(b"a,b\n")
        rows.write_bytes(b"1,2\n3,4\n")
        self.good("encode", empty, "-o", self.file, "--force")
        for text in (head, rows):
            self.good("append", text, self.file)
        self.assertEqual(self.good("decode", self.file, "--to", "jsonl"), b'{"a":1,"b":2}\n{"a":3,"b":4}\n')
        self.assertEqual(self.good("decode", self.file), b"a,b\n1,2\n3,4\n")

    def read_beside(self):
        """What a reader gets while somebody appends; a warning of unfinished bytes is no error."""
        status, out, err = self.tool("decode", self.file)
        self.assertEqual(status, 0, err)
        self.assertTrue(err == "" or "behind the last commit" in err, err)
        return out

    def wait_for(self, content):
        end = time.monotonic() + PATIENCE
        while self.read_beside() != content:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.05)

    def test_rows_of_a_slow_pipe_are_seen(self):
        process = self.start("--commit-every", "100ms")
        process.stdin.write(b"{")
        for i in range(10, 13):
            process.stdin.write(lines_of(i, i + 1)[1:] + b"{")  # the next row has begun
            process.stdin.flush()
            self.wait_for(lines_of(0, i + 1))
        process.stdin.close()
        self.assertEqual((process.wait(PATIENCE), process.stderr.read()), (0, b""))
        # The end of the input ends the row.
        self.assertEqual(self.read_beside(), lines_of(0, 13) + b"{")

    def test_a_reader_beside_sees_a_whole_prefix(self):
        content = lines_of(0, 40_000)
        rest = memoryview(content)[len(lines_of(0, 10)):]
        generator = random.Random(11)
        process = self.start("--commit-every", "5ms")
        seen = set()
        while rest:
            size = generator.choice((1, 100, 5000, 60_000))
            process.stdin.write(rest[:size])
            process.stdin.flush()
            rest = rest[size:]
            if generator.random() < 0.2:
                out = self.read_beside()
                self.assertTrue(content.startswith(out))
                self.assertTrue(out.endswith(b"\n"))
                seen.add(len(out))
                status, _, err = self.tool("verify", self.file)
                self.assertEqual(status, 0, err)
        process.stdin.close()
        self.assertEqual((process.wait(PATIENCE), process.stderr.read()), (0, b""))
        self.assertEqual(self.read_beside(), content)
        self.assertGreater(len(seen), 3)
        self.assertEqual(self.tool("verify", self.file)[0], 0)

    def test_kill_leaves_whole_blocks(self):
        content = lines_of(0, 1_000_000)
        generator = random.Random(12)
        done = len(lines_of(0, 10))
        for _ in range(12):
            process = self.start("--commit-every", generator.choice(("1ms", "50ms", "0s")))
            end = done + generator.randrange(1, 3_000_000)
            try:
                for at in range(done, end, 50_000):
                    process.stdin.write(content[at:min(at + 50_000, end)])
                    process.stdin.flush()
                    if generator.random() < 0.05:
                        break
            except BrokenPipeError:
                self.fail(process.stderr.read())
            process.kill()
            process.wait(PATIENCE)
            out = self.read_beside()
            # What is whole of it goes into a file of its own.
            saved = self.folder / "saved.hrec"
            report = json.loads(self.tool("repair", self.file, "-o", saved, "--force", "--json")[1])
            self.assertEqual(report["lost"], [])
            whole = self.good("decode", saved)
            self.assertTrue(whole.startswith(out) and content.startswith(whole))
            self.assertEqual(self.tool("verify", saved)[0], 0)
            self.assertTrue(content.startswith(out))
            self.assertTrue(out.endswith(b"\n"))
            self.assertGreaterEqual(len(out), done)
            done = len(out)
        self.good("append", "-", self.file, input=content[done:done + len(lines_of(0, 1)) - 1] + b"\n")
        self.assertEqual(self.tool("verify", self.file)[0], 0)

    def test_kill_in_the_middle_of_a_block(self):
        # A commit that waits for the disk, or a block that is large, is cut anywhere: as if a kill had come there.
        before = self.file.read_bytes()
        rows = b"".join(b"%s\n" % random.Random(i).randbytes(30).hex().encode() for i in range(2000))
        self.good("append", "-", self.file, input=rows)
        whole = self.file.read_bytes()
        generator = random.Random(16)
        for cut in [len(before), len(before) + 1, len(whole) - 1, *(generator.randrange(len(before), len(whole))
                                                                    for _ in range(20))]:
            self.file.write_bytes(whole[:cut])
            self.assertEqual(self.read_beside(), lines_of(0, 10))
            saved = self.folder / "saved.hrec"
            self.tool("repair", self.file, "-o", saved, "--force")
            self.assertIn(self.good("decode", saved), (lines_of(0, 10), lines_of(0, 10) + rows))
            self.good("append", "-", self.file, input=lines_of(10, 11))
            self.assertEqual(self.good("decode", self.file), lines_of(0, 11))
            self.assertEqual(self.tool("verify", self.file)[0], 0)

    def test_kill_while_encoding_leaves_what_was_there(self):
        before = self.file.read_bytes()
        for name, files in (("new.hrec", ["x.hrec"]), ("x.hrec", ["x.hrec"])):
            process = subprocess.Popen([TOOL, "encode", "-", "-o", self.folder / name, "--force"], stdin=subprocess.PIPE,
                                       env=environment(HOIST_THREADS="2"))
            block = b"".join(b"%s\n" % random.Random(i).randbytes(500).hex().encode() for i in range(1000))
            for _ in range(40):
                process.stdin.write(block)
            process.kill()
            process.wait(PATIENCE)
            with contextlib.suppress(BrokenPipeError):
                process.stdin.close()
            # A file system that knows no files without names keeps one of its own.
            self.assertEqual([name for name in os.listdir(self.folder) if not name.startswith(".hoist-")], files)
            self.assertEqual(self.file.read_bytes(), before)

    def test_a_reader_while_a_writer_cuts_off_an_unfinished_tail(self):
        junk = random.Random(14).randbytes(2_000_000)
        wrong = []

        def read():
            while not done.is_set():
                status, out, err = self.tool("decode", self.file)
                if status != 0 or not lines_of(0, 200).startswith(out) or not out.startswith(lines_of(0, 10)):
                    wrong.append((status, len(out), err))

        done = threading.Event()
        threads = [threading.Thread(target=read) for _ in range(2)]
        for thread in threads:
            thread.start()
        for i in range(10, 200):
            with self.file.open("ab") as file:
                file.write(junk)
            self.good("append", "-", self.file, input=lines_of(i, i + 1))
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_ctrl_c_commits_what_was_read(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            before = self.read_beside()
            count = before.count(b"\n")
            # The time is long: nothing but the signal commits the second row.
            process = self.start("--commit-every", "1min")
            process.stdin.write(lines_of(count, count + 2) + b"no end")
            process.stdin.flush()
            end = time.monotonic() + PATIENCE
            while self.unread(process):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.01)
            process.send_signal(number)
            self.assertEqual(process.wait(PATIENCE), -number)
            err = process.stderr.read().decode()
            self.assertIn(f"has {count + 2} rows now", err)
            self.assertIn("6 bytes of a row that has no end yet are left out", err)
            self.assertIn(f"{count + 2} rows".encode(), process.stdout.read())
            self.assertEqual(self.read_beside(), before + lines_of(count, count + 2))

    @staticmethod
    def unread(process):
        """Bytes in the pipe."""
        return int.from_bytes(fcntl.ioctl(process.stdin, termios.FIONREAD, bytes(4)), sys.byteorder)

    def test_a_full_disk_leaves_what_was_committed(self):
        limit = self.file.stat().st_size + 200_000

        def bound():
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        generator = random.Random(13)
        rows = b"".join(b"%s\n" % generator.randbytes(60).hex().encode() for _ in range(20_000))
        process = self.start("--commit-every", "1ms", preexec_fn=bound)
        try:
            for at in range(0, len(rows), 10_000):
                process.stdin.write(rows[at:at + 10_000])
                process.stdin.flush()
        except BrokenPipeError:
            pass
        self.assertEqual(process.wait(PATIENCE), 1)
        err = process.stderr.read().decode()
        self.assertIn("hoist: error: ", err)
        out = self.good("decode", self.file)
        self.assertTrue((lines_of(0, 10) + rows).startswith(out))
        kept = out.count(b"\n")
        self.assertIn(f"{self.file} has {kept} rows now, with the first {len(out) - len(lines_of(0, 10))} bytes", err)
        self.assertEqual(self.tool("verify", self.file)[0], 0)
        self.good("append", "-", self.file, input=b"and on\n")

    def test_a_full_file_system(self):
        small = self.folder / "small"
        small.mkdir()
        script = f"""
            mount -t tmpfs -o size=300k none {small} || exit 77
            cp {self.file} {small}/x.hrec
            od -An -v -tx1 -N 2000000 /dev/urandom | tr -d ' ' > {self.folder}/rows
            {TOOL} append {self.folder}/rows {small}/x.hrec && exit 3
            {TOOL} verify {small}/x.hrec >&2 || exit 4
            {TOOL} decode {small}/x.hrec
        """
        done = run("unshare", "-rm", "sh", "-c", script, env=environment())
        if done.returncode == 77 or b"unshare" in done.stderr:
            self.skipTest("no file systems of one's own here")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b"No space left on device", done.stderr)
        self.assertIn(b"has 10 rows now, with the first 0 bytes of the input", done.stderr)
        self.assertEqual(done.stdout, lines_of(0, 10))

    def test_ctrl_c_while_encoding_leaves_nothing(self):
        process = subprocess.Popen([TOOL, "encode", "-", "-o", self.folder / "new.hrec"], stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=environment())
        process.stdin.write(lines_of(0, 1000))
        process.stdin.flush()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(PATIENCE), -signal.SIGINT)
        process.stdin.close()
        process.stderr.close()
        self.assertEqual(os.listdir(self.folder), ["x.hrec"])

    def test_a_file_without_rows_takes_the_form_of_the_first(self):
        self.good("encode", "/dev/null", "-o", self.file, "--force")
        self.file.chmod(0o640)
        self.good("append", "/dev/null", self.file)
        content = b"time,price\n1,2.5\n2,3.5\n"
        facts = json.loads(self.good("append", "-", self.file, "--json", input=content))
        self.assertEqual((facts["format"], facts["rows"]), ("csv", 3))
        self.good("append", "-", self.file, input=b"3,4.5\n")
        self.assertEqual(self.good("decode", self.file, "--where", "price>3"), b"2,3.5\n3,4.5\n")
        self.assertEqual(self.file.stat().st_mode & 0o777, 0o640)
        self.assertEqual(self.tool("verify", self.file)[0], 0)
        self.assertEqual(os.listdir(self.folder), ["x.hrec"])

    def test_one_writer_at_a_time(self):
        process = self.start()
        process.stdin.write(lines_of(10, 11))
        process.stdin.flush()
        end = time.monotonic() + PATIENCE
        while "another writer" not in self.tool("append", "/dev/null", self.file)[2]:
            self.assertLess(time.monotonic(), end)
        process.stdin.close()
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertEqual(self.read_beside(), lines_of(0, 11))

    def test_nobody_replaces_what_somebody_appends_to(self):
        other = self.folder / "other.hrec"
        self.good("encode", "-", "-o", other, input=b"other\n")
        process = self.start("--commit-every", "10ms")
        process.stdin.write(lines_of(10, 11))
        process.stdin.flush()
        self.wait_for(lines_of(0, 11))
        for words in (("encode", "/dev/null", "-o", self.file, "--force"),
                      ("repair", other, "-o", self.file, "--force")):
            status, _, err = self.tool(*words)
            self.assertEqual(status, 3, err)
            self.assertIn(f"another writer has the file ({self.file}", err)
            if f" {process.pid} " in pathlib.Path("/proc/locks").read_text(encoding="ascii"):
                self.assertIn(f"process {process.pid}, hoist-records", err)
        process.stdin.write(lines_of(11, 12))
        process.stdin.close()
        self.assertEqual((process.wait(PATIENCE), process.stderr.read()), (0, b""))
        self.assertEqual(self.good("decode", self.file), lines_of(0, 12))
        self.good("repair", other, "-o", self.file, "--force")
        self.assertEqual(self.good("decode", self.file), b"other\n")

    def test_a_name_that_leads_elsewhere(self):
        for keeps_name in (False, True):
            self.good("encode", "-", "-o", self.file, "--force", input=lines_of(0, 10))
            old = self.folder / "old.hrec"
            process = self.start("--commit-every", "10ms")
            process.stdin.write(lines_of(10, 11))
            process.stdin.flush()
            self.wait_for(lines_of(0, 11))
            if keeps_name:
                os.link(self.file, old)
            self.good("encode", "-", "-o", self.folder / "new.hrec", "--force", input=b"new\n")
            (self.folder / "new.hrec").rename(self.file)
            process.stdin.write(lines_of(11, 12))
            process.stdin.close()
            self.assertEqual(process.wait(PATIENCE), 1)
            self.assertIn(b"replaced or removed", process.stderr.read())
            self.assertEqual(self.good("decode", self.file), b"new\n")
            if keeps_name:
                self.assertEqual(self.good("decode", old), lines_of(0, 12))

    def test_verify_and_append_side_by_side(self):
        wrong = []
        looks = 0

        def look():
            nonlocal looks
            while not done.is_set():
                status, _, err = self.tool("verify", self.file)
                looks += 1
                if status != 0:
                    wrong.append(err)

        done = threading.Event()
        threads = [threading.Thread(target=look) for _ in range(3)]
        for thread in threads:
            thread.start()
        rows = 10
        for i in range(150):
            # Some are more than a writer's buffer, so that blocks are there in part.
            more = 20_000 if i % 10 == 0 else 1
            content = b"".join(b"%s\n" % random.Random(rows + j).randbytes(20).hex().encode() for j in range(more))
            self.good("append", "-", self.file, input=content)
            rows += more
        done.set()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        self.assertGreater(looks, 10)
        self.assertEqual(self.good("decode", self.file).count(b"\n"), rows)

    def test_verify_knows_who_writes(self):
        process = self.start("--commit-every", "10ms")
        process.stdin.write(lines_of(10, 11))
        process.stdin.flush()
        self.wait_for(lines_of(0, 11))
        with self.file.open("ab") as file:  # as if a block were written just now
            file.write(random.Random(15).randbytes(100_000))
        status, out, err = self.tool("verify", self.file)
        self.assertEqual((status, b": OK, " in out), (0, True), out)
        self.assertIn("somebody is adding rows just now; 100000 bytes", err)
        facts = json.loads(self.tool("verify", "--json", self.file)[1])["files"][0]
        self.assertEqual((facts["ok"], facts["state"], facts["unfinished_bytes"]), (True, "being written", 100_000))
        process.kill()
        process.wait(PATIENCE)
        status, out, err = self.tool("verify", self.file)
        self.assertEqual((status, b": UNFINISHED, " in out), (1, True), out)
        self.assertIn("an `append` was cut off", err)
        facts = json.loads(self.tool("verify", "--json", self.file)[1])["files"][0]
        self.assertEqual((facts["ok"], facts["state"], facts["unfinished_bytes"]), (False, "unfinished", 100_000))
        self.good("append", "-", self.file, input=lines_of(11, 12))
        self.assertEqual(self.tool("verify", self.file)[0], 0)
        self.assertEqual(self.good("decode", self.file), lines_of(0, 12))

    def test_times(self):
        for wrong in ("5", "s", "-1s", "5w", "1e9s", "nans", "", "366d", "8761h"):
            status, _, err = self.tool("append", "/dev/null", self.file, f"--commit-every={wrong}")
            self.assertEqual(status, 2, (wrong, err))
            self.assertTrue("365d" in err or wrong == "", err)
        for good in ("0s", "0.5s", "20ms", "2min", "3m", "24h", "365d"):
            self.good("append", "/dev/null", self.file, "--commit-every", good)

    def test_an_input_that_cannot_be_read(self):
        status, _, err = self.tool("append", self.folder, self.file)
        self.assertEqual(status, 1)
        self.assertIn("has 10 rows now", err)
        self.assertEqual(self.good("decode", self.file), lines_of(0, 10))


if __name__ == "__main__":
    unittest.main()
