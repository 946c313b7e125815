#!/usr/bin/env python3
"""Black-box test of hoist-hash: every command line runs twice, with the real program and with the
engine in its place, and standard output, standard error and exit status must be equal.

HOIST_BUILD_DIR  build tree with libexec/hoist/hoist-hash
HOIST_TEST_SEED  seed of the random part (printed; default: a fresh one)
HOIST_TEST_RUNS  number of random command lines (default 200)
HOIST_TEST_PATH  where to look for the original programs (default: PATH)
"""

import os
import random
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

BUILD = os.environ.get("HOIST_BUILD_DIR", "build/dev")
ENGINE = os.path.abspath(os.path.join(BUILD, "libexec/hoist/hoist-hash"))
SEED = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(2**32)))
RUNS = int(os.environ.get("HOIST_TEST_RUNS", "200"))
SUMS = ["md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum"]
SUMS = [p for p in SUMS if shutil.which(p, path=os.environ.get("HOIST_TEST_PATH"))]
TAGS = {"md5sum": b"MD5", "sha1sum": b"SHA1", "sha224sum": b"SHA224", "sha256sum": b"SHA256",
        "sha384sum": b"SHA384", "sha512sum": b"SHA512", "b2sum": b"BLAKE2b"}
NOBODY = 65534


def original(program):
    return shutil.which(program, path=os.environ.get("HOIST_TEST_PATH"))


def coreutils_version():
    text = subprocess.run([original("md5sum"), "--version"], capture_output=True).stdout
    return tuple(int(n) for n in re.search(rb"\) (\d+)\.(\d+)", text).groups())


VERSION = coreutils_version()
CLASSIC = VERSION < (9, 2)


