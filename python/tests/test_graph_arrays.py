"""hoist.graph.Array against NumPy: creation, views, strides, assignment, single elements."""

import copy
import operator
import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hoist import errors, graph

NAMES = (
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    + ["float16", "bfloat16", "float32", "float64"]
)
NUMPY = {name: np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name) for name in NAMES}
SHAPES = hnp.array_shapes(min_dims=0, max_dims=5, min_side=0, max_side=5)


def numbers(shape, name, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2 if name == "bool" else 100, shape).astype(NUMPY[name])


def same(found, expected):
    assert isinstance(found, graph.Array)
    assert found.shape == expected.shape and NUMPY[found.dtype] == expected.dtype
    assert found.size == expected.size and found.ndim == expected.ndim
    assert found.nbytes == expected.nbytes and found.itemsize == expected.itemsize
    np.testing.assert_array_equal(np.asarray(found), expected)


def basic_keys(shape):
    one = st.one_of(
        st.none(),
        st.integers(-4, 4),
        st.slices(4),
        st.builds(slice, *[st.one_of(st.none(), st.integers(-7, 7))] * 2, st.sampled_from([None, 1, 2, -1, -3])),
    )
    parts = st.lists(one, max_size=len(shape) + 2)

    def with_dots(keys):
        return st.integers(0, len(keys)).map(lambda at: (*keys[:at], ..., *keys[at:]))

    return st.one_of(parts.map(tuple), parts.flatmap(with_dots), one)


# Creation


@pytest.mark.parametrize("name", NAMES)
def test_arrays_of_all_types(name):
    of_numpy = numbers((3, 4), name)
    made = graph.array(of_numpy)
    assert made.dtype == name and made.dtype is getattr(graph, name) and made.device == "cpu"
    same(made, of_numpy)
    same(made.T, of_numpy.T)
    same(graph.zeros((2, 3), dtype=name), np.zeros((2, 3), NUMPY[name]))
    same(graph.ones((2, 3), dtype=NUMPY[name]), np.ones((2, 3), NUMPY[name]))
    same(graph.full((2,), 1, dtype=made.dtype), np.full((2,), 1, NUMPY[name]))
    same(graph.eye(3, 4, k=1, dtype=name), np.eye(3, 4, 1, NUMPY[name]))
    assert graph.empty((2, 0, 3), dtype=name).shape == (2, 0, 3)
    assert made.tolist() == of_numpy.tolist()
    assert type(made[0, 0].item()) is type(of_numpy[0, 0].item())


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_sequences_are_numpys(data):
    shape = data.draw(hnp.array_shapes(max_dims=4, max_side=3))
    elements = data.draw(
        st.sampled_from([st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(width=32)])
    )
    nested = data.draw(hnp.arrays(object, shape, elements=elements)).tolist()
    expected = np.array(nested)
    if expected.dtype == np.float64:
        expected = expected.astype(np.float32)
    same(graph.array(nested), expected)


def test_sequences_of_numbers_of_others():
    x = graph.array([1.5, 2])
    same(graph.array([x, np.ones(2, np.float32), [3, 4]]), np.array([[1.5, 2], [1, 1], [3, 4]], np.float32))
    same(graph.array([x[0], np.float16(2), 3]), np.array([1.5, 2, 3], np.float32))
    same(graph.array([np.int8(1), graph.array(2)]), np.array([1, 2]))
    same(graph.array([np.True_, graph.array(False)]), np.array([True, False]))
    same(graph.array(range(3)), np.arange(3))


def test_what_makes_no_array():
    for nested in ([[1, 2], [3]], [[1], 2], [1, [2]]):
        with pytest.raises(errors.InvalidArgument, match="lengths"):
            graph.array(nested)
    for nothing in ("text", None, object(), [None], ["1"], {}, [1j]):
        with pytest.raises(TypeError):
            graph.array(nothing)
    for other in (np.ones(2, np.complex64), np.ones(2, ">f4"), np.array(["a"]), np.array([None])):
        with pytest.raises(errors.Unsupported):
            graph.array(other)
    with pytest.raises(errors.Unsupported, match="at most 8"):
        graph.zeros((1,) * 9)
    with pytest.raises(errors.InvalidArgument):
        graph.zeros((-1,))
    with pytest.raises(errors.Unsupported, match="complex64"):
        graph.zeros(2, dtype="complex64")
    for dtype, number in (("uint8", 256), ("uint8", -1), ("int64", 2**63), ("uint64", 2**64)):
        with pytest.raises(OverflowError):
            graph.full(2, number, dtype=dtype)
    with pytest.raises(TypeError):
        graph.Array()
    loop = []
    loop.append(loop)
    with pytest.raises(errors.InvalidArgument):
        graph.array(loop)


