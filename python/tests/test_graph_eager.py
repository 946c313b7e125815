"""hoist.graph's functions called with arrays: what they give, and by which program."""

import inspect
import operator
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from hoist import errors, graph

OPERATORS = ["add", "sub", "mul", "truediv", "pow", "lt", "le", "eq", "ne", "gt", "ge"]
SHAPES = hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=4, max_side=5)


def numbers(shape, seed):
    return np.random.default_rng(seed).uniform(0.5, 2, shape).astype(np.float32)


def same(found, expected):
    assert isinstance(found, graph.Array) and found.dtype == expected.dtype.name
    np.testing.assert_allclose(np.asarray(found), expected, rtol=3e-6)


# Kinds of arrays


def test_results_are_as_the_arguments():
    x = np.ones(3, np.float32)
    a = graph.ones(3)
    for _ in range(2):  # traced, then native
        assert type(graph.add(x, x)) is np.ndarray and type(graph.exp(x)) is np.ndarray
        for mixed in (graph.add(a, a), graph.add(a, x), graph.add(x, a), graph.exp(a), graph.add(a, 1)):
            assert type(mixed) is graph.Array
        assert type(graph.concat([x, x])) is np.ndarray
        assert type(graph.concat([x, a])) is graph.Array
        assert graph.add(x, x, out=a) is a and graph.add(a, a, out=x) is x
    both = graph.compile(lambda x, y: (x + y, {"less": x < y}))
    assert type(both(x, x)[0]) is np.ndarray
    total, compared = both(a, x)
    assert type(total) is type(compared["less"]) is graph.Array
    program = graph.trace(lambda x: x + 1, graph.Spec((3,)))
    assert type(program(x)) is np.ndarray and type(program(a)) is graph.Array


def test_arrays_are_constants_of_programs():
    a = graph.array([[1.0, 2], [3, 4]])
    add = graph.compile(lambda x: x + a.T @ x)
    x = numbers((2, 2), 0)
    same(add(graph.array(x)), x + np.asarray(a).T @ x)
    mixed = graph.compile(lambda x: a + x - graph.exp(a))
    same(mixed(graph.array(x)), np.asarray(a) + x - np.exp(np.asarray(a)))


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(OPERATORS), SHAPES, st.integers(0, 2**32))
def test_operators_are_numpys(name, shapes, seed):
    apply = getattr(operator, name)
    a, b = (numbers(shape, seed + i) for i, shape in enumerate(shapes.input_shapes))
    expected = np.asarray(apply(a, b))
    for found in (apply(graph.array(a), graph.array(b)), apply(a, graph.array(b)),
                  apply(graph.array(a), b)):  # fmt: skip
        same(found, expected)
    for number in (2, 0.5):
        same(apply(graph.array(a), number), np.asarray(apply(a, np.float32(number))))
        same(apply(number, graph.array(a)), np.asarray(apply(np.float32(number), a)))


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_arrays_with_gaps(data):
    x = numbers((6, 6), data.draw(st.integers(0, 99)))
    part = (slice(None, None, data.draw(st.sampled_from([-2, -1, 2]))), slice(1, None))
    a = graph.array(x, copy=True)
    same(graph.add(a[part], a[part]), x[part] + x[part])
    same(a.T @ a, x.T @ x)
    a[part] *= 3
    x[part] *= 3
    same(a, x)
    with pytest.raises(errors.InvalidArgument, match="gaps"):
        graph.add(a[part], a[part], out=a[part])


@pytest.mark.parametrize("name", ["iadd", "isub", "imul", "itruediv", "ipow", "imatmul"])
def test_operators_in_place(name):
    apply = getattr(operator, name)
    x = numbers((3, 3), 1)
    a = graph.array(x, copy=True)
    view = a[0]
    before = a
    a = apply(a, 2 if name != "imatmul" else a)
    x = apply(x, 2 if name != "imatmul" else x)
    assert a is before
    same(a, x)
    same(view, x[0])


def test_operators_in_place_that_do_not_fit():
    a = graph.ones(3)
    for other in (graph.ones((2, 3)), np.ones((2, 3), np.float32)):
        with pytest.raises(errors.InvalidArgument):
            a += other
    locked = np.ones(3, np.float32)
    locked.flags.writeable = False
    a = graph.array(locked)
    with pytest.raises(errors.InvalidArgument, match="read-only"):
        a += 1


