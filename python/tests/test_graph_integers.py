"""Functions made of several operations, of integers: nothing wraps that the formula does not."""

import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoist import graph

INTEGERS = [np.dtype(f"{kind}int{bits}") for kind in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [np.dtype("float16"), np.dtype(ml_dtypes.bfloat16), np.dtype("float32"), np.dtype("float64")]
SEEDS = st.integers(0, 2**32)
FEW = settings(max_examples=30, deadline=None)

# How many arrays of one shape each takes, and keywords.
OF_FLOATS = [
    *((name, 1, {}) for name in ("silu", "leaky_relu", "elu", "celu", "selu", "softplus", "logsigmoid")),
    *((name, 1, {}) for name in ("softsign", "mish", "relu6", "hardsigmoid", "hardswish", "tanhshrink")),
    *((name, 1, {}) for name in ("hardshrink", "softshrink", "glu", "rms_norm", "normalize", "logsumexp")),
    *((name, 1, {}) for name in ("var", "std")),
    *(("vector_norm", 1, {"ord": ord}) for ord in (0, 1, 2, 3, 2.5, math.inf, -math.inf)),
    ("leaky_relu", 1, {"negative_slope": 2}),
    ("elu", 1, {"alpha": 3}),
    ("softplus", 1, {"beta": 2, "threshold": 3}),
    ("softshrink", 1, {"lambd": 1}),
    ("hardshrink", 1, {"lambd": 1}),
    ("normalize", 1, {"axis": 0, "p": 3.0}),
    ("logaddexp", 2, {}),
    *((name, 2, {}) for name in ("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "kl_div")),
    *((name, 2, {}) for name in ("binary_cross_entropy", "binary_cross_entropy_with_logits")),
    *((name, 2, {"reduction": "none"}) for name in ("mse_loss", "hinge_embedding_loss")),
    *((name, 2, {"reduction": "sum"}) for name in ("soft_margin_loss", "poisson_nll_loss")),
    ("poisson_nll_loss", 2, {"log_input": False}),
    ("kl_div", 2, {"log_target": True}),
    ("cosine_similarity", 2, {}),
    ("margin_ranking_loss", 3, {"margin": 1}),
    ("triplet_margin_loss", 3, {}),
    ("gaussian_nll_loss", 3, {}),
    ("scaled_dot_product_attention", 3, {}),
]


def integers(dtype, shape, seed):
    """Small numbers, and some of the extreme ones."""
    rng = np.random.default_rng(seed)
    info = np.iinfo(dtype)
    values = rng.integers(0 if info.min == 0 else -9, 10, size=shape).astype(dtype)
    extreme = np.array([info.min, info.max, info.max - 1, info.max // 2 + 1], dtype)
    return np.where(rng.random(shape) < 0.3, extreme[rng.integers(4, size=shape)], values)


def float_for(dtype):
    return np.dtype("float64" if dtype.itemsize == 8 else "float32")


def same(found, expected):
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if found.dtype == FLOATS[1]:  # whose NaNs NumPy does not know
        found, expected = found.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name, count, keywords", OF_FLOATS, ids=str)
@FEW
@given(dtype=st.sampled_from(INTEGERS), seed=SEEDS)
def test_of_integers_is_of_their_float_type(name, count, keywords, dtype, seed):
    function = getattr(graph, name)
    given = [integers(dtype, (4, 6), seed + i) for i in range(count)]
    found = function(*given, **keywords)
    assert found.dtype == float_for(dtype)
    same(found, function(*(one.astype(float_for(dtype)) for one in given), **keywords))


@pytest.mark.parametrize("name, count, keywords", [one for one in OF_FLOATS if one[1] > 1], ids=str)
@FEW
@given(dtype=st.sampled_from(INTEGERS), wide=st.sampled_from(FLOATS), seed=SEEDS)
def test_integers_beside_floats_take_their_type(name, count, keywords, dtype, wide, seed):
    function = getattr(graph, name)
    first = np.random.default_rng(seed).standard_normal((4, 6)).astype(wide)
    rest = [integers(dtype, (4, 6), seed + i) for i in range(1, count)]
    found = function(first, *rest, **keywords)
    assert found.dtype == wide
    # Those of 16 bits are computed with as float32, and so are integers beside them.
    kept = np.dtype("float32") if wide.itemsize == 2 else wide
    expected = function(first.astype(kept), *(one.astype(kept) for one in rest), **keywords)
    same(found, graph.astype(expected, wide.name))


def test_arrays_that_a_traced_function_holds_count_too():
    constant = np.array([100, -128, 127], np.int8)
    x = np.array([-128, 127, 100], np.int8)
    found = graph.compile(lambda x: graph.mse_loss(x, constant, reduction="none"))(x)
    same(found, np.array([228**2, 255**2, 27**2], np.float32))
    half = np.array([0.1, 0.2, 0.3], np.float16)
    wide = np.array([0.15, 0.1, 0.7], np.float32)
    found = graph.compile(lambda x: graph.mse_loss(x, wide, reduction="none"))(half)
    same(found, (half.astype(np.float32) - wide) ** 2)


@pytest.mark.parametrize("ord", [0, 1, 2, 3, math.inf, -math.inf])
@FEW
@given(dtype=st.sampled_from(INTEGERS), seed=SEEDS)
def test_vector_norms_of_integers_are_numpys(ord, dtype, seed):
    x = integers(dtype, (3, 7), seed)
    found = graph.vector_norm(x, axis=1, ord=ord)
    expected = np.linalg.norm(x.astype(np.float64), axis=1, ord=ord)
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert graph.vector_norm(np.zeros(3, np.float16), ord=0).dtype == np.float16


# Closeness, by Python's integers.


@FEW
@given(
    dtypes=st.sampled_from([(a, b) for a in INTEGERS for b in INTEGERS if b.kind == a.kind or "uint64" not in (a, b)]),
    seed=SEEDS,
    rtol=st.sampled_from([0.0, 1e-5, 0.5]),
    atol=st.sampled_from([0.0, 0.5, 1.0, 200.0]),
)
def test_closeness_of_integers(dtypes, seed, rtol, atol):
    a, b = (integers(dtype, (40,), seed + i) for i, dtype in enumerate(dtypes))
    found = graph.isclose(a, b, rtol=rtol, atol=atol)
    expected = [abs(int(x) - int(y)) <= abs(int(y)) * rtol + atol for x, y in zip(a, b)]
    same(found, np.array(expected))


def test_closeness_of_integers_of_64_bits():
    a = np.array([2**62, 2**63 - 1, -(2**63)])
    assert graph.isclose(a, a + np.array([1, -1, 1]), rtol=0, atol=0.5).tolist() == [False] * 3
    assert graph.isclose(a, a, rtol=0, atol=0).all()
    ends = np.array([2**63 - 1]), np.array([-(2**63)])
    assert graph.isclose(*ends, rtol=0, atol=1.9e19).all()
    assert not graph.isclose(*ends, rtol=0, atol=1.8e19).any()


@FEW
@given(dtype=st.sampled_from(INTEGERS), wide=st.sampled_from(FLOATS[2:]), seed=SEEDS)
def test_closeness_of_integers_and_floats(dtype, wide, seed):
    x = integers(dtype, (20,), seed)
    y = np.where(np.arange(20) % 2, x, -x.astype(np.float64)).astype(wide)
    same(graph.isclose(x, y), np.isclose(x.astype(wide), y))
    same(graph.isclose(y, x), np.isclose(y, x.astype(wide)))


# Numbers beside integers


@pytest.mark.parametrize("name", ["divide", "atan2", "hypot", "copysign"])
@pytest.mark.parametrize("number", [-3, 300, 2**70, -0.5, math.inf])
@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_numbers_are_of_the_type_that_is_computed_with(name, number, dtype):
    function = getattr(graph, name)
    x = integers(dtype, (9,), 7)
    wide = x.astype(float_for(dtype))
    for _ in range(2):
        with np.errstate(over="ignore"):
            same(function(x, number), function(wide, float(number)))
            same(function(number, x), function(float(number), wide))
        same(graph.compile(lambda x: function(x, number))(x), function(x, number))


def test_an_integer_that_the_type_lacks_is_refused():
    x = np.array([1, 2], np.uint8)
    for function in (graph.add, graph.multiply, graph.floor_divide, graph.less):
        with pytest.raises(OverflowError):
            function(x, -3)
        with pytest.raises(OverflowError):
            graph.compile(lambda x: function(x, -3))(x)


# Powers


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
@pytest.mark.parametrize("exponent", [2, 3, 2.0, 3.0, np.float32(2), np.int64(3)])
def test_powers_have_the_type_of_their_exponent(dtype, exponent):
    x = integers(dtype, (30,), 5)
    whole = isinstance(exponent, (int, np.integer))
    wide = dtype if whole else float_for(dtype)
    with np.errstate(over="ignore"):
        expected = x.astype(wide) * x.astype(wide)
        expected = expected if exponent == 2 else expected * x.astype(wide)
    for found in (graph.pow(x, exponent), np.asarray(graph.array(x) ** exponent)):
        same(found, expected)
    same(graph.compile(lambda x: x**exponent)(x), expected)


def test_powers_of_booleans():
    truths = np.array([True, False])
    same(graph.pow(truths, 2), np.array([1, 0]))
    same(graph.pow(truths, 3.0), np.array([1, 0], np.float32))


@pytest.mark.parametrize("dtype", [np.dtype("bool"), *INTEGERS], ids=str)
def test_numbers_without_nan_stay(dtype):
    x = integers(dtype, (30,), 6) if dtype != bool else np.array([True, False])
    same(graph.nan_to_num(x), x)
    same(graph.nan_to_num(x, nan=7.0, posinf=1.0, neginf=2.0), x)
