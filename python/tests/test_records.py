"""hoist.records beside Python's own readers of the same text."""

import csv
import io
import json
import random
import threading

import numpy as np
import pytest

from hoist import errors, records


@pytest.fixture
def encoded(tmp_path):
    def make(source, **options):
        path = tmp_path / "made.hrec"
        records.encode(source, path, replace=True, **options)
        return records.open(path)

    return make


def json_lines(rows):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def plain(value):
    """As json.loads() would give it."""
    if value is None or value is np.ma.masked:
        return None
    return value.item() if hasattr(value, "item") else value


def check_column(array, expected):
    assert len(array) == len(expected)
    for got, want in zip(array, expected):
        got = plain(got)
        assert type(got) is type(want) and got == want, (got, want)


def random_rows(count, seed):
    chance = random.Random(seed)
    for i in range(count):
        row = {
            "whole": chance.randrange(-(2**63), 2**63),
            "real": chance.uniform(-1e9, 1e9),
            "price": round(chance.uniform(0, 1e5), 2) + 0.001,
            "flag": chance.random() < 0.5,
            "word": chance.choice(["a", "beef", "00042", "ü€😀", 'say "x"\\\n', "", "true", "null"]),
            "maybe": chance.choice([None, 1, 2]),
            "mixed": chance.choice([1.5, "word"]),
        }
        if chance.random() < 0.5:
            row["rare"] = {"deep": i}
        yield row


@pytest.mark.parametrize("ascii_only", [True, False])
def test_columns_equal_json(encoded, ascii_only):
    rows = list(random_rows(3000, seed=1))
    text = "".join(json.dumps(row, ensure_ascii=ascii_only) + "\n" for row in rows).encode()
    opened = encoded(text)
    assert opened.text() == text
    assert len(opened) == len(rows)
    columns = opened.columns()
    for name in ("whole", "real", "price", "flag", "word", "maybe"):
        check_column(columns[name], [row[name] for row in rows])
    check_column(columns["rare/deep"], [row.get("rare", {}).get("deep") for row in rows])
    check_column(columns["mixed"], [str(row["mixed"]) for row in rows])
    types = {name: str(columns[name].dtype) for name in columns}
    assert types == {
        "whole": "int64", "real": "float64", "price": "float64", "flag": "bool", "word": "object",
        "maybe": "int64", "mixed": "object", "rare/deep": "int64",
    }  # fmt: skip
    assert isinstance(columns["maybe"], np.ma.MaskedArray)
    assert not isinstance(columns["whole"], np.ma.MaskedArray)


def test_columns_of_several_blocks_equal_json(encoded):
    rows = [{"n": i, "w": f"w{i % 70001}", "x": None if i % 9 == 0 else i / 4} for i in range(150000)]
    opened = encoded(json_lines(rows))
    blocks = list(opened.blocks())
    assert len(blocks) > 1
    assert [row for block in blocks for row in block.rows] == list(range(len(rows)))
    for part, (first, end) in [(opened, (0, 150000))] + [
        (block, (block.rows.start, block.rows.stop)) for block in blocks
    ]:
        columns = part.columns()
        assert columns["n"].tolist() == list(range(first, end))
        assert columns["w"].tolist() == [row["w"] for row in rows[first:end]]
        assert columns["x"].tolist() == [row["x"] for row in rows[first:end]]


def test_columns_equal_csv(encoded):
    chance = random.Random(2)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["id", "name", "price", "zip", "on"])
    for i in range(2000):
        writer.writerow(
            [i, chance.choice(["x", 'a "b", c', ""]), f"{chance.uniform(0, 9):.3f}",
             f"{chance.randrange(10**5):05}", chance.choice(["True", "False"])]
        )  # fmt: skip
    text = stream.getvalue()
    opened = encoded(text.encode())
    rows = list(csv.DictReader(io.StringIO(text)))
    columns = opened.columns()
    assert len(opened) == len(rows) + 1  # the header is a line
    assert columns["id"].tolist() == [int(row["id"]) for row in rows]
    assert columns["name"].tolist() == [row["name"] for row in rows]
    assert columns["price"].tolist() == [float(row["price"]) for row in rows]
    assert columns["zip"].tolist() == [row["zip"] for row in rows]
    assert columns["on"].tolist() == [row["on"] == "True" for row in rows]


