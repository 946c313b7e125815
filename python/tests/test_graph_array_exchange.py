"""hoist.graph.Array and others' arrays: no copies, nothing freed early, twice or never."""

import array
import ctypes
import gc
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import tracemalloc
import weakref

import hologram_ffi as hg
import ml_dtypes
import numpy as np
import pytest

from hoist import errors, graph

FORMATS = {
    "bool": "?", "int8": "b", "int16": "h", "int32": "i", "int64": "l", "uint8": "B",
    "uint16": "H", "uint32": "I", "uint64": "L", "float16": "e", "float32": "f", "float64": "d",
}  # fmt: skip


def address(x):
    return x.__array_interface__["data"][0]


# Out


@pytest.mark.parametrize("name", FORMATS)
def test_buffers_and_interfaces(name):
    x = graph.ones((2, 3), dtype=name)
    memory = memoryview(x)
    assert (memory.format, memory.shape, memory.strides) == (FORMATS[name], (2, 3), x.strides)
    assert (memory.nbytes, memory.itemsize, memory.readonly) == (x.nbytes, x.itemsize, False)
    interface = x.__array_interface__
    assert interface["strides"] is None and interface["data"] == (address(x), False)
    assert address(x) % 64 == 0
    assert np.dtype(interface["typestr"]) == name
    for other in (np.asarray(x), np.array(x, copy=False), np.from_dlpack(x), np.asarray(memory)):
        assert other.ctypes.data == address(x) and other.dtype == name and other.shape == (2, 3)
        other[0, 1] = 0
        assert x[0, 1].item() == 0
        x[0, 1] = 1
    assert x.T.__array_interface__["strides"] == (x.itemsize, 3 * x.itemsize)


def test_bfloat16_goes_to_numpy_by_its_package():
    x = graph.array([1.5, 2], dtype="bfloat16")
    other = np.asarray(x)
    assert other.dtype == ml_dtypes.bfloat16 and other.tolist() == [1.5, 2]
    other[0] = 3
    assert x.tolist() == [3, 2] and graph.array(other).dtype == "bfloat16"
    assert address(graph.array(other)._bits()) == other.ctypes.data
    assert not hasattr(x, "__array_interface__")
    with pytest.raises(BufferError, match="DLPack"):
        memoryview(x)


def test_numpy_computes_with_arrays():
    x = graph.array([1.0, 4.0])
    assert np.sqrt(x).tolist() == [1, 2] and np.sum(x) == 5 and np.mean(x) == 2.5
    assert np.array(x, dtype=np.float64).dtype == np.float64
    for result in (np.ones(2, np.float32) + x, x + np.ones(2, np.float32)):
        assert isinstance(result, graph.Array) and result.tolist() == [2, 5]


def requests(x):
    """What each kind of request for a buffer gives."""
    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.c_void_p, ctypes.c_int]
    release = ctypes.pythonapi.PyBuffer_Release
    release.argtypes = [ctypes.c_void_p]
    kinds = {"simple": 0, "writable": 1, "nd": 8, "strides": 0x18, "c": 0x38, "f": 0x58, "any": 0x98}
    answers = {}
    for name, flags in kinds.items():
        view = ctypes.create_string_buffer(256)
        try:
            get(x, view, flags)
        except (BufferError, ValueError):
            answers[name] = False
        else:
            answers[name] = True
            release(view)
    return answers


def test_requests_for_buffers_are_numpys():
    of_numpy = np.zeros((3, 4), np.float32)
    locked = np.zeros(3, np.float32)
    locked.flags.writeable = False
    for one in (of_numpy, of_numpy.T, of_numpy[:, ::2], of_numpy[::-1], of_numpy[:1], of_numpy[:0],
                of_numpy[0, 0:1], locked, of_numpy[..., 0]):  # fmt: skip
        assert requests(graph.array(one)) == requests(one)


