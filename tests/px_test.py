#!/usr/bin/env python3
"""hoist px: messages, layout, stages, and running a file from the command line."""

import json
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import tempfile
import time
import unittest

from hoist_tree import HOIST, environment, run

HERE = pathlib.Path(__file__).resolve().parent
ERRORS = HERE / "data/px/errors"
CACHE = tempfile.TemporaryDirectory(prefix="hoist-px-cache-")  # compiled code, of these tests alone
os.environ["XDG_CACHE_HOME"] = CACHE.name

VECTOR_ADD = """\
GPU_KERNEL vector_add
    GPU_PARAM a float[]
    GPU_PARAM b float[]
    GPU_PARAM c float[]
    GPU_PARAM n int
    GPU_THREAD_CODE:
        THREAD_ID → tid
        COMPARE tid < n → in_bounds
        IF in_bounds:
            LOAD a[tid] → val_a
            LOAD b[tid] → val_b
            ADD val_a val_b → sum
            STORE sum → c[tid]
        ENDIF
GPU_END

GPU_LAUNCH vector_add BLOCKS 4 THREADS 256
GPU_SYNC
"""


# Minutes of work.
SLOW = """\
GPU_KERNEL slow
    GPU_PARAM v out u32[]
    GPU_THREAD_CODE:
        LET value u32 = u32(thread_id())
        FOR i FROM 0 TO 20000:
            value = (value ^ (value >> 7)) * 2654435761
        ENDFOR
        STORE value | 1 -> v[block_id() % i32(len(v))]
GPU_END

GPU_LAUNCH slow 1000000 64
"""


def made_up_profile():
    """As if a GPU had been measured on this machine: fast, after a start of 0.3 s."""
    cpu = re.search("model name\\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    version = run(HOIST, "version").stdout.decode().split()[1]

    def points(fixed, of_byte):
        return [{"bytes": size, "items": 1, "seconds": fixed + of_byte * size, "noise": 0.01,
                 "runs": 5, "factor": 1} for size in (4 ** k for k in range(7, 15))]

    def variant(name, cpu_costs, gpu_costs):
        return {"name": f"px/{name}", "residency": "host", "rows": [], "implementations": [
            {"name": "cpu-all", "points": points(*cpu_costs)},
            {"name": "cuda", "points": points(*gpu_costs)}]}

    return json.dumps({
        "format": 1, "measured": "2026-01-02T03:04:05Z",
        "machine": {"cpu": cpu[1] if cpu else "", "gpu": "", "driver": "", "cpus": 1, "hoist": version},
        "variants": [variant("stream", (1e-5, 1e-10), (5e-5, 1e-10)),
                     variant("compute", (1e-5, 5e-8), (2e-5, 5e-11)),
                     variant("start", (0.01, 1e-10), (0.31, 1e-10))]})


def floats(*values):
    return struct.pack(f"<{len(values)}f", *values)


class PxTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hoist-px-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, content):
        path = self.folder / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return name

    def px(self, *words, status=0, **options):
        done = run(HOIST, "px", *words, cwd=self.folder, **options)
        self.assertEqual(done.returncode, status, done.stderr.decode(errors="replace"))
        return done.stdout.decode(), done.stderr.decode(errors="replace")


