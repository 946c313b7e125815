"""Columns of hoist.records beside what pandas reads from the same text, on random tables."""

import io
import json
import random

import pytest

from hoist import records

pandas = pytest.importorskip("pandas")
pytest.importorskip("numpy")

WORDS = ["a", "beef", 'say "x"', "a,b", "ü€😀", "two\\n", "\t", "it's", "C:\\dir", " padded "]


def value_of(kind, chance):
    return {
        "int": lambda: chance.randrange(-1000, 1000),
        "big": lambda: chance.randrange(-(2**63), 2**63),
        "real": lambda: chance.uniform(-1e9, 1e9),
        "tiny": lambda: chance.uniform(-1, 1) * 10.0 ** chance.randrange(-300, 300),
        "decimal": lambda: round(chance.uniform(0, 1e5), 2) + 0.25,
        "bool": lambda: chance.random() < 0.5,
        "text": lambda: chance.choice(WORDS) + "w",
        "time": lambda: f"20{chance.randrange(10, 40)}-0{chance.randrange(1, 10)}-{chance.randrange(10, 28)}"
        f"T{chance.randrange(10, 24)}:{chance.randrange(10, 60)}:{chance.randrange(10, 60)}.{chance.randrange(1000):03}",
    }[kind]()


def table(seed):
    """Rows with columns of random kinds; some columns have nulls, some are missing in rows."""
    chance = random.Random(seed)
    kinds = ["int", "big", "real", "tiny", "decimal", "bool", "text", "time"]
    columns = {f"c{i}_{kind}": (kind, chance.choice(["all", "nulls", "missing"])) for i, kind in enumerate(kinds * 2)}
    rows = []
    for _ in range(chance.choice([40, 300, 2000])):
        row = {}
        for name, (kind, holes) in columns.items():
            if holes != "all" and chance.random() < 0.2:
                if holes == "nulls":
                    row[name] = None
            else:
                row[name] = value_of(kind, chance)
        rows.append(row)
    return rows, columns


def expect_same(found, wanted, kind, name):
    """`wanted`: a series of Python objects, with None or NaN for what is missing."""
    got = list(found.tolist())
    want = [None if pandas.isna(value) else value for value in wanted]
    assert len(got) == len(want), name
    if kind == "time":
        series = pandas.to_datetime(pandas.Series(want))
        assert (pandas.Series(found).astype("datetime64[ns]").isna() == series.isna()).all(), name
        both = pandas.Series(found).astype("datetime64[ns]") == series.astype("datetime64[ns]")
        assert (both | series.isna()).all(), name
        return
    for one, other in zip(got, want):
        assert one == other and (one is None) == (other is None), (name, one, other)


@pytest.mark.parametrize("seed", range(6))
def test_json_lines(tmp_path, seed):
    rows, columns = table(seed)
    text = "".join(json.dumps(row, ensure_ascii=seed % 2 == 0) + "\n" for row in rows)
    records.encode(text.encode(), tmp_path / "x.hrec")
    found = records.open(tmp_path / "x.hrec").columns()
    # As objects: else pandas makes doubles of integers where some are missing.
    frame = pandas.DataFrame([json.loads(line) for line in text.splitlines()], dtype=object)
    read = pandas.read_json(io.StringIO(text), lines=True, dtype=False, convert_dates=False, precise_float=True)
    assert set(found) == set(frame) == set(read)
    for name, (kind, holes) in columns.items():
        expect_same(found[name], frame[name], kind, name)
        if holes == "all" and kind in ("int", "bool", "text", "decimal"):
            expect_same(found[name], read[name], kind, name)


@pytest.mark.parametrize("seed", range(10, 16))
def test_csv(tmp_path, seed):
    rows, columns = table(seed)
    frame = pandas.DataFrame(rows, columns=list(columns), dtype=object)
    text = frame.to_csv(index=False, lineterminator="\n")
    records.encode(text.encode(), tmp_path / "x.hrec", format="csv", header=True)
    found = records.open(tmp_path / "x.hrec").columns()
    types = {"int": "Int64", "big": "Int64", "bool": "boolean", "text": "str", "time": "str"}
    dtype = {name: types.get(kind, "float64") for name, (kind, _) in columns.items()}
    read = pandas.read_csv(io.StringIO(text), dtype=dtype, float_precision="round_trip")
    for name, (kind, holes) in columns.items():
        if kind == "text" and holes != "all":
            continue  # an empty field is an empty text here, and missing in pandas
        expect_same(found[name], read[name], kind, name)
