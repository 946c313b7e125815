"""hoist.tensors against safetensors.torch, where PyTorch is installed."""

import numpy as np
import pytest

from hoist import _native, errors, tensors

torch = pytest.importorskip("torch")
theirs = pytest.importorskip("safetensors.torch")

DTYPES = [
    name
    for name in """float64 float32 float16 bfloat16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz
    float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 int64 int32 int16 int8 uint8 uint16 uint32 uint64
    bool complex64""".split()
    if hasattr(torch, name)
]
SHAPES = [(0,), (1,), (5,), (3, 0, 2), (1, 129), (127, 31), (2, 1, 3, 1, 2, 1, 2, 4), ()]


def any_bits(dtype, shape):
    dtype = getattr(torch, dtype)
    if dtype == torch.bool:
        return torch.randint(0, 2, shape).bool()
    size = int(np.prod(shape)) * torch.empty(0, dtype=dtype).element_size()
    bits = torch.randint(0, 256, (size,), dtype=torch.uint8)
    return bits.view(dtype).reshape(shape) if size else torch.empty(shape, dtype=dtype)


def bits(tensor):
    flat = tensor.detach().resolve_conj().resolve_neg().contiguous().reshape(-1)
    return flat.view(torch.uint8).numpy().tobytes() if flat.numel() else b""


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and bits(a) == bits(b)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_type_and_shape_is_what_safetensors_has(tmp_path, dtype):
    torch.manual_seed(3)
    pairs = dtype == "float4_e2m1fn_x2"  # without a dimension there are none
    saved = {f"t{i}": any_bits(dtype, shape) for i, shape in enumerate(SHAPES[: -1 if pairs else None])}
    theirs.save_file(saved, tmp_path / "x.safetensors")
    tensors.save_file(saved, tmp_path / "x.holo")
    header = _native.HoloReader(str(tmp_path / "x.holo")).skeleton(0)
    assert header == (tmp_path / "x.safetensors").read_bytes()[: len(header)]
    for zero_copy in [False, True]:
        for name in ["x.safetensors", "x.holo"]:
            loaded = tensors.load_file(tmp_path / name, torch.device("cpu"), zero_copy=zero_copy)
            assert list(loaded) == list(tensors.load_file(tmp_path / "x.safetensors"))
            assert all(same(loaded[name], tensor) for name, tensor in saved.items())
            assert all(tensor.is_contiguous() and not tensor.requires_grad for tensor in loaded.values())


def odd_tensors():
    whole = torch.arange(24, dtype=torch.float32).reshape(4, 6)
    waves = torch.tensor([1 + 2j, 3 - 1j], dtype=torch.complex64)

    class Weight(torch.nn.Parameter):
        pass

    Weight.__module__ = "somewhere"
    return {
        "turned": whole.t(),
        "row": whole[1],
        "column": whole[:, 1],
        "shared": whole,
        "expanded": whole[:1].expand(3, 6),
        "parameter": torch.nn.Parameter(whole.clone()),
        "subclass": Weight(whole.bfloat16()),
        "computed": torch.nn.Parameter(whole.clone()) * 2,
        "conjugate": waves.conj(),
        "negative": waves.conj().imag,
        "channels_last": torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    }


def test_tensors_of_every_layout_are_saved(tmp_path):
    saved = odd_tensors()
    tensors.save_file(saved, tmp_path / "x.holo")
    loaded = tensors.load_file(tmp_path / "x.holo")
    for name, tensor in saved.items():
        assert same(loaded[name], tensor), name
        assert loaded[name].is_contiguous() and type(loaded[name]) is torch.Tensor
    storages = {tensor.untyped_storage().data_ptr() for tensor in loaded.values()}
    assert len(storages) == len(saved)


def test_what_has_no_elements_of_its_own_is_refused(tmp_path):
    dense = torch.eye(3)
    for tensor in [dense.to_sparse(), dense.to_sparse_csr(), dense.to(torch.complex128)]:
        with pytest.raises(errors.Unsupported, match="'w'"):
            tensors.save_file({"w": tensor}, tmp_path / "x.holo")
    with pytest.raises(NotImplementedError):
        tensors.save_file({"w": torch.empty(3, device="meta")}, tmp_path / "x.holo")
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["holo", "safetensors"])
def test_slices_are_those_of_safetensors(tmp_path, kind):
    saved = {"w": torch.arange(24, dtype=torch.float32).reshape(4, 6), "s": torch.tensor(2.0)}
    theirs.save_file(saved, tmp_path / "x.safetensors")
    tensors.save_file(saved, tmp_path / "x.holo")
    indices = [
        0, -1, slice(1, 3), slice(None, None, 2), (slice(None), slice(None, None, 3)), (..., 0), (0, 0),
        None, [0, 2], slice(10, 20), 5, slice(None, None, -1), 0.5, (), ..., (0, 0, 0), np.int64(1),
        torch.tensor([True, False, True, False]),
    ]  # fmt: skip
    with theirs.safe_open(tmp_path / "x.safetensors", "pt") as expected:
        with tensors.safe_open(tmp_path / f"x.{kind}", "pt") as file:
            for index in indices:
                try:
                    right = expected.get_slice("w")[index]
                except Exception as error:
                    with pytest.raises(type(error)):
                        file.get_slice("w")[index]
                    continue
                part = file.get_slice("w")[index]
                assert same(part, right), index
                assert part.untyped_storage().nbytes() == part.nbytes
            assert file.get_slice("s")[...].item() == 2


def test_a_network_ends_exact(tmp_path):
    torch.manual_seed(4)
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).bfloat16().eval()
    data = torch.randn(8, 5, 32).bfloat16()
    tensors.save_file(layer.state_dict(), tmp_path / "x.holo")

    def error_with(weights):
        return (torch.func.functional_call(layer, dict(weights), (data,)) - layer(data)).norm().item()

    with torch.no_grad():
        with tensors.ProgressiveModel(tmp_path / "x.holo", steps=(0.9, None)) as model:
            rough = model.tensors
            model.wait()
            assert error_with(rough) > error_with(model.tensors) == 0
        layer.load_state_dict(model.tensors)
        assert error_with(rough) > 0
