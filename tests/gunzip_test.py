"""Runs hoist-gunzip and the real gzip on the same inputs and compares everything that can be seen:
standard output, messages, exit status, and the files that are left, with mode and times."""

import gzip
import os
import random
import resource
import shutil
import signal
import stat
import subprocess
import tempfile
import unittest
import zlib

import gunzip_streams as streams

ENGINE = os.path.join(os.environ["HOIST_BUILD_DIR"], "libexec/hoist/hoist-gunzip")
ORIGINAL = shutil.which("gzip")
SEED = int(os.environ.get("HOIST_TEST_SEED", random.randrange(1 << 32)))
CASES = int(os.environ.get("HOIST_TEST_CASES", 200))
TEXT = b"".join(b"%d of a few lines that compress\n" % i for i in range(2000))


def snapshot(root):
    """What is below `root`: path -> type, mode, time, content."""
    found = {}
    for directory, names, files in os.walk(root):
        for name in names + files:
            path = os.path.join(directory, name)
            info = os.lstat(path)
            entry = [stat.filemode(info.st_mode), info.st_nlink, info.st_uid, info.st_gid]
            if stat.S_ISREG(info.st_mode):
                with open(path, "rb") as file:
                    entry += [file.read(), info.st_mtime_ns]
            elif stat.S_ISLNK(info.st_mode):
                entry.append(os.readlink(path))
            found[os.path.relpath(path, root)] = entry
    return found


def write(path, data, mode=0o644, mtime=1_600_000_000_123_456_789):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.chmod(path, mode)
    os.utime(path, ns=(mtime + 5, mtime))


class Comparison(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="hoist-gunzip-")
        self.addCleanup(shutil.rmtree, self.root, ignore_errors=True)
        # Shows up wherever the engine leaves work to the original that it should do itself.
        self.stepped_aside = os.path.join(self.root, "stepped-aside")
        write(self.stepped_aside, b"#!/bin/sh\necho stepped aside >&2\nexit 99\n", 0o755)

    def run_one(self, place, engine, arguments, native, name="gzip", stdin=b"", stdout=None,
                environment=None, prepare=None, closed=()):
        """(stdout, stderr, status) in directory `place`. `stdin` is bytes for a pipe or a path."""
        env = {k: v for k, v in os.environ.items() if k != "GZIP"}
        env.update(environment or {})
        if engine:
            original = self.stepped_aside if native else ORIGINAL
            env["HOIST_TAKEOVER"] = f"gzip:gzip:1.12:{original}"

        def in_child():
            for fd in closed:
                os.close(fd)
            if prepare:
                prepare()

        source = open(os.path.join(place, stdin), "rb") if isinstance(stdin, str) else None
        sink = open(stdout, "wb") if stdout else subprocess.PIPE
        try:
            process = subprocess.Popen(
                [name] + arguments, executable=ENGINE if engine else ORIGINAL, cwd=place, env=env,
                stdin=source or subprocess.PIPE, stdout=sink, stderr=subprocess.PIPE,
                preexec_fn=in_child if closed or prepare else None)
            out, err = process.communicate(None if source else stdin)
            return out, err, process.returncode
        finally:
            if source:
                source.close()
            if stdout:
                sink.close()

    def compare(self, arguments, files=None, native=True, note="", **how):
        """`files`: path -> content, or a function that fills a directory."""
        results = []
        for engine in (False, True):
            place = os.path.join(self.root, "here")
            shutil.rmtree(place, ignore_errors=True)
            os.mkdir(place)
            if callable(files):
                files(place)
            else:
                for path, data in (files or {}).items():
                    write(os.path.join(place, path), data)
            result = self.run_one(place, engine, arguments, native, **how)
            results.append((result, snapshot(place)))
        (want, want_files), (got, got_files) = results
        where = f"{arguments} {note} (seed {SEED})"
        self.assertEqual(got[1:], want[1:], where)
        if got[0] != want[0]:
            self.fail(f"{where}: output of {len(got[0])} bytes, not the {len(want[0])} expected")
        self.assertEqual(got_files, want_files, where)
        return want


