"""NumPy's files: every type and order that NumPy writes, against what NumPy reads."""

import json
import os
import pathlib
import subprocess
import warnings
import zipfile
import zlib

import numpy as np
import pytest

from hoist import errors, tensors

TOOL = pathlib.Path(os.environ["HOIST_BUILD_DIR"]) / "libexec/hoist/hoist-tensors"
NUMBERS = "? b B h H i I q Q e f d F D".split()
FOREIGN = [
    np.array(["a", "für", ""]),
    np.array([b"abc", b""]),
    np.array("2026-11-26", "M8[D]"),
    np.arange(4).astype("m8[ns]").reshape(2, 2),
    np.array([1, 2.5], np.longdouble),
    np.array([1 + 2j], np.clongdouble),
    np.array([(1, 2.5, "x"), (3, 4.5, "y")], [("a", "i4"), ("ü", ">f8"), ("c", "U3")]),
    np.zeros((2, 0, 3), [("a", "i4", (2, 2)), ("b", [("c", "u1")])]),
    np.zeros(3, np.dtype({"names": ["a"], "formats": ["f4"], "offsets": [4], "itemsize": 16})),
    np.array([b"ab"], "V2"),
    np.asfortranarray(np.array([["ab", "c"], ["d", "efg"], ["h", "i"]])),
    np.array(["big"], ">U3"),
]


def run(*arguments):
    return subprocess.run([TOOL, *arguments], capture_output=True, text=True, check=False)


def arrays():
    random = np.random.default_rng(5)
    found = {}
    for code in NUMBERS:
        for shape in [(), (0,), (7,), (3, 5), (4, 1, 6), (2, 3, 4, 5)]:
            count = int(np.prod(shape))
            content = random.bytes(np.dtype(code).itemsize * count)
            array = np.frombuffer(content, "u1" if code == "?" else code, count)
            array = (array % 2 == 0 if code == "?" else array).reshape(shape)
            name = f"{code}{'x'.join(map(str, shape))}"
            found[name] = array
            found[name + "F"] = np.asfortranarray(array)
            found[name + "T"] = array.T
            found[name + ">"] = array.astype(array.dtype.newbyteorder(">"))
            found[name + ">F"] = np.asfortranarray(found[name + ">"])
    for i, array in enumerate(FOREIGN):
        found[f"foreign{i}"] = array
    return found


def same(ours, theirs):
    """Equal in type, shape and every bit, whatever the order in memory."""
    if ours.dtype.names:  # padding between fields may hold anything
        return ours.dtype == theirs.dtype and np.array_equal(ours, theirs)
    if ours.dtype != theirs.dtype:
        if ours.dtype.newbyteorder("=") != theirs.dtype.newbyteorder("="):
            return False
        ours = ours.astype(theirs.dtype)
    return ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_archives_of_everything(tmp_path, save):
    saved = arrays()
    path = tmp_path / "m.npz"
    save(path, **saved)
    assert run("pack", path, "-o", tmp_path / "m.holo").returncode == 0
    assert run("unpack", tmp_path / "m.holo", "-o", tmp_path / "again.npz").returncode == 0
    plain = tmp_path / "plain.npz"
    np.savez(plain, **saved)
    if save is np.savez:
        assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()
    with np.load(plain) as theirs, np.load(tmp_path / "again.npz") as again:
        for each in (path, tmp_path / "m.holo"):
            with tensors.safe_open(each, framework="numpy") as opened:
                assert sorted(opened.keys()) == sorted(saved)
            for zero_copy in (False, True):
                loaded = tensors.load_file(each, framework="numpy", zero_copy=zero_copy)
                assert loaded.keys() == saved.keys()
                for name in saved:
                    assert same(loaded[name], theirs[name]), (each, name)
        for name in saved:
            assert same(again[name], theirs[name]), name
            assert again[name].flags.f_contiguous == theirs[name].flags.f_contiguous
    with zipfile.ZipFile(tmp_path / "again.npz") as archive:
        assert archive.testzip() is None


