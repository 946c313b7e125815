"""Compiled functions of arrays on a GPU, against NumPy; without a GPU what is refused."""

import threading

import numpy as np
import pytest
from hoist import errors, graph

try:
    import torch
except ImportError:
    torch = None

needs_gpu = pytest.mark.skipif(
    torch is None or not torch.cuda.is_available(), reason="needs PyTorch with a CUDA GPU"
)


class Pretended:
    """An array that says that it lies on a GPU."""

    def __init__(self, shape=(4,), typestr="<f4"):
        self.__cuda_array_interface__ = {
            "shape": shape, "typestr": typestr, "data": (256, False), "version": 3,
        }


def test_arrays_of_two_devices_are_refused():
    function = graph.compile(lambda x, y: x + y)
    x = np.ones(4, np.float32)
    for arguments in ((x, Pretended()), (Pretended(), x)):
        with pytest.raises(errors.InvalidArgument, match="input [01] does not lie on a GPU.*one device"):
            function(*arguments)


def test_signatures_of_arrays_on_gpus_are_checked():
    program = graph.trace(lambda x: x + 1, graph.Spec((4,)))
    with pytest.raises(errors.InvalidArgument, match=r"shape \(5,\).*shape \(4,\)"):
        program(Pretended((5,)))
    with pytest.raises(errors.Unsupported):
        program(Pretended(typestr="<c8"))
    with pytest.raises(errors.InvalidArgument, match="out does not lie"):
        program(Pretended(), out=np.empty(4, np.float32))


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def on_gpu(array):
    return torch.from_numpy(array).cuda()


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


@needs_gpu
def test_results_are_tensors_on_the_gpu():
    function = graph.compile(lambda x, w, b: graph.softmax(x @ w + b))
    x, w, b = floats(40, 30), floats(30, 50, seed=1), floats(50, seed=2)
    expected = softmax(x @ w + b)
    arguments = [on_gpu(one) for one in (x, w, b)]
    for _ in range(4):
        found = function(*arguments)
        assert isinstance(found, torch.Tensor) and found.device == arguments[0].device
        np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=1e-4, atol=1e-6)
    report = function.report()
    assert [one.device for one in report.gpus] == ["cuda:0"]
    assert "on cuda:0" in str(report)


@needs_gpu
def test_structures_and_out():
    function = graph.compile(lambda x: {"sum": graph.sum(x, axis=0), "more": (x > 0, x * 2)})
    x = floats(300, 70)
    for _ in range(2):
        found = function(on_gpu(x))
        np.testing.assert_allclose(found["sum"].cpu(), x.sum(0), rtol=1e-4, atol=1e-4)
        assert found["more"][0].dtype == torch.bool
        assert (found["more"][0].cpu().numpy() == (x > 0)).all()
    single = graph.compile(lambda x: x * 2 + 1)
    given = on_gpu(x)
    out = torch.empty_like(given)
    for _ in range(3):
        assert single(given, out=out) is out
        assert (out.cpu().numpy() == x * 2 + 1).all()
    assert single(given, out=given) is given
    assert (given.cpu().numpy() == x * 2 + 1).all()
    with pytest.raises(errors.InvalidArgument, match="out does not lie"):
        single(given, out=np.empty_like(x))
    with pytest.raises(errors.InvalidArgument, match="the result is"):
        single(given, out=torch.empty(3, device="cuda"))


@needs_gpu
def test_element_types():
    function = graph.compile(lambda x, y: (x + y, x * 2, graph.sum(x, axis=0), x > y))
    for name in ("float16", "bfloat16", "float64", "int8", "int32", "int64", "uint8"):
        dtype = getattr(torch, name)
        x = torch.arange(300, device="cuda").reshape(30, 10).remainder(7).to(dtype)
        y = torch.full((10,), 3, device="cuda").to(dtype)
        for _ in range(2):
            total, twice, sums, more = function(x, y)
            assert total.dtype == twice.dtype == dtype and more.dtype == torch.bool
            assert torch.equal(total, x + y) and torch.equal(twice, x * 2) and torch.equal(more, x > y)
            assert torch.equal(sums.to(torch.float64), x.to(torch.float64).sum(0))


