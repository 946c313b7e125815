"""hologram_ffi: arrays without copies, what keeps them alive, threads, processes, interpreters."""

import array
import ctypes
import gc
import multiprocessing
import os
import subprocess
import sys
import threading
import weakref

import hologram_ffi as hg
import numpy as np
import pytest


@pytest.fixture
def executor():
    handle = hg.new_executor()
    yield handle
    hg.executor_cleanup(handle)


def filled(executor, values):
    buffer = hg.executor_allocate_buffer(executor, len(values))
    np.asarray(hg.buffer_view(buffer))[:] = values
    return buffer


# Out, without a copy


def test_a_view_is_the_buffers_memory(executor):
    buffer = filled(executor, [1, 2, 3])
    view = hg.buffer_view(buffer)
    assert (len(view), view.shape, view.strides, view.nbytes) == (3, (3,), (4,), 12)
    assert view.readonly is False
    address = hg.buffer_as_ptr(executor, buffer)
    interface = view.__array_interface__
    assert interface == {"shape": (3,), "typestr": "<f4", "data": (address, False),
                         "strides": None, "version": 3}
    memory = memoryview(view)
    assert (memory.format, memory.itemsize, memory.shape, memory.readonly) == ("f", 4, (3,), False)
    memory[0] = 10.0
    for other in (np.asarray(view), np.from_dlpack(view), np.frombuffer(view, np.float32)):
        assert other.ctypes.data == address
        other[1] += 1
    hg.vector_neg_f32(executor, buffer, buffer, 3)
    assert memory.tolist() == [-10.0, -5.0, -3.0]


def test_tensors_are_seen_by_their_strides(executor):
    buffer = filled(executor, range(6))
    tensor = hg.tensor_transpose(hg.tensor_from_buffer(buffer, "[2,3]"))
    view = hg.tensor_view(tensor)
    assert view.__array_interface__["strides"] == (4, 12)
    for other in (np.asarray(view), np.from_dlpack(view), np.asarray(memoryview(view))):
        assert other.tolist() == [[0, 3], [1, 4], [2, 5]]
        assert np.shares_memory(other, np.asarray(hg.buffer_view(buffer)))
    with pytest.raises(BufferError, match="gaps|not C-contiguous"):
        np.frombuffer(view, np.float32)
    assert memoryview(view).f_contiguous and not memoryview(view).c_contiguous
    assert memoryview(view).tobytes(order="F") == bytes(np.arange(6, dtype=np.float32))
    assert np.asfortranarray(view).ctypes.data == np.asarray(view).ctypes.data
    scalar = hg.tensor_view(hg.tensor_from_buffer(buffer, "[]"))
    assert np.asarray(scalar).shape == () and np.from_dlpack(scalar) == 0
    with pytest.raises(TypeError, match="no length"):
        len(scalar)


def test_consumers_get_the_order_that_they_ask_for(executor):
    class Buffer(ctypes.Structure):
        _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.py_object), ("rest", ctypes.c_byte * 256)]

    get = ctypes.pythonapi.PyObject_GetBuffer
    get.argtypes = [ctypes.py_object, ctypes.POINTER(Buffer), ctypes.c_int]
    release = ctypes.pythonapi.PyBuffer_Release
    simple, strides, rows, columns, any_order = 0, 0x18, 0x38, 0x58, 0x98
    tensor = hg.tensor_from_buffer(filled(executor, range(6)), "[2,3]")
    gaps = hg.tensor_narrow(tensor, 1, 0, 2)
    for view, given, refused in [
        (hg.tensor_view(tensor), [simple, strides, rows, any_order], [columns]),
        (hg.tensor_view(hg.tensor_transpose(tensor)), [strides, columns, any_order], [simple, rows]),
        (hg.tensor_view(gaps), [strides], [simple, rows, columns, any_order]),
    ]:
        for flags in given:
            buffer = Buffer()
            assert get(view, ctypes.byref(buffer), flags) == 0
            release(ctypes.byref(buffer))
        for flags in refused:
            with pytest.raises(BufferError, match="gaps"):
                get(view, ctypes.byref(Buffer()), flags)