@pytest.mark.parametrize("name", sorted(arrays())[::7] + [f"foreign{i}" for i in range(len(FOREIGN))])
def test_single_arrays(tmp_path, name):
    path = tmp_path / "w.npy"
    np.save(path, arrays()[name])
    theirs = np.load(path)
    assert run("pack", path, "-o", tmp_path / "w.holo").returncode == 0
    assert run("unpack", tmp_path / "w.holo", "-o", tmp_path / "again.npy").returncode == 0
    assert (tmp_path / "again.npy").read_bytes() == path.read_bytes()
    for each in (path, tmp_path / "w.holo"):
        assert same(tensors.load_file(each, framework="numpy")["w"], theirs)
        with tensors.safe_open(each, framework="numpy") as opened:
            if theirs.ndim and not name.startswith("foreign"):
                assert same(opened.get_slice("w")[:2], theirs[:2])


def test_compressed_becomes_what_savez_writes(tmp_path):
    saved = {"a": np.arange(1000.0), "b": np.asfortranarray(np.ones((30, 40), ">i2"))}
    np.savez_compressed(tmp_path / "m.npz", **saved)
    np.savez(tmp_path / "plain.npz", **saved)
    done = run("pack", tmp_path / "m.npz", "-o", tmp_path / "m.holo")
    assert done.returncode == 0
    assert "hoist: warning: compressed arrays are taken as they are without" in done.stderr
    assert run("unpack", tmp_path / "m.holo", "-o", tmp_path / "again.npz").returncode == 0
    assert (tmp_path / "again.npz").read_bytes() == (tmp_path / "plain.npz").read_bytes()
    assert run("unpack", tmp_path / "m.holo", "-o", tmp_path / "m.safetensors").returncode == 0
    assert np.array_equal(
        tensors.load_file(tmp_path / "m.safetensors", framework="numpy")["b"], saved["b"]
    )


def test_objects_are_kept_and_never_unpickled(tmp_path):
    saved = {
        "numbers": np.arange(6.0).reshape(2, 3),
        "objects": np.array([{"a": 1}, None, "x"], dtype=object),
        "structured": np.array([(1, [2])], [("a", "i4"), ("b", "O")]),
    }
    path = tmp_path / "m.npz"
    np.savez(path, **saved)
    done = run("pack", path, "-o", tmp_path / "m.holo", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["notes"] == [
        f"array 'objects' and 1 more hold pickled Python objects ({path}): their bytes are kept and "
        "never unpickled"
    ]
    assert run("unpack", tmp_path / "m.holo", "-o", tmp_path / "again.npz").returncode == 0
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()
    for each in (path, tmp_path / "m.holo"):
        with pytest.warns(RuntimeWarning, match="'objects': pickled .* allow_pickle.*and 1 more"):
            loaded = tensors.load_file(each, framework="numpy")
        assert list(loaded) == ["numbers"]
        with tensors.safe_open(each, framework="numpy") as opened:
            for name in ("objects", "structured"):
                with pytest.raises(errors.Unsupported, match=f"'{name}': pickled"):
                    opened.get_tensor(name)
                with pytest.raises(errors.Unsupported, match=name):
                    opened.get_slice(name)[:]
            assert np.array_equal(opened.get_tensor("numbers"), saved["numbers"])
        with warnings.catch_warnings(record=True):
            assert [name for name, _, _ in tensors.stream(each, framework="numpy")] == ["numbers"]
    done = run("unpack", tmp_path / "m.holo", "-o", tmp_path / "m.safetensors")
    assert done.returncode == 3 and "numpy:|O" in done.stderr


def test_entries_that_numpy_does_not_write(tmp_path):
    path = tmp_path / "m.npz"
    np.savez(path, a=np.arange(4))
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("b.npy", b"whatever" * 100, zipfile.ZIP_LZMA)
        archive.writestr("c.npy", b"\x93NUMPY\x09\0" + bytes(40))
        archive.writestr("notes.txt", "hello")
        archive.writestr("d.npy", b"x" * 10_000, zipfile.ZIP_BZIP2)
    assert run("pack", path, "-o", tmp_path / "m.holo").returncode == 0
    assert run("unpack", tmp_path / "m.holo", "-o", tmp_path / "again.npz").returncode == 0
    assert (tmp_path / "again.npz").read_bytes() == path.read_bytes()
    with pytest.warns(RuntimeWarning, match="'b'.*compressed by method 14 of ZIP"):
        loaded = tensors.load_file(tmp_path / "m.holo", framework="numpy")
    assert list(loaded) == ["a"] and loaded["a"].tolist() == [0, 1, 2, 3]


def test_damage_of_what_is_compressed_is_found(tmp_path):
    path = tmp_path / "m.npz"
    np.savez_compressed(path, a=np.random.default_rng(1).random(4000))
    good = path.read_bytes()
    for at in range(100, len(good) - 300, 3000):
        path.write_bytes(good[:at] + bytes([good[at] ^ 4]) + good[at + 1 :])
        with pytest.raises(errors.Corrupt, match="'a.npy' does not decompress"):
            tensors.load_file(path, framework="numpy")


def test_an_archive_that_claims_more_than_deflate_can_hold(tmp_path):
    path = tmp_path / "m.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.npy", bytes(1000))
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\1\2")
    content[at + 24 : at + 28] = (2**31).to_bytes(4, "little")
    path.write_bytes(content)
    with pytest.warns(RuntimeWarning, match="method 8"):
        assert tensors.load_file(path, framework="numpy") == {}


