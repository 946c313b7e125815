"""Loading into a device's memory: on the CPU device everywhere, on a GPU where there is one."""

import gc
import importlib.util
import warnings

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from hoist import _frameworks, _native, errors, tensors
from hoist._tensor_files import Targets

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


def load_onto(device, path, target=None, policy=None):
    """As load_file() does it for devices that are not the CPU."""
    targets = Targets(target, policy)
    return tensors._load_onto(device, path, targets, _frameworks.NumPy())


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


def test_arrays_speak_dlpack_and_own_the_memory(path, model):
    native = _native.load_model(str(path), "cpu", True)
    name, dtype, shape, array, quality = native[0]
    assert array.__dlpack_device__() == (CPU, 0)
    assert quality == 1
    del native
    taken = np.from_dlpack(array)
    del array
    gc.collect()
    assert taken.ctypes.data % 256 == 0
    assert taken.tobytes() == model[name].tobytes()
    assert taken.flags.writeable
    taken[:] = 0  # nobody else's


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_memory_is_free_again_with_the_last_tensor(tmp_path):
    size = 256 << 20
    path = tmp_path / "large.holo"
    zeros = np.zeros(size // 8, np.float32)
    tensors.save_file({"a": zeros, "b": zeros}, path)
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


def test_errors(tmp_path, path):
    with pytest.raises(errors.InvalidArgument):
        _native.load_model(str(path), "abacus", True)
    with pytest.raises(errors.NotFound):
        _native.load_model(str(tmp_path / "nothing.holo"), "cpu", True)


def has_cuda():
    try:
        _native.load_model("/dev/null", "cuda:0", True)
    except errors.Unavailable:
        return False
    except errors.Error:
        return True
    return True


@pytest.mark.skipif(has_cuda(), reason="a GPU is here")
def test_without_a_gpu_a_warning_says_why(path):
    with pytest.warns(RuntimeWarning, match="decoding on the CPU.*no CUDA"):
        assert load_onto("cuda:0", path) is None


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
    for name, dtype, shape, array, _ in _native.load_model(str(path), "cpu", True):
        tensor = arrays.wrap(array, dtype, shape)
        assert tuple(tensor.shape) == model[name].shape
        assert arrays.parts(tensor)[2].tobytes() == model[name].tobytes()


@pytest.mark.skipif(
    importlib.util.find_spec("torch") is None or not has_cuda(), reason="no PyTorch or no GPU"
)
def test_on_a_gpu(path, model):
    import torch

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded = tensors.load_file(path, device="cuda:0")
    arrays = _frameworks.Torch()
    for name, array in model.items():
        assert loaded[name].device == torch.device("cuda:0")
        assert arrays.parts(loaded[name])[2].tobytes() == array.tobytes()
    # Work that still reads a tensor when its last owner goes.
    total = torch.zeros(2, device="cuda:0")
    for _ in range(20):
        fresh = tensors.load_file(path, device="cuda:0")["layers.0.mlp.up"]
        for _ in range(50):
            total[0] += fresh.sum()
        del fresh
    expected = model["layers.0.mlp.up"].astype(np.float64).sum() * 1000
    assert abs(total[0].item() - expected) < 1e-2 * abs(model["layers.0.mlp.up"]).sum()
