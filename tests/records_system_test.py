#!/usr/bin/env python3
"""Every file under /usr/share/doc and /var/log goes through `hoist records` and comes back byte for byte. `--sample N`
takes each N-th file of them."""

import argparse
import os
import pathlib
import sys
import tempfile
import unittest

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-records"
FOLDERS = ("/usr/share/doc", "/var/log")
SAMPLE = 1


def files():
    for folder in FOLDERS:
        for root, _, names in os.walk(folder):
            for name in sorted(names):
                path = pathlib.Path(root, name)
                if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
                    yield path


class System(unittest.TestCase):
    def test_every_file_comes_back(self):
        paths = list(files())[::SAMPLE]
        if not paths:
            self.skipTest("no files")
        with tempfile.TemporaryDirectory(prefix="hoist-records-") as folder:
            for path in paths:
                content = path.read_bytes()
                encoded = pathlib.Path(folder, "x.hrec")
                done = run(TOOL, "encode", "-", "-o", encoded, "--force", input=content, env=environment())
                self.assertEqual((done.returncode, done.stderr), (0, b""), path)
                done = run(TOOL, "decode", encoded, env=environment())
                self.assertEqual((done.returncode, done.stderr), (0, b""), path)
                self.assertTrue(done.stdout == content, path)
                # Whatever a file holds, it grows by no more than a container with one block.
                self.assertLess(encoded.stat().st_size, 1.001 * len(content) + 600, path)


def main():
    global SAMPLE
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sample", type=int, default=1)
    options, rest = parser.parse_known_args()
    SAMPLE = options.sample
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
