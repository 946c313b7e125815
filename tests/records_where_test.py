#!/usr/bin/env python3
"""`hoist records decode --where` against conditions that Python decides on the text of each row: exact numbers, names
that look like numbers, dates, addresses, and columns that need quotes."""

import decimal
import ipaddress
import json
import pathlib
import random
import re
import tempfile
import unittest

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-records"
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?|-?[0-9](\.[0-9]+)?[eE][+-]?[0-9]{1,8}")
DATE = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d:\d\d([.,]\d{1,9})?(Z|[+-]\d\d:?\d\d)?)?")
COMPARISONS = {"=": lambda order: order == 0, "!=": lambda order: order != 0, "<": lambda order: order < 0,
               "<=": lambda order: order <= 0, ">": lambda order: order > 0, ">=": lambda order: order >= 0}
decimal.setcontext(decimal.Context(prec=400, Emax=999_999_999, Emin=-999_999_999))


def is_address(text):
    try:
        return str(ipaddress.IPv4Address(text)) == text
    except ValueError:
        return False


def is_ordered_text(text):
    is_name = re.fullmatch("[0-9a-fA-F]+", text) and re.search("[0-9]", text)
    return bool(is_name or DATE.fullmatch(text) or is_address(text))


def order(a, b):
    return (a > b) - (a < b)


def holds(text, comparison, value):
    if NUMBER.fullmatch(value):
        if NUMBER.fullmatch(text):
            return COMPARISONS[comparison](order(decimal.Decimal(text), decimal.Decimal(value)))
        if not is_ordered_text(text):
            return comparison == "!="
    return COMPARISONS[comparison](order(text.encode(), value.encode()))


def integers(generator):
    big = generator.choice((2 ** 53, 2 ** 62, 10 ** 17, 100))
    return lambda: str(big + generator.randrange(-3, 4))


def prices(generator):
    return lambda: f"{generator.randrange(-300, 300) / 100:.2f}"


def long_prices(generator):
    return lambda: f"9007199254740{generator.randrange(990, 1000)}.{generator.randrange(10)}"


def hexadecimal(generator):
    return lambda: f"{generator.randrange(0x12345670, 0x12345690):08x}"


def more_hexadecimal(generator):
    return lambda: f"{generator.randrange(2 ** 64):016x}"


def digits(generator):
    return lambda: f"{generator.randrange(30):05d}"


def addresses(generator):
    return lambda: f"10.0.{generator.randrange(20)}.{generator.randrange(3)}"


def days(generator):
    return lambda: f"20{generator.randrange(19, 27)}-0{generator.randrange(1, 10)}-11"


def times(generator):
    return lambda: f"2024-01-31T13:{generator.randrange(10, 60)}:07Z"


def mixtures(generator):
    return lambda: generator.choice(("null", "", "1", "1.0", "-0", "0", "1e400", "-1e400", "1e-400", "2e2", "12e45",
                                     "NaN", "nan", "inf", "007", "beef", "ab12", "9007199254740993", "x y", "2024",
                                     "2024-01-31", "10.0.0.7", str(generator.randrange(9))))


def mostly_numbers(generator):
    other = mixtures(generator)
    return lambda: other() if generator.random() < 0.1 else str(generator.randrange(1000))


def constants(generator):
    value = mixtures(generator)()
    return lambda: value


KINDS = (integers, prices, long_prices, hexadecimal, more_hexadecimal, digits, addresses, days, times, mixtures,
         mostly_numbers, constants)


