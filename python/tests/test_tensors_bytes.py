"""load() of bytes against load_file() of a file of them: results, errors, and what is copied."""

import json
import os
import random

import numpy as np
import pytest

import hoist.safetensors as safetensors
from hoist import errors, tensors

RNG = np.random.default_rng(20261127)


def contents_of(arrays, kind, folder):
    path = folder / f"x.{kind}"
    if kind == "safetensors":
        return tensors.save(arrays, {"some": "text"})
    if kind == "holo":
        tensors.save_file(arrays, path)
    elif kind == "npz":
        np.savez(path, **arrays)
    else:
        np.save(path, arrays["cube"])
    return path.read_bytes()


def sized_arrays():
    """Smaller and larger than what is copied together, and empty ones."""
    sizes = [0, 1, 7, 70_000, 3, 0, 65_536, 65_537, 12, 200_000, *range(400), 0]
    dtypes = ["u1", "<f4", "<i8", "<f2", "?"]
    arrays = {
        f"{i:04}": RNG.integers(0, 2, size).astype(dtypes[i % len(dtypes)])
        for i, size in enumerate(sizes)
    }
    return {**arrays, "scalar": np.array(3.5), "table": RNG.random((30, 0, 2)), "cube": RNG.random((4, 5, 6))}


def unaligned_file(arrays):
    """With a header and tensors at odd places, last names first."""
    header, data = {}, b""
    for name in sorted(arrays, reverse=True):
        array = arrays[name]
        dtype = {"|u1": "U8", "<f4": "F32", "<i8": "I64", "<f2": "F16", "|b1": "BOOL", "<f8": "F64"}
        offsets = [len(data), len(data) + array.nbytes]
        header[name] = {"dtype": dtype[array.dtype.str], "shape": array.shape, "data_offsets": offsets}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (1 - len(text) % 2)
    return len(text).to_bytes(8, "little") + text + data


def check_same(found, wanted):
    assert len(found) == len(wanted)
    for ours, array in zip(found.values(), wanted.values()):
        assert ours.dtype == array.dtype and ours.shape == array.shape
        assert ours.tobytes() == array.tobytes()


@pytest.mark.parametrize("kind", ["safetensors", "unaligned", "holo", "npz", "npy"])
def test_bytes_are_loaded_as_files_are(tmp_path, kind):
    arrays = sized_arrays()
    contents = unaligned_file(arrays) if kind == "unaligned" else contents_of(arrays, kind, tmp_path)
    path = tmp_path / "file"
    path.write_bytes(contents)
    wanted = tensors.load_file(path, framework="numpy")
    assert kind == "npy" or len(wanted) == len(arrays)
    given = bytearray(contents)
    for data in (given, contents, memoryview(contents), np.frombuffer(contents, np.uint8)):
        found = tensors.load(data, framework="numpy")
        check_same(found, wanted)
        assert kind == "npy" or list(found) == list(wanted)  # a .npy has its file's name
    found = tensors.load(given, framework="numpy")
    for number, array in enumerate(found.values()):
        array[...] = number % 2  # nobody else's
    assert all((array == number % 2).all() for number, array in enumerate(found.values()))
    assert given == contents
    given.clear()  # nobody holds it
    parts = safetensors.deserialize(contents)
    assert [part["data"] for _, part in parts] == [array.tobytes() for array in wanted.values()]


@pytest.mark.skipif(not os.access("/proc/self/io", os.R_OK), reason="no /proc/self/io")
def test_of_a_safetensors_only_the_header_is_written_to_a_file():
    contents = tensors.save({"a": np.ones(1 << 20), "b": np.zeros(1 << 20, np.uint8)})

    def bytes_written():
        with open("/proc/self/io") as file:
            return int(file.read().split("wchar: ")[1].split()[0])

    before = bytes_written()
    assert tensors.load(contents, framework="numpy")["a"].all()
    assert bytes_written() - before < 64 << 10


def error_of(call):
    try:
        call()
    except errors.Error as error:
        return type(error), str(error)
    return None


def test_errors_are_those_of_the_file_without_a_path(tmp_path):
    rng = random.Random(int(os.environ.get("HOIST_TEST_SEED", 20261127)))
    whole = tensors.save({"a": np.ones(3, np.float32), "b": np.zeros((2, 2), np.uint8)}, {"k": "v"})
    header_end = 8 + int.from_bytes(whole[:8], "little")
    damaged = [whole[:size] for size in range(len(whole))]
    damaged += [whole + b"x", b"\xff" * 40, b"GGUF1234", b"\x93NUMPY00000", b"\x89HOLO\r\n\x1a" + b"1" * 400]
    for _ in range(500):
        changed = bytearray(whole)
        changed[rng.randrange(header_end)] = rng.randrange(256)
        damaged.append(bytes(changed))
    path = tmp_path / "file"
    refused = 0
    for contents in damaged:
        path.write_bytes(contents)
        wanted = error_of(lambda: tensors.load_file(path, framework="numpy"))
        found = error_of(lambda: tensors.load(contents, framework="numpy"))
        if wanted is None:
            assert found is None
            continue
        refused += 1
        assert found == (wanted[0], wanted[1].replace(str(path), "the bytes"))
        assert "/proc" not in found[1]
    assert refused > 400


@pytest.mark.parametrize("data", ["text", None, 5, [1]])
def test_what_is_no_bytes(data):
    for call in (tensors.load, safetensors.deserialize):
        with pytest.raises(TypeError):
            call(data)
