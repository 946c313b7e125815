"""hoist.graph with arguments that no one should give, and some that look alike: refused with a
reason, or done right; never with wrong values."""

import dataclasses
import functools
import gc
import threading
import time

import numpy as np
import pytest
from dlpack_exchange import DlpackAlone, Exchanged, taken

from hoist import errors, graph


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


@dataclasses.dataclass(frozen=True)
class Settings:
    scale: float
    name: str = "settings"


ZEROS = [
    float,
    np.float16,
    np.float32,
    np.float64,
    Settings,
    lambda zero: Settings(np.float32(zero)),
    lambda zero: (1, (zero,)),
    lambda zero: {"a": [zero]},
    lambda zero: {zero: 1},
    lambda zero: {(zero, 1): 1},
    lambda zero: frozenset([zero]),
]


def first_number(value):
    if isinstance(value, Settings):
        return value.scale
    if isinstance(value, dict):
        return first_number(next(iter(value.values() if "a" in value else value)))
    if isinstance(value, (tuple, list, frozenset)):
        return first_number([one for one in value if one != 1][0])
    return value


@pytest.mark.parametrize("made", ZEROS)
def test_zeros_of_both_signs_are_two_values(made):
    function = graph.compile(lambda x, scale: x * float(first_number(scale)))
    x = np.ones(2, np.float32)
    for _ in range(2):
        assert not np.signbit(function(x, made(0.0))).any()
        assert np.signbit(function(x, made(-0.0))).all()
    assert len(function.programs) == 2


def test_complex_zeros_of_both_signs_are_two_values():
    function = graph.compile(lambda x, scale: x * scale.imag)
    x = np.ones(2, np.float32)
    assert not np.signbit(function(x, complex(0, 0.0))).any()
    assert np.signbit(function(x, complex(0, -0.0))).all()
    assert not np.signbit(function(x, np.complex64(complex(0, 0.0)))).any()
    assert np.signbit(function(x, np.complex64(complex(0, -0.0)))).all()


@pytest.mark.parametrize("made", ZEROS)
def test_each_nan_is_like_the_others(made):
    function = graph.compile(lambda x, scale: x * float(first_number(scale)))
    for _ in range(3):
        assert np.isnan(function(np.ones(2, np.float32), made(float("nan")))).all()
    assert len(function.programs) == 1


def test_numbers_of_two_types_are_two_values():
    function = graph.compile(lambda x, key: x * (2 if type(key) is bool else 3))
    x = np.ones(1, np.float32)
    assert [function(x, one)[0] for one in (True, 1, 1.0)] == [2, 3, 3]
    assert len(function.programs) == 3
    of_keys = graph.compile(lambda x, keys: x * (2 if type(next(iter(keys))) is bool else 3))
    assert [of_keys(x, {one: 0})[0] for one in (True, 1)] == [2, 3]


def test_what_is_not_hashable_is_refused():
    @dataclasses.dataclass
    class Changing:
        scale: float

    function = graph.compile(lambda x, it: x)
    for it in ({1}, Changing(1.0), (Changing(1.0),), {"it": {1}}):
        with pytest.raises(graph.TraceError, match="neither array nor hashable"):
            function(floats(2), it)


def test_types_are_no_arrays():
    z = floats(2, 3)
    for dtype in (np.float32, np.dtype("float32"), "float32"):
        result = graph.astype(z > 0, dtype)
        assert result.dtype == np.float32
        np.testing.assert_array_equal(result, (z > 0).astype(np.float32))
    for dtype in (np.bool_, bool, np.dtype("bool"), "bool"):
        np.testing.assert_array_equal(graph.astype(z, dtype), z != 0)
    made = graph.compile(lambda x, dtype: (x > 0).astype(dtype))
    np.testing.assert_array_equal(made(z, np.float32), (z > 0).astype(np.float32))


class SlowKey:
    """Threads take turns while it is looked up."""

    def __init__(self, key):
        self.key = key

    def __hash__(self):
        time.sleep(1e-5)
        return hash(self.key)

    def __eq__(self, other):
        return isinstance(other, SlowKey) and self.key == other.key


def test_threads_may_add_programs_at_the_same_time():
    function = graph.compile(lambda x, key: x + key.key)
    wrong = []

    def work(thread):
        for i in range(60):
            key = 100 * thread + i
            try:
                y = function(np.zeros(3, np.float32), SlowKey(key))
                if y.shape != (3,) or (y != key).any():
                    wrong.append(y)
            except Exception as error:
                wrong.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert 0 < len(function.programs) <= 64