class Where(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="hoist-records-")
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        self.file = self.folder / "x.hrec"

    def tool(self, *words, **options):
        done = run(TOOL, *words, env=environment(), **options)
        return done.returncode, done.stdout, done.stderr.decode()

    def encode(self, lines, *more):
        status, _, err = self.tool("encode", "-", "-o", self.file, "--force", *more,
                                   input="".join(line + "\n" for line in lines).encode())
        self.assertEqual((status, err), (0, ""))

    def where(self, *conditions):
        words = [word for condition in conditions for word in ("--where", condition)]
        status, out, err = self.tool("decode", self.file, *words)
        self.assertEqual((status, err), (0, ""), conditions)
        return out.decode().splitlines()

    def test_rows_are_those_that_python_finds(self):
        seed = random.randrange(2 ** 32)
        generator = random.Random(seed)
        for make in KINDS:
            for _ in range(3):
                values = make(generator)
                # In a second column, so that an empty value is no empty line.
                rows = [(values(), str(i)) for i in range(300)]
                lines = [f"{value}\t{i}" for value, i in rows]
                self.encode(lines, "--format", "csv", "--header", "no")
                # `csv` splits at commas unless detection says else.
                path = "0" if "/1 " in self.tool("info", self.file)[1].decode() else None
                self.assertEqual(path, "0", (make.__name__, seed))
                for _ in range(12):
                    comparison = generator.choice(list(COMPARISONS))
                    value = generator.choice((values(), values(), mixtures(generator)(), "2024", "5", "9.5"))
                    found = self.where(f"0{comparison}{value}")
                    expected = [line for line, (text, _) in zip(lines, rows) if holds(text, comparison, value)]
                    self.assertEqual(found, expected, (make.__name__, comparison, value, seed))

    def test_large_integers_are_exact(self):
        self.encode([json.dumps({"id": 9007199254740992 + i}) for i in range(4)])
        self.assertEqual(self.where("id=9007199254740993"), ['{"id": 9007199254740993}'])
        self.assertEqual(len(self.where("id>9007199254740993")), 2)
        self.assertEqual(self.where("id=9007199254740992.5"), [])

    def test_dates_are_compared_as_they_are_written(self):
        self.encode([json.dumps({"day": f"20{year:02}-01-31"}) for year in range(50)])
        self.assertEqual(len(self.where("day>=2024")), 26)
        self.assertEqual(len(self.where("day<2024")), 24)
        self.assertEqual(len(self.where("day>=2024-01-31", "day<=2025-12-31")), 2)

    def test_names_of_base_16_are_no_numbers(self):
        self.encode([json.dumps({"id": name}) for name in ("00000010", "12345678", "1234567a", "a0000000") * 5])
        self.assertEqual(self.where("id=12345678"), ['{"id": "12345678"}'] * 5)
        self.assertEqual(self.where("id>12345678"), ['{"id": "1234567a"}', '{"id": "a0000000"}'] * 5)
        self.assertEqual(self.where("id=10"), [])

    def test_columns_whose_names_need_quotes(self):
        names = ["a<b", "a=b", "x!", 'q"q', "a,b", "plain"]
        self.encode([json.dumps({name: i for name in names}) for i in range(5)])
        for name in names:
            written = json.dumps({name: 3})[2:].split(": ")[0].rstrip('"').replace("\\", "\\")
            written = name if name != 'q"q' else 'q\\"q'  # as JSON writes it
            quoted = '"' + written.replace('"', '""') + '"'
            self.assertEqual(len(self.where(f"{quoted}>=3")), 2, name)
            self.assertEqual(len(self.where(f'"/{quoted[1:]}=3')), 1, name)
        for wrong in ('"a', '"a"', '""=5', '"a"x=5', '"a"!5'):
            self.assertEqual(self.tool("decode", self.file, "--where", wrong)[0], 2, wrong)

    def test_an_unknown_column_is_an_error(self):
        self.encode(['{"price": 1, "time": 2}', '{"price": 1}', '{"late": 5}'] * 3)
        status, out, err = self.tool("decode", self.file, "--where", "prise>0")
        self.assertEqual((status, out), (1, b""))
        self.assertIn("no column prise", err)
        self.assertIn("did you mean price?", err)
        self.assertEqual(len(self.where("late=5")), 3)
        self.assertEqual(self.where("late=5", "price=1"), [])
        self.encode([])
        self.assertEqual(self.where("any=5"), [])


if __name__ == "__main__":
    unittest.main()
