"""Calls on packed weights that go past PyTorch's dispatcher, and when they must not."""

import pytest
from hoist import tensors

torch = pytest.importorskip("torch")
F = torch.nn.functional

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
ROWS, COLUMNS = 300, 500


@pytest.fixture(name="device", params=["cpu", pytest.param("cuda", marks=needs_gpu)])
def _device(request):
    return request.param


@pytest.fixture(name="weights")
def _weights(device):
    generator = torch.Generator().manual_seed(1)
    return (torch.randn(ROWS, COLUMNS, generator=generator) * 0.02).bfloat16().to(device)


@pytest.fixture(name="packed")
def _packed(weights):
    return tensors.PackedTensor.pack(weights)


@pytest.fixture(name="no_operators")
def _no_operators(monkeypatch):
    """Fails where a call reaches an operator."""

    def refuse(*args):
        raise AssertionError("an operator was called")

    for name in ("packed_linear", "packed_embedding", "unpack"):
        monkeypatch.setattr(torch.ops.hoist, name, refuse)


def random_x(device, *shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(2)).bfloat16().to(device)


def same(a, b):
    return a.shape == b.shape and torch.equal(a.detach().view(torch.int16), b.detach().view(torch.int16))


def by_operator(x, packed, bias=None):
    (name,), form = packed.__tensor_flatten__()
    return torch.ops.hoist.packed_linear(x, getattr(packed, name), bias, *form[:3])


# Shapes and steps of x that are served directly.
X = [
    lambda device: random_x(device, COLUMNS),
    lambda device: random_x(device, 1, COLUMNS),
    lambda device: random_x(device, 1, 1, COLUMNS),
    lambda device: random_x(device, 2, 3, COLUMNS),
    lambda device: random_x(device, 16, COLUMNS),
    lambda device: random_x(device, 4, 2 * COLUMNS)[:, 3 : 3 + COLUMNS],
    lambda device: random_x(device, COLUMNS, 1).t(),
    lambda device: torch.nn.Parameter(random_x(device, 2, COLUMNS), requires_grad=False),
]


@pytest.mark.parametrize("make", X)
@pytest.mark.parametrize("with_bias", [True, False])
def test_bits_are_those_of_the_operator(device, packed, make, with_bias, monkeypatch):
    x = make(device)
    bias = torch.nn.Parameter(random_x(device, ROWS)) if with_bias else None
    contexts = [torch.no_grad, torch.inference_mode] + ([] if with_bias else [torch.enable_grad])
    wanted = by_operator(x, packed, bias)
    monkeypatch.setattr(torch.ops.hoist, "packed_linear", None)
    for context in contexts:
        with context():
            y = F.linear(x, packed, bias)
            assert same(y, wanted) and type(y) is torch.Tensor
            assert not y.requires_grad and y.is_inference() == (context is torch.inference_mode)


def test_modules_and_rows_are_direct(device, weights, packed, no_operators):
    linear = torch.nn.Linear(COLUMNS, ROWS, bias=False, device=device, dtype=torch.bfloat16)
    linear.weight = torch.nn.Parameter(packed, requires_grad=False)
    assert same(linear(random_x(device, 2, COLUMNS)), F.linear(random_x(device, 2, COLUMNS), packed))
    for indices in (torch.tensor([[0, 299], [7, 7]]), torch.tensor(5), torch.tensor([3]).int()):
        assert same(F.embedding(indices.to(device), packed), weights[indices.to(device).long()])
    assert same(packed.unpack(), weights)


def test_exact_mode_is_direct(device, weights, no_operators):
    exact = tensors.PackedTensor.pack(weights, exact_like="cublas")
    x = random_x(device, 2, COLUMNS)
    assert same(F.linear(x, exact), F.linear(x, weights))


def test_other_weights_in_its_place(device, weights, packed, no_operators):
    x = random_x(device, 2, COLUMNS)
    F.linear(x, packed)
    packed.copy_(-weights)
    assert same(F.linear(x, packed), F.linear(x, tensors.PackedTensor.pack(-weights)))


class Watcher(torch.utils._python_dispatch.TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.name())
        return func(*args, **(kwargs or {}))


def test_modes_see_operators(device, packed):
    x = random_x(device, 1, COLUMNS)
    with torch.no_grad(), Watcher() as watcher:
        F.linear(x, packed)
        F.embedding(torch.tensor([1], device=device), packed)
        packed.unpack()
    wanted = ["hoist::packed_linear", "hoist::packed_embedding", "hoist::unpack"]
    assert [name for name in watcher.seen if name.startswith("hoist::")] == wanted


def test_profilers_see_operators(device, packed):
    x = random_x(device, 1, COLUMNS)
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        F.linear(x, packed)
    assert "hoist::packed_linear" in {event.key for event in profile.key_averages()}


def test_tracers_see_operators(device, packed):
    x = random_x(device, 1, COLUMNS)
    graph = torch.fx.experimental.proxy_tensor.make_fx(lambda x: F.linear(x, packed))(x)
    assert "hoist.packed_linear" in graph.code
    assert same(graph(x), F.linear(x, packed))


