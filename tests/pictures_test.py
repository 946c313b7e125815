#!/usr/bin/env python3
"""The pictures of docs/ are whole, and those that scripts draw are today's."""

import pathlib
import subprocess
import unittest

import svg_checks
from hoist_tree import BUILD

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Pictures(unittest.TestCase):
    def test_texts_lie_inside_and_both_grounds_have_colours(self):
        pictures = sorted((ROOT / "docs").rglob("*.svg"))
        self.assertTrue(pictures)
        for path in pictures:
            with self.subTest(path.name):
                self.assertEqual(svg_checks.faults(path.read_text(encoding="utf-8")), [])

    def test_drawn_ones_are_todays(self):
        done = subprocess.run([ROOT / "scripts/pictures", "--check", BUILD], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_a_fault_is_found(self):
        page = ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 40">'
                '<style>text {{ font: 13px sans-serif }} .end {{ text-anchor: end }}</style>'
                '<text {} y="20">legend of a line</text></svg>')
        for place in ('x="2"', 'x="98" class="end"', 'x="10" y="90"'):
            with self.subTest(place):
                found = svg_checks.faults(page.format(place).replace('y="90" y="20"', 'y="90"'))
                self.assertEqual([fault.split(":")[0] for fault in found],
                                 ["outside of 100 x 40", "no colours for dark ground"])
        self.assertEqual(svg_checks.faults(page.format('x="2"').replace("0 0 100", "0 0 200")),
                         ["no colours for dark ground"])


if __name__ == "__main__":
    unittest.main()
