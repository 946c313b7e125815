"""Functions of one or two elements, and activations, against float64 and the standard library."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hoist import graph
from hoist.errors import InvalidArgument

U = 2.0**-24
SPECIAL = np.array(
    [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1e-38, 3e38, -3e38, 0.5, -0.5]
    + [88.8, -104.0, 2.0, -2.5, 2.5, 1e6, -3e7, math.pi, 1e-4],
    np.float32,
)


def floats(shape, seed, spread=1.0):
    rng = np.random.default_rng(seed)
    array = rng.standard_normal(shape) * spread
    where = rng.random(shape) < 0.2
    return np.where(where, rng.choice(SPECIAL, size=shape), array).astype(np.float32)


def near(found, expected, units):
    """Equal where the result is special, else within so many units of the last place."""
    expected = np.asarray(expected, np.float64)
    assert found.dtype == np.float32 and found.shape == expected.shape
    with np.errstate(over="ignore"):
        rounded = expected.astype(np.float32)
    special = ~np.isfinite(rounded)
    np.testing.assert_array_equal(found[special], rounded[special])
    error = np.abs(found[~special] - expected[~special])
    assert (error <= units * U * np.abs(expected[~special]) + 1.5e-45).all()


FUNCTIONS = {
    "exp2": (np.exp2, 6),
    "expm1": (np.expm1, 6),
    "log1p": (np.log1p, 6),
    "log2": (np.log2, 6),
    "log10": (np.log10, 1.01),
    "sin": (np.sin, 6),
    "cos": (np.cos, 6),
    "tan": (np.tan, 6),
    "asin": (np.arcsin, 1.01),
    "acos": (np.arccos, 1.01),
    "atan": (np.arctan, 1.01),
    "sinh": (np.sinh, 1.01),
    "cosh": (np.cosh, 1.01),
    "asinh": (np.arcsinh, 1.01),
    "acosh": (np.arccosh, 1.01),
    "atanh": (np.arctanh, 1.01),
    "floor": (np.floor, 0),
    "ceil": (np.ceil, 0),
    "trunc": (np.trunc, 0),
    "round": (np.round, 0),
    "sign": (np.sign, 0),
    "positive": (np.positive, 0),
    "reciprocal": (lambda x: 1 / x, 1),
}
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=20)
PAIRS = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=7, min_side=0)


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=40, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 2**32), spread=st.sampled_from([0.01, 1.0, 30.0, 1e5]))
def test_functions_are_within_their_bounds(name, shape, seed, spread):
    exact, units = FUNCTIONS[name]
    x = floats(shape, seed, spread)
    with np.errstate(all="ignore"):
        expected = exact(x.astype(np.float64))
    near(getattr(graph, name)(x), expected, units)


@settings(max_examples=60, deadline=None)
@given(shapes=PAIRS, seed=st.integers(0, 2**32))
def test_functions_of_two_are_numpys(shapes, seed):
    a, b = (floats(shape, seed + i) for i, shape in enumerate(shapes.input_shapes))
    wide = a.astype(np.float64), b.astype(np.float64)
    with np.errstate(all="ignore"):
        near(graph.hypot(a, b), np.hypot(*wide), 1.01)
        near(graph.atan2(a, b), np.arctan2(*wide), 2)
        number = np.where(np.isnan(b), np.float32(1), b)
        near(graph.copysign(a, number), np.copysign(a, number), 0)
        found, expected = graph.logaddexp(a, b), np.logaddexp(*wide)
        close = graph.isclose(a, b), graph.isclose(a, b, equal_nan=True, rtol=0.5)
        wanted = np.isclose(a, b), np.isclose(a, b, equal_nan=True, rtol=0.5)
    special = ~np.isfinite(expected.astype(np.float32))
    np.testing.assert_array_equal(found[special], expected.astype(np.float32)[special])
    scale = (1 + np.maximum(abs(a), abs(b)))[~special]
    assert (np.abs(found[~special] - expected[~special]) <= 20 * U * scale).all()
    np.testing.assert_array_equal(close[0], wanted[0])
    np.testing.assert_array_equal(close[1], wanted[1])


@settings(max_examples=40, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 2**32))
def test_questions_about_floats(shape, seed):
    x = floats(shape, seed)
    for name in ("isnan", "isinf", "isfinite", "signbit"):
        found = getattr(graph, name)(x)
        assert found.dtype == bool
        some = ~np.isnan(x) | (name != "signbit")
        np.testing.assert_array_equal(found[some], np.asarray(getattr(np, name)(x))[some])
    np.testing.assert_array_equal(graph.nan_to_num(x), np.nan_to_num(x))
    np.testing.assert_array_equal(graph.nan_to_num(x, 1, 2, 3), np.nan_to_num(x, True, 1, 2, 3))
    a, b = x > 0, x < 1
    np.testing.assert_array_equal(graph.logical_xor(a, b), a ^ b)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def softplus(x):
    return np.log1p(np.exp(-abs(x))) + np.maximum(x, 0)


ACTIVATIONS = {
    "silu": (lambda x: x * sigmoid(x), {}),
    "leaky_relu": (lambda x: np.where(x > 0, x, 0.2 * x), {"negative_slope": 0.2}),
    "elu": (lambda x: np.where(x > 0, x, 1.5 * np.expm1(x)), {"alpha": 1.5}),
    "celu": (lambda x: np.where(x > 0, x, 1.5 * np.expm1(x / 1.5)), {"alpha": 1.5}),
    "selu": (
        lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * np.expm1(x)),
        {},
    ),
    "softplus": (lambda x: np.where(2 * x > 20, x, softplus(2 * x) / 2), {"beta": 2.0}),
    "logsigmoid": (lambda x: -softplus(-x), {}),
    "softsign": (lambda x: x / (1 + abs(x)), {}),
    "mish": (lambda x: x * np.tanh(softplus(x)), {}),
    "hardtanh": (lambda x: np.clip(x, -2, 0.5), {"min_val": -2, "max_val": 0.5}),
    "relu6": (lambda x: np.clip(x, 0, 6), {}),
    "hardsigmoid": (lambda x: np.clip(x + 3, 0, 6) / 6, {}),
    "hardswish": (lambda x: x * np.clip(x + 3, 0, 6) / 6, {}),
    "hardshrink": (lambda x: np.where(abs(x) <= 0.5, 0, x), {}),
    "softshrink": (lambda x: np.sign(x) * np.maximum(abs(x) - 0.5, 0), {}),
    "tanhshrink": (lambda x: x - np.tanh(x), {}),
    "threshold": (lambda x: np.where(x <= 0.25, -7, x), {"threshold": 0.25, "value": -7}),
}


@pytest.mark.parametrize("name", ACTIVATIONS)
@settings(max_examples=30, deadline=None)
@given(shape=SHAPES, seed=st.integers(0, 2**32))
def test_activations_are_their_formulas(name, shape, seed):
    exact, keywords = ACTIVATIONS[name]
    x = np.random.default_rng(seed).standard_normal(shape) * 5
    x = np.asarray(x, np.float32)
    found = getattr(graph, name)(x, **keywords)
    assert found.dtype == np.float32 and found.shape == x.shape
    np.testing.assert_allclose(found, exact(x.astype(np.float64)), rtol=3e-6, atol=2e-6)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_activations_keep_nan_and_do_not_overflow(name):
    keywords = ACTIVATIONS[name][1]
    found = getattr(graph, name)(np.array([np.nan, 3e38, 500], np.float32), **keywords)
    assert np.isnan(found[0]) and not np.isnan(found[1:]).any()


def test_activations_with_parameters():
    x = floats((2, 6, 3), 1)
    weight = np.arange(6, dtype=np.float32) - 2
    with np.errstate(invalid="ignore"):
        expected = np.where(x > 0, x, x * weight.reshape(6, 1))
        one = np.where(x > 0, x, x * np.float32(0.3))
    np.testing.assert_array_equal(graph.prelu(x, weight), expected)
    np.testing.assert_array_equal(graph.prelu(x, np.full(1, 0.3, np.float32)), one)
    found = graph.glu(x, axis=1)
    with np.errstate(invalid="ignore"):
        np.testing.assert_array_equal(found, x[:, :3] * graph.sigmoid(x[:, 3:].copy()))
    for call in (
        lambda: graph.glu(x),
        lambda: graph.glu(x, axis=3),
        lambda: graph.prelu(x, np.ones(5, np.float32)),
        lambda: graph.hardtanh(x, 2, 1),
        lambda: graph.softshrink(x, -1),
    ):
        with pytest.raises(InvalidArgument):
            call()


def test_exact_results_of_whole_arguments():
    powers = np.arange(-20, 21, dtype=np.float32)
    np.testing.assert_array_equal(graph.log2(np.exp2(powers)), powers)
    np.testing.assert_array_equal(graph.exp2(powers), np.exp2(powers))
    tens = np.array([1, 10, 100, 1000, 1e10], np.float32)
    assert graph.floor(graph.log10(tens)).tolist() == [0, 1, 2, 3, 10]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("native", ["off", "now"])
def test_nobody_sees_the_sign_of_a_nan(dtype, native):
    x = np.array([np.nan, -np.nan, -0.0, -1.0, 1.0] * 400, dtype)
    wanted = np.where(np.isnan(x), False, np.signbit(x))
    signs = graph.compile(lambda x: graph.copysign(graph.abs(x) * 0 + 2, x), native=native)
    bits = graph.compile(graph.signbit, native=native)
    numbers = ~np.isnan(x)
    for _ in range(12):  # before and after kernels are replaced
        np.testing.assert_array_equal(
            np.asarray(signs(x))[numbers], np.where(wanted, -2, 2).astype(dtype)[numbers]
        )
        np.testing.assert_array_equal(np.asarray(bits(x)), wanted)
    np.testing.assert_array_equal(np.asarray(graph.signbit(x)), wanted)
    np.testing.assert_array_equal(
        np.asarray(graph.copysign(np.ones_like(x), x)), np.where(wanted, -1, 1)
    )