def test_fake_tensors_are_no_memory(packed, device):
    from torch._subclasses.fake_tensor import FakeTensor, FakeTensorMode

    with FakeTensorMode(allow_non_fake_inputs=True) as mode:
        y = F.linear(mode.from_tensor(random_x(device, 2, COLUMNS)), packed)
        assert isinstance(y, FakeTensor) and y.shape == (2, ROWS)


def test_views_that_are_not_what_memory_says(device, packed):
    x = random_x(device, 2, COLUMNS)
    assert same(F.linear(torch._neg_view(x), packed), F.linear(-x, packed))
    with torch.no_grad():
        assert not F.linear(torch._efficientzerotensor((1, COLUMNS), dtype=torch.bfloat16, device=device), packed).any()


def test_gradients_need_operators(device, packed):
    x = random_x(device, 2, COLUMNS).requires_grad_()
    assert F.linear(x, packed).grad_fn is not None
    bias = random_x(device, ROWS).requires_grad_()
    assert F.linear(x.detach(), packed, bias).grad_fn is not None
    with torch.no_grad():
        assert F.linear(x, packed, bias).grad_fn is None
    with pytest.raises(RuntimeError, match="functorch"):  # which the operator does not know
        torch.func.grad(lambda x: F.linear(x, packed).float().sum())(x.detach())


def test_operands_of_other_kinds(device, packed):
    with pytest.raises(RuntimeError):
        F.linear(random_x(device, 2, COLUMNS).float(), packed)
    with pytest.raises(RuntimeError, match="shape"):
        F.linear(random_x(device, 2, COLUMNS - 1), packed)
    with pytest.raises(RuntimeError, match="bias"):
        F.linear(random_x(device, 2, COLUMNS), packed, random_x(device, ROWS - 1))
    with pytest.raises(RuntimeError):
        F.linear(torch.empty(2, COLUMNS, dtype=torch.bfloat16, device="meta"), packed)
    gapped = random_x(device, 2 * ROWS)[::2]
    x = random_x(device, 2, COLUMNS)
    assert same(F.linear(x, packed, gapped), F.linear(x, packed, gapped.contiguous()))
    with torch.autocast(device, torch.bfloat16):
        assert same(F.linear(x, packed), by_operator(x, packed))


def test_a_weight_on_no_device(packed, device):
    meta = packed.to("meta")
    assert F.linear(torch.empty(2, COLUMNS, dtype=torch.bfloat16, device="meta"), meta).shape == (2, ROWS)


@needs_gpu
def test_streams_and_recorded_graphs():
    weights = (torch.randn(4096, 4096, device="cuda") * 0.02).bfloat16()
    packed = tensors.PackedTensor.pack(weights)
    x = torch.zeros(1, 4096, device="cuda").bfloat16()
    steps = [random_x("cuda", 1, 4096) for _ in range(20)]
    torch.cuda.synchronize()
    wanted = [F.linear(step, packed) for step in steps]
    torch.cuda.synchronize()
    side = torch.cuda.Stream()
    with torch.cuda.stream(side), torch.inference_mode():
        found = []
        for step in steps:  # what a product reads is written in front of it, on the same stream
            x.copy_(step)
            found.append(F.linear(x, packed))
    side.synchronize()
    assert all(same(a, b) for a, b in zip(found, wanted))
    graph = torch.cuda.CUDAGraph()
    with torch.inference_mode(), torch.cuda.graph(graph):
        y = F.linear(x, packed)
    for step, right in zip(steps, wanted):
        x.copy_(step)
        graph.replay()
        assert same(y, right)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two CUDA GPUs")
def test_another_gpu_than_the_current_one():
    weights = (torch.randn(ROWS, COLUMNS, device="cuda:1") * 0.02).bfloat16()
    packed = tensors.PackedTensor.pack(weights)
    y = F.linear(random_x("cuda:1", 2, COLUMNS), packed)
    assert y.device == weights.device and torch.allclose(y.float(), F.linear(random_x("cuda:1", 2, COLUMNS), weights).float(), rtol=2e-2, atol=2e-2)


def test_forward_derivatives_are_those_of_plain_weights(device):
    weights = torch.randn(24, 40, dtype=torch.bfloat16, device=device)
    packed = tensors.PackedTensor.pack(weights)
    x = torch.randn(3, 40, dtype=torch.bfloat16, device=device)
    given = torch.func.jvp(lambda x: torch.nn.functional.linear(x, packed), (x,), (x,))
    wanted = torch.func.jvp(lambda x: torch.nn.functional.linear(x, weights), (x,), (x,))
    assert torch.equal(given[1], wanted[1])
    assert given[1].abs().max() > 0


def test_a_matrix_of_earlier_weights_is_not_used(device):
    first, second = (torch.randn(16, 32, dtype=torch.bfloat16, device=device) for _ in range(2))
    packed = tensors.PackedTensor.pack(first)
    packed.unpack()
    stale = packed._matrix
    packed.copy_(second)
    packed._matrix = stale  # as a thread that was slower than another
    assert torch.equal(packed.unpack(), second)