def test_methods_see_attributes_as_they_were():
    class Layer:
        scale = 2.0

        @graph.compile
        def forward(self, x, scale=None):
            return x * (self.scale if scale is None else scale)

    first, second = Layer(), Layer()
    x = np.ones(2, np.float32)
    assert first.forward(x).tolist() == [2, 2]
    first.scale = second.scale = 5.0
    assert first.forward(x).tolist() == [2, 2]
    assert second.forward(x).tolist() == [5, 5]
    assert first.forward(x, first.scale).tolist() == [5, 5]


# Compiled functions inside of others.


def test_compiled_functions_take_stand_ins_anywhere():
    keyword = graph.compile(lambda x, k=None: x * 2 if k is None else k * x)
    of_list = graph.compile(lambda xs: xs[0] + xs[1])
    of_dict = graph.compile(lambda named: named["inside"][0] - 1)
    x = floats(3)
    cases = [
        (lambda x: keyword(x=x), x * 2),
        (lambda x: keyword(3.0, k=x), x * 3),
        (lambda x: of_list([x, x]), x + x),
        (lambda x: of_list((x, 1.0)), x + 1),
        (lambda x: of_dict({"inside": [x]}), x - 1),
        (lambda x: of_dict(named={"inside": (x,)}), x - 1),
    ]
    for outer, expected in cases:
        np.testing.assert_array_equal(graph.compile(outer)(x), expected)
    assert keyword.programs == of_list.programs == of_dict.programs == ()


def test_out_of_a_function_inside_of_another_is_refused():
    inner = graph.compile(lambda x: x * 2)
    x = floats(3)
    for out in (np.empty(3, np.float32), None):
        outer = graph.compile(lambda x: inner(x, out=x if out is None else out))
        with pytest.raises(graph.TraceError, match="out="):
            outer(x)
    with pytest.raises(errors.InvalidArgument, match="as the function returns"):
        graph.compile(lambda x: inner(np.ones(3, np.float32), out=x))(x)
    np.testing.assert_array_equal(graph.compile(lambda x: inner(x, out=None))(x), x * 2)


# Memory.


def test_outputs_that_overlap_are_refused():
    two = graph.compile(lambda x: (x + 1, x * 10))
    twice = graph.compile(lambda x: ((x + 1),) * 2)
    x = floats(3)
    memory = np.empty(6, np.float32)
    for _ in range(2):
        for function in (two, twice):
            for first, second in ((0, 0), (0, 1), (2, 0), (1, 3)):
                out = (memory[first : first + 3], memory[second : second + 3])
                with pytest.raises(errors.InvalidArgument, match="outputs 0 and 1 overlap"):
                    function(x, out=out)
            a, b = function(x, out=(memory[:3], memory[3:]))
            np.testing.assert_array_equal(a, x + 1)
            np.testing.assert_array_equal(b, x * 10 if function is two else x + 1)
    empty = np.empty(0, np.float32)
    assert two(empty, out=(empty, empty))[0] is empty


def test_memory_that_is_read_only_is_not_written_by_dlpack():
    function = graph.compile(lambda x: x + 5)
    x = np.ones(2, np.float32)
    kept = np.zeros(2, np.float32)
    kept.flags.writeable = False
    for _ in range(2):
        with pytest.raises(errors.InvalidArgument, match="read-only"):
            function(x, out=DlpackAlone(kept))
        np.testing.assert_array_equal(kept, [0, 0])
        np.testing.assert_array_equal(function(DlpackAlone(kept)), [5, 5])
    written = np.zeros(2, np.float32)
    for _ in range(2):
        function(x, out=DlpackAlone(written))
        np.testing.assert_array_equal(written, [6, 6])
        written[:] = 0


# DLPack's exchange API.


def test_arrays_are_exchanged_by_the_c_interface():
    function = graph.compile(lambda x, y: x + y)
    x, y = floats(3, 4), floats(4, seed=1)
    np.testing.assert_array_equal(function(x, y), x + y)
    exchanged = Exchanged(x)
    for _ in range(3):
        np.testing.assert_array_equal(function(exchanged, y), x + y)
        np.testing.assert_array_equal(function(exchanged, Exchanged(y)), x + y)
    assert exchanged.views == 6
    turned = Exchanged(np.asfortranarray(x))
    np.testing.assert_array_equal(function(turned, y), x + y)


def test_memory_that_is_read_only_is_not_written_by_the_c_interface():
    function = graph.compile(lambda x: x + 5)
    x = np.ones(2, np.float32)
    function(x)
    kept = np.zeros(2, np.float32)
    kept.flags.writeable = False
    with pytest.raises(errors.InvalidArgument, match="read-only"):
        function(x, out=Exchanged(kept))
    np.testing.assert_array_equal(kept, [0, 0])
    written = Exchanged(np.zeros(2, np.float32))
    assert function(x, out=written) is written
    np.testing.assert_array_equal(written.array, [6, 6])
    assert written.views > 0
    gc.collect()
    assert not taken