@settings(max_examples=200, deadline=None)
@given(st.integers(-20, 20), st.integers(-20, 20), st.integers(-5, 5).filter(bool))
def test_arange_of_integers(start, stop, step):
    same(graph.arange(start, stop, step), np.arange(start, stop, step, dtype=np.int64))
    same(graph.arange(start), np.arange(start, dtype=np.int64))


def test_ranges_of_floats():
    same(graph.arange(0, 1, 0.1), np.arange(0, 1, 0.1).astype(np.float32))
    same(graph.arange(3.0, dtype="float64"), np.arange(3.0))
    for endpoint in (False, True):
        for count in (0, 1, 2, 50):
            expected = np.linspace(-1, 3, count, endpoint=endpoint)
            found = graph.linspace(-1, 3, count, dtype="float64", endpoint=endpoint)
            np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-15, atol=1e-16)
    with pytest.raises(errors.InvalidArgument):
        graph.arange(1, 2, 0)


def test_like():
    x = graph.ones((2, 3), dtype="int16")
    same(graph.zeros_like(x), np.zeros((2, 3), np.int16))
    same(graph.ones_like(x.T, dtype="float64"), np.ones((3, 2)))
    same(graph.full_like(np.ones(2, np.uint8), 7), np.full(2, 7, np.uint8))
    assert graph.empty_like(x).shape == (2, 3)
    traced = graph.compile(lambda x: graph.ones_like(x) + graph.zeros_like(x) + graph.full_like(x, 2))
    same(traced(graph.zeros((2, 2))), np.full((2, 2), 3, np.float32))


# Views


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_parts_are_numpys(data):
    shape = data.draw(SHAPES)
    of_numpy = np.arange(np.prod(shape, dtype=int), dtype=np.int32).reshape(shape)
    made = graph.array(of_numpy)
    for _ in range(2):
        key = data.draw(basic_keys(of_numpy.shape))
        try:
            expected = of_numpy[key]
        except IndexError:  # or it would have too many axes, too
            with pytest.raises((IndexError, errors.InvalidArgument, errors.Unsupported)):
                made[key]
            return
        if expected.ndim > 8:
            return
        made = made[key]
        of_numpy = np.asarray(expected)
        same(made, of_numpy)
        if expected.ndim > 0 and expected.size > 1:
            assert np.shares_memory(np.asarray(made), of_numpy)
            known = [i for i, extent in enumerate(made.shape) if extent > 1]
            assert [made.strides[i] for i in known] == [of_numpy.strides[i] for i in known]


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_assignments_are_numpys(data):
    shape = data.draw(SHAPES)
    name = data.draw(st.sampled_from(NAMES))
    of_numpy = numbers(shape, name)
    made = graph.array(of_numpy, copy=True)
    key = data.draw(basic_keys(shape))
    try:
        part = of_numpy[key]
    except IndexError:
        with pytest.raises((IndexError, errors.InvalidArgument, errors.Unsupported)):
            made[key] = 1
        return
    if part.ndim > 8:
        return
    target = data.draw(hnp.broadcastable_shapes(part.shape, max_dims=part.ndim + 1, max_side=5))
    given_name = data.draw(st.sampled_from(NAMES))
    # For a single element NumPy wants one without axes.
    value = numbers(target, given_name, 1) if part.ndim > 0 else numbers((1,), given_name, 1)[0]
    try:
        of_numpy[key] = value
    except ValueError:
        with pytest.raises(errors.InvalidArgument):
            made[key] = value
        return
    made[key] = graph.array(value) if data.draw(st.booleans()) else value
    same(made, of_numpy)
    number = data.draw(st.sampled_from([0, 1, True] + ([2.5] if "float" in name else [])))
    of_numpy[key] = number
    made[key] = number
    same(made, of_numpy)


