"""hologram_ffi's operations against NumPy, on generated arrays."""

import hologram_ffi as hg
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

FLOATS = st.floats(width=32, allow_nan=True, allow_infinity=True, allow_subnormal=True)
MODEST = st.floats(-100, 100, width=32)
LENGTHS = st.integers(0, 300) | st.sampled_from([1023, 1024, 1025, 5000])


def arrays(elements, length=LENGTHS):
    return length.flatmap(lambda n: hnp.arrays(np.float32, n, elements=elements))


def pairs(elements):
    return LENGTHS.flatmap(
        lambda n: st.tuples(
            hnp.arrays(np.float32, n, elements=elements),
            hnp.arrays(np.float32, n, elements=elements),
        )
    )


class Session:
    """Buffers of one executor, filled and read without copies."""

    def __enter__(self):
        self.executor = hg.new_executor()
        self.buffers = []
        return self

    def __exit__(self, *_):
        for buffer in self.buffers:
            hg.buffer_cleanup(buffer)
        hg.executor_cleanup(self.executor)

    def put(self, array):
        buffer = hg.executor_allocate_buffer(self.executor, array.size)
        self.buffers.append(buffer)
        self.get(buffer)[:] = array.ravel()
        return buffer

    def get(self, buffer):
        return np.asarray(hg.buffer_view(buffer))


@settings(deadline=None)
@given(pairs(FLOATS), st.sampled_from(["separate", "a", "b"]), st.data())
def test_pairs(both, where, data):
    x, y = both
    length = data.draw(st.integers(0, x.size))
    with np.errstate(all="ignore"):
        for name, expected in [
            ("add", np.add), ("sub", np.subtract), ("mul", np.multiply), ("div", np.divide),
            ("min", np.fmin), ("max", np.fmax),
        ]:
            with Session() as session:
                a, b = session.put(x), session.put(y)
                before = {"separate": np.full_like(x, 7), "a": x, "b": y}[where]
                c = {"separate": None, "a": a, "b": b}[where] or session.put(before)
                getattr(hg, f"vector_{name}_f32")(session.executor, a, b, c, length)
                found = session.get(c)
                np.testing.assert_array_equal(found[:length], expected(x, y)[:length])
                np.testing.assert_array_equal(found[length:], before[length:])


@settings(deadline=None)
@given(arrays(FLOATS), FLOATS, FLOATS)
def test_single_ones(x, first, second):
    first, second = np.float32(first), np.float32(second)
    with Session() as session, np.errstate(all="ignore"):
        a = session.put(x)
        c = session.put(np.zeros_like(x))
        executor, n = session.executor, x.size
        for run, expected in [
            (lambda: hg.vector_abs_f32(executor, a, c, n), np.abs(x)),
            (lambda: hg.vector_neg_f32(executor, a, c, n), -x),
            (lambda: hg.vector_relu_f32(executor, a, c, n), np.fmax(x, np.float32(0))),
            (lambda: hg.vector_clip_f32(executor, a, c, n, first, second),
             np.fmin(np.fmax(x, first), second)),
            (lambda: hg.scalar_add_f32(executor, a, c, n, first), x + first),
            (lambda: hg.scalar_mul_f32(executor, a, c, n, first), x * first),
        ]:
            run()
            np.testing.assert_array_equal(session.get(c), expected)


@settings(deadline=None)
@given(arrays(MODEST))
def test_activations(x):
    with Session() as session:
        a = session.put(x)
        executor, n = session.executor, x.size
        exact = x.astype(np.float64)
        inner = np.sqrt(2 / np.pi) * (exact + 0.044715 * exact**3)
        for run, expected, scale in [
            (hg.sigmoid_f32, 1 / (1 + np.exp(-exact)), 1.0),
            (hg.tanh_f32, np.tanh(exact), 1.0),
            (hg.gelu_f32, 0.5 * exact * (1 + np.tanh(inner)), np.abs(exact)),
        ]:
            session.get(a)[:] = x
            run(executor, a, a, n)
            assert np.all(np.abs(session.get(a) - expected) <= 4e-7 * scale + 1e-37)
        if n > 0:
            session.get(a)[:] = x
            hg.softmax_f32(executor, a, a, n)
            powers = np.exp(exact - exact.max())
            np.testing.assert_allclose(
                session.get(a), powers / powers.sum(), rtol=2e-5, atol=1.2e-38
            )


