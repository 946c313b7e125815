#!/usr/bin/env python3
"""The programs of examples/px give what NumPy gives, on the CPU and by the interpreter; with
HOIST_TEST_DEVICE=cuda on a GPU."""

import hashlib
import math
import os
import pathlib
import shutil
import sys
import tempfile
import unittest

from hoist_tree import BUILD, HOIST, ON_CPU, SKIPPED, main_on_device, run

HERE = pathlib.Path(__file__).resolve().parent.parent
EXAMPLES = HERE / "examples/px"

try:
    import numpy as np
except ImportError:
    python = next((path for path in (HERE / "build/venv/bin/python3", BUILD.parent / "venv/bin/python3")
                   if path.exists() and str(path) != sys.executable), None)
    if python is None:
        print("skipped: no NumPy", file=sys.stderr)
        sys.exit(SKIPPED)
    os.execv(python, [str(python), *sys.argv])

TARGETS = ("cpu", "interpreter") if ON_CPU else ("cuda",)
CACHE = tempfile.TemporaryDirectory(prefix="hoist-px-cache-")  # compiled code, of these tests alone
os.environ["XDG_CACHE_HOME"] = CACHE.name
random = np.random.default_rng(20260)


def normal(*shape):
    return random.standard_normal(shape).astype("f4")


def times_x(a):
    return (a << 1 ^ (0x11B if a & 0x80 else 0)) & 0xFF