def test_columns_equal_pandas(encoded):
    pandas = pytest.importorskip("pandas")
    chance = random.Random(3)
    lines = ["t,n,x,w"]
    for i in range(5000):
        x = "" if i % 11 == 0 else f"{chance.gauss(0, 1e3):.6f}"
        lines.append(f"2024-01-31 13:{i // 60 % 60:02}:{i % 60:02}.{i % 1000:03},{i * i},{x},w{i % 7}")
    text = "\n".join(lines) + "\n"
    frame = pandas.read_csv(io.StringIO(text), parse_dates=["t"])
    columns = encoded(text.encode()).columns()
    assert str(columns["t"].dtype) == "datetime64[ms]"
    assert (columns["t"] == frame["t"].to_numpy()).all()
    assert (columns["n"] == frame["n"].to_numpy()).all()
    assert np.array_equal(columns["x"].filled(np.nan), frame["x"].to_numpy(), equal_nan=True)
    assert columns["w"].tolist() == frame["w"].tolist()


@pytest.mark.parametrize(
    ("texts", "unit", "expected"),
    [
        (["2024-01-31", "1969-12-31"], "s", ["2024-01-31", "1969-12-31"]),
        (["2024-01-31T01:00:00+01:30", "2024-01-31T01:00:00Z"], "s",
         ["2024-01-30T23:30:00", "2024-01-31T01:00:00"]),
        (["2024-01-31 01:00:00.5", "2024-01-31 01:00:00,1234567"], "ns",
         ["2024-01-31T01:00:00.5", "2024-01-31T01:00:00.1234567"]),
    ],
)  # fmt: skip
def test_dates(encoded, texts, unit, expected):
    rows = [{"d": texts[i % len(texts)]} for i in range(100)] + [{"d": None}]
    array = encoded(json_lines(rows)).columns()["d"]
    assert array.dtype == np.dtype(f"datetime64[{unit}]")
    assert array[:2].tolist() == np.array(expected, array.dtype).tolist()
    assert np.isnat(array[-1]) and not np.isnat(array[:-1]).any()


@pytest.mark.parametrize(
    "values",
    [
        ["2024-01-31", "2024-01-31T00:00:00Z"],  # with and without a zone
        ["9999-01-31 01:00:00", "2024-01-31 01:00:00.123456789"],  # no 64 bits of ns
        ["1600-01-31 01:00:00", "2024-01-31 01:00:00.123456789"],
        [10**30, 1],  # no 64 bits
        [1, "x"],
        [True, 1],
        ["13:55:36", "13:55:37"],
        ["192.168.0.1", "192.168.0.2"],
    ],
)
def test_mixtures_are_texts(encoded, values):
    rows = [{"v": values[i % 2]} for i in range(50)]
    array = encoded(json_lines(rows)).columns()["v"]
    expected = [v if isinstance(v, str) else json.dumps(v) for v in values] * 25
    assert array.tolist() == expected


def test_reals_are_the_nearest(encoded):
    texts = ["1e400", "-1e400", "1e-400", "5e-324", "0.1", "-0.0", "123456789012345678.9", "1E5"]
    texts += ["0." + "0" * 400 + "1", "1.7976931348623157e308", "9007199254740993.0"]
    text = "".join(f'{{"x": {x}}}\n' for x in texts)
    array = encoded(text.encode()).columns()["x"]
    assert [repr(x) for x in array.tolist()] == [repr(float(x)) for x in texts]


def test_lists(encoded):
    rows = [{"t": [f"w{j}" for j in range(i % 4)], "n": [1, None, i]} for i in range(40)]
    columns = encoded(json_lines(rows)).columns()
    for got, row in zip(columns["t[]"], rows):
        assert got is None if not row["t"] else got.tolist() == row["t"]
    for got, row in zip(columns["n[]"], rows):
        assert got.tolist() == row["n"]


def test_hex_times_of_symbolic_lines(encoded):
    lines = [f"⟆⟐.RAW:[§₿»⏱{1755392220 + 60 * i:x}»↗{117000 + i}.5,✓]" for i in range(200)]
    columns = encoded(lines).columns()
    assert columns["⏱"].tolist() == [1755392220 + 60 * i for i in range(200)]


