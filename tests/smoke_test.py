#!/usr/bin/env python3
"""Every program of the build does its main job once, on little input, and gives the right answer.

It runs with AddressSanitizer for every change, where the long tests of each program do not."""

import gzip
import hashlib
import json
import pathlib
import random
import shutil
import struct
import tempfile
import unittest

from hoist_tree import BUILD, HOIST, run

HASHES = ("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum")
SEED = 20


def safetensors(values):
    """A safetensors file of one float32 tensor."""
    header = json.dumps({"weight": {"dtype": "F32", "shape": [len(values)],
                                    "data_offsets": [0, 4 * len(values)]}}).encode()
    header += b" " * (-len(header) % 8)
    return struct.pack("<Q", len(header)) + header + struct.pack(f"<{len(values)}f", *values)


class EveryProgram(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="hoist-smoke-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name)
        random.seed(SEED)
        lines = [f"{random.randrange(10**6)} {random.random()}\n" for _ in range(20_000)]
        cls.text = cls.folder / "text"
        cls.text.write_text("".join(lines))
        cls.packed = cls.folder / "text.gz"
        cls.packed.write_bytes(gzip.compress(cls.text.read_bytes(), mtime=0))

    def output(self, *command, status=0, **options):
        done = run(*command, **options)
        self.assertEqual(done.returncode, status, (command, done.stderr[-2000:]))
        return done.stdout

    def both_ways(self, *command):
        """The original's output, which the engine and `hoist run` must give as well."""
        if shutil.which(command[0]) is None:
            self.skipTest(f"{command[0]} is not installed")
        plain = self.output(*command)
        self.assertEqual(self.output(HOIST, *command), plain, command)
        self.assertEqual(self.output(HOIST, "run", "--", *command), plain, command)

    def test_sort(self):
        for options in ((), ("-n",), ("-u",), ("-k2,2g", "-r")):
            self.both_ways("sort", *options, self.text)

    def test_hashes(self):
        for program in HASHES:
            with self.subTest(program):
                self.both_ways(program, self.text, self.packed)

    def test_gzip(self):
        self.both_ways("gzip", "-dc", self.packed)
        self.both_ways("gzip", "-t", self.packed)

    def test_container(self):
        example = BUILD / "tests/container_example"
        path = self.folder / "example.holo"
        self.assertEqual(self.output(example, path), b"7: hello\n9: world\n")
        self.output(HOIST, "container", "verify", path)
        self.assertIn("blocks", json.loads(self.output(HOIST, "container", "info", "--json", path)))

    def test_match(self):
        patterns = self.folder / "patterns"
        patterns.write_text("".join(f"a{i} b{i % 7} c{i % 3}\n" for i in range(500)))
        index = self.folder / "index"
        self.output(HOIST, "match", "build", "--format", "lines", "-i", patterns, "-o", index)
        found = self.output(HOIST, "match", "query", index, "--state", '[["a3"],["b3"],["c0"]]')
        first = hashlib.sha1(repr([["a3"], ["b3"], ["c0"]]).encode()).hexdigest()
        self.assertIn(first, found.decode().splitlines()[0])

    def test_tensors(self):
        model = self.folder / "model.safetensors"
        model.write_bytes(safetensors([random.gauss(0, 1) for _ in range(4096)]))
        packed, back = self.folder / "model.holo", self.folder / "back.safetensors"
        self.output(HOIST, "tensors", "pack", model, "-o", packed)
        self.output(HOIST, "tensors", "verify", packed)
        self.output(HOIST, "tensors", "unpack", packed, "-o", back)
        self.assertEqual(back.read_bytes(), model.read_bytes())

    def test_reports(self):
        for command in (("--help",), ("--version",), ("options",), ("explain", "sort")):
            with self.subTest(command):
                self.assertTrue(self.output(HOIST, *command))
        self.assertTrue(run(HOIST, "doctor").stdout)
        self.assertTrue(self.output(BUILD / "bin/hoistd", "--help"))


if __name__ == "__main__":
    unittest.main()