class Messages(PxTest):
    def test_golden_messages(self):
        """Each file's messages, letter by letter."""
        files = sorted(ERRORS.glob("*.px"))
        self.assertGreaterEqual(len(files), 60)
        for path in files:
            with self.subTest(path.name):
                expected = path.with_suffix(".txt").read_bytes()
                done = run(HOIST, "px", "check", path.name, cwd=ERRORS)
                self.assertEqual(done.stderr, expected)
                self.assertEqual(done.stdout, b"")
                has_error = b": error: " in expected
                self.assertEqual(done.returncode, 1 if has_error else 0)
                self.assertTrue(expected, "says nothing")
                self.assertEqual(expected.count(b"\nmend: "),
                                 expected.count(b": error: ") + expected.count(b": warning: "))

    def test_no_more_than_twenty_errors(self):
        name = self.file("many.px", "GPU_KERNEL k\n" + "NONSENSE 1\n" * 30 + "GPU_END\n")
        said = self.px("check", name, status=1)[1]
        self.assertEqual(said.count(": error: "), 20)
        self.assertTrue(said.endswith("many.px: 10 more errors\n"))

    def test_several_files_and_standard_input(self):
        good = self.file("good.px", VECTOR_ADD)
        bad = self.file("bad.px", "GPU_END\n")
        said = self.px("check", good, bad, status=1)[1]
        self.assertIn("bad.px:1:1: error: GPU_END without GPU_KERNEL\n", said)
        said = self.px("check", "-", status=1, input=b"GPU_END\n")[1]
        self.assertTrue(said.startswith("(standard input):1:1: error: "))

    def test_json(self):
        name = self.file("k.px", "GPU_KERNEL k\n    GPU_PARAM a f32[]\n    STORE é → a[0]\nGPU_END\n")
        out, said = self.px("check", "--json", name, status=1)
        self.assertEqual(said, "")
        self.assertEqual(json.loads(out), [
            {"file": "k.px", "line": 3, "column": 11, "severity": "error", "what": "é means nothing here",
             "mend": "leave it out; names are made of letters, digits and _"}])
        self.assertEqual(json.loads(self.px("check", "--json", self.file("g.px", VECTOR_ADD))[0]), [])

    def test_a_missing_file(self):
        said = self.px("check", "none.px", status=1)[1]
        self.assertEqual(said, "hoist: error: open none.px: No such file or directory: check the path\n")


class Layout(PxTest):
    def test_in_place_and_check(self):
        name = self.file("k.px", VECTOR_ADD.replace("    ", " ").replace("→", "->").lower())
        laid_out = self.px("fmt", "-", input=(self.folder / name).read_bytes())[0]
        self.assertEqual(laid_out, VECTOR_ADD)
        self.assertEqual(self.px("fmt", "--check", name, status=1)[0], "k.px\n")
        self.px("fmt", name)
        self.assertEqual((self.folder / name).read_text(), VECTOR_ADD)
        self.assertEqual(self.px("fmt", "--check", name)[0], "")

    def test_a_wrong_file_stays(self):
        name = self.file("k.px", "gpu_kernel k\nif 1\n")
        self.px("fmt", name, status=1)
        self.assertEqual((self.folder / name).read_text(), "gpu_kernel k\nif 1\n")


class Stages(PxTest):
    def test_tree_and_ir(self):
        name = self.file("k.px", VECTOR_ADD)
        tree = self.px("emit", name, "--stage", "ast")[0]
        self.assertIn("kernel vector_add\n  parameter a inout float[]\n", tree)
        self.assertIn("    ADD val_a, val_b → sum\n", tree)
        ir = self.px("emit", name, "--stage", "ir")[0]
        self.assertIn("    let sum: f32 = (val_a + val_b)\n", ir)

    def test_a_wrong_file_emits_nothing(self):
        name = self.file("k.px", "GPU_END\n")
        for stage in ("ast", "ir", "cpp"):
            self.assertEqual(self.px("emit", name, "--stage", stage, status=1)[0], "")