def test_empty_views(executor):
    view = hg.buffer_view(hg.executor_allocate_buffer(executor, 0))
    for other in (np.asarray(view), np.from_dlpack(view), memoryview(view)):
        assert other.shape == (0,)


@pytest.mark.parametrize("boundary", [False, True])
@pytest.mark.parametrize("see", [np.asarray, np.from_dlpack, memoryview, lambda view: view],
                         ids=["numpy", "dlpack", "memoryview", "view"])
def test_memory_outlives_buffer_and_executor(see, boundary):
    executor = hg.new_executor()
    if boundary:
        buffer = hg.executor_allocate_boundary_buffer(executor, 5, 48, 256)
    else:
        buffer = hg.executor_allocate_buffer(executor, 3072)
    seen = see(hg.buffer_view(buffer))
    hg.buffer_fill(executor, buffer, 5.0, 3072)
    hg.executor_cleanup(executor)
    hg.buffer_cleanup(buffer)
    gc.collect()
    # Memory that was freed would be given out, zeroed and written here.
    other = hg.new_executor()
    for _ in range(50):
        hg.buffer_fill(other, hg.executor_allocate_buffer(other, 3072), 9.0, 3072)
    values = np.asarray(seen)
    assert np.all(values == 5.0)
    values += 1
    assert np.all(values == 6.0)


def test_memory_is_zeroed_for_the_next_one(executor):
    for _ in range(20):
        buffer = hg.executor_allocate_buffer(executor, 1000)
        values = np.asarray(hg.buffer_view(buffer))
        assert not values.any()
        values[:] = 7
        hg.buffer_cleanup(buffer)


# DLPack's capsules


def pointer_of(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


def memory_in_use():
    with open("/proc/self/statm", encoding="ascii") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def test_capsules_have_the_name_of_their_version(executor):
    view = hg.buffer_view(filled(executor, [1, 2]))
    assert view.__dlpack_device__() == (1, 0)
    assert pointer_of(view.__dlpack__(), b"dltensor")
    assert pointer_of(view.__dlpack__(max_version=(0, 8)), b"dltensor")
    versioned = view.__dlpack__(max_version=(1, 0))
    major, minor = (ctypes.c_uint32 * 2).from_address(pointer_of(versioned, b"dltensor_versioned"))
    assert (major, minor) == (1, 0)
    with pytest.raises(BufferError, match="streams"):
        view.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="CPU's memory"):
        view.__dlpack__(dl_device=(2, 0))
    assert view.__dlpack__(dl_device=(1, 0), copy=False)


def test_copies_are_apart(executor):
    buffer = filled(executor, range(6))
    tensor = hg.tensor_transpose(hg.tensor_from_buffer(buffer, "[2,3]"))
    copy = np.from_dlpack(hg.tensor_view(tensor), copy=True)
    assert copy.tolist() == [[0, 3], [1, 4], [2, 5]]
    copy[:] = 9
    assert np.asarray(hg.buffer_view(buffer)).tolist() == list(range(6))


def test_capsules_that_are_dropped_or_exported_twice_leak_nothing():
    executor = hg.new_executor()
    n = 1 << 20

    def round_trip():
        buffer = hg.executor_allocate_buffer(executor, n)
        hg.buffer_fill(executor, buffer, 1.0, n)
        view = hg.buffer_view(buffer)
        dropped, twice = view.__dlpack__(), view.__dlpack__(max_version=(1, 0))
        first, second = np.from_dlpack(view), np.from_dlpack(view)
        hg.buffer_cleanup(buffer)
        del view, dropped, twice, first
        assert second[-1] == 1.0

    for _ in range(3):
        round_trip()
    before = memory_in_use()
    for _ in range(30):
        round_trip()
    assert memory_in_use() - before < 4 * n * 4, "30 buffers of 4 MiB were freed"
    hg.executor_cleanup(executor)


# DLPack's exchange API


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32),
                    ("manager", ctypes.c_void_p), ("deleter", DELETER), ("flags", ctypes.c_uint64),
                    ("tensor", Tensor)]
TO_MANAGED = ctypes.POINTER(ctypes.POINTER(Managed))
SET_ERROR = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p)


