#!/usr/bin/env python3
"""sha256sum of many small files through hoistd: what coreutils says, whatever happens to hoistd and to the files."""

import hashlib
import itertools
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest

from hoist_tree import BUILD, DEVICE, HOIST, ON_CPU, environment, main_on_device, run, tried_until

HOISTD = BUILD / "bin/hoistd"
ENGINE = BUILD / "libexec/hoist/hoist-hash"
ORIGINAL = shutil.which("sha256sum")
FILES = 3000


class GpuHashTest(unittest.TestCase):
    maxDiff = 2000
    numbers_of_sockets = itertools.count()

    @classmethod
    def setUpClass(cls):
        # On a file system whose sizes are exact (src/ops/hash/hash_file.h).
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="hoist-gpu-hash-", dir="/dev/shm"))
        cls.files = cls.folder / "files"
        cls.files.mkdir()
        source = random.Random(5)
        content = source.randbytes(1 << 20)
        for i in range(FILES):
            size = source.choice((4096, 5000, 8192, 8192, 12_345, 16_384))
            start = source.randrange(len(content) - size)
            (cls.files / f"f{i:05}").write_bytes(content[start:start + size])
        (cls.files / "empty").touch()
        (cls.files / "tiny").write_bytes(b"x")
        (cls.files / "edge").write_bytes(content[:4095])
        (cls.files / "large").write_bytes(content)
        (cls.files / "new\nline").write_bytes(content[:9000])
        (cls.files / "folder").mkdir()
        (cls.files / "dangling").symlink_to("nowhere")
        (cls.files / "unreadable").write_bytes(content[:8000])
        (cls.files / "unreadable").chmod(0)
        # Often, so that the GPU is open long before the end.
        cls.names = (sorted(os.listdir(cls.files)) + ["missing"]) * 4
        source.shuffle(cls.names)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder, ignore_errors=True)

    def setUp(self):
        self.daemon = None
        self.take_socket()

    def tearDown(self):
        self.stop()
        shutil.rmtree(self.folder / "cache", ignore_errors=True)

    def take_socket(self):
        self.socket = self.folder / f"socket{next(self.numbers_of_sockets)}"

    def start(self, *options):
        self.take_socket()
        self.daemon = subprocess.Popen(
            [HOISTD, "--device", DEVICE, "--socket", self.socket, *options], env=environment(),
            stderr=subprocess.DEVNULL)
        for _ in range(1200):
            if run(HOISTD, "--status", "--socket", self.socket).returncode == 0:
                return
            time.sleep(0.05)
        self.fail("hoistd does not answer")

    def stop(self):
        if self.daemon is not None:
            self.daemon.kill()
            self.daemon.wait()
        self.daemon = None

    def through_daemon(self, **changes):
        # Many threads would have hashed everything before the GPU is open.
        variables = {"HOIST_GPU": "require", "HOIST_SOCKET": str(self.socket), "LC_ALL": "C",
                     "HOIST_THREADS": "2", "XDG_CACHE_HOME": str(self.folder / "cache")}
        return environment(**{**variables, **changes})

    def status(self):
        for _ in range(10):  # which a busy machine does not answer in two seconds
            done = run(HOISTD, "--status", "--json", "--socket", self.socket)
            if done.returncode == 0:
                return json.loads(done.stdout)
        raise AssertionError(done.stderr)

    def served(self):
        """Requests that the daemon has done."""
        return self.status()["operations"].get("sha256", {}).get("calls", 0)

    def result(self, executable, arguments, stdin=subprocess.DEVNULL, **variables):
        done = subprocess.run(["sha256sum", *arguments], executable=executable, cwd=self.files,
                              stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env=variables or {"LC_ALL": "C", "PATH": os.environ["PATH"]},
                              check=False)
        return done.returncode, done.stdout, done.stderr

    def expect_originals(self, arguments, **changes):
        expected = self.result(ORIGINAL, arguments)
        self.assertEqual(self.result(ENGINE, arguments, **self.through_daemon(**changes)), expected)

    def make_list(self, names=None, wrong=()):
        listed = self.result(ORIGINAL, ["--", *(names or self.names)])[1].splitlines(True)
        for i in wrong:
            listed[i] = listed[i].replace(listed[i][:4], b"0123" if listed[i][:4] != b"0123" else b"4567", 1)
        path = self.folder / "list"
        path.write_bytes(b"".join(listed))
        return path

    def expect_served(self, act):
        """The threads hash until the GPU is open, which may be when they have done it all."""
        before = self.served()

        def served():
            act()
            return self.served()
        self.assertGreater(tried_until(lambda count: count > before, served), before)

    def test_says_what_the_original_says(self):
        self.start()
        for options in ([], ["--tag"], ["-z"], ["-b"]):
            with self.subTest(options):
                self.expect_served(lambda o=options: self.expect_originals([*o, "--", *self.names]))
        self.expect_originals(["--", *self.names], HOIST_THREADS="1")
        self.expect_originals(["--", *self.names], HOIST_THREADS="7")

    def test_checks_lists(self):
        self.start()
        path = self.make_list(wrong=(3, 700, 1500))
        with open(path, "ab") as more:
            more.write(b"no checksum\n" + b"0" * 64 + b"  missing\n")
        for options in ([], ["--quiet"], ["--status"], ["-w"], ["--ignore-missing"], ["--strict"]):
            with self.subTest(options):
                self.expect_served(lambda o=options: self.expect_originals([*o, "-c", path]))

    def test_standard_input_and_pipes_keep_their_turn(self):
        self.start()
        names = [name for name in self.names if name.startswith("f0")]
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        arguments = [*names[:5000], "-", *names[5000:9000], str(pipe), *names[9000:]]
        results = []
        for executable, variables in ((ORIGINAL, {}), (ENGINE, self.through_daemon())):
            writer = threading.Thread(target=lambda: pipe.write_bytes(b"through the pipe"))
            writer.start()
            with open(self.files / "large", "rb") as stdin:
                results.append(self.result(executable, arguments, stdin, **variables))
            writer.join()
        self.assertEqual(results[0], results[1])

    def counted(self, arguments, **changes):
        stats = self.folder / "stats.json"
        stats.unlink(missing_ok=True)
        done = subprocess.run([HOIST, "run", f"--stats={stats}", "--", ORIGINAL, *arguments],
                              cwd=self.files, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              stdin=subprocess.DEVNULL, env=self.through_daemon(**changes), check=False)
        operations = json.loads(stats.read_text())["operations"]
        return (done.returncode, done.stdout, done.stderr), operations.get("hash", {})

    def test_counters_say_who_hashed(self):
        self.start()
        names = [name for name in self.names if name.startswith("f0")]
        expected = self.result(ORIGINAL, names)
        size = sum((self.files / name).stat().st_size for name in names)

        def hashed():
            result, counters = self.counted(names)
            self.assertEqual(result, expected)
            self.assertEqual(sum(one["bytes"] for one in counters["implementations"].values()), size)
            return counters["implementations"]
        by = tried_until(lambda by: "hoistd" in by, hashed)
        self.assertEqual(by["hoistd"]["calls"], 1)
        self.assertGreater(by["hoistd"]["bytes"], 0)
        by = self.counted(names, HOIST_GPU="off")[1]["implementations"]
        self.assertNotIn("hoistd", by)

    def test_verified_runs_go_there_as_well(self):
        self.start()
        names = [name for name in self.names if name.startswith("f0")]
        expected = self.result(ORIGINAL, names)

        def verified():
            self.assertEqual(self.counted(names, HOIST_VERIFY="1")[0], expected)
            return self.served()
        self.assertGreater(tried_until(lambda count: count > 0, verified), 0)
        self.assertFalse((self.folder / "cache/hoist/off").exists())

    def test_unmeasured_is_unused(self):
        self.start()
        self.expect_originals(["--", *self.names], HOIST_GPU="auto")
        self.assertEqual(self.served(), 0)

    def measure(self, rows, **machine):
        """A profile by which small files are for a GPU, of this machine but for `machine`."""
        cache = self.folder / "cache/hoist"
        shutil.rmtree(cache, ignore_errors=True)
        done = run(HOIST, "tune", "--quick", "--seconds", "1", "--op", "hash/md5sum",
                   env=self.through_daemon(HOIST_GPU="off"))
        self.assertEqual(done.returncode, 0, done.stderr)
        profile = json.loads((cache / "profile.json").read_text())
        profile["machine"].update(machine)
        (cache / "profile.json").write_text(json.dumps(profile))
        with open(cache / "decisions", "a") as decisions:
            decisions.writelines(row + "\n" for row in rows)

    def logged(self):
        self.log = self.folder / "log"
        self.log.unlink(missing_ok=True)
        return {"HOIST_GPU": "auto", "HOIST_LOG": "debug", "HOIST_LOG_FILE": str(self.log)}

    def test_the_decisions_say_where(self):
        self.start()
        small = "hash/sha256sum-small cpus=1 0 cpu-1"
        self.measure([small, "hash/sha256sum-small+hoistd cpus=1 0 cpu-1 1000000 hoistd"])
        for arguments in (["--", *self.names], ["-c", self.make_list()]):
            def log(words=arguments):
                self.expect_originals(words, **self.logged())
                return self.log.read_text()
            words = tried_until(lambda text: "hash: " in text, log)
            # What a hoistd lends must be a GPU.
            self.assertRegex(words, "hash: no GPU: hoistd lends a CPU" if ON_CPU else "hash: GPU opened")
        few = [name for name in self.names if name.startswith("f0")][:40]
        self.expect_originals(few, **self.logged())  # too few bytes
        self.assertFalse(self.log.exists() and "hash: " in self.log.read_text())
        self.measure([small, small.replace("small", "small+hoistd")])
        self.expect_originals(["--", *self.names], **self.logged())
        self.assertFalse(self.log.exists() and "hash: " in self.log.read_text())

    def test_another_gpu_than_the_measured_one_is_unused(self):
        self.start()
        for changes in ({"gpu": "Another GPU"}, {"driver": "another"}):
            self.measure(["hash/sha256sum-small cpus=1 0 cpu-1",
                          "hash/sha256sum-small+hoistd cpus=1 0 hoistd"], **changes)
            self.expect_originals(["--", *self.names], **self.logged())
            self.assertFalse(self.log.exists() and "hash: " in self.log.read_text())

    def test_nothing_is_lost_with_the_daemon(self):
        arguments = ["--", *self.names]
        expected = self.result(ORIGINAL, arguments)
        self.assertEqual(self.result(ENGINE, arguments, **self.through_daemon()), expected)  # none
        ways = [(signal.SIGKILL, delay) for delay in (0, 0.01, 0.03, 0.1, 0.2)]
        for number, delay in [*ways, (signal.SIGSTOP, 0.03), (signal.SIGTERM, 0.03)]:
            with self.subTest(number=number, delay=delay):
                self.start()
                process = subprocess.Popen(["sha256sum", *arguments], executable=ENGINE, cwd=self.files,
                                           stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                           stdin=subprocess.DEVNULL, env=self.through_daemon())
                time.sleep(delay)
                os.kill(self.daemon.pid, number)
                output, errors = process.communicate(timeout=120)
                self.assertEqual((process.returncode, output, errors), expected)
                self.stop()

    def test_a_daemon_with_all_the_clients_that_it_takes(self):
        self.start("--clients", "1")
        other = subprocess.Popen(["sha256sum", "-c", "-"], executable=ENGINE, cwd=self.files,
                                 stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL, env=self.through_daemon())
        try:
            self.expect_originals(["--", *self.names])
        finally:
            other.kill()
            other.communicate()
        self.stop()
        self.start("--pool", "8M")  # less than the engine asks for
        self.expect_originals(["--", *self.names])
        self.stop()
        self.start("--memory", "8M")
        self.expect_originals(["--", *self.names])

    def test_files_that_grow_meanwhile(self):
        """Each is read as it was at some time; what is read is of that file alone."""
        self.start()
        folder = self.folder / "growing"
        names = [f"c{i:04}" for i in range(4000)]
        # Writers show a file's new size page by page.
        possible = {name: {hashlib.sha256(name.encode() * (size // 5) + name.encode()[:size % 5]).hexdigest()
                           for size in (5000, 8192, 9000, 12_288, 14_000)} for name in names}
        for number in range(3):
            folder.mkdir()
            for name in names:
                (folder / name).write_bytes(name.encode() * 1000)
            ending = threading.Event()

            def grow(seed=number):
                for name in random.Random(seed).choices(names, k=10_000):
                    if ending.is_set():
                        return
                    with open(folder / name, "ab") as file:
                        file.write(name.encode() * {5000: 800, 9000: 1000}.get(file.tell(), 0))
            grower = threading.Thread(target=grow)
            grower.start()
            try:
                done = subprocess.run(["sha256sum", *names], executable=ENGINE, cwd=folder,
                                      stdout=subprocess.PIPE, env=self.through_daemon(), check=True)
            finally:
                ending.set()
                grower.join()
            lines = done.stdout.decode().splitlines()
            self.assertEqual([line[66:] for line in lines], names)
            for line in lines:
                self.assertIn(line[:64], possible[line[66:]], line)
            shutil.rmtree(folder)


if __name__ == "__main__":
    main_on_device()
