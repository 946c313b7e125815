"""hoist._packed, matrices that stay packed, against NumPy; on a GPU against PyTorch."""

import numpy as np
import pytest
from hoist import _packed, errors

try:
    import torch
except ImportError:
    torch = None

needs_gpu = pytest.mark.skipif(
    torch is None or not torch.cuda.is_available(), reason="needs PyTorch with a CUDA GPU"
)


def bits_of(values):
    """float32 as bfloat16, cut off."""
    return (np.asarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def floats_of(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


@pytest.fixture(name="random")
def _random():
    return np.random.default_rng(5)


@pytest.fixture(name="weights")
def _weights(random):
    weights = bits_of(random.normal(0, 0.02, (300, 500)))
    weights[7, 11] = 0x7FC5
    weights[7, 499] = 0x8001
    weights[299, 0] = 0x0080
    return weights


class Packed:
    def __init__(self, weights):
        self.plan = _packed.Plan(weights)
        self.array = self.plan.pack(weights)
        self.form = (self.plan.rows, self.plan.columns, self.plan.escapes)


def test_there_and_back(weights):
    packed = Packed(weights)
    assert packed.plan.reason is None
    assert packed.plan.bytes == _packed.packed_bytes(*packed.form)
    assert packed.plan.plain_bytes == weights.nbytes
    assert packed.plan.bytes < 0.8 * weights.nbytes
    array = np.from_dlpack(packed.array)
    assert array.dtype == np.uint8 and array.shape == (packed.plan.bytes,)
    _packed.check(packed.array, *packed.form)
    back = np.zeros_like(weights)
    _packed.unpack(array, *packed.form, back)
    assert np.array_equal(back, weights)


def test_every_pattern_comes_back():
    weights = np.arange(65536, dtype=np.uint16).reshape(256, 256)
    packed = Packed(weights)
    assert "exponents" in packed.plan.reason
    back = np.zeros_like(weights)
    _packed.unpack(packed.array, *packed.form, back)
    assert np.array_equal(back, weights)


def test_rows(weights, random):
    packed = Packed(weights)
    for dtype in (np.int64, np.int32):
        indices = random.integers(0, 300, 77).astype(dtype)
        out = np.zeros((77, 500), np.uint16)
        _packed.unpack_rows(packed.array, *packed.form, indices, out)
        assert np.array_equal(out, weights[indices])
    with pytest.raises(errors.InvalidArgument, match="row 300"):
        _packed.unpack_rows(packed.array, *packed.form, np.array([300]), out[:1])
    with pytest.raises(errors.InvalidArgument, match="row -1"):
        _packed.unpack_rows(packed.array, *packed.form, np.array([-1]), out[:1])


@pytest.mark.parametrize("activation", ["none", "relu", "gelu", "gelu_tanh", "silu"])
def test_products(weights, random, activation):
    weights[weights == 0x7FC5] = 0
    packed = Packed(weights)
    x = bits_of(random.normal(0, 1, (9, 510)))[:, 3:503]  # rows with gaps
    bias = bits_of(random.normal(0, 1, 300))
    out = np.zeros((9, 300), np.uint16)
    _packed.matmul(x, packed.array, *packed.form, out, bias, activation)
    wanted = floats_of(x).astype(np.float64) @ floats_of(weights).T + floats_of(bias)
    if activation == "relu":
        wanted = np.maximum(wanted, 0)
    elif activation == "silu":
        wanted = wanted / (1 + np.exp(-wanted))
    elif activation.startswith("gelu"):
        # Both are within 1e-3 of one another.
        wanted = wanted / 2 * (1 + np.tanh(0.79788456 * (wanted + 0.044715 * wanted**3)))
    assert np.allclose(floats_of(out), wanted, rtol=5e-3, atol=2e-3)


def test_a_plan_can_write_where_it_is_told(weights):
    plan = _packed.Plan(weights)
    memory = np.full(plan.bytes + 64, 0xA5, np.uint8)
    at = -memory.ctypes.data % 16
    out = memory[at : at + plan.bytes]
    assert plan.pack(weights, out) is out
    assert np.array_equal(out, np.from_dlpack(plan.pack(weights)))
    assert np.all(memory[at + plan.bytes :] == 0xA5)


def test_arrays_with_gaps(random):
    wide = bits_of(random.normal(0, 0.02, (40, 300)))
    inside = wide[:, 10:210]
    packed = Packed(inside)
    back = np.zeros((40, 200), np.uint16)
    _packed.unpack(packed.array, *packed.form, back)
    assert np.array_equal(back, inside)
    with pytest.raises(errors.InvalidArgument, match="gaps"):
        _packed.Plan(wide[:, ::2])


def test_read_only_weights_pack_but_are_not_written(weights):
    weights.setflags(write=False)
    packed = Packed(weights)
    with pytest.raises(TypeError, match="out"):
        _packed.unpack(packed.array, *packed.form, weights)


def test_what_is_refused(weights):
    packed = Packed(weights)
    out = np.zeros_like(weights)
    with pytest.raises(errors.InvalidArgument, match="bfloat16"):
        _packed.Plan(weights.astype(np.float32))
    with pytest.raises(errors.InvalidArgument, match="axes"):
        _packed.Plan(weights[0])
    with pytest.raises(TypeError):
        _packed.Plan("weights")
    with pytest.raises(errors.InvalidArgument, match="bytes"):
        _packed.unpack(packed.array, 300, 500, packed.plan.escapes + 100, out)
    with pytest.raises(errors.InvalidArgument, match="out must be"):
        _packed.unpack(packed.array, *packed.form, out[:299])
    with pytest.raises(errors.InvalidArgument, match="another"):
        packed.plan.pack(weights[:299])
    with pytest.raises(errors.InvalidArgument, match="activation"):
        x = np.zeros((1, 500), np.uint16)
        _packed.matmul(x, packed.array, *packed.form, out[:1, :300], None, "tanh")
    with pytest.raises(errors.InvalidArgument, match="2\\^32"):
        _packed.packed_bytes(1, 1, 2**32)


def test_damage_is_found(weights):
    packed = Packed(weights)
    array = np.from_dlpack(packed.array).copy()
    array[-256:] = 0xFF  # escapes: columns far outside
    with pytest.raises(errors.Corrupt, match="packed matrix"):
        _packed.check(array, *packed.form)


def test_matrices_without_weights():
    for shape in ((0, 0), (0, 5), (5, 0)):
        packed = Packed(np.zeros(shape, np.uint16))
        out = np.full((2, shape[0]), 0xA5, np.uint16)
        _packed.matmul(np.zeros((2, shape[1]), np.uint16), packed.array, *packed.form, out)
        assert np.all(out == 0)


def gpu_matrix(rows, columns, seed):
    generator = torch.Generator(device="cuda").manual_seed(seed)
    weights = torch.randn(rows, columns, generator=generator, device="cuda") * 0.02
    weights = weights.to(torch.bfloat16)
    weights[rows // 2, columns // 3] = 1e-30
    return weights


def bits(tensor):
    return tensor.contiguous().view(torch.int16)


@needs_gpu
@pytest.mark.parametrize("shape", [(256, 512), (300, 500), (17, 4100), (1024, 4096)])
def test_gpu_there_and_back(shape):
    weights = gpu_matrix(*shape, 1)
    packed = Packed(weights)
    on_cpu = Packed(bits(weights).cpu().numpy().view(np.uint16))
    assert packed.form == on_cpu.form
    array = torch.from_dlpack(packed.array)
    assert np.array_equal(array.cpu().numpy(), np.from_dlpack(on_cpu.array))
    _packed.check(array, *packed.form)
    back = torch.zeros_like(weights)
    _packed.unpack(array, *packed.form, back)
    assert torch.equal(bits(back), bits(weights))
    indices = torch.randint(0, shape[0], (33,), device="cuda")
    rows = torch.empty(33, shape[1], dtype=torch.bfloat16, device="cuda")
    _packed.unpack_rows(array, *packed.form, indices, rows)
    assert torch.equal(bits(rows), bits(weights[indices]))


@needs_gpu
@pytest.mark.parametrize("count", [1, 2, 8, 9, 16, 17, 32, 33, 100])
def test_gpu_products(count):
    weights = gpu_matrix(1000, 1160, 2)
    packed = Packed(weights)
    x = torch.randn(count, 1160, device="cuda").to(torch.bfloat16)
    bias = torch.randn(1000, device="cuda").to(torch.bfloat16)
    out = torch.empty(count, 1000, dtype=torch.bfloat16, device="cuda")
    _packed.matmul(x, packed.array, *packed.form, out, bias)
    wanted = x.double() @ weights.double().T + bias.double()
    assert torch.allclose(out.double(), wanted, rtol=1e-2, atol=1e-2)


@needs_gpu
def test_gpu_products_are_recorded_and_take_a_stream():
    weights = gpu_matrix(512, 1024, 3)
    packed = Packed(weights)
    x = torch.randn(4, 1024, device="cuda").to(torch.bfloat16)
    first = torch.empty(4, 512, dtype=torch.bfloat16, device="cuda")
    again = torch.zeros_like(first)
    _packed.matmul(x, packed.array, *packed.form, first)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        stream = torch.cuda.current_stream().cuda_stream
        _packed.matmul(x, packed.array, *packed.form, again, stream=stream)
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(bits(first), bits(again))


@needs_gpu
def test_gpu_damage_is_found():
    weights = gpu_matrix(512, 1024, 4)
    packed = Packed(weights)
    array = torch.from_dlpack(packed.array).clone()
    array[-256:] = 255
    with pytest.raises(errors.Corrupt):
        _packed.check(array, *packed.form)


@needs_gpu
def test_two_devices_are_refused(weights):
    packed = Packed(weights)
    out = torch.empty(300, 500, dtype=torch.bfloat16, device="cuda")
    with pytest.raises(errors.InvalidArgument, match="two devices"):
        _packed.unpack(packed.array, *packed.form, out)
