"""hoist.tensors against safetensors, on NumPy arrays; with PyTorch where it is installed."""

import errno
import importlib.util
import os
import threading

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from hoist import errors, tensors

DTYPES = [
    np.bool_, np.uint8, np.int8, np.int16, np.uint16, np.float16, np.int32, np.uint32, np.float32,
    np.int64, np.uint64, np.float64, np.complex64,
    ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2,
]  # fmt: skip
SHAPES = [(), (0,), (1,), (7,), (3, 0, 2), (1, 129), (13, 17), (2, 1, 3, 1, 2, 1, 2, 3)]


def random_array(random, dtype, shape):
    """Any bits, NaNs and all; booleans are 0 or 1."""
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = random.integers(0, 2 if dtype is np.bool_ else 256, size, dtype=np.uint8)
    return raw.view(dtype).reshape(shape)


def weights(random, shape, dtype=ml_dtypes.bfloat16):
    return (random.standard_normal(shape) * 0.02).astype(dtype)


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


@pytest.fixture
def random():
    return np.random.default_rng(20261122)


@pytest.fixture
def model(random):
    return {
        "model.layers.0.attention.q.weight": weights(random, (96, 128)),
        "model.layers.0.mlp.up.weight": weights(random, (256, 96)),
        "model.norm.weight": np.ones(96, np.float32),
        "steps": np.arange(10, dtype=np.int64),
    }


@pytest.mark.parametrize("encoding", ["embedded", "lossless"])
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_every_type_and_shape_comes_back(tmp_path, random, dtype, encoding):
    saved = {f"t{i}": random_array(random, dtype, shape) for i, shape in enumerate(SHAPES)}
    path = tmp_path / "x.holo"
    tensors.save_file(saved, path, encoding=encoding)
    loaded = tensors.load_file(path, framework="numpy")
    assert loaded.keys() == saved.keys()
    for name, array in saved.items():
        assert same(loaded[name], array), name


def test_reads_what_safetensors_writes(tmp_path, model):
    plain = {name: array for name, array in model.items() if array.dtype != ml_dtypes.bfloat16}
    path = tmp_path / "x.safetensors"
    safetensors.numpy.save_file(plain, path, metadata={"format": "np"})
    loaded = tensors.load_file(path, framework="numpy")
    assert all(same(loaded[name], array) for name, array in plain.items())
    with tensors.safe_open(path, framework="np") as file:
        assert file.metadata() == {"format": "np"}


def test_paths_may_be_bytes(tmp_path, model):
    path = os.fsencode(tmp_path / "model.holo")
    tensors.save_file(model, path)
    assert tensors.load_file(path).keys() == model.keys()


def test_metadata_is_kept(tmp_path, model):
    path = tmp_path / "x.holo"
    tensors.save_file(model, path, metadata={"licence": "none", "ü": "é"})
    with tensors.safe_open(path, framework="numpy") as file:
        assert file.metadata() == {"licence": "none", "ü": "é"}
        assert set(file.keys()) == set(model)
        for name in file.keys():
            assert same(file.get_tensor(name), model[name])
        part = file.get_slice("steps")
        assert part.get_shape() == [10] and part.get_dtype() == "I64"
        assert part[2:5].tolist() == [2, 3, 4]
        with pytest.raises(errors.NotFound):
            file.get_tensor("none")
    with pytest.raises(errors.InvalidArgument):
        file.keys()


def test_quality_is_what_was_measured(tmp_path, model):
    path = tmp_path / "x.holo"
    tensors.save_file(model, path)
    for about in tensors.info(path):
        exact = model[about.name].astype(np.float64)
        for layer in about.layers[:-1]:
            rough = tensors.load_file(path, target=layer.quality, framework="numpy")[about.name]
            error = np.sum((rough.astype(np.float64) - exact) ** 2) / np.sum(exact**2)
            assert 1 - error == pytest.approx(layer.quality, abs=1e-12)


