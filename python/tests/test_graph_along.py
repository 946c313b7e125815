"""hoist.graph's operations of integers, and those along an axis, against NumPy in all element types."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from test_graph_types import (
    ALL,
    BF16,
    FEW,
    INTEGERS,
    NUMBERS,
    SEEDS,
    SHAPES,
    is_float,
    numbers,
    numpys,
    same,
    with_strides,
)

from hoist import errors, graph


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@FEW
@given(shapes=SHAPES, seed=SEEDS)
def test_floor_divisions_are_numpys(dtype, shapes, seed):
    a, b = (numbers(dtype, shape, seed + i) for i, shape in enumerate(shapes.input_shapes))
    if dtype == BF16:  # ml_dtypes rounds otherwise: f32's, rounded once more
        wide = a.astype(np.float32), b.astype(np.float32)
        same(graph.floor_divide(a, b), numpys(np.floor_divide, *wide).astype(BF16))
        same(graph.remainder(a, b), numpys(np.remainder, *wide).astype(BF16))
        return
    same(graph.floor_divide(a, b), numpys(np.floor_divide, a, b))
    same(graph.remainder(a, b), numpys(np.remainder, a, b))
    both = graph.compile(lambda a, b: (a // b, a % b))
    for found, expected in zip(both(a, b), numpys(np.divmod, a, b)):
        same(found, expected)


BITWISE = {"bitwise_and": np.bitwise_and, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor}


@pytest.mark.parametrize("dtype", [np.dtype("bool"), *INTEGERS], ids=str)
@FEW
@given(shapes=SHAPES, seed=SEEDS)
def test_bits_are_numpys(dtype, shapes, seed):
    a, b = (numbers(dtype, shape, seed + i) for i, shape in enumerate(shapes.input_shapes))
    for name, function in BITWISE.items():
        same(getattr(graph, name)(a, b), function(a, b))
    same(graph.bitwise_invert(a), np.invert(a))
    mixed = graph.compile(lambda a, b: ~(a & b) | (a ^ b))
    same(mixed(a, b), ~(a & b) | (a ^ b))
    if dtype != bool:
        same(graph.bitwise_left_shift(a, b), np.left_shift(a, b))
        same(graph.bitwise_right_shift(a, b), np.right_shift(a, b))
        same(graph.compile(lambda a: (a << 1) >> 3)(a), (a << 1) >> 3)


def test_bits_of_floats_are_refused():
    x = np.ones(3, np.float32)
    with pytest.raises(errors.InvalidArgument, match="bitwise_and takes integers, not float32"):
        graph.bitwise_and(x, x)
    with pytest.raises(errors.InvalidArgument, match="bitwise_left_shift takes integers, not bool"):
        graph.bitwise_left_shift(x > 0, x > 0)


@pytest.mark.parametrize("dtype", ALL, ids=str)
@FEW
@given(shape=hnp.array_shapes(min_dims=1, max_dims=3, max_side=12), seed=SEEDS, data=st.data())
def test_places_of_extremes_are_numpys(dtype, shape, seed, data):
    x = with_strides(numbers(dtype, shape, seed), seed)
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    wide = x.astype(np.float64) if dtype == BF16 else x
    for keepdims in (False, True):
        for name in ("argmax", "argmin"):
            expected = getattr(np, name)(wide, axis=axis, keepdims=keepdims)
            same(getattr(graph, name)(x, axis=axis, keepdims=keepdims), np.asarray(expected))


def test_places_in_long_rows():
    for dtype in (np.float32, np.float64, np.int64, np.uint8):
        x = np.ones((3, 70_000), dtype)
        x[0, 69_999] = x[1, 1024] = x[1, 5000] = 2
        assert graph.argmax(x, axis=1).tolist() == [69_999, 1024, 0]
        assert graph.compile(lambda x: graph.argmin(x * 2, axis=-1))(x).tolist() == [0, 0, 0]
    x[0, 3] = 0
    y = x.astype(np.float32)
    y[2, 40_000] = y[2, 50_000] = np.nan
    assert graph.argmin(y, axis=1).tolist() == [3, 0, 40_000]
    assert graph.argmax(y.T.copy(), axis=0).tolist()[2] == 40_000
    with pytest.raises(errors.InvalidArgument, match="argmax over 2 axes"):
        graph.argmax(y, axis=(0, 1))
    with pytest.raises(errors.InvalidArgument, match="no elements"):
        graph.argmax(np.ones((0, 2), np.float32), axis=0)


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@FEW
@given(shape=hnp.array_shapes(min_dims=1, max_dims=3, max_side=12), seed=SEEDS, data=st.data())
def test_cumulative_sums_are_numpys(dtype, shape, seed, data):
    x = with_strides(numbers(dtype, shape, seed, special=not is_float(dtype)), seed)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    initial = data.draw(st.booleans())
    found = graph.cumulative_sum(x, axis=axis, include_initial=initial)
    if is_float(dtype) and dtype.itemsize == 2:
        expected = np.cumsum(x.astype(np.float32), axis=axis).astype(dtype)
    else:
        expected = np.cumsum(x, axis=axis)
    if initial:
        first = np.zeros_like(np.take(expected, [0], axis=axis))
        expected = np.concatenate([first, expected], axis=axis)
    same(found, expected)


def test_cumulative_sums_go_over_chunks():
    x = numbers(np.dtype("float32"), (2, 70_000), 1, special=False)
    same(graph.cumulative_sum(x, axis=1), np.cumsum(x, axis=1))
    centred = graph.compile(lambda x: graph.cumulative_sum(x * 2, axis=1) - x.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(
        centred(x), np.cumsum(x * 2, axis=1) - x.astype(float).sum(axis=1, keepdims=True), atol=0.3
    )
    assert len(centred.programs[-1].report().kernels) == 1
    whole = np.arange(70_000, dtype=np.int64)
    same(graph.compile(lambda x: graph.cumulative_sum(x)[::-1])(whole), np.cumsum(whole)[::-1])
    with pytest.raises(errors.InvalidArgument, match="give the axis"):
        graph.cumulative_sum(x)


@FEW
@given(
    shape=hnp.array_shapes(min_dims=1, max_dims=3, max_side=9),
    seed=SEEDS,
    data=st.data(),
    dtype=st.sampled_from(ALL),
    index=st.sampled_from(INTEGERS),
)
def test_takes_are_numpys(shape, seed, data, dtype, index):
    x = with_strides(numbers(dtype, shape, seed), seed)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    extent = shape[axis]
    low = 0 if index.kind == "u" else -extent
    rng = np.random.default_rng(seed)
    places = rng.integers(low, extent, size=data.draw(hnp.array_shapes(min_dims=0, max_dims=2, max_side=6)))
    places = places.astype(index)
    same(graph.take(x, places, axis=axis), np.take(x, places.astype(np.int64), axis=axis))
    wanted = list(shape)
    wanted[axis] = data.draw(st.integers(0, 7))
    along = with_strides(rng.integers(low, extent, size=wanted).astype(index), seed // 3)
    same(graph.take_along_axis(x, along, axis=axis), np.take_along_axis(x, along.astype(np.int64), axis=axis))
    # In one kernel with what comes before and after, of views.
    if index == np.int64:
        both = graph.compile(lambda x, i: graph.take_along_axis(x.T, (i + 0).T, axis=-1 - axis % x.ndim).T == x[:1])
        expected = np.take_along_axis(x, along, axis=axis) if wanted[axis] == extent else None
        if expected is not None:
            same(both(x, along), expected == x[:1])


def test_places_outside_are_refused():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    take = graph.compile(lambda x, i: graph.take(x, i, axis=0) * 2)
    for index in (3, -4, 2**62, -(2**62)):
        with pytest.raises(errors.InvalidArgument, match=rf"index {index} of axis 0 with 3 elements"):
            take(x, np.array([0, index, 1]))
        same(take(x, np.array([2, -3])), x[[2, 0]] * 2)  # the program goes on to work
    with pytest.raises(errors.InvalidArgument, match="axis 1 with 4 elements"):
        graph.take_along_axis(x, np.full((3, 2), 2**63, np.uint64), axis=1)
    with pytest.raises(errors.InvalidArgument, match="with 0 elements"):
        graph.take(np.ones((0, 2), np.float32), np.array([0]), axis=0)
    with pytest.raises(errors.InvalidArgument, match="give integers as indices"):
        graph.take(x, x)
    assert graph.take(np.ones((0, 2), np.float32), np.array([], np.int64), axis=0).shape == (0, 2)
    # Nothing is written beyond the result.
    memory = np.full(30, 7, np.float32)
    with pytest.raises(errors.InvalidArgument):
        take(x, np.array([9, 9]), out=memory[10:18].reshape(2, 4))
    np.testing.assert_array_equal(np.delete(memory, np.arange(10, 18)), 7)


def test_an_embedding_is_one_kernel():
    table = numbers(BF16, (50, 33), 2, special=False)
    ids = np.random.default_rng(0).integers(-50, 50, size=(4, 6))
    embed = graph.compile(lambda t, i: graph.take(t, i, axis=0).astype("float32") * 3 + 1)
    same(embed(table, ids), table[ids].astype(np.float32) * 3 + 1)
    assert len(embed.report().kernels) == 1
    same(graph.compile(lambda t, i: t[i])(table, ids), table[ids])
    same(graph.compile(lambda t: t[np.array([[3, -1]])])(table), table[[[3, -1]]])
    with pytest.raises(errors.InvalidArgument, match="a mask as an index"):
        graph.compile(lambda t: t[t > 0])(table)
    same(graph.compile(lambda t, i: graph.take(t.T, i, axis=1))(table, ids), table.T[:, ids])
    same(graph.compile(lambda t, i: graph.take(t, i[::-1], axis=0))(table, ids[0]), table[ids[0][::-1]])
