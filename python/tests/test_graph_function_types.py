"""Functions, reductions, losses and moves in the element types beside float32."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hoist import graph
from hoist.errors import InvalidArgument

BF16 = np.dtype(ml_dtypes.bfloat16)
NARROW = [np.dtype("float16"), BF16]
INTEGERS = [np.dtype(f"{kind}int{bits}") for kind in ("", "u") for bits in (8, 16, 32, 64)]
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=9)
FUNCTIONS = {
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
}
WHOLE = {"floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.round, "sign": np.sign}


def numbers(shape, seed, dtype=np.float64):
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape) * 3
    special = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, -2.5, 600.0])
    picked = special[rng.integers(len(special), size=shape)]
    return np.where(rng.random(shape) < 0.2, picked, values).astype(dtype)


@pytest.mark.parametrize("name", [*FUNCTIONS, *WHOLE])
@settings(max_examples=25, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 2**32))
def test_functions_of_float64_and_narrow_floats(name, shape, seed):
    exact = (FUNCTIONS | WHOLE)[name]
    x = numbers(shape, seed)
    with np.errstate(all="ignore"):
        found, expected = getattr(graph, name)(x), exact(x)
        assert found.dtype == np.float64 and found.shape == x.shape
        np.testing.assert_allclose(found, expected, rtol=0 if name in WHOLE else 1e-14)
        for dtype in NARROW:
            narrow = x.astype(dtype)
            found = getattr(graph, name)(narrow)
            expected = exact(narrow.astype(np.float64))
            assert found.dtype == dtype and found.shape == x.shape
            rounded = expected.astype(dtype).astype(np.float64)
            epsilon = float(ml_dtypes.finfo(dtype).eps) * 0.51
            least = float(ml_dtypes.finfo(dtype).smallest_subnormal)
            wide = found.astype(np.float64)
            special = ~np.isfinite(rounded) | ~np.isfinite(wide)
            np.testing.assert_array_equal(wide[special], rounded[special])
            error = np.abs(wide[~special] - expected[~special])
            assert (error <= (0 if name in WHOLE else epsilon * abs(expected[~special]) + least)).all()


@settings(max_examples=25, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 2**32))
def test_functions_of_two_of_float64(shape, seed):
    x, y = numbers(shape, seed), numbers(shape, seed + 1)
    y = np.where(np.isnan(y), 1, y)
    np.testing.assert_allclose(graph.hypot(x, y), np.hypot(x, y), rtol=1e-15)
    np.testing.assert_allclose(graph.atan2(x, y), np.arctan2(x, y), rtol=1e-15)
    np.testing.assert_array_equal(graph.copysign(abs(x), y), np.copysign(abs(x), y))


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_functions_of_integers(dtype):
    info = np.iinfo(dtype)
    x = np.array([0, 1, 7, info.max, info.min, info.max // 2 + 1], dtype)
    for name in ("floor", "ceil", "trunc", "round"):
        found = getattr(graph, name)(x)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, x)
    found = graph.sign(x)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.sign(x))
    assert not graph.isnan(x).any() and graph.isfinite(x).all() and not graph.isinf(x).any()
    assert graph.sin(x).dtype == (np.float64 if dtype.itemsize == 8 else np.float32)
    np.testing.assert_array_equal(graph.roll(x, 2), np.roll(x, 2))
    np.testing.assert_array_equal(graph.pad(x, (2, 1), value=3), np.pad(x, (2, 1), constant_values=3))
    with pytest.raises(InvalidArgument):
        graph.pad(x, (1, 1), value=0.5)
    square = np.arange(12).astype(dtype).reshape(3, 4)
    found = graph.tril(square)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.tril(square))
    np.testing.assert_array_equal(graph.diff(square), np.diff(square))


@settings(max_examples=60, deadline=None)
@given(
    shape=SHAPES,
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from(INTEGERS),
    data=st.data(),
    keepdims=st.booleans(),
)
def test_products_of_integers_are_numpys(shape, seed, dtype, data, keepdims):
    rng = np.random.default_rng(seed)
    x = rng.integers(0 if dtype.kind == "u" else -4, 5, size=shape).astype(dtype)
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    found = graph.prod(x, axis=axis, keepdims=keepdims)
    expected = np.prod(x, axis=axis, keepdims=keepdims, dtype=f"{dtype.kind}8")
    assert found.dtype == expected.dtype and found.shape == np.shape(expected)
    np.testing.assert_array_equal(found, expected)


@settings(max_examples=60, deadline=None)
@given(
    shape=hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=40),
    seed=st.integers(0, 2**32),
    dtype=st.sampled_from([np.dtype("float32"), np.dtype("float64"), *NARROW]),
    data=st.data(),
)
def test_products_of_floats_are_numpys(shape, seed, dtype, data):
    x = (1 + np.random.default_rng(seed).standard_normal(shape) / 50).astype(dtype)
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    found = graph.prod(x, axis=axis)
    expected = np.asarray(np.prod(x.astype(np.float64), axis=axis))
    assert found.dtype == dtype and found.shape == expected.shape
    count = x.size if axis is None else shape[axis]
    unit = float(ml_dtypes.finfo(dtype).eps) + count * 2.0 ** (-53 if dtype == np.float64 else -24)
    least = float(ml_dtypes.finfo(dtype).smallest_subnormal)
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=unit, atol=least)


def test_long_products():
    x = np.ones(5000, np.float32)
    x[[3, 1030, 4999]] = 2, 3, -0.5
    assert graph.prod(x) == -3
    assert np.isnan(graph.prod(np.append(x, np.float32(np.nan))))
    assert graph.prod(np.append(x, np.float32(0))) == 0
    assert graph.prod(np.full(200, 10.0, np.float32)) == math.inf
    np.testing.assert_array_equal(graph.prod(np.stack([x, x], axis=1), axis=0), [-3, -3])


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_cross_entropy_of_integer_classes(dtype):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((50, 120)).astype(np.float32)
    target = rng.integers(0, 120, 50).astype(dtype)
    wide = x.astype(np.float64)
    logs = wide - np.log(np.exp(wide).sum(1, keepdims=True))
    expected = -logs[np.arange(50), target.astype(int)]
    np.testing.assert_allclose(graph.cross_entropy(x, target, reduction="none"), expected, rtol=1e-5)
    np.testing.assert_allclose(graph.cross_entropy(x, target), expected.mean(), rtol=1e-5)
    found = graph.cross_entropy(x, target, ignore_index=int(target[0]))
    np.testing.assert_allclose(found, expected[target != target[0]].mean(), rtol=1e-5)


def test_more_classes_than_a_byte_has():
    x = np.zeros((1, 300), np.float32)
    x[0, 44] = 5
    found = graph.cross_entropy(x, np.array([43], np.uint8))
    np.testing.assert_allclose(found, math.log(299 + math.exp(5)), rtol=1e-6)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_composites_of_narrow_floats_are_rounded_once(dtype):
    rng = np.random.default_rng(2)
    x = (rng.standard_normal((6, 8, 20)) * 100).astype(dtype)
    y = (rng.standard_normal((6, 8, 20)) * 100).astype(dtype)
    wide, other = x.astype(np.float32), y.astype(np.float32)
    weight = np.ones(20, dtype)
    channels = np.ones(8, dtype)
    cases = [
        lambda x, y, w, c: graph.rms_norm(x, w),
        lambda x, y, w, c: graph.batch_norm(x, c, c, c, c),
        lambda x, y, w, c: graph.group_norm(x, 2, c, c),
        lambda x, y, w, c: graph.normalize(x),
        lambda x, y, w, c: graph.silu(x),
        lambda x, y, w, c: graph.softplus(x),
        lambda x, y, w, c: graph.mse_loss(x / 100, y / 100),
        lambda x, y, w, c: graph.cosine_similarity(x, y),
        lambda x, y, w, c: graph.vector_norm(x / 100, axis=-1),
        lambda x, y, w, c: graph.std(x / 10, axis=1),
        lambda x, y, w, c: graph.logsumexp(x, axis=1),
        lambda x, y, w, c: graph.scaled_dot_product_attention(x / 100, y / 100, y),
    ]
    for number, case in enumerate(cases):
        found = graph.compile(case)(x, y, weight, channels)
        assert found.dtype == dtype, number
        divided = number in (6, 8, 9, 11)  # divisions that the narrow case rounds
        expected = graph.compile(case)(
            wide, other, weight.astype(np.float32), channels.astype(np.float32)
        )
        unit = float(ml_dtypes.finfo(dtype).eps) * (8 if divided else 0.6)
        least = float(ml_dtypes.finfo(dtype).tiny)
        np.testing.assert_allclose(
            found.astype(np.float32), expected, rtol=unit, atol=unit * 100 if number == 11 else least
        )
    assert graph.mse_loss(x, wide).dtype == np.float32
    assert graph.rms_norm(x.astype(np.float64)).dtype == np.float64


def test_counts_are_whole():
    found = graph.count_nonzero(np.ones((3, 1000), np.float16))
    assert found.dtype == np.int64 and found == 3000
