#!/usr/bin/env python3
"""The commands of README.md and docs/guides run as they are printed.

Each page gets a scratch folder, in which its ```sh blocks run one after the other, with the tree's
programs in PATH and its Python package in PYTHONPATH. Each must end with status 0, and where a
```text block follows, what it prints must have its words, but for those with digits in them, which
differ from run to run. A comment before a block says what it needs, or why it is not run:

    <!-- not run: needs root -->
    <!-- needs: numpy, pkg-config -->

What is needed is a program, or a module of Python's."""

import functools
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from hoist_tree import BUILD, environment, run

HERE = pathlib.Path(__file__).resolve().parent.parent
# Beside the tests in a checkout; where programs are installed in a bundle.
PAGES = HERE if (HERE / "docs/guides").exists() else HERE / "share/doc/hoist"
MODULES = ("numpy", "ml_dtypes", "pyarrow", "rapidfuzz", "torch")
BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>not run|needs): (?P<what>[^>]*?) -->\n)?"
    r"^```sh\n(?P<commands>.*?)^```\n"
    r"(?:\n^```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)
LIMIT_SECONDS = 120


def stable_words(text):
    """What an output must have: words without digits; an ellipsis stands for anything."""
    return [word for word in text.split() if not re.search(r"\d|…", word)]


def python_with_modules():
    """A folder whose python3 has the modules: the one that scripts/setup makes, else the system's."""
    for folder in (HERE / "build/venv/bin", BUILD.parent / "venv/bin"):
        if (folder / "python3").exists():
            return folder
    return None


def guide_environment(folder):
    python = python_with_modules()
    paths = [BUILD / "bin", *([python] if python else [])]
    changes = {
        "PATH": os.pathsep.join([*map(str, paths), os.environ["PATH"]]),
        "PYTHONPATH": str(BUILD / "python"),
        "HOME": str(folder / "home"),
        "XDG_CACHE_HOME": None,
        "XDG_DATA_HOME": None,
        "TMPDIR": str(folder),
        # What `make install` would have put into place for C and C++.
        "PKG_CONFIG_PATH": str(BUILD / "lib/pkgconfig"),
        "C_INCLUDE_PATH": str(HERE / "include"),
        "CMAKE_PREFIX_PATH": str(BUILD),
    }
    return environment(**changes)


@functools.lru_cache(maxsize=None)
def is_here(need):
    env = guide_environment(pathlib.Path(tempfile.gettempdir()))
    if need in ("cc", "c++") and os.environ.get("HOIST_SANITIZE"):
        return False  # a program needs the sanitizer's runtime before our library's
    if need not in MODULES:
        return shutil.which(need, path=env["PATH"]) is not None
    return subprocess.run(["python3", "-c", f"import {need}, hoist.tensors"], env=env,
                          capture_output=True, check=False).returncode == 0


class Guides(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hoist-guide-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "home").mkdir()
        self.work = self.folder / "work"
        self.work.mkdir()
        self.env = guide_environment(self.folder)

    def follow(self, page):
        """Runs a page's blocks; returns how many ran."""
        text = page.read_text(encoding="utf-8")
        self.assertEqual(text.count("\n```sh\n"), len(BLOCK.findall(text)), f"{page}: not closed")
        ran = 0
        for block in BLOCK.finditer(text):
            where = f"{page.name}:{text.count(chr(10), 0, block.start('commands')) + 1}"
            if block["mark"] == "not run":
                self.assertTrue(block["what"], f"{where}: says not why it is not run")
                continue
            needs = block["what"].split(", ") if block["mark"] == "needs" else []
            if lacking := [need for need in needs if not is_here(need)]:
                print(f"{where}: skipped: no {', '.join(lacking)}", file=sys.stderr)
                continue
            with self.subTest(where):
                self.run_block(where, block)
            ran += 1
        return ran

    def run_block(self, where, block):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block["commands"]], cwd=self.work,
                              env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, check=False)
        output = done.stdout.decode(errors="replace")
        self.assertEqual(done.returncode, 0, f"{where}:\n{block['commands']}\n{output}")
        for word in stable_words(block["output"] or ""):
            self.assertIn(word, output, f"{where}: {word!r} is not printed")

    def test_readme(self):
        """Its files are those of any machine, so they are made here, and its tree is this one."""
        (self.work / "build").mkdir()
        (self.work / "build/release").symlink_to(BUILD)
        numbers = "".join(f"{number * 7919 % 1000003} a line of text\n" for number in range(100000))
        (self.work / "huge.txt").write_text(numbers)
        (self.work / "disc.iso").write_bytes(os.urandom(1 << 20))
        subprocess.run(["gzip", "-k", "huge.txt"], cwd=self.work, check=True)
        (self.work / "huge.txt.gz").rename(self.work / "access.log.gz")
        self.assertGreater(self.follow(PAGES / "README.md"), 0)

    def test_guides(self):
        pages = sorted((PAGES / "docs/guides").glob("*.md"))
        self.assertTrue(pages)
        for page in pages:
            with self.subTest(page.name):
                self.work = self.folder / page.stem
                self.work.mkdir()
                self.follow(page)

    def test_one_tagline(self):
        """scripts/check-docs compares the sources'; this is what a user of the programs reads."""
        tagline = run(BUILD / "bin/hoist", "--help").stdout.decode().splitlines()[0]
        self.assertIn(f"\n{tagline}\n", (PAGES / "README.md").read_text(encoding="utf-8"))
        if (package := BUILD / "lib/pkgconfig/hoist.pc").exists():
            self.assertIn(f"\nDescription: {tagline[:-1]}\n", package.read_text(encoding="utf-8"))

    def test_words_that_must_be_printed(self):
        self.assertEqual(stable_words("hoist: sort x.txt (pid 4303): … all CPUs\n"),
                         ["hoist:", "sort", "x.txt", "(pid", "all", "CPUs"])

    def test_marks(self):
        blocks = list(BLOCK.finditer("<!-- not run: needs root -->\n```sh\na\n```\n\nx\n\n"
                                     "```sh\nb\n```\n\n```text\nc\n```\n"))
        self.assertEqual([(block["mark"], block["commands"], block["output"]) for block in blocks],
                         [("not run", "a\n", None), (None, "b\n", "c\n")])


if __name__ == "__main__":
    unittest.main()