class HashTest(unittest.TestCase):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.mkdtemp(prefix="hoist-hash-test-")
        os.chmod(cls.directory, 0o755)
        os.chdir(cls.directory)
        write = cls.write
        write(b"a", b"a")
        write(b"b", b"b\n")
        write(b"empty", b"")
        write(b"one kilobyte", b"k" * 1024)
        write(b"block", b"k" * 513)
        write(b"it's", b"quoted")
        write(b"-dash", b"dash")
        write(b"new\nline", b"newline")
        write(b"back\\slash", b"backslash")
        write(b"carriage\rreturn", b"cr")
        write(b"b\\a\nc\rk", b"all three")
        write(b"caf\xc3\xa9", b"utf-8")
        write(b"\xff\xfe", b"no utf-8")
        write(b"#comment", b"hash")
        write(b" space", b"space")
        write(b"big", random.Random(1).randbytes(6 << 20))
        write(b"unreadable", b"secret")
        os.chmod(b"unreadable", 0)
        os.mkdir(b"directory")
        os.symlink("nowhere", "dangling")
        os.mkdir("many")
        for i in range(300):
            write(b"many/%03d" % i, b"%d" % i * (i * 7))

    @classmethod
    def tearDownClass(cls):
        os.chdir("/")
        shutil.rmtree(cls.directory)

    @staticmethod
    def write(name, content):
        with open(name, "wb") as file:
            file.write(content)

    def run_one(self, program, args, engine, taken, merged=False, stdin=b"", env=None, **more):
        environment = {"PATH": os.environ["PATH"], "LC_ALL": "C"}
        environment.update(env or {})
        if engine:
            path = "" if taken else original(program)
            version = "%d.%d" % VERSION
            environment["HOIST_TAKEOVER"] = f"{program}:coreutils:{version}:{path}"
        arguments = [more.pop("argv0", program).encode()]
        arguments += [a if isinstance(a, bytes) else a.encode() for a in args]
        if not isinstance(stdin, bytes):
            stdin.seek(0)
            more["stdin"] = stdin
        else:
            more["input"] = stdin
        done = subprocess.run(arguments, executable=ENGINE if engine else original(program),
                              env=environment, stdout=more.pop("stdout", subprocess.PIPE),
                              stderr=subprocess.STDOUT if merged else subprocess.PIPE, **more)
        return done.stdout, done.stderr, done.returncode

    def same(self, program, *args, taken=True, **more):
        """Compares the two. With `taken` the engine has no original to step aside to."""
        expected = self.run_one(program, args, False, taken, **dict(more))
        actual = self.run_one(program, args, True, taken, **dict(more))
        self.assertEqual(actual, expected, f"{program} {args} {more}")
        return expected

    # Printing checksums.

    def test_files(self):
        names = sorted(n for n in os.listdir(b".") if n not in (b"many", b"unreadable"))
        for program in SUMS + ["cksum"]:
            for options in ([], ["-z"], ["--tag"]):
                for locale in ("C", "C.UTF-8"):
                    for merged in (False, True):
                        self.same(program, *options, "--", *names, "missing", "a", "-",
                                  env={"LC_ALL": locale}, stdin=b"standard input", merged=merged)

    def test_modes(self):
        for program in SUMS:
            for options in (["-b"], ["-t"], ["-bt"], ["-tb"], ["--binary"], ["--text"], ["--tag"],
                            ["--tag", "-b"], ["-t", "--tag"], ["--tag", "-t", "-b"], ["--bin"],
                            ["-bz"], ["--zero", "--tag"]):
                self.same(program, *options, "a", "new\nline", "back\\slash", "carriage\rreturn")

    def test_cksum_algorithms(self):
        for algorithm in ("bsd", "sysv", "crc", "md5", "sha1", "sha224", "sha256", "sha384",
                          "sha512", "blake2b", "sm3"):
            for options in ([], ["--untagged"], ["-z"], ["--tag"]):
                self.same("cksum", "-a", algorithm, *options, "a", "b", "empty", "one kilobyte",
                          "block", "new\nline", "missing", "directory", "big", "/proc/self/mem")
            self.same("cksum", "-a", algorithm, stdin=b"x" * 5000)
            self.same("cksum", f"--algo={algorithm}", "-", stdin=b"")
        self.same("cksum", "-a", "md5", "-a", "sha1", "a")

    @unittest.skipIf(VERSION < (9, 0), "cksum has no --algorithm")
    def test_timings_are_the_algorithms(self):
        cache = os.path.join(self.directory, "cache")
        os.makedirs(os.path.join(cache, "hoist"), mode=0o700)
        self.write(b"cache/hoist/profile.json", b"{}")
        for args in (["-a", "sha256", "a"], ["-a", "sha1", "a", "b"], ["a"], ["-a", "bsd", "a"]):
            self.run_one("cksum", args, True, True, env={"XDG_CACHE_HOME": cache})
        with open("cache/hoist/timings", "rb") as file:
            found = re.findall(rb"hash/[a-z0-9-]+", file.read())
        expected = [b"hash/sha256sum", b"hash/sha1sum-many", b"hash/cksum", b"hash/bsd"]
        self.assertEqual(found, expected)

    def test_blake2b_lengths(self):
        for bits in list(range(0, 513, 8)):
            self.same("b2sum", "-l", str(bits), "a", "empty")
        for bits in (8, 256, 512):
            self.same("b2sum", "--length", str(bits), "--tag", "a")
            self.same("cksum", "-a", "blake2b", "-l", str(bits), "a")
            self.same("cksum", "-l", str(bits), "--untagged", "-a", "blake2b", "a")

    def test_sizes(self):
        content = random.Random(2).randbytes(5 << 20)
        sizes = [0, 1, 2, 7, 31, 32, 55, 56, 57, 63, 64, 65, 111, 112, 119, 120, 127, 128, 129, 255,
                 256, 257, 511, 512, 513, 1023, 1024, 1025, 4095, 4096, 4097, 65535, 65536, 131071,
                 131072, 131073, 262144, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, 5 << 20]
        for size in sizes:
            self.write(b"many/size%d" % size, content[:size])
        names = [f"many/size{size}" for size in sizes]
        for program in SUMS + ["cksum"]:
            self.same(program, *names)
            self.same(program, names[-1])
            self.same(program, stdin=content)
        for algorithm in ("bsd", "sysv", "sm3"):
            self.same("cksum", "-a", algorithm, *names)

    def test_standard_input(self):
        for program in SUMS + ["cksum"]:
            self.same(program, stdin=b"abc")
            self.same(program, "--tag", stdin=b"abc")
            self.same(program, "-", "a", "-", stdin=b"abc")
            with open("big", "rb") as file:
                self.same(program, "-", "-", stdin=file)
        fd = os.open(".", os.O_RDONLY)
        try:
            for engine in (False, True):
                with self.subTest(engine=engine):
                    done = subprocess.run(
                        ["md5sum"], executable=ENGINE if engine else original("md5sum"), stdin=fd,
                        capture_output=True, env={"HOIST_TAKEOVER": "md5sum:coreutils::"})
                    self.assertEqual(done.returncode, 1)
                    self.assertEqual(done.stderr, b"md5sum: -: Is a directory\n")
        finally:
            os.close(fd)

    def test_usage_goes_to_the_original(self):
        for args in (["--help"], ["--version"], ["--nonsense"], ["-q"], ["--st"], ["--tag", "-t"],
                     ["-c", "-z"], ["-c", "-b"], ["-c", "--tag"], ["--quiet", "a"],
                     ["--strict", "a"], ["-w", "a"], ["--status", "a"], ["--ignore-missing", "a"],
                     ["--t"], ["-l", "8", "a"]):
            for program in ("md5sum", "b2sum", "cksum"):
                self.same(program, *args, taken=False)
        for length in ("9", "520", "", "0x10", "-8", " 8", "+8", "8k", "1e2"):
            self.same("b2sum", "-l", length, "a", taken=False)
        for args in (["-a", "sha"], ["-a", ""], ["--base64", "a"], ["--raw", "a"], ["--debug", "a"],
                     ["-b", "a"], ["-t", "a"], ["--untagged", "-b", "a"], ["-c", "-a", "crc"],
                     ["-l", "8", "a"], ["--tag", "--untagged", "-a", "md5", "a"], ["--b"]):
            self.same("cksum", *args, taken=False)

    def test_permutation_and_posix_order(self):
        self.same("md5sum", "a", "-b", "b")
        self.same("md5sum", "--", "-b", "a")
        self.same("md5sum", "a", "-b", env={"POSIXLY_CORRECT": "1"})
        self.same("md5sum", "--", "-dash", "#comment")

    def test_name_of_the_program(self):
        self.same("md5sum", "missing", argv0="/usr/local/bin/md5sum")
        self.same("md5sum", "missing", argv0="odd name")

    # Errors and odd streams.

    def test_unreadable(self):
        names = ["a", "unreadable", "b", "missing", "directory", "dangling", "a/b", "x" * 300, ""]
        for program in ("md5sum", "b2sum", "cksum"):
            self.same(program, *names)
            self.same(program, *names, merged=True)
        if os.geteuid() == 0 and self.world_can(ENGINE):
            for program in ("md5sum", "cksum"):
                self.same(program, *names, user=NOBODY, group=NOBODY)

    @staticmethod
    def world_can(path):
        while path != "/":
            if not os.stat(path).st_mode & stat.S_IXOTH:
                return False
            path = os.path.dirname(path)
        return True

    def test_quoting_in_messages(self):
        alphabet = [b"a", b"B", b"0", b"'", b'"', b" ", b"\n", b"\t", b"\x01", b"\x7f", b"\\", b"$",
                    b"`", b"!", b"*", b"?", b"~", b"#", b"{", b"}", b"=", b":", b"[", b"]", b"^",
                    b"&", b"|", b";", b"<", b"(", b"%", b",", b"@", b"-", b"\xc3\xa9", b"\xff",
                    b"\xc3", b"\xe2\x82", b"\xe2\x80\xa8", b"\xe2\x82\xac", b"\xf0\x9f\x98\x80"]
        source = random.Random(SEED)
        names = [c for c in alphabet] + [b"-" + c for c in alphabet]
        names += [b"".join(source.choices(alphabet, k=source.randrange(1, 8))) for _ in range(900)]
        names = [n for n in names if n != b"-"]
        for locale in ("C", "C.UTF-8"):
            env = {"LC_ALL": locale}
            expected, actual = (self.run_one("md5sum", ["--", *names], engine, True, env=env)
                                for engine in (False, True))
            lines = zip(expected[1].splitlines(), actual[1].splitlines(), strict=True)
            for theirs, ours in lines:
                self.assertEqual(ours, theirs)
            self.assertEqual((expected[0], expected[2]), (actual[0], actual[2]))

    def test_write_errors(self):
        with open("list", "wb") as file:
            file.write(self.run_one("md5sum", ["a", "b"], False, False)[0])
        for args in (["a", "b", "a"], ["a", "missing", "b"], ["-z", "a", "missing", "b"],
                     ["-z", "a"], ["-c", "list"], ["missing"]):
            for device in ("/dev/full", "/dev/null"):
                with open(device, "wb") as full:
                    self.same("md5sum", *args, stdout=full)
        with open("/dev/full", "wb") as full:
            self.same("cksum", "a", "b", stdout=full)

    def test_file_size_limit(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))

        for args in (["a"] * 60, ["-z"] + ["a"] * 60, ["a"] * 20 + ["missing"] + ["a"] * 20):
            results = []
            for engine in (False, True):
                with open("limited", "wb") as file:
                    outcome = self.run_one("md5sum", args, engine, True, stdout=file,
                                           preexec_fn=limit)
                with open("limited", "rb") as file:
                    results.append((outcome, file.read()))
            self.assertEqual(results[1], results[0])

    def test_closed_standard_streams(self):
        for closed in ((0,), (1,), (2,), (0, 1), (0, 1, 2)):
            def close(fds=closed):
                for fd in fds:
                    os.close(fd)

            for args in ([], ["a"], ["missing"], ["a", "-"]):
                self.same("md5sum", *args, taken=False, preexec_fn=close)

    @unittest.skipIf(os.environ.get("HOIST_SANITIZE"), "sanitizers open files of their own")
    def test_few_file_descriptors(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (4, 4))

        self.same("md5sum", *[f"many/{i:03}" for i in range(100)], taken=False, preexec_fn=limit)

    def test_inherited_file_descriptors(self):
        def leave_two():
            resource.setrlimit(resource.RLIMIT_NOFILE, (300, 300))
            try:
                while True:
                    last = os.dup(0)
            except OSError:
                pass
            for fd in range(3, 300):  # those too that subprocess would close
                os.set_inheritable(fd, True)
            os.closerange(last - 1, last + 1)

        names = [f"many/{i:03}" for i in range(300)]
        self.write(b"list", self.run_one("md5sum", names, False, False)[0])
        # Where the descriptors that are left would do for one file at a time, but not for several.
        for args in (["-c", "list"], names):
            self.same("md5sum", *args, taken=False, preexec_fn=leave_two, close_fds=False)

    @unittest.skipUnless(os.path.exists("/proc/thread-self"), "no /proc/thread-self")
    def test_files_of_a_thread(self):
        names = [f"many/{i:03}" for i in range(300)]
        for at in range(0, 300, 60):
            with open("big", "rb") as file:
                args = names[:at] + [f"/proc/thread-self/fd/{file.fileno()}"] + names[at:]
                self.same("md5sum", *args, taken=False, pass_fds=[file.fileno()])

    @unittest.skipIf(os.environ.get("HOIST_SANITIZE"), "sanitizers start a thread at exit")
    def test_no_threads(self):
        if os.geteuid() != 0 or not self.world_can(ENGINE):
            self.skipTest("needs root, and an engine that others may run")

        def limit():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

        user = {"user": NOBODY, "group": NOBODY, "preexec_fn": limit}
        self.same("md5sum", *[f"many/{i:03}" for i in range(100)], **user)
        self.same("md5sum", "big", **user)

    def test_broken_pipe(self):
        for args in (["a"], ["many/001"] * 3000):
            for ignored in (False, True):
                def prepare(ignore=ignored):
                    signal.signal(signal.SIGPIPE, signal.SIG_IGN if ignore else signal.SIG_DFL)

                outcomes = []
                for engine in (False, True):
                    reader, writer = os.pipe()
                    os.close(reader)
                    with os.fdopen(writer, "wb") as out:
                        outcomes.append(self.run_one("md5sum", args, engine, True, stdout=out,
                                                     preexec_fn=prepare))
                self.assertEqual(outcomes[1], outcomes[0])

    def test_output_among_the_inputs(self):
        for program in ("md5sum", "cksum"):
            results = []
            for engine in (False, True):
                names = [f"many/{i:03}" for i in range(100)] + ["sums"] + ["a"] * 50
                with open("sums", "wb") as out:
                    outcome = self.run_one(program, names, engine, True, stdout=out)
                with open("sums", "rb") as file:
                    results.append((outcome, file.read()))
            os.remove("sums")
            self.assertEqual(results[1], results[0])

    def test_fifos_are_read_in_their_turn(self):
        os.mkfifo("fifo")
        results = []
        for engine in (False, True):
            # The writer changes a later operand before it finishes the FIFO.
            def feed():
                with open("fifo", "wb") as fifo:
                    fifo.write(b"early")
                    fifo.flush()
                    self.write(b"later", b"after")
                    fifo.write(b"late")

            self.write(b"later", b"before")
            feeder = threading.Thread(target=feed)
            feeder.start()
            names = [f"many/{i:03}" for i in range(60)] + ["fifo", "later"]
            results.append(self.run_one("md5sum", names, engine, True))
            feeder.join()
        os.remove("fifo")
        self.assertEqual(results[1], results[0])

    # Many files.

    def test_many_files(self):
        names = [f"many/{i:03}" for i in range(300)]
        mixed = []
        for i, name in enumerate(names):
            mixed += [name] + (["missing"] if i % 50 == 7 else []) + (["-"] if i % 90 == 8 else [])
            mixed += ["big"] if i % 100 == 9 else []
        for threads in ("", "1", "2", "5"):
            for program in ("md5sum", "cksum"):
                env = {"HOIST_THREADS": threads} if threads else {}
                self.same(program, *names, env=env)
                self.same(program, *mixed, env=env, stdin=b"in", merged=True)

    # Checking.

    def lists(self, program):
        """Checksum files in several shapes, with the name of each."""
        good = self.run_one(program, ["a", "b", "empty", "new\nline", "back\\slash"], False,
                            False)[0]
        tagged = self.run_one(program, ["--tag", "a", "b", "new\nline", "back\\slash"], False,
                              False)[0]
        digest = good.split()[0]
        wrong = digest[::-1]
        tag = TAGS[program]
        yield b"good", good
        yield b"tagged", tagged
        yield b"no final newline", good[:-1]
        yield b"crlf", good.replace(b"\n", b"\r\n")
        yield b"tagged crlf", tagged.replace(b"\n", b"\r\n")
        yield b"upper case", digest.upper() + b"  a\n"
        yield b"binary", digest + b" *a\n"
        yield b"reversed", digest + b" a\n" + digest + b"  a\n"
        yield b"reversed late", digest + b"  a\n" + digest + b" a\n"
        yield b"blanks", b" \t" + digest + b"\t a\n" + b"  " + tag + b" (a)  = \t" + digest + b"\n"
        yield b"openssl", tag + b"(a)= " + digest + b"\n"
        yield b"comments", b"# x\n\n#\n\r\n" + good + b" # y\n"
        yield b"wrong", wrong + b"  a\n" + good
        yield b"two wrong", wrong + b"  a\n" + wrong + b"  b\n"
        yield b"missing", digest + b"  missing\n" + digest + b"  a\n"
        yield b"only missing", digest + b"  missing\n" + digest + b"  gone\n"
        yield b"directory", digest + b"  directory\n"
        yield b"short", digest[:-1] + b"  a\n" + good
        yield b"long", digest + b"00  a\n"
        yield b"garbage", b"x\ny\n" + good + b"z\n"
        yield b"one garbage", b"x\n" + good
        yield b"only garbage", b"x\n"
        yield b"nothing", b""
        yield b"only comments", b"#\n"
        yield b"standard input", digest + b"  -\n" + digest + b"  a\n"
        yield b"nul", digest + b"  a\0b\n" + digest + b"\0  a\n" + tag + b" (a\0) = " + digest + b"\n"
        yield b"escapes", (b"\\" + digest + b"  a\\x\n\\" + digest + b"  a\\\n\\" + digest
                           + b"  n\\\\x\n" + digest + b"  c\rr\n\\" + digest + b"  c\\rr\n")
        yield b"odd names", b"".join(digest + b"  " + n + b"\n" for n in (
            b"it's", b"caf\xc3\xa9", b"\xff\xfe", b"a b", b" ", b"b\\a", b"x:y"))

    OPTION_SETS = [[], ["-w"], ["--quiet"], ["--status"], ["--strict"], ["--ignore-missing"],
                   ["--strict", "-w"], ["--status", "-w"], ["-w", "--status"], ["--quiet", "-w"],
                   ["-w", "--quiet"], ["--status", "--quiet"], ["--quiet", "--status"],
                   ["--ignore-missing", "--status"], ["--ignore-missing", "--quiet", "--strict"]]

    def test_check(self):
        for program in SUMS:
            sets = self.OPTION_SETS if program in ("md5sum", "b2sum") else [[], ["-w"]]
            for name, content in self.lists(program):
                self.write(b"list", content)
                for options in sets:
                    with self.subTest(program=program, list=name, options=options):
                        self.same(program, "-c", *options, "list", merged=len(options) == 1)
                self.same(program, "-c", "-w", stdin=content)

    def test_check_in_utf8(self):
        for name, content in self.lists("md5sum"):
            self.write(b"list", content)
            self.same("md5sum", "-cw", "list", env={"LC_ALL": "C.UTF-8"})

    def test_check_several_lists(self):
        contents = dict(self.lists("md5sum"))
        for name in (b"good", b"reversed", b"only missing", b"only garbage"):
            self.write(b"list." + name.split()[-1], contents[name])
        names = ["list.good", "list.reversed", "list.missing", "list.garbage", "nowhere",
                 "directory", "list.good"]
        for options in ([], ["--ignore-missing"], ["--status"], ["--strict", "-w"]):
            self.same("md5sum", "-c", *options, *names, merged=True)
        self.same("md5sum", "-c", "list.good", "-", "list.good", stdin=contents[b"wrong"])
        self.same("md5sum", "-c", "new\nline", "it's")

    def test_check_many(self):
        names = [f"many/{i:03}" for i in range(300)]
        content = self.run_one("sha256sum" if "sha256sum" in SUMS else "md5sum", names, False,
                               False)[0]
        program = "sha256sum" if "sha256sum" in SUMS else "md5sum"
        lines = content.splitlines(keepends=True)
        lines[40] = b"garbage\n"
        lines[50] = lines[50][::-1][1:] + b"\n"
        lines[60] = lines[60].replace(b"many", b"gone")
        lines[70] = lines[70].replace(b"many/070", b"-")
        self.write(b"list", b"".join(lines))
        for threads in ("1", "2", "4"):
            self.same(program, "-cw", "list", env={"HOIST_THREADS": threads}, merged=True,
                      stdin=b"x")

    def test_cksum_check(self):
        # The original may need to run for releases that also know base64.
        taken = CLASSIC
        lines = b""
        for algorithm in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "blake2b", "sm3"):
            lines += self.run_one("cksum", ["-a", algorithm, "a", "b"], False, False)[0]
            lines += b"x\n"
        lines += self.run_one("cksum", ["-a", "blake2b", "-l", "128", "a"], False, False)[0]
        lines += b"MD5\nMD6 (a) = 00\nCRC (a) = 1\nMD5\t(a) = 0\nSHA1-8 (a) = 00\n"
        lines += self.run_one("md5sum", ["a"], False, False)[0]
        self.write(b"list", lines)
        for options in ([], ["-w"], ["--strict"], ["-a", "sha1"], ["-a", "blake2b", "-w"],
                        ["-a", "md5", "--untagged"], ["-a", "blake2b", "-l", "8"]):
            self.same("cksum", "-c", *options, "list", taken=taken)

    def test_cksum_lengths(self):
        # cksum takes a length after any tag, and untagged lines after it must have that length.
        name = b"n" * 40
        digest = self.run_one("sha1sum", ["a"], False, False)[0].split()[0]
        lines = (b"SHA1-8 (a) = 86", b"SHA1-16 (a) = 86f7", b"SHA1-16 (a) = 86f8",
                 b"SHA1x (a) = " + digest, b"SHA1  (a) = " + digest, b"SHA1-160 (a) = " + digest,
                 b"SHA1-168 (a) = " + digest + b"00", b"86f7  a", b"86f7  " + name, b"86f7 " + name,
                 digest + b"  a", b"SHA1 (a) = " + digest, b"SHA1 (a) = 86", b"SHA1-8", b"SHA1 (a)",
                 b"SHA1-8 (a", b"SHA1-8 (a) = x", b"SHA1x(", b"SHA1-9 (a) = 86")
        source = random.Random(SEED)
        for _ in range(60):
            content = b"\n".join(source.choices(lines, k=source.randrange(1, 6)))
            for options in ([], ["-a", "sha1"]):
                self.same("cksum", "-cw", *options, taken=CLASSIC, stdin=content)

    def test_blake2b_lines(self):
        digest = {n: self.run_one("b2sum", ["-l", str(n), "a"], False, False)[0].split()[0]
                  for n in (8, 16, 128, 512)}
        small, full = digest[8], digest[512]
        for line in (small + b"  a", small + b" a", small + b" ", small, small + b"  ", b"d  a",
                     b"de0  a", full + b"de  a", digest[128] + b"  a",
                     b"BLAKE2b-8 (a) = " + small, b"BLAKE2b-8(a)= " + small,
                     b"BLAKE2b-16 (a) = " + small, b"BLAKE2b-9 (a) = " + small,
                     b"BLAKE2b-0 (a) = " + small, b"BLAKE2b-520 (a) = " + full,
                     b"BLAKE2b-010 (a) = " + small, b"BLAKE2b-0x8 (a) = " + small,
                     b"BLAKE2b- 8 (a) = " + small, b"BLAKE2b-+8 (a) = " + small,
                     b"BLAKE2b--8 (a) = " + small, b"BLAKE2b-8x (a) = " + small,
                     b"BLAKE2b-8  (a) = " + small, b"BLAKE2b-99999999999999999999 (a) = " + small,
                     b"BLAKE2bx (a) = " + full, b"BLAKE2bxx (a) = " + full, b"BLAKE2b(a) = " + full,
                     b"BLAKE2b((a) = " + full, b"BLAKE2b  (a) = " + full, b"BLAKE2b", b"BLAKE2b-8(",
                     b"BLAKE2b-8 (a)", b"BLAKE2b-8 (a) =", b"BLAKE2b-8 () = " + small):
            self.same("b2sum", "-cw", stdin=line + b"\n")

    # Chance.

    def random_list(self, source, program):
        lines = []
        for _ in range(source.randrange(0, 6)):
            args = ["--tag"] if source.random() < 0.4 else source.choice([[], ["-b"]])
            name = source.choice(["a", "b", "empty", "new\nline", "back\\slash", "it's"])
            lines.append(self.run_one(program, args + [name], False, False)[0])
        content = bytearray(b"".join(lines))
        for _ in range(source.choice([0, 0, 1, 1, 2, 4])):
            at = source.randrange(len(content) + 1)
            piece = source.choice([b" ", b"  ", b"\t", b"\n", b"\r\n", b"\\", b"(", b")", b"=", b"#",
                                   b"*", b"0", b"x", b"\0", b"-", b"-8", TAGS[program], b"\xff"])
            if source.random() < 0.5:
                content[at:at] = piece
            else:
                del content[at:at + source.randrange(1, 4)]
        return bytes(content)

    def test_random_command_lines(self):
        print(f"seed {SEED}, {RUNS} random command lines", file=sys.stderr)
        names = ["a", "b", "empty", "new\nline", "back\\slash", "it's", "missing", "directory", "-",
                 "caf\u00e9", "one kilobyte", "carriage\rreturn", "./-dash", "list", "list2"]
        options = ["-b", "-t", "-z", "--tag", "--zero", "--bin", "--te", "-bz", "--", "-w", "-c",
                   "--quiet", "--status", "--strict", "--ignore-missing", "--warn", "--check"]
        for run in range(RUNS):
            source = random.Random(SEED * 100003 + run)
            program = source.choice(SUMS + ["cksum"])
            known = [o for o in options]
            if program == "b2sum":
                known += ["-l8", "--length=256", "-l", "7"]
            if program == "cksum":
                known += ["-amd5", "--untagged", "--algorithm=sysv", "-a", "sm3", "bsd", "-l8"]
            for name in (b"list", b"list2"):
                lister = program if program in SUMS else source.choice(SUMS)
                self.write(name, self.random_list(source, lister))
            args = source.choices(known, k=source.choice([0, 0, 1, 1, 2, 3]))
            if source.random() < 0.5:
                args += ["-c"] + source.choices(["-w", "--strict", "--quiet", "--ignore-missing"],
                                                k=source.randrange(0, 3))
                args += source.choices(["list", "list2", "-"], k=source.randrange(1, 3))
            args += source.choices(names, k=source.choice([0, 1, 1, 2, 5]))
            source.shuffle(args)
            stdin = self.random_list(source, source.choice(SUMS))
            with self.subTest(run=run):
                self.same(program, *args, taken=False, stdin=stdin,
                          merged=source.random() < 0.5,
                          env={"LC_ALL": source.choice(["C", "C.UTF-8"])})


if __name__ == "__main__":
    unittest.main(verbosity=2)
