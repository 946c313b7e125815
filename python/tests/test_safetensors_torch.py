"""hoist.safetensors.torch beside safetensors.torch, and shared tensors, where PyTorch is installed."""

import copy
import random

import pytest

torch = pytest.importorskip("torch", reason="no PyTorch")
peer = pytest.importorskip("safetensors.torch")

from hoist import tensors  # noqa: E402
from hoist.safetensors import SafetensorError, safe_open  # noqa: E402
from hoist.safetensors import torch as ours  # noqa: E402

DTYPES = [
    getattr(torch, name)
    for name in """float64 float32 float16 bfloat16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz
    float8_e5m2fnuz float8_e8m0fnu int64 int32 int16 int8 uint8 uint16 uint32 uint64 bool
    complex64""".split()
    if hasattr(torch, name)
]


def any_bits(dtype, *shape):
    size = torch.empty(shape, dtype=dtype).numel() * torch.empty(0, dtype=dtype).element_size()
    bits = torch.randint(0, 2 if dtype == torch.bool else 256, (size,), dtype=torch.uint8)
    return bits.view(dtype).reshape(shape)


def bits(tensor):
    return tensor.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()


def same_all(found, wanted):
    return found.keys() == wanted.keys() and all(
        found[name].dtype == tensor.dtype
        and found[name].shape == tensor.shape
        and bits(found[name]) == bits(tensor)
        for name, tensor in wanted.items()
    )


@pytest.fixture
def weights():
    torch.manual_seed(1)
    shapes = [(3, 5), (7,), ()]
    return {
        f"{dtype}{shape}": any_bits(dtype, *shape) for dtype in DTYPES for shape in shapes
    }


def test_bytes_files_and_tensors_are_the_peers(tmp_path, weights):
    assert ours.save(weights, {"a": "b"}) == peer.save(weights, {"a": "b"})
    ours.save_file(weights, tmp_path / "x.safetensors")
    assert (tmp_path / "x.safetensors").read_bytes() == peer.save(weights)
    for backend in ("mmap", "pread"):
        loaded = ours.load_file(tmp_path / "x.safetensors", backend=backend)
        assert same_all(loaded, weights)
        assert list(loaded) == list(peer.load_file(tmp_path / "x.safetensors"))
        # Each is all of its memory, as save_model wants it.
        assert all(peer._is_complete(tensor) for tensor in loaded.values())
    assert same_all(ours.load(peer.save(weights)), weights)


def test_mapped_tensors_may_be_written_and_the_file_stays(tmp_path, weights):
    path = tmp_path / "x.safetensors"
    ours.save_file(weights, path)
    before = path.read_bytes()
    loaded = ours.load_file(path)
    with open("/proc/self/maps") as maps:
        assert str(path) in maps.read()
    for tensor in loaded.values():
        tensor.view(torch.uint8 if tensor.dim() else tensor.dtype).zero_()
    assert path.read_bytes() == before
    del loaded, tensor
    with open("/proc/self/maps") as maps:
        assert str(path) not in maps.read()


def test_what_the_peer_refuses_is_refused(tmp_path):
    whole = torch.arange(6.0).reshape(2, 3)
    refused = {
        "shared": {"a": whole, "b": whole[:1]},
        "same": {"a": whole, "b": whole},
        "turned": {"a": whole.t()},
        "sparse": {"a": whole.to_sparse()},
        "no tensor": {"a": [1.0]},
        "no dict": [whole],
        "meta": {"a": whole.to("meta")},
    }
    for what, arguments in refused.items():
        kinds = []
        for save in (ours.save, peer.save):
            with pytest.raises(Exception) as raised:
                save(arguments)
            kinds.append(raised.value)
        assert isinstance(kinds[0], type(kinds[1])), what
    with pytest.raises(SafetensorError, match="save_model"):
        ours.save_file(refused["shared"], tmp_path / "x")
    assert not any(tmp_path.iterdir())
    apart = {"a": whole[:1], "b": whole[1:]}
    assert ours.save(apart) == peer.save(apart)


