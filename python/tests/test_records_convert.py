"""hoist.records.convert: records come back through every format, and are what json, csv and the modules of the
formats read."""

import csv
import io
import json
import random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from loretoken_converter import DBMode, LoreTokenConverter
from saiql_delta.core.loretoken_symbolic import SymbolicLoreToken

from hoist import records
from hoist.errors import InvalidArgument

FORMATS = ("jsonl", "csv", "lt", "lts", "ltu", "sym")
PIECES = st.sampled_from([*' \t\n\r\0,;:"\\[]{}=>_1a.-é»⟆§₿⏱🔑\ufeff\u00a0\u2028', ">>", "__", "null", "\ud800"])
TEXTS = st.one_of(st.text(max_size=4), st.lists(PIECES, max_size=5).map("".join))
KEYS = st.one_of(TEXTS, st.sampled_from(["id", "symbol", "timestamp", "@type", "@status", "@order", "name"]))
SCALARS = st.one_of(TEXTS, st.integers(), st.floats(allow_nan=False), st.booleans(), st.none())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)
    ),
    max_leaves=6,
)
RECORDS = st.lists(st.dictionaries(KEYS, VALUES, max_size=5), max_size=4)
# What all formats show as it is.
WORDS = st.text("abcxyzäß€_/+", min_size=1, max_size=6)
NAMES = st.text("abcxyzäß€", min_size=1, max_size=6)
PLAIN = st.lists(NAMES, min_size=2, max_size=5, unique=True).flatmap(
    lambda names: st.lists(st.tuples(*(WORDS for _ in names)), min_size=1, max_size=5).map(
        lambda rows: [dict(zip(names, row)) for row in rows]
    )
)


def lines_of(values):
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def convert(content, source, target):
    return records.convert(content, target, format=source)


@given(RECORDS)
@example([{"a": "\udc80\ud800\udc00", "": [{"\ud800": "\udc80"}]}, {"b": 1, "a": 2}])
@settings(deadline=None)
def test_records_come_back_through_any_formats(values):
    content = lines_of(values)
    canonical = convert(content, "jsonl", "jsonl")
    compact = [json.dumps(value, ensure_ascii=False, separators=(",", ":")) for value in values]
    if all(not any("\ud800" <= c <= "\udfff" for c in text) for text in compact):
        assert canonical.decode() == "".join(text + "\n" for text in compact)
    for first in FORMATS:
        one = convert(content, "jsonl", first)
        one.decode()  # UTF-8
        assert convert(one, first, "jsonl") == canonical
        for second in FORMATS:
            assert convert(convert(one, first, second), second, "jsonl") == canonical


@given(PLAIN)
@settings(deadline=None)
def test_plain_records_are_read_by_what_knows_the_format(values):
    content = lines_of(values)
    assert [*csv.DictReader(io.StringIO(convert(content, "jsonl", "csv").decode()))] == values
    words = [line.split(" ") for line in convert(content, "jsonl", "lt").decode().split("\n")[:-1]]
    assert [dict(word.split(">>", 1) for word in row) for row in words] == values
    written = io.StringIO()
    writer = csv.DictWriter(written, values[0].keys())
    writer.writeheader()
    writer.writerows(values)
    back = convert(written.getvalue().encode(), "csv", "jsonl").decode()
    assert [json.loads(line) for line in back.splitlines()] == values


@given(RECORDS)
@settings(deadline=None)
def test_pairs_are_what_the_converter_of_lines_makes(values):
    content = lines_of(values)
    lines = [line + "\n" for line in convert(content, "jsonl", "lt").decode().split("\n")[:-1]]
    for target, form in (("lts", DBMode.LTS), ("ltu", DBMode.LTU)):
        expected = [LoreTokenConverter.convert_line(line, form, DBMode.LT) for line in lines]
        assert convert(content, "jsonl", target).decode() == "".join(expected)


@given(RECORDS)
@settings(deadline=None)
def test_symbolic_lines_are_those_of_the_module(values):
    for value in values:
        if any(key.startswith("@") for key in value):
            continue
        content = lines_of([value])
        line = convert(content, "jsonl", "sym").decode()
        if not any("\ud800" <= c <= "\udfff" for c in json.dumps(value, ensure_ascii=False)):
            assert SymbolicLoreToken.decode(line) == ("RECORD", "RAW", value, "ACTIVE")
            theirs = SymbolicLoreToken.encode("RECORD", "RAW", value) + "\n"
            assert convert(theirs.encode(), "sym", "jsonl") == convert(content, "jsonl", "jsonl")


def test_glyphs_are_those_of_the_modules():
    value = {name: 1 for name in LoreTokenConverter.SYMBOL_MAP}
    line = "".join(f"{LoreTokenConverter.SYMBOL_MAP[name]}>>1 " for name in value)
    assert json.loads(convert(line.encode(), "lts", "jsonl")) == value
    for type_, status in zip([*SymbolicLoreToken.TYPES] * 2, SymbolicLoreToken.STATUSES):
        for symbol in SymbolicLoreToken.TICKERS:
            value = {**{name: "x" for name in SymbolicLoreToken.FIELDS}, "symbol": symbol}
            line = SymbolicLoreToken.encode(type_, "RAW", value, status) + "\n"
            back = convert(line.encode(), "sym", "jsonl")
            found = json.loads(back)
            assert found.pop("@type", "RECORD") == type_
            assert found.pop("@status", "ACTIVE") == status
            assert found == value
            assert convert(back, "jsonl", "sym") == line.encode()


