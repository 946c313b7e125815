"""hoist.safetensors by itself and beside safetensors: names, bytes, slices, errors, laziness."""

import ast
import importlib.util
import inspect
import os
import pathlib
import pickle
import subprocess
import sys

import numpy as np
import pytest
import safetensors as peer
import safetensors.numpy as peer_numpy

import hoist.safetensors as safetensors
from hoist import errors, tensors
from hoist.safetensors import SafetensorError, TensorSpec, safe_open
from hoist.safetensors.numpy import load, load_file, save, save_file


@pytest.fixture
def model():
    random = np.random.default_rng(20261126)
    return {
        "z": random.standard_normal((40, 64)).astype(np.float32),
        "a": np.arange(6, dtype=np.int64),
        "nothing": np.zeros((0, 4), np.float64),
        "h": np.array(0.5, np.float16),
        "flags": np.array([True, False, True]),
        "c": np.ones((2, 3), np.complex64),
        "ü": np.arange(5, dtype=np.uint8),
    }


@pytest.fixture
def path(tmp_path, model):
    path = tmp_path / "x.safetensors"
    peer_numpy.save_file(model, path, metadata={"format": "np"})
    return path


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def same_all(found, wanted):
    return found.keys() == wanted.keys() and all(same(found[name], wanted[name]) for name in wanted)


def specs_of(module, arrays):
    return {
        name: module.TensorSpec(
            dtype=array.dtype.name, shape=array.shape, data_ptr=array.ctypes.data, data_len=array.nbytes
        )
        for name, array in arrays.items()
    }


def test_it_has_what_the_peer_has():
    public = {name for name in dir(peer) if not name.startswith("_")}
    public -= {"numpy", "torch", "flax", "tensorflow", "mlx", "paddle"}  # loaded by somebody
    assert public <= set(dir(safetensors))
    assert safetensors.__version__ == peer.__version__
    assert {"load", "load_file", "save", "save_file"} <= set(dir(peer_numpy))


MODULES = ["", ".numpy", ".flax", ".mlx", ".tensorflow", ".torch"]


def functions_of(module):
    if module == ".torch":
        pytest.importorskip("torch")
    ours = importlib.import_module(f"hoist.safetensors{module}")
    public = [name for name in ours.__all__ if inspect.isroutine(getattr(ours, name))]
    assert len(public) >= 3
    return [getattr(ours, name) for name in public]


@pytest.mark.parametrize("module", MODULES)
def test_functions_can_be_pickled(module):
    for function in functions_of(module):
        assert pickle.loads(pickle.dumps(function)) is function
        with pytest.raises(TypeError) as raised:
            function(no_such_argument=1)
        assert "<locals>" not in str(raised.value)
        assert function.__qualname__ == function.__name__


@pytest.mark.parametrize("module", MODULES[1:])
def test_arguments_have_the_peers_names(module):
    source = pathlib.Path(peer.__file__).with_name(f"{module[1:]}.py").read_text()
    theirs = {
        node.name: [argument.arg for argument in (*node.args.args, *node.args.kwonlyargs)]
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef)
    }
    for function in functions_of(module):
        assert list(inspect.signature(function).parameters) == theirs[function.__name__]


