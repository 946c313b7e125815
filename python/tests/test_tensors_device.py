"""Loading into a device's memory: on the CPU device everywhere, on a GPU where there is one."""

import functools
import gc
import importlib.util
import os
import tempfile
import threading
import warnings
import weakref

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from hoist import _frameworks, _tensor_arrays, errors, tensors
from hoist._tensor_files import HoloFile, ModelFile, Targets, open_file

CPU = 1  # kDLCPU of dlpack.h


def weights(random, shape, dtype=ml_dtypes.bfloat16):
    return (random.standard_normal(shape) * 0.02).astype(dtype)


@pytest.fixture
def model():
    random = np.random.default_rng(20261122)
    return {
        "layers.0.attention.q": weights(random, (96, 128)),
        "layers.0.mlp.up": weights(random, (256, 96), np.float32),
        "steps": np.arange(10, dtype=np.int64),
        "empty": np.zeros((3, 0, 2), np.float32),
        "scalar": np.array(True),
    }


@pytest.fixture
def path(tmp_path, model):
    path = tmp_path / "x.holo"
    tensors.save_file(model, path)
    return path


class OnDevice(_frameworks.NumPy):
    """Arrays that a device of Hoist's decodes, as it does torch's tensors of a GPU."""

    def __init__(self, place="cpu"):
        self.place = place

    def device_name(self, device):
        return self.place


def load_onto(device, path, target=None, policy=None):
    """As load_file() does it for devices that are not the CPU."""
    targets = Targets(target, policy)
    loader = _tensor_arrays.ArrayLoader(path, "cpu", OnDevice(device))
    wanted = [(name, targets.of(name)) for name in loader.file.infos]
    return {one.name: one.tensor for one in loader.load(wanted, at_once=True)}


@pytest.fixture
def on_device(monkeypatch):
    """The functions of hoist.tensors take the way over a device."""
    monkeypatch.setattr(_frameworks, "framework", lambda name: OnDevice())
    monkeypatch.setattr(_tensor_arrays, "_LEAST_BYTES", 1)
    monkeypatch.setattr(_tensor_arrays, "_GROUP_BYTES", 30_000)  # several groups
    calls = []
    for kind in (HoloFile, ModelFile):

        def noted(self, device, wanted, load=kind.load_onto):
            calls.append([name for name, _ in wanted])
            return load(self, device, wanted)

        monkeypatch.setattr(kind, "load_onto", noted)
    return calls


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_loads_what_was_saved(path, model):
    loaded = load_onto("cpu", path)
    assert loaded.keys() == model.keys()
    for name, array in model.items():
        assert same(loaded[name], array), name


def test_targets_and_policy_are_those_of_the_reader(path, model):
    for target, policy in [(0.97, None), (None, {"*mlp*": 0.96}), (0.99, {"attention.*": 1.0})]:
        loaded = load_onto("cpu", path, target, policy)
        read = tensors.load_file(path, target=target, policy=policy, framework="numpy")
        for name in model:
            assert same(loaded[name], read[name]), (name, target, policy)
    assert not same(load_onto("cpu", path, 0.97)["layers.0.mlp.up"], model["layers.0.mlp.up"])


def test_other_formats(tmp_path, model):
    path = tmp_path / "x.safetensors"
    plain = {name: array for name, array in model.items() if array.dtype != ml_dtypes.bfloat16}
    safetensors.numpy.save_file(plain, path)
    loaded = load_onto("cpu", path)
    assert all(same(loaded[name], array) for name, array in plain.items())


def native_load(path):
    file = open_file(path)
    return list(zip(file.infos.values(), file.load_onto("cpu", [(n, None) for n in file.infos])))


def test_arrays_speak_dlpack_and_own_the_memory(path, model):
    native = native_load(path)
    about, (array, quality, is_whole) = native[0]
    assert array.__dlpack_device__() == (CPU, 0)
    assert quality == 1 and is_whole
    del native
    taken = np.from_dlpack(array)
    del array
    gc.collect()
    assert taken.ctypes.data % 256 == 0
    assert taken.tobytes() == model[about.name].tobytes()
    assert taken.flags.writeable
    taken[:] = 0  # nobody else's


