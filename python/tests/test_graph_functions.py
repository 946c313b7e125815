"""hoist.graph's functions against NumPy: shapes, axes, broadcasting, special values."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hoist import graph

SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 3e38, -3e38, 0.5, 88.8]
    + [-104.0, 2.0, -2.5],
    np.float32,
)
SHAPES = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=9)


def floats(shape, seed, special=True):
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape).astype(np.float32)
    if special and array.size:
        where = rng.random(shape) < 0.2
        array = np.where(where, rng.choice(SPECIAL, size=shape), array).astype(np.float32)
    return array


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)
    if found.dtype == np.float32:
        number = ~np.isnan(expected)
        assert np.array_equal(np.signbit(found)[number], np.signbit(expected)[number])


EXACT = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
}


@pytest.mark.parametrize("name", EXACT)
@settings(max_examples=40, deadline=None)
@given(shapes=SHAPES, seed=st.integers(0, 2**32))
def test_operations_of_two_are_numpys(name, shapes, seed):
    a, b = (floats(shape, seed + i) for i, shape in enumerate(shapes.input_shapes))
    with np.errstate(all="ignore"):
        expected = np.asarray(EXACT[name](a, b))
    same(getattr(graph, name)(a, b), expected)


@settings(max_examples=60, deadline=None)
@given(shapes=SHAPES, seed=st.integers(0, 2**32))
def test_extremes_are_numpys_but_for_zeros(shapes, seed):
    a, b = (floats(shape, seed + i) for i, shape in enumerate(shapes.input_shapes))
    np.testing.assert_array_equal(graph.minimum(a, b), np.minimum(a, b))
    np.testing.assert_array_equal(graph.maximum(a, b), np.maximum(a, b))


def exact(function):
    def mapped(x):
        return np.vectorize(function, otypes=[np.float64])(x.astype(np.float64))

    return mapped


UNARY = {
    "negative": np.negative,
    "abs": np.abs,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "erf": exact(math.erf),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "relu": lambda x: np.where(x < 0, 0, x),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "square": np.square,
}


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=40, deadline=None)
@given(shape=hnp.array_shapes(min_dims=0, max_dims=3, max_side=20), seed=st.integers(0, 2**32))
def test_operations_of_one_are_within_their_bound(name, shape, seed):
    x = floats(shape, seed)
    with np.errstate(all="ignore"):
        expected = UNARY[name](x.astype(np.float64))
        rounded = expected.astype(np.float32)
    found = getattr(graph, name)(x)
    assert found.dtype == np.float32 and found.shape == x.shape
    special = ~np.isfinite(rounded)
    np.testing.assert_array_equal(found[special], rounded[special])
    error = np.abs(found[~special] - expected[~special])
    assert (error <= 6 * 2.0**-24 * np.abs(expected[~special]) + 1.2e-38).all()


@settings(max_examples=150, deadline=None)
@given(
    shape=hnp.array_shapes(min_dims=1, max_dims=4, max_side=12),
    seed=st.integers(0, 2**32),
    data=st.data(),
    keepdims=st.booleans(),
)
def test_reductions_are_numpys(shape, seed, data, keepdims):
    x = floats(shape, seed, special=False)
    axes = data.draw(st.none() | st.sets(st.integers(-len(shape), -1), min_size=1).map(tuple))
    np.testing.assert_array_equal(
        graph.max(x, axis=axes, keepdims=keepdims), np.max(x, axis=axes, keepdims=keepdims)
    )
    np.testing.assert_array_equal(
        graph.min(x, axis=axes, keepdims=keepdims), np.min(x, axis=axes, keepdims=keepdims)
    )
    wide = x.astype(np.float64)
    for name in ("sum", "mean", "var"):
        found = getattr(graph, name)(x, axis=axes, keepdims=keepdims)
        expected = np.asarray(getattr(np, name)(wide, axis=axes, keepdims=keepdims))
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, rtol=3e-5, atol=3e-5)


def test_a_long_row_is_summed_by_pairs():
    x = np.full(5_000_001, 0.1, np.float32)
    expected = x.astype(np.float64).sum()
    assert abs(float(graph.sum(x)) - expected) <= 36 * 2.0**-24 * expected
    assert np.isnan(graph.max(np.append(x, np.float32(np.nan))))


@pytest.mark.parametrize(
    "a, b",
    [((3, 4), (4, 5)), ((4,), (4, 5)), ((3, 4), (4,)), ((4,), (4,)), ((2, 1, 3, 4), (6, 4, 5))]
    + [((0, 4), (4, 5)), ((3, 0), (0, 5)), ((1, 300), (300, 1)), ((70, 300), (300, 65))],
)
def test_products_are_numpys(a, b):
    x, y = floats(a, 1, special=False), floats(b, 2, special=False)
    expected = x.astype(np.float64) @ y
    found = graph.matmul(x, y)
    assert found.shape == expected.shape
    np.testing.assert_allclose(found, expected, atol=1e-4)
    if len(a) == len(b) == 2:  # of views that lie transposed
        found = graph.compile(lambda x, y: y.T @ x.T)(x, y)
        np.testing.assert_allclose(found, expected.T, atol=1e-4)


def test_softmax_and_norms():
    x = floats((5, 7, 33), 3, special=False)
    wide = x.astype(np.float64)
    for axis in (0, 1, -1):
        power = np.exp(wide - wide.max(axis=axis, keepdims=True))
        expected = power / power.sum(axis=axis, keepdims=True)
        np.testing.assert_allclose(graph.softmax(x, axis=axis), expected, rtol=1e-5)
        np.testing.assert_allclose(
            graph.log_softmax(x, axis=axis), np.log(expected), rtol=1e-5, atol=1e-5
        )
    weight, bias = floats(33, 4, special=False), floats(33, 5, special=False)
    norm = (wide - wide.mean(-1, keepdims=True)) / np.sqrt(wide.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(
        graph.layer_norm(x, weight, bias), norm * weight + bias, rtol=1e-4, atol=1e-5
    )
    gelu = wide / 2 * (1 + exact(math.erf)(wide / math.sqrt(2)))
    np.testing.assert_allclose(graph.gelu(x, approximate="none"), gelu, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(graph.gelu(x), gelu, atol=1e-3)
    assert np.isnan(graph.softmax(np.array([1, np.nan], np.float32))).all()


def test_views_and_joins_are_numpys():
    x = floats((4, 6, 5), 6)
    y = np.asarray(x[:1])
    same(graph.reshape(x, (2, -1)), x.reshape(2, -1))
    same(graph.permute_dims(x, (2, 0, 1)), x.transpose(2, 0, 1))
    same(graph.matrix_transpose(x), x.swapaxes(-1, -2))
    same(graph.broadcast_to(y, (3, 6, 5)), np.broadcast_to(y, (3, 6, 5)).copy())
    same(graph.expand_dims(x, axis=-1), x[..., None])
    same(graph.squeeze(y, axis=0), y[0])
    same(graph.concat([x, y, x], axis=0), np.concatenate([x, y, x]))
    same(graph.stack([x, x], axis=-1), np.stack([x, x], axis=-1))
    part = graph.compile(lambda x: (x[1], x[..., ::2], x[::-1, None, -2, 1:3], x[3:1], x[2, 3, 4]))
    expected = (x[1], x[..., ::2], x[::-1, None, -2, 1:3], x[3:1], x[2, 3, 4])
    for found, wanted in zip(part(x), expected):
        same(found, np.asarray(wanted))


def test_conditions_are_booleans():
    x, y = floats((3, 40), 7), floats((40,), 8)
    condition = x > y
    same(graph.where(condition, x, y), np.where(condition, x, y))
    same(graph.logical_not(condition), ~condition)
    same(graph.logical_and(condition, y > 0), condition & (y > 0))
    same(graph.logical_or(condition, y > 0), condition | (y > 0))
    same(graph.astype(condition, "float32"), condition.astype(np.float32))
    same(graph.astype(x, bool), x.astype(bool))
    same(graph.clip(x, -1, 1), np.clip(x, -1, 1).astype(np.float32))
    mask = graph.compile(lambda x: (graph.where(x > 0, 1.0, -1.0) * x, x == x))
    for found, wanted in zip(mask(x), (np.where(x > 0, x, -x), x == x)):
        np.testing.assert_array_equal(found, wanted)
