"""Arrow files and streams of `hoist records columns` and `decode --to arrow`, as pyarrow and others read them."""

import datetime
import decimal
import io
import json
import os
import pathlib
import random
import subprocess

import pytest

from hoist import records

pa = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")

BUILD = pathlib.Path(os.environ.get("HOIST_BUILD_DIR", "build/release"))
TOOL = BUILD / "libexec/hoist/hoist-records"


def tool(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, check=False)


def write(*arguments):
    done = tool(*arguments)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


@pytest.fixture
def arrow_of(tmp_path):
    """The table of a text, from a file; the stream has the same."""

    def make(text, *options):
        file, arrow, stream = (tmp_path / name for name in ("x.hrec", "x.arrow", "x.arrows"))
        records.encode(text, file, replace=True)
        write("columns", file, "-o", arrow, "--force", *options)
        write("columns", file, "-o", stream, "--force", *options)
        with pa.memory_map(str(arrow)) as source:
            table = ipc.open_file(source).read_all()
        table.validate(full=True)
        for again in (
            ipc.open_stream(stream.read_bytes()).read_all(),
            *([] if options else [pa.table(records.open(file).exact_arrow())]),
        ):
            again.validate(full=True)
            assert again.schema == table.schema
            assert str(again.to_pylist()) == str(table.to_pylist())
        assert write("columns", file, "-o", "-", "--to", "arrow", *options) == stream.read_bytes()
        return table

    return make


def lines(values):
    return "".join(json.dumps(value) + "\n" for value in values).encode()


def test_types_and_values(arrow_of):
    generator = random.Random(11)
    zones = datetime.timezone.utc
    begin = datetime.datetime(2024, 1, 31, 13, 55, 36, 250000, zones)
    values = []
    for i in range(2500):
        time = begin + datetime.timedelta(milliseconds=60007 * i)
        values.append({
            "symbol": generator.choice(["BTC-USD", "ETH-USD", "é"]),
            "count": generator.randrange(-(2**63), 2**63),
            "price": f"{generator.randrange(10**7)}.{generator.randrange(100):02}",
            "score": generator.random() * 10.0 ** generator.randrange(-30, 30),
            "up": generator.random() < 0.5,
            "time": time.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "note": f"note {generator.random()}",
            "tags": [generator.randrange(9) for _ in range(1 + i % 3)],
        })  # fmt: skip
        if i % 7 == 0:
            del values[-1]["price"], values[-1]["note"]
        if i % 11 == 0:
            values[-1]["up"] = None
    table = arrow_of(lines(values))
    assert sorted(table.schema, key=lambda field: field.name) == sorted([
        pa.field("symbol", pa.dictionary(pa.int32(), pa.large_string()), False),
        pa.field("count", pa.int64(), False),
        pa.field("price", pa.decimal128(38, 2)),
        pa.field("score", pa.float64(), False),
        pa.field("up", pa.bool_()),
        pa.field("time", pa.timestamp("ms", "UTC"), False),
        pa.field("note", pa.large_string()),
        pa.field("tags[]", pa.large_list(pa.int64())),
    ], key=lambda field: field.name)  # fmt: skip
    for key in ("symbol", "count", "score", "up", "note"):
        assert table[key].to_pylist() == [value.get(key) for value in values]
    assert table["tags[]"].to_pylist() == [value["tags"] for value in values]
    assert table["time"].to_pylist() == [
        datetime.datetime.fromisoformat(value["time"].replace("Z", "+00:00")) for value in values
    ]
    prices = [decimal.Decimal(value["price"]) if "price" in value else None for value in values]
    assert table["price"].to_pylist() == prices


@pytest.mark.parametrize(
    "texts, kind",
    [
        (["1.5", "-2", "3.25"], pa.decimal128(38, 2)),
        (["9223372036854775807.5", "-0.000000000000000001"], pa.decimal128(38, 18)),
        (["9" * 37 + ".5", "1"], pa.decimal128(38, 1)),
        (["9" * 38 + ".5", "1"], pa.float64()),
        (["1.5", "-0.0"], pa.float64()),
        (["1.5", "1e3"], pa.float64()),
        (["1.5", "NaN"], pa.float64()),
        (["1", "-9223372036854775808"], pa.int64()),
    ],
)
def test_decimals_are_exact(arrow_of, texts, kind):
    content = "".join(f'{{"a":{text}}}\n' for text in texts).encode()
    table = arrow_of(content)
    assert table.schema.field("a").type == kind
    number = {pa.float64(): float, pa.int64(): int}.get(kind, decimal.Decimal)
    assert all(repr(found) == repr(number(text)) or (number is decimal.Decimal and found == number(text))
               for found, text in zip(table["a"].to_pylist(), texts))  # fmt: skip
    if pa.types.is_decimal(kind):
        floats = arrow_of(content, "--floats")
        assert floats["a"].to_pylist() == [float(text) for text in texts]


