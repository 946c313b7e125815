#!/usr/bin/env python3
"""What `hoist records` says and gives of files that are damaged, cut off or unfinished: no row is lost silently, and
`repair` saves those that are whole."""

import json
import pathlib
import random
import tempfile
import unittest

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-records"


def lines_of(first, end):
    return b"".join(b'{"row": %d, "text": "%s"}\n' % (i, b"x" * (i % 7)) for i in range(first, end))


class Damage(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="hoist-records-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.file = self.folder / "x.hrec"
        self.saved = self.folder / "saved.hrec"

    def tool(self, *words, **options):
        done = run(TOOL, *words, env=environment(), **options)
        return done.returncode, done.stdout, done.stderr.decode()

    def good(self, *words, **options):
        status, out, err = self.tool(*words, **options)
        self.assertEqual((status, err), (0, ""), words)
        return out

    def make(self, sessions):
        """A file of so many commits of 100 rows; where each ends."""
        self.good("encode", "-", "-o", self.file, "--force", input=lines_of(0, 100))
        ends = [self.file.stat().st_size]
        for i in range(1, sessions):
            self.good("append", "-", self.file, input=lines_of(100 * i, 100 * (i + 1)))
            ends.append(self.file.stat().st_size)
        return ends

    def lost(self, *words):
        status, out, err = self.tool(*words)
        self.assertEqual(status, 1, words)
        self.assertIn("hoist: error: ", err)
        self.assertIn("`hoist records repair` saves the rows that are whole", err)
        return out

    def repair(self):
        report = json.loads(self.good("repair", self.file, "-o", self.saved, "--force", "--json"))
        return report, self.good("decode", self.saved)

    def test_a_cut_file_gives_its_rows_and_fails(self):
        content = lines_of(0, 100_000)
        self.good("encode", "-", "-o", self.file, input=content)
        good = self.file.read_bytes()
        self.file.write_bytes(good[:-100])
        out = self.lost("decode", self.file)
        self.assertGreater(len(out), 0)
        self.assertTrue(content.startswith(out))
        for words in (("columns", self.file, "--select", "row", "-o", self.folder / "x.npz"),
                      ("decode", self.file, "-o", self.folder / "text"), ("append", "/dev/null", self.file)):
            status, _, err = self.tool(*words)
            self.assertEqual((status, "repair" in err), (1, True), words)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["x.hrec"])
        facts = json.loads(self.lost("info", "--json", self.file))
        self.assertEqual((facts["state"], facts["rows"]), ("damaged", out.count(b"\n")))
        # Rows that are there are there.
        self.assertEqual(self.good("decode", self.file, "--rows", "5:7"), lines_of(5, 7))
        report, saved = self.repair()
        self.assertEqual((report["rows"], report["lost"]), (100_000, []))
        self.assertEqual(saved, content)

    def test_what_was_never_committed_is_no_loss(self):
        ends = self.make(2)
        self.file.write_bytes(self.file.read_bytes() + b"half a block")
        status, out, err = self.tool("decode", self.file)
        self.assertEqual((status, out), (0, lines_of(0, 200)))
        self.assertIn("warning: 12 bytes behind the last commit", err)
        self.assertEqual(json.loads(self.tool("info", "--json", self.file)[1])["state"], "unfinished")
        report, saved = self.repair()
        self.assertEqual((report["rows"], report["lost"], report["end_unknown"]), (200, [], True))
        self.assertEqual(saved, lines_of(0, 200))
        self.good("append", "-", self.file, input=lines_of(200, 201))
        self.assertEqual(self.good("decode", self.file), lines_of(0, 201))
        # A file that is cut in its last session is one that was never finished.
        good = self.file.read_bytes()
        self.file.write_bytes(good[:ends[1] + 20])
        self.assertEqual(self.tool("decode", self.file)[:2], (0, lines_of(0, 200)))

    def test_damage_in_front_of_a_commit_is_a_loss(self):
        ends = self.make(3)
        good = self.file.read_bytes()
        for change in (lambda b: b[:ends[0] + 8] + b"\0" * 8 + b[ends[0] + 16:-1] + b"\0",  # a header and the trailer
                       lambda b: b[:ends[0]] + b"stuffing" + b[ends[0]:],
                       lambda b: b[:ends[0]] + b[ends[0] + 9:]):
            self.file.write_bytes(change(good))
            self.assertEqual(self.lost("decode", self.file), lines_of(0, 100))
            report, saved = self.repair()
            self.assertTrue(saved.startswith(lines_of(0, 100)))
            self.assertTrue(saved.endswith(lines_of(200, 300)))
            self.assertEqual([(lost["first"], lost["end"]) for lost in report["lost"]],
                             [] if len(saved) == len(lines_of(0, 300)) else [(100, 200)])

    def test_a_damaged_block(self):
        for session in range(3):
            ends = self.make(3)
            begin = ([150] + ends)[session]
            bad = bytearray(self.file.read_bytes())
            bad[begin + 90] ^= 1
            self.file.write_bytes(bad)
            status, out, err = self.tool("decode", self.file)
            self.assertEqual((status, out), (1, lines_of(0, 100 * session)), err)
            report, saved = self.repair()
            kept = b"".join(lines_of(100 * i, 100 * (i + 1)) for i in range(3) if i != session)
            self.assertEqual(saved, kept)
            end = 100 * (session + 1) if session < 2 else None
            self.assertEqual(report["lost"], [{"first": 100 * session, "end": end, "text_bytes":
                                               len(lines_of(100 * session, 100 * (session + 1)))}])
            text = self.good("repair", self.file, "-o", self.saved, "--force").decode()
            self.assertIn("200 rows saved in 2 blocks", text)
            self.assertIn(f"lost: 100 rows, {100 * session}:{end} (" if end else "lost: all rows from 200 on (", text)

    def test_a_damaged_index(self):
        self.make(3)
        bad = bytearray(self.file.read_bytes())
        bad[-60] ^= 1  # in the list of the last commit
        self.file.write_bytes(bad)
        status, out, err = self.tool("decode", self.file)
        self.assertEqual((status, out), (0, lines_of(0, 300)))
        self.assertIn("warning: the index of", err)
        report, saved = self.repair()
        self.assertEqual((report["lost"], report["end_unknown"], saved), ([], False, lines_of(0, 300)))

    def test_what_an_ordinary_repair_leaves_out_is_a_loss(self):
        ends = self.make(3)
        bad = bytearray(self.file.read_bytes())
        bad[ends[0] + 90] ^= 1
        self.file.write_bytes(bad)
        done = run(BUILD / "libexec/hoist/hoist-container", "repair", self.file, "-o", self.folder / "c.hrec",
                   env=environment())
        self.assertEqual(done.returncode, 0)
        self.file = self.folder / "c.hrec"
        self.assertEqual(self.lost("decode", self.file), lines_of(0, 100))
        report, saved = self.repair()
        self.assertEqual(saved, lines_of(0, 100) + lines_of(200, 300))
        self.assertEqual([(lost["first"], lost["end"]) for lost in report["lost"]], [(100, 200)])

    def test_no_byte_of_a_file_loses_rows_silently(self):
        self.make(3)
        good = self.file.read_bytes()
        content = lines_of(0, 300)
        generator = random.Random(5)
        for _ in range(60):
            bad = bytearray(good)
            bad[generator.randrange(len(bad))] ^= 1 << generator.randrange(8)
            self.file.write_bytes(bad)
            status, out, err = self.tool("decode", self.file)
            self.assertTrue(content.startswith(out))
            self.assertTrue(status == 1 or out == content or "warning" in err, (status, err))
            status, out, err = self.tool("verify", self.file)
            self.assertEqual(status, 1)
            self.assertIn("hoist records repair", err)

    def test_what_verify_says(self):
        ends = self.make(3)
        good = self.file.read_bytes()
        damaged = bytearray(good)
        damaged[ends[0] + 90] ^= 1
        for content, word, state, said in (
                (good, "OK", "whole", ""),
                (good + bytes(5000), "UNFINISHED", "unfinished", "5000 bytes follow it"),
                (good[:-1], "UNFINISHED", "unfinished", "all rows up to the last commit are whole"),
                (good[:ends[0] - 1], "NOT COMMITTED", "uncommitted", "there is no commit"),
                (bytes(damaged), "DAMAGED", "damaged", "damaged: get the file again"),
                (bytes(damaged) + b"x", "DAMAGED", "damaged", "damaged: get the file again"),
                (good[:ends[0]] + b"stuffing" + good[ends[0]:], "DAMAGED", "damaged", "damaged: get the file again")):
            self.file.write_bytes(content)
            status, out, err = self.tool("verify", self.file)
            self.assertEqual(status, 1 if said else 0, err)
            self.assertTrue(out.decode().startswith(f"{self.file}: {word}, "), out)
            self.assertIn(said, err)
            self.assertEqual("`hoist records repair`" in err, bool(said))
            facts = json.loads(self.tool("verify", "--json", self.file)[1])["files"][0]
            self.assertEqual((facts["state"], facts["ok"]), (state, not said))
        for content, what in ((b"", "an empty file"), (b"some text\n", "text")):
            self.file.write_bytes(content)
            for command in ("verify", "info", "decode"):
                self.assertIn(f"not a .holo or .hrec file, but {what}", self.tool(command, self.file)[2])

    def test_repair_never_replaces(self):
        self.make(1)
        before = self.file.read_bytes()
        self.saved.write_bytes(b"precious")
        status, _, err = self.tool("repair", self.file, "-o", self.saved)
        self.assertEqual(status, 2)
        self.assertIn("exists", err)
        self.assertEqual(self.saved.read_bytes(), b"precious")
        for name in (self.file, "-"):
            self.assertEqual(self.tool("repair", self.file, "-o", name, "--force")[0], 2)
        self.assertEqual(self.file.read_bytes(), before)
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["saved.hrec", "x.hrec"])
        text = self.folder / "text"
        text.write_bytes(b"some text\n")
        self.assertEqual(self.tool("repair", text, "-o", self.folder / "new")[0], 1)
        self.assertFalse((self.folder / "new").exists())


if __name__ == "__main__":
    unittest.main()