def test_bytes_that_are_no_utf8(encoded):
    text = b'{"a": "\xff\xc3"}\n{"a": "\\ud800"}\n{"a": "\\ud83d\\ude00"}\n{"a": "\\u12"}\n'
    opened = encoded(text)
    assert opened.text() == text
    assert opened.columns()["a"].tolist() == ["\ufffd\ufffd", "\ufffd", "😀", "\\u12"]


def test_rows_and_conditions(encoded):
    rows = [{"i": i, "s": "ab"[i % 2]} for i in range(1000)]
    opened = encoded(json_lines(rows))
    lines = opened.text().splitlines(keepends=True)
    for given, meant in [
        ((3, 5), range(3, 5)), (slice(-2, None), range(998, 1000)), (range(0, 1), range(1)),
        ((990, 5000), range(990, 1000)), ((7, 7), range(0)), (slice(9, 2), range(0)),
    ]:  # fmt: skip
        assert opened.columns(["i"], rows=given)["i"].tolist() == list(meant)
        assert opened.text(rows=given) == b"".join(lines[i] for i in meant)
    both = opened.columns(["/i", "s"], where=["i>=100", "s=b"], rows=(0, 110))
    assert both["/i"].tolist() == [101, 103, 105, 107, 109]
    assert set(both["s"]) == {"b"}
    part = opened.select(["s"], where="i<4").select(where="s=a", rows=(1, 9))
    assert part.columns()["s"].tolist() == ["a"] and part.text() == lines[2]
    for wrong in [(5, 3), (-1, 2), range(0, 9, 2), slice(0, 9, 3)]:
        with pytest.raises(errors.InvalidArgument):
            opened.columns(rows=wrong)
    with pytest.raises(errors.NotFound, match="no column x"):
        opened.columns(["x"])
    with pytest.raises(errors.InvalidArgument, match="no condition"):
        opened.text(where="i")
    with pytest.raises(TypeError):
        opened.columns("is")


@pytest.mark.parametrize("text", [b"", b"\n", b"x", b"\0\xff\n\n", b'{"a": 1}', b"a,b\n", b"\r\n" * 3])
def test_any_text_comes_back(encoded, text):
    opened = encoded(text)
    assert opened.text() == text
    assert len(opened) == len(text.splitlines(keepends=True)) or b"\r" in text or b"\0" in text
    for array in opened.columns().values():
        assert len(array) <= len(opened)


def test_sources(encoded, tmp_path):
    lines = [f'{{"i": {i}}}' for i in range(100)]
    text = ("\n".join(lines) + "\n").encode()
    (tmp_path / "a.jsonl").write_bytes(text)
    for source in (
        tmp_path / "a.jsonl", str(tmp_path / "a.jsonl"), bytearray(text), memoryview(text),
        io.BytesIO(text), io.StringIO(text.decode()), lines, iter(lines),
        (line.encode() + b"\n" for line in lines),
    ):  # fmt: skip
        assert encoded(source, threads=1).text() == text
    with open(tmp_path / "a.jsonl", "rb") as file:
        assert encoded(file, best=True, format="log").info().format == "log"
    with pytest.raises(TypeError):
        encoded(5)
    with pytest.raises(errors.InvalidArgument):
        encoded([5])


def test_what_a_source_raises_comes_out(tmp_path):
    def lines():
        yield "a"
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        records.encode(lines(), tmp_path / "x.hrec")
    assert not (tmp_path / "x.hrec").exists()


def test_errors(tmp_path):
    with pytest.raises(errors.FileNotFound):
        records.open(tmp_path / "none")
    with pytest.raises(errors.FileNotFound):
        records.encode(tmp_path / "none", tmp_path / "x.hrec")
    (tmp_path / "text").write_text("no records")
    with pytest.raises(errors.Corrupt):
        records.open(tmp_path / "text")
    with pytest.raises(errors.InvalidArgument, match="replace=True"):
        records.encode(b"a\n", tmp_path / "text")
    assert (tmp_path / "text").read_text() == "no records"
    with pytest.raises(errors.InvalidArgument, match="format"):
        records.encode(b"a\n", tmp_path / "x.hrec", format="xml")
    with pytest.raises(errors.InvalidArgument):
        records.encode(b"a\n", tmp_path / "x.hrec", threads=-1)
    with pytest.raises(errors.InvalidArgument):
        records.encode(tmp_path / "text", tmp_path / "text", replace=True)