def test_targets_and_policies(tmp_path, model):
    path = tmp_path / "x.holo"
    tensors.save_file(model, path)
    attention, mlp = "model.layers.0.attention.q.weight", "model.layers.0.mlp.up.weight"

    def qualities(**arguments):
        loaded = tensors.load_file(path, framework="numpy", **arguments)
        result = {}
        for name in (attention, mlp):
            exact = model[name].astype(np.float64)
            error = np.sum((loaded[name].astype(np.float64) - exact) ** 2) / np.sum(exact**2)
            result[name] = 1 - error
        return result

    rough = qualities(target=0.9)
    assert 0.9 <= rough[attention] < 1 and 0.9 <= rough[mlp] < 1
    mixed = qualities(target=0.9, policy={"attention.*": 1.0})
    assert mixed[attention] == 1 and mixed[mlp] == rough[mlp]
    by_priority = qualities(policy=[("*", 1.0), ("*mlp*", 0.9, 5)])
    assert by_priority[attention] == 1 and by_priority[mlp] == rough[mlp]
    with pytest.raises(errors.InvalidArgument):
        qualities(target=1.5)


def test_stream_improves_each_tensor(tmp_path, model):
    path = tmp_path / "x.holo"
    tensors.save_file(model, path)
    best = {}
    for name, tensor, quality in tensors.stream(path, steps=(0.9, 0.99, None), framework="numpy"):
        assert quality > best.get(name, (-1, None))[0], name
        best[name] = (quality, tensor)
    assert all(same(best[name][1], array) for name, array in model.items())


def test_versions_never_change_under_a_reader(tmp_path, model):
    path = tmp_path / "x.holo"
    tensors.save_file(model, path)
    name = "model.layers.0.mlp.up.weight"
    with tensors.ProgressiveModel(path, steps=(0.9, None), framework="numpy") as progressive:
        first = progressive.tensors
        bytes_then = first[name].tobytes()
        assert progressive.wait(60)
        assert first[name].tobytes() == bytes_then
        assert all(same(progressive.tensors[key], array) for key, array in model.items())
        assert min(progressive.qualities.values()) == 1
        with pytest.raises(TypeError):
            progressive.tensors[name] = None


def test_directory_of_both_kinds(tmp_path, model):
    names = sorted(model)
    tensors.save_file({name: model[name] for name in names[:2]}, tmp_path / "a.holo")
    safetensors.numpy.save_file({"steps": model["steps"]}, tmp_path / "b.safetensors")
    loaded, qualities, counts = tensors.load_directory(tmp_path, 0.9, framework="numpy")
    assert counts == {"holographic": 2, "standard": 1}
    assert set(loaded) == {*names[:2], "steps"} and min(qualities.values()) >= 0.9


@pytest.mark.parametrize("encoding", ["spectral", "rph", "lrdf"])
def test_any_subset_encodings(tmp_path, random, encoding):
    array = weights(random, (64, 96), np.float32)
    path = tmp_path / "x.holo"
    tensors.save_file({"w": array}, path, encoding=encoding, fragments=4, parity=1)
    loaded = tensors.load_file(path, framework="numpy")["w"]
    (about,) = tensors.info(path)
    assert about.encoding == encoding and len(about.layers) == 4
    error = np.sum((loaded - array).astype(np.float64) ** 2) / np.sum(array.astype(np.float64) ** 2)
    assert 1 - error == pytest.approx(about.layers[-1].quality, abs=1e-6)
    assert encoding == "lrdf" or error < 1e-10


