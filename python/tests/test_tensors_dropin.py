"""hoist.tensors in the place of safetensors: arguments, order, slices, memory, paths, refusals."""

import json
import os
import struct
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import safetensors
import safetensors.numpy

from hoist import _frameworks, _native, errors, tensors


@pytest.fixture
def model():
    random = np.random.default_rng(20261123)
    return {
        "z": random.standard_normal((40, 64)).astype(np.float32),
        "a": np.arange(6, dtype=np.int64),
        "nothing": np.zeros((0, 4), np.float64),
        "h": np.array(0.5, np.float16),
        "flags": np.array([True, False, True]),
        "u": np.arange(3, dtype=np.uint16),
        "ü/\n\x01": np.arange(5, dtype=np.uint8),
    }


@pytest.fixture(params=["holo", "safetensors"])
def path(request, tmp_path, model):
    path = tmp_path / f"x.{request.param}"
    save = tensors.save_file if request.param == "holo" else safetensors.numpy.save_file
    save(model, path)
    return path


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_header_is_the_one_that_safetensors_writes(tmp_path, model):
    there, packed = tmp_path / "x.safetensors", tmp_path / "x.holo"
    safetensors.numpy.save_file(model, there, metadata={"licence": "für alle"})
    tensors.save_file(model, packed, metadata={"licence": "für alle"})
    header = _native.HoloReader(str(packed)).skeleton(0)
    assert header == there.read_bytes()[: len(header)]


def test_bytes_are_those_of_safetensors(path, model):
    for metadata in (None, {}, {"licence": "für alle"}):
        saved = tensors.save(model, metadata)
        assert saved == safetensors.numpy.save(model, metadata)
    assert tensors.save({}) == safetensors.numpy.save({})
    strided = {"turned": model["z"].T, "every second": model["a"][::2]}
    loaded = safetensors.numpy.load(tensors.save(strided))
    assert all(same(loaded[name], np.ascontiguousarray(array)) for name, array in strided.items())
    swapped = safetensors.numpy.load(tensors.save({"big": np.arange(3, dtype=">i4")}))["big"]
    assert swapped.tolist() == [0, 1, 2]
    for data in (saved, bytearray(saved), memoryview(saved), path.read_bytes()):
        loaded = tensors.load(data, framework="numpy")
        assert sorted(loaded) == sorted(model)
        assert all(same(loaded[name], array) for name, array in model.items())
    for wrong in (b"", saved[:20], saved[:-1], saved + b"z"):
        with pytest.raises(errors.Corrupt):
            tensors.load(wrong, framework="numpy")
    with pytest.raises(TypeError):
        tensors.load("text")
    with pytest.raises(errors.InvalidArgument):
        tensors.save({"__metadata__": model["a"]})


def test_arguments_and_answers_of_safetensors(path, model):
    for device in [None, "cpu", "cpu:0"]:
        loaded = tensors.load_file(path, device, framework="numpy", backend="pread")
        assert all(same(loaded[name], array) for name, array in model.items())
        with tensors.safe_open(path, "np", device, backend="mmap") as file:
            assert file.keys() == sorted(model)
            assert sorted(file.offset_keys()) == sorted(model)
            assert all(same(array, model[name]) for name, array in file.get_tensors().items())
    if path.suffix == ".safetensors":
        with safetensors.safe_open(path, "np") as theirs:
            assert list(tensors.load_file(path, framework="numpy")) == theirs.offset_keys()
    for device in ["cuda:0", 0, "tpu"]:
        wanted = rf'not on {device!r} \(device\): name "cpu", or use torch with "cuda" or "cuda:N"$'
        with pytest.raises(errors.InvalidArgument, match=wanted):
            tensors.load_file(path, device, framework="numpy")


SLICES = [
    0, -1, slice(1, 3), slice(None, None, 7), (slice(None), slice(None, None, 3)), (..., 0), (3, 5),
    None, [0, 2], ..., slice(30, 99), slice(9, 3), (), (None, 0),
]  # fmt: skip


@pytest.mark.parametrize("index", SLICES, ids=str)
def test_slices_keep_no_more_than_they_show(path, model, index):
    with tensors.safe_open(path, "np") as file:
        part = file.get_slice("z")[index]
    assert same(part, model["z"][index])
    base = part
    while isinstance(base.base, np.ndarray):
        base = base.base
    assert base.nbytes == part.nbytes
    part[...] = 1  # nobody else's
    with tensors.safe_open(path, "np") as file:
        assert same(file.get_tensor("z"), model["z"])


def test_zero_copy_maps_the_file(tmp_path, model):
    path = tmp_path / "x.safetensors"
    safetensors.numpy.save_file(model, path)
    before = path.read_bytes()
    loaded = tensors.load_file(path, framework="numpy", zero_copy=True)
    owned = tensors.load_file(path, framework="numpy")
    for name, array in model.items():
        assert same(loaded[name], array) and same(owned[name], array)
    with open("/proc/self/maps") as maps:
        assert str(path) in maps.read()
    loaded["z"][:] = 7
    assert path.read_bytes() == before
    assert same(tensors.load_file(path, framework="numpy", zero_copy=True)["z"], model["z"])
    del loaded
    with open("/proc/self/maps") as maps:
        assert str(path) not in maps.read()


