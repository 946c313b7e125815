"""get_slice() against NumPy's own indexing, and how much of the file it reads."""

import os
import random

import numpy as np
import pytest

from hoist import tensors
from hoist._tensor_files import box_of


def random_part(rng, extent):
    kind = rng.randrange(5)
    if kind == 0 and extent:
        return rng.randrange(-extent, extent)
    if kind == 1 and extent:
        return np.int64(rng.randrange(extent))

    def end():
        return rng.choice([None, rng.randrange(-extent - 2, extent + 3)])

    return slice(end(), end(), rng.choice([None, 1, 1, 2, 3, 7, -1, -2, 100]))


def random_index(rng, shape):
    parts = [random_part(rng, extent) for extent in shape[: rng.randrange(len(shape) + 1)]]
    if rng.random() < 0.3:
        parts.insert(rng.randrange(len(parts) + 1), None)
    if rng.random() < 0.4:
        at = rng.randrange(len(parts) + 1)
        behind = sum(part is not None for part in parts[at:])
        extents = shape[len(shape) - behind :] if behind else ()
        again = iter([random_part(rng, extent) for extent in extents])
        parts[at:] = [..., *(None if part is None else next(again) for part in parts[at:])]
    return parts[0] if len(parts) == 1 and rng.random() < 0.5 else tuple(parts)


@pytest.fixture(scope="module", params=["safetensors", "npy", "npz", "holo"])
def saved(request, tmp_path_factory):
    """Tensors, and a file that has them."""
    rng = np.random.default_rng(1)
    shapes = [(), (0,), (1,), (7,), (5000,), (3, 4), (40, 50), (3, 0, 4), (5, 6, 7), (64, 3, 33)]
    arrays = {}
    for number, shape in enumerate(shapes):
        dtype = ["u1", "<u2", "<f4", "<f8"][number % 4]
        arrays[str(number)] = rng.integers(0, 255, shape).astype(dtype)
    path = tmp_path_factory.mktemp("slices") / f"x.{request.param}"
    if request.param == "safetensors":
        peer = pytest.importorskip("safetensors.numpy")
        peer.save_file(arrays, path)
    elif request.param == "holo":
        tensors.save_file(arrays, path)
    elif request.param == "npz":
        np.savez(path, **arrays)
    else:
        arrays = {"x": arrays["9"]}
        np.save(path, arrays["x"])
    return arrays, path


@pytest.mark.parametrize("zero_copy", [False, True])
def test_slices_are_those_of_numpy(saved, zero_copy):
    arrays, path = saved
    seed = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(2**32)))
    print(f"HOIST_TEST_SEED={seed}")
    rng = random.Random(seed)
    with tensors.safe_open(path, "np", zero_copy=zero_copy) as file:
        for turn in range(1500):
            name = rng.choice(file.keys())
            array = arrays[name if name in arrays else "x"]
            index = random_index(rng, array.shape)
            part = file.get_slice(name)[index]
            want = np.asarray(array[index])
            where = f"seed {seed}, turn {turn}: {array.shape} {index}"
            assert part.dtype == want.dtype and part.shape == want.shape, where
            assert np.array_equal(part, want), where


def test_slices_outlive_the_file_that_gave_them(saved):
    arrays, path = saved
    with tensors.safe_open(path, "np") as file:
        parts = {name: file.get_slice(name) for name in file.keys()}
    del file
    for name, part in parts.items():
        array = arrays[name if name in arrays else "x"]
        assert part.get_shape() == list(array.shape)
        assert np.array_equal(part[..., -1:] if array.ndim else part[()], array[..., -1:] if array.ndim else array)


def test_other_indices_are_those_of_numpy(saved):
    arrays, path = saved
    with tensors.safe_open(path, "np") as file:
        name = file.offset_keys()[-1] if "x" in arrays else "6"
        array = arrays[name if name in arrays else "x"]
        part = file.get_slice(name)
        for index in [[2, 0, 2], array > 100, (slice(None), [1, 0]), np.array([0, 1]), True]:
            assert np.array_equal(part[index], array[index])
        for index in [99999, (0,) * 9, (..., 0, ...), (0, -99999)]:
            with pytest.raises(IndexError):
                array[index]
            with pytest.raises(IndexError):
                part[index]
        with pytest.raises(ValueError):
            part[::0]


def test_box_is_what_the_index_touches():
    box = box_of((slice(8, None, -3), ..., None, -1), (10, 6, 4))
    assert box.ranges == ((2, 3, 3), (0, 1, 6), (3, 1, 1))
    assert box.rest == (slice(None, None, -1), ..., None, 0)


def bytes_read():
    """By this process, through system calls."""
    with open("/proc/self/io") as file:
        return int(file.readline().split()[1])


@pytest.mark.skipif(not os.access("/proc/self/io", os.R_OK), reason="no /proc/self/io")
@pytest.mark.parametrize("encoding, most", [("embedded", 0.3), ("lossless", 0.6)])
def test_of_a_holo_file_a_slice_reads_some_shards(tmp_path, encoding, most):
    rows, columns = 2048, 2048
    weights = np.random.default_rng(1).normal(0, 0.02, (rows, columns)).astype("f4")
    tensors.save_file({"w": weights}, tmp_path / "x.holo", encoding=encoding)
    size = os.path.getsize(tmp_path / "x.holo")
    with tensors.safe_open(tmp_path / "x.holo", "np") as file:
        part = file.get_slice("w")
        for index in [7, slice(-2, None), (slice(1000, 1010), slice(0, None, 5)), (-1, -1)]:
            before = bytes_read()
            assert np.array_equal(part[index], weights[index])
            assert bytes_read() - before <= most * size
        assert np.array_equal(part[::2, 1], weights[::2, 1])


@pytest.mark.skipif(not os.access("/proc/self/io", os.R_OK), reason="no /proc/self/io")
def test_no_more_is_read_than_a_slice_needs(tmp_path):
    peer = pytest.importorskip("safetensors.numpy")
    rows, columns = 4096, 2048
    arrays = {name: np.ones((rows, columns), "f4") for name in "abc"}
    peer.save_file(arrays, tmp_path / "x.safetensors")
    some = 256 << 10
    with tensors.safe_open(tmp_path / "x.safetensors", "np") as file:
        part = file.get_slice("b")
        row = 4 * columns
        pages = 8 << 10
        for index, most in [
            (5, row),
            (slice(-3, None), 3 * row),
            (slice(0, 0), 0),
            ((slice(None, None, 512), slice(3, 5)), 8 * pages),
            ((slice(10, 20), slice(0, 1)), 10 * row),
            ((-1, -1), 4),
        ]:
            before = bytes_read()
            part[index]
            assert bytes_read() - before <= most + some
        before = bytes_read()
        file.keys(), file.offset_keys(), file.metadata(), part.get_shape(), part.get_dtype()
        with pytest.raises(IndexError):
            part[rows]
        assert bytes_read() - before <= some
        before = bytes_read()
        file.get_tensor("b")
        assert bytes_read() - before <= rows * row + some
