#!/usr/bin/env python3
"""What `hoist records encode` takes a CSV's first line for, files of records in pipes, and names of columns that need
care."""

import json
import os
import pathlib
import random
import resource
import tempfile
import unittest
import xml.etree.ElementTree

try:
    import numpy
except ImportError:
    numpy = None

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-records"


class Encode(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="hoist-records-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.file = self.folder / "x.hrec"

    def tool(self, *words, **options):
        done = run(TOOL, *words, env=environment(HOIST_THREADS="2"), **options)
        return done.returncode, done.stdout, done.stderr.decode()

    def good(self, *words, **options):
        status, out, err = self.tool(*words, **options)
        self.assertEqual((status, err), (0, ""), words)
        return out

    def columns(self, content, *more):
        self.good("encode", "-", "-o", self.file, "--force", *more, input=content.encode())
        self.assertEqual(self.good("decode", self.file).decode(), content)
        return [column["path"] for column in json.loads(self.good("info", "--json", self.file))["columns"]
                if column["kind"] != "line"]

    def test_headers_are_found(self):
        names = ("Anna Maria", "Bob", "Carl", "Dora O'Neill") * 3
        for head, rows in (
                ("name,city", [f"{name},Berlin" for name in names]),
                ("user_id;country;plan", [f"Anna;{c};{p}" for c, p in zip("DE FR DE IT".split() * 3,
                                                                          ["Free", "Pro"] * 6)]),
                ("Street,House", [f"Long Road,{i} b" for i in range(1, 9)]),
                ("Colour,Shape", [f"{c},round" for c in ["red", "green", "blue"] * 6]),
                ("time,price", ["1,2.5", "2,3.5"]), ("day,text", ["2024-01-31,a", "2024-02-01,b"]),
                ('"first, last",born', ['"Ann, Lee",1990', '"Bo, Lee",1991'])):
            sign = ";" if ";" in head else ","
            expected = ["/" + field for field in
                        (["first, last", "born"] if head.startswith('"') else head.split(sign))]
            found = self.columns("\n".join([head, *rows]) + "\n")
            self.assertEqual(sorted(found), sorted(expected), head)

    def test_rows_are_no_header(self):
        for rows in (["red,round", "green,round", "red,square", "blue,round"] * 4, ["Anna,Berlin", "Bob,Paris"],
                     ["a,b", "c,d", "e,f"], ["1,2", "3,4"], ["x,x", "1,2"], ["", "time,price", "1,2"]):
            found = self.columns("\n".join(rows) + "\n", "--format", "csv")
            self.assertEqual(sorted(found), ["/0", "/1"], rows)

    def test_header_yes_and_no(self):
        content = "Name,City\nAnna,Berlin\nBob,Paris\n"
        self.assertEqual(self.columns(content), ["/0", "/1"])
        self.assertEqual(self.columns(content, "--header", "yes"), ["/Name", "/City"])
        self.assertEqual(self.columns("time,price\n1,2\n3,4\n", "--header", "no"), ["/0", "/1"])
        self.assertEqual(self.columns("Name\nAnna\nBob\n", "--format", "csv", "--header", "yes"), ["/Name"])
        status, _, err = self.tool("encode", "-", "-o", self.file, "--force", "--header", "yes",
                                   input=b'{"a": 1}\n' * 3)
        self.assertEqual(status, 2)
        self.assertIn("only CSV has a header", err)

    def test_random_tables_come_back(self):
        generator = random.Random(21)
        for _ in range(15):
            width = generator.randrange(1, 5)
            rows = [",".join(generator.choice(("", "a", '"', '""', "1", "x y", '"a,b"', "é", "a_b"))
                             for _ in range(width)) for _ in range(generator.randrange(1, 20))]
            for header in ("yes", "no", "auto"):
                self.columns("\n".join(rows) + "\n", "--format", "csv", "--header", header)

    def test_a_pipe_takes_the_file(self):
        content = b'{"a": 1}\n' * 1000
        stored = self.good("encode", "-", "-o", "-", input=content)
        self.file.write_bytes(stored)
        self.assertEqual(self.good("decode", self.file), content)
        self.assertEqual(self.tool("encode", "-", "-o", "-", "--json", input=content)[:2], (2, b""))
        status, out, err = self.tool("columns", self.file, "--select", "a", "-o", "-", cwd=self.folder)
        self.assertEqual((status, err), (0, ""))
        self.assertEqual(out[:4], b"\xff\xff\xff\xff")  # a stream of Arrow
        self.assertEqual([path.name for path in self.folder.iterdir()], ["x.hrec"])

    @unittest.skipUnless(numpy, "no numpy")
    def test_arrays_of_two_columns_with_one_name(self):
        lines = [json.dumps({"a": 1, "a.rows": 2, "t": "x", "t.bytes": 5, "b,c": 7, 'q"q': 8}), json.dumps({"z": 0})]
        self.good("encode", "-", "-o", self.file, input="".join(line + "\n" for line in lines * 5).encode())
        output = self.folder / "x.npz"
        for names in ("a,a.rows", "t,t.bytes"):
            status, _, err = self.tool("columns", self.file, "--select", names, "-o", output)
            self.assertEqual(status, 2)
            self.assertIn("both have an array " + names.split(",")[1], err)
            self.assertFalse(output.exists())
        self.good("columns", self.file, "--select", 'a,"b,c"', "--select", '"q\\""q",a', "-o", output)
        found = numpy.load(output)
        self.assertEqual(sorted(found), ["a", "a.rows", "b,c", "b,c.rows", 'q\\"q', 'q\\"q.rows'])
        self.assertEqual(found["b,c"].tolist(), [7] * 5)
        self.assertEqual(self.tool("columns", self.file, "--select", '"a', "-o", output, "--force")[0], 2)

    @unittest.skipUnless(numpy, "no numpy")
    def test_arrays_of_a_name_of_any_bytes(self):
        self.good("encode", "-", "-o", self.file, input=b'{"k\xff": 1, "\xc3\xa9": 2}\n' * 3)
        output = self.folder / "x.npz"
        self.good("columns", self.file, "--select", os.fsdecode(b"k\xff,\xc3\xa9"), "-o", output)
        found = numpy.load(output)
        self.assertEqual(found["\u00e9"].tolist(), [2] * 3)
        self.assertEqual(sorted(found[name].tolist()[0] for name in found), [1, 2])

    def test_plot(self):
        lines = [json.dumps({"a<&b": i, "é": "x" * (i % 9), "n" * 200: i * 1.5}, ensure_ascii=False).encode()
                 for i in range(500)]
        content = b"\n".join([*lines, b'{"bad \xff": 1, "\x01": 2}', b""])
        self.good("encode", "-", "-o", self.file, "--format", "json", input=content)
        plot = self.folder / "x.svg"
        for more in ((), ("--json",)):
            self.good("info", self.file, "--plot", plot, "--force", *more)
            words = [text.text for text in xml.etree.ElementTree.parse(plot).iter() if text.tag.endswith("text")]
            self.assertIn("/a<&b", words)
            self.assertIn("shapes, names, index", words)
            self.assertTrue(any(word.startswith("/nnn") and word.endswith("…") for word in words))
        before = plot.read_bytes()
        self.assertEqual(self.tool("info", self.file, "--plot", plot)[0], 2)
        self.assertEqual(self.tool("info", self.file, "--plot", self.file, "--force")[0], 2)
        self.assertEqual(plot.read_bytes(), before)
        # More columns than there are bars.
        self.good("encode", "-", "-o", self.file, "--force", input=(json.dumps({f"k{i}": i for i in range(90)}) +
                                                                   "\n").encode() * 3)
        self.good("info", self.file, "--plot", plot, "--force")
        self.assertIn("50 other columns", plot.read_text(encoding="utf-8"))
        self.good("encode", "/dev/null", "-o", self.file, "--force")
        self.good("info", self.file, "--plot", plot, "--force")

    def test_out_of_memory(self):
        self.good("encode", "-", "-o", self.file, input=b"".join(b'{"a": %d}\n' % (i * i) for i in range(300_000)))
        messages = ""
        for size in range(12 << 20, 64 << 20, 2 << 20):
            bound = lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))
            status, _, err = self.tool("decode", self.file, preexec_fn=bound)
            messages += err
            if status == 0:
                break
        self.assertNotIn("bad_alloc", messages)
        self.assertIn("hoist: error: out of memory", messages)


if __name__ == "__main__":
    unittest.main()
