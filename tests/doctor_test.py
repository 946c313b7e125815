#!/usr/bin/env python3
"""Black-box tests of the commands beside `hoist run`: doctor, options, learn-program, top, and the
engines as commands."""

import fcntl
import json
import mmap
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import unittest

from hoist_tree import (BUILD, HOIST, OPERATIONS, Scratch, build_id_offset, copy_with_build_id,
                        engine_is_built, environment, run)

SORT = shutil.which("sort")
PROGRAMS = ("sort", "md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum",
            "b2sum", "cksum", "gzip")


def setUpModule():
    global SCRATCH, TREE
    SCRATCH = Scratch()
    TREE = SCRATCH.tree("tree")


def tearDownModule():
    SCRATCH.close()


def features(hoist=HOIST, **changes):
    done = run(hoist, "doctor", "--json", env=environment(**changes))
    assert done.returncode == 0, done
    return {entry["name"]: entry for entry in json.loads(done.stdout)["features"]}

# A driver that answers as FAKE_… say: what cuInit returns, its version, and its devices' names.
FAKE_DRIVER = r"""
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
static int number(const char* name, int otherwise) {
  const char* text = getenv(name);
  return text != NULL ? atoi(text) : otherwise;
}
int cuInit(unsigned flags) { return number("FAKE_INIT", 0); }
int cuDriverGetVersion(int* version) { return *version = number("FAKE_VERSION", 13000), 0; }
int cuDeviceGetCount(int* count) { return *count = number("FAKE_COUNT", 0), 0; }
int cuDeviceGet(int* device, int index) { return *device = 40 + index, 0; }
int cuDeviceGetName(char* name, int size, int device) {
  return strncpy(name, device == 40 ? "NVIDIA X" : "NVIDIA X MIG 1g.18gb", (size_t)size), 0;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) { return *bytes = (size_t)18 << 30, 0; }
int cuDeviceGetAttribute(int* value, int attribute, int device) {
  return *value = attribute == 20 ? number("FAKE_MODE", 0) : attribute, 0;
}
int cuDeviceGetPCIBusId(char* id, int size, int device) {
  return strncpy(id, "0000:7F:00.0", (size_t)size), 0;
}
int cuDeviceCanAccessPeer(int* can, int device, int peer) { return *can = device < peer, 0; }
"""