def test_operators_of_one():
    x = numbers((2, 3), 2)
    a = graph.array(x)
    same(-a, -x)
    same(abs(-a), x)
    same(+a, x)
    assert (+a) is not a
    truth = a > 1
    same(truth & (a > 1.5), x > 1.5)
    same(truth | (a > 0.7), x > 0.7)
    same(~truth, ~(x > 1))
    same(truth ^ truth, np.zeros_like(x, dtype=bool))


def test_what_is_no_operand():
    a = graph.ones(3)
    for apply in (operator.add, operator.matmul, operator.lt):
        for other in (None, "text", object(), b"bytes"):
            with pytest.raises(TypeError):
                apply(a, other)
    assert (a == "text") is False and (a != None) is True  # noqa: E711
    with pytest.raises(TypeError):
        pow(a, 2, 3)


def test_methods_are_the_functions():
    x = numbers((3, 4), 3)
    a = graph.array(x)
    for name in ("sum", "mean", "max", "min"):
        same(getattr(a, name)(), np.asarray(getattr(x, name)()))
        same(getattr(a, name)(axis=1, keepdims=True), getattr(x, name)(axis=1, keepdims=True))
        same(getattr(a, name)(0), getattr(x, name)(0))


# Which program runs


def test_keywords_are_told_apart():
    x = numbers((3, 3), 4)
    a = graph.array(x)
    for _ in range(3):
        for axis in (0, 1, -1, (0, 1), (1,), None):
            for keepdims in (False, True):
                expected = np.asarray(x.sum(axis=axis, keepdims=keepdims))
                same(graph.sum(a, axis=axis, keepdims=keepdims), expected)
                same(graph.sum(a, keepdims=keepdims, axis=axis), expected)
        same(graph.clip(a, 0.75), x.clip(0.75))
        same(graph.clip(a, max=0.75), x.clip(max=0.75))
        same(graph.clip(a, None, 0.75), x.clip(None, 0.75))
        same(graph.astype(a, "bool"), x.astype(bool))
        same(graph.astype(a, graph.float32), x)
        same(graph.gelu(a, approximate="none"), np.asarray(graph.gelu(x, approximate="none")))
        weight, bias = graph.ones(3) * 2, graph.ones(3)
        expected = graph.layer_norm(x) * 2
        same(graph.layer_norm(a, weight=weight), expected)
        same(graph.layer_norm(a, bias=bias), graph.layer_norm(x) + 1)
        same(graph.layer_norm(a, weight, bias=bias), expected + 1)
    shape = [3, 3]
    same(graph.reshape(a, shape), x)
    shape[:] = [9]
    same(graph.reshape(a, shape), x.reshape(9))


def test_values_are_told_apart():
    seen = []

    @graph.compile
    def function(x, value):
        seen.append(value)
        return x + (1 if value else 0)

    a = graph.ones(2)
    for value in (0.0, -0.0, 0, False, 1, True, 1.0, (1,), (True,), (1.0,), "1", None, (0.0,), (-0.0,)):
        for _ in range(2):
            same(function(a, value), np.full(2, 2 if value else 1, np.float32))
    assert len(seen) == 14
    for _ in range(2):
        function(a, value=1)
    assert len(seen) == 15


def test_one_program_serves_all_numbers():
    a = graph.ones(4)
    x = np.ones(4, np.float32)
    traced = []
    kept = graph.add.__wrapped__

    @graph.compile
    def add(x1, x2):
        traced.append(1)
        return kept(x1, x2)

    add(a, 1.0)
    add(a, 2.0)
    assert len(traced) == 2  # compile() traces for each value
    for number in (0.1, -0.0, 2, True, float("inf"), 1e300, 10**20):
        with np.errstate(over="ignore"):
            same(graph.add(a, number), x + np.float32(number))
            np.testing.assert_array_equal(graph.add(number, x), np.float32(number) + x)
    for number in (np.float32(0.1), np.float64(3), np.int8(2), np.float16(-0.0)):
        same(graph.add(a, number), x + np.float32(number))
        same(number * a, np.float32(number) * x)
        same(graph.array([4, 5]) + np.int16(2), np.array([6, 7]))
    assert np.isnan(graph.multiply(a, float("nan")).tolist()).all()
    with pytest.raises(OverflowError):
        a * 10**400
    assert str(graph.multiply(a, -0.0).tolist()[0]) == "-0.0"


