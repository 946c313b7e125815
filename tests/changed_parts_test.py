#!/usr/bin/env python3
"""scripts/changed-parts: which tests a changed file asks for."""

import importlib.machinery
import importlib.util
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "scripts" / "changed-parts"
INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def load_script():
    loader = importlib.machinery.SourceFileLoader("changed_parts", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("changed_parts", loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True  # scripts/ stays clean
CHANGED_PARTS = load_script()


class ChangedPartsTest(unittest.TestCase):
    def expect(self, path, *parts):
        with self.subTest(path):
            self.assertEqual(CHANGED_PARTS.parts_of(path), set(parts))

    def test_parts(self):
        self.expect("src/match/index/index.cc", "match", "python")
        self.expect("src/ops/sort/merge.cc", "sort")
        self.expect("src/cli/tensors/info.cc", "tensors", "python")
        self.expect("src/cli/tune/tune.cc", "cli")
        self.expect("python/hoist/match.py", "python")
        self.expect("tests/check_docs_test.py", "house")
        self.expect("src/base/file.cc", ".")
        self.expect("docs/README.md")

    def test_what_modules_of_python_are_made_of(self):
        for area in ("graph", "match", "px", "tensors"):
            self.expect(f"src/{area}/any/file.cc", area, "python")
        self.expect("src/graph/program/fuse.cc", "graph", "python")
        self.expect("src/net/listen.cc", "net")
        self.expect("src/python/px.cc", "python")

    def test_public_headers(self):
        self.expect("include/hoist/match.h", "capi", "cxx")
        self.expect("include/hoist/array.hpp", "capi", "cxx")

    def test_headers_that_the_library_of_cxx_installs(self):
        self.expect("src/match/index/index.h", "match", "cxx", "python")
        self.expect("src/codec/bitpack.h", "codec", "cxx")
        self.expect("src/ops/sort/merge.h", "sort")
        self.expect("src/base/file.h", ".", "cxx")

    def test_the_areas_of_installed_headers_are_complete(self):
        left = list((ROOT / "include/hoist").glob("*.hpp"))
        self.assertTrue(left)
        reached = set(left)
        while left:
            for name in INCLUDE.findall(left.pop().read_text(encoding="utf-8")):
                header = ROOT / "src" / name
                if not header.exists() or header in reached:
                    continue
                self.assertTrue(f"src/{name}".startswith(CHANGED_PARTS.CXX_HEADERS), name)
                reached.add(header)
                left.append(header)


if __name__ == "__main__":
    unittest.main()