class Run(PxTest):
    def setUp(self):
        super().setUp()
        self.file("va.px", VECTOR_ADD)
        self.file("a.raw", floats(*range(10)))
        self.file("b.raw", floats(*range(0, 20, 2)))

    def vector_add(self, *words, n=10, status=0):
        return self.px("run", "va.px", "--in", "a=a.raw", "--in", "b=b.raw", "--set", f"n={n}", *words,
                       status=status)

    def test_raw_files(self):
        out, _ = self.vector_add("--out", "c=c.raw")
        self.assertEqual(out, "")
        self.assertEqual((self.folder / "c.raw").read_bytes(), floats(*range(0, 30, 3)))

    def test_without_out_the_first_elements_are_printed(self):
        self.assertEqual(self.vector_add()[0], "c: f32[10] 0 3 6 9 12 15 18 21 …\n")

    def test_targets(self):
        for target in ("auto", "cpu", "interpreter"):
            self.vector_add("--target", target, "--out", f"c={target}.raw")
            self.assertEqual((self.folder / f"{target}.raw").read_bytes(), floats(*range(0, 30, 3)))

    def test_without_a_compiler_the_interpreter_runs_it(self):
        bare = environment(PATH="/nowhere")
        done = run(HOIST, "px", "run", "va.px", "--in", "a=a.raw", "--in", "b=b.raw", "--set", "n=10",
                   cwd=self.folder, env=bare)
        self.assertEqual((done.returncode, done.stdout), (0, "c: f32[10] 0 3 6 9 12 15 18 21 …\n".encode()))
        self.assertTrue(done.stderr.startswith(b"hoist: warning: the interpreter runs va.px, slowly: "),
                        done.stderr)
        done = run(HOIST, "px", "run", "va.px", "--in", "a=a.raw", "--in", "b=b.raw", "--set", "n=10",
                   "--target", "cpu", cwd=self.folder, env=bare)
        self.assertEqual(done.returncode, 3, done.stderr)

    def test_compiled_code_is_kept(self):
        self.vector_add("--target", "cpu")
        self.assertTrue([path for path in pathlib.Path(CACHE.name).rglob("*") if path.is_file()])

    def test_where_it_runs_is_estimated(self):
        self.file("v.px", VECTOR_ADD)
        arguments = ("run", "v.px", "--len", "a=1000", "--len", "b=1000", "--len", "c=1000",
                     "--set", "n=1000", "--explain")
        self.assertRegex(self.px(*arguments)[0], "^cpu: the CPU: no profile")
        self.file("profile.json", made_up_profile())
        own = environment(HOIST_PROFILE=self.folder / "profile.json", HOIST_GPU="off")
        told, _ = self.px(*arguments, env=own)
        self.assertRegex(told, r"^cpu: the CPU: \S+ .s on the CPU, \S+ .s on a GPU \(300 ms of them its "
                               r"start\), estimated from \S+ operations and 0.016 MB\n$")
        place = json.loads(self.px(*arguments, "--json", env=own)[0])["place"]
        self.assertAlmostEqual(place["gpu_start_ms"], 300, delta=1)
        self.assertEqual(place["bytes_copied"], 4 * 1000 * (3 + 1))  # all go there, c comes back
        # What a GPU would do sooner stays on the CPU where there is none.
        self.file("slow.px", SLOW)
        told, _ = self.px("run", "slow.px", "--len", "v=1000", "--explain", env=own)
        self.assertRegex(told, "^cpu: the CPU: .*HOIST_GPU")
        told, _ = self.px("run", "v.px", "--len", "a=1000", "--len", "b=1000", "--len", "c=1000", "--set",
                          "n=1000", "--target", "cpu", "--explain", env=own)
        self.assertEqual(told, "cpu: as the command line or the file says\n")

    def test_an_interrupt_ends_a_long_run_and_leaves_no_file(self):
        self.file("slow.px", SLOW)
        before = set(self.folder.iterdir())
        for target in ("cpu", "interpreter"):
            with self.subTest(target=target):
                running = subprocess.Popen(
                    [HOIST, "px", "run", "slow.px", "--len", "v=1000", "--out", "v=v.npy", "--target",
                     target], cwd=self.folder, stderr=subprocess.PIPE,
                    env=environment(TMPDIR=self.folder))
                time.sleep(0.5)
                running.send_signal(signal.SIGINT)
                self.assertEqual(running.communicate(timeout=100)[1], b"")
                self.assertEqual(running.returncode, -signal.SIGINT)
                self.assertEqual(set(self.folder.iterdir()), before)

    def test_npy_header(self):
        self.vector_add("--out", "c=c.npy")
        data = (self.folder / "c.npy").read_bytes()
        self.assertEqual(data[:8], b"\x93NUMPY\x01\x00")
        size = struct.unpack("<H", data[8:10])[0]
        self.assertEqual((10 + size) % 64, 0)
        self.assertEqual(data[10:10 + size].decode().strip(),
                         "{'descr': '<f4', 'fortran_order': False, 'shape': (10,), }")
        self.assertEqual(data[10 + size:], floats(*range(0, 30, 3)))
        again = self.px("run", "va.px", "--in", "a=c.npy", "--in", "b=c.npy", "--set", "n=10")[0]
        self.assertEqual(again, "c: f32[10] 0 6 12 18 24 30 36 42 …\n")

    def test_npy_files_are_read_strictly(self):
        self.vector_add("--out", "c=c.npy")
        data = (self.folder / "c.npy").read_bytes()
        for name, damaged, status in (
                ("cut.npy", data[:-4], 1), ("longer.npy", data + b"1234", 1),
                ("magic.npy", b"x" + data[1:], 1), ("header.npy", data.replace(b"descr", b"decsr"), 1),
                ("type.npy", data.replace(b"<f4", b"<i4"), 2), ("endian.npy", data.replace(b"<f4", b">f4"), 2),
                ("version.npy", data[:6] + b"\x09" + data[7:], 3)):
            with self.subTest(name):
                self.file(name, damaged)
                said = self.px("run", "va.px", "--in", f"a={name}", "--in", "b=b.raw", "--set", "n=1",
                               status=status)[1]
                self.assertIn(name, said)

    def test_bounds_are_checked(self):
        for target in ("auto", "interpreter"):
            said = self.vector_add("--target", target, n=11, status=1)[1]
            self.assertEqual(said, "hoist: error: va.px:10:13: vector_add reads or writes a[10], which "
                                   "has 10 elements (block 0, thread 10)\n")

    def test_existing_files_stay(self):
        self.file("c.raw", b"mine")
        said = self.vector_add("--out", "c=c.raw", status=2)[1]
        self.assertIn("--force", said)
        self.assertEqual((self.folder / "c.raw").read_bytes(), b"mine")
        self.vector_add("--out", "c=c.raw", "--force")
        self.assertEqual((self.folder / "c.raw").read_bytes(), floats(*range(0, 30, 3)))

    def test_json_and_times(self):
        seen = json.loads(self.vector_add("--json", "--out", "c=c.raw")[0])
        self.assertEqual(seen["arrays"], [{"name": "c", "type": "f32", "elements": 10, "file": "c.raw"}])
        launch = seen["launches"][0]
        self.assertEqual((launch["kernel"], launch["blocks"], launch["threads"]), ("vector_add", 4, 256))
        self.assertIn("vector_add: ", self.vector_add("--time")[0])

    def test_wrong_values(self):
        for words, said in (
                (["--set", "m=1"], "no scalar m (--set): the file has n"),
                (["--set", "n=1.5"], "1.5 is no whole number, and i32 holds these (--set n): give another"),
                (["--set", "n=1", "--set", "n=2"], "n is given twice (--set n=2): leave one out"),
                (["--set", "n=1", "--in", "a=a.raw", "--in", "a=b.raw"],
                 "a is given twice (--in a=b.raw): leave one out"),
                (["--set", "n=x"], "x is no i32 (--set n): write a number of that type"),
                (["--set", "n"], "--set n lacks a name or a value (hoist px run): write --set name=value"),
                ([], "n has no value (hoist px run): pass --set n=VALUE, of type i32"),
                (["--set", "n=1"],
                 "a has no elements (hoist px run): pass --in a=FILE, or --len a=N for N zeros"),
                (["--set", "n=1", "--in", "d=a.raw"], "no array d (--in): the file has a, b, c"),
                (["--set", "n=1", "--in", "a=a.raw", "--len", "a=4"],
                 "a has the length of its input (--len): leave one out"),
                (["--set", "n=1", "--len", "c=-4"],
                 "-4 is no number of elements (--len c): write one up to 2^40"),
                (["--set", "n=1", "--in", "a=va.px"],
                 f"{len(VECTOR_ADD.encode())} bytes are no whole number of f32 (va.px): check the file's type")):
            with self.subTest(words):
                self.assertEqual(self.px("run", "va.px", *words, status=2)[1], f"hoist: error: {said}\n")

    def test_lengths(self):
        self.file("fill.px", "GPU_KERNEL fill\nGPU_PARAM out u8[]\nTHREAD_ID → t\nIF t < len_of:\nENDIF\n"
                             "GPU_END\n".replace("IF t < len_of:\nENDIF", "IF i64(t) < len(out):\n"
                                                 "STORE 7 → out[t]\nENDIF") +
                  "GPU_LAUNCH fill BLOCKS (len(out) + 31) / 32 THREADS 32\n")
        self.assertEqual(self.px("run", "fill.px", "--len", "out=3")[0], "out: u8[3] 7 7 7\n")
        self.assertEqual(self.px("run", "fill.px", "--len", "out=0")[0], "out: u8[0]\n")
        said = self.px("run", "fill.px", status=2)[1]
        self.assertIn("out has no length (hoist px run): pass --len out=N", said)

    def test_nothing_to_run(self):
        self.file("k.px", VECTOR_ADD[:VECTOR_ADD.index("GPU_LAUNCH")])
        said = self.px("run", "k.px", status=1)[1]
        self.assertEqual(said, "hoist: error: nothing to run (k.px): write GPU_LAUNCH kernel BLOCKS n "
                               "THREADS m\n")


