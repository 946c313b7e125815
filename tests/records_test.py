#!/usr/bin/env python3
"""Black-box tests of `hoist records`: any text goes in and comes back byte for byte, whole or in rows; columns are
what Python reads from the text; damage is found."""

import csv
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None

from hoist_tree import BUILD, environment, run

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench/records"))
import candles

TOOL = BUILD / "libexec/hoist/hoist-records"


def tool(*arguments, **options):
    done = run(TOOL, *arguments, env=environment(HOIST_THREADS="2"), **options)
    return done.returncode, done.stdout, done.stderr.decode()


class Records(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="hoist-records-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.file = self.folder / "x.hrec"

    def encode(self, content, *more):
        text = self.folder / "in"
        text.write_bytes(content)
        status, out, err = tool("encode", text, "-o", self.file, "--force", "--json", *more)
        self.assertEqual((status, err), (0, ""))
        return json.loads(out)

    def decode(self, *more):
        status, out, err = tool("decode", self.file, *more)
        self.assertEqual((status, err), (0, ""))
        return out

    def candles(self, rows, form, symbols=1):
        path = self.folder / "candles"
        with path.open("w", encoding="ascii") as out:
            entropy = candles.write(out, rows, form, symbols)
        return path.read_bytes(), entropy

    def test_formats_are_detected_and_come_back(self):
        for form, expected in (("jsonl", "json"), ("csv", "csv"), ("pairs", "pairs")):
            content, _ = self.candles(3000, form, 3)
            facts = self.encode(content)
            self.assertEqual(facts["format"], expected)
            self.assertEqual(facts["rows"], content.count(b"\n"))
            self.assertEqual(self.decode(), content)
        for content, expected in (("⟆⟐.RAW:[§₿»⏱68a128dc»↗117391.31,✓]\n".encode() * 3, "symbolic"),
                                  (b"LORETOKEN.PRICE:[BTC-USD,ts:1755392220,o:1.5,ACTIVE]\n" * 3, "symbolic"),
                                  (b"2024-01-31 13:55:36 started\nwaited 5 ms\n", "log"),
                                  (bytes(range(256)), "plain"), (b"", "plain")):
            self.assertEqual(self.encode(content)["format"], expected)
            self.assertEqual(self.decode(), content)

    def test_any_format_takes_any_bytes(self):
        generator = random.Random(7)
        contents = [generator.randbytes(5000), b'{"a": 1}\n{"a": "\xff\0"}\r\n[' * 50, b"\n" * 100, b"no line end"]
        for form in ("json", "csv", "pairs", "symbolic", "log", "plain"):
            for content in contents:
                self.encode(content, "--format", form)
                self.assertEqual(self.decode(), content)

    def test_candles_take_little_more_than_their_entropy(self):
        content, entropy = self.candles(100_000, "jsonl")
        facts = self.encode(content)
        self.assertEqual(self.decode(), content)
        self.assertLess(facts["bytes"], 1.05 * entropy)

    def test_best_is_never_other_text(self):
        content, _ = self.candles(2000, "csv")
        content += b"and a line of words, and more of them\n" * 50
        self.encode(content, "--best")
        self.assertEqual(self.decode(), content)

    def test_rows(self):
        content, _ = self.candles(70_000, "jsonl")
        self.encode(content)
        lines = content.splitlines(keepends=True)
        for rows, expected in (("0:1", lines[:1]), ("65530:65540", lines[65530:65540]), (":3", lines[:3]),
                               ("69999:", lines[69999:]), ("5:5", []), ("80000:", []), ("7:3", [])):
            self.assertEqual(self.decode("--rows", rows), b"".join(expected), rows)
        for wrong in ("5", "a:b", "1:2:3", "-1:2"):
            self.assertEqual(tool("decode", self.file, f"--rows={wrong}")[0], 2, wrong)

    def test_conditions(self):
        content, _ = self.candles(70_000, "jsonl", 2)
        self.encode(content)
        rows = [(line, json.loads(line)) for line in content.splitlines(keepends=True)]
        middle = rows[40_000][1]["timestamp"]
        for conditions, holds in (
                ([f"timestamp>={middle}"], lambda row: row["timestamp"] >= middle),
                ([f"/timestamp<{middle}", "symbol=ETH-USD"],
                 lambda row: row["timestamp"] < middle and row["symbol"] == "ETH-USD"),
                (["volume>5", "close!=0"], lambda row: float(row["volume"]) > 5),
                (["granularity>60"], lambda row: False)):
            words = [word for condition in conditions for word in ("--where", condition)]
            self.assertEqual(self.decode(*words), b"".join(line for line, row in rows if holds(row)), conditions)
        self.assertEqual(tool("decode", self.file, "--where", "close")[0], 2)
        self.assertEqual(tool("decode", self.file, "--where", "nothing=1")[0], 1)

    def test_info_lists_the_columns(self):
        content, _ = self.candles(5000, "csv")
        self.encode(content)
        status, out, _ = tool("info", "--json", self.file)
        self.assertEqual(status, 0)
        facts = json.loads(out)
        table = list(csv.DictReader(content.decode().splitlines()))
        self.assertEqual((facts["rows"], facts["text_bytes"]), (len(table) + 1, len(content)))
        columns = {column["path"]: column for column in facts["columns"]}
        self.assertEqual(set(columns), {"/" + name for name in table[0]})
        for name in ("timestamp", "open", "volume"):
            values = [float(row[name]) for row in table]
            self.assertEqual((columns["/" + name]["least"], columns["/" + name]["most"]), (min(values), max(values)))
            self.assertEqual(columns["/" + name]["values"], len(values))
        self.assertEqual(columns["/granularity"]["types"], ["constant"])
        self.assertLess(sum(column["bytes"] for column in facts["columns"]), facts["bytes"])
        self.assertIn(b"/volume", tool("info", self.file)[1])

    @unittest.skipUnless(numpy, "no numpy")
    def test_columns_are_those_that_python_reads(self):
        content, _ = self.candles(70_000, "jsonl", 3)
        content += b'{"symbol": "x", "extra": [1, 2]}\nno JSON\n{"extra": [3], "price": null}\n'
        self.encode(content)
        rows = [json.loads(line) if line.startswith(b"{") else {} for line in content.splitlines()]
        output = self.folder / "x.npz"
        names = ("symbol", "timestamp", "close", "extra[]", "price", "granularity")
        status, _, err = tool("columns", self.file, "--select", ",".join(names), "-o", output)
        self.assertEqual((status, err), (0, ""))
        arrays = numpy.load(output)
        for name, kind in (("timestamp", "i8"), ("close", "f8"), ("granularity", "i8")):
            found = [(i, row[name]) for i, row in enumerate(rows) if name in row]
            self.assertEqual(arrays[name].dtype, kind)
            self.assertEqual(arrays[name].tolist(), [float(value) for _, value in found])
            self.assertEqual(arrays[name + ".rows"].tolist(), [i for i, _ in found])
        self.assertEqual(arrays["extra[]"].tolist(), [1, 2, 3])
        self.assertEqual(arrays["extra[].rows"].tolist(), [70_000, 70_000, 70_002])
        for name in ("symbol", "price"):
            text, offsets = arrays[name + ".bytes"].tobytes(), arrays[name + ".offsets"].tolist()
            values = [text[a:b].decode() for a, b in zip(offsets, offsets[1:])]
            self.assertEqual(values, ["null" if row[name] is None else row[name] for row in rows if name in row])
        content, _ = self.candles(1000, "jsonl")
        self.encode(content)
        self.assertEqual(tool("columns", self.file, "--select", "/close", "-o", output, "--force")[0], 0)
        self.assertEqual(set(numpy.load(output)), {"/close"})
        self.assertEqual(tool("columns", self.file, "--select", "none", "-o", output, "--force")[0], 1)

    def test_append(self):
        content, _ = self.candles(3000, "csv")
        self.encode(content)
        more = self.folder / "more"
        more.write_bytes(content.split(b"\n", 1)[1])
        status, _, err = tool("append", more, self.file)
        self.assertEqual((status, err), (0, ""))
        status, _, err = tool("append", "-", self.file, input=b"x\nlast")
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(self.decode(), content + more.read_bytes() + b"x\nlast")
        status, _, err = tool("append", more, self.file)
        self.assertEqual(status, 2)
        self.assertIn("no line feed", err)
        self.assertNotEqual(tool("append", self.file, self.file)[0], 0)
        self.assertEqual(tool("append", more, self.folder / "none.hrec")[0], 1)

    def test_pipes(self):
        content, _ = self.candles(20_000, "jsonl")
        status, _, err = tool("encode", "-", "-o", self.file, input=content)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(self.decode("-o", "-"), content)
        reader = subprocess.Popen([TOOL, "decode", self.file], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env=environment())
        reader.stdout.read(10)
        reader.stdout.close()
        self.assertNotEqual(reader.wait(60), 0)  # said, or ended by SIGPIPE
        reader.stderr.close()

    def test_damage_is_found(self):
        content, _ = self.candles(3000, "jsonl")
        self.encode(content)
        good = self.file.read_bytes()
        self.assertEqual(tool("verify", self.file)[0], 0)
        generator = random.Random(3)
        for _ in range(30):
            bad = bytearray(good)
            bad[generator.randrange(len(bad))] ^= 1 << generator.randrange(8)
            self.file.write_bytes(bad)
            status, out, err = tool("verify", "--json", self.file)
            self.assertEqual((status, json.loads(out)["files"][0]["ok"]), (1, False), err)
            status, out, _ = tool("decode", self.file)
            self.assertTrue(content.startswith(out))
            self.assertTrue(status == 0 or out != content)
        self.file.write_bytes(good[:len(good) * 2 // 3])
        self.assertEqual(tool("verify", self.file)[0], 1)

    def test_what_is_no_file_of_records(self):
        self.file.write_bytes(b"text\n")
        for command in ("decode", "info", "verify"):
            status, out, err = tool(command, self.file)
            self.assertEqual((status, out), (1, b""), command)
            self.assertIn("hoist: error:", err)
            self.assertEqual(tool(command, self.folder / "none")[0], 1)

    def test_a_failure_leaves_nothing(self):
        before = set(os.listdir(self.folder))
        self.assertEqual(tool("encode", self.folder / "none", "-o", self.file)[0], 1)
        self.assertEqual(set(os.listdir(self.folder)), before)


if __name__ == "__main__":
    unittest.main()