def key_schedule(key):
    """The 44 words of AES-128 (FIPS 197, 5.2), with the S-box of the example itself."""
    text = (EXAMPLES / "aes_encrypt_blocks.px").read_text(encoding="utf-8")
    table = text[text.index("SBOX u8[256] =") :].partition("\n\n")[0].partition("=")[2]
    sbox = [int(value, 16) for value in table.replace(",", " ").split()]
    words = [int.from_bytes(key[4 * i : 4 * i + 4], "big") for i in range(4)]
    round_constant = 1
    for i in range(4, 44):
        word = words[-1]
        if i % 4 == 0:
            word = (word << 8 | word >> 24) & 0xFFFFFFFF
            word = int.from_bytes(bytes(sbox[byte] for byte in word.to_bytes(4, "big")), "big")
            word ^= round_constant << 24
            round_constant = times_x(round_constant)
        words.append(words[-4] ^ word)
    return np.array(words, "u4")


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hoist-px-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def results(self, name, inputs, output, lengths=(), **scalars):
        """The output as each target gives it."""
        words = []
        for array, values in inputs.items():
            np.save(self.folder / f"{array}.npy", values)
            words += ["--in", f"{array}={self.folder / array}.npy"]
        for array, length in dict(lengths).items():
            words += ["--len", f"{array}={length}"]
        for scalar, value in scalars.items():
            words += ["--set", f"{scalar}={value}"]
        for target in TARGETS:
            file = self.folder / f"{target}.npy"
            done = run(HOIST, "px", "run", EXAMPLES / f"{name}.px", *words, "--out", f"{output}={file}",
                       "--force", "--target", target)
            self.assertEqual((done.returncode, done.stderr), (0, b""), target)
            yield np.load(file)

    def equal(self, got, wanted):
        np.testing.assert_array_equal(got, wanted, strict=True)

    def close(self, got, wanted, **tolerance):
        np.testing.assert_allclose(got, wanted, **tolerance)

    # The ancestor's programs.

    def test_aes_encrypt_blocks(self):
        # The example vectors of FIPS 197, appendices B and C.1.
        for key, plain, cipher in (
            ("2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734",
             "3925841d02dc09fbdc118597196a0b32"),
            ("000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff",
             "69c4e0d86a7b0430d8cdb78070b4c55a"),
        ):
            key = bytes.fromhex(key)
            blocks = bytes.fromhex(plain) + random.bytes(16 * 299)
            arrays = {"input": np.frombuffer(blocks, "u1"), "keys": key_schedule(key)}
            expected = None
            if shutil.which("openssl"):
                command = ["openssl", "enc", "-aes-128-ecb", "-nopad", "-K", key.hex()]
                expected = run(*command, input=blocks).stdout
            for got in self.results("aes_encrypt_blocks", arrays, "output", {"output": len(blocks)},
                                    num_blocks=300):
                self.assertEqual(got[:16].tobytes().hex(), cipher)
                if expected is not None:
                    self.assertEqual(got.tobytes(), expected)

    def test_vector_add(self):
        a, b = normal(1000), normal(1000)
        for c in self.results("vector_add", {"a": a, "b": b}, "c", n=1000):
            self.equal(c, a + b)

    def test_array_square(self):
        values = normal(777)
        for output in self.results("array_square", {"input": values}, "output", n=777):
            self.equal(output, values * values)

    def test_double_values(self):
        values = normal(300)
        for data in self.results("double_values", {"data": values}, "data", n=299):
            self.equal(data, np.append(values[:299] * 2, values[299:]))

    def test_fill_array(self):
        for array in self.results("fill_array", {}, "array", {"array": 1000}, value=-7, size=999):
            self.equal(array, np.append(np.full(999, -7, "i4"), np.int32(0)))

    def test_saxpy(self):
        x, y = normal(513), normal(513)
        for got in self.results("saxpy", {"x": x, "y": y}, "y", a=2.5, n=513):
            self.equal(got, np.float32(2.5) * x + y)

    def test_fast_memcpy(self):
        for size in (1, 16, 1000, 4096):
            source = random.integers(0, 256, size, "u1")
            for got in self.results("fast_memcpy", {"src": source}, "dst", size=size):
                self.equal(got, source)

    # Programs of the kind that GPU suites have.

    def test_histogram(self):
        data = random.integers(0, 256, 10000, "u1")
        for counts in self.results("histogram", {"data": data}, "counts", {"counts": 256}):
            self.equal(counts, np.bincount(data, minlength=256).astype("u4"))

    def test_scan(self):
        for size in (1, 255, 256, 257, 3000):
            values = random.integers(-2**31, 2**31, size, "i4")
            for sums in self.results("scan", {"values": values}, "sums"):
                self.equal(sums, np.cumsum(values, dtype="i4"))

    def test_bitonic_sort(self):
        for size in (1, 2, 3, 100, 256, 1000):
            keys = random.integers(0, 2**32, size, "u4")
            for got in self.results("bitonic_sort", {"keys": keys}, "keys"):
                self.equal(got, np.sort(keys))

    def test_softmax(self):
        x = normal(7, 300) * 20
        exponentials = np.exp(x.astype("f8") - x.max(axis=1, keepdims=True))
        wanted = exponentials / exponentials.sum(axis=1, keepdims=True)
        for y in self.results("softmax", {"x": x}, "y", columns=300):
            self.close(y.reshape(7, 300), wanted, rtol=1e-5, atol=1e-37)

    def test_gelu(self):
        x = normal(2000) * 3
        wanted = [value / 2 * (1 + math.erf(value / math.sqrt(2))) for value in x.astype("f8")]
        for y in self.results("gelu", {"x": x}, "y"):
            self.close(y, wanted, rtol=1e-5, atol=1e-6)

    def test_stencil(self):
        height, width = 40, 50
        plate = normal(height, width)
        wanted = plate.copy()
        for _ in range(20):
            now = wanted.copy()
            around = now[1:-1, :-2] + now[1:-1, 2:] + now[:-2, 1:-1] + now[2:, 1:-1]
            here = now[1:-1, 1:-1]
            wanted[1:-1, 1:-1] = here + np.float32(0.2) * (around - np.float32(4) * here)
        for got in self.results("stencil", {"plate": plate}, "plate", width=width, height=height):
            self.equal(got, wanted)

    def test_n_body(self):
        bodies = normal(300, 4)
        bodies[:, 3] = abs(bodies[:, 3])
        wide = bodies.astype("f8")
        apart = wide[None, :, :3] - wide[:, None, :3]
        inverse = 1 / np.sqrt((apart ** 2).sum(axis=2) + 0.01)
        wanted = (apart * (wide[None, :, 3] * inverse ** 3)[:, :, None]).sum(axis=1)
        for got in self.results("n_body", {"bodies": bodies}, "accelerations", {"accelerations": 900},
                                n=300):
            self.close(got.reshape(300, 3), wanted, rtol=1e-4, atol=1e-2)

    def test_transpose(self):
        for height, width in ((1, 1), (32, 32), (100, 70), (33, 129)):
            matrix = normal(height, width)
            for got in self.results("transpose", {"a": matrix}, "b", width=width, height=height):
                self.equal(got.reshape(width, height), matrix.T)

    def test_reduction(self):
        values = normal(20000)
        for got in self.results("reduction", {"values": values}, "sum", {"sum": 1}):
            self.close(got[0], math.fsum(values.tolist()), rtol=1e-12)

    def test_md5(self):
        for length in (0, 1, 55, 56, 64, 100):
            messages = random.integers(0, 256, (20, length), "u1")
            wanted = np.array([np.frombuffer(hashlib.md5(row.tobytes()).digest(), "u4") for row in messages])
            for got in self.results("md5", {"messages": messages}, "digests", {"digests": 80},
                                    length=length, count=20):
                self.equal(got.reshape(20, 4), wanted)

    # All of them.

    def test_every_example_is_tested_and_laid_out(self):
        names = {path.stem for path in EXAMPLES.glob("*.px")}
        tested = {name.removeprefix("test_") for name in dir(self) if name.startswith("test_")}
        self.assertEqual(names - tested, set())
        files = sorted(EXAMPLES.glob("*.px"))
        done = run(HOIST, "px", "fmt", "--check", *files)
        self.assertEqual((done.returncode, done.stdout), (0, b""))
        done = run(HOIST, "px", "check", *files)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


if __name__ == "__main__":
    main_on_device()