def test_zero_copy_of_what_cannot_be_mapped(tmp_path, model):
    header = b'{"a":{"dtype":"F32","shape":[3],"data_offsets":[0,12]}}'
    header += b" " * (-len(header) % 8 + 1)  # no float begins at a multiple of four
    path = tmp_path / "odd.safetensors"
    array = np.arange(3, dtype=np.float32)
    path.write_bytes(len(header).to_bytes(8, "little") + header + array.tobytes())
    loaded = tensors.load_file(path, framework="numpy", zero_copy=True)["a"]
    assert same(loaded, array) and loaded.flags.aligned
    tensors.save_file(model, tmp_path / "x.holo")
    loaded = tensors.load_file(tmp_path / "x.holo", framework="numpy", zero_copy=True)
    assert all(same(loaded[name], array) for name, array in model.items())


@pytest.mark.parametrize("zero_copy", [False, True])
def test_files_cut_off_while_open(tmp_path, model, zero_copy):
    path = tmp_path / "x.safetensors"
    safetensors.numpy.save_file(model, path)
    with tensors.safe_open(path, "np", zero_copy=zero_copy) as file:
        os.truncate(path, path.stat().st_size - 1)
        with pytest.raises(errors.Corrupt, match="get it again"):
            file.get_tensors()


def test_zero_copy_keeps_the_file_that_was_opened(tmp_path, model, monkeypatch):
    path = tmp_path / "x.safetensors"
    for change in ["unlinked", "replaced by a shorter one", "elsewhere"]:
        safetensors.numpy.save_file(model, path)
        monkeypatch.chdir(tmp_path)
        with tensors.safe_open("x.safetensors", "np", zero_copy=True) as file:
            if change == "unlinked":
                path.unlink()
            elif change == "elsewhere":
                monkeypatch.chdir("/")
            else:
                (tmp_path / "y").write_bytes(b"short")
                os.replace(tmp_path / "y", path)
            assert all(same(array, model[name]) for name, array in file.get_tensors().items()), change


def test_backends_are_those_of_safetensors(tmp_path, model):
    path = tmp_path / "x.safetensors"
    safetensors.numpy.save_file(model, path)
    assert set(tensors.load_file(path, framework="numpy", backend="pread")) == set(model)
    for call in [tensors.load_file, tensors.safe_open]:
        with pytest.raises(errors.InvalidArgument, match="backend"):
            call(path, framework="numpy", backend="zip")


def test_sharded_models(tmp_path, model):
    names = sorted(model)
    for number, part in enumerate([names[:3], names[3:]]):
        safetensors.numpy.save_file({n: model[n] for n in part}, tmp_path / f"{number}.safetensors")
    index = tmp_path / "model.safetensors.index.json"
    weight_map = {name: f"{int(i > 2)}.safetensors" for i, name in enumerate(names)}
    index.write_text(json.dumps({"weight_map": weight_map}))
    for zero_copy in [False, True]:
        for path in [index, tmp_path]:
            loaded = tensors.load_file(path, framework="numpy", zero_copy=zero_copy)
            assert loaded.keys() == model.keys()
            assert all(same(loaded[name], array) for name, array in model.items())
    (tmp_path / "1.safetensors").unlink()
    with pytest.raises(FileNotFoundError, match="1.safetensors"):
        tensors.load_file(index, framework="numpy")


@pytest.mark.parametrize("name", [b"\xff\xfe.holo", "ü😀.holo".encode()])
def test_paths_of_any_bytes(tmp_path, model, name):
    path = os.path.join(os.fsencode(tmp_path), name)
    for form in [path, os.fsdecode(path)]:
        tensors.save_file(model, form)
        assert os.listdir(os.fsencode(tmp_path)) == [name]
        assert all(same(a, model[n]) for n, a in tensors.load_file(form, framework="numpy").items())
        assert {about.name for about in tensors.info(form)} == set(model)
        with tensors.safe_open(form, "np") as file:
            assert file.metadata() is None
    plain = path + b".safetensors"
    with open(plain, "wb") as file:
        file.write(safetensors.numpy.save(model, metadata={"a": "b"}))
    for zero_copy in [False, True]:
        with tensors.safe_open(plain, "np", zero_copy=zero_copy) as opened:
            assert opened.metadata() == {"a": "b"}
            assert all(same(array, model[n]) for n, array in opened.get_tensors().items())
    os.truncate(path, 100)
    with pytest.raises(errors.Corrupt) as raised:
        tensors.load_file(path)
    assert os.fsdecode(name) in str(raised.value)


def test_no_path_holds_a_zero(tmp_path, model):
    for call in [
        lambda path: tensors.save_file(model, path),
        lambda path: tensors.load_file(path, framework="numpy"),
        lambda path: tensors.load_directory(path, framework="numpy"),
    ]:
        with pytest.raises(errors.InvalidArgument, match="zero"):
            call(f"{tmp_path}/x.holo\0y")
    assert not any(tmp_path.iterdir())


