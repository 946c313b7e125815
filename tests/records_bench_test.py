#!/usr/bin/env python3
"""Black-box tests of `hoist records bench`: what it says it measured is what encoding gives."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

from hoist_tree import BUILD, environment, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench/records"))
import candles

TOOL = BUILD / "libexec/hoist/hoist-records"


def tool(*arguments, threads=2, **options):
    done = run(TOOL, *arguments, env=environment(HOIST_THREADS=str(threads)), **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


class RecordsBench(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="hoist-records-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.text = self.folder / "candles.jsonl"
        with self.text.open("w", encoding="ascii") as out:
            candles.write(out, 5000, "jsonl", 1)

    def stored(self, *more):
        file = self.folder / "x.hrec"
        status, out, err = tool("encode", self.text, "-o", file, "--force", "--json", *more)
        self.assertEqual((status, err), (0, ""))
        return json.loads(out)["bytes"]

    def check_ways(self, entry, expected):
        self.assertEqual([(way["effort"], way["threads"]) for way in entry["ways"]], expected)
        for way in entry["ways"]:
            self.assertAlmostEqual(way["ratio"], entry["text_bytes"] / way["bytes"])
            for rate in ("encode_mb_s", "decode_mb_s", "columns_mb_s"):
                self.assertGreater(way[rate], 0)

    def test_files_are_measured_without_and_with_best_on_one_core_and_all(self):
        log = self.folder / "a.log"
        log.write_text("".join(f"request {i} took {i % 7} ms\n" for i in range(500)), encoding="ascii")
        before = sorted(self.folder.iterdir())
        status, out, err = tool("bench", self.text, log, "--rounds", "2", "--json", cwd=self.folder)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(sorted(self.folder.iterdir()), before)
        first, second = json.loads(out)
        self.assertEqual((first["input"], first["format"], first["rows"], first["text_bytes"]),
                         (str(self.text), "json", 5000, self.text.stat().st_size))
        self.assertEqual((second["format"], second["rows"]), ("log", 500))
        for entry in (first, second):
            self.check_ways(entry, [("default", 1), ("default", 2), ("best", 1), ("best", 2)])
        self.assertEqual([way["bytes"] for way in first["ways"]],
                         [self.stored()] * 2 + [self.stored("--best")] * 2)

    def test_candles_are_generated_where_no_file_is_named(self):
        status, out, err = tool("bench", "--size", "200k", "--rounds", "1", "--json", threads=1)
        self.assertEqual((status, err), (0, ""))
        (entry,) = json.loads(out)
        self.assertEqual((entry["input"], entry["format"]), ("candles", "json"))
        self.assertTrue(190_000 < entry["text_bytes"] <= 200 * 1024, entry["text_bytes"])
        self.check_ways(entry, [("default", 1), ("best", 1)])
        self.assertGreater(entry["ways"][0]["ratio"], 10)

    def test_a_table_has_a_line_for_each_way(self):
        status, out, err = tool("bench", self.text, "--rounds", "1")
        self.assertEqual((status, err), (0, ""))
        head, names, *ways = out.splitlines()
        self.assertIn(f"{self.text.stat().st_size} bytes of text, 5000 rows (json)", head)
        self.assertIn("columns MB/s", names)
        self.assertEqual([line.split()[:2] for line in ways],
                         [["default", "1"], ["default", "2"], ["--best", "1"], ["--best", "2"]])

    def test_what_cannot_be_measured_is_refused(self):
        empty = self.folder / "empty"
        empty.touch()
        for name, expected, message in ((empty, 2, "nothing to measure"), (self.folder / "none", 1, "No such file"),
                                        (self.folder, 2, "name a plain file"), ("-", 2, "name a plain file")):
            status, out, err = tool("bench", name, "--rounds", "1")
            self.assertEqual((status, out), (expected, ""), name)
            self.assertIn(message, err)
        self.assertEqual(tool("bench", self.text, "--size", "1M")[0], 2)
        self.assertEqual(tool("bench", "--rounds", "0")[0], 2)

    def test_a_text_without_columns(self):
        noise = self.folder / "noise"
        noise.write_bytes(os.urandom(1 << 16))
        status, out, err = tool("bench", noise, "--rounds", "1", "--json")
        self.assertEqual((status, err), (0, ""))
        (entry,) = json.loads(out)
        self.check_ways(entry, [("default", 1), ("default", 2), ("best", 1), ("best", 2)])


if __name__ == "__main__":
    unittest.main()