def test_assignment_from_its_own_memory():
    of_numpy = np.arange(10)
    made = graph.array(of_numpy, copy=True)
    for target, source in ((slice(1, None), slice(-1)), (slice(None), slice(None, None, -1))):
        of_numpy[target] = of_numpy[source].copy()
        made[target] = made[source]
        same(made, of_numpy)
    made[2:4] = [7, 8]
    made[0] = graph.array(9.9)
    assert made.tolist()[:4] == [9, of_numpy[1], 7, 8]


def test_parts_that_are_none():
    x = graph.zeros((2, 3))
    for key in ([0, 1], x > 0, True, 1.0, "a", (0, 0, 0), (..., ...), (0, graph.array([1])), {}):
        with pytest.raises(errors.InvalidArgument):
            x[key]
    for key in (2, -3, (0, 3)):
        with pytest.raises(IndexError):
            x[key]
    with pytest.raises(errors.InvalidArgument, match="does not fit"):
        x[...] = np.zeros(2)
    with pytest.raises(TypeError, match="deleted"):
        del x[0]
    same(x[graph.array(1)], np.zeros(3, np.float32))
    with pytest.raises(errors.Unsupported):
        x[(None,) * 7]


def test_arrays_of_integers_take_rows():
    of_numpy = np.arange(12, dtype=np.float64).reshape(4, 3)
    x = graph.array(of_numpy)
    for indices in (np.array([2, 0, -1]), np.array([[1], [3]], np.int32), np.array([], np.int64)):
        for given in (indices, graph.array(indices)):
            same(x[given], of_numpy[indices])
    with pytest.raises(errors.InvalidArgument):
        x[np.array([4])]
    with pytest.raises(errors.InvalidArgument):
        x[np.array([0])] = 1
    same(x[np.int64(1)], of_numpy[1])


def test_read_only_memory_is_not_written():
    of_numpy = np.arange(4, dtype=np.float32)
    of_numpy.flags.writeable = False
    for x in (graph.array(of_numpy), graph.from_dlpack(of_numpy), graph.array(bytes(4))):
        assert x.readonly and x[1:].readonly and not x.copy().readonly
        with pytest.raises(errors.InvalidArgument, match="read-only"):
            x[0] = 1
    x = graph.array(of_numpy)
    with pytest.raises(errors.InvalidArgument, match="read-only"):
        graph.add(x, x, out=x)
    with pytest.raises(errors.InvalidArgument, match="read-only"):
        x += 1
    assert memoryview(x).readonly and not np.asarray(x).flags.writeable
    with pytest.raises(BufferError):
        x.__dlpack__()
    assert not np.from_dlpack(x).flags.writeable


def test_shapes_change_without_copies():
    of_numpy = np.arange(24, dtype=np.int16).reshape(2, 3, 4)
    x = graph.array(of_numpy)
    same(x.reshape(4, -1), of_numpy.reshape(4, -1))
    assert np.shares_memory(np.asarray(x.reshape((24,))), of_numpy)
    same(x.T.reshape(-1), of_numpy.T.reshape(-1))
    same(x.permute_dims(1, -1, 0), of_numpy.transpose(1, 2, 0))
    same(x.transpose(), of_numpy.T)
    same(x.mT, of_numpy.swapaxes(1, 2))
    same(graph.zeros((0, 3)).reshape(3, 0, 7), np.zeros((3, 0, 7), np.float32))
    for shape in ((5, -1), (-1, -1), (25,), (0, -1), (-2, -12), (2**40, 2**40), (2**62, -1)):
        with pytest.raises(errors.InvalidArgument):
            x.reshape(shape)
    for axes in ((0, 1), (0, 1, 1), (0, 1, 3)):
        with pytest.raises(errors.InvalidArgument):
            x.permute_dims(axes)
    with pytest.raises(errors.InvalidArgument):
        x[0, 0].mT