def test_the_exchange_api_may_be_looked_up_by_python():
    """Its attribute calls the same compiled function again, with another type."""
    function = graph.compile(lambda x: x + 1)
    x = floats(4)
    function(x)
    inside = []

    class Meta(type):
        @property
        def __dlpack_c_exchange_api__(cls):
            inside.append(function(Exchanged(x)))
            raise AttributeError("none")

    class Slow(DlpackAlone, metaclass=Meta):
        """Taken for an Exchanged it would be zeros."""

        views = 0

        def __dlpack__(self, **options):
            return x.__dlpack__(**options)

    zeros = np.zeros_like(x)
    for _ in range(3):
        np.testing.assert_array_equal(function(Slow(zeros)), x + 1)
        np.testing.assert_array_equal(function(Exchanged(x)), x + 1)
    assert inside
    for one in inside:
        np.testing.assert_array_equal(one, x + 1)


# Axes, indices, options.


def test_axes_outside_are_refused():
    y = np.ones((1, 2, 1), np.float32)
    for axis in (3, -4, (0, 3), 1, (0, 0)):
        with pytest.raises(errors.InvalidArgument, match="squeeze"):
            graph.squeeze(y, axis)
    assert graph.squeeze(y, -1).shape == (1, 2)
    assert graph.squeeze(y, (0, 2)).shape == (2,)
    with pytest.raises(errors.InvalidArgument, match="squeeze"):
        graph.squeeze(np.float32(1).reshape(()), 0)


@pytest.mark.parametrize("none", [(), []])
def test_reductions_over_no_axes_are_refused(none):
    for reduction in (graph.sum, graph.mean, graph.max, graph.min, graph.var):
        with pytest.raises(errors.InvalidArgument, match="no axes"):
            reduction(floats(2, 3), axis=none)


@pytest.mark.parametrize("index", [True, False, np.True_, (0, True), (True, slice(None))])
def test_conditions_are_no_indices(index):
    with pytest.raises(errors.InvalidArgument, match="an index of type|as indices"):
        graph.compile(lambda x: x[index])(floats(2, 3))


def test_any_number_of_threads():
    x = floats(300, 300)
    function = lambda x: graph.softmax(x @ x.T)  # noqa: E731
    expected = graph.compile(function, threads=1)(x)
    for threads in (2, 10**6, 2**31 - 1, 10**30):
        np.testing.assert_array_equal(graph.compile(function, threads=threads)(x), expected)
        np.testing.assert_array_equal(graph.trace(function, x, threads=threads)(x), expected)
    for threads in (-1, -(10**30)):
        with pytest.raises(errors.InvalidArgument, match="threads=-.*give 0 or more"):
            graph.compile(function, threads=threads)
        with pytest.raises(errors.InvalidArgument, match="threads=-.*give 0 or more"):
            graph.trace(function, x, threads=threads)


def test_messages_say_what_is_wrong():
    for array in (np.ones(3, ">f4"), np.zeros(3, [("a", "i1"), ("b", "<f4")])["b"]):
        with pytest.raises((TypeError, errors.Unsupported), match=">f4|float32.*copy|copy it"):
            graph.exp(array)
    for operand in (None, "text", 1j, object()):
        with pytest.raises(TypeError) as raised:
            graph.compile(lambda x: x + operand)(floats(2))
        assert type(operand).__name__ in str(raised.value)
        assert "incompatible function arguments" not in str(raised.value)
    for function in (graph.softmax, graph.log_softmax):
        with pytest.raises(TypeError, match="'tuple' object cannot be interpreted as an integer"):
            function(floats(2, 3), axis=(0, 1))
    with pytest.raises(TypeError, match="cannot be interpreted as an integer"):
        graph.concat([floats(2), floats(2)], axis=(0,))


def test_objects_without_a_name_may_be_compiled():
    function = graph.compile(functools.partial(lambda a, x: x * a, 2.0))
    with pytest.raises(errors.InvalidArgument, match="no program yet: call function first"):
        function.report()
    np.testing.assert_array_equal(function(np.ones(2, np.float32)), [2, 2])
    assert function.report().kernels


# fast_math


def test_fast_math_keeps_shapes():
    x = np.ones(3, np.float32)
    for value in (1, 2, 3, 0):
        number = np.full((1, 1), value, np.float32)
        for function in (
            lambda x: x / number,
            lambda x: x**number,
            lambda x: x * number,
            lambda x: x + number,
            lambda x: x - number,
            lambda x: (x / number).sum(axis=1),
        ):
            exact, fast = graph.compile(function), graph.compile(function, fast_math=True)
            assert fast(x).shape == exact(x).shape


def test_fast_math_divides_empty_arrays():
    function = graph.compile(lambda x, y: x / y, fast_math=True)
    for shape in ((0,), (2, 0), (0, 1)):
        assert function(np.ones(shape, np.float32), np.ones(shape, np.float32)).shape == shape