class Options(Comparison):
    PACKED = gzip.compress(TEXT, mtime=1_000_000_000)

    def odd_inputs(self):
        packed = self.PACKED
        small = gzip.compress(b"small\n")
        return {
            "plain.gz": packed,
            "two.gz": packed + small,
            "three.gz": small + gzip.compress(b"") + packed,
            "zeros.gz": packed + bytes(1000),
            "garbage.gz": packed + b"garbage",
            "zeros-garbage.gz": packed + bytes(10) + b"x",
            "one-byte-more.gz": packed + b"x",
            "one-zero-more.gz": packed + b"\0",
            "half-magic.gz": packed + b"\x1f",
            "bare-magic.gz": packed + b"\x1f\x8b",
            "crc.gz": packed[:-8] + b"abcd" + packed[-4:],
            "length.gz": packed[:-4] + b"abcd",
            "both.gz": packed[:-8] + b"abcdabcd",
            "crc-two.gz": packed[:-8] + b"abcd" + packed[-4:] + small,
            "no-trailer.gz": packed[:-8],
            "half-trailer.gz": packed[:-3],
            "truncated.gz": packed[: len(packed) // 2],
            "header-only.gz": packed[:10],
            "half-header.gz": packed[:7],
            "empty.gz": b"",
            "one.gz": b"x",
            "zero.gz": b"\0",
            "text.gz": b"not compressed at all\n",
            "method.gz": b"\x1f\x8b\x07" + packed[3:],
            "method-only.gz": b"\x1f\x8b\x07",
            "encrypted.gz": b"\x1f\x8b\x08\x20" + packed[4:],
            "reserved.gz": b"\x1f\x8b\x08\xc1" + packed[4:],
            "two-method.gz": packed + b"\x1f\x8b\x07" + small[3:],
            "two-reserved.gz": packed + b"\x1f\x8b\x08\x80" + small[4:],
            "old.gz": b"\x1f\x9e" + packed[2:],
            "violated.gz": packed[:40] + b"\xff" * 40 + packed[80:],
            "extra.gz": streams.member(TEXT, extra=b"abcde", name=b"nm", comment=b"say"),
            "header-crc.gz": streams.member(TEXT, header_crc=True, name=b"other"),
            "bad-header-crc.gz": streams.member(TEXT, header_crc=0x1234),
            "two-extra.gz": packed + streams.member(b"x", extra=bytes(300), header_crc=True),
            "named.gz": streams.member(TEXT, name=b"a/b/stored", mtime=1_100_000_000),
            "stamp.gz": streams.member(TEXT, mtime=0xFFFFFFFF),
            "stored.gz": streams.member(os.urandom(100) * 3, level=0),
            "many.gz": small * 3000,
        }

    def test_odd_inputs(self):
        for options in ("-cd", "-d", "-dkv", "-t", "-tv", "-l", "-lv", "-dfN", "-cdfv", "-cdN",
                        "-lN", "-dq", "-tf", "-lf", "-cdv"):
            for name, data in self.odd_inputs().items():
                self.compare([options, name], {name: data})

    def test_several_operands(self):
        files = self.odd_inputs()
        for options in ("-cd", "-dv", "-t", "-tv", "-l", "-lv", "-ql", "-lvN", "-dfq"):
            for bad in ("crc.gz", "garbage.gz", "text.gz", "violated.gz", "method.gz", "missing",
                        "zeros.gz", "empty.gz", "two-reserved.gz"):
                self.compare([options, "plain.gz", bad, "two.gz"],
                             {k: files[k] for k in {"plain.gz", bad, "two.gz"} & set(files)})

    def test_standard_input(self):
        for name, data in self.odd_inputs().items():
            native = name not in ("empty.gz", "one.gz", "zero.gz", "text.gz")
            for options in ("-cd", "-d", "-t", "-dv", "-tv", "-cdf"):
                self.compare([options], native=native, stdin=data, note=name)
            for options in ("-d", "-l", "-lv", "-lN"):
                self.compare([options], {name: data}, native=native, stdin=name)
        self.compare(["-dv", "a.gz", "-", "b.gz"], {"a.gz": self.PACKED, "b.gz": self.PACKED},
                     stdin=self.PACKED)
        self.compare(["-d", "-", "a.gz", "-"], {"a.gz": self.PACKED}, native=False,
                     stdin=self.PACKED)

    def test_programs_and_spellings(self):
        files = {"a.gz": self.PACKED}
        for name in ("gunzip", "zcat", "/x/y/gz.exe", "x/"):  # gzip does not care
            self.compare(["-dv", "a.gz", "missing"], files, name=name)
            self.compare(["a.gz"], files, name=name, native=False)
        for arguments in (["--decompress", "a.gz"], ["--uncomp", "--stdout", "a.gz"],
                          ["--to-stdout", "-d", "a.gz"], ["a.gz", "-d", "--keep"], ["-dk9", "a.gz"],
                          ["-d", "--", "a.gz"], ["-dS", ".gz", "a.gz"], ["--test", "-v", "a.gz"],
                          ["-d", "--suffix=.gz", "--quiet", "--force", "a.gz"], ["-dvq", "a.gz"],
                          ["-dqv", "a.gz"], ["-dnN", "a.gz"], ["-dNn", "a.gz"], ["-ckdv", "a.gz"]):
            self.compare(arguments, files)

    def test_left_to_the_original(self):
        files = {"a.gz": self.PACKED, "b": TEXT}
        for arguments in (["-h"], ["--version"], ["-k", "b"], ["-d", "--nonsense", "a.gz"],
                          ["-dkvv", "a.gz"], ["-dS", "", "a.gz"], ["-dS", "x" * 40, "a.gz"],
                          ["-dff", "a.gz"], ["-dL"], ["-db", "9", "a.gz"], ["-dS", "/x", "a.gz"],
                          ["-d", "--synchronous", "a.gz"], ["-da", "a.gz"], ["-d", "--s", "a.gz"]):
            if arguments != ["-k", "b"]:
                self.compare(arguments, files, native=False)
        self.compare(["-v", "a.gz"], files, native=False, environment={"GZIP": "-dk"})
        self.compare(["-d"], native=False, stdin="/dev/null")
        self.compare(["-d"], native=False, closed=(0,))

    def test_other_formats(self):
        lzw = bytes.fromhex("1f9d9061c40c")  # `printf abc | compress`, cut short or not
        pack = b"\x1f\x1e" + bytes(30)
        zipped = b"PK\x03\x04" + bytes(40)
        plain = self.PACKED
        large = gzip.compress(random.Random(1).randbytes(1 << 21))
        for other in (lzw, lzw[:4], pack, zipped, b"\x1f\xa0" + bytes(20)):
            for options in ("-cd", "-dv", "-t", "-tv", "-l", "-cdf", "-dfq"):
                for data in (other, plain + other, large + other):
                    self.compare([options, "a.gz"], {"a.gz": data}, native=False)
                    if options in ("-cd", "-t", "-cdf"):
                        self.compare([options], native=False, stdin=data)
                        self.compare([options], {"a.gz": data}, native=False, stdin="a.gz")
                files = {"a.gz": plain, "b.gz": other, "c.gz": plain}
                self.compare([options, "a.gz", "b.gz", "c.gz"], files, native=False)
                self.compare([options, "-", "b.gz"], files, native=False, stdin="a.gz")

    def test_timings_are_of_whole_runs(self):
        cache = os.path.join(self.root, "cache")
        os.makedirs(os.path.join(cache, "hoist"), mode=0o700)
        write(os.path.join(cache, "hoist/profile.json"), b"{}")
        timings = os.path.join(cache, "hoist/timings")
        files = {"a.gz": self.PACKED, "b.gz": b"\x1f\x1e" + bytes(30)}
        for arguments, native, expected in ((["-dc", "a.gz"], True, 1), (["-l", "a.gz"], True, 1),
                                            (["-dc", "a.gz", "b.gz"], False, 1),
                                            (["-t", "a.gz", "a.gz"], True, 2)):
            self.compare(arguments, files, native=native, environment={"XDG_CACHE_HOME": cache})
            with open(timings, "rb") as file:
                self.assertEqual(file.read().count(b"gunzip/gzip"), expected, arguments)

    def test_fails_to_write(self):
        files = {"a.gz": self.PACKED, "big.gz": gzip.compress(TEXT * 100)}
        for options in ("-cd", "-cdv", "-l", "-cdq"):
            for name in files:
                self.compare([options, name], files, stdout="/dev/full")
        self.compare(["-t", "a.gz"], files, stdout="/dev/full")
        for closed in ((0,), (1,), (2,), (0, 1, 2)):
            for arguments in (["-cd", "a.gz"], ["-d", "a.gz"], ["-l", "a.gz"], ["-t", "a.gz"]):
                self.compare(arguments, files, native=False, closed=closed)

    def test_pipe_that_nobody_reads(self):
        data = gzip.compress(random.Random(2).randbytes(1 << 20))
        for handler in (signal.SIG_DFL, signal.SIG_IGN):
            results = []
            for engine in (False, True):
                read_end, write_end = os.pipe()
                os.close(read_end)
                env = dict(os.environ, HOIST_TAKEOVER=f"gzip:gzip:1.12:{self.stepped_aside}")
                process = subprocess.Popen(
                    ["gzip", "-cd"], executable=ENGINE if engine else ORIGINAL, env=env,
                    stdin=subprocess.PIPE, stdout=write_end, stderr=subprocess.PIPE,
                    preexec_fn=lambda: signal.signal(signal.SIGPIPE, handler))
                os.close(write_end)
                _, err = process.communicate(data)
                results.append((err, process.returncode))
            self.assertEqual(results[1], results[0])


class Names(Comparison):
    PACKED = gzip.compress(TEXT, mtime=0)

    def test_suffixes(self):
        names = ["a.gz", "a.tgz", "a.taz", "a-gz", "a-z", "a_z", "a.Z", "a.z", "A.GZ", "A.TGZ",
                 "a.tAz", "a.foo", "a.tar.gz", "a.gz.gz", "a", ".gz", "d/.gz", "_z", "d/a.gz",
                 "a.FOO", "x" * 100 + ".gz"]
        for name in names:
            for options in (["-dv"], ["-d"], ["-dq"], ["-cd"], ["-t"], ["-l"], ["-rt"], ["-rtv"],
                            ["-dS", ".foo"], ["-dvS", "foo"], ["-dS", ".z"]):
                self.compare(options + [name], {name: self.PACKED})

    def test_missing_suffix_is_tried(self):
        for present in ("a.gz", "a.z", "a-z", "a.Z", "a.foo", "a_z", "a-gz", "a.tgz"):
            for options in (["-dv"], ["-cd"], ["-dS", ".foo"], ["-l"]):
                self.compare(options + ["a"], {present: self.PACKED})
        for operand in ("a", "a.gz", "a.tgz", "", "d/a", "a/", "d/"):
            for options in (["-d"], ["-cd"], ["-tS", ".foo"], ["-l"]):
                self.compare(options + [operand], {"b": b""})

    def test_stored_names(self):
        for name in (b"plain", b"../up", b"a/b/c", b"/abs", b"new\nline", b"\xff\xfe", b"-dash",
                     b"x" * 200, b"a.gz"):
            data = streams.member(TEXT, name=name, mtime=1_000_000_000)
            for options in ("-dN", "-dkNv", "-lN", "-lvN", "-cdN", "-dNn"):
                self.compare([options, "d/a.gz"], {"d/a.gz": data})
                self.compare([options, "a.gz"], {"a.gz": data})
        for name in (b"", b".", b"..", b"/", b"a/", b"dir/..", b"x" * 300, b"y" * 2000):
            data = streams.member(TEXT, name=name, mtime=1_000_000_000)
            for options in ("-dN", "-dkNf", "-lN", "-cdN", "-tN"):
                self.compare([options, "a.gz"], {"a.gz": data}, native=False)
                self.compare([options, "b.gz", "a.gz", "c.gz"], native=False,
                             files={"a.gz": data, "b.gz": self.PACKED, "c.gz": self.PACKED})

    def test_existing_output(self):
        for options in ("-d", "-dk", "-df", "-dq", "-dv", "-dfkv"):
            files = {"a.gz": self.PACKED, "a": b"old", "b.gz": self.PACKED}
            self.compare([options, "a.gz", "b.gz"], files)

            def directory(place):
                write(os.path.join(place, "a.gz"), self.PACKED)
                os.mkdir(os.path.join(place, "a"))
            self.compare([options, "a.gz"], directory)


class Files(Comparison):
    PACKED = gzip.compress(TEXT, mtime=0)

    def test_modes_and_links(self):
        for mode in (0o600, 0o444, 0o777, 0o4644, 0o2644, 0o1644, 0o6755, 0o640):
            for options in ("-d", "-dk", "-df", "-dq", "-cd"):
                self.compare([options, "a.gz"],
                             lambda place: write(os.path.join(place, "a.gz"), self.PACKED, mode))

        def links(place):
            target = os.path.join(place, "a.gz")
            write(target, self.PACKED)
            os.link(target, os.path.join(place, "hard.gz"))
            os.link(target, os.path.join(place, "harder.gz"))
            os.symlink("a.gz", os.path.join(place, "soft.gz"))
            os.symlink("nowhere", os.path.join(place, "dangling.gz"))
            os.symlink("loop.gz", os.path.join(place, "loop.gz"))
        for options in ("-dk", "-dfk", "-d", "-df", "-cd", "-dq", "-t", "-l"):
            for name in ("hard.gz", "soft.gz", "dangling.gz", "loop.gz", "loop"):
                self.compare([options, name], links)

    def test_special_files(self):
        def special(place):
            os.mkdir(os.path.join(place, "d"))
            os.mkfifo(os.path.join(place, "f.gz"))
        for options in ("-d", "-cd", "-t", "-l", "-dq", "-dv"):
            self.compare([options, "d"], special)
            self.compare([options, "/dev/null"], special, native=False)
        self.compare(["-d", "f.gz"], special)

    def test_unreadable(self):
        if os.geteuid() == 0:
            self.skipTest("root reads everything")

        def unreadable(place):
            write(os.path.join(place, "a.gz"), self.PACKED, 0)
        for options in ("-d", "-cd", "-dq"):
            self.compare([options, "a.gz"], unreadable)

    @unittest.skipIf(os.environ.get("HOIST_COVERAGE") == "ON", "others cannot write the counts")
    def test_not_root(self):
        if os.geteuid() != 0:
            self.skipTest("only root can become somebody else")

        def become_nobody():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)

        def theirs(place):
            os.chmod(place, 0o1777)
            write(os.path.join(place, "a.gz"), self.PACKED, 0o644)
            write(os.path.join(place, "b.gz"), self.PACKED, 0o664)
            os.chown(os.path.join(place, "b.gz"), 65534, 0)
            write(os.path.join(place, "secret.gz"), self.PACKED, 0)
            write(os.path.join(place, "d/a.gz"), self.PACKED, 0o644)
        os.chmod(self.root, 0o755)
        for options in ("-d", "-dk", "-dv", "-dq", "-cd"):
            for name in ("a.gz", "b.gz", "secret.gz", "d/a.gz"):
                self.compare([options, name], theirs, prepare=become_nobody)

    def test_trees(self):
        def tree(place):
            for name in ("a.gz", "b.gz", "sub/c.gz", "sub/deep/d.tgz", "other.txt", "z.gz"):
                write(os.path.join(place, "t", name), self.PACKED)
            os.mkdir(os.path.join(place, "t/empty"))
            os.symlink("a.gz", os.path.join(place, "t/link.gz"))
            os.symlink("sub", os.path.join(place, "t/sublink"))
        # The order is that of the directory, which may differ from one copy to the next: one copy.
        for options in ("-rt", "-rtv", "-rcd", "-rl", "-rlv", "-rdkv", "-rdkf", "-rdkq", "-rdkN"):
            for operands in (["t"], ["t/"], ["t/sub", "t/other.txt"]):
                results = []
                place = os.path.join(self.root, "here")
                shutil.rmtree(place, ignore_errors=True)
                os.mkdir(place)
                tree(place)
                before = snapshot(place)
                for engine in (False, True):
                    result = self.run_one(place, engine, [options] + operands, True)
                    after = snapshot(place)
                    results.append((result, after))
                    for name in sorted(set(after) - set(before)):
                        os.remove(os.path.join(place, name))
                self.assertEqual(results[1], results[0], (options, operands))
        self.compare(["-rd", "t"], tree)

    def test_shared_offset(self):
        # Whoever reads the same file after us goes on where gzip would have left it.
        data = self.PACKED + b"garbage" * 200_000
        path = os.path.join(self.root, "data")
        write(path, data)
        offsets = []
        for engine in (False, True):
            with open(path, "rb") as file:
                env = dict(os.environ, HOIST_TAKEOVER=f"gzip:gzip:1.12:{self.stepped_aside}")
                subprocess.run(["gzip", "-cd"], executable=ENGINE if engine else ORIGINAL,
                               stdin=file, env=env, capture_output=True, check=False)
                offsets.append(os.lseek(file.fileno(), 0, os.SEEK_CUR))
        self.assertEqual(offsets[1], offsets[0])

    def test_interrupt_removes_partial_file(self):
        # An endless stream of members through a FIFO that stands in for a large file will not do:
        # only regular files are decompressed in place. A large one, stopped once output is there.
        block = gzip.compress(bytes(64 << 20), 1)
        path = os.path.join(self.root, "big.gz")
        env = dict(os.environ, HOIST_TAKEOVER=f"gzip:gzip:1.12:{self.stepped_aside}")

        def interrupted(number):
            write(path, block * 24)
            # A shell that runs tests in the background may have them ignore SIGINT.
            process = subprocess.Popen(["gzip", "-d", path], executable=ENGINE, env=env,
                                       preexec_fn=lambda: signal.signal(signal.SIGINT,
                                                                        signal.SIG_DFL))
            while process.poll() is None and not os.path.exists(path[:-3]):
                pass
            process.send_signal(number)
            return process.wait()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            for _ in range(5):
                ended = interrupted(number)
                if ended != 0:  # else it was done before the signal came
                    break
                os.remove(path[:-3])
            self.assertEqual(ended, -number)
            self.assertFalse(os.path.exists(path[:-3]))
            self.assertTrue(os.path.exists(path))