def test_bad_files_are_refused(tmp_path):
    path = tmp_path / "x.holo"
    for content in (b"", b"no such file format", bytes(5000)):
        path.write_bytes(content)
        with pytest.raises(errors.Error):
            tensors.load_file(path, framework="numpy")
    for what in ("missing.holo", "missing.safetensors"):
        with pytest.raises(FileNotFoundError) as missing:
            tensors.load_file(tmp_path / what, framework="numpy")
        assert isinstance(missing.value, errors.NotFound)
        assert missing.value.errno == errno.ENOENT
        assert missing.value.filename == str(tmp_path / what)
    for what in ("x.holo", "x.safetensors"):  # of a file that is no folder
        with pytest.raises(errors.IoError) as raised:
            tensors.load_file(path / what, framework="numpy")
        assert isinstance(raised.value, OSError) and raised.value.errno == errno.ENOTDIR
    for quality in (2.0, -0.5, float("nan")):
        with pytest.raises(errors.InvalidArgument, match="0 to 1"):
            tensors.load_file(path, policy={"*": quality}, framework="numpy")
    with pytest.raises(errors.InvalidArgument):
        tensors.load_file(path, framework="abacus")
    with pytest.raises(errors.InvalidArgument):
        tensors.save_file({}, path, encoding="morse")


@pytest.mark.parametrize("name", ["model.bin", "model.HOLO", "model"])
def test_what_a_file_is_shows_in_its_bytes(tmp_path, model, name):
    path = tmp_path / name
    tensors.save_file(model, path)
    loaded = tensors.load_file(path, framework="numpy")
    assert all(same(loaded[name], array) for name, array in model.items())
    with tensors.safe_open(path, framework="numpy") as file:
        assert set(file.keys()) == set(model)


def test_what_no_safetensors_could_hold_is_not_saved(tmp_path, model):
    path = tmp_path / "x.holo"
    with pytest.raises(TypeError, match="str to str"):
        tensors.save_file(model, path, metadata={"step": 1})
    with pytest.raises(TypeError, match="names"):
        tensors.save_file({1: np.ones(3)}, path)
    with pytest.raises(errors.InvalidArgument, match="__metadata__"):
        tensors.save_file({"__metadata__": np.ones(3)}, path)
    with pytest.raises(errors.InvalidArgument, match="safetensors"):
        tensors.save_file(model, tmp_path / "x.safetensors")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("quality", [float("nan"), -1, 1.5])
def test_qualities_are_from_0_to_1(tmp_path, model, quality):
    path = tmp_path / "x.holo"
    tensors.save_file(model, path)
    with tensors.safe_open(path, framework="numpy") as file:
        with pytest.raises(errors.InvalidArgument):
            file.get_tensor("steps", target=quality)
    with pytest.raises(errors.InvalidArgument):
        list(tensors.stream(path, steps=(quality,), framework="numpy"))
    with pytest.raises(errors.InvalidArgument):
        tensors.load_directory(tmp_path, min_quality=quality, framework="numpy")


