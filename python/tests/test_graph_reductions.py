"""Reductions, products of vectors and attention against NumPy in float64."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hoist import graph
from hoist.errors import InvalidArgument

METHODS = ("sum", "prod", "mean", "var", "std", "max", "min", "any", "all")
SHAPES = hnp.array_shapes(min_dims=1, max_dims=4, min_side=0, max_side=9)


def normal(shape, seed):
    return np.asarray(np.random.default_rng(seed).standard_normal(shape), np.float32)


def axes_of(data, shape):
    axes = st.sets(st.integers(-len(shape), -1), min_size=1).map(tuple)
    return data.draw(st.none() | st.integers(-len(shape), len(shape) - 1) | axes)


@settings(max_examples=120, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 2**32), data=st.data(), keepdims=st.booleans())
def test_reductions_are_numpys(shape, seed, data, keepdims):
    x = normal(shape, seed)
    axis = axes_of(data, shape)
    keywords = {"axis": axis, "keepdims": keepdims}
    sparse = np.where(normal(shape, seed + 1) > 0.5, x, 0).astype(np.float32)
    if x.size and seed % 3 == 0:
        sparse.flat[0] = np.nan
    for one in (sparse, sparse > 0, np.ones(shape, np.float32)):
        for name in ("any", "all"):
            found = getattr(graph, name)(one, **keywords)
            assert found.dtype == bool
            np.testing.assert_array_equal(found, getattr(np, name)(one, **keywords))
        found = graph.count_nonzero(one, **keywords)
        np.testing.assert_array_equal(found, np.count_nonzero(one, **keywords))
    wide = x.astype(np.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's of what is no number
        for correction in (0, 1, 2.5):
            for name in ("var", "std"):
                found = getattr(graph, name)(x, correction=correction, **keywords)
                expected = getattr(np, name)(wide, ddof=correction, **keywords)
                np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 2**32), data=st.data(), keepdims=st.booleans())
def test_norms_and_logarithms_of_sums(shape, seed, data, keepdims):
    x = normal(shape, seed)
    axis = axes_of(data, shape)
    keywords = {"axis": axis, "keepdims": keepdims}
    wide = np.abs(x.astype(np.float64))
    for order in (0.5, 1, 2, 3):
        expected = (wide**order).sum(**keywords) ** (1 / order)
        found = graph.vector_norm(x, ord=order, **keywords)
        assert found.shape == np.shape(expected)
        np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-6)
    if x.size == 0:
        return
    np.testing.assert_array_equal(graph.vector_norm(x, ord=math.inf, **keywords), abs(x).max(**keywords))
    np.testing.assert_array_equal(graph.vector_norm(x, ord=-math.inf, **keywords), abs(x).min(**keywords))
    scaled = (x * 50).astype(np.float64)
    largest = scaled.max(axis=axis, keepdims=True)
    total = np.exp(scaled - largest).sum(axis=axis, keepdims=True)
    expected = (np.log(total) + largest).reshape(scaled.max(**keywords).shape)
    np.testing.assert_allclose(graph.logsumexp(x * 50, **keywords), expected, rtol=1e-5, atol=1e-5)


def test_logarithms_of_sums_of_infinities():
    rows = np.array(
        [[-np.inf, -np.inf], [np.inf, 1], [np.nan, 1], [1000, 1000], [-np.inf, 3]], np.float32
    )
    expected = [-np.inf, np.inf, np.nan, 1000 + math.log(2), 3]
    np.testing.assert_allclose(graph.logsumexp(rows, axis=1), expected, rtol=1e-6)


def test_reductions_are_methods():
    x = normal((3, 4), 5)
    call = graph.compile(lambda x: tuple(getattr(x, name)(axis=0) for name in METHODS))
    array = graph.asarray(x)
    for name, found in zip(METHODS, call(x)):
        np.testing.assert_array_equal(found, getattr(graph, name)(x, axis=0))
        np.testing.assert_array_equal(np.asarray(getattr(array, name)(axis=0)), found)
    corrected = graph.compile(lambda x: x.std(axis=1, correction=1))
    np.testing.assert_allclose(corrected(x), x.std(axis=1, ddof=1), rtol=1e-5)


def test_wrong_axes_are_refused():
    x = normal((2, 3), 0)
    for call in (
        lambda: graph.any(x, axis=2),
        lambda: graph.std(x, axis=-3, correction=1),
        lambda: graph.logsumexp(x, axis=(0, 0)),
        lambda: graph.vector_norm(x, ord=math.nan),
        lambda: graph.squeeze(normal((1, 2), 0), axis=2),
        lambda: graph.vecdot(x, normal((2, 4), 0)),
        lambda: graph.outer(x, x),
        lambda: graph.matvec(x, normal(4, 0)),
        lambda: graph.vecmat(x, normal(4, 0)),
        lambda: graph.tensordot(x, x, axes=1),
        lambda: graph.tensordot(x, x, axes=3),
    ):
        with pytest.raises(InvalidArgument):
            call()


def test_products_are_numpys():
    a, b = normal((2, 3, 4), 1), normal((3, 4), 2)
    wide, wider = a.astype(np.float64), b.astype(np.float64)
    near = {"rtol": 1e-5, "atol": 1e-5}
    np.testing.assert_allclose(graph.vecdot(a, b), (wide * wider).sum(-1), **near)
    np.testing.assert_allclose(graph.vecdot(a, b, axis=-2), (wide * wider).sum(-2), **near)
    np.testing.assert_allclose(graph.outer(a[0, 0], b[0, :3]), np.outer(a[0, 0], b[0, :3]), **near)
    np.testing.assert_allclose(graph.matvec(a, b[0]), wide @ wider[0], **near)
    np.testing.assert_allclose(graph.vecmat(b[0, :3].copy(), a), wider[0, :3] @ wide, **near)
    for axes in (0, 1, ([2], [1]), ([1, 2], [0, 1]), ([-1, 1], [-1, 0])):
        expected = np.tensordot(wide, wider if axes != 1 else wider.T, axes=axes)
        found = graph.tensordot(a, b if axes != 1 else b.T.copy(), axes=axes)
        assert found.shape == expected.shape
        np.testing.assert_allclose(found, expected, **near)
    np.testing.assert_allclose(graph.linear(a, b, b[:, 0].copy()), wide @ wider.T + wider[:, 0], **near)
    empty = graph.tensordot(normal((2, 0), 0), normal((0, 3), 0), axes=1)
    np.testing.assert_array_equal(empty, np.zeros((2, 3), np.float32))


def attention(q, k, v, mask=None, scale=None):
    q, k, v = (one.astype(np.float64) for one in (q, k, v))
    scores = q @ k.swapaxes(-1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    largest = scores.max(-1, keepdims=True)
    powers = np.exp(scores - np.where(np.isinf(largest), 0, largest))
    total = powers.sum(-1, keepdims=True)
    return powers / np.where(total == 0, 1, total) @ v


@settings(max_examples=40, deadline=None)
@given(
    batch=st.lists(st.integers(1, 3), max_size=2).map(tuple),
    sizes=st.tuples(*[st.integers(1, 20)] * 4),
    seed=st.integers(0, 2**32),
)
def test_attention_is_its_formula(batch, sizes, seed):
    rows, columns, width, depth = sizes
    q = normal((*batch, rows, width), seed)
    k = normal((*batch, columns, width), seed + 1)
    v = normal((*batch, columns, depth), seed + 2)
    near = {"rtol": 1e-4, "atol": 1e-5}
    attend = graph.scaled_dot_product_attention
    np.testing.assert_allclose(attend(q, k, v), attention(q, k, v), **near)
    np.testing.assert_allclose(attend(q, k, v, scale=0.3), attention(q, k, v, scale=0.3), **near)
    causal = np.tril(np.ones((rows, columns), bool))
    np.testing.assert_allclose(attend(q, k, v, is_causal=True), attention(q, k, v, causal), **near)
    mask = normal((rows, columns), seed + 3) > 0.3
    np.testing.assert_allclose(attend(q, k, v, mask), attention(q, k, v, mask), **near)
    bias = normal((*batch, 1, columns), seed + 4)
    np.testing.assert_allclose(attend(q, k, v, bias), attention(q, k, v, bias), **near)


def test_attention_of_nothing_and_wrong_attention():
    q = normal((2, 3, 4), 1)
    attend = graph.scaled_dot_product_attention
    none = attend(q, q, q, np.zeros((3, 3), bool))
    np.testing.assert_array_equal(none, np.zeros_like(q))
    assert np.isnan(attend(q, q, np.full_like(q, np.nan))).all()
    for call in (
        lambda: attend(q[0, 0], q, q),
        lambda: attend(q, q, q, np.ones((3, 3), bool), is_causal=True),
        lambda: attend(q, q, q, np.ones((5, 2, 3, 3), bool)),
        lambda: attend(q, q[..., :2].copy(), q),
    ):
        with pytest.raises(InvalidArgument):
            call()


def test_attention_is_two_kernels():
    attend = graph.compile(lambda q, m: graph.scaled_dot_product_attention(q, q, q, m))
    attend(normal((2, 4, 16, 8), 1), np.ones((16, 16), bool))
    assert [kernel.nodes[0] for kernel in attend.report().kernels] == ["matmul", "matmul"]
