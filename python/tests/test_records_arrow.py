"""hoist.records through Arrow's C stream interface: by its structures, and in what reads it."""

import ctypes
import gc
import json

import pytest

from hoist import errors, records


class Schema(ctypes.Structure):
    pass


class Array(ctypes.Structure):
    pass


class Stream(ctypes.Structure):
    pass


Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_char_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(Schema))),
    ("dictionary", ctypes.POINTER(Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Schema))),
    ("private_data", ctypes.c_void_p),
]
Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    ("dictionary", ctypes.POINTER(Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Array))),
    ("private_data", ctypes.c_void_p),
]
Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Stream), ctypes.POINTER(Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(Stream))),
    ("private_data", ctypes.c_void_p),
]

pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


def stream_of(capsule):
    return ctypes.cast(pointer_of(capsule, b"arrow_array_stream"), ctypes.POINTER(Stream))


def bit(address, at):
    return ctypes.string_at(address + at // 8, 1)[0] >> at % 8 & 1


def numbers(address, type_, count):
    return list((type_ * count).from_address(address)) if count else []


def values_of(schema, array):
    """The values by the interface's description alone."""
    count, form = array.length, schema.format.decode()
    assert array.offset == 0 and not array.dictionary
    if form == "+L":
        begins = numbers(array.buffers[1], ctypes.c_int64, count + 1)
        items = values_of(schema.children[0].contents, array.children[0].contents)
        values = [items[begins[i] : begins[i + 1]] for i in range(count)]
    elif form == "U":
        begins = numbers(array.buffers[1], ctypes.c_int64, count + 1)
        text = ctypes.string_at(array.buffers[2], begins[-1])
        values = [text[begins[i] : begins[i + 1]].decode() for i in range(count)]
    elif form == "b":
        values = [bool(bit(array.buffers[1], i)) for i in range(count)]
    else:
        values = numbers(array.buffers[1], ctypes.c_double if form == "g" else ctypes.c_int64, count)
    nulls = 0
    if array.buffers[0]:
        for i in range(count):
            if not bit(array.buffers[0], i):
                values[i] = None
                nulls += 1
    assert nulls == array.null_count
    assert nulls == 0 or schema.flags & 2
    return values


ROWS = [
    {
        "n": i - 50,
        "x": None if i % 3 == 0 else i / 4,
        "s": ["ü", "", "longer"][i % 3],
        "b": i % 5 == 0,
        "t": f"2024-01-31T00:00:{i % 60:02}.{i % 1000:03}Z",
        "l": [f"w{j}" for j in range(i % 3)],
    }
    for i in range(1001)
]
EXPECTED = {
    "n": [row["n"] for row in ROWS],
    "x": [row["x"] for row in ROWS],
    "s": [row["s"] for row in ROWS],
    "b": [row["b"] for row in ROWS],
    "t": [1706659200000 + i % 60 * 1000 + i % 1000 for i in range(1001)],
    "l[]": [row["l"] or None for row in ROWS],
}
FORMATS = {"n": b"l", "x": b"g", "s": b"U", "b": b"b", "t": b"tsm:UTC", "l[]": b"+L"}


@pytest.fixture
def opened(tmp_path):
    records.encode(map(json.dumps, ROWS), tmp_path / "x.hrec")
    return records.open(tmp_path / "x.hrec")


def test_structures(opened):
    capsule = opened.__arrow_c_stream__()
    stream = stream_of(capsule)
    schema, array = Schema(), Array()
    assert stream.contents.get_schema(stream, schema) == 0
    assert schema.format == b"+s" and schema.n_children == len(FORMATS)
    columns = [schema.children[i].contents for i in range(schema.n_children)]
    assert {column.name.decode(): column.format for column in columns} == FORMATS
    assert stream.contents.get_next(stream, array) == 0
    assert (array.length, array.n_buffers, array.n_children) == (len(ROWS), 1, len(FORMATS))
    for i, column in enumerate(columns):
        assert values_of(column, array.children[i].contents) == EXPECTED[column.name.decode()]
    # A child may be taken over: it outlives its parent.
    taken = Array()
    ctypes.memmove(ctypes.byref(taken), array.children[0], ctypes.sizeof(Array))
    array.children[0].contents.release = type(array.release)()
    array.release(array)
    assert not array.release
    assert values_of(columns[0], taken) == EXPECTED["n"]
    taken.release(taken)
    end = Array()
    assert stream.contents.get_next(stream, end) == 0 and not end.release
    assert not stream.contents.get_last_error(stream)
    schema.release(schema)
    assert not schema.release
    stream.contents.release(stream)
    assert not stream.contents.release
    del capsule  # a released stream is not released again
    gc.collect()


def test_a_stream_outlives_its_reader(opened):
    capsule = opened.select(["n"], rows=(10, 12)).__arrow_c_stream__()
    del opened
    gc.collect()
    stream, array = stream_of(capsule), Array()
    assert stream.contents.get_next(stream, array) == 0
    assert numbers(array.children[0].contents.buffers[1], ctypes.c_int64, 2) == [-40, -39]
    array.release(array)


def test_damage_is_an_error(tmp_path, opened):
    opened.columns_info  # read before the damage
    path = tmp_path / "x.hrec"
    whole = path.read_bytes()
    capsule = opened.__arrow_c_stream__()
    with open(path, "r+b") as file:
        file.seek(len(whole) // 2)
        file.write(bytes(byte ^ 0xFF for byte in whole[len(whole) // 2 :][:64]))
    stream, array = stream_of(capsule), Array()
    assert stream.contents.get_next(stream, array) != 0 and not array.release
    assert b"x.hrec" in stream.contents.get_last_error(stream)
    with pytest.raises(errors.Corrupt):
        opened.columns()


@pytest.mark.parametrize("text", [b"", b"x", b"a,b\n"])
def test_small_files(tmp_path, text):
    records.encode(text, tmp_path / "small.hrec")
    capsule = records.open(tmp_path / "small.hrec").__arrow_c_stream__()
    stream, schema = stream_of(capsule), Schema()
    assert stream.contents.get_schema(stream, schema) == 0
    schema.release(schema)
    while True:
        array = Array()
        assert stream.contents.get_next(stream, array) == 0
        if not array.release:
            break
        array.release(array)


def test_pyarrow(opened):
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(opened)
    table.validate(full=True)
    assert table.schema.field("t").type == pyarrow.timestamp("ms", "UTC")
    for name in ("n", "x", "s", "b", "l[]"):
        assert table[name].to_pylist() == EXPECTED[name]
    assert table["t"].cast("int64").to_pylist() == EXPECTED["t"]
    part = pyarrow.table(opened.select(["s", "n"], where="n>=0", rows=(0, 60)))
    assert part.column_names == ["s", "n"] and part["n"].to_pylist() == list(range(10))


def test_batches_follow_one_another(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    count = 150000
    records.encode((f'{{"i": {i}, "w": "w{i % 777}"}}' for i in range(count)), tmp_path / "x.hrec")
    table = pyarrow.table(records.open(tmp_path / "x.hrec"))
    table.validate(full=True)
    assert table["i"].num_chunks > 1 and table["i"].to_pylist() == list(range(count))
    assert table["w"].to_pylist() == [f"w{i % 777}" for i in range(count)]


def test_pandas(opened):
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    frame = pyarrow.table(opened).to_pandas()
    assert frame["n"].tolist() == EXPECTED["n"] and frame["s"].tolist() == EXPECTED["s"]
    assert frame["x"].isna().tolist() == [x is None for x in EXPECTED["x"]]
    assert (frame["t"] == pandas.to_datetime(EXPECTED["t"], unit="ms", utc=True)).all()


def test_polars(opened):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(opened)
    for name in ("n", "x", "s", "b", "l[]"):
        assert frame[name].to_list() == EXPECTED[name]
    assert frame["t"].cast(polars.Int64).to_list() == EXPECTED["t"]


def test_duckdb(opened):
    duckdb = pytest.importorskip("duckdb")
    found = duckdb.sql("select s, count(*), sum(n), count(x) from opened group by s order by s")
    expected = []
    for word in sorted({row["s"] for row in ROWS}):
        rows = [row for row in ROWS if row["s"] == word]
        whole = sum(row["n"] for row in rows)
        expected.append((word, len(rows), whole, sum(row["x"] is not None for row in rows)))
    assert found.fetchall() == expected
