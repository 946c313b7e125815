"""hoist.graph.compile and trace: guards, structures, memory, threads, errors."""

import array
import gc
import os
import subprocess
import sys
import threading
import weakref
import xml.dom.minidom
from typing import NamedTuple

import numpy as np
import pytest

from hoist import errors, graph


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def test_a_program_for_each_shape_and_type():
    traced = []

    @graph.compile
    def function(x, y):
        """Adds."""
        traced.append((x.shape, y.shape))
        return x + y

    for _ in range(3):
        for shape in ((3,), (2, 3), ()):
            x, y = floats(*shape), floats(*shape, seed=1)
            np.testing.assert_array_equal(function(x, y), x + y)
    assert traced == [((3,), (3,)), ((2, 3), (2, 3)), ((), ())]
    assert len(function.programs) == 3
    assert function.__name__ == "function" and function.__doc__ == "Adds."


def test_programs_are_kept_up_to_a_number():
    function = graph.compile(lambda x: x * 2)
    for n in range(80):
        assert function(np.ones(n, np.float32)).shape == (n,)
    assert len(function.programs) == 64
    np.testing.assert_array_equal(function(np.ones(0, np.float32)), np.ones(0, np.float32))


def test_out_is_written():
    function = graph.compile(lambda x: (x + 1, x.sum(axis=0)))
    single = graph.compile(lambda x: x * 2)
    x = floats(4, 3)
    out = np.empty((4, 3), np.float32)
    assert single(x, out=out) is out
    assert single(x, out=out) is out
    np.testing.assert_array_equal(out, x * 2)
    sums = np.empty(3, np.float32)
    for _ in range(2):
        assert function(x, out=(out, sums))[1] is sums
        np.testing.assert_array_equal(out, x + 1)
        np.testing.assert_allclose(sums, x.sum(axis=0), rtol=1e-5)
    with pytest.raises(errors.InvalidArgument, match=r"shape \(3,\).*shape \(4, 3\)"):
        single(x, out=sums)
    with pytest.raises(errors.InvalidArgument, match="float64"):
        single(x, out=np.empty((4, 3)))
    with pytest.raises(errors.InvalidArgument, match="gaps"):
        single(x, out=np.empty((4, 6), np.float32)[:, ::2])
    out.flags.writeable = False
    with pytest.raises(errors.InvalidArgument, match="read-only"):
        single(x, out=out)
    with pytest.raises(errors.InvalidArgument, match="as the function returns"):
        function(x, out=out)


def test_outputs_may_overlap_inputs():
    x = floats(50)
    turned = graph.compile(lambda x: x[::-1] + x)
    for shift in (0, 1, 7):
        memory = np.concatenate([x, np.zeros(10, np.float32)])
        turned(memory[:50], out=memory[shift : shift + 50])
        np.testing.assert_array_equal(memory[shift : shift + 50], x[::-1] + x)


def test_arguments_have_structure():
    @graph.compile
    def layer(x, parameters, scale=1.0, *, turn=False):
        y = x @ parameters["w"] + parameters["b"][0]
        return {"y": (y.T if turn else y) * scale, "parts": [y.sum(), y.mean(axis=0)]}

    x, w, b = floats(3, 4), floats(4, 5, seed=1), floats(5, seed=2)
    for scale in (1.0, 2.0):
        for turn in (False, True):
            result = layer(x, {"w": w, "b": [b]}, scale, turn=turn)
            y = x @ w + b
            np.testing.assert_allclose(result["y"], (y.T if turn else y) * scale, rtol=1e-5)
            np.testing.assert_allclose(result["parts"][1], y.mean(axis=0), rtol=1e-4, atol=1e-6)
    assert len(layer.programs) == 4


class Weights(NamedTuple):
    w: np.ndarray
    b: np.ndarray


def test_named_tuples_stay_what_they_are():
    layer = graph.compile(lambda x, p: Weights(x @ p.w, x + p.b))
    x, w, b = floats(2, 2), floats(2, 2, seed=1), floats(2, seed=2)
    result = layer(x, Weights(w, b))
    assert isinstance(result, Weights)
    np.testing.assert_array_equal(result.b, x + b)