def test_everything_may_decode_on_a_device(on_device, tmp_path, path, model):
    plain = tmp_path / "folder" / "plain.safetensors"
    plain.parent.mkdir()
    safetensors.numpy.save_file({"plain": np.arange(9000.0)}, plain)
    assert all(same(array, model[n]) for n, array in tensors.load_file(path).items())
    assert len(on_device) == 1
    with tensors.safe_open(path) as file:
        assert all(same(array, model[n]) for n, array in file.get_tensors().items())
        assert len(on_device) == 2
        name = "layers.0.attention.q"
        assert same(file.get_tensor(name), model[name])
        part = file.get_slice(name)[3:5, 7]
        assert same(part, model[name][3:5, 7])
        assert on_device[2:] == [[name], [name]]
        rough = file.get_tensor(name, target=0.96)
    on_device.clear()
    steps = list(tensors.stream(path, steps=(0.96, None)))
    assert len(on_device) > 2  # groups
    assert sorted(sum(on_device, [])) == sorted(name for name, _, _ in steps)
    first, last = {}, {}
    for name, array, quality in steps:
        first.setdefault(name, (array, quality))
        last[name] = (array, quality)
    assert same(first["layers.0.attention.q"][0], rough)
    for name, array in model.items():
        assert same(last[name][0], array) and last[name][1] == 1
    on_device.clear()
    with tensors.ProgressiveModel(path) as progressive:
        assert progressive.wait()
        assert all(same(progressive.tensors[n], array) for n, array in model.items())
    assert on_device
    on_device.clear()
    path.rename(plain.parent / path.name)
    found, qualities, counts = tensors.load_directory(plain.parent, 0.96)
    assert same(found["plain"], np.arange(9000.0)) and same(found["layers.0.attention.q"], rough)
    assert qualities["plain"] == 1 and qualities["layers.0.attention.q"] < 1
    assert counts == {"holographic": len(model), "standard": 1}
    assert len(on_device) == 2


def test_small_tensors_alone_are_the_cpus(monkeypatch, path, model):
    file = open_file(path)
    monkeypatch.setattr(HoloFile, "load_onto", lambda *_: pytest.fail("a load for one of 20 KB"))
    loader = _tensor_arrays.ArrayLoader(path, "cpu", OnDevice())
    name = "layers.0.attention.q"
    assert 0 < file.stored_bytes(name, 0.96) < file.stored_bytes(name) < model[name].nbytes
    for name, array in model.items():
        assert same(loader.load_one(name), array)
        assert same(loader.load_part(name, ...), array)


class Logged(OnDevice):
    """Notes what it makes arrays of, and where."""

    def __init__(self, place="cpu"):
        super().__init__(place)
        self.log = []

    def tensor(self, data, dtype, shape, device):
        self.log.append((data.nbytes, device))
        return super().tensor(data, dtype, shape, device)


def refuse(monkeypatch, error):
    """The device answers so; returns what it was asked for."""
    asked = []

    def load_onto(self, device, wanted):
        asked.append([name for name, _ in wanted])
        raise error("no room")

    monkeypatch.setattr(HoloFile, "load_onto", load_onto)
    return asked


def test_without_room_the_cpu_decodes_and_the_device_is_asked_again(monkeypatch, path, model):
    monkeypatch.setattr(_tensor_arrays, "_LEAST_BYTES", 1)
    name = "layers.0.mlp.up"
    for error, times in ((errors.Exhausted, 4), (errors.Unavailable, 1)):
        asked = refuse(monkeypatch, error)
        arrays = Logged()
        loader = _tensor_arrays.ArrayLoader(path, "gpu", arrays)
        with pytest.warns(RuntimeWarning, match="decoding on the CPU.*no room") as caught:
            wanted = [(each, None) for each in model]
            loaded = {one.name: one.tensor for one in loader.load(wanted, at_once=True)}
            arrays.log.clear()
            part = loader.load_part(name, np.s_[2:4, :])
            assert same(loader.load_one(name), model[name])
            assert same(loader.load_one(name), model[name])
        assert all(same(loaded[each], array) for each, array in model.items())
        assert same(part, model[name][2:4])
        assert arrays.log[0] == (part.nbytes, "cpu")  # no more is decoded, and not on the device
        assert len(asked) == times
        assert [warning.filename for warning in caught] == [__file__]  # once