def test_types_that_cannot_be_saved_name_the_mend(tmp_path):
    for array in [np.zeros(2, complex), *FOREIGN, np.array([None])]:
        with pytest.raises(errors.Unsupported, match="tensor 'w': .*numpy.savez"):
            tensors.save_file({"w": array}, tmp_path / "x.holo")
    assert not (tmp_path / "x.holo").exists()


def test_complex_has_no_name_in_safetensors(tmp_path):
    np.save(tmp_path / "w.npy", np.arange(4) * 1j)
    assert run("pack", tmp_path / "w.npy", "-o", tmp_path / "w.holo").returncode == 0
    done = run("unpack", tmp_path / "w.holo", "-o", tmp_path / "w.safetensors")
    assert done.returncode == 3
    assert "tensor 'w' is of type C128, which safetensors does not have" in done.stderr


def test_safetensors_of_a_type_to_come(tmp_path):
    header = json.dumps({
        "__metadata__": {"format": "pt"},
        "f": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},
        "x": {"dtype": "F3_E1M1", "shape": [4, 16], "data_offsets": [8, 32]},
        "y": {"dtype": "F3_E1M1", "shape": [3], "data_offsets": [32, 34]},
    }).encode()
    path = tmp_path / "m.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header + np.ones(2, "f4").tobytes() + bytes(range(26)))
    done = run("pack", path, "-o", tmp_path / "m.holo")
    assert done.returncode == 0
    assert "tensor 'x' and 1 more are of type F3_E1M1, which this version does not know" in done.stderr
    assert run("unpack", tmp_path / "m.holo", "-o", tmp_path / "again.safetensors").returncode == 0
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()
    for each in (path, tmp_path / "m.holo"):
        found = {about.name: about for about in tensors.info(each)}
        assert (found["x"].stored_as, found["x"].shape) == ("F3_E1M1", (4, 6))
        loaded = tensors.load_file(each, framework="numpy")
        assert loaded["x"].tobytes() + loaded["y"].tobytes() == bytes(range(26))
        assert loaded["f"].tolist() == [1, 1]
    metadata = json.loads(run("info", "--json", tmp_path / "m.holo").stdout)["files"][0]["metadata"]
    assert metadata == [{"key": "format", "type": "string", "value": "pt"}]


def test_crc_is_of_the_content(tmp_path):
    """What unpack writes of a compressed archive is checked by whoever reads it."""
    np.savez_compressed(tmp_path / "m.npz", a=np.arange(100))
    run("pack", tmp_path / "m.npz", "-o", tmp_path / "m.holo")
    run("unpack", tmp_path / "m.holo", "-o", tmp_path / "again.npz")
    with zipfile.ZipFile(tmp_path / "again.npz") as archive:
        entry = archive.getinfo("a.npy")
        assert entry.CRC == zlib.crc32(archive.read("a.npy"))