def test_zeros_of_both_signs_are_two_values():
    function = graph.compile(lambda x, scale: x * scale)
    x = np.ones(2, np.float32)
    assert not np.signbit(function(x, 0.0)).any()
    assert np.signbit(function(x, -0.0)).all()


def test_other_byte_orders_are_refused():
    with pytest.raises((TypeError, errors.Error)):
        graph.compile(lambda x: x + 1)(np.ones(3, ">f4"))


def test_arrays_of_an_outer_scope_are_constants():
    w = floats(4, 4)
    function = graph.compile(lambda x: x @ w.T)
    x = floats(2, 4, seed=1)
    before = function(x)
    np.testing.assert_allclose(before, x @ w.T, rtol=1e-5)
    w[:] = 0
    np.testing.assert_array_equal(function(x), before)
    assert function.report().nodes_traced == 1


@pytest.mark.parametrize("make", [np.asfortranarray, lambda x: x[::-1], lambda x: x[:, ::2]])
def test_arrays_with_gaps_are_copied(make):
    x = make(floats(6, 8))
    np.testing.assert_array_equal(graph.exp(x), graph.exp(np.ascontiguousarray(x)))


def test_anything_with_a_buffer_is_an_array():
    function = graph.compile(lambda x: x + 1)
    values = array.array("f", [1, 2, 3])
    np.testing.assert_array_equal(function(values), [2, 3, 4])
    np.testing.assert_array_equal(function(memoryview(values)), [2, 3, 4])
    frozen = np.frombuffer(bytes(12), np.float32)
    np.testing.assert_array_equal(function(frozen), [1, 1, 1])
    assert len(function.programs) == 1


def test_dlpack_is_taken():
    torch = pytest.importorskip("torch")
    function = graph.compile(lambda x: x + 1)
    np.testing.assert_array_equal(function(torch.ones(3)), [2, 2, 2])


def test_trace_gives_a_program():
    program = graph.trace(lambda x, y: (x + y, x > y), graph.Spec((2, 3)), graph.Spec((3,)))
    assert program.inputs == (graph.Spec((2, 3)), graph.Spec((3,)))
    assert program.outputs == (graph.Spec((2, 3)), graph.Spec((2, 3), "bool"))
    x, y = floats(2, 3), floats(3, seed=1)
    total, greater = program(x, y)
    np.testing.assert_array_equal(total, x + y)
    np.testing.assert_array_equal(greater, x > y)
    with pytest.raises(errors.InvalidArgument, match=r"shape \(3,\): the program was traced"):
        program(y, y)
    with pytest.raises(errors.InvalidArgument, match="other arguments"):
        program(x)


def test_report_counts_primitive_nodes():
    gelu = graph.trace(lambda x: graph.gelu(x), graph.Spec((10, 10)))
    assert gelu.report().nodes_traced == 9 and len(gelu.report().kernels) == 1
    four = [graph.Spec((8,))] * 4
    norm = graph.trace(lambda x, m, s, w, b: (x - m) * s * w + b, graph.Spec((5, 8)), *four)
    report = norm.report()
    assert report.nodes_traced == 4 and len(report.kernels) == 1
    assert report.bytes_moved == 4 * (2 * 5 * 8 + 4 * 8) and report.arena_bytes == 0
    assert "4 nodes traced" in str(report)
    attention = graph.trace(
        lambda q, k, v: graph.softmax(q @ k.mT * 0.125) @ v, *[graph.Spec((2, 4, 9, 8))] * 3
    )
    assert len(attention.report().kernels) == 2
    picture = xml.dom.minidom.parseString(attention.svg())
    boxes = [one.getAttribute("class") for one in picture.getElementsByTagName("rect")]
    assert boxes == ["page", "box k0", "box k1"]


def test_fast_math_only_where_it_is_asked_for():
    x = np.array([np.inf, 1], np.float32)
    assert np.isnan(graph.compile(lambda x: x - x)(x)[0])
    assert graph.compile(lambda x: x - x, fast_math=True)(x)[0] == 0
    assert graph.compile(fast_math=True)(lambda x: x * 0)(x)[0] == 0


def test_compiled_functions_call_each_other():
    inner = graph.compile(lambda x: x * 2)
    outer = graph.compile(lambda x: inner(x) + 1)
    np.testing.assert_array_equal(outer(np.ones(3, np.float32)), [3, 3, 3])