def test_dlpack_keywords():
    x = graph.ones(3)
    assert x.__dlpack_device__() == (1, 0)
    assert "dltensor_versioned" in repr(x.__dlpack__(max_version=(1, 0)))
    assert '"dltensor"' in repr(x.__dlpack__()) and '"dltensor"' in repr(x.__dlpack__(max_version=(0, 8)))
    copy = np.from_dlpack(x, copy=True)
    assert copy.ctypes.data != address(x)
    assert np.from_dlpack(x, device="cpu").ctypes.data == address(x)
    for refused in ({"stream": 1}, {"dl_device": (2, 0)}, {"dl_device": (2, 0), "copy": False}):
        with pytest.raises(BufferError):
            x.__dlpack__(**refused)
    with pytest.raises(AttributeError, match="CPU"):
        x.__cuda_array_interface__  # noqa: B018


# In


def test_arrays_of_others_are_used_where_they_lie():
    of_numpy = np.arange(12, dtype=np.float32).reshape(3, 4)[::-1, ::2]
    for x in (graph.array(of_numpy), graph.from_dlpack(of_numpy), graph.asarray(memoryview(of_numpy))):
        assert np.asarray(x).ctypes.data == of_numpy.ctypes.data and x.strides == of_numpy.strides
        assert x.tolist() == of_numpy.tolist()
    of_python = array.array("d", [1, 2])
    graph.array(of_python)[0] = 5
    assert of_python[0] == 5
    executor = hg.new_executor()
    ours = graph.array([1.0, -2.0])
    taken = hg.buffer_from_array(executor, ours)
    hg.vector_abs_f32(executor, taken, taken, 2)
    assert ours.tolist() == [1, 2]
    view = hg.buffer_view(hg.executor_allocate_buffer(executor, 4))
    graph.from_dlpack(view)[1] = 7
    graph.asarray(view)[2] = 8
    assert np.asarray(view).tolist() == [0, 7, 8, 0]
    hg.executor_cleanup(executor)


class Interface:
    def __init__(self, **interface):
        self.__array_interface__ = {"version": 3, **interface}


def test_interfaces_of_others():
    memory = np.arange(8, dtype=np.int32)
    whole = Interface(shape=(2, 2), typestr="<i4", data=(memory.ctypes.data, True), strides=(16, 4))
    x = graph.array(whole)
    assert x.tolist() == [[0, 1], [4, 5]] and x.readonly
    with pytest.raises(errors.Unsupported, match="multiples"):
        graph.array(Interface(shape=(2,), typestr="<i4", data=(memory.ctypes.data, True), strides=(6,)))
    with pytest.raises(errors.Unsupported, match="alignment"):
        graph.array(Interface(shape=(1,), typestr="<i4", data=(memory.ctypes.data + 1, True)))
    for typestr in (">i4", "<c8", "|O8", "<i3", "<"):
        with pytest.raises(errors.Unsupported):
            graph.array(Interface(shape=(1,), typestr=typestr, data=(memory.ctypes.data, True)))


class Producer:
    """Of DLPack, before version 1 where it is old."""

    def __init__(self, array, is_old=False, device=(1, 0)):
        self.array, self.is_old, self.device = array, is_old, device

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **keywords):
        if self.is_old and keywords:
            raise TypeError("unexpected keyword")
        return self.array.__dlpack__(**keywords)


def test_producers_of_dlpack():
    of_numpy = np.arange(3)
    for is_old in (False, True):
        x = graph.from_dlpack(Producer(of_numpy, is_old))
        assert address(x) == of_numpy.ctypes.data
        assert address(graph.from_dlpack(Producer(of_numpy, is_old), copy=True)) != of_numpy.ctypes.data
    with pytest.raises(TypeError, match="__dlpack__"):
        graph.from_dlpack([1])
    with pytest.raises(errors.Unsupported, match="complex64|type 5, 64 bits"):
        graph.from_dlpack(np.ones(2, np.complex64))
    with pytest.raises(errors.Unsupported, match="at most 8"):
        graph.from_dlpack(np.ones((1,) * 9))
    capsule = of_numpy.__dlpack__()

    class Once:
        def __dlpack__(self, **_):
            return capsule

        def __dlpack_device__(self):
            return (1, 0)

    graph.from_dlpack(Once())
    with pytest.raises(ValueError):
        graph.from_dlpack(Once())


