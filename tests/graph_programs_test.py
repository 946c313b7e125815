#!/usr/bin/env python3
"""hoist graph show and run: reports, JSON, pictures, arrays of files, messages and exit statuses."""

import json
import pathlib
import struct
import tempfile
import unittest

import svg_checks
from hoist_tree import HOIST, run

LAYER = """hoist graph 1 layer
%x = input : f32[2,3]
%w = input : f32[3,2]
%2 = matmul %x, %w : f32[2,2]
%3 = constant 0 : f32
%4 = maximum %2, %3 : f32[2,2]
%5 = sum %4 over [1] : f32[2,1]
%6 = astype %4 : i8[2,2]
return y = %4, %5, whole = %6
"""


def npy(code, shape, values):
    """A file of one array, of NumPy's format."""
    kind = {"<f4": "f", "|i1": "b", "<f8": "d"}[code]
    header = f"{{'descr': '{code}', 'fortran_order': False, 'shape': {shape}, }}".encode().ljust(117)
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(header) + 1) + header + b"\n" +
            struct.pack(f"<{len(values)}{kind}", *values))


def content(data):
    """Header and elements of such a file."""
    length = struct.unpack("<H", data[8:10])[0]
    return data[10:10 + length].decode(), data[10 + length:]


class GraphTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hoist-graph-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "layer.graph").write_text(LAYER)
        (self.folder / "x.npy").write_bytes(npy("<f4", (2, 3), [1, 2, 3, -1, -2, -3]))
        (self.folder / "w.npy").write_bytes(npy("<f4", (3, 2), [1, 0, 0, 1, 1, 1]))

    def graph(self, *words, status=0):
        done = run(HOIST, "graph", *words, cwd=self.folder)
        self.assertEqual(done.returncode, status, (words, done.stderr))
        return done.stdout.decode(), done.stderr.decode()


class Show(GraphTest):
    def test_the_report(self):
        said, _ = self.graph("show", "layer.graph")
        self.assertEqual(said, (
            "inputs   x f32[2,3]\n"
            "         w f32[3,2]\n"
            "outputs  y f32[2,2]\n"
            "         1 f32[2,1]\n"
            "         whole i8[2,2]\n"
            "4 nodes traced, 4 left, 1 kernel (25 % of the nodes traced)\n"
            "80 bytes moved, 0 planned between kernels\n"
            "   0:           80 bytes 100 %  matmul maximum sum astype\n"))

    def test_json(self):
        said = json.loads(self.graph("show", "layer.graph", "--json")[0])
        self.assertEqual(said, {
            "name": "layer",
            "inputs": [{"name": "x", "type": "f32", "shape": [2, 3]},
                       {"name": "w", "type": "f32", "shape": [3, 2]}],
            "outputs": [{"name": "y", "type": "f32", "shape": [2, 2]},
                        {"name": "", "type": "f32", "shape": [2, 1]},
                        {"name": "whole", "type": "i8", "shape": [2, 2]}],
            "nodes_traced": 4, "nodes_left": 4, "rewrites": 0, "bytes_moved": 80, "arena_bytes": 0,
            "results_in_place": 0,
            "kernels": [{"nodes": ["matmul", "maximum", "sum", "astype"], "bytes": 80}]})

    def test_the_picture(self):
        self.graph("show", "layer.graph", "-o", "layer.svg")
        picture = (self.folder / "layer.svg").read_text()
        self.assertEqual(svg_checks.faults(picture), [])
        self.assertIn("<title>layer</title>", picture)
        self.assertIn(">sum f32[2,1]<", picture)
        _, said = self.graph("show", "layer.graph", "-o", "layer.svg", status=2)
        self.assertIn("layer.svg exists", said)
        self.graph("show", "layer.graph", "-o", "layer.svg", "--force")

    def test_fast_math(self):
        (self.folder / "zero.graph").write_text(
            "hoist graph 1\n%x = input : f32[4]\n%1 = subtract %x, %x : f32[4]\n"
            "%2 = add %1, %x : f32[4]\nreturn %2\n")
        exact = json.loads(self.graph("show", "zero.graph", "--json")[0])
        fast = json.loads(self.graph("show", "zero.graph", "--json", "--fast-math")[0])
        self.assertEqual(exact["nodes_left"], 2)
        self.assertLess(fast["nodes_left"], 2)

    def test_what_is_wrong(self):
        (self.folder / "wrong.graph").write_text("hoist graph 1\n%x = inptu : f32\nreturn %x\n")
        _, said = self.graph("show", "wrong.graph", status=1)
        self.assertTrue(said.startswith("wrong.graph:2:6: error: no operation inptu\n"), said)
        self.assertIn("\n         ^~~~~\nmend: is it input?\n", said)
        _, said = self.graph("show", "none.graph", status=1)
        self.assertIn("none.graph", said)
        self.graph("show", status=2)


class Run(GraphTest):
    def test_arrays_of_files(self):
        self.graph("run", "layer.graph", "--in", "x=x.npy", "--in", "w=w.npy", "--out", "y=y.npy",
                   "--out", "whole=whole.npy", "--out", "1=sums.raw")
        header, values = content((self.folder / "y.npy").read_bytes())
        self.assertIn("'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)", header)
        self.assertEqual(struct.unpack("<4f", values), (4, 5, 0, 0))
        header, values = content((self.folder / "whole.npy").read_bytes())
        self.assertIn("'|i1'", header)
        self.assertEqual(values, bytes([4, 5, 0, 0]))
        self.assertEqual(struct.unpack("<2f", (self.folder / "sums.raw").read_bytes()), (9, 0))

    def test_raw_inputs(self):
        (self.folder / "x.raw").write_bytes(struct.pack("<6f", *[0.5] * 6))
        self.graph("run", "layer.graph", "--in", "x=x.raw", "--in", "w=w.npy", "--out", "y=y.raw")
        self.assertEqual(struct.unpack("<4f", (self.folder / "y.raw").read_bytes()), (1, 1, 1, 1))

    def test_what_is_wrong(self):
        def refused(part, *words):
            _, said = self.graph("run", "layer.graph", *words, status=2)
            self.assertIn(part, said)
            self.assertFalse((self.folder / "y.npy").exists())

        x, w, y = ("--in", "x=x.npy"), ("--in", "w=w.npy"), ("--out", "y=y.npy")
        refused("no array w (hoist graph run): give --in w=FILE", *x, *y)
        refused("no array v (--in): the file has x, w", *x, "--in", "v=w.npy", *y)
        refused("x is given twice", *x, *x, *w, *y)
        refused("lacks a name or a value (hoist graph run)", "--in", "x", *w, *y)
        refused("w.npy has f32[3,2], and the program's array x is f32[2,3]", "--in", "x=w.npy", *w, *y)
        (self.folder / "double.npy").write_bytes(npy("<f8", (2, 3), [0] * 6))
        refused("the file holds float64", "--in", "x=double.npy", *w, *y)
        refused("input and output are the same file", *x, *w, "--out", "y=x.npy", "--force")


if __name__ == "__main__":
    unittest.main()
