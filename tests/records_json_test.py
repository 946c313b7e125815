#!/usr/bin/env python3
"""What `hoist records` takes for JSON: cases of the grammar's corners, each in a row of its own, judged by Python's json. All
of them come back byte for byte as a file of records, whatever they are."""

import json
import pathlib
import random
import sys
import tempfile
import unittest

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-records"

NUMBERS = """0 -0 1 -1 10 01 -01 00 -00 0.0 -0.0 0.50 1. .5 -.5 1.e1 1e1 1E1 1e+1 1e-1 1e 1e+ 1E+ 1e1.5 1.5e 0e1 0E+0 -0e-0
    123456789012345678901234567890 1.7976931348623157e309 4.9e-400 -1e9999 1e-9999 0x10 1_000 +1 ++1 --1 -+1 - + 1-2 1+2 1,5
    １ ١ 1٠ Infinity -Infinity +Infinity NaN -NaN nan inf Inf infinity 1f 1L 1n 0b1 0o7 1.2.3 1..2 e1 .e1 -e1 1e１""".split()
WORDS = """true false null True False None TRUE tru nul fals truee nulls undefined t n 'a' a $ @ # // /**/ \\ ~ ` \ufeff1
    "" "a" "a "a"" "" "" "a"b "\\"" "\\\\" "\\/" "\\b\\f\\n\\r\\t" "\\u0041" "\\u00e9" "\\ud83d\\ude00" "\\ud83d" "\\ude00" "\\u12"
    "\\u123" "\\u123g" "\\U0041" "\\u+041" "\\u 041" "\\x41" "\\a" "\\0" "\\" "\\'" "é" "\u2028" "\u2029" "\ufeff" "\u00a0" "\x7f"
    "a\tb" "a\x01b" "\x1f" "\ufffe" "😀" "\\u0000" "\\ud800\\ud800" "\\udc80" "\\ud83d\\u0041" """.split(" ")
LISTS = """[] [ ] [1] [1,2] [1,] [,1] [,] [1,,2] [1 2] [1;2] [[]] [[] [[[]]] [} {] [1 [1]] ["a","b"] ["a" "b"] [null,true,false]
    [1,"a",{}] [:] ["a":1] [*] [-] [1.] [a] ["] [[1],[2,[3]]] [1]x x[1] [1][2] [1],[2]""".split()
OBJECTS = """{} {"a":1} {"a":1,} {,"a":1} {"a"} {"a":} {:1} {a:1} {'a':1} {1:1} {"a":1,"b":2} {"a":1;"b":2} {"a":1 "b":2} {"a"=1}
    {"a":1,"a":2} {"a":{"a":{}}} {"a":1}} {{"a":1} {"a":1 {"":0} {"":{"":0}} {"a":[{"b":[]}]} {"a"::1} {"a":1,,"b":2} {null:1}
    {true:1} {[]:1} {{}:1} {"a":"b":"c"} {"a","b"} {"a":1}{"a":2} {"a":1},{"b":2} {"\\u0061":1,"a":2} {"é":1}""".split()
SPACED = ["{ }", "[ ]", "[ 1 , 2 ]", '{ "a" : 1 , "b" : [ ] }', "[1\x0b]", "[1\x0c]", "[1\u00a0]", "[1\u2003]", "[\ufeff1]", "[1 /**/]",
          "[1]//", '{"a":1}#', "[1\x00]", "\x00", "", " ", '"a\\\nb"']


def parse(text):
    """Python's, with numbers as they are written. NaN and both infinities are numbers here, as there."""
    return json.loads(text, parse_int=lambda digits: ("number", digits), parse_float=lambda digits: ("number", digits),
                      parse_constant=lambda word: ("number", word), object_pairs_hook=lambda pairs: ("object", pairs))


def verdict(text):
    try:
        return parse(text)
    except ValueError:
        return None


