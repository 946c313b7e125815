"""Wrong arguments of hoist.records, each of which is named; and what is said of files that do not end in a commit."""

import json
import os
import pathlib
import subprocess
import warnings

import pytest

from hoist import errors, records

TOOL = pathlib.Path(os.environ.get("HOIST_BUILD_DIR", "build/release")) / "libexec/hoist/hoist-records"
TEXT = b"".join(b'{"price": %d.5, "volume": %d}\n' % (i, i * i) for i in range(100))


@pytest.fixture
def path(tmp_path):
    records.encode(TEXT, tmp_path / "x.hrec")
    return tmp_path / "x.hrec"


class Odd:
    """Of no type that any argument takes."""

    def __repr__(self):
        return "<odd>"


# By argument, what is none of its type.
WRONG = {
    "path": [5, None, b"x", Odd()],
    "rows": [5, "ab", 1.5, (1,), (1, 2, 3), (1, "b"), (None, 2), slice("a", "b"), b"xy", Odd(), {1: 2}],
    "where": [5, b"", [5], [b"a"], {"a": 1}, Odd()],
    "names": [5, "price", b"", [1], [None], {"price": 1}, Odd()],
    "device": [0, b"cuda", Odd()],
    "types": [5, ["price"], {"price": 1}, {1: "float32"}, Odd()],
    "format": [5, b"json", Odd()],
    "to": [5, b"csv", Odd()],
    "keep_text": [5, b"", Odd()],
    "delimiter": [5, b",", Odd()],
    "header": [5, "yes", Odd()],
    "best": [5, None, "yes", Odd()],
    "replace": [5, None, "yes", Odd()],
    "partial": [5, None, "yes", Odd()],
    "skip_unparsed": [5, None, "yes", Odd()],
    "threads": [None, "4", 1.5, True, Odd()],
    "output": [5, b"x", Odd()],
}  # fmt: skip


def calls(path):
    """(function, its right arguments, those of its arguments that are made wrong)."""
    opened = records.open(path)
    new = path.parent / "new.hrec"
    encode = ["path", "format", "header", "best", "threads", "replace"]
    convert = ["to", "format", "delimiter", "header", "skip_unparsed", "keep_text", "output", "replace"]
    decode = ["path", "rows", "where", "to", "skip_unparsed", "keep_text", "output", "replace", "partial"]
    return [
        (records.open, {"path": path}, ["path", "partial"]),
        (records.Records, {"path": path}, ["path", "partial"]),
        (records.encode, {"source": TEXT, "path": new}, encode),
        (records.convert, {"source": TEXT, "to": "csv"}, convert),
        (records.decode, {"path": path}, decode),
        (opened.columns, {}, ["names", "rows", "where", "device"]),
        (opened.columns, {"device": "cpu"}, ["types"]),
        (opened.text, {}, ["rows", "where"]),
        (opened.select, {}, ["names", "rows", "where"]),
        (next(opened.blocks()).columns, {}, ["names", "rows", "where", "device"]),
    ]


def test_wrong_types_are_named(path):
    tried = 0
    for function, right, names in calls(path):
        for name in names:
            for wrong in WRONG[name]:
                with pytest.raises(TypeError) as caught:
                    function(**{**right, name: wrong})
                message = str(caught.value)
                assert message.startswith(f"{name}: expected ") and "not " in message, (name, wrong, message)
                assert "incompatible function arguments" not in message
                tried += 1
    assert tried > 150
    assert sorted(each.name for each in path.parent.iterdir()) == ["x.hrec"]


def test_wrong_values_are_named(path):
    opened = records.open(path)
    for call, error, words in (
        (lambda: opened.columns(device="gpu"), errors.InvalidArgument, "gpu"),
        (lambda: opened.columns(rows=(5, 3)), errors.InvalidArgument, "rows"),
        (lambda: opened.columns(types={}), errors.InvalidArgument, "types"),
        (lambda: records.encode(TEXT, path, threads=-1), errors.InvalidArgument, "threads"),
        (lambda: records.encode(TEXT, path, threads=2**70), errors.InvalidArgument, "threads"),
        (lambda: records.encode(5, path, replace=True), TypeError, "not int"),
        (lambda: records.convert(TEXT, to="xml"), errors.InvalidArgument, "xml"),
    ):
        with pytest.raises(error, match=words):
            call()


def test_numbers_of_numpy_are_rows(path):
    numpy = pytest.importorskip("numpy")
    assert records.decode(path, rows=(numpy.int64(1), numpy.uint8(2))) == TEXT.splitlines(True)[1]


def test_the_nearest_columns_are_named(path):
    opened = records.open(path)
    for names in (["prise"], ["/pric"]):
        with pytest.raises(errors.NotFound, match="did you mean price"):
            opened.columns(names)
    with pytest.raises(errors.NotFound, match="there are price, volume"):
        opened.columns(["zzz"])


def test_auto_is_some_device(path):
    assert records.open(path).columns(["volume"], device="auto").device.split(":")[0] in ("cpu", "cuda")


def told_by_the_command(path):
    return json.loads(subprocess.run([TOOL, "info", "--json", path], capture_output=True, check=True).stdout)


def test_a_whole_file_is_committed(path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        info = records.open(path).info()
    assert (info.state, info.unfinished_bytes) == ("committed", 0)
    assert told_by_the_command(path)["state"] == "committed"


@pytest.mark.parametrize("use", [records.open, records.Records, records.decode])
def test_an_unfinished_tail_is_warned_of(path, use):
    with path.open("ab") as file:
        file.write(b"unfinished")
    with pytest.warns(RuntimeWarning, match="10 bytes behind the last commit of .*x.hrec.* are not read") as caught:
        use(path)
    assert [each.filename for each in caught] == [__file__]
    with pytest.warns(RuntimeWarning):
        info = records.open(path).info()
    assert (info.rows, info.state, info.unfinished_bytes) == (100, "unfinished", 10)
    told = told_by_the_command(path)
    assert (told["state"], told["unfinished_bytes"], told["rows"]) == (info.state, info.unfinished_bytes, info.rows)


def test_a_damaged_file_that_is_opened_in_part(path):
    records.encode(b"".join(b'{"i": %d, "s": "%d"}\n' % (i, i * i) for i in range(100_000)), path, replace=True)
    path.write_bytes(path.read_bytes()[:-100])
    assert records.open(path, partial=True).info().state == "damaged"
