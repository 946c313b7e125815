"""GGUF files: what is read here is what gguf's own reader reads, of every type and byte order."""

import json
import os
import pathlib
import struct
import subprocess

import gguf
import numpy as np
import pytest

from hoist import errors, tensors

TOOL = pathlib.Path(os.environ["HOIST_BUILD_DIR"]) / "libexec/hoist/hoist-tensors"
LITTLE, BIG = gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG
U32, F32, STRING, ARRAY, U64, F64 = 4, 6, 8, 9, 10, 12


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)


def packed(path):
    """The .holo file of `path`; that it comes back byte for byte is checked."""
    there, again = path.with_suffix(".holo"), path.with_suffix(".again")
    done = run("pack", path, "-o", there)
    assert done.returncode == 0, done.stderr
    assert run("unpack", there, "-o", again).returncode == 0
    assert again.read_bytes() == path.read_bytes()
    return there


def info(path):
    done = run("info", "--json", path)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_every_type_that_gguf_knows(tmp_path):
    random = np.random.default_rng(12)
    writer = gguf.GGUFWriter(tmp_path / "all.gguf", "llama")
    for kind, (elements, size) in gguf.GGML_QUANT_SIZES.items():
        rows = random.integers(0, 255, (3, 2 * size), np.uint8)
        writer.add_tensor(f"t.{kind.name}", rows, raw_shape=rows.shape, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    theirs = {t.name: t for t in gguf.GGUFReader(tmp_path / "all.gguf").tensors}
    there = packed(tmp_path / "all.gguf")
    for path in (tmp_path / "all.gguf", there):
        found = {about.name: about for about in tensors.info(path)}
        loaded = tensors.load_file(path, framework="numpy")
        assert found.keys() == theirs.keys() == loaded.keys()
        for name, their in theirs.items():
            is_plain = gguf.GGML_QUANT_SIZES[their.tensor_type][0] == 1
            assert found[name].stored_as == ("" if is_plain else their.tensor_type.name)
            assert loaded[name].tobytes() == their.data.tobytes(), name
            if not is_plain:
                assert loaded[name].shape == their.data.shape


class Written:
    """A file of any version, byte order and content, valid or not."""

    def __init__(self, version=3, order="<", alignment=32):
        self.version, self.order, self.alignment = version, order, alignment
        self.pairs, self.tensors, self.data = [], [], b""

    def number(self, code, value):
        return struct.pack(self.order + code, value)

    def size(self, value):
        return self.number("I" if self.version == 1 else "Q", value)

    def text(self, value):
        value = value if isinstance(value, bytes) else value.encode()
        return self.size(len(value)) + value

    def pair(self, key, kind, value):
        self.pairs.append(self.text(key) + self.number("I", kind) + value)

    def tensor(self, name, kind, dimensions, data, offset=None):
        place = len(self.data) if offset is None else offset
        described = self.text(name) + self.number("I", len(dimensions))
        described += b"".join(self.size(extent) for extent in dimensions)
        self.tensors.append(described + self.number("I", kind) + self.number("Q", place))
        self.data += data + bytes(-len(data) % self.alignment)

    def write(self, path, end=None):
        head = b"GGUF" + self.number("I", self.version)
        head += self.size(len(self.tensors)) + self.size(len(self.pairs))
        head += b"".join(self.pairs) + b"".join(self.tensors)
        path.write_bytes((head + bytes(-len(head) % self.alignment) + self.data)[:end])
        return path


def with_metadata(file):
    """A pair of each kind, and what they are in Python."""
    expected = {}
    numbers = [("B", 200), ("b", -3), ("H", 60000), ("h", -30000), ("I", 2**32 - 1), ("i", -(2**31)),
               ("f", 0.5), ("?", True)]
    for kind, (code, value) in enumerate(numbers):
        file.pair(f"k.{kind}", kind, file.number(code, value))
        expected[f"k.{kind}"] = value
    for kind, code, value in [(10, "Q", 2**64 - 1), (11, "q", -(2**63)), (12, "d", 1e300)]:
        file.pair(f"k.{kind}", kind, file.number(code, value))
        expected[f"k.{kind}"] = value
    file.pair("k.text", STRING, file.text("für \"alle\"\n" * 40))
    expected["k.text"] = "für \"alle\"\n" * 40
    tokens = [f"<{i}>" for i in range(30000)]
    file.pair("tokens", ARRAY, file.number("I", STRING) + file.size(len(tokens))
              + b"".join(map(file.text, tokens)))
    expected["tokens"] = tokens
    file.pair("scores", ARRAY, file.number("I", F32) + file.size(3)
              + b"".join(file.number("f", s) for s in (1.5, -2.5, 0)))
    expected["scores"] = [1.5, -2.5, 0]
    inner = [file.number("I", 5) + file.size(n) + b"".join(file.number("i", i) for i in range(n))
             for n in (0, 3)]
    file.pair("nested", ARRAY, file.number("I", ARRAY) + file.size(2) + b"".join(inner))
    expected["nested"] = [[], [0, 1, 2]]
    file.pair("empty", ARRAY, file.number("I", STRING) + file.size(0))
    expected["empty"] = []
    return expected


def write_tensors(file, order):
    values = np.arange(6, dtype="f4").reshape(2, 3) / 7
    file.tensor("f32", 0, [3, 2], values.astype(order + "f4").tobytes())
    file.tensor("i64", 27, [2], np.array([1, -2], order + "i8").tobytes())
    file.tensor("i8", 24, [3], b"\1\2\xff")
    file.tensor("q8", 8, [32], bytes(range(34)))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("version", [1, 2, 3])
def test_metadata_and_tensors_of_every_version_and_byte_order(tmp_path, version, order):
    file = Written(version, order)
    expected = with_metadata(file)
    write_tensors(file, order)
    file.write(tmp_path / "theirs.gguf")
    file.pair("k.0", 0, file.number("B", 7))  # once more: the first counts, and gguf refuses it
    values = np.arange(6, dtype="f4").reshape(2, 3) / 7
    path = file.write(tmp_path / "m.gguf")
    there = packed(path)
    for each in (path, there):
        with tensors.safe_open(each, framework="numpy") as opened:
            assert opened.metadata() == expected
            assert list(opened.metadata()) == list(expected)
        loaded = tensors.load_file(each, framework="numpy")
        assert loaded["f32"].dtype == np.dtype("<f4")
        assert np.array_equal(loaded["f32"], values)
        assert loaded["i64"].tolist() == [1, -2]
        assert loaded["i8"].tolist() == [1, 2, -1]
        assert loaded["q8"].tobytes() == bytes(range(34))
        mapped = tensors.load_file(each, framework="numpy", zero_copy=True)
        assert np.array_equal(mapped["f32"], values)
        stored = {about.name: about.stored_as for about in tensors.info(each)}
        assert stored["q8"] == ("Q8_0" if order == "<" else "Q8_0, big-endian")
    shown = info(there)["files"][0]["metadata"]
    assert [pair["key"] for pair in shown] == [*expected, "k.0"]
    assert {pair["key"]: pair["value"] for pair in shown[:-1]} == expected
    assert {pair["key"]: pair["type"] for pair in shown}["nested"] == "array of array"
    text = run("info", there).stdout
    assert '    tokens = 30000 of string ["<0>", "<1>", "<2>", "<3>", …]' in text
    assert "    nested = 2 of array [0 of i32 [], 3 of i32 [0, 1, 2]]" in text
    if version > 1:
        reader = gguf.GGUFReader(tmp_path / "theirs.gguf")
        for key, value in expected.items():
            if value != [] and key != "nested":
                assert reader.fields[key].contents() == value, key
        assert np.array_equal(reader.tensors[0].data, values)
    assert run("unpack", there, "-o", tmp_path / "x.safetensors").returncode == 3  # Q8_0


def test_numbers_that_json_has_no_word_for(tmp_path):
    file = Written()
    file.pair("limits", ARRAY, file.number("I", F64) + file.size(3)
              + b"".join(file.number("d", x) for x in (float("inf"), float("-inf"), float("nan"))))
    file.pair("raw", STRING, file.text(b"\xff\xfe"))
    path = file.write(tmp_path / "m.gguf")
    there = packed(path)
    assert info(there)["files"][0]["metadata"][0]["value"] == ["inf", "-inf", "nan"]
    metadata = tensors.safe_open(there, framework="numpy").metadata()
    assert metadata["limits"][:2] == [float("inf"), float("-inf")]
    assert metadata["raw"].encode("utf-8", "surrogateescape") == b"\xff\xfe"


def test_what_gguf_writes_big_endian(tmp_path):
    writer = gguf.GGUFWriter(tmp_path / "be.gguf", "llama", endianess=BIG)
    values = {
        "f2": np.arange(8, dtype="f2").reshape(2, 4) / 3,
        "f4": np.arange(8, dtype="f4") / 3,
        "f8": np.arange(8, dtype="f8") / 3,
        "i4": np.arange(-4, 4, dtype="i4"),
    }
    writer.add_array("a", [1, 2, 3])
    for name, value in values.items():
        writer.add_tensor(name, value.copy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    for path in (tmp_path / "be.gguf", packed(tmp_path / "be.gguf")):
        loaded = tensors.load_file(path, framework="numpy")
        for name, value in values.items():
            assert np.array_equal(loaded[name], value), name
        with tensors.safe_open(path, framework="numpy") as opened:
            assert opened.metadata()["a"] == [1, 2, 3]
            assert np.array_equal(opened.get_slice("f2")[1:, 2:], values["f2"][1:, 2:])
    assert [t["name"] for t in info(tmp_path / "be.holo")["tensors"] if "big_endian" in t] == [
        *values
    ]


def test_unknown_types_are_sized_by_their_file(tmp_path):
    """34 bytes for 64 elements: small tensors leave many sizes possible, two of them one."""
    random = np.random.default_rng(3)
    file = Written()
    sizes = {"a": (1, 64), "b": (5, 128), "c": (100, 192), "d": (1, 64 * 37)}
    data = {name: random.bytes(r * c * 34 // 64) for name, (r, c) in sizes.items()}
    for name, (rows, columns) in sizes.items():
        file.tensor(name, 99, [columns, rows], data[name])
    file.tensor("f", 0, [3], struct.pack("<3f", 1, 2, 3))
    file.tensor("none", 99, [64, 0], b"")
    path = file.write(tmp_path / "m.gguf")
    there = packed(path)
    assert "hoist: warning: tensor 'a' and 4 more are of GGUF's type 99" in run(
        "pack", path, "-o", tmp_path / "again.holo"
    ).stderr
    for each in (path, there):
        stored = {about.name: (about.stored_as, about.shape) for about in tensors.info(each)}
        loaded = tensors.load_file(each, framework="numpy")
        for name, (rows, columns) in sizes.items():
            assert stored[name] == ("GGUF type 99", (rows, columns * 34 // 64))
            assert loaded[name].tobytes() == data[name]
        assert loaded["f"].tolist() == [1, 2, 3]
        assert loaded["none"].size == 0
    assert {t["name"]: t.get("stored_as") for t in info(there)["tensors"]}["c"] == "GGUF type 99"


def test_unknown_types_that_nothing_tells_the_size_of(tmp_path):
    file = Written()
    file.tensor("a", 99, [64], b"x" * 40)  # 33 to 64 bytes are possible
    file.tensor("f", 0, [1], struct.pack("<f", 1))
    path = file.write(tmp_path / "m.gguf")
    loaded = tensors.load_file(packed(path), framework="numpy")
    assert loaded["a"].tobytes() == b"x" * 40 + bytes(24)
    assert loaded["f"].tolist() == [1]


def test_unknown_type_in_a_file_that_is_cut_off(tmp_path):
    file = Written()
    file.tensor("a", 99, [64, 64], b"x" * (34 * 64))
    file.tensor("b", 99, [64, 64], b"x" * (34 * 64))
    path = file.write(tmp_path / "m.gguf", end=-200)
    with pytest.raises(errors.Corrupt, match="'b' reaches beyond the end"):
        tensors.load_file(path, framework="numpy")


def hostile():
    def of(make):
        file = Written()
        make(file)
        return file

    class Endless(Written):
        def size(self, value):
            return self.number("Q", value or 2**60)

    yield "2^60 pairs and tensors", Endless()
    for kind in (0, STRING, ARRAY):
        yield f"2^60 elements of {kind}", of(lambda f, kind=kind: f.pair(
            "a", ARRAY, f.number("I", kind) + f.number("Q", 2**60)))
    yield "a text of 2^60 bytes", of(lambda f: f.pair("a", STRING, f.number("Q", 2**60)))
    yield "an unknown kind", of(lambda f: f.pair("a", 13, f.number("Q", 0)))
    yield "deep arrays", of(lambda f: f.pair(
        "a", ARRAY, (f.number("I", ARRAY) + f.number("Q", 1)) * 50))
    for wrong in (0, 4, 33, 2**31):
        yield f"alignment {wrong}", of(lambda f, wrong=wrong: f.pair(
            "general.alignment", U32, f.number("I", wrong)))
    yield "alignment as u64", of(lambda f: f.pair("general.alignment", U64, f.number("Q", 64)))
    yield "two alignments", of(lambda f: [f.pair("general.alignment", U32, f.number("I", n))
                                          for n in (32, 64)])
    for kind in (0, 2, 99):
        yield f"no place of its own, type {kind}", of(lambda f, kind=kind: [
            f.tensor("a", kind, [32], b"x" * 128), f.tensor("b", kind, [32], b"", offset=0)])
        yield f"2^60 elements, type {kind}", of(lambda f, kind=kind: f.tensor(
            "a", kind, [2**30, 2**30], b"x" * 128))
        yield f"not aligned, type {kind}", of(lambda f, kind=kind: f.tensor(
            "a", kind, [32], b"x" * 128, offset=8))
        yield f"beyond the end, type {kind}", of(lambda f, kind=kind: f.tensor(
            "a", kind, [32], b"x" * 128, offset=2**40))
    yield "half a block", of(lambda f: f.tensor("a", 12, [128], b"x" * 72))
    yield "overlaps", of(lambda f: [f.tensor("a", 0, [16], b"x" * 64),
                                    f.tensor("b", 0, [16], b"", offset=32)])
    yield "the same name twice", of(lambda f: [f.tensor("a", 99, [16], b"x" * 64)] * 1 + [
        f.tensor("a", 99, [16], b"x" * 64)])
    yield "version 4", Written(version=4)


@pytest.mark.parametrize("what, file", list(hostile()), ids=[what for what, _ in hostile()])
def test_hostile_files(tmp_path, what, file):
    path = file.write(tmp_path / "m.gguf")
    with pytest.raises(errors.Unsupported if "version" in what else errors.Corrupt, match="m.gguf|'a'"):
        tensors.load_file(path, framework="numpy")
    done = run("pack", path, "-o", tmp_path / "m.holo")
    assert done.returncode == (3 if "version" in what else 1)
    assert done.stderr.startswith("hoist: error: ")
    assert not (tmp_path / "m.holo").exists()


def test_a_magic_that_is_turned_around(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(b"FUGG" + bytes(100))
    with pytest.raises(errors.Corrupt, match="turned around"):
        tensors.load_file(path, framework="numpy")