def test_out_keeps_its_rules():
    a = graph.ones(4)
    for out in (graph.ones(3), graph.ones(4, dtype="bool"), graph.ones((4, 2))[:, 0]):
        with pytest.raises(errors.InvalidArgument):
            graph.add(a, a, out=out)
    assert graph.add(a, a, out=None).tolist() == [2] * 4
    b = graph.arange(9, dtype="float32")
    graph.add(b[1:], b[:-1], out=b[:-1])
    assert b.tolist() == [1, 3, 5, 7, 9, 11, 13, 15, 8]
    with pytest.raises(TypeError):
        graph.add(a, a, nothing=a)
    with pytest.raises(TypeError):
        graph.add(a)


def test_functions_say_what_they_are():
    assert graph.add.__name__ == "add" and graph.sum.__doc__.startswith("Over one axis")
    assert str(inspect.signature(graph.softmax)) == "(x: 'Any', *, axis: 'int' = -1) -> 'Any'" or (
        "axis" in inspect.signature(graph.softmax).parameters
    )
    assert "add" in repr(graph.add)


def test_threads_call_one_function():
    failed = []

    def work(seed):
        try:
            for i in range(200):
                n = 1 + (seed + i) % 7
                a = graph.full((n,), float(seed))
                assert (a + i).tolist() == [seed + i] * n
                assert graph.sum(a, axis=0).item() == seed * n
        except BaseException as error:  # noqa: BLE001
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


INTEGERS = ["floordiv", "mod", "and_", "or_", "xor", "lshift", "rshift", "add", "sub", "mul", "lt", "eq"]


@pytest.mark.parametrize("name", ["int8", "int32", "int64", "uint8", "uint64"])
@pytest.mark.parametrize("apply", [getattr(operator, name) for name in INTEGERS])
def test_operators_of_integers_are_numpys(name, apply):
    rng = np.random.default_rng(5)
    a, b = rng.integers(0, 100, 7).astype(name), rng.integers(1, 5, 7).astype(name)
    found = apply(graph.array(a), graph.array(b))
    assert isinstance(found, graph.Array) and found.dtype == apply(a, b).dtype.name
    assert found.tolist() == apply(a, b).tolist()
    assert apply(graph.array(a), 3).tolist() == apply(a, a.dtype.type(3)).tolist()
    assert apply(3, graph.array(b)).tolist() == apply(b.dtype.type(3), b).tolist()
    assert (~graph.array(a)).tolist() == (~a).tolist()


@pytest.mark.parametrize("name", ["float16", "bfloat16", "float64", "int32"])
def test_numbers_take_the_arrays_type(name):
    a = graph.array([1, 2, 3], dtype=name)
    for _ in range(2):
        assert (a + 1).dtype == name == (2 * a).dtype and (a + 1).tolist() == [2, 3, 4]
        assert (a > 1).dtype == "bool"
    with_real = a * 0.5
    assert with_real.tolist() == [0.5, 1, 1.5]
    assert with_real.dtype == (name if "float" in name else "float32")
    if name == "int32":
        with pytest.raises(OverflowError):
            a + 2**31


TYPES = (
    ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    + ["float16", "bfloat16", "float32", "float64"]
)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(TYPES), st.sampled_from(TYPES), st.lists(st.floats(), max_size=8))
def test_arrays_convert_as_programs_do(name, to, values):
    x = graph.array(values, dtype="float64")
    x = graph.concat([x, graph.array([300.5, -5.5, 2**31, 2**63, 2**64, -(2.0**63)], dtype="float64")])
    x = x.astype(name)
    np.testing.assert_array_equal(x.astype(to).tolist(), graph.astype(x, to).tolist())
    y = graph.zeros(x.shape, dtype=to)
    y[...] = x
    np.testing.assert_array_equal(y.tolist(), graph.astype(x, to).tolist())