class Streams(Comparison):
    """Valid and broken streams: accepted or rejected alike, and the same bytes come out first."""

    def check(self, data, note):
        self.compare(["-cd"], stdin=data, note=note)

    @unittest.skipIf(os.environ.get("HOIST_SANITIZE"), "sanitizers need address space")
    def test_no_room_for_a_thread(self):
        def limit():  # a stack larger than the address space: no thread can be started
            resource.setrlimit(resource.RLIMIT_STACK, (1 << 30, 1 << 30))
            resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20))

        self.compare(["-cd"], stdin=gzip.compress(bytes(3 << 20)), prepare=limit)

    def test_sizes(self):
        generator = random.Random(SEED)
        around = [0, 1, 2, 257, 258, 259, 32767, 32768, 32769, 65535, 65536, 262143, 262144, 262145,
                  294911, 294912, 524288, 786431, 1048577, 3 << 20]
        for size in around:
            noise = generator.randbytes(size)
            text = (TEXT * (size // len(TEXT) + 1))[:size]
            self.check(streams.member(noise, level=0), f"stored {size}")
            self.check(streams.member(noise, level=6), f"noise {size}")
            self.check(streams.member(text, level=9), f"text {size}")
            self.check(streams.member(bytes(size)), f"zeros {size}")

    def test_input_block_edges(self):
        # Members whose ends fall on every position around the end of gzip's input block.
        for delta in range(-20, 21):
            first = streams.member(b"", comment=b"c" * ((256 << 10) - 1000 + delta))
            self.check(first + streams.member(TEXT * 3) * 3, f"edge {delta}")

    def test_truncated(self):
        generator = random.Random(SEED + 1)
        data = streams.member(TEXT[:3000] + generator.randbytes(40_000) + TEXT * 2, level=6)
        cuts = list(range(0, 60)) + list(range(len(data) - 40, len(data)))
        cuts += [generator.randrange(len(data)) for _ in range(CASES)]
        for cut in cuts:
            self.check(data[:cut] if cut >= 2 else b"\x1f\x8b", f"cut at {cut}")

    def test_truncated_small_blocks(self):
        generator = random.Random(SEED + 2)
        for case in range(CASES):
            data = streams.random_member(generator)
            self.check(data[: generator.randrange(2, len(data))], f"case {case}")

    def test_mutated(self):
        generator = random.Random(SEED + 3)
        bases = [streams.member(TEXT + generator.randbytes(2000), level=level)
                 for level in (1, 6, 9)]
        bases += [streams.member(TEXT[:5000], strategy=zlib.Z_FIXED),
                  streams.member(TEXT[:20000], strategy=zlib.Z_HUFFMAN_ONLY),
                  streams.member(TEXT) * 3]
        for case in range(CASES):
            data = bytearray(generator.choice(bases))
            for _ in range(generator.randrange(1, 4)):
                limit = len(data) if generator.random() < 0.5 else 150
                data[generator.randrange(2, limit)] = generator.randrange(256)
            self.check(bytes(data), f"case {case}")

    def test_odd_codes(self):
        # Codes that are incomplete, oversubscribed, empty, without an end; distances that reach
        # before the member; repetitions of nothing.
        generator = random.Random(SEED + 4)
        for case in range(2 * CASES):
            data = b"".join(streams.random_member(generator)
                            for _ in range(generator.randrange(1, 3)))
            self.check(data, f"case {case}")

    def test_earlier_windows(self):
        # What a match finds that reaches before the member: earlier members' bytes, or zeros.
        generator = random.Random(SEED + 5)
        for case in range(20):
            first = streams.member(generator.randbytes(generator.randrange(0, 70_000)))
            far = streams.far_match_member(generator)
            self.check(first + far, f"case {case}")
            self.compare(["-cd", "a.gz", "b.gz"], {"a.gz": first, "b.gz": far})


if __name__ == "__main__":
    print(f"seed {SEED}", flush=True)
    if ORIGINAL is None or b"gzip 1.12" not in subprocess.run(
            [ORIGINAL, "--version"], capture_output=True, check=True).stdout:
        print("needs gzip 1.12")
        raise SystemExit(77)
    unittest.main()
