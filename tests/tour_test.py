#!/usr/bin/env python3
"""The tour's commands run, on small inputs, and print what its page says; the page is today's."""

import importlib.machinery
import importlib.util
import pathlib
import tempfile
import unittest

import svg_checks

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts/tour"
loader = importlib.machinery.SourceFileLoader("tour", str(SCRIPT))
tour = importlib.util.module_from_spec(importlib.util.spec_from_loader("tour", loader))
loader.exec_module(tour)

# What depends on the size: units, and where a sort runs (on how many CPUs are free, too).
DIFFERENT = ("KiB", "MiB", "GiB", "kB,", "MB,", "GB,", "cpu-all", "cpu-all,")


class Tour(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hoist-tour-test-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def test_commands_print_what_the_page_says(self):
        text = tour.filled(tour.TOUR.read_text(encoding="utf-8"), tour.SMALL)
        figures = self.folder / "figures"
        figures.mkdir()
        printed = tour.run_tour(text, self.folder, figures)
        recorded = tour.outputs_of(tour.PAGE.read_text(encoding="utf-8"))
        self.assertEqual(len(printed), len(recorded))
        for small, full in zip(printed, recorded):
            for word in tour.guides_test.stable_words(full):
                if small is not None and word not in DIFFERENT:
                    self.assertIn(word, small)
        for name, svg in tour.write_figures(text, printed, None).items():
            with self.subTest(name):
                self.assertEqual(svg_checks.faults(svg), [])
                self.assertGreaterEqual(svg.count(" fill"), 2)

    def test_page_is_todays(self):
        self.assertEqual(tour.check(), 0)

    def test_every_full_block_was_run(self):
        text = tour.filled(tour.TOUR.read_text(encoding="utf-8"), tour.FULL)
        self.assertNotIn("{{", text.replace("{{MACHINE}}", ""))
        self.assertEqual(set(tour.FULL), set(tour.SMALL))

    def test_page_keeps_outputs(self):
        text = ('{{MACHINE}}\n\n<!-- needs: x -->\n<!-- figure: a.svg, bars, Title, seconds -->\n```sh\nfirst\n```\n\n'
                '```python\nsecond\n```\n\nprose\n')
        page = tour.page_of(text, "Here.", ["one: 2.0 s\ntwo: 1.00 s\n", ""])
        self.assertEqual(page, "Here.\n\n```sh\nfirst\n```\n\n```text\none: 2.0 s\ntwo: 1.00 s\n```\n\n![Title](a.svg)\n"
                         "\n```python\nsecond\n```\n\nprose\n")
        self.assertEqual(tour.outputs_of(page), ["one: 2.0 s\ntwo: 1.00 s\n", ""])
        drawn = tour.write_figures(text, tour.outputs_of(page), None)
        self.assertEqual(list(drawn), ["a.svg"])
        self.assertIn(">two</text>", drawn["a.svg"])


if __name__ == "__main__":
    unittest.main()