def test_archives_that_are_no_numpy_are_refused(tmp_path):
    path = tmp_path / "pytorch_model.bin"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02}.")
    with pytest.raises(errors.Unsupported, match="safetensors"):
        tensors.load_file(path, framework="numpy")
    np.savez(tmp_path / "none.npz")
    assert tensors.load_file(tmp_path / "none.npz", framework="numpy") == {}


def test_masked_arrays_do_not_lose_their_mask(tmp_path):
    path = tmp_path / "x.holo"
    masked = np.ma.masked_array(np.arange(4.0), mask=[0, 1, 0, 0])
    with pytest.raises(errors.Unsupported, match="masked"):
        tensors.save_file({"x": masked}, path)
    assert not path.exists()
    tensors.save_file({"x": np.ma.masked_array(np.arange(4.0)), "y": masked.filled(-1)}, path)
    loaded = tensors.load_file(path, framework="numpy")
    assert loaded["x"].tolist() == [0, 1, 2, 3]
    assert loaded["y"].tolist() == [0, -1, 2, 3]


def test_names_that_are_no_text(tmp_path):
    """GGUF's names may be any bytes."""
    name = b"\xff\xfe"
    file = struct.pack("<4sIQQQ", b"GGUF", 3, 1, 0, len(name)) + name
    file += struct.pack("<IQIQ", 1, 4, 0, 0)  # four floats, the first bytes of all tensors
    path = tmp_path / "x.gguf"
    path.write_bytes(file + bytes(-len(file) % 32 + 16))
    with pytest.raises(errors.Corrupt, match="UTF-8"):
        tensors.load_file(path, framework="numpy")


def test_what_cannot_be_saved_is_named(tmp_path, model):
    path = tmp_path / "x.holo"
    with pytest.raises(errors.Unsupported, match="layer.w"):
        tensors.save_file({"layer.w": np.array(["text"])}, path)
    for bad in [{"\ud800": np.ones(2)}, {"a": np.ones(2)}]:
        with pytest.raises(errors.InvalidArgument, match="UTF-8"):
            tensors.save_file(bad, path, metadata={"k": "\udcff"})
    for option in ["fragments", "parity", "seed"]:
        with pytest.raises(errors.InvalidArgument, match=option):
            tensors.save_file(model, path, **{option: -1})
    with pytest.raises(TypeError, match="by name"):
        tensors.save_file([np.ones(2)], path)
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("policy", [["*"], [("*",)], {1: 0.9}, {"*": "much"}, "*"], ids=str)
def test_rules_are_patterns_with_qualities(path, policy):
    with pytest.raises(TypeError, match="a rule is"):
        tensors.load_file(path, policy=policy, framework="numpy")


def test_folders(tmp_path, model):
    with pytest.raises(errors.NotFound, match="neither"):
        tensors.load_directory(tmp_path, framework="numpy")
    with pytest.raises(FileNotFoundError):
        tensors.load_directory(tmp_path / "none", framework="numpy")
    tensors.save_file(model, tmp_path / "x.holo")
    with pytest.raises(errors.IoError) as raised:
        tensors.load_directory(tmp_path / "x.holo", framework="numpy")
    assert isinstance(raised.value, OSError)
    safetensors.numpy.save_file({"a": np.ones(2)}, tmp_path / "y.safetensors")
    with pytest.raises(errors.InvalidArgument, match="'a'"):
        tensors.load_directory(tmp_path, framework="numpy")
    (tmp_path / "y.safetensors").unlink()
    (tmp_path / "z.hct").write_bytes(b"HCTN" + bytes(100))
    with pytest.raises(errors.Unsupported, match="HCTN"):
        tensors.load_directory(tmp_path, framework="numpy")


class FakeTensor:
    pass


class FakeTorch:
    Tensor = FakeTensor


def test_subclasses_of_torch_tensors_are_torch(monkeypatch):
    class Weight(FakeTensor):
        """Of a module that is not torch."""

    monkeypatch.setitem(sys.modules, "torch", FakeTorch)
    monkeypatch.setattr(_frameworks, "framework", lambda name: name)
    assert _frameworks.framework_of(Weight()) == "torch"
    assert _frameworks.framework_of(np.ones(2)) == "numpy"
    monkeypatch.delitem(sys.modules, "torch")
    assert _frameworks.framework_of(Weight()) == "numpy"


def test_the_interpreter_ends_while_a_model_loads(tmp_path):
    random = np.random.default_rng(1)
    path = tmp_path / "x.holo"
    tensors.save_file({f"w{i}": random.standard_normal((512, 512)) for i in range(24)}, path)
    program = (
        "import sys; from hoist.tensors import ProgressiveModel\n"
        "model = ProgressiveModel(sys.argv[1], steps=(0.5, 0.9, 0.99, None), framework='np')\n"
        "gone = ProgressiveModel(sys.argv[1], steps=(0.5, None), framework='np'); del gone"
    )
    for _ in range(3):
        command = [sys.executable, "-c", program, path]
        ended = subprocess.run(command, stderr=subprocess.PIPE, timeout=300)
        assert (ended.returncode, ended.stderr) == (0, b"")