def test_names_that_are_no_utf8():
    line = SymbolicLoreToken.encode("RECORD", "RAW", {"a\udc80\udcff": "x"})
    assert line == "⟆⟐.RAW:[a\\x80\\xff:x,✓]"
    assert SymbolicLoreToken.decode(line)[2] == {"a\udc80\udcff": "x"}
    assert convert(line.encode(), "sym", "jsonl") == b'{"a\\udc80\\udcff":"x"}\n'
    assert convert(b'{"a\xff":"x"}', "jsonl", "sym").decode() == "⟆⟐.RAW:[a\\xff:x,✓]\n"


def test_numbers_keep_their_digits():
    digits = "-" + "7" * 400 + ".50"
    content = f'{{"a":{digits},"b":1.50,"c":1e3,"d":-0,"e":NaN,"b":2}}\n'.encode()
    for form in FORMATS:
        assert convert(convert(content, "jsonl", form), form, "jsonl") == content


@pytest.mark.parametrize("form", FORMATS)
def test_files_of_records(tmp_path, form):
    generator = random.Random(3)
    values = [
        {"symbol": "BTC-USD", "timestamp": 1755392220 + 60 * i, "open": f"{generator.random():.8f}"}
        for i in range(3000)
    ]
    content = lines_of(values)
    canonical = convert(content, "jsonl", "jsonl").splitlines(keepends=True)
    text, file, out = tmp_path / f"x.{form}", tmp_path / "x.hrec", tmp_path / "out"
    records.convert(content, form, output=text)
    records.encode(text, file)
    assert records.convert(file, "jsonl") == records.convert(text, "jsonl") == b"".join(canonical)
    header = 1 if form == "csv" else 0
    part = records.decode(file, (1000 + header, 1010 + header), to="jsonl")
    assert part == b"".join(canonical[1000:1010])
    where = {"ltu": "__symbol=BTC-USD", "sym": "§=₿"}.get(form, "symbol=BTC-USD")
    assert records.decode(file, (5, 25), where, to="jsonl").count(b"\n") == 20
    assert records.decode(file, (0, 2), to="csv", output=out) == b""
    assert out.read_bytes().startswith(b"symbol,timestamp,open\nBTC-USD,1755392220,")


def test_sources_and_outputs(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": 1}\n')
    assert records.convert(path, "lt") == b"a>>1\n"
    assert records.convert(io.BytesIO(path.read_bytes()), "lt") == b"a>>1\n"
    assert records.convert(['{"a": 1}', b'{"a": "\xff"}'], "lt") == b'a>>1\na>>"\\udcff"\n'
    assert records.convert([], "csv") == b""
    out = io.BytesIO()
    assert records.convert(path, "csv", output=out) == b""
    assert out.getvalue() == b"a\n1\n"
    with pytest.raises(InvalidArgument, match="same file"):
        records.convert(path, "csv", output=path, replace=True)
    other = tmp_path / "other"
    other.write_bytes(b"mine")
    with pytest.raises(InvalidArgument, match="exists"):
        records.convert(path, "csv", output=other)
    assert other.read_bytes() == b"mine"
    assert records.convert(b"1;x\n", "jsonl", format="csv", delimiter=";", header=False) == b'{"0":1,"1":"x"}\n'

    class Full:
        def write(self, piece):
            raise OSError(28, "full")

    with pytest.raises(OSError, match="full"):
        records.convert(path, "csv", output=Full())


def test_lines_of_any_text():
    text = b"any words\n\n\xff \r\nlast"
    out = records.convert(text, to="csv", format="lines")
    found = [json.loads(line)["line"] for line in records.convert(out, to="jsonl", format="csv").splitlines()]
    assert "\n".join(found).encode(errors="surrogateescape") == text
    assert records.convert(b"a b\n", to="lt", format="lines", keep_text="k") == b"k>>a b\n"
    with pytest.raises(InvalidArgument):
        records.convert(text, to="lines")


def test_a_name_and_lines_that_differ(tmp_path):
    misleading = tmp_path / "x.csv"
    misleading.write_bytes(b'{"a":1}\n{"a":2}\n')
    with pytest.warns(UserWarning, match="its name says csv, its first lines look like json"):
        assert records.encode(misleading, tmp_path / "x.hrec").format == "json"
    with pytest.warns(UserWarning, match="its name says csv"):
        assert records.convert(misleading, to="lt") == b"a>>1\na>>2\n"
    table = tmp_path / "y.csv"
    table.write_bytes(b'"first\nname",City\n"Anna",Rome\n')
    assert records.encode(table, tmp_path / "y.hrec").format == "csv"
    columns = records.open(tmp_path / "y.hrec").columns()
    assert {name: list(values) for name, values in columns.items()} == {"first\nname": ["Anna"], "City": ["Rome"]}


def test_rows_that_are_no_records():
    content = b'{"a":1}\nlost\n{"a":2}\n'
    with pytest.raises(InvalidArgument, match="line 2 of the text is no record"):
        records.convert(content, "csv", format="jsonl")
    assert records.convert(content, "csv", format="jsonl", skip_unparsed=True) == b"a\n1\n2\n"
    kept = records.convert(content, "lt", format="jsonl", keep_text="line")
    assert kept == b"a>>1\nline>>lost\na>>2\n"
    for wrong in ({"to": "xml"}, {"to": "lt", "format": "log"}, {"to": "lt", "delimiter": ",,"}):
        with pytest.raises(InvalidArgument):
            records.convert(content, **wrong)
    with pytest.raises(InvalidArgument, match="none of the formats"):
        records.convert(b"some words\nof a kind\n", "lt")
