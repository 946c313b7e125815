"""hologram_ffi with what no one should give: empty tensors of any strides, huge shapes, tensors without
an address, numbers beyond all types."""

import ctypes
import gc
import json
import sys
import threading
import time

import hologram_ffi as hg
import numpy as np
import pytest
from dlpack_exchange import Api, Exchanged, Managed, from_object, taken

HUGE = 2**60


@pytest.fixture
def executor():
    handle = hg.new_executor()
    yield handle
    hg.executor_cleanup(handle)


def filled(executor, values):
    buffer = hg.executor_allocate_buffer(executor, len(values))
    np.asarray(hg.buffer_view(buffer))[:] = values
    return buffer


def test_views_without_elements_begin_where_their_tensor_does(executor):
    buffer = filled(executor, range(8))
    whole = hg.tensor_select(hg.tensor_from_buffer(buffer, "[2,4]"), 0, 1)
    long = hg.tensor_from_buffer_with_strides(buffer, "[1]", f"[{HUGE}]")
    empty = hg.tensor_from_buffer_with_strides(buffer, "[0,5]", f"[1,{HUGE}]")
    address = hg.buffer_as_ptr(executor, buffer)
    for tensor, offset in (
        (hg.tensor_narrow(long, 0, 1, 0), 0),
        (hg.tensor_slice(long, 0, 0, 0, 1), 0),
        (hg.tensor_select(empty, 1, 4), 0),
        (hg.tensor_narrow(empty, 1, 2, 3), 0),
        (hg.tensor_slice(empty, 1, 3, 5, 2), 0),
        (hg.tensor_narrow(whole, 0, 4, 0), 4),
        (hg.tensor_slice(whole, 0, 2, 1, 1), 4),
    ):
        assert hg.tensor_offset(tensor) == offset
        view = hg.tensor_view(tensor)
        assert 0 in view.shape and view.nbytes == 0
        assert view.__array_interface__["data"][0] == address + 4 * offset
        assert np.asarray(view).size == np.from_dlpack(view).size == 0
        assert hg.tensor_numel(hg.tensor_contiguous(executor, tensor)) == 0


@pytest.mark.parametrize("shape", [[HUGE, HUGE, 0], [0, HUGE, HUGE], [HUGE, 0, 4]])
def test_views_of_huge_empty_shapes(executor, shape):
    tensor = hg.tensor_from_buffer(filled(executor, range(3)), json.dumps(shape))
    view = hg.tensor_view(tensor)
    assert view.shape == tuple(shape) and view.nbytes == 0
    memory = memoryview(view)
    assert memory.nbytes == 0 and memory.shape == tuple(shape)
    assert memory.c_contiguous
    assert hg.buffer_length(hg.buffer_from_array(executor, view)) == 0


def test_json_numbers_are_those_of_python(executor):
    buffer = hg.executor_allocate_buffer(executor, 8)
    text = f"[0.5e400, -0.5e400, 1{'0' * 400}e-5, 0.{'0' * 400}1e5, 1e-400, -1e-400, 1e400, 2.5]"
    hg.buffer_copy_from_slice(executor, buffer, text)
    expected = np.array(json.loads(text), np.float32)
    found = np.asarray(hg.buffer_view(buffer))
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_arrays_come_by_the_exchange_api(executor):
    values = np.arange(6, dtype=np.float32)
    exchanged = Exchanged(values)
    buffer = hg.buffer_from_array(executor, exchanged)
    assert exchanged.views == 1 and len(taken) == 1
    hg.vector_add_f32(executor, buffer, buffer, buffer, 6)
    assert values.tolist() == [0, 2, 4, 6, 8, 10]
    hg.buffer_cleanup(buffer)
    assert not taken
    for wrong in (np.arange(3.0), np.ones(3, bool), values[::2]):
        with pytest.raises(TypeError, match="float32"):
            hg.buffer_from_array(executor, Exchanged(wrong))
    kept = np.zeros(3, np.float32)
    kept.flags.writeable = False
    buffer = hg.buffer_from_array(executor, Exchanged(kept))
    assert hg.buffer_as_mut_ptr(executor, buffer) == 0
    with pytest.raises(hg.InvalidOperation):
        hg.buffer_fill(executor, buffer, 1.0, 3)
    hg.buffer_cleanup(buffer)
    assert kept.tolist() == [0, 0, 0] and not taken


def own_api():
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype = ctypes.c_void_p
    pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    name = b"dlpack_exchange_api"
    return Api.from_address(pointer(hg.ArrayView.__dlpack_c_exchange_api__, name))


def test_empty_tensors_need_no_address():
    """As PyTorch's are that have no elements."""
    exchanged = Exchanged(np.ones((0, 3), np.float32))
    managed = ctypes.POINTER(Managed)()
    assert from_object(exchanged, ctypes.pointer(managed)) == 0
    managed.contents.tensor.data = None
    to_object = ctypes.PYFUNCTYPE(
        ctypes.c_int, ctypes.POINTER(Managed), ctypes.POINTER(ctypes.py_object)
    )(own_api().to_object)
    made = ctypes.py_object()
    assert to_object(managed, ctypes.byref(made)) == 0
    view = made.value
    ctypes.pythonapi.Py_DecRef(made)  # as its owner
    assert view.shape == np.asarray(view).shape == memoryview(view).shape == (0, 3)
    del view, made
    gc.collect()
    assert not taken


def test_products_of_short_rows_may_be_long(executor):
    """The interpreter's lock is released while a few elements meet a large matrix."""
    columns = 1 << 18
    a = hg.tensor_from_buffer(filled(executor, np.ones(64)), "[1,64]")
    b = hg.tensor_from_buffer(hg.executor_allocate_buffer(executor, 64 * columns), f"[64,{columns}]")
    counted = 0
    stop = False

    def count():
        nonlocal counted
        while not stop:
            counted += 1
            time.sleep(0)  # only here does it give the lock back

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1000)
    thread = threading.Thread(target=count)
    thread.start()
    try:
        for _ in range(100):
            before = counted
            product = hg.tensor_matmul(executor, a, b)
            after = counted
            hg.tensor_cleanup(product)
            if after != before:
                break
    finally:
        stop = True
        sys.setswitchinterval(interval)
        thread.join()
    assert after != before
