"""Every function that has one of NumPy's beside it, of integers: the same types and values."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hoist import graph
from hoist.errors import InvalidArgument

INTEGERS = [np.dtype(f"{kind}int{bits}") for kind in ("", "u") for bits in (8, 16, 32, 64)]
SHAPES = hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=6)
FULL = hnp.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=6)
SEEDS = st.integers(0, 2**32)
FEW = settings(max_examples=40, deadline=None)


def integers(dtype, shape, seed):
    """Small numbers, and some of the extreme ones."""
    rng = np.random.default_rng(seed)
    info = np.iinfo(dtype)
    values = rng.integers(0 if info.min == 0 else -9, 10, size=shape).astype(dtype)
    extreme = np.array([info.min, info.max, info.max - 1, info.min + 1, info.max // 2 + 1], dtype)
    return np.where(rng.random(shape) < 0.3, extreme[rng.integers(5, size=shape)], values).astype(dtype)


def float_for(dtype):
    return np.dtype("float64" if dtype.itemsize == 8 else "float32")


def same(found, expected):
    expected = np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    np.testing.assert_array_equal(found, expected)


def all_same(found, expected):
    assert len(found) == len(expected)
    for one, other in zip(found, expected):
        same(one, other)


def near(found, expected, dtype):
    """Of floats, by NumPy in float64."""
    assert found.dtype == dtype and found.shape == np.shape(expected)
    with np.errstate(over="ignore"):
        expected = np.asarray(expected).astype(dtype)
    np.testing.assert_allclose(found, expected, rtol=4e-6 if dtype == np.float32 else 1e-13)


OF_ONE = {
    "negative": np.negative,
    "abs": np.abs,
    "positive": np.positive,
    "square": np.square,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round": np.round,
    "nan_to_num": np.nan_to_num,
    "bitwise_invert": np.invert,
    "relu": lambda x: np.maximum(x, np.array(0, x.dtype)),
    "signbit": lambda x: x < 0,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "flip": np.flip,
    "matrix_transpose": lambda x: x.swapaxes(-1, -2),
    "tril": np.tril,
    "triu": np.triu,
    "diff": np.diff,
    "count_nonzero": lambda x: np.asarray(np.count_nonzero(x)),
    "any": np.any,
    "all": np.all,
}
OF_ONE_FLOAT = {
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "reciprocal": lambda x: 1 / x,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "sin": np.sin,
    "cos": np.cos,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
}
OF_TWO = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "outer": np.outer,
}
OF_TWO_FLOAT = {
    "divide": np.divide,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "logaddexp": np.logaddexp,
}


@pytest.mark.parametrize("name", OF_ONE)
@FEW
@given(dtype=st.sampled_from(INTEGERS), shape=SHAPES, seed=SEEDS)
def test_of_one(name, dtype, shape, seed):
    if name in ("matrix_transpose", "tril", "triu"):
        shape = (2, *shape)
    x = integers(dtype, shape, seed)
    same(getattr(graph, name)(x), OF_ONE[name](x))


@pytest.mark.parametrize("name", OF_ONE_FLOAT)
@FEW
@given(dtype=st.sampled_from(INTEGERS), shape=SHAPES, seed=SEEDS)
def test_of_one_in_floats(name, dtype, shape, seed):
    x = integers(dtype, shape, seed)
    rounded = x.astype(float_for(dtype)).astype("float64")
    with np.errstate(all="ignore"):
        near(getattr(graph, name)(x), OF_ONE_FLOAT[name](rounded), float_for(dtype))


def both(name, of, dtypes, shapes, seed, divides=False):
    x, y = (integers(dtype, shape, seed + i) for i, (dtype, shape) in enumerate(zip(dtypes, shapes)))
    if divides:
        y[y == 0] = 1
    wide = np.result_type(*dtypes)
    if wide.kind == "f":
        with pytest.raises(InvalidArgument, match="no integer type has both"):
            getattr(graph, name)(x, y)
        return None
    with np.errstate(all="ignore"):
        return getattr(graph, name)(x, y), of(x.astype(wide), y.astype(wide)), wide


@pytest.mark.parametrize("name", OF_TWO)
@FEW
@given(
    dtypes=st.tuples(*[st.sampled_from(INTEGERS)] * 2),
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=5),
    seed=SEEDS,
)
def test_of_two(name, dtypes, shapes, seed):
    of_two = [(7,), (5,)] if name == "outer" else shapes.input_shapes
    done = both(name, OF_TWO[name], dtypes, of_two, seed, name in ("floor_divide", "remainder"))
    if done:
        same(*done[:2])


@pytest.mark.parametrize("name", OF_TWO_FLOAT)
@FEW
@given(
    dtypes=st.tuples(*[st.sampled_from(INTEGERS)] * 2),
    shapes=hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=5),
    seed=SEEDS,
)
def test_of_two_in_floats(name, dtypes, shapes, seed):
    done = both(name, lambda *given: given, dtypes, shapes.input_shapes, seed)
    if done:
        found, given, wide = done
        with np.errstate(all="ignore"):
            given = [one.astype(float_for(wide)).astype("float64") for one in given]
            near(found, OF_TWO_FLOAT[name](*given), float_for(wide))


@FEW
@given(dtype=st.sampled_from(INTEGERS), shape=SHAPES, seed=SEEDS, by=st.integers(0, 8))
def test_powers_and_shifts(dtype, shape, seed, by):
    x = integers(dtype, shape, seed)
    counts = np.random.default_rng(seed).integers(0, 8, size=shape).astype(dtype)
    with np.errstate(all="ignore"):
        same(graph.pow(x, counts), np.power(x, counts))
        same(graph.pow(x, by), np.power(x, np.array(by, dtype)))
    same(graph.bitwise_left_shift(x, counts), np.left_shift(x, counts))
    same(graph.bitwise_right_shift(x, counts), np.right_shift(x, counts))


@FEW
@given(dtypes=st.tuples(*[st.sampled_from(INTEGERS)] * 2), shape=SHAPES, seed=SEEDS, data=st.data())
def test_choices(dtypes, shape, seed, data):
    x, y = (integers(dtype, shape, seed + i) for i, dtype in enumerate(dtypes))
    condition = np.random.default_rng(seed).random(shape) < 0.5
    if np.result_type(*dtypes).kind != "f":
        same(graph.where(condition, x, y), np.where(condition, x, y))
        same(graph.concat([x, y], axis=0), np.concatenate([x, y]))
        same(graph.stack([x, y], axis=-1), np.stack([x, y], axis=-1))
    low, high = sorted(data.draw(st.tuples(st.integers(0, 100), st.integers(0, 100))))
    same(graph.clip(x, low, high), np.clip(x, low, high))
    same(graph.clip(x, low), np.clip(x, low, None))
    same(graph.clip(x, max=high), np.clip(x, None, high))


# Reductions


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "any", "all"])
@FEW
@given(dtype=st.sampled_from(INTEGERS), shape=SHAPES, seed=SEEDS, keepdims=st.booleans(), data=st.data())
def test_reductions(name, dtype, shape, seed, keepdims, data):
    x = integers(dtype, shape, seed)
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    if name in ("max", "min") and 0 in (x.shape if axis is None else (x.shape[axis],)):
        with pytest.raises(InvalidArgument):
            getattr(graph, name)(x, axis=axis)
        return
    with np.errstate(all="ignore"):
        expected = getattr(np, name)(x, axis=axis, keepdims=keepdims)
    same(getattr(graph, name)(x, axis=axis, keepdims=keepdims), expected)


@pytest.mark.parametrize("name", ["mean", "var", "std"])
@FEW
@given(dtype=st.sampled_from(INTEGERS), shape=FULL, seed=SEEDS, data=st.data())
def test_means(name, dtype, shape, seed, data):
    x = integers(dtype, shape, seed)
    axis = data.draw(st.none() | st.integers(-len(shape), len(shape) - 1))
    wide = x.astype(float_for(dtype)).astype("float64")
    expected = getattr(np, name)(wide, axis=axis)
    found = getattr(graph, name)(x, axis=axis)
    assert found.dtype == float_for(dtype) and found.shape == expected.shape
    scale = float(np.abs(wide).max())
    scale *= scale if name == "var" else 1
    atol = scale * (1e-6 if found.dtype == np.float32 else 1e-14)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=atol)


@FEW
@given(dtype=st.sampled_from(INTEGERS), shape=FULL, seed=SEEDS, data=st.data())
def test_places_and_running_sums(dtype, shape, seed, data):
    x = integers(dtype, shape, seed)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    same(graph.argmax(x, axis=axis), np.argmax(x, axis=axis))
    same(graph.argmin(x, axis=axis), np.argmin(x, axis=axis))
    same(graph.argmax(x), np.argmax(x))
    same(graph.cumulative_sum(x, axis=axis), np.cumulative_sum(x, axis=axis))
    found = graph.cumulative_sum(x, axis=axis, include_initial=True)
    same(found, np.cumulative_sum(x, axis=axis, include_initial=True))
    for places in INTEGERS:
        taken = np.random.default_rng(seed).integers(0, shape[axis], size=4).astype(places)
        same(graph.take(x, taken, axis=axis), np.take(x, taken.astype("int64"), axis=axis))
        along = np.random.default_rng(seed).integers(0, shape[axis], size=shape).astype(places)
        same(graph.take_along_axis(x, along, axis=axis), np.take_along_axis(x, along.astype("int64"), axis))


# Products


@FEW
@given(
    dtypes=st.tuples(*[st.sampled_from(INTEGERS)] * 2),
    sizes=st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(0, 6)),
    seed=SEEDS,
)
def test_products(dtypes, sizes, seed):
    rows, columns, depth = sizes
    a = integers(dtypes[0], (2, rows, depth), seed)
    b = integers(dtypes[1], (2, depth, columns), seed + 1)
    wide = np.result_type(*dtypes)
    if wide.kind == "f":
        with pytest.raises(InvalidArgument):
            graph.matmul(a, b)
        return
    x, y = a.astype(wide), b.astype(wide)
    same(graph.matmul(a, b), x @ y)
    same(graph.matmul(a[0, 0], b[0]), x[0, 0] @ y[0])
    same(graph.linear(a[0], b[0].T), x[0] @ y[0])
    same(graph.matvec(a, b[:, :, 0]), (x @ y[:, :, :1])[..., 0])
    same(graph.vecmat(a[:, 0], b), (x[:, :1] @ y)[:, 0])
    same(graph.vecdot(a[:, 0], b[:, :, 0]), (x[:, :1] @ y[:, :, :1])[:, 0, 0])
    same(graph.tensordot(a, b, axes=((0, 2), (0, 1))), np.tensordot(x, y, axes=((0, 2), (0, 1))))


# Places


@FEW
@given(dtype=st.sampled_from(INTEGERS), shape=FULL, seed=SEEDS, data=st.data())
def test_moves(dtype, shape, seed, data):
    x = integers(dtype, shape, seed)
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    by = data.draw(st.integers(-9, 9))
    count = data.draw(st.integers(0, 3))
    same(graph.roll(x, by, axis=axis), np.roll(x, by, axis))
    same(graph.roll(x, by), np.roll(x, by))
    same(graph.repeat(x, count, axis=axis), np.repeat(x, count, axis))
    same(graph.tile(x, (count, 2)), np.tile(x, (count, 2)))
    same(graph.flip(x, axis=axis), np.flip(x, axis))
    same(graph.moveaxis(x, axis, 0), np.moveaxis(x, axis, 0))
    same(graph.swapaxes(x, axis, 0), np.swapaxes(x, axis, 0))
    same(graph.flatten(x), x.reshape(-1))
    same(graph.expand_dims(x, axis=axis), np.expand_dims(x, axis))
    same(graph.squeeze(graph.expand_dims(x, axis=0), 0), x)
    same(graph.diff(x, axis=axis, n=count), np.diff(x, axis=axis, n=count))
    all_same(graph.unstack(x, axis=axis), np.unstack(x, axis=axis))
    all_same(graph.split(x, 2, axis=axis), np.split(x, range(2, x.shape[axis], 2), axis))
    value = data.draw(st.integers(0, 127))
    pairs = [(1, 0)] * (x.ndim - 1) + [(2, 1)]
    flat = [one for pair in pairs[::-1] for one in pair]
    same(graph.pad(x, flat, value=value), np.pad(x, pairs, constant_values=value))
    same(graph.pad(x, flat, mode="replicate"), np.pad(x, pairs, mode="edge"))
    if x.ndim > 1:
        same(graph.diagonal(x, offset=by), np.diagonal(x, by, -2, -1))
        same(graph.tril(x, k=by), np.tril(x, by))
        same(graph.triu(x, k=by), np.triu(x, by))
    for indexing in ("xy", "ij"):
        lines = x.reshape(-1)[:4], x.reshape(-1)[:3]
        all_same(graph.meshgrid(*lines, indexing=indexing), np.meshgrid(*lines, indexing=indexing))


# Conversions


@FEW
@given(dtypes=st.tuples(*[st.sampled_from(INTEGERS)] * 2), shape=SHAPES, seed=SEEDS)
def test_conversions(dtypes, shape, seed):
    x = integers(dtypes[0], shape, seed)
    same(graph.astype(x, dtypes[1].name), x.astype(dtypes[1]))
    for name in ("bool", "float16", "float32", "float64"):
        with np.errstate(over="ignore"):
            same(graph.astype(x, name), x.astype(name))
    same(np.asarray(graph.full_like(x, 7)), np.full_like(x, 7))
    same(np.asarray(graph.zeros_like(x)), np.zeros_like(x))
    same(np.asarray(graph.ones_like(x)), np.ones_like(x))