class Api(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("previous", ctypes.c_void_p),
        ("allocate", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Tensor), TO_MANAGED,
                                       ctypes.c_void_p, SET_ERROR)),
        ("from_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, TO_MANAGED)),
        ("to_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Managed),
                                        ctypes.POINTER(ctypes.py_object))),
        ("view_of_object", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object,
                                             ctypes.POINTER(Tensor))),
        ("current_stream", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_int32, ctypes.c_int32,
                                             ctypes.POINTER(ctypes.c_void_p))),
    ]


def exchange_api():
    capsule = hg.ArrayView.__dlpack_c_exchange_api__
    return Api.from_address(pointer_of(capsule, b"dlpack_exchange_api"))


def test_arrays_are_exchanged_by_functions_of_c(executor):
    api = exchange_api()
    assert api.major == 1 and not api.previous
    buffer = filled(executor, range(6))
    view = hg.tensor_view(hg.tensor_transpose(hg.tensor_from_buffer(buffer, "[2,3]")))
    seen = Tensor()
    assert api.view_of_object(view, ctypes.byref(seen)) == 0
    assert (seen.device_type, seen.code, seen.bits, seen.lanes) == (1, 2, 32, 1)
    assert seen.shape[:2] == [3, 2] and seen.strides[:2] == [1, 3]
    assert seen.data == hg.buffer_as_ptr(executor, buffer)
    managed = ctypes.POINTER(Managed)()
    assert api.from_object(view, ctypes.byref(managed)) == 0
    del view
    hg.buffer_cleanup(buffer)
    again = ctypes.py_object()
    assert api.to_object(managed, ctypes.byref(again)) == 0
    assert np.asarray(again.value).tolist() == [[0, 3], [1, 4], [2, 5]]
    ctypes.pythonapi.Py_DecRef(again)
    stream = ctypes.c_void_p(1)
    assert api.current_stream(1, 0, ctypes.byref(stream)) == 0 and not stream.value


def test_the_exchange_api_allocates_float32():
    api = exchange_api()
    shape = (ctypes.c_int64 * 2)(2, 3)
    told = []
    tell = SET_ERROR(lambda context, kind, message: told.append((kind, message)))
    prototype = Tensor(None, 1, 0, 2, 2, 32, 1, shape, None, 0)
    managed = ctypes.POINTER(Managed)()
    assert api.allocate(ctypes.byref(prototype), ctypes.byref(managed), None, tell) == 0
    assert managed.contents.tensor.shape[:2] == [2, 3]
    managed.contents.deleter(managed)
    prototype.bits = 64
    assert api.allocate(ctypes.byref(prototype), ctypes.byref(managed), None, tell) == -1
    assert told[0][0] == b"BufferError"


def test_tensors_of_other_types_are_refused(executor):
    torch = pytest.importorskip("torch")
    api = exchange_api()
    theirs = Api.from_address(
        pointer_of(torch.Tensor.__dlpack_c_exchange_api__, b"dlpack_exchange_api"))
    managed = ctypes.POINTER(Managed)()
    assert theirs.from_object(torch.zeros(3, dtype=torch.float64), ctypes.byref(managed)) == 0
    with pytest.raises(BufferError, match="float32"):
        api.to_object(managed, ctypes.byref(ctypes.py_object()))
    with pytest.raises(TypeError, match="float32"):
        hg.buffer_from_array(executor, torch.zeros(3, dtype=torch.float64))
    with pytest.raises(TypeError, match="float32"):
        hg.buffer_from_array(executor, torch.zeros(3, 3).T[:2])


# In, without a copy


@pytest.mark.parametrize("give", [
    lambda values: values, memoryview, lambda values: DlpackOnly(values),
], ids=["numpy", "memoryview", "dlpack"])
def test_arrays_are_computed_on_where_they_lie(executor, give):
    values = np.arange(5, dtype=np.float32)
    buffer = hg.buffer_from_array(executor, give(values))
    assert hg.buffer_length(buffer) == 5
    assert hg.buffer_as_ptr(executor, buffer) == values.ctypes.data
    hg.scalar_mul_f32(executor, buffer, buffer, 5, 2.0)
    assert values.tolist() == [0, 2, 4, 6, 8]
    matrix = hg.tensor_from_buffer(hg.buffer_from_array(executor, np.eye(3, dtype=np.float32)), "[3,3]")
    assert hg.tensor_numel(matrix) == 9