class Build(PxTest):
    SAXPY = """\
GPU_KERNEL saxpy
    GPU_PARAM x in float[]
    GPU_PARAM y inout float[]
    GPU_PARAM a float
    THREAD_ID → i
    IF i64(i) < len(x):
        y[i] = a * x[i] + y[i]
    ENDIF
GPU_END
"""
    USER = """\
#include "saxpy.h"
#include <stdio.h>
int main(void) {
  static float x[1000], y[1000];
  for (int i = 0; i < 1000; ++i) x[i] = (float)i, y[i] = 1;
  const int error = saxpy_saxpy_cpu(x, 1000, y, 1000, 2.0f);
  printf("%d %g %g %g\\n", error, y[0], y[1], y[999]);
  return 0;
}
"""

    def setUp(self):
        super().setUp()
        self.file("saxpy.px", self.SAXPY)
        self.file("main.c", self.USER)

    def test_sources_that_stand_alone(self):
        written = self.px("build", "saxpy.px")[0].split()
        self.assertEqual(written, ["./saxpy.h", "./saxpy.cu", "./saxpy.cc"])
        if shutil.which("c++") is None or shutil.which("cc") is None:
            self.skipTest("no compiler")
        for command in (["cc", "-c", "main.c"],
                        ["c++", "-std=c++20", "-O2", "-ffp-contract=off", "saxpy.cc", "main.o", "-o", "saxpy",
                         "-pthread"]):
            done = run(*command, cwd=self.folder)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(run(self.folder / "saxpy").stdout, b"0 1 3 1999\n")

    @unittest.skipIf(shutil.which("cc") is None or shutil.which("c++") is None, "no compiler")
    def test_a_library(self):
        self.px("build", "saxpy.px", "--lib", "-o", ".")
        done = run("cc", "main.c", "-L.", "-lsaxpy", "-Wl,-rpath,.", "-o", "saxpy", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr.decode())
        self.assertEqual(run("./saxpy", cwd=self.folder).stdout, b"0 1 3 1999\n")

    @unittest.skipIf(shutil.which("nvcc") is None, "no nvcc")
    def test_the_cuda_source_compiles(self):
        self.px("build", "saxpy.px")
        done = run("nvcc", "-std=c++17", "--fmad=false", "-c", "saxpy.cu", cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr.decode())

    def test_all_or_nothing(self):
        self.file("saxpy.cc", b"mine")
        self.assertIn("--force", self.px("build", "saxpy.px", status=2)[1])
        self.assertFalse((self.folder / "saxpy.h").exists())
        self.px("build", "saxpy.px", "--force")
        self.assertTrue((self.folder / "saxpy.h").exists())

    def test_a_name_that_c_has_not(self):
        self.file("my-kernel.px", self.SAXPY)
        self.assertIn("my-kernel is no name of C functions", self.px("build", "my-kernel.px", status=2)[1])


