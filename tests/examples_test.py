#!/usr/bin/env python3
"""The programs of examples/ do what their descriptions say, and replace nobody's file."""

import os
import pathlib
import tempfile
import unittest

from hoist_tree import BUILD, run

PRECIOUS = b"nobody has another copy of this\n"


class Examples(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hoist-examples-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def works(self, name, output, pattern, given=None):
        """`output` is the file that it writes; `given` what it is called with, if that is not it."""
        program, path = BUILD / "tests" / name, self.folder / output
        lost = run(program)
        self.assertEqual((lost.returncode, lost.stdout), (2, b""))
        self.assertRegex(lost.stderr, rb"^usage: \S+ [A-Z]+(\.holo)?\n$")
        given = path if given is None else given
        path.write_bytes(PRECIOUS)
        refused = run(program, given)
        self.assertEqual(refused.returncode, 1, refused)
        self.assertIn(b"exists", refused.stdout + refused.stderr)
        self.assertEqual(path.read_bytes(), PRECIOUS)
        path.unlink()
        done = run(program, given)
        self.assertEqual(done.returncode, 0, done)
        self.assertRegex(done.stdout.decode(), pattern)
        self.assertGreater(path.stat().st_size, len(PRECIOUS))

    def test_capi(self):
        self.works("capi_example", "weights.holo", r'all layers: bit for bit\n(?s:.*)"missing": ')

    def test_capi_px(self):
        own_cache = {**os.environ, "XDG_CACHE_HOME": str(self.folder)}
        done = run(BUILD / "tests" / "capi_px_example", env=own_cache)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout.decode().splitlines()[:2],
                         ["saxpy takes x in f32[], y inout f32[], a in f32, n in i32",
                          "2 x + 1: 1 3 5 ... 1999, on the CPU"])
        self.assertIn("line 4, column 8: no name tdi; is it tid?", done.stdout.decode())

    def test_capi_graph(self):
        done = run(BUILD / "tests" / "capi_graph_example")
        self.assertEqual(done.returncode, 0, done)
        lines = done.stdout.decode().splitlines()
        self.assertEqual(lines[0], "hoist graph 1")
        self.assertIn("7 nodes traced, 7 left, 1 kernel (14 % of the nodes traced)", lines)
        self.assertEqual(lines[-3:], ["0.599 0.401", "0.378 0.622", "mark@c07"])

    def test_hologram(self):
        done = run(BUILD / "tests" / "graph_hologram_example")
        self.assertEqual((done.returncode, done.stdout), (0, b"4 5\n0 0\nsum: 9\n"))

    def test_container(self):
        self.works("container_example", "c.holo", "7: hello\n9: world\n")

    def test_placement(self):
        self.works("placement_example", "profile", r"8388608 bytes: cpu-(1|all) says 44040192")

    def test_tensors(self):
        self.works("tensors_example", "weights.holo", "exactly the trained network", self.folder)
        (self.folder / "weights.holo").unlink()
        (self.folder / "convergence.svg").unlink()
        self.works("tensors_example", "convergence.svg", "exactly the trained network", self.folder)


if __name__ == "__main__":
    unittest.main()