class DlpackOnly:
    def __init__(self, values):
        self.values = values

    def __dlpack__(self, **options):
        return self.values.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.values.__dlpack_device__()


def test_arrays_that_are_taken_in_are_kept_and_let_go(executor):
    class Array(np.ndarray):
        pass

    values = np.arange(4, dtype=np.float32).view(Array)
    gone = weakref.ref(values)
    buffer = hg.buffer_from_array(executor, values)
    view = hg.buffer_view(buffer)
    del values
    gc.collect()
    assert gone() is not None
    hg.buffer_cleanup(buffer)
    gc.collect()
    assert gone() is not None and np.asarray(view).tolist() == [0, 1, 2, 3]
    del view
    gc.collect()
    assert gone() is None


def test_a_buffer_goes_out_and_in_again(executor):
    buffer = filled(executor, [1, 2, 3])
    again = hg.buffer_from_array(executor, hg.buffer_view(buffer))
    hg.vector_add_f32(executor, buffer, again, buffer, 3)
    assert np.asarray(hg.buffer_view(again)).tolist() == [2, 4, 6]


def test_read_only_arrays_are_not_written(executor):
    values = np.arange(3, dtype=np.float32)
    values.flags.writeable = False
    buffer = hg.buffer_from_array(executor, values)
    out = filled(executor, [0, 0, 0])
    hg.vector_add_f32(executor, buffer, buffer, out, 3)
    assert np.asarray(hg.buffer_view(out)).tolist() == [0, 2, 4]
    for write in (
        lambda: hg.vector_add_f32(executor, out, out, buffer, 3),
        lambda: hg.reduce_sum_f32(executor, out, buffer, 3),
        lambda: hg.buffer_fill(executor, buffer, 1.0, 3),
        lambda: hg.buffer_copy(executor, out, buffer, 3),
        lambda: hg.buffer_copy_from_slice(executor, buffer, "[1,2,3]"),
        lambda: hg.buffer_copy_from_bytes(executor, buffer, bytes(12)),
        lambda: hg.buffer_canonicalize_all(executor, buffer),
    ):
        with pytest.raises(hg.InvalidOperation, match="is read-only"):
            write()
    assert hg.buffer_as_mut_ptr(executor, buffer) == 0
    view = hg.buffer_view(buffer)
    assert view.readonly and memoryview(view).readonly
    assert not np.asarray(view).flags.writeable and not np.from_dlpack(view).flags.writeable
    with pytest.raises(BufferError, match="DLPack 1.0"):
        view.__dlpack__()
    assert values.tolist() == [0, 1, 2]


def test_other_arrays_are_refused(executor):
    for wrong in (np.zeros(3), np.zeros(3, np.int32), np.zeros((3, 3), np.float32).T[:2], [1.0, 2.0],
                  array.array("d", [1.0]), None, 7):
        with pytest.raises(TypeError, match="float32"):
            hg.buffer_from_array(executor, wrong)


def test_arrays_that_overlap_are_computed_as_if_copied(executor):
    values = np.arange(100, dtype=np.float32)
    expected = values.copy()
    low = hg.buffer_from_array(executor, values[:-1])
    high = hg.buffer_from_array(executor, values[1:])
    hg.vector_add_f32(executor, low, low, high, 99)
    assert values[1:].tolist() == (2 * expected[:-1]).tolist()


# PyTorch


def test_pytorch_shares_the_memory(executor):
    torch = pytest.importorskip("torch")
    buffer = filled(executor, [1, 2, 3])
    tensor = torch.from_dlpack(hg.buffer_view(buffer))
    tensor += 1
    assert np.asarray(hg.buffer_view(buffer)).tolist() == [2, 3, 4]
    other = torch.zeros(2, 2)
    taken = hg.buffer_from_array(executor, other)
    hg.buffer_fill(executor, taken, 5.0, 4)
    assert other.tolist() == [[5, 5], [5, 5]]
    hg.executor_cleanup(executor)
    hg.buffer_cleanup(buffer)
    assert tensor.tolist() == [2, 3, 4]


