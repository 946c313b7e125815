#!/usr/bin/env python3
"""px on one core of the CPU beside C++ by hand with the same options, and Numba, Halide and Taichi where they are.

  cpu_bench.py [--hoist-px PROGRAM] [--seconds 2]

Prints a line of JSON a kernel: GB/s of what is read and written (CRC: read), and for each peer its own. Needs NumPy and g++;
`pip install numba halide taichi` for the peers. All run in this process on one thread, in turns; the fastest turn counts.
Results are compared first. Run it on an idle machine.
"""

import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import zlib

os.environ.update(HL_NUM_THREADS="1", NUMBA_NUM_THREADS="1", TI_LOG_LEVEL="error", ENABLE_TAICHI_HEADER_PRINT="0")
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FLAGS = ["-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-tree-loop-distribution", "-std=c++17", "-fPIC", "-shared", "-w"]
SIZE = 1 << 17  # elements: 512 KiB an array, so that a turn is short
SLICE = 4096

BY_HAND = """
#include <cmath>
#include <cstdint>
// As glibc declares them for C with -ffast-math alone: the vector forms of libmvec.
extern "C" __attribute__((simd("notinbranch"))) float erff(float) noexcept(true);
static uint32_t tables[8][256];
extern "C" {
void make_tables() {
  for (uint32_t i = 0; i < 256; ++i) {
    uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = c >> 1 ^ (0xedb88320u & -(c & 1));
    tables[0][i] = c;
  }
  for (int k = 1; k < 8; ++k)
    for (int i = 0; i < 256; ++i) tables[k][i] = tables[k - 1][i] >> 8 ^ tables[0][tables[k - 1][i] & 255];
}
void saxpy(float a, const float* __restrict x, float* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
void gelu(const float* __restrict x, float* __restrict y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = 0.5f * x[i] * (1 + erff(x[i] * 0.70710678f));
}
void crc32_slices(const uint32_t* __restrict data, uint32_t* __restrict crcs, int64_t pairs, int64_t slices) {
  for (int64_t s = 0; s < slices; ++s) {
    uint32_t crc = ~0u;
    for (int64_t at = s * pairs; at < (s + 1) * pairs; ++at) {
      const uint32_t a = data[2 * at] ^ crc, b = data[2 * at + 1];
      crc = tables[7][a & 255] ^ tables[6][a >> 8 & 255] ^ tables[5][a >> 16 & 255] ^ tables[4][a >> 24] ^
            tables[3][b & 255] ^ tables[2][b >> 8 & 255] ^ tables[1][b >> 16 & 255] ^ tables[0][b >> 24];
    }
    crcs[s] = ~crc;
  }
}
}
"""


def compile_shared(source, folder, name):
    output = folder / f"{name}.so"
    subprocess.run(["g++", *FLAGS, "-o", output, source], check=True)
    return ctypes.CDLL(str(output))


def pointer(array):
    return ctypes.c_void_p(array.ctypes.data)


class Launch(ctypes.Structure):
    """As the emitted code has it (px/emit/cpp.h)."""

    _fields_ = [("blocks", ctypes.c_uint32 * 3), ("threads", ctypes.c_uint32 * 3), ("arrays", ctypes.c_void_p),
                ("lengths", ctypes.c_void_p), ("scalars", ctypes.c_void_p), ("fault", ctypes.c_void_p)]


def px_kernel(program, source, folder, grid, arguments):
    """Calls a kernel of what `hoist px build` writes, compiled like the C++ by hand, on this thread."""
    subprocess.run([program, "build", source, "-o", folder], check=True, stdout=subprocess.DEVNULL)
    library = compile_shared(folder / f"{source.stem}.cc", folder, source.stem)
    entry = getattr(library, f"px_kernel_{source.stem}")
    count = len(arguments)
    arrays = (ctypes.c_uint64 * count)(*[a.ctypes.data if isinstance(a, np.ndarray) else 0 for a in arguments])
    lengths = (ctypes.c_uint64 * count)(*[len(a) if isinstance(a, np.ndarray) else 0 for a in arguments])
    scalars = (ctypes.c_uint64 * count)(*[0 if isinstance(a, np.ndarray) else a for a in arguments])
    blocks, threads = grid
    launch = Launch((blocks, 1, 1), (threads, 1, 1), ctypes.addressof(arrays), ctypes.addressof(lengths),
                    ctypes.addressof(scalars), None)
    keep = (arrays, lengths, scalars, library)
    return lambda keep=keep: entry(ctypes.byref(launch), ctypes.c_uint64(0), ctypes.c_uint64(blocks))