class Host(PxTest):
    """GPU_ALLOC and what else stands outside of kernels."""

    KERNELS = """\
GPU_KERNEL scale
    GPU_PARAM v inout int[]
    GPU_PARAM by int
    THREAD_ID → t
    IF i64(t) < len(v):
        STORE v[t] * by → v[t]
    ENDIF
GPU_END
"""

    def run_host(self, host, *words, status=0):
        self.file("h.px", self.KERNELS + host)
        self.file("v.raw", struct.pack("<4i", 1, 2, 3, 4))
        return self.px("run", "h.px", *words, status=status)

    def test_explicit_copies(self):
        host = ("GPU_ALLOC d int 8\nGPU_COPY_TO_GPU v → d 4\n"
                "GPU_LAUNCH scale BLOCKS 1 THREADS 32 WITH v = d, by = 3\nGPU_SYNC\n"
                "GPU_COPY_FROM_GPU d → v 3\nGPU_FREE d\n")
        self.assertEqual(self.run_host(host, "--in", "v=v.raw")[0], "v: i32[4] 3 6 9 4\n")

    def test_loops_and_positional_launch(self):
        host = "FOR i FROM 1 TO 4:\n    GPU_LAUNCH scale 1 32 WITH by = i\nENDFOR\n"
        self.assertEqual(self.run_host(host, "--in", "v=v.raw")[0], "v: i32[4] 6 12 18 24\n")

    def test_scalars_by_name(self):
        host = "GPU_TARGET cpu\nGPU_LAUNCH scale BLOCKS by - 1 THREADS 2\n"
        self.assertEqual(self.run_host(host, "--in", "v=v.raw", "--set", "by=2")[0],
                         "v: i32[4] 2 4 3 4\n")

    def test_what_cannot_be(self):
        for host, said in (
                ("GPU_ALLOC d int by - 3\nGPU_LAUNCH scale 1 1 WITH v = d\nGPU_LAUNCH scale 1 1",
                 "an array of -1 (h.px:9): give the numbers that it comes from"),
                ("GPU_ALLOC d int 4\nGPU_COPY_TO_GPU v → d 5\nGPU_LAUNCH scale 1 1",
                 "a copy of 5 elements, of 4 to 4 (h.px:10): copy no more than both arrays have"),
                ("GPU_LAUNCH scale 1 1025",
                 "a block has 1 to 1024 threads, not 1025 x 1 x 1 (scale)"),
                ("GPU_ALLOC d int 4\nGPU_FREE d\nGPU_FREE d\nGPU_LAUNCH scale 1 1",
                 "d is not allocated (h.px:11): write GPU_ALLOC before, and GPU_FREE once")):
            with self.subTest(host):
                error = self.run_host(host + "\n", "--in", "v=v.raw", "--set", "by=2", status=2)[1]
                self.assertEqual(error, f"hoist: error: {said}\n")


if __name__ == "__main__":
    unittest.main()