# Threads, processes, interpreters


def test_threads(executor):
    n = 200_000
    a, b = filled(executor, np.ones(n)), filled(executor, np.full(n, 2.0))
    failures = []

    def work(seed):
        try:
            for i in range(30):
                out = hg.executor_allocate_buffer(executor, n)
                hg.vector_add_f32(executor, a, b, out, n)
                hg.tanh_f32(executor, out, out, n if i % 2 else 10)
                values = np.asarray(hg.buffer_view(out))
                assert values[0] == pytest.approx(np.tanh(3.0), rel=1e-6)
                hg.buffer_cleanup(out)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert hg.buffer_class_index(hg.executor_allocate_buffer(executor, 1)) == 2


def test_cleanup_while_others_compute():
    n = 1_000_000
    expected = [np.ones(n, np.float32)]
    executor = hg.new_executor()
    for _ in range(5):
        a = filled(executor, expected[-1])
        hg.gelu_f32(executor, a, a, n)
        expected.append(np.array(hg.buffer_view(a)))
        hg.buffer_cleanup(a)
    hg.executor_cleanup(executor)
    for _ in range(20):
        executor = hg.new_executor()
        a = filled(executor, expected[0])
        view = hg.buffer_view(a)
        done, errors = [], []

        def work(executor=executor, a=a, done=done, errors=errors):
            try:
                for i in range(5):
                    hg.gelu_f32(executor, a, a, n)
                    done.append(i)
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        hg.buffer_cleanup(a)
        hg.executor_cleanup(executor)
        thread.join()
        # What had begun was done as a whole; what came later found no handle.
        assert [type(one) for one in errors] == [hg.InvalidHandle] * (len(done) < 5)
        np.testing.assert_array_equal(np.asarray(view), expected[len(done)])
        with pytest.raises(hg.InvalidHandle):
            hg.gelu_f32(executor, a, a, n)


def child(executor, buffer, results):
    hg.vector_add_f32(executor, buffer, buffer, buffer, 3)
    own = hg.executor_allocate_buffer(executor, 10)
    results.put((np.asarray(hg.buffer_view(buffer)).tolist(), hg.buffer_length(own)))


def test_a_forked_child_has_a_copy(executor):
    buffer = filled(executor, [1, 2, 3])
    context = multiprocessing.get_context("fork")
    results = context.Queue()
    process = context.Process(target=child, args=(executor, buffer, results))
    process.start()
    assert results.get(timeout=60) == ([2, 4, 6], 10)
    process.join()
    assert process.exitcode == 0
    assert np.asarray(hg.buffer_view(buffer)).tolist() == [1, 2, 3]


SUBINTERPRETER = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
{first}
number = interpreters.create()
text = '''
import sys
sys.path[:] = {path!r}
try:
    import hologram_ffi
    hologram_ffi.new_executor()
except ImportError as error:
    print("refused:", error, flush=True)
'''
failed = interpreters.run_string(number, text)
assert failed is None, failed
"""


@pytest.mark.parametrize("first", ["", "import hologram_ffi"])
def test_subinterpreters_are_refused(first):
    text = SUBINTERPRETER.format(first=first, path=sys.path)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("refused: ")


def test_threads_may_work_when_the_interpreter_ends():
    text = """
import threading, numpy, hologram_ffi as hg
executor = hg.new_executor()
n = 3_000_000
a = hg.executor_allocate_buffer(executor, n)
kept = hg.buffer_from_array(executor, numpy.zeros(n, numpy.float32))
started = threading.Event()
def work():
    while True:
        hg.tanh_f32(executor, a, a, n)
        started.set()
threading.Thread(target=work, daemon=True).start()
started.wait()
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_importing_it_loads_neither_numpy_nor_hoist():
    text = "import sys, hologram_ffi; print([name for name in ('numpy', 'hoist') if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