def test_truncated_files_are_refused_or_whole(tmp_path, model):
    path = tmp_path / "x.holo"
    tensors.save_file(model, path)
    whole = path.read_bytes()
    for size in range(0, len(whole), max(1, len(whole) // 23)):
        path.write_bytes(whole[:size])
        try:
            loaded = tensors.load_file(path, framework="numpy")
        except errors.Error:
            continue
        # Only what comes after the last shard was missing.
        assert size > len(whole) * 3 // 4
        assert all(same(loaded[name], array) for name, array in model.items())


def test_threads_may_share_a_file(tmp_path, model):
    path = tmp_path / "x.holo"
    tensors.save_file(model, path)
    failures = []

    def load():
        with tensors.safe_open(path, framework="numpy") as file:
            for name in file.keys():
                if not same(file.get_tensor(name), model[name]):
                    failures.append(name)

    threads = [threading.Thread(target=load) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@settings(max_examples=40, deadline=None)
@given(data=st.binary(max_size=600), name=st.text(max_size=20))
def test_any_bits_survive(tmp_path_factory, data, name):
    path = tmp_path_factory.mktemp("any") / "x.holo"
    array = np.frombuffer(data[: len(data) // 2 * 2], dtype=ml_dtypes.bfloat16)
    try:
        tensors.save_file({name: array}, path)
    except errors.InvalidArgument:  # names that no file can hold
        assert not path.exists()
        return
    assert same(tensors.load_file(path, framework="numpy")[name], array)


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch")
def test_torch(tmp_path):
    import safetensors.torch
    import torch

    def bits(tensor):
        return tensor.contiguous().reshape(-1).view(torch.uint8)

    torch.manual_seed(1)
    saved = {
        "bf16": torch.randn(64, 48).to(torch.bfloat16),
        "turned": torch.randn(8, 6).t(),
        "scalar": torch.tensor(3.5),
        "empty": torch.empty(0, 4),
        "f8": torch.randn(40).to(torch.float8_e4m3fn),
        "flags": torch.tensor([True, False]),
    }
    path = tmp_path / "x.holo"
    tensors.save_file(saved, path)
    loaded = tensors.load_file(path)
    plain = tmp_path / "x.safetensors"
    safetensors.torch.save_file({name: t.contiguous() for name, t in saved.items()}, plain)
    for other in (tensors.load_file(plain), safetensors.torch.load_file(plain)):
        for name, tensor in saved.items():
            for found in (loaded[name], other[name]):
                assert found.dtype == tensor.dtype and found.shape == tensor.shape
                assert torch.equal(bits(found), bits(tensor))
    if torch.cuda.is_available():
        on_gpu = tensors.load_file(path, device="cuda:0")
        assert all(torch.equal(bits(on_gpu[name].cpu()), bits(loaded[name])) for name in saved)


def damaged(path, values):
    """Flips a bit of an array of random bytes, which is stored as it is."""
    content = bytearray(path.read_bytes())
    content[content.index(values.tobytes()[100:140])] ^= 1
    path.write_bytes(content)


def test_damaged_tensors_are_left_out_where_that_is_asked_for(tmp_path, random):
    saved = {f"t{i}": random_array(random, np.uint8, (70_000,)) for i in range(4)}
    path = tmp_path / "x.holo"
    tensors.save_file(saved, path, encoding="lossless", fragments=1)  # no shard is shared
    assert set(tensors.load_file(path, framework="numpy", skip_damaged=True)) == set(saved)
    damaged(path, saved["t2"])
    with pytest.raises(errors.Corrupt, match="t2"):
        tensors.load_file(path, framework="numpy")
    with pytest.warns(RuntimeWarning, match=r"left out \(.*x.holo\): t2$"):
        loaded = tensors.load_file(path, framework="numpy", skip_damaged=True)
    assert set(loaded) == {"t0", "t1", "t3"}
    assert all(same(loaded[name], saved[name]) for name in loaded)
    for name in loaded:
        damaged(path, saved[name])
    with pytest.raises(errors.Corrupt, match="t0"):
        tensors.load_file(path, framework="numpy", skip_damaged=True)


def test_save_file_replaces_as_a_whole(tmp_path, random):
    path = tmp_path / "x.holo"
    path.write_bytes(b"another file")
    path.chmod(0o640)
    link = tmp_path / "link.holo"
    link.symlink_to(path.name)
    first = {"w": random_array(random, np.uint8, (20_000,))}
    tensors.save_file(first, link)
    assert link.is_symlink() and path.stat().st_mode & 0o777 == 0o640
    assert same(tensors.load_file(path, framework="numpy")["w"], first["w"])

    def fails():
        yield "v", np.zeros(3)
        raise KeyError("no more")

    class Failing(dict):
        def items(self):
            return fails()

    with pytest.raises(KeyError):
        tensors.save_file(Failing(v=np.zeros(3)), path)
    assert same(tensors.load_file(path, framework="numpy")["w"], first["w"])
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["link.holo", "x.holo"]


def test_save_file_over_what_is_mapped(tmp_path, random):
    """As safetensors' own file, which holds its arrays, is saved anew under its name."""
    plain = tmp_path / "x.safetensors"
    values = random_array(random, np.uint8, (20_000,))
    safetensors.numpy.save_file({"w": values}, plain)
    path = plain.rename(tmp_path / "x.weights")
    mapped = tensors.load_file(path, framework="numpy", zero_copy=True)
    tensors.save_file(mapped, path)
    assert same(mapped["w"], values)
    assert same(tensors.load_file(path, framework="numpy")["w"], values)