def test_pytorch_shares_memory():
    torch = pytest.importorskip("torch")
    tensor = torch.arange(6, dtype=torch.float32).reshape(2, 3)
    x = graph.from_dlpack(tensor)
    x[0, 0] = 9
    assert tensor[0, 0] == 9 and graph.array(tensor.T).shape == (3, 2)
    back = torch.from_dlpack(x)
    assert back.data_ptr() == tensor.data_ptr()
    assert torch.from_dlpack(graph.ones(2, dtype="bfloat16")).dtype == torch.bfloat16
    assert graph.array(torch.ones(2, dtype=torch.bfloat16)).dtype == "bfloat16"


# What keeps what


def test_every_view_keeps_the_memory():
    x = graph.arange(1000, dtype="float64")
    kept = [x[3:], x.T, x.reshape(10, 100), memoryview(x), np.asarray(x), np.from_dlpack(x)]
    kept += [graph.from_dlpack(x), graph.array(np.asarray(x))]
    versioned = x.__dlpack__(max_version=(1, 0))
    gone = weakref.ref(x)
    del x
    gc.collect()
    assert gone() is not None  # buffers keep the object itself
    others = [graph.full(1000, -1.0, dtype="float64") for _ in range(20)]
    for one in kept:
        assert np.asarray(one).ravel()[-1] == 999
    del versioned, others, one
    random.shuffle(kept)
    while kept:
        assert np.asarray(kept[-1]).ravel()[-1] == 999
        kept.pop()
    gc.collect()
    assert gone() is None


def test_memory_goes_once_to_the_next():
    """Two arrays at the same time never have the same memory, whoever dropped it."""
    for _ in range(200):
        x = graph.full(100, 1.0)
        views = [x[1:], np.from_dlpack(x), x.__dlpack__(), memoryview(x)]
        del x
        random.shuffle(views)
        del views[0]
        new = [graph.full(100, 2.0) for _ in range(6)]
        assert len({address(one) for one in new}) == 6
        for one in views:
            if hasattr(one, "tolist"):
                assert set(one.tolist()) == {1.0}


def test_producers_live_as_long_as_their_memory():
    class Owner(np.ndarray):
        pass

    for take in (graph.array, graph.from_dlpack, lambda one: graph.array(memoryview(one))):
        owner = np.arange(4.0).view(Owner)
        gone = weakref.ref(owner)
        x = take(owner)
        part, other = x[1:], np.asarray(x[2:])
        del owner, x
        gc.collect()
        assert part.tolist() == [1, 2, 3] and other.tolist() == [2, 3]
        del part
        gc.collect()
        assert other.tolist() == [2, 3]
        del other
        gc.collect()
        assert gone() is None


def test_references_come_back():
    of_numpy = np.ones(10, np.float32)
    x = graph.ones(10)
    before = sys.getrefcount(of_numpy), sys.getrefcount(x), sys.getrefcount(graph.Array)
    for _ in range(100):
        graph.array(of_numpy)[2:].T + 1
        graph.from_dlpack(of_numpy).tolist()
        x.__dlpack__(), x.__dlpack__(max_version=(1, 0)), memoryview(x), x.__array_interface__
        np.from_dlpack(x), x + x, x[1:], x.reshape(2, 5), x == x, list(x), graph.add(x, x, out=x)
        for nothing in (lambda: graph.array(np.ones(1, complex)), lambda: x["a"], lambda: x + "a",
                        lambda: graph.from_dlpack(np.ones(1, complex)), lambda: x.__dlpack__(stream=1)):
            with pytest.raises(Exception):  # noqa: B017
                nothing()
    gc.collect()
    assert (sys.getrefcount(of_numpy), sys.getrefcount(x)) == before[:2]
    # Objects that wait for the next arrays keep no reference of the type.
    assert sys.getrefcount(graph.Array) <= before[2] + 2


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_memory_does_not_grow():
    def once():
        x = graph.ones(1 << 18)
        views = [x[1:], np.from_dlpack(x), x.__dlpack__(), x.__dlpack__(max_version=(1, 0))]
        random.shuffle(views)
        graph.from_dlpack(np.ones(1 << 18, np.float32)), x + x, graph.array(x, dtype="float64")
        del x

    for _ in range(10):
        once()
    gc.collect()
    before = resident()
    for _ in range(200):
        once()
    gc.collect()
    assert resident() - before < 32 << 20