def test_importing_hoist_loads_neither(tmp_path):
    program = (
        "import sys, hoist, hoist.tensors\n"
        "assert not [name for name in sys.modules if 'safetensors' in name.split('.')]\n"
        "import hoist.safetensors\n"
        "assert not {'torch', 'jax', 'tensorflow', 'mlx'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_it_works_without_the_peer(path):
    program = (
        "import sys; sys.modules['safetensors'] = None\n"
        "from hoist.safetensors import SafetensorError, safe_open\n"
        "assert SafetensorError.__mro__[2:] == (Exception, BaseException, object)\n"
        "print(safe_open(sys.argv[1], 'np').get_tensor('a').tolist())"
    )
    done = subprocess.run([sys.executable, "-c", program, path], check=True, capture_output=True)
    assert done.stdout == b"[0, 1, 2, 3, 4, 5]\n"


def test_bytes_and_files_are_the_peers(tmp_path, model):
    for metadata in (None, {}, {"licence": "für alle"}):
        assert save(model, metadata) == peer_numpy.save(model, metadata)
        save_file(model, tmp_path / "ours", metadata=metadata)
        peer_numpy.save_file(model, tmp_path / "theirs", metadata=metadata)
        assert (tmp_path / "ours").read_bytes() == (tmp_path / "theirs").read_bytes()
        assert same_all(load((tmp_path / "theirs").read_bytes()), model)
        assert same_all(peer_numpy.load_file(tmp_path / "ours"), model)
        for backend in ("mmap", "pread"):
            loaded = load_file(tmp_path / "theirs", backend=backend)
            assert same_all(loaded, model)
            assert list(loaded) == list(peer_numpy.load_file(tmp_path / "theirs"))
    assert load(save({})) == {}


def test_many_tensors_larger_and_smaller_than_what_is_written_together(tmp_path):
    sizes = [0, 1, 70_000, 3, 65_536, 65_537, 0, 12, 1 << 20] + [100] * 2000
    arrays = {f"{i:05}": np.full(size, i % 251, np.uint8) for i, size in enumerate(sizes)}
    save_file(arrays, tmp_path / "x.safetensors")
    assert (tmp_path / "x.safetensors").read_bytes() == peer_numpy.save(arrays)
    loaded = load_file(tmp_path / "x.safetensors")
    assert same_all(loaded, arrays)
    for array in loaded.values():
        array[...] = 255  # nobody else's
    assert same_all(load_file(tmp_path / "x.safetensors"), arrays)


def test_arrays_that_are_not_rows_are_saved_as_what_they_are(model):
    arrays = {"turned": model["z"].T, "every second": model["a"][::2], "big": np.arange(3, dtype=">i4")}
    loaded = load(save(arrays))
    assert all(np.array_equal(loaded[name], array) for name, array in arrays.items())


def test_specs_describe_memory(tmp_path, model):
    ours, theirs = specs_of(safetensors, model), specs_of(peer, model)
    assert safetensors.serialize(ours, {"a": "b"}) == peer.serialize(theirs, {"a": "b"})
    safetensors.serialize_file(ours, tmp_path / "x")
    assert (tmp_path / "x").read_bytes() == peer.serialize(theirs)
    for name, spec in ours.items():
        for field in ("dtype", "shape", "data_ptr", "data_len"):
            assert getattr(spec, field) == getattr(theirs[name], field)
            with pytest.raises(AttributeError):
                setattr(spec, field, 1)
    pairs = TensorSpec(dtype="float4_e2m1fn_x2", shape=[2, 3], data_ptr=0, data_len=6)
    assert (pairs.dtype, pairs.shape) == ("F4", [2, 6])
    array = model["a"]
    short = TensorSpec(dtype="int64", shape=[7], data_ptr=array.ctypes.data, data_len=array.nbytes)
    with pytest.raises(SafetensorError, match="56 bytes, not 48"):
        safetensors.serialize({"a": short})
    for wrong in ({"a": {"dtype": "int64"}}, [short], {1: short}):
        with pytest.raises(TypeError):
            safetensors.serialize(wrong)
    with pytest.raises(SafetensorError, match="nonsense"):
        TensorSpec(dtype="nonsense", shape=[1], data_ptr=0, data_len=0)


def test_deserialize_gives_what_the_peer_gives(path):
    ours = dict(safetensors.deserialize(path.read_bytes()))
    assert ours == dict(peer.deserialize(path.read_bytes()))
    assert all(type(about["data"]) is bytearray for about in ours.values())


def test_safe_open_answers_as_the_peer(path, model):
    with safe_open(path, framework="np") as ours, peer.safe_open(path, framework="np") as theirs:
        for call in ("keys", "offset_keys", "metadata"):
            assert getattr(ours, call)() == getattr(theirs, call)()
        assert same_all(ours.get_tensors(), theirs.get_tensors())
        for name in model:
            assert same(ours.get_tensor(name), theirs.get_tensor(name))
            assert ours.get_slice(name).get_shape() == theirs.get_slice(name).get_shape()
            assert ours.get_slice(name).get_dtype() == theirs.get_slice(name).get_dtype()
    with open(path, "rb") as file, safetensors._safe_open_handle(file, framework="numpy") as ours:
        assert same_all(ours.get_tensors(), model)
    with pytest.raises(AttributeError):
        safetensors._safe_open_handle("x", framework="np")


INDICES = [
    0, -1, slice(1, 3), slice(None), (slice(None), slice(3, 5)), (3, 5), (), [], (slice(2, 40), -64),
]  # fmt: skip
# The peer may refuse these.
MORE = [
    slice(None, None, 7), (slice(5, 30, 6), slice(0, 64, 63)), ..., (..., 0), (0, ...), (slice(9), ..., 3),
    np.int64(3), np.array(3), slice(np.int64(2), np.int64(4)), None, (None, 0), slice(-3, None),
    slice(None, -1), slice(9, 3), slice(9, 3, -2), (0, 0, ...), (0, None, slice(4, None, 5)),
    slice(3, None, 2**70), slice(3, None, -(2**70)),
]  # fmt: skip


def part_by(module, path, index):
    with module.safe_open(path, framework="np") as file:
        return file.get_slice("z")[index]


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_slices(path, model, index):
    part = part_by(safetensors, path, index)
    assert same(part, model["z"][index]) and same(part, part_by(peer, path, index))


@pytest.mark.parametrize("index", MORE, ids=str)
def test_slices_that_not_every_peer_takes(path, model, index):
    part = part_by(safetensors, path, index)
    assert same(part, model["z"][index])
    try:
        theirs = part_by(peer, path, index)
    except (peer.SafetensorError, OverflowError, SystemError):
        return
    assert same(part, theirs)


def refusal_by(module, path, index):
    with pytest.raises(module.SafetensorError) as raised:
        part_by(module, path, index)
    return raised.value


@pytest.mark.parametrize(
    "index",
    [
        (slice(None), -65), (0, 64), 40, slice(None, 41), slice(40, 41), (0, slice(1, 99)), [0], [1.0], ["a"],
        [np.arange(2)], (..., ...), (..., 0, ...), (0, 0, 0), (0, slice(3), ..., slice(None, None, 2)),
        slice(0, 50, 7), (..., 64),
    ],
    ids=str,
)  # fmt: skip
def test_slices_that_the_peer_refuses(path, index):
    assert str(refusal_by(safetensors, path, index)) == str(refusal_by(peer, path, index))


@pytest.mark.parametrize(
    "index",
    [
        1.0, "a", (0, "a"), (slice(None), [0, 1]), (slice(None), []), np.arange(2), (np.arange(2), 0),
        np.array(True), np.True_, np.array(1.0), {}, (0, (1,)), range(2), slice(None, None, 0), 2**70,
    ],
    ids=str,
)  # fmt: skip
def test_what_is_no_index(path, index):
    assert isinstance(refusal_by(safetensors, path, index), IndexError)
    refusal_by(peer, path, index)


def test_a_scalar_has_no_indices(path):
    for index in (0, [], slice(None), (..., 0)):
        messages = []
        for module in (safetensors, peer):
            with module.safe_open(path, framework="np") as file:
                assert file.get_slice("h")[...] == file.get_slice("h")[()] == 0.5
                with pytest.raises(module.SafetensorError) as raised:
                    file.get_slice("h")[index]
            messages.append(str(raised.value))
        assert messages[0] == messages[1]


@pytest.mark.parametrize("end", [1.0, "a", []], ids=str)
def test_ends_of_slices_that_are_no_integers(path, end):
    for module in (safetensors, peer):
        with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
            part_by(module, path, slice(end, None))


@pytest.mark.parametrize(
    "index, is_like", [(True, 1), ((slice(3), False), (slice(3), 0)), (slice(True, 4), slice(1, 4))]
)
def test_true_is_one(path, model, index, is_like):
    for module in (safetensors, peer):
        assert same(part_by(module, path, index), model["z"][is_like])


@pytest.mark.parametrize("framework", ["np", "pt"])
@pytest.mark.parametrize("backend", ["mmap", "pread"])
def test_slices_outlive_the_file_that_gave_them(path, model, framework, backend):
    if framework == "pt":
        pytest.importorskip("torch")
    for module in (safetensors, peer):
        with module.safe_open(path, framework=framework, backend=backend) as file:
            part = file.get_slice("z")
        del file
        path.rename(path.with_name("elsewhere"))
        assert same(np.asarray(part[1:]), model["z"][1:])
        assert (part.get_shape(), part.get_dtype()) == ([40, 64], "F32")
        path.with_name("elsewhere").rename(path)
    with pytest.raises(TypeError):
        pickle.dumps(part)


def bytes_read():
    """By this process, through system calls."""
    with open("/proc/self/io") as file:
        return int(file.readline().split()[1])


def sparse_file(path, shape):
    """A file whose one tensor is a hole; gives where it begins."""
    size = int(np.prod(shape)) * 4
    header = f'{{"w":{{"dtype":"F32","shape":{list(shape)},"data_offsets":[0,{size}]}}}}'.encode()
    header += b" " * (-len(header) % 8)
    with open(path, "wb") as file:
        file.write(len(header).to_bytes(8, "little") + header)
        file.truncate(8 + len(header) + size)
    return 8 + len(header)


@pytest.mark.skipif(not os.access("/proc/self/io", os.R_OK), reason="no /proc/self/io")
@pytest.mark.parametrize("framework", ["np", "pt"])
@pytest.mark.parametrize(
    "index, bytes_of_it",
    [
        (5, 4 << 20),
        (slice(3, 5), 8 << 20),
        (slice(None, None, 1 << 13), 32 << 20),
        ((-1, slice(-7, None, 2)), 28),
        ((..., None, 0), (1 << 16) * 4096),
        ((7, ..., slice(0, 8)), 32),
    ],
)
def test_of_a_file_of_256_gib_a_slice_reads_what_it_takes(tmp_path, framework, index, bytes_of_it):
    if framework == "pt" and importlib.util.find_spec("torch") is None:
        pytest.skip("no PyTorch")
    shape = (1 << 16, 1 << 20)
    if index == (..., None, 0):
        shape = (1 << 10, 1 << 20)
        bytes_of_it = (1 << 10) * 4096  # a page of each row
    start = sparse_file(tmp_path / "x.safetensors", shape)
    with safe_open(tmp_path / "x.safetensors", framework=framework, backend="pread") as file:
        with open(tmp_path / "x.safetensors", "r+b") as raw:
            raw.seek(start + 4 * (5 << 20))
            raw.write(np.float32(7).tobytes())
        before = bytes_read()
        part = file.get_slice("w")[index]
        assert bytes_read() - before <= bytes_of_it + (64 << 10)
        if index == 5:
            assert part[0] == 7 and not part[1:].any()


@pytest.mark.parametrize("framework", ["np", "pt"])
def test_a_mapped_slice_takes_no_more_memory_than_it_shows(tmp_path, framework):
    """A whole tensor of 64 GiB would not fit."""
    if framework == "pt" and importlib.util.find_spec("torch") is None:
        pytest.skip("no PyTorch")
    sparse_file(tmp_path / "x.safetensors", (1 << 14, 1 << 20))
    with safe_open(tmp_path / "x.safetensors", framework=framework) as file:
        assert file.get_slice("w")[:: 1 << 12, :10].shape == (4, 10)
        assert file.get_slice("w")[-1, ..., -3:].shape == (3,)


def test_errors_are_the_peers_and_hoists(tmp_path, path):
    assert issubclass(SafetensorError, peer.SafetensorError)
    assert issubclass(SafetensorError, errors.Error)
    (tmp_path / "bad").write_bytes(path.read_bytes()[:-1])
    closed = safe_open(path, framework="np")
    with closed:
        pass
    cases = [
        (errors.Corrupt, lambda: safe_open(tmp_path / "bad", framework="np")),
        (errors.Corrupt, lambda: load(b"short")),
        (errors.NotFound, lambda: safe_open(path, framework="np").get_tensor("none")),
        (errors.NotFound, lambda: safe_open(path, framework="np").get_slice("none")),
        (errors.InvalidArgument, closed.keys),
        (errors.InvalidArgument, lambda: safe_open(path, framework="np", device="cuda:0")),
        (errors.InvalidArgument, lambda: safe_open(path, framework="auto")),
        (errors.InvalidArgument, lambda: load_file(path, backend="zip")),
        (errors.InvalidArgument, lambda: save({"__metadata__": np.ones(1)})),
        (errors.Unsupported, lambda: save({"a": np.array(["text"])})),
        (errors.FileNotFound, lambda: save_file({"a": np.ones(1)}, tmp_path / "none" / "x")),
        (errors.InvalidArgument, lambda: save_file({"a": np.ones(1)}, tmp_path)),
    ]
    for kind, call in cases:
        with pytest.raises(peer.SafetensorError) as raised:
            call()
        assert isinstance(raised.value, kind) and isinstance(raised.value, SafetensorError)
        assert str(raised.value)
    with pytest.raises(FileNotFoundError) as raised:
        load_file("/nowhere/x")
    assert not isinstance(raised.value, SafetensorError)
    assert str(raised.value) == "No such file or directory: /nowhere/x"
    assert raised.value.errno == 2 and raised.value.filename == "/nowhere/x"
    for wrong in (lambda: save([np.ones(1)]), lambda: save({1: np.ones(1)}), lambda: load("text")):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize("metadata", ["ab", [("a", "b")], 5, {"a": 1}, {1: "a"}], ids=str)
def test_metadata_are_texts_by_text(tmp_path, metadata):
    calls = [
        lambda: save({}, metadata),
        lambda: save_file({}, tmp_path / "x", metadata),
        lambda: safetensors.serialize({}, metadata),
        lambda: safetensors.serialize_file({}, tmp_path / "x", metadata),
        lambda: tensors.save({}, metadata),
        lambda: tensors.save_file({}, tmp_path / "x", metadata),
        lambda: peer_numpy.save({}, metadata),
    ]
    for call in calls:
        with pytest.raises(TypeError, match="metadata"):
            call()
    assert not (tmp_path / "x").exists()


def test_an_open_file_is_not_copied(path):
    with safe_open(path, framework="np") as file, pytest.raises(TypeError):
        pickle.dumps(file)


def test_holo_files_are_read_too(tmp_path, model):
    tensors.save_file(model, tmp_path / "x.holo", metadata={"a": "b"})
    assert same_all(load_file(tmp_path / "x.holo"), model)
    with safe_open(tmp_path / "x.holo", framework="np") as file:
        assert file.metadata() == {"a": "b"}
        assert same(file.get_slice("z")[3:5, 1], model["z"][3:5, 1])


@pytest.mark.parametrize("name, module", [("flax", "jax"), ("tensorflow", "tensorflow"), ("mlx", "mlx")])
def test_other_frameworks(tmp_path, path, name, module):
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"no {module}")
    ours = importlib.import_module(f"hoist.safetensors.{name}")
    loaded = ours.load_file(path)
    arrays = {key: np.asarray(array) for key, array in loaded.items()}
    ours.save_file(loaded, tmp_path / "again")
    assert same_all(load_file(tmp_path / "again"), arrays)
    assert ours.save(loaded) == (tmp_path / "again").read_bytes()
    kind = type(loaded["z"])
    assert isinstance(ours.load(path.read_bytes())["z"], kind)
    with safe_open(path, framework=name) as file:
        assert isinstance(file.get_tensor("z"), kind)
        part = file.get_slice("z")[1:3, ::5]
        assert isinstance(part, kind) and np.array_equal(np.asarray(part), arrays["z"][1:3, ::5])
