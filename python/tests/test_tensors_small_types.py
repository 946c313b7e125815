"""Element types of safetensors that are kept and not computed with: eight bits and fewer."""

import json
import struct

import ml_dtypes
import numpy as np
import pytest
import safetensors

from hoist import _frameworks, _native, errors, tensors

# name, shape, bytes, type in ml_dtypes
STORED = [
    ("F8_E8M0", [3, 5], 15, "float8_e8m0fnu"),
    ("F8_E4M3FNUZ", [7], 7, "float8_e4m3fnuz"),
    ("F8_E5M2FNUZ", [2, 2], 4, "float8_e5m2fnuz"),
    ("F4", [3, 6], 9, None),
    ("F6_E2M3", [5, 4], 15, None),
    ("F6_E3M2", [2, 6], 9, None),
    ("BF16", [31], 62, "bfloat16"),
]


@pytest.fixture
def model(tmp_path):
    """A file as safetensors writes it, and the bytes of its tensors."""
    random = np.random.default_rng(8)
    header, contents = {}, {}
    begin = 0
    for dtype, shape, size, _ in STORED:
        contents[dtype] = random.bytes(size)
        header[dtype] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, begin + size]}
        begin += size
    text = json.dumps(header).encode()
    path = tmp_path / "model.safetensors"
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(contents.values()))
    return path, contents


@pytest.fixture
def packed(model, tmp_path):
    """The same tensors in a .holo file."""
    there = tmp_path / "model.holo"
    size = sum(size for _, _, size, _ in STORED)
    head = model[0].read_bytes()[:-size]
    writer = _native.HoloWriter(
        str(there), head, len(head) + size, "embedded", 8, 0, "layer", 0, None
    )
    for dtype, shape, _, _ in STORED:
        writer.add(dtype, dtype, shape, np.frombuffer(model[1][dtype], np.uint8))
    writer.finish()
    return there


@pytest.mark.parametrize("kind", ["safetensors", "holo"])
def test_each_tensor_loads_where_there_is_a_type_for_it(model, packed, kind):
    path, contents = (packed if kind == "holo" else model[0]), model[1]
    with tensors.safe_open(path, framework="np") as file:
        assert sorted(file.keys()) == sorted(dtype for dtype, _, _, _ in STORED)
        for dtype, shape, _, small in STORED:
            assert file.get_slice(dtype).get_dtype() == dtype
            if small is None:
                with pytest.raises(errors.Unsupported, match=dtype):
                    file.get_tensor(dtype)
                continue
            tensor = file.get_tensor(dtype)
            assert tensor.dtype == np.dtype(getattr(ml_dtypes, small))
            assert tensor.shape == tuple(shape)
            assert tensor.tobytes() == contents[dtype]


def test_what_safetensors_reads_is_what_is_read_here(model):
    """The layout of the file above is theirs."""
    theirs = dict(safetensors.deserialize(model[0].read_bytes()))
    for info in tensors.info(model[0]):
        about = theirs[info.name]
        assert (about["dtype"], tuple(about["shape"])) == (info.dtype, info.shape)
        assert bytes(about["data"]) == model[1][info.name]


def test_saved_arrays_come_back(tmp_path):
    random = np.random.default_rng(9)
    saved = {
        dtype: np.frombuffer(random.bytes(60), getattr(ml_dtypes, small)).reshape(4, 15)
        for dtype, _, _, small in STORED
        if small is not None and dtype != "BF16"
    }
    tensors.save_file(saved, tmp_path / "x.holo")
    loaded = tensors.load_file(tmp_path / "x.holo", framework="np")
    assert {info.name: info.dtype for info in tensors.info(tmp_path / "x.holo")} == {
        name: name for name in saved
    }
    for name, array in saved.items():
        assert loaded[name].dtype == array.dtype
        assert loaded[name].tobytes() == array.tobytes()


class OldTorch:
    """What torch without its small floats looks like; shapes need no more of it."""


def test_pairs_of_torch_are_half_a_dimension(monkeypatch):
    monkeypatch.setattr(_frameworks.importlib, "import_module", lambda name: OldTorch())
    torch = _frameworks.Torch()
    assert torch._shape("F4", (3, 6)) == (3, 3)
    assert torch._shape("F8_E8M0", (3, 5)) == (3, 5)
    for shape in [(), (2, 3)]:
        with pytest.raises(errors.Unsupported, match="pairs"):
            torch._shape("F4", shape)
    for name in ["F4", "F6_E2M3", "F6_E3M2", "F8_E8M0"]:
        with pytest.raises(errors.Unsupported):
            torch._dtype(name)
