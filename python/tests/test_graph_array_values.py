"""Values that arrays are made of or assigned: exact, or refused; never another number."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoist import errors, graph

INTEGERS = [f"{kind}int{bits}" for kind in ("", "u") for bits in (8, 16, 32, 64)]
FEW = settings(max_examples=60, deadline=None)


# Assignment: each number as an element of the array's own type.


@pytest.mark.parametrize("value", [[300, 1], (1, 300), [[300, 1]], [np.int64(300), 1], 300, [-129, 0]])
def test_assigned_numbers_that_do_not_fit_are_refused(value):
    array = graph.zeros((2,), dtype="int8")
    with pytest.raises(OverflowError, match="does not fit int8"):
        array[:] = value
    assert array.tolist() == [0, 0]


@pytest.mark.parametrize("value", [[0.1, 0.2], (0.1, 0.2), [np.float64(0.1), 0.2], [[0.1, 0.2]]])
def test_assigned_floats_keep_the_arrays_precision(value):
    array = graph.zeros((2,), dtype="float64")
    array[:] = value
    assert array.tolist() == [0.1, 0.2]


def test_assigned_fractions_and_large_integers():
    array = graph.zeros((2,), dtype="float64")
    array[:] = Fraction(1, 3)
    assert array.tolist() == [1 / 3] * 2
    array[:] = [2**63, 2**64]
    assert array.tolist() == [2.0**63, 2.0**64]
    array = graph.zeros((2,), dtype="uint64")
    array[:] = [2**64 - 1, 0]
    assert array.tolist() == [2**64 - 1, 0]


@FEW
@given(dtype=st.sampled_from(INTEGERS), values=st.lists(st.integers(-(2**65), 2**65), min_size=1, max_size=3))
def test_assigned_integers_are_those_of_an_array(dtype, values):
    array = graph.zeros((len(values),), dtype=dtype)
    info = np.iinfo(dtype)
    if all(info.min <= one <= info.max for one in values):
        array[:] = values
        assert array.tolist() == values
    else:
        with pytest.raises(OverflowError):
            array[:] = values


def test_assigned_arrays_are_converted():
    array = graph.zeros((2,), dtype="int8")
    array[:] = np.array([300, 1])
    assert array.tolist() == [44, 1]
    array[:] = graph.array([1.75, -1.75])
    assert array.tolist() == [1, -1]


# Ranges


@FEW
@given(
    dtype=st.sampled_from(INTEGERS),
    start=st.integers(-(2**65), 2**65) | st.integers(-300, 300),
    step=(st.integers(-(2**66), 2**66) | st.integers(-70, 70)).filter(bool),
    count=st.integers(0, 9),
)
def test_arange_of_integers_is_pythons_range(dtype, start, step, count):
    stop = start + count * step
    expected = list(range(start, stop, step))
    info = np.iinfo(dtype)
    if all(info.min <= one <= info.max for one in expected):
        found = graph.arange(start, stop, step, dtype=dtype)
        assert found.dtype == dtype and found.tolist() == expected
    else:
        with pytest.raises(OverflowError, match="does not fit"):
            graph.arange(start, stop, step, dtype=dtype)


def test_arange_of_numpys_integers():
    found = graph.arange(np.uint8(5))
    assert found.dtype == "int64" and found.tolist() == [0, 1, 2, 3, 4]
    assert graph.arange(np.uint8(5), np.uint8(2), np.int8(-1)).tolist() == [5, 4, 3]
    assert graph.arange(2**63, 2**63 + 4, 2, dtype="float64").tolist() == [2.0**63, 2.0**63]


@pytest.mark.parametrize("ends", [(0, 5, 0), (0, float("inf")), (float("nan"), 3), (0, 1, float("nan"))])
def test_ranges_that_are_none(ends):
    with pytest.raises(errors.InvalidArgument, match="arange from"):
        graph.arange(*ends)


@pytest.mark.parametrize("endpoint", [True, False])
@pytest.mark.parametrize("num", [0, 1, 2, 3, 11, 600])
@pytest.mark.parametrize("ends", [(-1.7e308, 1.7e308), (1.7e308, -1.7e308), (-1e308, 1e308), (-2.0, 3.0)])
def test_linspace_between_large_ends(ends, num, endpoint):
    found = graph.linspace(*ends, num, dtype="float64", endpoint=endpoint)
    steps = max(num - 1 if endpoint else num, 1)
    first, last = map(Fraction, ends)
    expected = [float(first + (last - first) * i / steps) for i in range(num)]
    np.testing.assert_allclose(found, expected, rtol=1e-15, atol=1e-15 * abs(ends[0]))
    assert num == 0 or found[0].item() == ends[0]
    assert not endpoint or num < 2 or found[-1].item() == ends[1]


# Lengths, places and axes that no array has.

HUGE = 2**70
X = np.ones((2, 3), np.float32)


@pytest.mark.parametrize("number", [HUGE, -HUGE, 2**63])
@pytest.mark.parametrize(
    "call",
    [
        lambda n: graph.zeros((n,)),
        lambda n: graph.empty(n),
        lambda n: graph.arange(abs(n)),
        lambda n: graph.zeros((2, 3)).reshape(n),
        lambda n: graph.reshape(X, (n,)),
        lambda n: graph.broadcast_to(X, (n, 2, 3)),
        lambda n: graph.permute_dims(X, (n, 0)),
        lambda n: graph.sum(X, axis=n),
        lambda n: graph.softmax(X, axis=n),
        lambda n: graph.log_softmax(X, axis=n),
        lambda n: graph.concat([X, X], axis=n),
        lambda n: graph.cumulative_sum(X, axis=n),
        lambda n: graph.take(X, np.array([0]), axis=n),
        lambda n: graph.take_along_axis(X, np.array([[0]]), axis=n),
        lambda n: graph.repeat(X, abs(n)),
        lambda n: graph.tile(X, (abs(n),)),
        lambda n: graph.pad(X, (1, abs(n))),
        lambda n: graph.trace(graph.exp, graph.Spec((n,))),
    ],
)
def test_numbers_beyond_64_bits(call, number):
    with pytest.raises(errors.InvalidArgument):
        call(number)


@pytest.mark.parametrize(
    "call",
    [
        lambda: graph.cumulative_sum(X, axis=1.0),
        lambda: graph.take(X, np.array([0]), axis=1.0),
        lambda: graph.take_along_axis(X, np.array([[0]]), axis=1.0),
        lambda: graph.broadcast_to(X, (2.0, 3)),
        lambda: graph.softmax(X, axis=1.0),
        lambda: graph.roll(X, 1.5),
        lambda: graph.zeros((2.0,)),
    ],
)
def test_floats_as_whole_numbers(call):
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        call()


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "max", "min", "any", "all"])
@pytest.mark.parametrize("keepdims", [0, 1])
def test_keepdims_is_a_truth(name, keepdims):
    expected = getattr(np, name)(X, axis=1, keepdims=bool(keepdims))
    for found in (
        getattr(graph, name)(X, axis=1, keepdims=keepdims),
        getattr(graph.array(X), name)(axis=1, keepdims=keepdims),
    ):
        assert found.shape == expected.shape
        np.testing.assert_array_equal(found, expected)


def test_a_number_that_the_type_has_not():
    with pytest.raises(OverflowError, match="int64 has no integer 18446744073709551616"):
        graph.where(np.ones(2, bool), 1, 2**64)
    with pytest.raises(OverflowError, match="uint64 has no integer -1"):
        graph.where(np.ones(2, bool), np.ones(2, np.uint64), -1)


def test_numbers_of_numpy_and_one_number_for_all_axes():
    np.testing.assert_array_equal(graph.roll(X[0], np.int64(1)), np.roll(X[0], 1))
    np.testing.assert_array_equal(graph.tile(X, 2), np.tile(X, 2))