@unittest.skipUnless(shutil.which("gcc"), "needs gcc")
class CudaDriver(unittest.TestCase):
    """What is said of drivers and devices that this machine has not."""

    @classmethod
    def setUpClass(cls):
        cls.folder = SCRATCH.path / "driver"
        cls.folder.mkdir()
        cls.compile(FAKE_DRIVER, cls.folder / "libcuda.so.1")

    @staticmethod
    def compile(source, library):
        subprocess.run(["gcc", "-shared", "-fPIC", "-xc", "-", "-o", library], check=True,
                       input=source.encode())

    def ask(self, folder=None, **changes):
        """(the CUDA devices, why there is no CUDA)"""
        done = run(HOIST, "doctor", "--json",
                   env=environment(LD_LIBRARY_PATH=str(folder or self.folder), **changes))
        self.assertEqual(done.returncode, 0, done)
        report = json.loads(done.stdout)
        cuda = {entry["name"]: entry for entry in report["features"]}["cuda"]
        self.assertFalse(cuda["on"])
        return [one for one in report["devices"] if one["kind"] == "cuda"], cuda["why"]

    def test_a_driver_that_has_nothing_says_why(self):
        for changes, why in (
                ({}, "the driver sees no device"),
                ({"FAKE_INIT": "100", "CUDA_VISIBLE_DEVICES": ""}, "CUDA_VISIBLE_DEVICES= hides"),
                ({"FAKE_INIT": "803"}, "of different versions: restart the machine"),
                ({"FAKE_INIT": "999"}, "error 999 to cuInit: does `nvidia-smi` work?")):
            with self.subTest(changes):
                devices, reason = self.ask(**changes)
                self.assertEqual([one["present"] for one in devices], [False])
                self.assertIn(why, devices[0]["why"])
                self.assertIn(why, reason)

    def test_a_library_that_is_no_driver(self):
        folder = SCRATCH.path / "no-driver"
        folder.mkdir()
        self.compile("int cuInit(unsigned flags) { return 0; }", folder / "libcuda.so.1")
        self.assertIn("not a CUDA driver", self.ask(folder)[1])

    @unittest.skipUnless((BUILD / "lib/libhoist_cuda.so").exists(), "built without CUDA")
    def test_a_private_hoistd_takes_no_gpu_that_is_for_one_process(self):
        done = run(BUILD / "bin/hoistd", "--device", "cuda", "--idle-timeout", "1",
                   "--socket", SCRATCH.path / "hoistd",
                   env=environment(LD_LIBRARY_PATH=str(self.folder), FAKE_COUNT="1", FAKE_MODE="3"))
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn(b"cuda:0 is for one process at a time", done.stderr)

    def test_devices_slices_and_peers(self):
        devices, _ = self.ask(FAKE_COUNT="2", FAKE_VERSION="3000")
        self.assertEqual([one["name"] for one in devices], ["NVIDIA X", "NVIDIA X MIG 1g.18gb"])
        self.assertEqual([one["slice"] for one in devices], [False, True])
        self.assertEqual([one["peers"] for one in devices], [[1], []])
        self.assertEqual(devices[0]["memory"], 18 << 30)
        self.assertEqual(devices[0]["compute"], "75.76")
        self.assertEqual(devices[0]["pci"], "0000:7f:00.0")

    @unittest.skipUnless((BUILD / "lib/libhoist_cuda.so").exists(), "a build without CUDA")
    def test_a_driver_that_is_too_old(self):
        _, why = self.ask(FAKE_COUNT="1", FAKE_VERSION="11080")
        self.assertRegex(why, r"the driver knows CUDA 11\.8, this build needs \d+\.0: update it")


class Doctor(unittest.TestCase):
    def test_json(self):
        done = run(HOIST, "doctor", "--json")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        report = json.loads(done.stdout)
        self.assertEqual(list(report), ["version", "cpu", "memory", "devices", "features"])
        self.assertEqual(set(report["cpu"]), {"model", "cores", "usable", "quota", "isa"})
        self.assertGreaterEqual(report["cpu"]["cores"], report["cpu"]["usable"])
        self.assertGreater(report["memory"]["total"], report["memory"]["available"])
        self.assertEqual(report["devices"][0]["kind"], "cpu")
        for entry in report["features"]:
            self.assertEqual(set(entry), {"name", "on", "why"})
            self.assertIsInstance(entry["on"], bool)
            self.assertNotEqual(entry["why"], "")

    def test_text_names_every_feature(self):
        text = run(HOIST, "doctor").stdout.decode()
        for name in features():
            self.assertIn(f" {name} ", text)

    def test_everything_has_a_line(self):
        names = set(features())
        self.assertLessEqual({f"program {name}" for name in PROGRAMS}, names)
        self.assertLessEqual({f"engine {name}" for name in OPERATIONS}, names)
        self.assertLessEqual({"takeover", "preload", "counters", "locale", "profile", "hoistd",
                              "cuda"}, names)

    def test_what_is_off_says_why(self):
        self.assertRegex(features(HOIST="off")["takeover"]["why"], "HOIST=off")
        self.assertRegex(features(TREE / "bin/hoist", HOIST_OPS="-sort")["engine sort"]["why"],
                         "HOIST_OPS")
        self.assertRegex(features(LC_ALL="xx_YY.nowhere")["locale"]["why"], "not installed")
        self.assertEqual(features(PATH="/nowhere")["program sort"]["why"], "not in PATH")
        broken = SCRATCH.tree("broken", engines=())
        (broken / "lib/libhoist_preload.so").unlink()
        seen = features(broken / "bin/hoist")
        self.assertIs(seen["preload"]["on"], False)
        self.assertRegex(seen["engine hash"]["why"], "missing")

    def test_an_engine_is_on_only_if_it_works(self):
        for operation in OPERATIONS:
            if engine_is_built(operation):
                self.assertIs(features()[f"engine {operation}"]["on"], True, operation)
        seen = features(TREE / "bin/hoist")  # its engines are probes
        self.assertIs(seen["engine sort"]["on"], False)
        self.assertRegex(seen["engine sort"]["why"], "does not work: another answer")
        damaged = SCRATCH.tree("damaged")
        (damaged / "libexec/hoist/hoist-gunzip").write_bytes(b"\x7fELF")
        seen = features(damaged / "bin/hoist")["engine gunzip"]
        self.assertIs(seen["on"], False)
        self.assertRegex(seen["why"], "does not work")

    def test_threads(self):
        done = run(HOIST, "doctor", "--json", env=environment(HOIST_THREADS="1"))
        self.assertEqual(json.loads(done.stdout)["cpu"]["usable"], 1)