@needs_gpu
@pytest.mark.parametrize("shape", [(3, 5), (700, 33), (4, 3000), (2, 100_000), (50, 40, 30), (2, 9000, 40)])
def test_along_an_axis(shape):
    function = graph.compile(
        lambda x: (graph.argmax(x, axis=1), graph.argmin(x, axis=1), graph.cumulative_sum(x, axis=1))
    )
    x = np.round(floats(*shape))  # many ties
    x[0, 2] = np.nan
    for _ in range(2):
        most, least, sums = function(on_gpu(x))
        np.testing.assert_array_equal(most.cpu().numpy(), x.argmax(1))
        np.testing.assert_array_equal(least.cpu().numpy(), x.argmin(1))
        assert most.dtype == torch.int64
        np.testing.assert_array_equal(sums.cpu().numpy(), np.cumsum(x, axis=1))
    numbers = x[1:].astype(np.int32)
    np.testing.assert_array_equal(function(on_gpu(numbers))[2].cpu(), np.cumsum(numbers, axis=1))


@needs_gpu
def test_takes():
    function = graph.compile(lambda x, i: (graph.take(x, i, axis=1) * 2, x[i], graph.take(x, i)))
    x, i = floats(40, 50), np.array([[0, -1, 3], [39, -40, 7]])
    for dtype in (np.int64, np.int32):
        along, rows, flat = function(on_gpu(x), on_gpu(i.astype(dtype)))
        np.testing.assert_array_equal(along.cpu().numpy(), x.take(i, axis=1) * 2)
        np.testing.assert_array_equal(rows.cpu().numpy(), x[i])
        np.testing.assert_array_equal(flat.cpu().numpy(), x.take(i))
    take = graph.compile(lambda x, i: graph.take_along_axis(x, i, axis=1))
    places = np.argsort(x, axis=1)
    np.testing.assert_array_equal(take(on_gpu(x), on_gpu(places)).cpu().numpy(), np.sort(x, axis=1))


@needs_gpu
def test_indices_outside_give_nan_or_zero():
    function = graph.compile(lambda x, i: graph.take(x, i, axis=0))
    i = on_gpu(np.array([1, 4, -5, 2**62, -4]))
    for array, nothing in ((floats(4) + 9, np.nan), (np.arange(1, 5), 0), (np.full(4, True), False)):
        found = function(on_gpu(array), i).cpu().numpy()
        expected = np.array([array[1], nothing, nothing, nothing, array[0]], array.dtype)
        np.testing.assert_array_equal(found, expected)


@needs_gpu
def test_products_of_16_bits():
    function = graph.compile(lambda x, w: x @ w)
    for dtype in (torch.float16, torch.bfloat16):
        x, w = on_gpu(floats(200, 2000)).to(dtype), on_gpu(floats(2000, 300, seed=1)).to(dtype)
        found, expected = function(x, w), x @ w
        assert found.dtype == dtype
        assert torch.allclose(found.float(), expected.float(), rtol=1e-2, atol=0.5)


@needs_gpu
def test_views_of_tensors():
    function = graph.compile(lambda x: x - 1)
    x = floats(64, 70)
    given = on_gpu(x)
    np.testing.assert_array_equal(function(given.T).cpu().numpy(), x.T - 1)
    np.testing.assert_array_equal(function(given[1:, :]).cpu().numpy(), x[1:] - 1)
    np.testing.assert_array_equal(function(given.reshape(-1)[1:]).cpu().numpy(), x.ravel()[1:] - 1)
    np.testing.assert_array_equal(function(given[:, 3:]).cpu().numpy(), x[:, 3:] - 1)
    assert function(given[:0]).shape == (0, 70)


@needs_gpu
def test_the_current_stream_is_used():
    function = graph.compile(lambda x, w: graph.tanh(x @ w) @ w)
    x, w = floats(500, 500), floats(500, 500, seed=1) / 20
    expected = np.tanh(x @ w) @ w
    weights = on_gpu(w)
    function(on_gpu(x), weights)
    for _ in range(3):
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(20_000_000)
            late = on_gpu(x) + 0  # there only after the sleep
            found = function(late, weights)
        stream.synchronize()
        np.testing.assert_allclose(found.cpu().numpy(), expected, rtol=1e-3, atol=1e-4)