# Conversions


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(NAMES), st.sampled_from(NAMES), st.integers(0, 2**32))
def test_types_convert_as_numpys(name, to, seed):
    of_numpy = numbers((7,), name, seed)
    same(graph.array(of_numpy).astype(to), of_numpy.astype(NUMPY[to]))
    same(graph.array(of_numpy, dtype=to), of_numpy.astype(NUMPY[to]))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(["float16", "bfloat16", "float32"]), st.floats())
def test_doubles_are_rounded_once(to, number):
    found = graph.full((), number, dtype=to)
    with np.errstate(over="ignore"):
        # ml_dtypes rounds twice, by way of float32.
        expected = np.float64(number).astype(NUMPY[to]) if to != "bfloat16" else rounded(number)
    np.testing.assert_array_equal(np.asarray(found).astype(np.float64), np.float64(expected))


def rounded(number):
    """To 8 bits of significand, ties to even, by arithmetic of exact fractions."""
    if not np.isfinite(number) or number == 0:
        return number
    exponent = max(int(np.frexp(number)[1]) - 8, -126 - 7)
    whole = round(np.ldexp(number, -exponent)) if exponent > -1000 else 0
    result = float(np.ldexp(float(whole), exponent))
    return np.inf * np.sign(number) if abs(result) >= 2.0**128 else result


def test_single_elements():
    assert (float(graph.array(2.5)), int(graph.array([7])), bool(graph.array([[0]]))) == (2.5, 7, False)
    assert f"{graph.array(2.5):.2f}" == "2.50" and f"{graph.array([1])}" == "array([1], dtype=int64)"
    assert operator.index(graph.array(3)) == 3 and [5, 6][graph.array(1)] == 6
    assert graph.array([2.5]).item() == 2.5
    for what in (bool, float, int, operator.index, lambda x: x.item()):
        with pytest.raises(ValueError):
            what(graph.array([1, 2]))
    with pytest.raises(TypeError):
        operator.index(graph.array(1.0))
    with pytest.raises(ValueError):
        bool(graph.zeros(0))
    with pytest.raises(TypeError):
        hash(graph.array(1))


def test_sequences():
    x = graph.array([[1, 2], [3, 4]])
    assert len(x) == 2 and [row.tolist() for row in x] == [[1, 2], [3, 4]]
    a, b = x[0]
    assert (a.item(), b.item()) == (1, 2)
    assert [one.item() for one in reversed(x[0])] == [2, 1]
    for what in (len, iter, list):
        with pytest.raises(TypeError):
            what(graph.array(1))


def test_text_is_numpys():
    x = np.linspace(0, 1, 5, dtype=np.float32)
    assert repr(graph.array(x)) == repr(x)
    assert repr(graph.ones((2, 2), dtype="bfloat16")) == (
        "array([[1., 1.],\n       [1., 1.]], dtype=bfloat16)"
    )
    assert repr(graph.zeros((0, 2))) == "array([], shape=(0, 2), dtype=float32)"
    assert repr(graph.array(3)) == str(graph.array(3)) == "array(3, dtype=int64)"
    assert repr(graph.array(np.arange(2000))).count("\n") < 10


def test_copies():
    x = graph.array([[1.5, 2], [3, 4]])
    for other in (x.copy(), copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)),
                  pickle.loads(pickle.dumps(x.T)).T, graph.array(x, copy=True)):
        same(other, np.asarray(x))
        other[0, 0] = 9
        assert x[0, 0].item() == 1.5
    assert graph.asarray(x) is x and x.to_device("cpu") is x and x.astype("float32", copy=False) is x
    for nothing in (lambda: graph.array(x, dtype="int8", copy=False), lambda: graph.array([1], copy=False)):
        with pytest.raises(ValueError, match="copy"):
            nothing()


def test_types():
    assert graph.float32 == "float32" == np.dtype(graph.float32).name
    assert graph.array([1], dtype=np.uint8).dtype == graph.uint8 and graph.bool == "bool"
    assert graph.array([1], dtype=bool).dtype == graph.bool
    assert [getattr(graph, name).itemsize for name in NAMES] == [NUMPY[name].itemsize for name in NAMES]
    assert repr(graph.int8) == "hoist.graph.int8" and f"{graph.int8}" == "int8"
    assert graph.zeros(1).__array_namespace__() is graph