class Commands(unittest.TestCase):
    def test_version_and_help(self):
        self.assertRegex(run(HOIST, "--version").stdout, rb"^hoist \d+\.\d+\.\d+\n$")
        for command in ("", "run", "top", "options", "doctor", "learn-program"):
            done = run(HOIST, *command.split(), "--help")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertRegex(done.stdout, b"(?s)Usage: .*Examples?:")
            shown = run(HOIST, "help", *command.split()).stdout
            # Without a command it also lists the guides (tests/help_topics_test.py).
            self.assertEqual(shown if command else shown[:len(done.stdout)], done.stdout)
        self.assertRegex(run(HOIST, "run", "--help").stdout.decode(),
                         r"(?m)^Usage: hoist run .*-- PROGRAM ARGS")

    def test_options(self):
        done = run(HOIST, "options", "--json", env=environment(HOIST_THREADS="3"))
        table = {entry["env"]: entry for entry in json.loads(done.stdout)}
        self.assertEqual(table["HOIST_THREADS"]["value"], "3")
        self.assertLessEqual({"HOIST", "HOIST_OPS", "HOIST_LOG", "HOIST_STATS"}, set(table))
        for name, entry in table.items():
            self.assertNotIn(entry["description"], ("", "reserved, not used by this version"), name)
        text = run(HOIST, "options").stdout.decode()
        self.assertRegex(text, r"(?m)^Operations: sort hash gunzip \b.*\bqsort\b.*\bzstd\b")
        for name in table:
            self.assertIn(f"{name} ", text)

    def test_full_standard_output_is_an_error(self):
        for command in (["options"], ["doctor"], ["doctor", "--json"], ["top", "--once"]):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([HOIST, *command], stdout=full, stderr=subprocess.PIPE,
                                      env=environment(), check=False)
            self.assertEqual(done.returncode, 1, command)
            self.assertRegex(done.stderr, rb"^hoist: error: ")

    def test_top(self):
        done = run(HOIST, "top", "--once")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertRegex(done.stdout, rb"(?m)RUN +PID|^no counted program runs: `hoist run --stats ")
        self.assertEqual(run(HOIST, "top", "--interval", "0").returncode, 2)

    def test_top_shows_a_process_once(self):
        process = subprocess.Popen([HOIST, "run", "--stats", "--", "sh", "-c", "exec cat"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=environment())
        process.stdin.write(b"x")
        process.stdin.flush()
        process.stdout.read(1)
        text = run(HOIST, "top", "--once").stdout
        process.communicate()
        mine = [line.split() for line in text.splitlines()
                if line.split()[:1] == [b"%d" % process.pid]]
        self.assertEqual([words[-1] for words in mine], [b"cat"], text)

    def test_top_shows_the_rate_of_a_call_that_still_runs(self):
        process = subprocess.Popen([HOIST, "run", "--stats=/dev/null", "--", "cat"],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   env=environment())
        process.stdin.write(b"x")
        process.stdin.flush()
        process.stdout.read(1)
        path, = pathlib.Path(f"/dev/shm/hoist-{os.geteuid()}").glob(f"{process.pid}-*")
        with open(path, "r+b") as file, mmap.mmap(file.fileno(), 4096) as segment:
            # One operation, no finished call (src/base/counters_layout.h).
            segment[24:28] = struct.pack("<I", 1)
            segment[48:64] = b"running".ljust(16, b"\0")
            top = subprocess.Popen([HOIST, "top", "--interval", "0.05"], stdout=subprocess.PIPE,
                                   env=environment())
            seen = None
            for count in range(1, 2000):
                segment[72:80] = struct.pack("<Q", count * 1000000)
                line = top.stdout.readline().split()
                if line[:2] == [b"running", b"0"] and line[-1] not in (b"-", b"0.0"):
                    seen = float(line[-1])
                    break
        top.kill()
        top.communicate()
        process.communicate()
        self.assertGreater(seen, 0)

    def test_top_sweeps_what_killed_programs_left(self):
        directory = pathlib.Path(f"/dev/shm/hoist-{os.geteuid()}")
        process = subprocess.Popen([HOIST, "run", "--stats", "--", "cat"], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, env=environment())
        process.stdin.write(b"x")
        process.stdin.flush()
        process.stdout.read(1)
        process.kill()
        process.wait()
        left, = directory.glob(f"{process.pid}-*")
        runs = json.loads(run(HOIST, "top", "--once", "--json").stdout)["runs"]
        self.assertIn(process.pid, [entry["pid"] for entry in runs])  # cat still runs
        process.stdin.close()
        process.stdout.read()  # until cat is gone
        for _ in range(1000):  # it may still be a zombie that nobody has collected
            run(HOIST, "top", "--once")
            if not left.exists():
                break
        process.stdout.close()
        self.assertFalse(left.exists())

    def test_what_another_version_left_is_swept_unless_it_is_held(self):
        folder = pathlib.Path(f"/dev/shm/hoist-{os.geteuid()}")
        run(HOIST, "top", "--once")  # makes the folder
        left, held = folder / f"left-{os.getpid()}", folder / f"held-{os.getpid()}"
        left.write_bytes(b"\xff" * 4096)
        # Held before it is there: others sweep the folder meanwhile.
        elsewhere = pathlib.Path(f"/dev/shm/{held.name}")
        with open(elsewhere, "wb") as file:  # as by a process of another pid namespace
            fcntl.flock(file, fcntl.LOCK_SH)
            elsewhere.rename(held)
            self.assertEqual(run(HOIST, "top", "--once").returncode, 0)
            self.assertEqual((left.exists(), held.exists()), (False, True))
        run(HOIST, "top", "--once")
        self.assertFalse(held.exists())


class EngineCommands(unittest.TestCase):
    def probe(self, *words, **changes):
        return run(TREE / "bin/hoist", *words, env=environment(**changes))

    def test_arguments_are_the_engines(self):
        done = self.probe("sort", "--help", "-n", "--", "x")
        self.assertEqual(done.returncode, 42)
        self.assertEqual(done.stdout.decode().splitlines()[1:],
                         ["ARG sort", "ARG --help", "ARG -n", "ARG --", "ARG x"])

    def test_gunzip_and_zcat_are_what_their_scripts_are(self):
        for name, option in (("gunzip", "-d"), ("zcat", "-cd")):
            done = self.probe(name, "-k", "x.gz")
            self.assertEqual(done.stdout.decode().splitlines()[1:],
                             ["ARG gzip", f"ARG {option}", "ARG -k", "ARG x.gz"])
            if shutil.which(name):
                self.assertEqual(self.probe(name, "--version").stdout, run(name, "--version").stdout)

    def test_switched_off(self):
        for changes in ({"HOIST": "off"}, {"HOIST_OPS": "-sort"}):
            done = self.probe("sort", SCRATCH.small, **changes)
            self.assertEqual((done.returncode, done.stdout), (0, b"a\nb\n"))
        done = self.probe("sort", HOIST="off", PATH="/nowhere")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, rb"^hoist: error: .+ \(HOIST=off\): ")

    def test_missing_engine(self):
        empty = SCRATCH.tree("empty", engines=())
        done = run(empty / "bin/hoist", "sort", SCRATCH.small)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"a\nb\n", b""))

    @unittest.skipUnless(engine_is_built("sort"), "the sort engine is not built")
    def test_the_real_engine(self):
        plain = run("sort", "-n", SCRATCH.big)
        done = run(HOIST, "sort", "-n", SCRATCH.big)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (plain.returncode, plain.stdout, plain.stderr))