@needs_gpu
def test_runs_are_replayed():
    function = graph.compile(lambda x, w, v: graph.relu(x @ w) @ v)
    arguments = [on_gpu(floats(300, 400)), on_gpu(floats(400, 900)), on_gpu(floats(900, 500))]
    out = torch.empty(300, 500, device="cuda")
    for _ in range(6):
        function(*arguments, out=out)
    torch.cuda.synchronize()
    gpu, = function.report().gpus
    assert gpu.launches > 1 and gpu.replays >= 4


@needs_gpu
def test_pytorch_records_a_run():
    function = graph.compile(lambda x: graph.softmax(x) * 2)
    x, out = on_gpu(floats(30, 100)), torch.empty(30, 100, device="cuda")
    function(x, out=out)
    torch.cuda.synchronize()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        function(x, out=out)
    x.neg_()
    recorded.replay()
    torch.cuda.synchronize()
    np.testing.assert_allclose(out.cpu().numpy(), 2 * softmax(-floats(30, 100)), rtol=1e-5)


@needs_gpu
def test_threads():
    function = graph.compile(lambda x, w: graph.sum(x @ w, axis=0))
    w = floats(400, 300, seed=5)

    def work(seed):
        x = floats(200, 400, seed=seed)
        with torch.cuda.stream(torch.cuda.Stream()):
            given, weights = on_gpu(x), on_gpu(w)
            for _ in range(20):
                found = function(given, weights)
            torch.cuda.current_stream().synchronize()
            results[seed] = np.allclose(found.cpu().numpy(), (x @ w).sum(0), rtol=1e-3, atol=1e-2)

    results = {}
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == dict.fromkeys(range(6), True)


@needs_gpu
def test_cupy_and_the_array_interface():
    cupy = pytest.importorskip("cupy")
    function = graph.compile(lambda x, y: x * y)
    x, y = floats(33, 40), floats(33, 40, seed=1)
    given = cupy.asarray(x), cupy.asarray(y)
    found = function(*given)
    assert isinstance(found, cupy.ndarray)
    np.testing.assert_array_equal(cupy.asnumpy(found), x * y)

    class Interface:
        def __init__(self, array):
            self.array = array
            self.__cuda_array_interface__ = array.__cuda_array_interface__

    out = cupy.empty((33, 40), cupy.float32)
    function(*map(Interface, given), out=out)
    np.testing.assert_array_equal(cupy.asnumpy(out), x * y)
    with pytest.raises(errors.Unsupported, match="give out="):
        function(*map(Interface, given))


@needs_gpu
def test_arrays_of_graph():
    x, y = floats(40, 30), floats(40, 30, seed=1)
    a, b = (graph.asarray(one).to_device("cuda:0") for one in (x, y))
    for _ in range(3):
        total = graph.add(a, b)
        assert isinstance(total, graph.Array) and total.device == "cuda:0"
        np.testing.assert_array_equal(np.asarray(total.to_device("cpu")), x + y)
        np.testing.assert_array_equal(np.asarray((a * 2.5).to_device("cpu")), x * np.float32(2.5))
    function = graph.compile(lambda x, y: graph.softmax(x) + y)
    for _ in range(3):
        found = np.asarray(function(a, b).to_device("cpu"))
        np.testing.assert_allclose(found, softmax(x) + y, rtol=1e-5, atol=1e-6)


@needs_gpu
def test_values_beside_arrays():
    function = graph.compile(lambda x, axis=0, scale=1: graph.sum(x, axis=axis) * scale)
    x = floats(40, 40)
    given = on_gpu(x)
    for _ in range(2):
        for axis in (1, 0):
            found = function(given, axis=axis)
            np.testing.assert_allclose(found.cpu().numpy(), x.sum(axis), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(function(given).cpu().numpy(), x.sum(0), rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(function(given, 1, 3).cpu().numpy(), x.sum(1) * 3, rtol=1e-4, atol=1e-4)


@needs_gpu
def test_devices_that_differ_are_refused():
    function = graph.compile(lambda x, y: x + y)
    x = on_gpu(floats(8))
    with pytest.raises(errors.InvalidArgument, match="one device"):
        function(x, floats(8))
    with pytest.raises(errors.InvalidArgument, match="one device"):
        function(torch.ones(8), x)