class Json(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="hoist-json-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def tool(self, *words, **options):
        done = run(TOOL, *words, env=environment(HOIST_THREADS="2", HOIST_LOG="error"), **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def check(self, values):
        """Each value as one of a key, in a row."""
        rows = ['{"k":' + value + "}" for value in values if "\n" not in value]
        text = "".join(row + "\n" for row in rows).encode()
        out = self.tool("convert", "-", "--from", "jsonl", "--to", "jsonl", "--keep-text", "no JSON", input=text)
        found = [json.loads(line) for line in out.split(b"\n")[:-1]]
        self.assertEqual(len(found), len(rows))
        for row, record, line in zip(rows, found, out.split(b"\n")):
            expected = verdict(row)
            if expected is None:
                self.assertEqual(record, {"no JSON": row})
            else:
                self.assertEqual(parse(line.decode()), expected, row)
        for name in ("x.jsonl", "x"):
            (self.folder / name).write_bytes(text)
            self.tool("encode", self.folder / name, "-o", self.folder / "x.hrec", "--force")
            self.assertEqual(self.tool("decode", self.folder / "x.hrec"), text)
        # Those that are JSON come back through every other format.
        good = "".join(row + "\n" for row in rows if verdict(row) is not None).encode()
        same = self.tool("convert", "-", "--from", "jsonl", "--to", "jsonl", input=good)
        for form in ("csv", "lt", "lts", "ltu", "sym"):
            other = self.tool("convert", "-", "--from", "jsonl", "--to", form, input=good)
            self.assertEqual(self.tool("convert", "-", "--from", form, "--to", "jsonl", input=other), same, form)

    def test_numbers(self):
        self.check(NUMBERS + [f"[{number},{number}]" for number in NUMBERS])

    def test_words_and_strings(self):
        self.check(WORDS + [f'{{{word}:1}}' for word in WORDS])

    def test_lists_and_objects(self):
        self.check(LISTS + OBJECTS + SPACED)

    def test_depth(self):
        # Deeper than 512 is refused here, whatever Python takes.
        for depth in (1, 2, 64, 65, 400):
            for left, right in (("[", "]"), ('{"a":', "}")):
                inner = "" if left == "[" else "1"
                self.check([left * depth + inner + right * depth, left * depth + inner + right * (depth - 1),
                            left * depth + inner + right * (depth + 1)])
        for row in (b'{"k":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", b'{"k":' + b'{"a":' * 100_000 + b"\n"):
            out = self.tool("convert", "-", "--from", "jsonl", "--to", "lt", "--skip-unparsed", input=row)
            self.assertEqual(out, b"")

    def test_changed_ones(self):
        generator = random.Random(35)
        values = [value for value in NUMBERS + WORDS + LISTS + OBJECTS + SPACED if verdict(value) is not None]
        signs = list('[]{}:,"\\ 019.eE+-tfnu/\t') + ["é", "😀", "\\u00e9", "null"]
        changed = []
        for _ in range(3000):
            value = list(generator.choice(values))
            for _ in range(generator.randrange(1, 4)):
                at = generator.randrange(len(value) + 1)
                value[at:at + generator.randrange(2)] = generator.choice((signs, [""]))[:1] and [generator.choice(signs)]
            changed.append("".join(value))
        self.check(changed)

    def test_bytes_that_are_no_text(self):
        for value in (b"\xff", b"\xc3", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xe2\x82"):
            row = b'{"k":"' + value + b'"}\n'
            out = self.tool("convert", "-", "--from", "jsonl", "--to", "jsonl", input=row)
            # What UTF-8's scheme would make of a surrogate is one.
            errors = "surrogatepass" if value[:1] == b"\xed" else "surrogateescape"
            self.assertEqual(json.loads(out)["k"].encode(errors=errors), value)
            self.assertEqual(self.tool("convert", "-", "--from", "jsonl", "--to", "jsonl", input=out), out)

    def test_numbers_are_as_long_as_they_are(self):
        digits = "7" * 400
        for number in (digits, f"-{digits}.{digits}", f"0.{'0' * 400}1", f"1e{'9' * 50}"):
            row = f'{{"k":{number}}}\n'.encode()
            self.assertEqual(self.tool("convert", "-", "--from", "jsonl", "--to", "jsonl", input=row), row)


if __name__ == "__main__":
    sys.setrecursionlimit(20_000)
    unittest.main()