class Model:
    def __init__(self, scale):
        self.scale = scale

    @graph.compile
    def forward(self, x):
        return x * self.scale


def test_methods_are_compiled():
    x = np.ones(3, np.float32)
    np.testing.assert_array_equal(Model(2.0).forward(x), 2 * x)
    np.testing.assert_array_equal(Model(3.0).forward(x), 3 * x)


@pytest.mark.parametrize(
    "function, message",
    [
        (lambda x: x if x.sum() > 0 else -x, "condition on the values"),
        (lambda x: x * float(x[0]), "float"),
        (lambda x: np.sum(x), "NumPy|sum"),
        (lambda x: np.asarray(x), "hoist.graph instead of NumPy"),
        (lambda x: [1, 2][x[0]], "index"),
        (lambda x: 3, "returns no array"),
        (lambda x: x + "text", "array"),
        (lambda x: x[x > 0], "numbers and slices|give integers"),
    ],
)
def test_what_cannot_be_traced_is_said(function, message):
    with pytest.raises((TypeError, ValueError), match=message):
        graph.compile(function)(np.ones(3, np.float32))


def test_wrong_arrays_are_said():
    function = graph.compile(lambda x, y: x @ y)
    with pytest.raises(errors.Unsupported, match="complex128: arrays have bool"):
        function(np.ones(3, complex), np.ones(3, complex))
    with pytest.raises(errors.InvalidArgument, match=r"matmul of \(2, 3\) and \(2, 3\)"):
        function(floats(2, 3), floats(2, 3))
    with pytest.raises(TypeError):
        function(floats(2, 3))
    with pytest.raises(errors.InvalidArgument, match="no program yet"):
        graph.compile(lambda x: x).report()


def test_many_threads_run_one_program():
    weights = floats(64, 64)
    function = graph.compile(lambda x: graph.softmax(graph.tanh(x @ weights)))
    inputs = [floats(n, 64, seed=n) for n in (1, 1, 8, 200)]
    expected = [function(x).copy() for x in inputs]
    wrong = []

    def work(i):
        for _ in range(200):
            if not np.array_equal(function(inputs[i % 4]), expected[i % 4]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


needs_two_cpus = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="one CPU: programs run on one thread"
)


@needs_two_cpus
def test_more_threads_give_the_same():
    x = floats(300, 4000)
    one = graph.compile(lambda x: graph.softmax(x * 2), threads=1)
    many = graph.compile(lambda x: graph.softmax(x * 2), threads=8)
    for _ in range(6):
        np.testing.assert_array_equal(many(x), one(x))


@needs_two_cpus
def test_products_are_the_same_on_more_threads():
    def layer(x, w, b):
        return graph.gelu(x @ w + b), (x @ w).sum(axis=1)

    for rows, depth, columns in ((500, 700, 300), (2000, 100, 64), (37, 3000, 500), (1, 900, 2000)):
        x, w, b = floats(rows, depth), floats(depth, columns, seed=1), floats(columns, seed=2)
        one = graph.compile(layer, threads=1)(x, w, b)
        many = graph.compile(layer, threads=7)
        for _ in range(5):
            for found, expected in zip(many(x, w, b), one):
                np.testing.assert_array_equal(found, expected)


def test_a_child_after_fork_runs_programs():
    function = graph.compile(lambda x: graph.softmax(x) * 2, threads=2)
    x = floats(400, 3000)
    expected = [function(x) for _ in range(5)][-1]
    child = os.fork()
    if child == 0:
        same = all(np.array_equal(function(x), expected) for _ in range(3))
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0
    np.testing.assert_array_equal(function(x), expected)


def test_memory_is_given_back():
    function = graph.compile(lambda x: x + 1)
    x = floats(10)
    result = weakref.ref(function(x))
    gc.collect()
    assert result() is None
    references = sys.getrefcount(x)
    for _ in range(10):
        function(x)
    assert sys.getrefcount(x) == references
    program = weakref.ref(function)
    del function
    gc.collect()
    assert program() is None


def test_graph_is_loaded_when_it_is_used():
    code = "import sys, hoist; assert 'hoist._graph' not in sys.modules; hoist.graph.exp"
    subprocess.run([sys.executable, "-c", code], check=True)
