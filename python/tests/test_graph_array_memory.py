"""Memory that an array has from another: chains of any length, threads, alignment."""

import threading
import weakref

import numpy as np
import pytest

from hoist import errors, graph

LONG = 100_000


class Holder:
    """Has its array's memory, by the array interface."""

    def __init__(self, array):
        self.array = array

    @property
    def __array_interface__(self):
        return self.array.__array_interface__


IMPORTS = {
    "memoryview": lambda x: graph.asarray(memoryview(x)),
    "view": lambda x: graph.asarray(memoryview(x))[::1],
    "numpy": lambda x: graph.asarray(np.asarray(x)),
    "dlpack": lambda x: graph.from_dlpack(x),
    "numpy by dlpack": lambda x: graph.from_dlpack(np.from_dlpack(x)),
    "interface": lambda x: graph.asarray(Holder(x)),
}


def chain(imported, length):
    x = graph.asarray(np.arange(3.0))
    for _ in range(length):
        x = imported(x)
    return x


@pytest.mark.parametrize("name", IMPORTS)
def test_long_chains_of_imports_are_freed(name):
    first = np.arange(3.0)
    gone = weakref.ref(first)
    x = graph.asarray(first)
    del first
    for _ in range(LONG):
        x = IMPORTS[name](x)
    assert gone() is not None and x.tolist() == [0, 1, 2]
    del x
    assert gone() is None


def test_chains_of_several_kinds_that_threads_free():
    names = list(IMPORTS)

    def mixed(number):
        x = graph.asarray(np.arange(3.0))
        for i in range(LONG // 10):
            x = IMPORTS[names[(i * number) % len(names)]](x)
        held.append(x)

    held = []
    threads = [threading.Thread(target=mixed, args=(i,)) for i in (1, 5, 7)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    threads = [threading.Thread(target=held.pop) for _ in held]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not held


def test_many_chains_in_one_object_are_freed():
    made = [chain(IMPORTS["numpy"], 100) for _ in range(300)]
    gone = weakref.ref(made[0])
    owner = np.empty(len(made), object)
    owner[:] = [None] * len(made)
    for i, one in enumerate(made):
        owner[i] = one
    holder = Holder(graph.zeros(2))
    holder.others = owner, made
    x = graph.asarray(holder)
    del made, owner, holder, one
    assert gone() is not None
    del x
    assert gone() is None


# Alignment


def misaligned(dtype):
    data = bytearray(4 * np.dtype(dtype).itemsize + 1)
    return np.frombuffer(data, np.uint8)[1:].view(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int16", "uint32", "int64"])
def test_memory_across_alignment_is_refused_at_every_call(dtype):
    function = graph.compile(lambda x: x + x)
    aligned, bad = np.ones(4, dtype), misaligned(dtype)
    for _ in range(3):
        with pytest.raises(errors.Unsupported, match="alignment"):
            function(bad)
        np.testing.assert_array_equal(function(aligned), aligned + aligned)
        with pytest.raises(errors.Unsupported, match="alignment"):
            function(aligned, out=bad)
        with pytest.raises(errors.Unsupported, match="alignment"):
            graph.add(aligned, bad)
    np.testing.assert_array_equal(function(bad.copy()), bad + bad)


def test_bytes_and_arrays_without_elements_lie_anywhere():
    function = graph.compile(lambda x: x + x)
    for _ in range(3):
        assert function(misaligned("uint8")).tolist() == [0] * 4
        assert function(misaligned("float32")[:0]).shape == (0,)
