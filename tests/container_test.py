#!/usr/bin/env python3
"""Black-box tests of `hoist container`: info, verify and repair; and a look at the bytes of a file
where docs/reference/container.md says that they are."""

import json
import os
import pathlib
import struct
import tempfile
import unittest

from hoist_tree import BUILD, run

TOOL = BUILD / "libexec/hoist/hoist-container"


def tool(*arguments):
    done = run(TOOL, *arguments)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class ContainerCommand(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.good = self.folder / "good.holo"
        done = run(BUILD / "tests/container_example", self.good)
        self.assertEqual((done.returncode, done.stdout), (0, b"7: hello\n9: world\n"))

    def damaged(self, offset, name="bad.holo"):
        content = bytearray(self.good.read_bytes())
        content[offset] ^= 1
        path = self.folder / name
        path.write_bytes(content)
        return path

    def blocks(self, path):
        status, out, _ = tool("info", "--json", "--blocks", path)
        self.assertEqual(status, 0)
        return json.loads(out)["block_list"]

    def test_bytes_are_where_the_documentation_says(self):
        content = self.good.read_bytes()
        self.assertEqual(content[:8], b"\x89HOLO\r\n\x1a")
        self.assertEqual(struct.unpack_from("<HH4s", content, 8), (0, 0, b"EXAM"))
        self.assertEqual(content[32:36], b"HBLK")
        self.assertEqual(content[32 + 56:32 + 56 + 9], b"greetings")
        first = 32 + 56 + 9
        magic, section, number, raw, stored = struct.unpack_from("<4sIQQQ", content, first)
        self.assertEqual((magic, section, number, raw, stored), (b"HBLK", 0, 7, 5, 5))
        self.assertEqual(content[first + 56:first + 61], b"hello")
        magic, commit = struct.unpack_from("<8sQ", content, len(content) - 24)
        self.assertEqual((magic, content[commit:commit + 4]), (b"\x89HOLOEND", b"HBLK"))
        previous, total, entries = struct.unpack_from("<QQQ", content, commit + 56)
        self.assertEqual((previous, total, entries), (0, 2, 2))
        number, offset = struct.unpack_from("<QQ", content, commit + 56 + 72)
        self.assertEqual((number, offset), (7, first))

    def test_info(self):
        status, out, err = tool("info", self.good)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("kind EXAM", out)
        status, out, _ = tool("info", "--json", self.good)
        info = json.loads(out)
        self.assertEqual((info["blocks"], info["raw_bytes"], info["state"]), (2, 10, "committed"))
        self.assertEqual([block["id"] for block in self.blocks(self.good)], [7, 9])

    def test_verify(self):
        status, out, err = tool("verify", self.good)
        self.assertEqual((status, err), (0, ""))
        self.assertIn("OK, 2 blocks", out)
        block = self.blocks(self.good)[1]
        bad = self.damaged(block["offset"] + 56)
        status, out, err = tool("verify", self.good, bad)
        self.assertEqual(status, 1)
        self.assertIn(f"payload of block 9 at {block['offset'] + 56}, 5 bytes", out)
        self.assertRegex(err, r"^hoist: error: damaged container \(.*bad.holo\): ")
        status, out, _ = tool("verify", "--json", self.good, bad)
        good, bad = json.loads(out)["files"]
        self.assertEqual((status, good["ok"], bad["ok"], bad["blocks"]), (1, True, False, 1))
        self.assertEqual((bad["damage"][0]["kind"], bad["damage"][0]["block"]), ("payload", 9))

    def test_what_is_no_container(self):
        other = self.folder / "other.holo"
        for content, text in ((b"<html><body>" + bytes(100), "an HTML page, not the file itself"),
                              (bytes(200), "not a .holo or .hrec file \\(.*\\): check the path"),
                              (b"hello\n", "not a .holo or .hrec file, but text \\(.*\\): check the path"),
                              (b"", "not a .holo or .hrec file, but an empty file \\("),
                              (b"GGUF" + bytes(100), "not a .holo or .hrec file, but a GGUF model \\(")):
            other.write_bytes(content)
            for command in ("info", "verify"):
                status, _, err = tool(command, other)
                self.assertEqual(status, 1)
                self.assertRegex(err, "^hoist: error: " + text)
                self.assertNotIn("repair", err)
        # Damage at the beginning, or an end within it, makes no other file of it.
        sound = self.good.read_bytes()
        for content, text in ((b"X" + sound[1:], "not a Hoist container, or its first bytes are damaged"),
                              (sound[:20], "the file is cut off in its header")):
            other.write_bytes(content)
            status, _, err = tool("info", other)
            self.assertEqual(status, 1)
            self.assertRegex(err, f"^hoist: error: {text} .*hoist container repair")
        status, _, err = tool("info", self.folder / "none")
        self.assertEqual(status, 1)
        self.assertEqual(err, f"hoist: error: open {self.folder}/none: No such file or directory: "
                              "check the path\n")
        other.write_bytes(b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n")
        for words in (("info", other), ("verify", other), ("repair", other, "-o", other)):
            status, _, err = tool(*words)
            self.assertEqual(status, 1)
            self.assertRegex(err, "^hoist: error: a Git LFS pointer, not the file itself")

    def test_repair(self):
        bad = self.damaged(self.blocks(self.good)[0]["offset"])
        before = bad.read_bytes()
        fixed = self.folder / "fixed.holo"
        status, out, err = tool("repair", bad, "-o", fixed, "--json")
        self.assertEqual((status, err), (0, ""))
        report = json.loads(out)
        self.assertEqual((report["blocks"], report["damage"][0]["kind"]), (1, "gap"))
        self.assertEqual(tool("verify", fixed)[0], 0)
        self.assertEqual([block["id"] for block in self.blocks(fixed)], [9])
        self.assertEqual(bad.read_bytes(), before)

    def test_repair_refuses_and_leaves_nothing(self):
        status, _, err = tool("repair", self.good, "-o", self.good)
        self.assertEqual(status, 2)
        self.assertIn("same file", err)
        status, _, err = tool("repair", self.good, "-o", "/dev/null")
        self.assertEqual(status, 2)
        self.assertIn("not a regular file", err)
        self.assertTrue(pathlib.Path("/dev/null").is_char_device())
        noise = self.folder / "noise"
        noise.write_bytes(os.urandom(1000))
        status, _, err = tool("repair", noise, "-o", self.folder / "out")
        self.assertEqual(status, 1)
        self.assertIn("nothing of a container", err)
        self.assertFalse((self.folder / "out").exists())

    def test_errors(self):
        for arguments, expected in (
                (("verify", self.folder / "none"), 1),
                (("info", self.folder), 2),
                (("info", "/dev/null"), 2),
                ((), 2),
                (("verify",), 2),
                (("mend", self.good), 2)):
            with self.subTest(arguments=arguments):
                status, out, err = tool(*arguments)
                self.assertEqual((status, out), (expected, ""))
                self.assertRegex(err, r"^hoist: error: ")
        status, out, _ = tool("--help")
        self.assertEqual(status, 0)
        self.assertIn("Examples:", out)


if __name__ == "__main__":
    unittest.main()