def make_px(program, folder, d):
    half = 0x3F000000  # 0.5F
    here = pathlib.Path(__file__).parent
    return {
        "saxpy": px_kernel(program, ROOT / "examples/px/saxpy.px", folder, (SIZE // 256, 256), [d.x, d.y, half, SIZE]),
        "gelu": px_kernel(program, ROOT / "examples/px/gelu.px", folder, (SIZE // 256, 256), [d.x, d.out]),
        "crc32": px_kernel(program, here / "crc32_slices.px", folder, (len(d.crcs) // 16, 16), [d.words, d.crcs, SLICE // 8]),
    }


def make_by_hand(folder, d):
    source = folder / "by_hand.cc"
    source.write_text(BY_HAND)
    library = compile_shared(source, folder, "by_hand")
    library.make_tables()
    n = ctypes.c_int64(SIZE)
    return {
        "saxpy": lambda: library.saxpy(ctypes.c_float(0.5), pointer(d.x), pointer(d.y), n),
        "gelu": lambda: library.gelu(pointer(d.x), pointer(d.out), n),
        "crc32": lambda: library.crc32_slices(
            pointer(d.words), pointer(d.crcs), ctypes.c_int64(SLICE // 8), ctypes.c_int64(len(d.crcs))),
    }


def make_numba(d):
    import math

    import numba

    @numba.njit
    def saxpy(a, x, y):
        for i in range(len(y)):
            y[i] = a * x[i] + y[i]

    half, one, root = np.float32(0.5), np.float32(1), np.float32(0.70710678)

    @numba.njit
    def gelu(x, y):
        for i in range(len(y)):
            y[i] = half * x[i] * (one + math.erf(x[i] * root))

    @numba.njit
    def crc32(tables, data, crcs, pairs):
        for s in range(len(crcs)):
            crc = np.uint32(0xFFFFFFFF)
            for at in range(s * pairs, (s + 1) * pairs):
                a = data[2 * at] ^ crc
                b = data[2 * at + 1]
                crc = (tables[7, a & 255] ^ tables[6, a >> 8 & 255] ^ tables[5, a >> 16 & 255] ^ tables[4, a >> 24]
                       ^ tables[3, b & 255] ^ tables[2, b >> 8 & 255] ^ tables[1, b >> 16 & 255] ^ tables[0, b >> 24])
            crcs[s] = ~crc

    return {
        "saxpy": lambda: saxpy(np.float32(0.5), d.x, d.y),
        "gelu": lambda: gelu(d.x, d.out),
        "crc32": lambda: crc32(d.tables, d.words, d.crcs, SLICE // 8),
    }


def make_halide(d):
    import halide as hl

    i = hl.Var("i")
    x = hl.Buffer(d.x)
    y = hl.Buffer(d.y)
    out = hl.Buffer(d.out)
    x_in = hl.ImageParam(hl.Float(32), 1)
    y_in = hl.ImageParam(hl.Float(32), 1)
    saxpy = hl.Func("saxpy")
    saxpy[i] = hl.f32(0.5) * x_in[i] + y_in[i]
    saxpy.vectorize(i, 16)
    saxpy.compile_jit()
    gelu = hl.Func("gelu")
    gelu[i] = hl.f32(0.5) * x_in[i] * (hl.f32(1) + hl.erf(x_in[i] * hl.f32(0.70710678)))
    gelu.vectorize(i, 16)
    x_in.set(x)
    y_in.set(y)
    gelu.compile_jit()
    return {"saxpy": lambda: saxpy.realize(y), "gelu": lambda: gelu.realize(out)}


def make_taichi(d):
    import taichi as ti

    ti.init(arch=ti.cpu, cpu_max_num_threads=1, fast_math=False, offline_cache=False)
    flat = ti.types.ndarray(dtype=ti.f32, ndim=1)
    words = ti.types.ndarray(dtype=ti.u32, ndim=1)

    @ti.kernel
    def saxpy(a: ti.f32, x: flat, y: flat):
        for i in y:
            y[i] = a * x[i] + y[i]

    @ti.kernel
    def crc32(tables: words, data: words, crcs: words, pairs: ti.i32):
        for s in crcs:
            crc = ~ti.u32(0)
            for at in range(s * pairs, (s + 1) * pairs):
                a = data[2 * at] ^ crc
                b = data[2 * at + 1]
                crc = (tables[1792 + (a & 255)] ^ tables[1536 + (a >> 8 & 255)] ^ tables[1280 + (a >> 16 & 255)]
                       ^ tables[1024 + (a >> 24)] ^ tables[768 + (b & 255)] ^ tables[512 + (b >> 8 & 255)]
                       ^ tables[256 + (b >> 16 & 255)] ^ tables[b >> 24])
            crcs[s] = ~crc

    flat_tables = np.ascontiguousarray(d.tables.reshape(-1))
    # Taichi has no erf, so no gelu.
    return {
        "saxpy": lambda: saxpy(0.5, d.x, d.y),
        "crc32": lambda: crc32(flat_tables, d.words, d.crcs, SLICE // 8),
    }


class Data:
    def __init__(self):
        random = np.random.default_rng(1)
        self.x = random.uniform(-4, 4, SIZE).astype(np.float32)
        self.first_y = random.uniform(-4, 4, SIZE).astype(np.float32)
        self.y = self.first_y.copy()
        self.out = np.empty(SIZE, np.float32)
        self.words = random.integers(0, 1 << 32, SIZE, dtype=np.uint32)
        self.crcs = np.empty(SIZE * 4 // SLICE, np.uint32)
        tables = np.zeros((8, 256), np.uint32)
        for i in range(256):
            tables[0, i] = zlib.crc32(bytes([i]), 0xFFFFFFFF) ^ 0xFFFFFFFF
        for k in range(1, 8):
            tables[k] = tables[k - 1] >> 8 ^ tables[0][tables[k - 1] & 255]
        self.tables = tables


def check(kernel, d, work):
    d.y[:] = d.first_y
    work()
    if kernel == "saxpy":
        return np.allclose(d.y, np.float32(0.5) * d.x + d.first_y, rtol=1e-6, atol=1e-6)
    if kernel == "crc32":
        raw = d.words.tobytes()
        return all(zlib.crc32(raw[i * SLICE:(i + 1) * SLICE]) == crc for i, crc in enumerate(d.crcs))
    import math
    want = [0.5 * v * (1 + math.erf(v * math.sqrt(0.5))) for v in d.x[:1000].tolist()]
    return np.allclose(d.out[:1000], want, rtol=1e-5, atol=1e-6)


def fastest(works, seconds):
    best = {name: float("inf") for name in works}
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for name, work in works.items():
            begin = time.perf_counter()
            work()
            best[name] = min(best[name], time.perf_counter() - begin)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hoist-px", default=str(ROOT / "build/release/libexec/hoist/hoist-px"))
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    d = Data()
    bytes_of = {"saxpy": 12 * SIZE, "gelu": 8 * SIZE, "crc32": 4 * SIZE}
    status = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        makers = {
            "px": lambda: make_px(options.hoist_px, folder, d),
            "by hand": lambda: make_by_hand(folder, d),
            "numba": lambda: make_numba(d),
            "halide": lambda: make_halide(d),
            "taichi": lambda: make_taichi(d),
        }
        made = {}
        for who, make in makers.items():
            try:
                made[who] = make()
            except ImportError as error:
                print(f"cpu_bench: {who} is left out: {error}", file=sys.stderr)
        for kernel, size in bytes_of.items():
            works = {who: kernels[kernel] for who, kernels in made.items() if kernel in kernels}
            wrong = [who for who, work in works.items() if not check(kernel, d, work)]
            status |= bool(wrong)
            best = fastest(works, options.seconds * len(works))
            line = {"kernel": kernel, **{who: round(size / seconds / 1e9, 2) for who, seconds in best.items()}}
            line["time by px / by hand"] = round(best["px"] / best["by hand"], 3)
            if wrong:
                line["wrong"] = wrong
            print(json.dumps(line), flush=True)
    return status


if __name__ == "__main__":
    sys.exit(main())