def test_bytes_that_are_no_utf8(arrow_of):
    table = arrow_of(b'{"a":"x\xff","b":"\\ud83d\\ude00\\n"}\n{"a":"\\udc80\\ud800","b":"\xc3\xa9"}\n')
    assert table.schema.field("a").type.equals(pa.large_binary())
    assert table["a"].to_pylist() == [b"x\xff", b"\x80\xed\xa0\x80"]
    assert table["b"].to_pylist() == ["😀\n", "é"]
    coded = arrow_of(b'{"a":"x\xff"}\n{"a":"y"}\n' * 500)
    assert coded.schema.field("a").type == pa.dictionary(pa.int32(), pa.large_binary())
    assert coded["a"].to_pylist() == [b"x\xff", b"y"] * 500


def test_a_batch_for_each_block(tmp_path, arrow_of):
    rows = 200000
    content = b"".join(b"%d,%s,%d.5\n" % (i, b"xyz"[i % 3 : i % 3 + 1] if i < 150000 else b"late", i % 50)
                       for i in range(rows))
    table = arrow_of(b"id,word,value\n" + content)
    blocks = records.open(tmp_path / "x.hrec").info().blocks
    assert blocks > 2
    with pa.memory_map(str(tmp_path / "x.arrow")) as source:
        file = ipc.open_file(source)
        assert file.num_record_batches == blocks
        last = file.get_batch(blocks - 1)
        assert last.column(0)[-1].as_py() == rows - 1
    assert table["id"].to_pylist() == list(range(rows))
    assert table["word"].to_pylist() == ["xyz"[i % 3] if i < 150000 else "late" for i in range(rows)]
    assert table["value"].to_pylist() == [decimal.Decimal(i % 50 * 10 + 5) / 10 for i in range(rows)]
    assert table.schema.field("word").type == pa.dictionary(pa.int32(), pa.large_string())


def test_texts_of_many_kinds_have_no_dictionary(arrow_of):
    values = [{"a": f"word {i}", "b": "x" * (i % 70000 + 1)} for i in range(300)]
    table = arrow_of(lines(values))
    assert table.schema.field("a").type == pa.large_string()
    assert table.to_pylist() == values


def test_rows_and_columns(tmp_path):
    file = tmp_path / "x.hrec"
    records.encode(lines({"a": i, "b": i % 2, "c/d": "x"} for i in range(1000)), file)
    part = ipc.open_stream(write("decode", file, "--to", "arrow", "--rows", "10:20", "--where", "b=1")).read_all()
    assert part.to_pylist() == [{"a": i, "b": 1, "c~1d": "x"} for i in range(11, 20, 2)]
    arrow = tmp_path / "y"
    write("columns", file, "-o", arrow, "--to", "arrow", "--select", "b,/a")
    with pa.memory_map(str(arrow)) as source:
        assert ipc.open_file(source).read_all().column_names == ["b", "a"]
    none = ipc.open_stream(write("decode", file, "--to", "arrow", "--where", "a<0")).read_all()
    assert none.num_rows == 0 and none.column_names == ["a", "b", "c~1d"]
    whole = ipc.open_stream(io.BytesIO(write("decode", file, "--to", "arrow"))).read_all()
    assert whole["a"].to_pylist() == list(range(1000))


def test_what_is_refused(tmp_path):
    file, out = tmp_path / "x.hrec", tmp_path / "x.arrow"
    records.encode(b'{"a":1}\n', file)
    out.write_bytes(b"mine")
    assert b"--force" in tool("columns", file, "-o", out).stderr
    assert out.read_bytes() == b"mine"
    done = tool("columns", file, "-o", tmp_path / "y.arrow", "--select", "b")
    assert done.returncode == 1 and b"no column b" in done.stderr
    assert tool("columns", file, "-o", tmp_path / "y.npz").returncode == 2
    records.encode(bytes(range(256)), file, replace=True)
    done = tool("columns", file, "-o", tmp_path / "y.arrow")
    assert done.returncode == 3 and b"no columns" in done.stderr
    assert not (tmp_path / "y.arrow").exists()


def test_other_readers(tmp_path, arrow_of):
    table = arrow_of(lines({"a": i, "b": f"{i}.25", "c": "xy"[i % 2]} for i in range(300)))
    polars = pytest.importorskip("polars")
    frame = polars.read_ipc(tmp_path / "x.arrow")
    assert frame["a"].to_list() == table["a"].to_pylist()
    assert frame["b"].to_list() == table["b"].to_pylist()
    assert [str(each) for each in frame["c"]] == table["c"].to_pylist()
