"""Arrays on a GPU; without one, what is said. No kernel runs here: copies, views, exports."""

import numpy as np
import pytest

from hoist import errors, graph

try:
    graph.zeros(1, device="cuda:0")
    HAS_GPU = True
except errors.Unavailable:
    HAS_GPU = False

gpu = pytest.mark.skipif(not HAS_GPU, reason="no GPU answers")


def test_names_of_devices():
    assert graph.zeros(1, device="cpu").device == "cpu" == graph.zeros(1).to_device("cpu").device
    for name in ("gpu", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "", "cpu:1", "CUDA"):
        with pytest.raises(errors.InvalidArgument, match="no device"):
            graph.zeros(1, device=name)
        with pytest.raises(errors.InvalidArgument, match="no device"):
            graph.zeros(1).to_device(name)


@pytest.mark.skipif(HAS_GPU, reason="a GPU answers")
def test_without_a_gpu_it_is_unavailable():
    for make in (lambda: graph.empty(3, device="cuda"), lambda: graph.ones(3).to_device("cuda:0"),
                 lambda: graph.array([1], device="cuda:0"), lambda: graph.arange(3, device="cuda:7")):
        with pytest.raises(errors.Unavailable):
            make()


def test_a_gpu_that_is_not_there_is_no_gpu():
    with pytest.raises((errors.Unavailable, errors.NotFound)):
        graph.empty(3, device="cuda:99")


@gpu
@pytest.mark.parametrize("name", ["bool", "int8", "float16", "bfloat16", "float32", "float64"])
def test_copies_there_and_back(name):
    x = graph.array([[1, 0, 1], [1, 1, 0]], dtype=name)
    there = x.to_device("cuda:0")
    assert there.device == "cuda:0" and there.to_device("cuda:0") is there and there.dtype == name
    assert there.to_device("cpu").tolist() == x.tolist() == there.tolist()
    assert x.T.to_device("cuda").tolist() == x.T.tolist()
    assert there[1].tolist() == x[1].tolist() and there[0, 2].item() == 1
    with pytest.raises(errors.Unsupported, match="gaps"):
        there.T.to_device("cpu")
    there[0] = 1
    there[1, 1] = graph.array(0)
    assert there.tolist() == [[1, 1, 1], [1, 0, 0]]
    assert graph.full((2, 3), 1, dtype=name, device="cuda:0").tolist() == [[1] * 3] * 2
    assert "cuda:0" in repr(there)
    assert x.to_device("cuda:0", stream=2).copy().device == "cuda:0"


@gpu
def test_exports_of_a_gpus_memory():
    x = graph.arange(6, dtype="float32").to_device("cuda:0")
    assert x.__dlpack_device__() == (2, 0)
    interface = x.__cuda_array_interface__
    assert interface["shape"] == (6,) and interface["typestr"] == "<f4" and interface["stream"] == 1
    with pytest.raises(AttributeError):
        x.__array_interface__  # noqa: B018
    with pytest.raises(BufferError):
        memoryview(x)
    with pytest.raises(TypeError):
        np.asarray(x)
    assert np.from_dlpack(x, device="cpu").tolist() == list(range(6))
    back = graph.from_dlpack(x)
    assert back.__cuda_array_interface__["data"] == interface["data"]
    with pytest.raises(BufferError):
        x.__dlpack__(stream=0)


@gpu
def test_pytorch_shares_a_gpus_memory():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("PyTorch finds no GPU")
    tensor = torch.arange(4, device="cuda", dtype=torch.float32)
    x = graph.from_dlpack(tensor)
    assert x.device == "cuda:0" and x.tolist() == [0, 1, 2, 3]
    x[1] = 9
    assert torch.from_dlpack(x)[1].item() == 9


@gpu
def test_arrays_of_two_devices_do_not_meet():
    x = graph.ones(4).to_device("cuda:0")
    with pytest.raises((errors.InvalidArgument, errors.Unsupported)):
        graph.add(x, graph.ones(4))
