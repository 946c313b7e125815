#!/usr/bin/env python3
"""scripts/check-docs on small made-up trees."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "check-docs"


class CheckDocsTest(unittest.TestCase):
    def violations(self, files):
        """What it says of a tree of {path: content}, its last line aside."""
        with tempfile.TemporaryDirectory() as root:
            for path, content in files.items():
                target = pathlib.Path(root, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(content, encoding="utf-8")
            done = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True,
                                  text=True, check=False)
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()[:-1]
        self.assertEqual(done.returncode, 1 if lines else 0)
        return lines

    def test_links_and_headings_that_exist(self):
        self.assertEqual(self.violations({
            "README.md": "# A\n[b](docs/README.md#sort---a-b) [a](#a) [far](https://example.org/#y)\n",
            "docs/README.md": "## `sort` - [a, b](x.svg)\n![x](x.svg)\n## Two\n## Two\n[](#two-1)\n",
            "docs/x.svg": "<svg/>"}), [])

    def test_figures_of_the_summary(self):
        row = "| [a](note.md#run) | peer | {} | 2 cores | 2026-01-01 |\n"
        note = "# A\n4.5x\n## Run\n7.73x and 12 s\n### More\n0.8\n## Next\n9.9x\n"
        tree = {"docs/README.md": "[m](measurements/README.md)", "docs/measurements/note.md": note}
        for figures in ("7.73x", "0.8 beside 12 s", "12 to 12"):
            self.assertEqual(self.violations(
                tree | {"docs/measurements/README.md": row.format(figures)}), [])
        for figure in ("7.7", "73", "4.5", "9.9", "1", "120"):
            self.assertEqual(self.violations(
                tree | {"docs/measurements/README.md": row.format(f"{figure}x")}),
                [f"docs/measurements/README.md:1: {figure}: not in note.md#run"])

    def test_one_tagline(self):
        tree = {"CMakeLists.txt": 'project(hoist VERSION 1\n        DESCRIPTION "Sorts it")\n',
                "README.md": "# Hoist\n\nSorts it.\n", "docs/hoist.1": ".SH NAME\nhoist \\- sorts it\n"}
        self.assertEqual(self.violations(tree), [])
        for path, text in (("README.md", "# Hoist\n\nSorts all.\n"), ("docs/hoist.1", "hoist \\- x\n"),
                           ("pyproject.toml", '[project]\ndescription = "Sorts them."\n')):
            lines = self.violations(tree | {path: text})
            self.assertEqual(len(lines), 1, lines)
            self.assertIn(f"{path}: has not the tagline of CMakeLists.txt: ", lines[0])

    def test_broken_links(self):
        self.assertEqual(self.violations({"README.md": "[a](b.md)\n\n[c](#d)\n[e](../out.md)\n"}), [
            "README.md:1: b.md: no such file", "README.md:3: #d: no such heading",
            "README.md:4: ../out.md: no such file"])

    def test_code_holds_no_links_and_no_headings(self):
        self.assertEqual(self.violations({
            "README.md": "`[a](b.md)`\n\n```sh\n# c\n[a](b.md) whoever\n```\n"}), [])
        self.assertEqual(self.violations({"README.md": "```sh\n# c\n```\n[c](#c)\n"}),
                         ["README.md:4: #c: no such heading"])

    def test_pages_that_nobody_finds(self):
        self.assertEqual(self.violations({"docs/README.md": "", "docs/a.md": "", "docs/b.svg": ""}), [
            "docs/a.md: no link leads here from docs/README.md",
            "docs/b.svg: no link leads here from docs/README.md"])

    def test_hard_words_in_pages_for_users_alone(self):
        text = "A comparator\nthat is\nnone.\n"
        self.assertEqual(self.violations({
            "docs/README.md": "[](reference/a.md) [](design/a.md)", "docs/reference/a.md": text,
            "docs/design/a.md": text}),
            ['docs/reference/a.md:2: "that is none": write instead: say what it is: an invalid …'])


if __name__ == "__main__":
    unittest.main()