def test_an_error_after_the_device_refused_is_its_own(monkeypatch, path):
    refuse(monkeypatch, errors.Exhausted)

    def fail(self, name, target):
        raise errors.Corrupt("bad")

    monkeypatch.setattr(HoloFile, "load", fail)
    loader = _tensor_arrays.ArrayLoader(path, "gpu", OnDevice())
    with pytest.warns(RuntimeWarning), pytest.raises(errors.Corrupt) as caught:
        list(loader.load([("layers.0.mlp.up", None), ("steps", None)]))
    assert caught.value.__context__ is None


def test_slices_of_plain_files_are_read_by_the_host(on_device, tmp_path):
    array = np.arange(9000.0).reshape(90, 100)
    path = tmp_path / "plain.safetensors"
    safetensors.numpy.save_file({"a": array}, path)
    for zero_copy in (False, True):
        with tensors.safe_open(path, zero_copy=zero_copy) as file:
            assert same(file.get_slice("a")[4:6], array[4:6])
            assert on_device == []
            assert same(file.get_tensor("a"), array)
        assert on_device.pop() == ["a"]


def test_whole_is_all_parts_of_any_encoding(tmp_path):
    line = np.linspace(-1, 1, 4096, dtype=np.float32).reshape(64, 64)
    smooth = {"line": line, "zeros": np.zeros((32, 32), np.float32), "one": np.float32(0.5)}
    for encoding in ("embedded", "spectral", "rph", "lrdf", "lossless"):
        path = tmp_path / f"{encoding}.holo"
        tensors.save_file(smooth, path, encoding=encoding)
        file = open_file(path)
        loaded = file.load_onto("cpu", [(name, None) for name in smooth])
        for name, (array, quality, is_whole) in zip(smooth, loaded):
            data, host_quality, host_is_whole = file.load(name, None)
            assert np.from_dlpack(array).tobytes() == data.tobytes(), (encoding, name)
            assert (quality, is_whole) == (host_quality, host_is_whole) == (quality, True)


def test_the_device_is_asked_for_with_the_first_load(monkeypatch, path, model):
    names = iter(["cpu"])
    arrays = OnDevice()
    monkeypatch.setattr(arrays, "device_name", lambda device: next(names))
    loader = _tensor_arrays.ArrayLoader(path, "cuda", arrays)
    assert next(names, None) == "cpu"  # not yet
    names = iter(["cpu"])
    assert same(loader.load_one("steps"), model["steps"])
    assert same(loader.load_one("steps"), model["steps"])


@pytest.mark.parametrize("place", [None, "cpu"])
def test_streams_keep_nothing_of_what_they_gave(monkeypatch, path, place):
    arrays = OnDevice(place)
    monkeypatch.setattr(_frameworks, "framework", lambda name: arrays)
    monkeypatch.setattr(_tensor_arrays, "_LEAST_BYTES", 1)
    monkeypatch.setattr(_tensor_arrays, "_GROUP_BYTES", 1)  # each by itself
    given = []
    for kind in ("load", "load_onto"):

        def checked(self, *wanted, load=getattr(HoloFile, kind)):
            assert all(tensor() is None for tensor in given)
            return load(self, *wanted)

        monkeypatch.setattr(HoloFile, kind, checked)
    for _, tensor, _ in tensors.stream(path, steps=(0.96, None)):
        given.append(weakref.ref(tensor))
        del tensor
    assert len(given) > 5


