"""Element types of hoist.graph against NumPy: all of them, promotion, casts, wrapping, special values."""

import operator
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hoist import errors, graph
from hoist.graph import _types

BF16 = np.dtype(ml_dtypes.bfloat16)
INTEGERS = [np.dtype(f"{kind}int{bits}") for kind in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = [np.dtype("float16"), BF16, np.dtype("float32"), np.dtype("float64")]
NUMBERS = INTEGERS + FLOATS
ALL = [np.dtype("bool"), *NUMBERS]
SHAPES = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=7)
SEEDS = st.integers(0, 2**32)
FEW = settings(max_examples=25, deadline=None)


def is_float(dtype):
    return dtype in FLOATS


def numbers(dtype, shape, seed, special=True):
    """Small numbers, and some of the extreme ones."""
    rng = np.random.default_rng(seed)
    if dtype == bool:
        return rng.random(shape) < 0.5
    rare = rng.random(shape) < (0.25 if special else 0)
    if is_float(dtype):
        info = ml_dtypes.finfo(dtype)
        extreme = [0.0, -0.0, np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny]
        extreme += [info.smallest_subnormal, 1 + info.eps, -1.5]
        values = rng.standard_normal(shape) * 3
        picked = np.array([float(one) for one in extreme])[rng.integers(len(extreme), size=shape)]
        with np.errstate(all="ignore"):
            return np.where(rare, picked, values).astype(dtype)
    info = np.iinfo(dtype)
    extreme = np.array([info.min, info.max, info.max - 1, info.min + 1, info.max // 2], dtype)
    low = 0 if info.min == 0 else -12
    values = rng.integers(low, 13, size=shape).astype(dtype)
    return np.where(rare, extreme[rng.integers(len(extreme), size=shape)], values).astype(dtype)


def with_strides(array, seed):
    """The same, at times as a view that lies otherwise."""
    if seed % 3 == 0 and array.ndim:
        return np.repeat(array, 2, axis=-1)[..., ::2]
    return np.asfortranarray(array) if seed % 3 == 1 else array


def same(found, expected):
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    if found.dtype == bool or not is_float(found.dtype):
        np.testing.assert_array_equal(found, expected)
        return
    wide, wanted = found.astype(np.float64), expected.astype(np.float64)
    np.testing.assert_array_equal(wide, wanted)
    is_number = ~np.isnan(wanted)
    np.testing.assert_array_equal(np.signbit(wide)[is_number], np.signbit(wanted)[is_number])


def numpys(function, *arrays):
    with np.errstate(all="ignore"):
        return function(*arrays)


ARITHMETIC = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


pytestmark = pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # ml_dtypes'


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@FEW
@given(shapes=SHAPES, seed=SEEDS)
def test_arithmetic_wraps_or_rounds_as_numpys(dtype, shapes, seed):
    a, b = (numbers(dtype, shape, seed + i) for i, shape in enumerate(shapes.input_shapes))
    a, b = with_strides(a, seed), with_strides(b, seed // 3)
    for name, function in ARITHMETIC.items():
        same(getattr(graph, name)(a, b), numpys(function, a, b))
    same(graph.negative(a), numpys(np.negative, a))
    same(graph.abs(a), numpys(np.abs, a))
    same(graph.square(a), numpys(np.multiply, a, a))
    for name in ("minimum", "maximum"):
        found, expected = getattr(graph, name)(a, b), getattr(np, name)(a, b)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.astype(float), expected.astype(float))
    if is_float(dtype):
        same(graph.divide(a, b), numpys(np.divide, a, b))
        same(graph.sqrt(a), numpys(np.sqrt, a))


@pytest.mark.parametrize("dtype", ALL, ids=str)
@FEW
@given(shapes=SHAPES, seed=SEEDS)
def test_comparisons_and_choices_are_numpys(dtype, shapes, seed):
    a, b = (numbers(dtype, shape, seed + i) for i, shape in enumerate(shapes.input_shapes))
    for name in COMPARISONS:
        same(getattr(graph, name)(a, b), getattr(np, name)(a, b))
    choose = graph.compile(lambda a, b: graph.where(a > b, a, b))
    same(choose(a, b), np.where(a > b, a, b))
    same(graph.concat([a.ravel(), b.ravel()]), np.concatenate([a.ravel(), b.ravel()]))


def cast(x, dtype):
    """As NumPy has it where C++ defines it; floats to integers are truncated and saturate."""
    if not (is_float(x.dtype) and dtype in INTEGERS):
        return numpys(lambda: x.astype(dtype))
    info = np.iinfo(dtype)
    wide = np.trunc(np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=1e300, neginf=-1e300))
    whole = [min(max(int(one), info.min), info.max) for one in wide.ravel()]
    return np.array(whole, dtype).reshape(x.shape)


@pytest.mark.parametrize("dtype", ALL, ids=str)
@FEW
@given(shape=hnp.array_shapes(min_dims=0, max_dims=2, max_side=30), seed=SEEDS)
def test_casts_round_once(dtype, shape, seed):
    x = with_strides(numbers(dtype, shape, seed), seed)
    for wanted in ALL:
        found = graph.astype(x, wanted)
        if is_float(wanted) and wanted.itemsize == 2 and dtype.itemsize == 8:
            same(found, rounded_once(x, wanted))
        else:
            same(found, cast(x, wanted))


def rounded_once(x, dtype):
    """Of the numbers on both sides of what NumPy gives the nearest one; the even one of two."""
    results = []
    for one in x.ravel():
        exact = int(one) if x.dtype in INTEGERS else float(one)
        with np.errstate(all="ignore"):
            near = np.asarray(exact, np.float64).astype(dtype)
        if not np.isfinite(near) or near == 0:
            results.append(near)
            continue
        bits = near.view(np.uint16)
        nearest = [np.uint16(int(bits) + step).view(dtype) for step in (-1, 0, 1)]
        finite = [other for other in nearest if np.isfinite(other)]
        distance = [abs(Fraction(float(other)) - Fraction(exact)) for other in finite]
        least = [o for o, d in zip(finite, distance) if d == min(distance)]
        results.append(min(least, key=lambda other: int(other.view(np.uint16)) & 1))
    return np.array(results, dtype).reshape(x.shape)


def test_a_cast_does_not_round_twice():
    for dtype, bits in ((np.dtype("float16"), 11), (BF16, 8)):
        step = 2.0 ** (1 - bits)
        # A bit above the middle of two numbers, that f32 has not.
        x = np.array([1 + step / 2 + 2.0**-40, 1 + step / 2, 1 + 3 * step / 2 - 2.0**-40])
        same(graph.astype(x, dtype), np.array([1 + step, 1, 1 + step], np.float64).astype(dtype))
    big = np.array([2**24 + 1, 2**53 + 1, 2**62 + 2**38 + 1, -(2**62) - 2**38 - 1, 2**63 - 1])
    same(graph.astype(big, "float32"), big.astype(np.float32))
    same(graph.astype(big.astype(np.uint64) * 2, "float32"), (big.astype(np.uint64) * 2).astype(np.float32))
    middle = np.array([2**54 + 2**46 + 1, 2**54 + 2**46], np.int64)
    same(graph.astype(middle, BF16), np.array([2**54 + 2**47, 2**54], np.float64).astype(BF16))


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@FEW
@given(shape=hnp.array_shapes(min_dims=1, max_dims=3, max_side=40), seed=SEEDS, data=st.data())
def test_reductions_are_numpys(dtype, shape, seed, data):
    x = with_strides(numbers(dtype, shape, seed, special=not is_float(dtype)), seed)
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    same(graph.max(x, axis=axis), np.max(x, axis=axis))
    same(graph.min(x, axis=axis), np.min(x, axis=axis))
    total, mean = graph.sum(x, axis=axis), graph.mean(x, axis=axis)
    if not is_float(dtype):
        same(total, np.sum(x, axis=axis))
        assert mean.dtype == _types.float_for(str(dtype))
        expected = np.sum(x.astype(np.float64), axis=axis) / (x.size / max(total.size, 1))
        if dtype.itemsize < 8:
            np.testing.assert_allclose(mean, expected, rtol=1e-5, atol=1e-4)
        return
    wide = x.astype(np.float64)
    assert total.dtype == mean.dtype == dtype
    # One rounding to the type, and sums in at least f32.
    error = np.abs(wide).sum(axis=axis) * max(2.0**-20, 0) if dtype != np.float64 else 1e-12
    exact = wide.sum(axis=axis)
    unit = float(ml_dtypes.finfo(dtype).eps)
    for found, wanted in ((total, exact), (mean, exact / (x.size / max(total.size, 1)))):
        assert (np.abs(found.astype(float) - wanted) <= unit * np.abs(wanted) + error).all()


@pytest.mark.parametrize("dtype", NUMBERS, ids=str)
@pytest.mark.parametrize(
    "a, b",
    [((3, 4), (4, 5)), ((4,), (4, 5)), ((2, 1, 3, 4), (6, 4, 5)), ((0, 4), (4, 5)), ((3, 0), (0, 5))]
    + [((1, 70), (70, 33)), ((37, 300), (300, 65)), ((5, 17), (17, 16))],
)
def test_products_are_numpys(dtype, a, b):
    x, y = numbers(dtype, a, 1, special=not is_float(dtype)), numbers(dtype, b, 2, special=False)
    products = [graph.matmul(x, y)]
    if len(a) == len(b) == 2:
        products.append(graph.compile(lambda x, y: (y.T @ x.T).T)(x, y))
    for found in products:
        if not is_float(dtype):
            same(found, np.matmul(x, y))
            continue
        exact = x.astype(np.float64) @ y.astype(np.float64)
        bound = np.abs(x.astype(np.float64)) @ np.abs(y.astype(np.float64))
        unit = float(ml_dtypes.finfo(dtype).eps)
        depth = a[-1]
        sums = depth * (2.0**-53 if dtype == np.float64 else 2.0**-24) * bound
        assert found.dtype == dtype and found.shape == exact.shape
        assert (np.abs(found.astype(float) - exact) <= unit * np.abs(exact) + 2 * sums).all()


FUNCTIONS = {
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sqrt": np.sqrt,
}


@pytest.mark.parametrize("name", FUNCTIONS)
@FEW
@given(shape=hnp.array_shapes(min_dims=0, max_dims=2, max_side=40), seed=SEEDS)
def test_functions_of_f64_and_of_narrow_floats(name, shape, seed):
    for dtype in FLOATS:
        x = numbers(dtype, shape, seed)
        found = getattr(graph, name)(x)
        assert found.dtype == dtype
        exact = numpys(FUNCTIONS[name], x.astype(np.longdouble))
        expected = numpys(lambda: exact.astype(np.float64).astype(dtype).astype(np.float64))
        wide = found.astype(np.float64)
        special = ~np.isfinite(expected) | ~np.isfinite(wide)
        np.testing.assert_array_equal(wide[special], expected[special])
        unit = float(ml_dtypes.finfo(dtype).eps)
        least = 2 * max(float(ml_dtypes.finfo(dtype).smallest_subnormal), 1.2e-38 * (dtype != np.float64))
        error = np.abs(wide[~special] - exact.astype(np.float64)[~special])
        bound = 4 * unit * np.abs(expected[~special]) + least
        assert (error <= bound).all()


def test_functions_of_integers_are_floats():
    for dtype in INTEGERS:
        x = np.arange(1, 60, dtype=dtype)
        wanted = np.float64 if dtype.itemsize == 8 else np.float32
        for found, exact in ((graph.exp(x), np.exp(x.astype(float))), (x / x[::-1], None)):
            if exact is not None:
                assert found.dtype == wanted
                np.testing.assert_allclose(found, exact, rtol=1e-6)
        same(graph.divide(x, x[::-1].copy()), x.astype(wanted) / x[::-1].astype(wanted))


def test_powers_of_integers_wrap():
    for dtype in INTEGERS:
        x = numbers(dtype, (50,), 3)
        n = np.arange(50).astype(dtype) % 9
        same(graph.pow(x, n), numpys(np.power, x, n))
    x = np.array([-1, -1, 1, 0, 2, -3], np.int32)
    same(graph.pow(x, np.array([-3, -4, -5, -1, -1, -2], np.int32)), np.array([-1, 1, 1, 0, 0, 0], np.int32))


# The array API's table, and what goes beyond it.


def test_promotion_is_the_array_apis():
    for a in ALL:
        for b in ALL:
            x, y = np.ones((), a), np.ones((3,), b)
            names = {str(a), str(b)}
            if "uint64" in names and any(one.startswith("int") for one in names):
                with pytest.raises(errors.InvalidArgument, match="no integer type has both"):
                    graph.multiply(x, y)
                continue
            found = graph.equal(x, y)
            assert found.all()
            if a == b == bool:
                continue
            found = graph.multiply(x, y).dtype
            if is_float(a) != is_float(b) and bool not in (a, b):
                expected = a if is_float(a) else b
            elif {a, b} == {np.dtype("float16"), BF16}:
                expected = np.dtype("float32")
            else:
                expected = ml_dtypes.finfo(BF16).dtype if {a, b} <= {BF16, np.dtype(bool)} else None
                expected = expected or np.result_type(x, y)
            assert found == expected, (a, b)


def test_pythons_numbers_are_weak():
    for dtype in ALL:
        x = np.ones(3, dtype)
        whole = graph.compile(lambda x: x * 3)(x)
        part = graph.compile(lambda x: 0.5 * x)(x)
        assert whole.dtype == (np.int64 if dtype == bool else dtype)
        wanted = dtype if is_float(dtype) else _types.float_for(str(dtype))
        assert part.dtype == wanted
        np.testing.assert_array_equal(whole.astype(float), 3)
        np.testing.assert_array_equal(part.astype(float), 0.5)
    assert graph.compile(lambda x: graph.where(x > 0, 1, 2))(np.ones(2, np.float32)).dtype == np.int64
    for number, dtype in ((300, np.int8), (-1, np.uint16), (2**64, np.uint64)):
        with pytest.raises(OverflowError):
            graph.compile(lambda x: x + number)(np.ones(2, dtype))  # noqa: B023
    big = graph.compile(lambda x: x + (2**64 - 2))(np.ones(2, np.uint64))
    assert big.tolist() == [2**64 - 1] * 2


def test_constants_keep_every_bit():
    for dtype in ALL:
        values = numbers(dtype, (40,), 5)
        found = graph.compile(lambda x: graph.where(x > 0, values, values))(np.ones(40, np.float32))  # noqa: B023
        same(found, values)
    exact = 0.1 + 2.0**-40
    assert graph.compile(lambda x: x * exact)(np.ones(1))[0] == exact


def test_another_type_is_traced_again():
    function = graph.compile(lambda x: x + x)
    for _ in range(2):
        for dtype in NUMBERS:
            x = np.arange(5).astype(dtype)
            same(function(x), x + x)
    assert len(function.programs) == len(NUMBERS)
    # The same size, by the same buffer protocol.
    bits = np.array([1, 2, 3], np.int32)
    same(function(bits.view(np.float32)), bits.view(np.float32) * 2)
    with pytest.raises(errors.Unsupported, match="complex64"):
        function(np.ones(2, np.complex64))
    with pytest.raises(errors.InvalidArgument, match="int32.*float32"):
        graph.trace(lambda x: x, graph.Spec((3,)))(bits)


def test_out_has_the_results_type():
    function = graph.compile(lambda x: x * 2)
    for dtype in NUMBERS:
        x = np.arange(6).astype(dtype)
        out = np.empty(6, dtype)
        for _ in range(2):
            assert function(x, out=out) is out
        same(out, x * np.asarray(2, dtype))
        assert function(x, out=x) is x  # in place
        same(x, out)
        other = np.empty(6, np.float64 if dtype != np.float64 else np.float32)
        with pytest.raises(errors.InvalidArgument, match="the result is"):
            function(x, out=other)


def test_outputs_may_overlap_inputs_of_other_types():
    memory = np.zeros(64, np.uint8)
    given = np.arange(8, dtype=np.int16)
    function = graph.compile(lambda x: x[::-1].astype("float64") + x)
    for shift in (0, 8):
        memory[shift : shift + 16].view(np.int16)[:] = given
        out = memory.view(np.float64)
        function(memory[shift : shift + 16].view(np.int16), out=out)
        np.testing.assert_array_equal(out, np.full(8, 7.0))


def test_models_in_other_types():
    rng = np.random.default_rng(7)
    x, w, b = rng.standard_normal((9, 20)), rng.standard_normal((20, 11)), rng.standard_normal(11)

    def model(x, w, b):
        return graph.softmax(graph.gelu(graph.layer_norm(x) @ w + b))

    exact = graph.compile(model)(x, w, b)
    assert exact.dtype == np.float64
    for dtype in FLOATS[:3]:
        found = graph.compile(model)(*(one.astype(dtype) for one in (x, w, b)))
        assert found.dtype == dtype
        np.testing.assert_allclose(found.astype(float), exact, atol=40 * float(ml_dtypes.finfo(dtype).eps))
    function = graph.compile(lambda x: graph.gelu(x, approximate="none"))
    assert function(np.array([0.5]))[0] == pytest.approx(0.34573123063700656, rel=1e-9)


def test_signs_of_words():
    low, high = np.array([2**63], np.uint64), np.array([1], np.uint64)
    assert not (graph.compile(operator.lt)(low, high)).any()
    same(graph.maximum(low, high), low)
    same(graph.sum(np.concatenate([low, low, high])), np.uint64(1))