@settings(deadline=None)
@given(pairs(MODEST))
def test_sums(both):
    x, y = both
    with Session() as session:
        a, b, out = session.put(x), session.put(y), session.put(np.zeros(3))
        executor, n = session.executor, x.size
        bound = 4e-6 * np.abs(x).sum(dtype=np.float64)
        found = hg.reduce_sum_f32(executor, a, out, n)
        assert abs(found - x.sum(dtype=np.float64)) <= bound
        assert session.get(out)[0] == found
        if n > 0:
            assert hg.reduce_min_f32(executor, a, out, n) == x.min()
            assert hg.reduce_max_f32(executor, a, out, n) == x.max()
            expected = np.mean((x.astype(np.float64) - y) ** 2)
            assert abs(hg.mse_loss_f32(executor, a, b, out, n) - expected) <= 4e-6 * expected + 1e-37


@settings(deadline=None)
@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 40), st.integers(0, 2**32 - 1))
def test_products(m, n, k, seed):
    rng = np.random.default_rng(seed)
    x, y = rng.standard_normal((m, k), np.float32), rng.standard_normal((k, n), np.float32)
    with Session() as session:
        a, b, c = session.put(x), session.put(y), session.put(np.full(m * n, np.nan))
        hg.gemm_f32(session.executor, a, b, c, m, n, k)
        exact = x.astype(np.float64) @ y
        bound = (k + 1) * 2**-24 * (np.abs(x).astype(np.float64) @ np.abs(y))
        assert np.all(np.abs(session.get(c).reshape(m, n) - exact) <= bound)
        vector = session.put(np.full(m, np.nan))
        column = session.put(rng.standard_normal(k, np.float32))
        hg.matvec_f32(session.executor, a, column, vector, m, k)
        np.testing.assert_allclose(
            session.get(vector), x @ session.get(column), rtol=1e-4, atol=1e-4
        )


@settings(deadline=None)
@given(st.data())
def test_views_of_tensors(data):
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, max_side=5))
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    with Session() as session:
        tensor = hg.tensor_from_buffer(session.put(array), str(list(shape)))
        for _ in range(data.draw(st.integers(1, 5))):
            kind = data.draw(st.sampled_from(["permute", "select", "narrow", "slice", "reshape"]))
            dim = data.draw(st.integers(0, array.ndim - 1)) if array.ndim else 0
            if kind == "permute":
                dims = data.draw(st.permutations(range(array.ndim)))
                tensor, array = hg.tensor_permute(tensor, str(list(dims))), array.transpose(dims)
            elif kind == "reshape":
                flat = [array.size]
                tensor = hg.tensor_reshape(session.executor, tensor, str(flat))
                array = array.reshape(flat)
            elif array.ndim and array.shape[dim]:
                start = data.draw(st.integers(0, array.shape[dim] - 1))
                index = [slice(None)] * array.ndim
                if kind == "select":
                    tensor = hg.tensor_select(tensor, dim, start)
                    index[dim] = start
                elif kind == "narrow":
                    length = data.draw(st.integers(0, array.shape[dim] - start))
                    tensor = hg.tensor_narrow(tensor, dim, start, length)
                    index[dim] = slice(start, start + length)
                else:
                    end, step = data.draw(st.integers(-1, 7)), data.draw(st.integers(1, 3))
                    tensor = hg.tensor_slice(tensor, dim, start, end, step)
                    index[dim] = slice(start, None if end < 0 else end, step)
                array = array[tuple(index)]
        np.testing.assert_array_equal(np.asarray(hg.tensor_view(tensor)), array)
        np.testing.assert_array_equal(np.from_dlpack(hg.tensor_view(tensor)), array)
        gathered = hg.tensor_contiguous(session.executor, tensor)
        np.testing.assert_array_equal(np.asarray(hg.tensor_view(gathered)), array)