def test_decode(tmp_path):
    text = b"".join(b'{"i": %d}\n' % i for i in range(100))
    path = tmp_path / "x.hrec"
    made = records.encode(text, path)
    assert made == ("json", 100, len(text), path.stat().st_size)
    assert records.decode(path) == text
    assert records.decode(path, (1, 2)) == b'{"i": 1}\n'
    assert records.decode(path, where="i>98") == b'{"i": 99}\n'
    assert records.decode(path, output=tmp_path / "out") == b""
    assert (tmp_path / "out").read_bytes() == text
    with pytest.raises(errors.InvalidArgument):
        records.decode(path, output=tmp_path / "out")
    records.decode(path, rows=(0, 1), output=tmp_path / "out", replace=True)
    assert (tmp_path / "out").read_bytes() == b'{"i": 0}\n'
    stream = io.BytesIO()
    records.decode(path, output=stream)
    assert stream.getvalue() == text


def test_damage_is_found(tmp_path):
    path = tmp_path / "x.hrec"
    records.encode(json_lines(random_rows(500, seed=4)), path)
    whole = path.read_bytes()
    found = 0
    for at in range(200, len(whole) - 200, max(1, len(whole) // 40)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x40]) + whole[at + 1 :])
        try:
            records.open(path).columns()
        except errors.Corrupt:
            found += 1
    assert found > 20


def test_threads_share_a_file(encoded):
    opened = encoded(json_lines(random_rows(2000, seed=5)))
    expected = opened.text()
    answers = []

    def work():
        answers.append((opened.text(), opened.columns(["whole"])["whole"].sum()))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 4 and len(set(answers)) == 1 and answers[0][0] == expected


def test_files_of_which_rows_are_lost(tmp_path):
    path = tmp_path / "x.hrec"
    text = b"".join(b'{"i": %d, "s": "%d"}\n' % (i, i * i) for i in range(100_000))
    records.encode(text, path)
    path.write_bytes(path.read_bytes()[:-100])  # the last commit
    for use in (records.open, records.decode, lambda p: records.decode(p, output=tmp_path / "out")):
        with pytest.raises(errors.Corrupt, match="hoist records repair"):
            use(path)
    assert not (tmp_path / "out").exists()
    part = records.open(path, partial=True)
    assert text.startswith(part.text())
    assert records.decode(path, partial=True) == part.text()
    assert part.columns(["i"])["i"].tolist() == list(range(len(part)))
    # What was never committed is no loss.
    records.encode(text, path, replace=True)
    path.write_bytes(path.read_bytes() + b"unfinished")
    with pytest.warns(RuntimeWarning, match="not read"):
        assert records.open(path).text() == text


def test_conditions_are_exact(encoded):
    opened = encoded([json.dumps({"i": 2**53 + i, "id": f"{i:08x}"}) for i in range(20)])
    assert opened.columns(["i"], where=f"i={2**53 + 1}")["i"].tolist() == [2**53 + 1]
    assert opened.text(where="id=00000010").count(b"\n") == 1
    assert opened.text(where="id=10") == b""
    for where in ("none=1", ["i>0", "none=1"]):
        with pytest.raises(errors.NotFound, match="no column none"):
            opened.columns(["i"], where=where)
        with pytest.raises(errors.NotFound, match="no column none"):
            opened.text(where=where)


def test_header_of_a_csv(tmp_path):
    path = tmp_path / "x.hrec"
    text = b"Name,City\nAnna,Berlin\nBob,Paris\n"
    for header, names, rows in ((None, ["0", "1"], 3), (True, ["Name", "City"], 2), (False, ["0", "1"], 3)):
        records.encode(text, path, header=header, replace=True)
        found = records.open(path).columns()
        assert list(found) == names
        assert {len(values) for values in found.values()} == {rows}
        assert records.decode(path) == text
    with pytest.raises(errors.InvalidArgument, match="only CSV has a header"):
        records.encode(b'{"a": 1}\n', path, header=True, replace=True)


def test_what_gives_no_text_is_refused(tmp_path):
    class Numbers:
        def read(self, size):
            return 5

    with pytest.raises(TypeError, match="not int"):
        records.encode(Numbers(), tmp_path / "x.hrec")
    assert not (tmp_path / "x.hrec").exists()