def test_overlaps_against_a_slow_search():
    rng = random.Random(7)
    for _ in range(300):
        storages = [torch.zeros(12) for _ in range(2)]
        views = {}
        for name in "abcdef"[: rng.randrange(1, 7)]:
            start = rng.randrange(11)
            views[name] = rng.choice(storages)[start : rng.randrange(start + 1, 13) : rng.choice([1, 2])]
        found = {frozenset(names) for names in ours._find_shared_tensors(views)}
        span = {name: (view.data_ptr(), ours._end_ptr(view)) for name, view in views.items()}
        groups = [{name} for name in views]
        for a in views:
            for b in views:
                if a != b and max(span[a][0], span[b][0]) < min(span[a][1], span[b][1]):
                    one, two = (next(g for g in groups if name in g) for name in (a, b))
                    if one is not two:
                        groups.remove(two)
                        one |= two
        assert found == {frozenset(names) for names in groups}


class Tied(torch.nn.Module):
    def __init__(self, is_tied=True):
        super().__init__()
        self.a = torch.nn.Linear(8, 8)
        self.b = self.a if is_tied else torch.nn.Linear(8, 8)


@pytest.mark.parametrize("writer, reader", [(ours, peer), (peer, ours), (ours, ours)])
def test_models_go_through_either(tmp_path, writer, reader):
    path = tmp_path / "x.safetensors"
    model, other = Tied(), Tied()
    writer.save_model(model, path, metadata={"b.bias": "mine"})
    with safe_open(path, "pt") as file:
        assert file.metadata() == {"b.bias": "mine", "b.weight": "a.weight"}
        assert file.keys() == ["a.bias", "a.weight"]
    missing, unexpected = reader.load_model(other, path)
    assert not missing and not unexpected
    assert torch.equal(other.b.weight, model.b.weight)


def test_names_that_do_not_fit_are_told(tmp_path):
    path = tmp_path / "x.safetensors"
    ours.save_model(Tied(), path)
    for module in (ours, peer):
        missing, unexpected = module.load_model(Tied(False), path, strict=False)
        assert set(missing) == {"b.bias", "b.weight"} and not unexpected
    with pytest.raises(RuntimeError, match='Missing key.*"b.bias", "b.weight"'):
        ours.load_model(Tied(False), path)
    ours.save_model(Tied(False), path)
    with pytest.raises(RuntimeError, match='Unexpected key.*"b.bias", "b.weight"'):
        ours.load_model(Tied(), path)
    for module in (ours, peer):
        assert set(module.load_model(Tied(), path, strict=False)[1]) == {"b.bias", "b.weight"}


def test_a_model_of_which_no_tensor_covers_the_memory_is_refused(tmp_path):
    model = Tied(False)
    whole = torch.zeros(100)
    model.a.bias = torch.nn.Parameter(whole[:8])
    model.b.bias = torch.nn.Parameter(whole[4:12])
    for module in (ours, peer):
        with pytest.raises(RuntimeError):
            module.save_model(model, tmp_path / "x")


def test_tensors_that_lie_in_columns(tmp_path):
    model = Tied()
    model.a.weight = torch.nn.Parameter(torch.randn(8, 8).t())
    with pytest.raises(ValueError, match="force_contiguous=True"):
        ours.save_model(model, tmp_path / "x", force_contiguous=False)
    ours.save_model(model, tmp_path / "x")
    other = Tied()
    ours.load_model(other, tmp_path / "x", backend="pread")
    assert torch.equal(other.a.weight, model.a.weight)


def test_a_holo_file_stores_shared_tensors_once(tmp_path):
    whole = torch.randn(1024, 256)
    weights = {"embed": whole, "head": whole, "row": whole[3], "turned": whole.t()}
    with pytest.warns(UserWarning, match="'head' as 'embed'"):
        tensors.save_file(weights, tmp_path / "x.holo", encoding="lossless")
    loaded = tensors.load_file(tmp_path / "x.holo")
    assert same_all(loaded, {name: copy.deepcopy(tensor) for name, tensor in weights.items()})
    assert loaded["head"].data_ptr() == loaded["embed"].data_ptr() != loaded["row"].data_ptr()