def test_objects_do_not_pile_up():
    def often(times):
        x = graph.ones((3, 4))
        for _ in range(times):
            capsule, view = x.__dlpack__(), x.T[1:]
            np.from_dlpack(view), memoryview(view), view + 1, graph.add(x, x), x.tolist(), capsule
            graph.from_dlpack(np.ones(3)), graph.array([1, 2]), graph.sum(x, axis=0), repr(x.dtype)
        gc.collect()

    tracemalloc.start()
    try:
        often(50)
        before = tracemalloc.get_traced_memory()[0]
        often(500)
        assert tracemalloc.get_traced_memory()[0] - before < 32 << 10
    finally:
        tracemalloc.stop()


def test_consumers_drop_without_the_interpreters_lock():
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    rename = ctypes.pythonapi.PyCapsule_SetName
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = b"used_dltensor"
    owners = [np.full(1000, i, np.float32) for i in range(40)]
    gone = [weakref.ref(one) for one in owners]
    tensors = []
    for one in owners:
        capsule = graph.array(one).__dlpack__()
        tensors.append(get(capsule, b"dltensor"))
        rename(capsule, name)
    del owners, one, capsule
    assert all(one() is not None for one in gone)

    def drop(tensors):
        for tensor in tensors:
            # DLManagedTensor: 48 bytes of a DLTensor, a pointer, the deleter. ctypes releases the lock.
            deleter = ctypes.c_void_p.from_address(tensor + 56).value
            ctypes.CFUNCTYPE(None, ctypes.c_void_p)(deleter)(tensor)

    threads = [threading.Thread(target=drop, args=(tensors[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(one() is None for one in gone)


def test_threads_share_arrays():
    x = graph.ones((64, 64))
    failed = []

    def work(seed):
        order = random.Random(seed)
        try:
            for _ in range(300):
                mine = graph.full((order.randrange(1, 200),), float(seed))
                capsule, view = mine.__dlpack__(), mine[::2]
                got = graph.from_dlpack(np.asarray(mine)) + x[0, 0]
                assert set(got.tolist()) == {seed + 1.0} and set(view.tolist()) == {float(seed)}
                assert (x @ x)[0, 0].item() == 64
                del capsule
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def child(connection, x):
    y = graph.ones(100) + x
    x[0] = 5
    connection.send((y.tolist()[:2], x.tolist()[:2]))


def test_a_child_goes_on_with_its_own_copy():
    x = graph.ones(100)
    graph.ones(100) + x
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe()
    process = context.Process(target=child, args=(theirs, x))
    process.start()
    assert ours.recv() == ([2, 2], [5, 1])
    process.join()
    assert process.exitcode == 0 and x[0].item() == 1


def test_arrays_may_outlive_the_interpreter():
    text = """
import sys, threading
import numpy as np
from hoist import graph
x = graph.ones(10)
sys.kept = [x, np.from_dlpack(x), graph.array(np.ones(3)), x.__dlpack__(), memoryview(x), graph.add]
def work():
    while True:
        graph.from_dlpack(np.ones(1 << 19, np.float32)) + graph.ones(1 << 19)
for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
x + x
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
