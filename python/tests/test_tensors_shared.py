"""Tensors that are the same memory: stored once in a .holo file, and given back under each name."""

import json
import warnings

import numpy as np
import pytest

from hoist import tensors


def test_arrays_of_the_same_memory_are_stored_once(tmp_path):
    """Under a name each, by every way to load them."""
    path = tmp_path / "x.holo"
    whole = np.random.default_rng(1).standard_normal((512, 64)).astype("f4")
    arrays = {"embed": whole, "bias": whole[0], "head": whole, "again": whole[:], "copy": whole.copy()}
    with pytest.warns(UserWarning, match=r"'head' as 'embed' \(and 1 more\)$"):
        tensors.save_file(arrays, path, metadata={"a": "b"}, encoding="lossless")
    assert path.stat().st_size < 2.2 * whole.nbytes
    assert json.loads(tensors.safe_open(path, "np").metadata()["hoist.shared"]) == {
        "head": "embed",
        "again": "embed",
    }
    loaded = tensors.load_file(path, framework="np")
    assert loaded.keys() == arrays.keys()
    assert all(np.array_equal(loaded[name], array) for name, array in arrays.items())
    assert loaded["head"] is loaded["embed"] is loaded["again"] is not loaded["copy"]
    with tensors.safe_open(path, "np") as file:
        assert file.keys() == sorted(arrays)
        assert np.array_equal(file.get_tensor("head"), whole)
        assert np.array_equal(file.get_slice("again")[5:7, ::3], whole[5:7, ::3])
        assert file.get_tensors().keys() == arrays.keys()
    assert {about.name for about in tensors.info(path)} == set(arrays)
    assert {name for name, _, _ in tensors.stream(path, framework="np")} == set(arrays)
    assert tensors.load_directory(tmp_path, framework="np")[0].keys() == arrays.keys()


@pytest.mark.parametrize("text", ["no JSON", "[1]", '{"x": "nowhere"}', '{"b": "a"}', "{}"])
def test_texts_under_that_key_by_somebody_else(tmp_path, text):
    arrays = {"a": np.ones(3), "b": np.zeros(3)}
    tensors.save_file(arrays, tmp_path / "x.holo", metadata={"hoist.shared": text})
    loaded = tensors.load_file(tmp_path / "x.holo", framework="np")
    assert loaded.keys() == arrays.keys() and not loaded["b"].any()


def test_empty_arrays_share_nothing(tmp_path):
    empty = np.zeros((0, 4))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tensors.save_file({"a": empty, "b": empty}, tmp_path / "x.holo")
    assert set(tensors.load_file(tmp_path / "x.holo", framework="np")) == {"a", "b"}
