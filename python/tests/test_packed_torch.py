"""Packed weights under PyTorch: modules, loaded files, compilers, graphs; where PyTorch is installed."""

import copy
import io
import pathlib
import subprocess
import sys
import warnings

import pytest
from hoist import errors, tensors

torch = pytest.importorskip("torch")
safetensors = pytest.importorskip("hoist.safetensors.torch")
F = torch.nn.functional

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
DEVICES = ["cpu", pytest.param("cuda", marks=needs_gpu)]


@pytest.fixture(name="device", params=DEVICES)
def _device(request):
    return request.param


@pytest.fixture(autouse=True)
def _nothing_is_unpacked_unseen(monkeypatch):
    from hoist import _packed_fallback

    monkeypatch.setattr(_packed_fallback, "_told", set())
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "packed weights are unpacked")
        yield


def bits(tensor):
    return tensor.detach().contiguous().view(torch.int16)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and torch.equal(bits(a), bits(b))


def matrix(rows=300, columns=500, device="cpu", seed=1):
    generator = torch.Generator().manual_seed(seed)
    weights = (torch.randn(rows, columns, generator=generator) * 0.02).bfloat16()
    patterns = [0x7FC5, -0x8000, 1, 0x7F80]
    bits(weights)[rows // 2, :4] = torch.tensor(patterns, dtype=torch.int16)
    return weights.to(device)


def finite(rows=300, columns=500, device="cpu", seed=1):
    return torch.nan_to_num(matrix(rows, columns, seed=seed), 0, 0, 0).to(device)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = torch.nn.Embedding(512, 256)
        self.up = torch.nn.Linear(256, 1024)
        self.down = torch.nn.Linear(1024, 256, bias=False)
        self.norm = torch.nn.LayerNorm(256)
        self.head = torch.nn.Linear(256, 512, bias=False)
        self.head.weight = self.embed.weight

    def forward(self, tokens):
        x = self.embed(tokens)
        return self.head(self.norm(x + self.down(F.gelu(self.up(x)))))


def model_on(device):
    torch.manual_seed(3)
    return Model().to(device, torch.bfloat16).eval()


def tokens_on(device, *shape):
    return torch.randint(0, 512, shape, generator=torch.Generator().manual_seed(1)).to(device)


def close(a, b):
    """As near as sums in another order let them be, after some layers."""
    error = (a.float() - b.float()).abs().max()
    return a.shape == b.shape and bool(error <= 0.02 * b.float().abs().max())


def test_bits_come_back(device):
    for shape in ((300, 500), (1, 1), (17, 4100), (0, 5), (5, 0)):
        weights = torch.zeros(shape, dtype=torch.bfloat16, device=device)
        if weights.numel() > 1:
            weights = matrix(*shape, device)
        packed = tensors.PackedTensor.pack(weights)
        assert packed.shape == weights.shape and packed.dtype == torch.bfloat16
        assert packed.device == weights.device
        assert same(packed.unpack(), weights)
    every = torch.arange(-32768, 32768, dtype=torch.int16, device=device).view(torch.bfloat16)
    assert same(tensors.PackedTensor.pack(every.view(256, 256)).unpack(), every.view(256, 256))
    assert same(tensors.PackedTensor.pack(matrix(device=device).t()).unpack(), matrix(device=device).t())


def test_what_cannot_be_packed(device):
    for weights in (torch.ones(3, 4), torch.ones(4).bfloat16(), torch.eye(3).bfloat16().to_sparse()):
        with pytest.raises(errors.InvalidArgument, match="cannot pack"):
            tensors.PackedTensor.pack(weights.to(device))
    with pytest.raises(errors.InvalidArgument, match="exact_like"):
        tensors.PackedTensor.pack(matrix(device=device), exact_like="cudnn")


@pytest.mark.parametrize("count", [(), (0,), (1,), (2, 7), (33,), (300,)])
@pytest.mark.parametrize("with_bias", [True, False])
def test_products(device, count, with_bias):
    weights = finite(device=device)
    packed = tensors.PackedTensor.pack(weights)
    x = torch.randn(*count, 500, generator=torch.Generator().manual_seed(2)).bfloat16().to(device)
    bias = torch.linspace(-1, 1, 300, device=device).bfloat16() if with_bias else None
    y = F.linear(x, packed, bias)
    wanted = x.double() @ weights.double().t() + (0 if bias is None else bias.double())
    assert type(y) is torch.Tensor and y.dtype == torch.bfloat16 and y.shape == (*count, 300)
    assert torch.allclose(y.double(), wanted, rtol=1e-2, atol=1e-2)
    exact = tensors.PackedTensor.pack(weights, exact_like="cublas")
    assert same(F.linear(x, exact, bias), F.linear(x, weights, bias))


def test_products_of_x_with_gaps(device):
    weights = finite(device=device)
    packed = tensors.PackedTensor.pack(weights)
    wide = torch.randn(6, 1100, generator=torch.Generator().manual_seed(2)).bfloat16().to(device)
    for x in (wide[:, 3:503], wide[:, ::2][:, :500], wide[:1, :500].expand(4, 500), wide[:, :500].t().contiguous().t()):
        assert same(F.linear(x, packed), F.linear(x.contiguous(), packed))


def test_wrong_operands_are_errors(device):
    packed = tensors.PackedTensor.pack(finite(device=device))
    x = torch.ones(2, 500, device=device)
    with pytest.raises(RuntimeError):
        F.linear(x, packed)  # float32, as with plain weights
    with pytest.raises(RuntimeError, match="shape"):
        F.linear(x[:, 1:].bfloat16(), packed)
    with pytest.raises(RuntimeError, match="bias"):
        F.linear(x.bfloat16(), packed, torch.ones(299, device=device).bfloat16())
    with pytest.raises(RuntimeError, match="indices"):
        F.embedding(torch.ones(2, dtype=torch.int16, device=device), packed)


def test_autocast(device):
    weights = finite(device=device)
    x = torch.randn(3, 500, device=device)
    with torch.autocast(device, torch.bfloat16):
        assert close(F.linear(x, tensors.PackedTensor.pack(weights)), F.linear(x, weights))


def test_embedding(device):
    weights = matrix(device=device)
    packed = tensors.PackedTensor.pack(weights)
    for indices in (tokens_on(device, 3, 5) % 300, torch.tensor(299, device=device), tokens_on(device, 0)):
        assert same(F.embedding(indices, packed), F.embedding(indices, weights))
        assert same(F.embedding(indices.int(), packed, padding_idx=0), F.embedding(indices, weights))
    with pytest.raises(errors.Unsupported, match="max_norm"):
        F.embedding(indices, packed, max_norm=1.0)


def test_a_module_is_packed_in_place(device):
    model = model_on(device)
    plain = copy.deepcopy(model)
    done = tensors.pack_module(model)
    assert sorted(done.packed) == ["down.weight", "embed.weight", "head.weight", "up.weight"]
    assert not done.plain
    assert done.bytes_before == sum(p.nbytes for p in plain.parameters())
    assert done.bytes_after < 0.77 * done.bytes_before
    assert model.head.weight is model.embed.weight  # tied as before
    assert isinstance(model.up.weight, torch.nn.Parameter) and not model.up.weight.requires_grad
    for context in (torch.no_grad, torch.inference_mode, torch.enable_grad):
        for shape in ((1, 1), (2, 5), (3, 100)):
            with context():
                tokens = tokens_on(device, *shape)
                assert close(model(tokens), plain(tokens))
    again = tensors.pack_module(model)
    assert again.packed == done.packed and again.bytes_before == done.bytes_after
    weight = model.up.weight
    tensors.pack_module(model, exact_like="cublas")
    assert model.up.weight.exact_like == "cublas" and model.head.weight is model.embed.weight
    assert model.up.weight.packed_bytes == weight.packed_bytes and weight.exact_like is None
    assert same(model(tokens), plain(tokens))


def test_exact_mode_has_the_bits_of_plain_weights(device):
    model = model_on(device)
    plain = copy.deepcopy(model)
    tensors.pack_module(model, exact_like="cublas")
    with torch.inference_mode():
        for shape in ((1, 1), (2, 5), (3, 100)):
            assert same(model(tokens_on(device, *shape)), plain(tokens_on(device, *shape)))


def test_state_dict_there_and_back(device):
    model = model_on(device)
    with torch.no_grad():
        model.up.weight.copy_(matrix(1024, 256))
    plain = copy.deepcopy(model)
    tensors.pack_module(model)
    state = model.state_dict()
    assert list(state) == list(plain.state_dict())
    assert all(type(state[name]) is torch.Tensor and same(state[name], tensor) for name, tensor in plain.state_dict().items())
    assert state["head.weight"].data_ptr() == state["embed.weight"].data_ptr()
    assert isinstance(model.state_dict(keep_vars=True)["up.weight"], tensors.PackedTensor)
    other = model_on(device)
    assert not other.load_state_dict(state).missing_keys
    assert same(other.up.weight, plain.up.weight)
    with torch.no_grad():
        plain.up.weight.mul_(-2)
    model.load_state_dict(plain.state_dict())
    assert isinstance(model.up.weight, tensors.PackedTensor)
    assert same(model.up.weight.unpack(), plain.up.weight)
    with pytest.raises(RuntimeError, match="size mismatch"):
        model.load_state_dict({**state, "up.weight": state["down.weight"]})


def test_copies(device):
    model = model_on(device)
    tensors.pack_module(model)
    tokens = tokens_on(device, 2, 5)
    twin = copy.deepcopy(model)
    assert isinstance(twin.up.weight, torch.nn.Parameter) and twin.head.weight is twin.embed.weight
    assert twin.up.weight is not model.up.weight
    file = io.BytesIO()
    torch.save(model, file)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert isinstance(loaded.up.weight, tensors.PackedTensor) and loaded.head.weight is loaded.embed.weight
    for other in (twin, loaded):
        assert all(same(a, b) for a, b in zip(other.state_dict().values(), model.state_dict().values()))
        assert same(other(tokens), model(tokens))
    file = io.BytesIO()
    torch.save({"w": model.up.weight}, file)
    file.seek(0)
    weight = torch.load(file)["w"]
    assert isinstance(weight, torch.nn.Parameter) and same(weight.unpack(), model.up.weight.unpack())
    file = io.BytesIO()
    torch.save({"w": model.up.weight}, file, _use_new_zipfile_serialization=False)
    file.seek(0)
    try:  # the older format fills memory after it has made tensors, which is seen
        assert same(torch.load(file)["w"].unpack(), model.up.weight.unpack())
    except errors.Corrupt as why:
        assert "older format" in str(why)


@needs_gpu
def test_to_a_device():
    model = model_on("cpu")
    plain = copy.deepcopy(model)
    tensors.pack_module(model)
    model.to("cuda")
    assert model.up.weight.device.type == "cuda" and isinstance(model.up.weight, tensors.PackedTensor)
    assert model.head.weight is model.embed.weight
    assert close(model(tokens_on("cuda", 2, 5)).cpu(), plain(tokens_on("cpu", 2, 5)))
    model.cpu()
    assert all(same(a, b) for a, b in zip(model.state_dict().values(), plain.state_dict().values()))
    with pytest.raises(RuntimeError, match="cuda"):
        F.linear(torch.ones(1, 256, device="cuda").bfloat16(), model.up.weight)


def test_to_where_it_is(device):
    model = model_on(device)
    tensors.pack_module(model)
    model.to(device)
    assert isinstance(model.up.weight, tensors.PackedTensor)
    assert model.up.weight.to(device).packed_bytes == model.up.weight.packed_bytes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(errors.Unsupported, match="bfloat16"):
            model.float()


def test_training_is_refused(device):
    model = model_on(device).train()
    with pytest.raises(errors.InvalidArgument, match=r"embed.weight is being trained.*eval"):
        tensors.pack_module(model)
    assert type(model.embed.weight) is torch.nn.Parameter
    model.requires_grad_(False)
    assert tensors.pack_module(model).packed
    for train in (
        lambda: model.requires_grad_(True),
        lambda: model.up.weight.requires_grad_(),
        lambda: setattr(model.up.weight, "requires_grad", True),
        lambda: torch.nn.Parameter(model.up.weight),
    ):
        with pytest.raises(errors.Unsupported, match="cannot be trained"):
            train()
    assert not model.up.weight.requires_grad


def test_gradients_pass_through(device):
    weights = finite(device=device)
    x = torch.randn(4, 500, device=device).bfloat16()
    bias = torch.zeros(300, device=device).bfloat16()
    gradients = []
    for weight in (weights, tensors.PackedTensor.pack(weights)):
        operands = [x.clone().requires_grad_(), bias.clone().requires_grad_()]
        F.linear(operands[0], weight, operands[1]).square().sum().backward()
        gradients.append([operand.grad for operand in operands])
    assert all(close(a, b) for a, b in zip(*gradients))


def test_what_would_change_packed_weights_is_refused(device):
    packed = tensors.PackedTensor.pack(matrix(device=device))
    for change in (
        lambda: packed.mul_(2),
        lambda: packed.zero_(),
        lambda: packed.data.fill_(1),
        lambda: packed.__setitem__(0, 1),
        lambda: torch.add(packed.unpack(), 1, out=packed),
    ):
        with pytest.raises(errors.Unsupported, match="constant"):
            change()
    assert same(packed.unpack(), matrix(device=device))


def test_other_functions_unpack_and_say_so_once(device):
    weights = matrix(device=device)
    packed = tensors.PackedTensor.pack(weights)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for _ in range(3):
            assert same(packed.t(), weights.t())
        assert same(packed[2:4], weights[2:4])
        assert torch.equal(packed.float().isnan(), weights.isnan())
    texts = [str(warning.message) for warning in seen]
    assert sum("aten::t," in text for text in texts) == 1 and len(texts) == len(set(texts))
    assert all(warning.filename == __file__ for warning in seen)
    assert "shape=(300, 500)" in repr(packed)


def test_what_stays_plain_and_why(device):
    model = torch.nn.ModuleDict(
        {
            "small": torch.nn.Linear(8, 8),
            "wide": torch.nn.Linear(512, 512),
            "renormed": torch.nn.Embedding(512, 512, max_norm=1.0),
            "wild": torch.nn.Linear(512, 512),
            "attention": torch.nn.MultiheadAttention(512, 8),
        }
    ).to(device, torch.bfloat16).eval()
    model["wide"].float()
    with torch.no_grad():
        model["wild"].weight.view(torch.int16).random_(-32768, 32767)
    done = tensors.pack_module(model)
    assert not done.packed and done.bytes_before == done.bytes_after
    words = {"small": "too small", "wide": "float32", "renormed": "max_norm", "wild": "exponents"}
    for name, word in words.items():
        assert word in done.plain[f"{name}.weight"], done.plain
    assert "attention" in done.plain["attention.out_proj.weight"]
    model = model_on(device)
    model.other = torch.nn.Module()
    model.other.register_parameter("table", model.up.weight)
    assert "other.table" in tensors.pack_module(model).plain["up.weight"]
    assert model.other.table is model.up.weight


@pytest.mark.parametrize("kind", ["holo", "safetensors"])
def test_files_load_packed(tmp_path, device, kind):
    model = model_on(device)
    state = {**model.state_dict(), "wild": matrix(device=device).view(torch.int16).float()}
    path = tmp_path / f"x.{kind}"
    if kind == "holo":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the head and the embedding are one
            tensors.save_file(state, path)
    else:
        state["head.weight"] = state["head.weight"].clone()
        path.write_bytes(tensors.save(state))
    loaded = tensors.load_file(path, device=device, resident="packed")
    assert loaded.keys() == state.keys()
    for name, tensor in loaded.items():
        is_packed = isinstance(tensor, tensors.PackedTensor)
        assert is_packed == (name in ("embed.weight", "up.weight", "down.weight", "head.weight"))
        assert tensor.device.type == device and tensor.dtype == state[name].dtype
        assert torch.equal(tensor.unpack() if is_packed else tensor, state[name])
    if kind == "holo":
        assert loaded["head.weight"] is loaded["embed.weight"]
    tokens = tokens_on(device, 2, 5)
    del loaded["wild"]
    fresh = Model().to(device, torch.bfloat16).eval().requires_grad_(False)
    fresh.load_state_dict(loaded, assign=True)
    assert isinstance(fresh.up.weight, tensors.PackedTensor)
    assert close(fresh(tokens), model(tokens))
    copied = Model().to(device, torch.bfloat16).eval()
    copied.load_state_dict(loaded)
    assert same(copied.up.weight, model.up.weight)
    with pytest.raises(RuntimeError, match="cannot be trained"):
        Model().to(device, torch.bfloat16).load_state_dict(loaded, assign=True)
    exact = tensors.load_file(path, device, resident="packed", exact_like="cublas")["up.weight"]
    x = torch.randn(3, 256, device=device).bfloat16()
    assert same(F.linear(x, exact), F.linear(x, model.up.weight))


def test_wrong_wishes_of_load_file(tmp_path):
    tensors.save_file({"w": matrix()}, tmp_path / "x.holo")
    load = tensors.load_file
    with pytest.raises(errors.InvalidArgument, match="resident"):
        load(tmp_path / "x.holo", resident="compressed")
    with pytest.raises(errors.InvalidArgument, match="numpy"):
        load(tmp_path / "x.holo", resident="packed", framework="numpy")
    with pytest.raises(errors.InvalidArgument, match="exact_like"):
        load(tmp_path / "x.holo", resident="packed", exact_like="cudnn")
    with pytest.raises(errors.InvalidArgument, match="exact_like"):
        load(tmp_path / "x.holo", exact_like="cublas")
    rough = load(tmp_path / "x.holo", resident="packed", target=0.9)["w"]
    assert same(load(tmp_path / "x.holo", resident="packed", skip_damaged=True)["w"].unpack(), matrix())
    assert same(rough.unpack(), load(tmp_path / "x.holo", target=0.9)["w"])


def test_a_packed_tensor_is_saved_as_plain(tmp_path, device):
    packed = tensors.PackedTensor.pack(matrix(device=device))
    other = tensors.PackedTensor.pack(finite(device=device))
    with pytest.warns(UserWarning, match="share memory"):
        tensors.save_file({"w": packed, "again": packed, "x": other}, tmp_path / "x.holo")
    safetensors.save_file({"w": packed, "x": other}, tmp_path / "x.safetensors")
    for kind in ("holo", "safetensors"):
        loaded = tensors.load_file(tmp_path / f"x.{kind}")
        assert same(loaded["w"], matrix()) and same(loaded["x"], finite())
    with pytest.raises(RuntimeError, match="share"):
        safetensors.save_file({"w": packed, "again": packed}, tmp_path / "y.safetensors")


def test_operators_are_what_torch_asks_for(device):
    packed = tensors.PackedTensor.pack(finite(device=device))
    memory, form = packed.__tensor_flatten__()[0], packed.__tensor_flatten__()[1][:3]
    data = getattr(packed, memory[0])
    x = torch.randn(3, 500, device=device).bfloat16().requires_grad_()
    bias = torch.zeros(300, device=device).bfloat16()
    check = torch.library.opcheck
    check(torch.ops.hoist.unpack, (data, *form))
    check(torch.ops.hoist.packed_embedding, (tokens_on(device, 4) % 300, data, *form))
    check(torch.ops.hoist.packed_linear, (x, data, bias, *form))
    check(torch.ops.hoist.packed_linear, (x, data, None, *form))


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
def test_compiled(device, backend):
    if backend == "inductor" and device == "cpu":
        pytest.skip("takes a compiler of C++ and a minute: inductor is tested on a GPU")
    model = model_on(device)
    tensors.pack_module(model)
    torch._dynamo.reset()
    compiled = torch.compile(model, backend=backend, fullgraph=True)
    for context in (torch.no_grad, torch.inference_mode):
        for shape in ((1, 1), (2, 5), (3, 100)):
            with context():
                assert close(compiled(tokens_on(device, *shape)), model(tokens_on(device, *shape)))


def test_a_compiled_function_takes_several_weights(device):
    torch._dynamo.reset()
    product = torch.compile(lambda x, w: F.linear(x, w), backend="aot_eager", fullgraph=True)
    for shape in ((300, 500), (512, 256), (1000, 200)):
        packed = tensors.PackedTensor.pack(finite(*shape, device=device))
        x = torch.randn(2, shape[1], device=device).bfloat16()
        assert close(product(x, packed), F.linear(x, packed))


@needs_gpu
@pytest.mark.parametrize("exact_like", [None, "cublas"])
def test_recorded_graphs(exact_like):
    model = model_on("cuda")
    tensors.pack_module(model, exact_like)
    for shape in ((1, 1), (2, 5), (1, 64), (3, 100)):
        tokens = tokens_on("cuda", *shape)
        with torch.inference_mode():
            wanted = model(tokens)
            torch.cuda.synchronize()
            graph = torch.cuda.CUDAGraph()
            with torch.cuda.graph(graph):
                out = model(tokens)
            tokens.copy_(tokens.flip(0))
            wanted = model(tokens)
            for _ in range(3):
                graph.replay()
            torch.cuda.synchronize()
            assert same(out, wanted)


@needs_gpu
def test_reduced_overhead():
    model = model_on("cuda")
    tensors.pack_module(model)
    torch._dynamo.reset()
    compiled = torch.compile(model, mode="reduce-overhead", fullgraph=True)
    with torch.inference_mode():
        for _ in range(4):
            tokens = tokens_on("cuda", 1, 1)
            assert close(compiled(tokens).clone(), model(tokens))


@needs_gpu
def test_other_streams():
    model = model_on("cuda")
    tensors.pack_module(model)
    tokens = tokens_on("cuda", 2, 5)
    wanted = model(tokens)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        assert same(model(tokens), wanted)
    torch.cuda.synchronize()


@needs_gpu
def test_packing_takes_little_memory_besides():
    model = torch.nn.Sequential(*(torch.nn.Linear(4096, 4096, False) for _ in range(8)))
    model = model.to("cuda", torch.bfloat16).eval()
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    torch.cuda.reset_peak_memory_stats()
    done = tensors.pack_module(model)
    saved = before - torch.cuda.memory_allocated()
    assert saved > 0.98 * (done.bytes_before - done.bytes_after)
    assert torch.cuda.max_memory_allocated() - before < 4096 * 4096 * 2


def test_transformers(device):
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=512,
        hidden_size=256,
        intermediate_size=512,
        num_hidden_layers=2,
        num_attention_heads=8,
        num_key_value_heads=4,
        max_position_embeddings=128,
        pad_token_id=0,
        tie_word_embeddings=True,
    )
    torch.manual_seed(5)
    model = transformers.LlamaForCausalLM(config).to(device, torch.bfloat16).eval()
    plain = copy.deepcopy(model)
    done = tensors.pack_module(model, exact_like="cublas")
    assert "lm_head.weight" in done.packed and "model.layers.1.mlp.gate_proj.weight" in done.packed
    tokens = tokens_on(device, 1, 9)
    with torch.inference_mode():
        assert same(model(tokens).logits, plain(tokens).logits)
        written = model.generate(tokens, max_new_tokens=8, do_sample=False)
        assert torch.equal(written, plain.generate(tokens, max_new_tokens=8, do_sample=False))
        done = tensors.pack_module(plain)
        assert done.bytes_after < 0.85 * done.bytes_before
        assert close(plain(tokens).logits, model(tokens).logits)


def test_transformers_save(tmp_path, device):
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=512, hidden_size=256, intermediate_size=512, num_hidden_layers=1,
        num_attention_heads=4, tie_word_embeddings=True,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config).to(device, torch.bfloat16).eval()
    wanted = model.state_dict()
    tensors.pack_module(model)
    model.save_pretrained(tmp_path)
    back = transformers.LlamaForCausalLM.from_pretrained(tmp_path, dtype=torch.bfloat16)
    assert all(same(tensor.to(device), wanted[name]) for name, tensor in back.state_dict().items())


def test_the_example_writes_tokens(device):
    script = pathlib.Path(__file__).resolve().parents[2] / "examples/tensors/packed_tokens.py"
    command = [sys.executable, script, "--device", device, "--layers", "2", "--tokens", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    assert len(done.stdout.splitlines()[1].split()) == 5
    assert 'exact_like="cublas": the same bits' in done.stdout