class LearnProgram(unittest.TestCase):
    def learn(self, *words, hoist=HOIST, **changes):
        return run(hoist, "learn-program", *words, env=environment(**changes))

    def test_what_cannot_be_learnt(self):
        for path, code in (("/no/such/file", 1), ("/etc/passwd", 1), (shutil.which("cat"), 3),
                           (shutil.which("zcat") or "/no/such/file", None)):
            with self.subTest(path=path):
                done = self.learn(path, hoist=TREE / "bin/hoist")
                self.assertEqual(done.stdout, b"")
                self.assertRegex(done.stderr, rb"^hoist: error: .+ \(.+\)")
                self.assertIn(done.returncode, (1, 3) if code is None else (code,))
        self.assertEqual(self.learn().returncode, 2)

    def test_missing_engine(self):
        empty = SCRATCH.tree("no-engines", engines=())
        done = self.learn(SORT, hoist=empty / "bin/hoist")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, rb"^hoist: error: the engine is missing \(")

    def test_an_engine_that_differs_is_found_out(self):
        home = SCRATCH.path / "differs"
        done = self.learn("--json", SORT, hoist=TREE / "bin/hoist", XDG_DATA_HOME=str(home))
        self.assertEqual(done.returncode, 1)
        report = json.loads(done.stdout)
        self.assertIs(report["learnt"], False)
        self.assertGreater(len(report["differences"]), report["cases"] // 2)
        self.assertFalse(home.exists())

    def test_an_engine_that_always_steps_aside_is_not_worth_it(self):
        done = self.learn(SORT, hoist=TREE / "bin/hoist", PROBE_ASIDE="1")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, rb"hoist: error: the engine left every case to the original")

    def test_real_engines(self):
        for operation, name in (("sort", "sort"), ("hash", "sha256sum"), ("hash", "b2sum"),
                                ("hash", "cksum"), ("gunzip", "gzip")):
            path = shutil.which(name)
            if path is None or not engine_is_built(operation):
                continue
            with self.subTest(program=name):
                home = SCRATCH.path / f"home-{name}"
                copy = SCRATCH.path / name
                copy_with_build_id(path, copy, bytes(range(1, 21)))
                check = self.learn("--check", copy, XDG_DATA_HOME=str(home))
                self.assertEqual(check.returncode, 0, check.stdout.decode())
                self.assertFalse(home.exists())
                done = self.learn("--json", copy, XDG_DATA_HOME=str(home))
                report = json.loads(done.stdout)
                self.assertEqual((report["differences"], report["learnt"]), ([], True))
                self.assertGreater(report["by_engine"], report["cases"] // 2)
                row = (home / "hoist/programs").read_text().split()
                self.assertEqual(row[:2], [bytes(range(1, 21)).hex(), name])
                seen = features(XDG_DATA_HOME=str(home), PATH=str(SCRATCH.path))
                self.assertRegex(seen[f"program {name}"]["why"], "learnt$")


if __name__ == "__main__":
    if SORT is None or build_id_offset(pathlib.Path(SORT).read_bytes()) is None:
        print("doctor_test: skipped: no GNU sort with a build-id here")
        sys.exit(77)
    unittest.main()
