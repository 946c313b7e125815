#!/usr/bin/env python3
"""Every file under /usr/share/doc and /var/log, and what those that are compressed hold, goes through `hoist records` and
comes back byte for byte: encoded at once, and appended in pieces. `--most-bytes N` takes a sample of files of all sizes with about N
bytes of text in all."""

import argparse
import gzip
import hashlib
import os
import pathlib
import random
import sys
import tempfile
import unittest
import zlib

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-records"
FOLDERS = ("/usr/share/doc", "/var/log")
MOST_BYTES = 1 << 62
LARGEST = 64 << 20  # bytes of a text


def paths():
    for folder in FOLDERS:
        for root, _, names in os.walk(folder):
            for name in names:
                path = pathlib.Path(root, name)
                if path.is_file() and not path.is_symlink() and os.access(path, os.R_OK):
                    yield path


def content_of(path):
    """Its bytes, or what they are when they are decompressed."""
    with path.open("rb") as file:
        content = file.read(LARGEST)
    if path.suffix != ".gz":
        return content
    try:
        with gzip.open(path) as file:
            return file.read(LARGEST)
    except (OSError, EOFError, zlib.error):
        return content


def sample(found, most_bytes):
    """Files of all sizes: of those in the order of their sizes each N-th."""
    found = sorted(found, key=lambda path: (path.stat().st_size, path))
    sizes = [path.stat().st_size for path in found]
    step = 1
    while sum(sizes[step // 2::step]) > most_bytes:
        step += 1
    return found[step // 2::step]


class System(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="hoist-records-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.encoded = self.folder / "x.hrec"

    def tool(self, *words, **options):
        done = run(TOOL, *words, env=environment(HOIST_THREADS="2", HOIST_LOG="error"), **options)
        self.assertEqual((done.returncode, done.stderr), (0, b""), words)
        return done.stdout

    def at_once(self, path, content):
        """By its name, which may be that of a format, and as it lies on the disk where it is not compressed."""
        named = self.folder / f"text{pathlib.Path(path.name.removesuffix('.gz')).suffix}"
        named.write_bytes(content)
        self.tool("encode", named, "-o", self.encoded, "--force")
        named.unlink()
        self.assertTrue(self.tool("decode", self.encoded) == content, path)
        # Whatever a file holds, it grows by no more than a container with one block.
        self.assertLess(self.encoded.stat().st_size, 1.001 * len(content) + 600, path)

    def in_pieces(self, path, content):
        generator = random.Random(len(content))
        lines = content.splitlines(keepends=True) if b"\r" not in content else content.split(b"\n")
        if b"\r" in content:
            lines = [line + b"\n" for line in lines[:-1]] + lines[-1:]
        cuts = sorted(generator.randrange(len(lines) + 1) for _ in range(3))
        pieces = [b"".join(lines[a:b]) for a, b in zip([0, *cuts], [*cuts, len(lines)])]
        pieces = [piece for piece in pieces if piece] or [b""]
        if not all(piece.endswith(b"\n") for piece in pieces[:-1]):
            pieces = [b"".join(pieces)]
        self.tool("encode", "-", "-o", self.encoded, "--force", input=pieces[0])
        for piece in pieces[1:]:
            self.tool("append", "-", self.encoded, input=piece)
        self.assertTrue(self.tool("decode", self.encoded) == content, path)
        return len(pieces)

    def test_every_file_comes_back(self):
        found = list(paths())
        self.assertGreater(len(found), 0, f"no files in {FOLDERS}")
        taken = sample(found, MOST_BYTES)
        seen = set()
        texts = pieces = size = 0
        for path in taken:
            content = content_of(path)
            digest = hashlib.sha256(content).digest()
            if digest in seen:
                continue
            seen.add(digest)
            texts += 1
            size += len(content)
            self.at_once(path, content)
            pieces += self.in_pieces(path, content)
        self.assertGreater(texts, 0)
        self.assertGreater(size, 0)
        print(f"{texts} different texts of {size} bytes, {pieces} pieces, from {len(taken)} of {len(found)} files")


def main():
    global MOST_BYTES
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--most-bytes", type=int, default=MOST_BYTES)
    options, rest = parser.parse_known_args()
    MOST_BYTES = options.most_bytes
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
