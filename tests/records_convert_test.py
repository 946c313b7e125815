#!/usr/bin/env python3
"""Black-box tests of `hoist records convert` and `decode --to`: what is read and written where, and what is refused."""

import csv
import io
import json
import pathlib
import subprocess
import tempfile
import unittest

try:
    import pyarrow.ipc
except ImportError:
    pyarrow = None

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-records"
FORMATS = ("jsonl", "csv", "lt", "lts", "ltu", "sym")


class Convert(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="hoist-convert-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def tool(self, *arguments, status=0, **options):
        changes = {"HOIST_THREADS": "2", "TMPDIR": str(self.folder)}
        done = run(TOOL, *arguments, env=environment(**changes), **options)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout if status == 0 else done.stderr.decode()

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def rows(self, count):
        return [{"id": i, "name": f"n {i}", "price": f"{i * 7919 % 1000}.50"} for i in range(count)]

    def test_names_say_the_formats(self):
        rows = self.rows(20000)
        source = self.write("x.jsonl", b"".join(json.dumps(row).encode() + b"\n" for row in rows))
        before = source
        for form in FORMATS:
            after = self.folder / f"y.{form}"
            self.tool("convert", before, "-o", after)
            self.assertEqual(self.tool("convert", after, "--to", form), after.read_bytes())
            before = after
        back = self.tool("convert", before, "--to", "jsonl").decode()
        self.assertEqual([json.loads(line) for line in back.splitlines()], rows)
        with (self.folder / "y.csv").open(newline="", encoding="utf-8") as file:
            found = list(csv.DictReader(file))
        self.assertEqual(found, [{key: str(value) for key, value in row.items()} for row in rows])

    def test_a_pipe_is_read_twice_for_csv(self):
        rows = self.rows(50000) + [{"late": True}]
        content = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        out = self.tool("convert", "-", "--from", "jsonl", "--to", "csv", input=content).decode()
        found = list(csv.reader(io.StringIO(out)))
        self.assertEqual(found[0], ["id", "name", "price", "late"])
        self.assertEqual(found[-1], ["", "", "", "true"])
        self.assertEqual(len(found), len(rows) + 1)
        self.assertEqual(list(self.folder.iterdir()), [])  # nothing stays

    def test_standard_input_may_be_a_file(self):
        path = self.write("x", b"a,b\n1,x\n2,y\n")
        with path.open("rb") as file:
            file.seek(8)
            done = subprocess.run([TOOL, "convert", "-", "--from=csv", "--no-header", "--to=csv"], stdin=file,
                                  capture_output=True, env=environment(), check=True)
        self.assertEqual(done.stdout, b"0,1\n2,y\n")

    def test_files_of_records(self):
        file = self.folder / "x.hrec"
        rows = self.rows(3000)
        content = b"id,name,price\n" + b"".join(b'%d,%s,"%s"\n' % (row["id"], row["name"].encode(),
                                                                   row["price"].encode()) for row in rows)
        self.tool("encode", self.write("x.csv", content), "-o", file)
        expected = [json.dumps(row, separators=(",", ":")).encode() + b"\n" for row in rows]
        self.assertEqual(self.tool("convert", file, "--to", "jsonl"), b"".join(expected))
        self.assertEqual(self.tool("decode", file, "--to", "jsonl", "--rows", "11:13"), b"".join(expected[10:12]))
        self.assertEqual(self.tool("decode", file, "--to", "csv", "--where", "id=7"), b'id,name,price\n7,n 7,"433.50"\n')
        out = self.folder / "out"
        self.tool("decode", file, "--to", "lt", "--rows", ":2", "-o", out)
        self.assertEqual(out.read_bytes(), b'id>>0 name>>n 0 price>>"0.50"\n')
        self.assertIn("cannot be read from standard input",
                      self.tool("convert", "-", "--to", "lt", status=3, input=file.read_bytes()))

    def test_lines_that_are_no_records(self):
        path = self.write("x.lt", b"a>>1\nlost words\na>>2\n")
        error = self.tool("convert", path, "--to", "jsonl", status=2)
        self.assertIn("line 2 of", error)
        self.assertIn("lost words", error)
        done = run(TOOL, "convert", path, "--to=jsonl", "--skip-unparsed", env=environment())
        self.assertEqual((done.returncode, done.stdout), (0, b'{"a":1}\n{"a":2}\n'))
        self.assertIn(b"1 row was left out", done.stderr)
        self.assertEqual(self.tool("convert", path, "--to=jsonl", "--keep-text=line"),
                         b'{"a":1}\n{"line":"lost words"}\n{"a":2}\n')
        file = self.folder / "x.hrec"
        self.tool("encode", path, "-o", file, "--format", "pairs")
        self.assertIn("row 1 of", self.tool("decode", file, "--to", "csv", status=2))

    def test_a_file_without_rows(self):
        file = self.folder / "x.hrec"
        for name, content in (("none", b""), ("blank", b"\n \n"), ("head.csv", b"a,b\n")):
            self.tool("encode", self.write(name, content), "-o", file, "--force")
            for form in FORMATS:
                self.assertEqual(self.tool("decode", file, "--to", form), b"", (name, form))
                self.assertEqual(self.tool("convert", file, "--to", form), b"", (name, form))
                self.assertEqual(self.tool("convert", self.folder / name, "--to", form), b"", (name, form))
        self.tool("encode", self.write("none", b""), "-o", file, "--force")
        stream = self.tool("decode", file, "--to", "arrow")
        self.assertEqual(stream[:4], b"\xff\xff\xff\xff")
        if pyarrow:
            self.assertEqual(pyarrow.ipc.open_stream(stream).read_all().shape, (0, 0))

    def test_lines_of_any_text(self):
        content = b"".join(b"%d took %d ms\n" % (i, i * 37 % 900) for i in range(500)) + b'\n "x"\r\n\xff\0>>\nlast'
        text = self.write("app.log", content)
        file = self.folder / "x.hrec"
        self.tool("encode", text, "-o", file)
        for name in (text, file):
            for command in ("convert", "decode")[:2 if name == file else 1]:
                self.assertIn("--from lines", self.tool(command, name, "--to", "csv", status=2))
                for form in FORMATS:
                    out = self.write(f"y.{form}", self.tool(command, name, "--to", form, "--from", "lines"))
                    lines = self.tool("convert", out, "--to", "jsonl").decode().splitlines()
                    found = [json.loads(line) for line in lines]
                    self.assertEqual([list(record) for record in found], [["line"]] * len(found))
                    back = b"\n".join(record["line"].encode(errors="surrogateescape") for record in found)
                    self.assertEqual(back, content, form)
        self.assertEqual(self.tool("decode", file, "--to", "lt", "--from", "lines", "--rows", "1:2", "--keep-text", "k"),
                         b"k>>1 took 37 ms\n")

    def test_headers_with_line_feeds(self):
        rows = [["no\nno", 'the "name"', "c\r\nd"]] + [[str(i), f"n {i}\nm", "x"] for i in range(200)]
        text = io.StringIO()
        csv.writer(text).writerows(rows)
        content = text.getvalue().encode()
        expected = [dict(zip(rows[0], [int(row[0]), *row[1:]])) for row in rows[1:]]
        file = self.folder / "x.hrec"
        for name in ("x.csv", "x"):
            path = self.write(name, content)
            self.tool("encode", path, "-o", file, "--force")
            self.assertEqual(self.tool("decode", file), content)
            for out in (self.tool("convert", path, "--to", "jsonl"), self.tool("convert", file, "--to", "jsonl"),
                        self.tool("decode", file, "--to", "jsonl")):
                self.assertEqual([json.loads(line) for line in out.splitlines()], expected)
        plain = self.write("p.csv", b'"a\nb",c\n1,2\n3,4\n')
        self.tool("encode", plain, "-o", file, "--force")
        paths = [column["path"] for column in json.loads(self.tool("info", file, "--json"))["columns"]]
        self.assertEqual(paths, ["/a\nb", "/c"])
        self.assertNotIn(b"/a\nb", self.tool("info", file))
        self.assertEqual(self.tool("decode", file, "--to", "lt", "--rows", "1:4"), b'"a\\nb">>1 c>>2\n"a\\nb">>3 c>>4\n')
        self.assertEqual(self.tool("decode", file, "--where", "c=4"), b"3,4\n")
        if pyarrow:
            table = pyarrow.ipc.open_stream(self.tool("columns", file, "-o", "-")).read_all()
            self.assertEqual(table.to_pydict(), {"a\nb": [1, 3], "c": [2, 4]})

    def test_names_and_lines_that_differ(self):
        file = self.folder / "x.hrec"
        for name, content, form, said in (("a.csv", b'{"a":1}\n{"a":2}\n', "json", True),
                                          ("b.csv", b"a>>1 b>>2\na>>3\n", "csv", True),
                                          ("c.csv", b"any words\nmore of them\n", "csv", False),
                                          ("d.jsonl", b"any words\nmore of them\n", "json", False),
                                          ("e.tsv", b"a\tb\n1\t2\n", "csv", False),
                                          ("f.csv", b"Name,City\nAnna,Rome\n", "csv", False),
                                          ("g.log", b'{"a":1}\n{"a":2}\n', "json", False)):
            done = run(TOOL, "encode", self.write(name, content), "-o", file, "--force", "--json", env=environment())
            self.assertEqual((done.returncode, json.loads(done.stdout)["format"]), (0, form), name)
            self.assertEqual(b"its first lines look like" in done.stderr, said, (name, done.stderr))
            self.assertEqual(self.tool("decode", file), content)
            if form == "json" and not said:
                continue
            done = run(TOOL, "convert", self.folder / name, "--to", "lt", env=environment())
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(b"its first lines look like" in done.stderr, said, (name, done.stderr))
            done = run(TOOL, "convert", self.folder / name, "--to", "lt", "--from", "csv", env=environment())
            self.assertNotIn(b"first lines", done.stderr)

    def test_values_that_are_empty(self):
        path = self.write("x.jsonl", b'{"a":1}\nwords\n')
        file = self.folder / "x.hrec"
        self.tool("encode", path, "-o", file)
        expected = b'{"a":1}\n{"":"words"}\n'
        self.assertEqual(self.tool("convert", path, "--to=jsonl", "--keep-text", ""), expected)
        self.assertEqual(self.tool("decode", file, "--to=jsonl", "--keep-text", ""), expected)
        for words in (("convert", path, "--to=lt", "--delimiter", ""), ("decode", file, "--rows", ""),
                      ("decode", file, "--where", ""), ("decode", file, "--to", ""), ("decode", file, "-o", ""),
                      ("info", file, "--plot", ""), ("convert", path, "--to=lt", "--from", ""),
                      ("convert", path, "-o", ""), ("encode", path, "-o", "", "--force"),
                      ("encode", path, "-o", file, "--force", "--header", ""),
                      ("encode", path, "-o", file, "--force", "--format", ""), ("repair", file, "-o", ""),
                      ("columns", file, "-o", "", "--select=a"), ("append", path, file, "--commit-every", "")):
            self.assertIn("hoist: error: ", self.tool(*words, status=2), words)
        for words in (("--from=lt",), ("--no-header",), ("--skip-unparsed",), ("--keep-text=k",), ("--delimiter=;",)):
            self.assertIn("--to", self.tool("decode", file, *words, status=2))
            self.assertIn("--to arrow", self.tool("decode", file, "--to=arrow", *words, status=2))

    def test_what_is_refused(self):
        path = self.write("x.jsonl", b'{"a":1}\n')
        self.assertIn("--to", self.tool("convert", path, status=2))
        self.assertIn("same file", self.tool("convert", path, "-o", path, "--force", status=2))
        other = self.write("other.csv", b"mine")
        self.assertIn("--force", self.tool("convert", path, "-o", other, status=2))
        self.assertEqual(other.read_bytes(), b"mine")
        self.tool("convert", path, "-o", other, "--force")
        self.assertEqual(other.read_bytes(), b"a\n1\n")
        self.assertIn("--from", self.tool("convert", self.write("log", b"a b\nc d\n"), "--to", "lt", status=2))
        self.assertIn("--no-header", self.tool("convert", self.write("t", b"1,2\n3,4\n"), "--to", "lt", status=2))
        self.assertIn("hoist records columns", self.tool("convert", path, "-o", self.folder / "x.arrow", status=3))
        self.tool("convert", path, "--to", "xml", status=2)
        self.tool("convert", path, "--to=lt", "--skip-unparsed", "--keep-text=k", status=2)
        self.tool("convert", path, "--to=lt", "--delimiter=ab", status=2)
        self.tool("convert", self.folder / "none", "--to=lt", status=1)
        with open("/dev/full", "wb") as full:
            done = subprocess.run([TOOL, "convert", path, "--to=lt"], stdout=full,
                                  stderr=subprocess.PIPE, env=environment(), check=False)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