def test_loads_that_overlap(path, model):
    def load(results):
        results.append(load_onto("cpu", path))

    results = []
    threads = [threading.Thread(target=load, args=(results,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8
    assert all(same(loaded[name], array) for loaded in results for name, array in model.items())


def test_a_file_without_tensors(on_device, tmp_path):
    path = tmp_path / "empty.holo"
    tensors.save_file({}, path)
    assert tensors.load_file(path) == {}
    assert list(tensors.stream(path)) == []
    assert on_device == []


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_memory_is_free_again_with_the_last_tensor(tmp_path):
    size = 256 << 20
    path = tmp_path / "large.holo"
    zeros = np.zeros(size // 8, np.float32)
    tensors.save_file({"a": zeros, "b": zeros.copy()}, path)
    del zeros
    gc.collect()
    before = resident()
    loaded = load_onto("cpu", path)
    one = loaded["a"]
    one[0] = 1  # also where pages are only promised
    del loaded
    gc.collect()
    assert resident() - before > size / 2
    del one
    gc.collect()
    assert resident() - before < size / 2


def test_damage_is_an_error_and_no_reason_to_copy(path):
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(errors.Corrupt):
            load_onto("cpu", path)


def test_errors(path):
    file = open_file(path)
    with pytest.raises(errors.InvalidArgument):
        file.load_onto("abacus", [("steps", None)])
    for numbers in ([99], [0, 0]):
        with pytest.raises(errors.InvalidArgument):
            file._reader.load_onto("cpu", [(number, 1.0) for number in numbers])


@functools.lru_cache(maxsize=None)
def has_cuda():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.holo")
        tensors.save_file({"x": np.zeros(1)}, path)
        try:
            open_file(path).load_onto("cuda:0", [("x", None)])
        except errors.Unavailable:
            return False
    return True


@pytest.mark.skipif(has_cuda(), reason="a GPU is here")
def test_without_a_gpu_a_warning_says_why(path, model):
    with pytest.warns(RuntimeWarning, match="decoding on the CPU.*no CUDA") as caught:
        loaded = load_onto("cuda:0", path)
    assert [warning.filename for warning in caught] == [__file__]
    assert all(same(loaded[name], array) for name, array in model.items())


class _NoGpuTorch:
    """As much of PyTorch as its devices' names take."""

    class cuda:
        available = False

        @classmethod
        def is_available(cls):
            return cls.available

        @staticmethod
        def current_device():
            return 3


def test_names_of_devices():
    arrays = _frameworks.Torch.__new__(_frameworks.Torch)
    arrays._torch = _NoGpuTorch()
    assert arrays.device_name("cpu") is None
    assert arrays.device_name("cuda:0") is None  # torch has its own words for it
    _NoGpuTorch.cuda.available = True
    assert arrays.device_name("cuda:1") == "cuda:1"
    assert arrays.device_name("cuda") == "cuda:3"
    assert arrays.device_name("meta") is None
    assert _frameworks.NumPy().device_name("cpu") is None


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="no PyTorch")
def test_torch_takes_the_memory_over(path, model):
    arrays = _frameworks.Torch()
    for about, (array, _, _) in native_load(path):
        tensor = arrays.wrap(array, about.dtype, about.shape)
        assert tuple(tensor.shape) == model[about.name].shape
        assert arrays.parts(tensor)[2].tobytes() == model[about.name].tobytes()


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None or not has_cuda(), reason="no PyTorch or no GPU"
)
def test_on_a_gpu(monkeypatch, path, model):
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = tensors.load_file(path, device="cuda:0")
    arrays = _frameworks.Torch()
    with tensors.safe_open(path, device="cuda:0") as file:
        opened = file.get_tensors()
        part = file.get_slice("layers.0.mlp.up")[1:3, 5:9]
    monkeypatch.setattr(_tensor_arrays, "_LEAST_BYTES", 1)
    streamed = {name: tensor for name, tensor, _ in tensors.stream(path, "cuda:0")}
    for name, array in model.items():
        for found in (loaded[name], opened[name], streamed[name]):
            assert found.device == torch.device("cuda:0")
            assert arrays.parts(found)[2].tobytes() == array.tobytes()
    assert part.cpu().numpy().tobytes() == model["layers.0.mlp.up"][1:3, 5:9].tobytes()
    # Work that still reads a tensor when its last owner goes.
    total = torch.zeros(2, device="cuda:0")
    for _ in range(20):
        fresh = tensors.load_file(path, device="cuda:0")["layers.0.mlp.up"]
        for _ in range(50):
            total[0] += fresh.sum()
        del fresh
    expected = model["layers.0.mlp.up"].astype(np.float64).sum() * 1000
    assert abs(total[0].item() - expected) < 1e-2 * abs(model["layers.0.mlp.up"]).sum()
