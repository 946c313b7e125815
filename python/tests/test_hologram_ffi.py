"""hologram_ffi: each of its 74 functions, right values and right errors."""

import json
import math
import struct

import hologram_ffi as hg
import numpy as np
import pytest

FUNCTIONS = """
new_executor new_executor_with_backend new_executor_auto executor_cleanup executor_allocate_buffer
executor_allocate_boundary_buffer buffer_length buffer_is_empty buffer_is_linear buffer_is_boundary
buffer_pool buffer_element_size buffer_size_bytes buffer_class_index buffer_copy_from_slice
buffer_to_vec buffer_copy_to_slice buffer_copy_from_bytes buffer_to_bytes buffer_as_ptr
buffer_as_mut_ptr buffer_fill buffer_copy buffer_copy_from_canonical_slice buffer_canonicalize_all
buffer_verify_canonical buffer_cleanup vector_add_f32 vector_sub_f32 vector_mul_f32 vector_div_f32
vector_min_f32 vector_max_f32 vector_abs_f32 vector_neg_f32 vector_relu_f32 vector_clip_f32
scalar_add_f32 scalar_mul_f32 sigmoid_f32 tanh_f32 gelu_f32 softmax_f32 reduce_sum_f32
reduce_min_f32 reduce_max_f32 mse_loss_f32 cross_entropy_loss_f32 binary_cross_entropy_loss_f32
gemm_f32 matvec_f32 tensor_from_buffer tensor_from_buffer_with_strides tensor_shape tensor_strides
tensor_offset tensor_ndim tensor_numel tensor_is_contiguous tensor_contiguous tensor_transpose
tensor_reshape tensor_permute tensor_view_1d tensor_select tensor_narrow tensor_slice tensor_matmul
tensor_is_broadcast_compatible_with tensor_broadcast_shapes tensor_buffer tensor_cleanup get_version
clear_all_registries
""".split()

NAN, INF = math.nan, math.inf


@pytest.fixture
def executor():
    handle = hg.new_executor()
    yield handle
    hg.executor_cleanup(handle)


@pytest.fixture
def make(executor):
    def make(values):
        handle = hg.executor_allocate_buffer(executor, len(values))
        np.asarray(hg.buffer_view(handle))[:] = values
        return handle

    return make


def values(buffer):
    return np.asarray(hg.buffer_view(buffer)).tolist()


def test_all_functions_are_there():
    assert len(FUNCTIONS) == 74
    for name in FUNCTIONS:
        assert callable(getattr(hg, name)), name
        assert name in hg.__all__
        assert getattr(hg, name).__text_signature__
    names = {}
    exec("from hologram_ffi import *", names)
    assert set(hg.__all__) <= set(names)


# Arguments


@pytest.mark.parametrize("name", FUNCTIONS)
def test_wrong_arguments_are_type_and_value_errors(name):
    function = getattr(hg, name)
    parameters = [each.strip() for each in function.__text_signature__[1:-1].split(",") if each]
    with pytest.raises(TypeError, match=rf"{name}\(\) takes {len(parameters)} positional"):
        function(*range(1, len(parameters) + 2))
    with pytest.raises(TypeError, match="unexpected keyword argument 'nonsense'"):
        function(nonsense=1)
    if not parameters:
        return
    with pytest.raises(TypeError, match=rf"missing required argument: '{parameters[0]}'"):
        function()
    if parameters[0] in ("backend", "shape_a_json"):
        with pytest.raises(TypeError, match="argument must be str, not int"):
            function(*[1] * len(parameters))
        return
    rest = [1] * (len(parameters) - 1)
    with pytest.raises(TypeError, match="'str' object cannot be interpreted as an integer"):
        function("1", *rest)
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        function(1.0, *rest)
    for wrong in (-1, 2**64):
        with pytest.raises(ValueError, match="u64 requires 0 <= value < 18446744073709551616"):
            function(wrong, *rest)


def test_ranges_of_each_type(executor, make):
    a = make([1, 2, 3])
    for wrong in (-1, 2**32, 2**70):
        with pytest.raises(ValueError, match="^u32 requires 0 <= value < 4294967296$"):
            hg.executor_allocate_buffer(executor, wrong)
    for wrong in (-1, 256):
        with pytest.raises(ValueError, match="^u8 requires 0 <= value < 256$"):
            hg.executor_allocate_boundary_buffer(executor, wrong, 1, 1)
    tensor = hg.tensor_from_buffer(a, "[3]")
    for wrong in (-(2**31) - 1, 2**31):
        with pytest.raises(ValueError, match="^i32 requires -2147483648 <= value < 2147483648$"):
            hg.tensor_slice(tensor, 0, wrong, 1, 1)
    with pytest.raises(TypeError, match="must be real number, not str"):
        hg.scalar_add_f32(executor, a, a, 3, "1")
    with pytest.raises(TypeError, match="argument must be str, not bytes"):
        hg.buffer_copy_from_slice(executor, a, b"[1,2,3]")


def test_integers_are_whatever_has_an_index(executor, make):
    class Index:
        def __index__(self):
            return 2

    a = make([1, 2, 3])
    hg.buffer_fill(np.uint64(executor), a, np.float32(7), Index())
    assert values(a) == [7, 7, 3]
    hg.buffer_fill(executor, a, value=1, len=True)
    assert values(a) == [1, 7, 3]


def test_keywords(executor, make):
    a, c = make([1, -2]), make([0, 0])
    hg.vector_abs_f32(executor, a_handle=a, len=2, c_handle=c)
    assert values(c) == [1, 2]
    with pytest.raises(TypeError, match="multiple values for argument 'executor_handle'"):
        hg.vector_abs_f32(executor, executor_handle=executor, a_handle=a, c_handle=c, len=2)
    assert hg.executor_allocate_boundary_buffer(executor, _class=1, width=4, height=4) > 0


@pytest.mark.parametrize("name", FUNCTIONS)
def test_handles_of_nothing_are_internal_errors(name, executor):
    function = getattr(hg, name)
    parameters = [each.strip() for each in function.__text_signature__[1:-1].split(",") if each]
    arguments = {"len": 0, "data_json": "[]", "shape_json": "[]", "strides_json": "[]",
                 "new_shape_json": "[]", "dims_json": "[]", "data_bytes": b""}
    if name.endswith("_cleanup"):
        assert function(987654321) is None
    elif parameters and parameters[0].endswith("_handle"):
        wrong = [arguments.get(each, 1) for each in parameters]
        wrong[0] = 987654321
        with pytest.raises(hg.InternalError, match="handle 987654321 not found") as error:
            function(*wrong)
        assert isinstance(error.value, (hg.InvalidHandle, LookupError))
        if parameters[0] == "executor_handle" and any("handle" in each for each in parameters[1:]):
            wrong = [987654321 if each.endswith("_handle") else value
                     for each, value in zip(parameters, wrong)]
            wrong[0] = executor
            with pytest.raises(hg.InvalidHandle, match="987654321 not found"):
                function(*wrong)


def test_exceptions_are_what_they_were_before():
    for kind in (hg.InvalidHandle, hg.InvalidOperation, hg.InvalidJson, hg.Exhausted):
        assert issubclass(kind, hg.InternalError)
    assert hg.InternalError.__bases__ == (Exception,)


# Executors and buffers


def test_executors():
    assert hg.new_executor_with_backend("cpu") > 0
    assert hg.new_executor_with_backend("CPU") > 0
    for none in ("cuda", "metal", "Metal", "nonsense", "", "cpu "):
        assert hg.new_executor_with_backend(none) == 0
    automatic = hg.new_executor_auto()
    buffer = hg.executor_allocate_buffer(automatic, 4)
    assert hg.get_version() == "0.1.0"
    hg.executor_cleanup(automatic)
    hg.executor_cleanup(automatic)
    assert hg.buffer_length(buffer) == 4
    with pytest.raises(hg.InvalidHandle, match=f"Executor handle {automatic} not found"):
        hg.buffer_to_vec(automatic, buffer)


def test_handles_share_one_counter(executor, make):
    a = make([1])
    assert hg.tensor_from_buffer(a, "[1]") not in (a, executor)
    with pytest.raises(hg.InvalidHandle, match=f"Buffer handle {executor} not found"):
        hg.buffer_length(executor)
    with pytest.raises(hg.InvalidHandle, match=f"Executor handle {a} not found"):
        hg.executor_allocate_buffer(a, 1)
    with pytest.raises(hg.InvalidHandle, match=f"Tensor handle {a} not found"):
        hg.tensor_ndim(a)


def test_linear_buffers(executor):
    a = hg.executor_allocate_buffer(executor, 1000)
    assert values(a) == [0.0] * 1000
    assert hg.buffer_length(a) == 1000
    assert hg.buffer_size_bytes(a) == 4000
    assert hg.buffer_element_size(a) == 4
    assert (hg.buffer_is_empty(a), hg.buffer_is_linear(a), hg.buffer_is_boundary(a)) == (0, 1, 0)
    assert hg.buffer_pool(a) == "linear"
    assert hg.buffer_class_index(a) == 0
    empty = hg.executor_allocate_buffer(executor, 0)
    assert hg.buffer_is_empty(empty) == 1
    assert hg.buffer_class_index(empty) == 1
    assert hg.buffer_to_vec(executor, empty) == "[]"


def test_classes_come_back(executor):
    buffers = [hg.executor_allocate_buffer(executor, 10) for _ in range(96)]
    assert [hg.buffer_class_index(each) for each in buffers] == list(range(96))
    with pytest.raises(hg.Exhausted, match=r"No more classes available for allocation \(all 96"):
        hg.executor_allocate_buffer(executor, 10)
    with pytest.raises(MemoryError):
        hg.executor_allocate_buffer(executor, 10)
    for _ in range(300):
        hg.gelu_f32(executor, buffers[0], buffers[1], 10)
        hg.softmax_f32(executor, buffers[0], buffers[1], 10)
        hg.mse_loss_f32(executor, buffers[0], buffers[1], buffers[2], 10)
    hg.buffer_cleanup(buffers[42])
    assert hg.buffer_class_index(hg.executor_allocate_buffer(executor, 10)) == 42


def test_boundary_buffers(executor):
    sizes = {(48, 256): 3072, (32, 32): 256, (16, 16): 64, (3, 3): 2, (0, 9): 0}
    for (width, height), length in sizes.items():
        buffer = hg.executor_allocate_boundary_buffer(executor, 95, width, height)
        assert hg.buffer_length(buffer) == length
        assert hg.buffer_class_index(buffer) == 95
        assert hg.buffer_pool(buffer) == "boundary"
        assert (hg.buffer_is_linear(buffer), hg.buffer_is_boundary(buffer)) == (0, 1)
        assert values(buffer) == [0.0] * length
    for arguments, message in {
        (96, 1, 1): "class 96 >= 96",
        (0, 49, 1): "width 49 > 48",
        (0, 1, 257): "height 257 > 256",
    }.items():
        with pytest.raises(hg.InvalidOperation, match=message):
            hg.executor_allocate_boundary_buffer(executor, *arguments)
    whole = hg.executor_allocate_boundary_buffer(executor, 7, 48, 256)
    part = hg.executor_allocate_boundary_buffer(executor, 7, 16, 16)
    hg.buffer_fill(executor, part, 3.0, 64)
    assert values(whole) == [3.0] * 64 + [0.0] * 3008
    hg.vector_add_f32(executor, part, part, part, 64)
    assert values(whole)[:65] == [6.0] * 64 + [0.0]


def test_json_both_ways(executor, make):
    a = make([0.0] * 7)
    written = [0.1, -1.0, 1e20, NAN, INF, -INF, 1e-45]
    hg.buffer_copy_from_slice(executor, a, json.dumps(written))
    text = hg.buffer_to_vec(executor, a)
    assert text == hg.buffer_copy_to_slice(executor, a)
    assert text == "[0.1,-1.0,1e+20,NaN,Infinity,-Infinity,1e-45]"
    np.testing.assert_array_equal(np.float32(json.loads(text)), np.float32(written))
    for wrong in ("", "[1", "[null]", "1", '["1"]', "[1,]", "{}"):
        with pytest.raises(hg.InvalidJson, match="^Failed to parse JSON data: "):
            hg.buffer_copy_from_slice(executor, a, wrong)
    with pytest.raises(hg.InvalidOperation, match="Buffer size mismatch: expected 7, got 2"):
        hg.buffer_copy_from_slice(executor, a, "[1, 2]")
    assert values(a)[1] == -1.0


def test_bytes_both_ways(executor, make):
    a = make([0.0] * 2)
    data = struct.pack("<2f", 1.5, -2.0)
    for given in (data, bytearray(data), memoryview(data), list(data), tuple(data),
                  np.frombuffer(data, np.uint8), np.frombuffer(data, np.uint8).astype(np.int64)):
        hg.buffer_fill(executor, a, 0.0, 2)
        hg.buffer_copy_from_bytes(executor, a, given)
        assert values(a) == [1.5, -2.0]
    given = hg.buffer_to_bytes(executor, a)
    assert type(given) is list and given == list(data)
    with pytest.raises(hg.InvalidOperation, match="Data size mismatch: expected 8 bytes, got 7"):
        hg.buffer_copy_from_bytes(executor, a, data[1:])
    with pytest.raises(ValueError, match="u8 requires 0 <= value < 256"):
        hg.buffer_copy_from_bytes(executor, a, [256] * 8)
    with pytest.raises(TypeError):
        hg.buffer_copy_from_bytes(executor, a, ["1"] * 8)
    with pytest.raises(TypeError):
        hg.buffer_copy_from_bytes(executor, a, 8)


def test_addresses(executor, make):
    a = make([1.0, 2.0])
    address = hg.buffer_as_ptr(executor, a)
    assert address == hg.buffer_as_mut_ptr(executor, a)
    assert address == hg.buffer_view(a).__array_interface__["data"][0]
    assert address % 64 == 0


def test_fill_and_copy_honour_their_length(executor, make):
    a, b = make([1, 2, 3, 4]), make([9, 9, 9])
    hg.buffer_fill(executor, a, 7.5, 2)
    assert values(a) == [7.5, 7.5, 3, 4]
    hg.buffer_copy(executor, a, b, 2)
    assert values(b) == [7.5, 7.5, 9]
    hg.buffer_copy(executor, b, b, 3)
    for function, arguments, message in [
        (hg.buffer_fill, (executor, a, 1.0, 5), "Buffer too small: len=4, need=5"),
        (hg.buffer_copy, (executor, a, b, 4), "Destination buffer too small: len=3, need=4"),
        (hg.buffer_copy, (executor, b, a, 4), "Source buffer too small: len=3, need=4"),
        (hg.buffer_copy, (executor, 987, a, 4), "Source buffer handle 987 not found"),
        (hg.buffer_copy, (executor, a, 987, 4), "Destination buffer handle 987 not found"),
    ]:
        with pytest.raises(hg.InternalError, match=message):
            function(*arguments)
    assert values(b) == [7.5, 7.5, 9]


def test_canonical_bytes(executor, make):
    a = make([0.0] * 3)
    given = np.float32([0.1, 1.0, -3.7])
    expected = (given.view(np.uint8) & 0xFE).view(np.float32)
    hg.buffer_copy_from_canonical_slice(executor, a, json.dumps(given.tolist()))
    assert values(a) == expected.tolist()
    assert hg.buffer_verify_canonical(executor, a) == 1
    hg.buffer_copy_from_slice(executor, a, json.dumps(given.tolist()))
    assert hg.buffer_verify_canonical(executor, a) == 0
    hg.buffer_canonicalize_all(executor, a)
    assert values(a) == expected.tolist()
    assert hg.buffer_verify_canonical(executor, a) == 1


def test_cleanup_makes_a_handle_invalid(executor, make):
    a = make([1])
    hg.buffer_cleanup(a)
    hg.buffer_cleanup(a)
    with pytest.raises(hg.InvalidHandle, match=f"Buffer handle {a} not found"):
        hg.buffer_length(a)
    b = make([1])
    assert b != a, "no handle comes back"


def test_clear_all_registries():
    executor = hg.new_executor()
    buffer = hg.executor_allocate_buffer(executor, 4)
    tensor = hg.tensor_from_buffer(buffer, "[4]")
    view = np.asarray(hg.buffer_view(buffer))
    hg.clear_all_registries()
    for call in (lambda: hg.executor_allocate_buffer(executor, 4),
                 lambda: hg.buffer_length(buffer), lambda: hg.tensor_ndim(tensor)):
        with pytest.raises(hg.InvalidHandle):
            call()
    view[:] = 1.0
    assert view.sum() == 4.0


# Operations


SPECIAL = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 3e38, 1e-45]


@pytest.mark.parametrize(
    "name, expected",
    [
        ("add", np.add),
        ("sub", np.subtract),
        ("mul", np.multiply),
        ("div", np.divide),
        ("min", np.fmin),
        ("max", np.fmax),
    ],
)
def test_pairs(executor, make, name, expected):
    function = getattr(hg, f"vector_{name}_f32")
    x, y = (each.ravel().astype(np.float32) for each in np.meshgrid(SPECIAL, SPECIAL))
    a, b, c = make(x), make(y), make([5.0] * (len(x) + 1))
    function(executor, a, b, c, len(x))
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(values(c)[:-1], expected(x, y))
        assert values(c)[-1] == 5.0, "behind the length"
        function(executor, a, b, a, len(x))
        np.testing.assert_array_equal(values(a), expected(x, y))
        function(executor, b, b, b, 3)
        np.testing.assert_array_equal(values(b)[:3], expected(y[:3], y[:3]))
    np.testing.assert_array_equal(values(b)[3:], y[3:])
    small = make([1.0])
    operation = {"min": "min", "max": "max"}.get(name, f"vector_{name}")
    for position, operands in enumerate([(small, b, c), (a, small, c), (a, b, small)]):
        message = f"{operation} buffer {position} too small: len=1, need=2"
        with pytest.raises(hg.InvalidOperation, match=message):
            function(executor, *operands, 2)


@pytest.mark.parametrize(
    "name, expected",
    [
        ("abs", np.abs),
        ("neg", np.negative),
        ("relu", lambda x: np.where(x > 0, x, np.float32(0))),
    ],
)
def test_single_ones(executor, make, name, expected):
    function = getattr(hg, f"vector_{name}_f32")
    x = np.float32(SPECIAL * 5)
    a, c, small = make(x), make([5.0] * (len(x) + 1)), make([1.0])
    function(executor, a, c, len(x))
    np.testing.assert_array_equal(values(c), [*expected(x), 5.0])
    function(executor, a, a, len(x))
    np.testing.assert_array_equal(values(a), expected(x))
    with pytest.raises(hg.InvalidOperation, match=f"{name} buffer 0 too small: len=1, need=2"):
        function(executor, small, c, 2)
    with pytest.raises(hg.InvalidOperation, match=f"{name} buffer 1 too small: len=1, need=2"):
        function(executor, c, small, 2)


def test_clip_and_scalars(executor, make):
    x = np.float32(SPECIAL)
    n = len(x)
    a, c = make(x), make([5.0] * n)
    hg.vector_clip_f32(executor, a, c, n, -0.5, 2.0)
    np.testing.assert_array_equal(values(c), np.fmin(np.fmax(x, -0.5), 2.0))
    assert values(c)[0] == -0.5, "NaN loses to a number"
    hg.scalar_add_f32(executor, a, c, n, 0.1)
    np.testing.assert_array_equal(values(c), x + np.float32(0.1))
    with np.errstate(over="ignore"):
        hg.scalar_mul_f32(executor, a, c, n, -2)
        np.testing.assert_array_equal(values(c), x * np.float32(-2))
    for call in (lambda: hg.vector_clip_f32(executor, a, c, n + 1, 0, 1),
                 lambda: hg.scalar_add_f32(executor, a, c, n + 1, 1),
                 lambda: hg.scalar_mul_f32(executor, a, c, n + 1, 1)):
        with pytest.raises(hg.InvalidOperation, match=f"too small: len={n}, need={n + 1}"):
            call()


def test_activations(executor, make):
    x = np.linspace(-20, 20, 1003).astype(np.float32)
    exact = x.astype(np.float64)
    n = len(x)
    a, c = make(x), make([5.0] * (n + 1))
    inner = math.sqrt(2 / math.pi) * (exact + 0.044715 * exact**3)
    for function, expected in [
        (hg.sigmoid_f32, 1 / (1 + np.exp(-exact))),
        (hg.tanh_f32, np.tanh(exact)),
        (hg.gelu_f32, 0.5 * exact * (1 + np.tanh(inner))),
    ]:
        function(executor, a, c, n)
        np.testing.assert_allclose(values(c)[:-1], expected, rtol=4e-7, atol=4e-6)
        assert values(c)[-1] == 5.0
        with pytest.raises(hg.InvalidOperation, match="buffer 0 too small"):
            function(executor, a, c, n + 1)
    hg.gelu_f32(executor, make([1.0]), c, 1)
    assert values(c)[0] == pytest.approx(0.841192, abs=1e-6), "not erf's 0.841345"


def test_softmax_is_right_on_every_call():
    for first in ([1.0, 2.0, 3.0, 99.0], [-50.0, 60.0, 2.0, 99.0], [0.0, 0.0, 0.0, 99.0]):
        executor = hg.new_executor()  # as the samples do, one for each step
        a = hg.executor_allocate_buffer(executor, 4)
        c = hg.executor_allocate_buffer(executor, 4)
        hg.buffer_copy_from_slice(executor, a, json.dumps(first))
        for _ in range(2):
            hg.softmax_f32(executor, a, c, 3)
            expected = np.exp(np.float64(first[:3]) - max(first[:3]))
            np.testing.assert_allclose(values(c)[:3], expected / expected.sum(), rtol=1e-5,
                                       atol=1.2e-38)
            assert values(c)[3] == 0.0
        hg.executor_cleanup(executor)


def test_reductions(executor, make):
    x = np.float32([3, -1, NAN, 7, 2])
    a, out = make(x), make([8.0, 8.0, 8.0])
    assert hg.reduce_min_f32(executor, a, out, 5) == -1.0
    assert values(out) == [-1.0, 8.0, 8.0]
    assert hg.reduce_max_f32(executor, a, out, 5) == 7.0
    assert math.isnan(hg.reduce_sum_f32(executor, a, out, 5))
    assert hg.reduce_sum_f32(executor, a, out, 2) == 2.0
    assert values(out) == [2.0, 8.0, 8.0]
    assert hg.reduce_sum_f32(executor, a, out, 0) == 0.0
    for function in (hg.reduce_sum_f32, hg.reduce_min_f32, hg.reduce_max_f32):
        with pytest.raises(hg.InvalidOperation, match="Input buffer too small: len=5, need=6"):
            function(executor, a, out, 6)
        with pytest.raises(hg.InvalidOperation, match="Output buffer needs at least 3 elements"):
            function(executor, a, make([1, 2]), 5)
    for function in (hg.reduce_min_f32, hg.reduce_max_f32):
        with pytest.raises(hg.InvalidOperation, match="no elements"):
            function(executor, a, out, 0)
        hg.buffer_cleanup(a)
        a = make([NAN, NAN])
        assert math.isnan(function(executor, a, out, 2))


def test_losses(executor, make):
    p, t = np.float32([0.1, 0.5, 0.9, 0.25]), np.float32([0, 1, 1, 0.5])
    a, b, out = make(p), make(t), make([8.0] * 3)
    p, t = p.astype(np.float64), t.astype(np.float64)
    for function, expected in [
        (hg.mse_loss_f32, np.mean((p - t) ** 2)),
        (hg.cross_entropy_loss_f32, -np.mean(t * np.log(p))),
        (hg.binary_cross_entropy_loss_f32, -np.mean(t * np.log(p) + (1 - t) * np.log(1 - p))),
    ]:
        assert function(executor, a, b, out, 4) == pytest.approx(expected, rel=1e-6)
        assert values(out) == [pytest.approx(expected, rel=1e-6), 8.0, 8.0]
        small = make([1.0])
        with pytest.raises(hg.InvalidOperation, match="Predictions buffer too small: len=1, need=4"):
            function(executor, small, b, out, 4)
        with pytest.raises(hg.InvalidOperation, match="Targets buffer too small: len=1, need=4"):
            function(executor, a, small, out, 4)
        with pytest.raises(hg.InvalidOperation, match="Output buffer needs at least 3 elements"):
            function(executor, a, b, small, 4)
    zero = make([0.0])
    assert math.isnan(hg.cross_entropy_loss_f32(executor, zero, zero, out, 1)), "0 ln 0, unclamped"
    assert hg.cross_entropy_loss_f32(executor, zero, make([1.0]), out, 1) == INF


@pytest.mark.parametrize("m, n, k", [(2, 3, 4), (4, 3, 2), (3, 3, 3), (1, 5, 7), (17, 33, 65)])
def test_gemm(executor, make, m, n, k):
    rng = np.random.default_rng(m * n * k)
    x, y = rng.random((m, k), np.float32), rng.random((k, n), np.float32)
    a, b, c = make(x.ravel()), make(y.ravel()), make([NAN] * (m * n))
    hg.gemm_f32(executor, a, b, c, m, n, k)
    np.testing.assert_allclose(values(c), (x @ y).ravel(), rtol=1e-5)
    for arguments, message in [
        ((make([1.0]), b, c), "Matrix A too small: len=1, need="),
        ((a, make([1.0]), c), "Matrix B too small: len=1, need="),
        ((a, b, make([1.0])), "Matrix C too small: len=1, need="),
        ((a, b, make([1.0] * (m * n + 1))), f"Buffer size mismatch: expected {m * n + 1}, got "),
    ]:
        with pytest.raises(hg.InvalidOperation, match=message):
            hg.gemm_f32(executor, *arguments, m, n, k)


def test_matvec(executor, make):
    rng = np.random.default_rng(1)
    x, y = rng.random((5, 7), np.float32), rng.random(7, np.float32)
    a, b, c = make(x.ravel()), make(y), make([NAN] * 5)
    hg.matvec_f32(executor, a, b, c, 5, 7)
    np.testing.assert_allclose(values(c), x @ y, rtol=1e-5)
    for arguments, message in [
        ((make([1.0]), b, c), "Matrix A too small: len=1, need=35"),
        ((a, make([1.0]), c), "Vector x too small: len=1, need=7"),
        ((a, b, make([1.0])), "Vector y too small: len=1, need=5"),
        ((a, b, make([1.0] * 6)), "Buffer size mismatch: expected 6, got 5"),
    ]:
        with pytest.raises(hg.InvalidOperation, match=message):
            hg.matvec_f32(executor, *arguments, 5, 7)


# Tensors


@pytest.fixture
def cube(make):
    """Shape [2, 3, 4] over 0, 1, 2, …"""
    return hg.tensor_from_buffer(make(range(24)), "[2, 3, 4]")


def array(tensor):
    return np.asarray(hg.tensor_view(tensor))


CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_tensor_facts(cube):
    assert hg.tensor_shape(cube) == "[2,3,4]"
    assert hg.tensor_strides(cube) == "[12,4,1]"
    assert (hg.tensor_offset(cube), hg.tensor_ndim(cube), hg.tensor_numel(cube)) == (0, 3, 24)
    assert hg.tensor_is_contiguous(cube) == 1
    np.testing.assert_array_equal(array(cube), CUBE)


def test_tensor_from_buffer(executor, make):
    a = make(range(6))
    scalar = hg.tensor_from_buffer(a, "[]")
    assert (hg.tensor_ndim(scalar), hg.tensor_numel(scalar)) == (0, 1)
    assert hg.tensor_numel(hg.tensor_from_buffer(a, "[2,0]")) == 0
    assert hg.tensor_numel(hg.tensor_from_buffer(a, "[2,2]")) == 4, "fewer than the buffer has"
    with pytest.raises(hg.InvalidOperation, match="Buffer too small: need 8 elements, have 6"):
        hg.tensor_from_buffer(a, "[2,4]")
    boundary = hg.executor_allocate_boundary_buffer(executor, 0, 16, 16)
    with pytest.raises(hg.InvalidOperation, match="Tensor requires linear buffer"):
        hg.tensor_from_buffer(boundary, "[4]")
    for wrong in ("[-1]", "[1.5]", "2", "[", "[null]"):
        with pytest.raises(hg.InvalidJson, match="^Failed to parse shape JSON: "):
            hg.tensor_from_buffer(a, wrong)
    assert hg.buffer_length(a) == 6, "it does not take the buffer"


def test_tensor_from_buffer_with_strides(make):
    a = make(range(6))
    columns = hg.tensor_from_buffer_with_strides(a, "[3,2]", "[1,3]")
    np.testing.assert_array_equal(array(columns), [[0, 3], [1, 4], [2, 5]])
    assert hg.tensor_is_contiguous(columns) == 0
    repeated = hg.tensor_from_buffer_with_strides(a, "[4,2]", "[0,1]")
    np.testing.assert_array_equal(array(repeated), [[0, 1]] * 4)
    with pytest.raises(hg.InvalidOperation, match="need at least 7 elements, have 6"):
        hg.tensor_from_buffer_with_strides(a, "[3,2]", "[2,2]")
    with pytest.raises(hg.InvalidOperation, match="must have same length: 1 vs 2"):
        hg.tensor_from_buffer_with_strides(a, "[3]", "[1,1]")
    with pytest.raises(hg.InvalidJson, match="Failed to parse strides JSON"):
        hg.tensor_from_buffer_with_strides(a, "[3]", "[-1]")


def test_views_of_tensors(executor, cube, make):
    np.testing.assert_array_equal(array(hg.tensor_permute(cube, "[2,0,1]")), CUBE.transpose(2, 0, 1))
    np.testing.assert_array_equal(array(hg.tensor_select(cube, 1, 2)), CUBE[:, 2])
    np.testing.assert_array_equal(array(hg.tensor_narrow(cube, 2, 1, 2)), CUBE[:, :, 1:3])
    np.testing.assert_array_equal(array(hg.tensor_slice(cube, 2, 1, -1, 2)), CUBE[:, :, 1::2])
    np.testing.assert_array_equal(array(hg.tensor_slice(cube, 2, -1, 99, -1)), CUBE)
    np.testing.assert_array_equal(array(hg.tensor_slice(cube, 2, 3, 1, 1)), CUBE[:, :, 3:1])
    matrix = hg.tensor_select(cube, 0, 1)
    assert hg.tensor_offset(matrix) == 12
    np.testing.assert_array_equal(array(hg.tensor_transpose(matrix)), CUBE[1].T)
    np.testing.assert_array_equal(array(hg.tensor_view_1d(matrix)), CUBE[1].ravel())
    turned = hg.tensor_transpose(matrix)
    assert hg.tensor_is_contiguous(turned) == 0
    copy = hg.tensor_contiguous(executor, turned)
    assert (hg.tensor_is_contiguous(copy), hg.tensor_offset(copy)) == (1, 0)
    np.testing.assert_array_equal(array(copy), CUBE[1].T)
    same = hg.tensor_contiguous(executor, matrix)
    assert hg.tensor_buffer(same) == hg.tensor_buffer(cube), "no copy where there are no gaps"
    np.testing.assert_array_equal(array(hg.tensor_reshape(executor, matrix, "[6,2]")),
                                  CUBE[1].reshape(6, 2))
    np.testing.assert_array_equal(array(hg.tensor_reshape(executor, turned, "[2,6]")),
                                  CUBE[1].T.reshape(2, 6))
    for call, message in [
        (lambda: hg.tensor_transpose(cube), r"transpose\(\) requires 2D tensor, got 3D"),
        (lambda: hg.tensor_permute(cube, "[0,1]"), "permute dimensions mismatch: expected 3, got 2"),
        (lambda: hg.tensor_permute(cube, "[0,1,3]"), r"permute dimension 3 out of range \[0, 3\)"),
        (lambda: hg.tensor_permute(cube, "[0,1,1]"), "permute dimension 1 appears multiple times"),
        (lambda: hg.tensor_view_1d(turned), "view_1d requires contiguous tensor"),
        (lambda: hg.tensor_select(cube, 3, 0), "select dimension 3 out of range for 3D tensor"),
        (lambda: hg.tensor_select(cube, 2, 4),
         "select index 4 out of range for dimension 2 with size 4"),
        (lambda: hg.tensor_narrow(cube, 3, 0, 1), "narrow dimension 3 out of range"),
        (lambda: hg.tensor_narrow(cube, 2, 2, 3),
         r"narrow range \[2:5\] out of bounds for dimension 2 with size 4"),
        (lambda: hg.tensor_slice(cube, 3, 0, 1, 1), "slice dimension 3 out of range"),
        (lambda: hg.tensor_slice(cube, 2, 0, 1, 0), "slice step cannot be zero"),
        (lambda: hg.tensor_slice(cube, 2, 4, 5, 1),
         "slice start 4 out of range for dimension 2 with size 4"),
        (lambda: hg.tensor_reshape(executor, cube, "[5]"),
         r"Cannot reshape: element count mismatch \(24 vs 5\)"),
    ]:
        with pytest.raises(hg.InvalidOperation, match=message):
            call()


def test_matmul(executor, make, cube):
    x, y = CUBE[1], CUBE[0].T
    a = hg.tensor_select(cube, 0, 1)
    b = hg.tensor_contiguous(executor, hg.tensor_transpose(hg.tensor_select(cube, 0, 0)))
    product = hg.tensor_matmul(executor, a, b)
    assert hg.tensor_shape(product) == "[3,3]"
    np.testing.assert_array_equal(array(product), x @ y)
    buffer = hg.tensor_buffer(product)
    assert json.loads(hg.buffer_to_vec(executor, buffer)) == (x @ y).ravel().tolist()
    assert hg.tensor_buffer(product) == buffer
    for other, message in [
        (cube, "matmul requires 2D tensors, got 2D and 3D"),
        (hg.tensor_transpose(a), "matmul requires contiguous tensors"),
        (a, r"matmul dimension mismatch: A is \[3x4\], B is \[3x4\]"),
    ]:
        with pytest.raises(hg.InvalidOperation, match=message):
            hg.tensor_matmul(executor, a, other)


def test_tensors_take_classes_only_for_copies(executor, make):
    a = make(range(4))
    square = hg.tensor_from_buffer(a, "[2,2]")
    for _ in range(300):
        hg.tensor_cleanup(hg.tensor_matmul(executor, square, square))
        turned = hg.tensor_transpose(square)
        hg.tensor_cleanup(hg.tensor_contiguous(executor, turned))
        hg.tensor_cleanup(turned)
    assert hg.buffer_class_index(make([1])) == 1


def test_tensor_buffer_is_the_tensors_own(executor, make):
    other = hg.new_executor()
    decoy = hg.executor_allocate_buffer(other, 4)
    a = make([1, 2, 3, 4])
    assert hg.buffer_class_index(decoy) == hg.buffer_class_index(a)
    assert hg.tensor_buffer(hg.tensor_from_buffer(a, "[4]")) == a


def test_broadcasting(make):
    a = hg.tensor_from_buffer(make(range(3)), "[3,1]")
    b = hg.tensor_from_buffer(make(range(4)), "[4]")
    c = hg.tensor_from_buffer(make(range(4)), "[2,2]")
    assert hg.tensor_is_broadcast_compatible_with(a, b) == 1
    assert hg.tensor_is_broadcast_compatible_with(b, c) == 0
    assert hg.tensor_broadcast_shapes("[3, 1]", "[4]") == "[3,4]"
    assert hg.tensor_broadcast_shapes("[]", "[0]") == "[0]"
    with pytest.raises(hg.InvalidOperation, match="not broadcast-compatible at dimension 1"):
        hg.tensor_broadcast_shapes("[2,3]", "[4]")
    with pytest.raises(hg.InvalidJson, match="Failed to parse shape B JSON"):
        hg.tensor_broadcast_shapes("[2,3]", "4")


def test_buffers_belong_to_their_executor(make):
    a = make([1.0])
    other = hg.new_executor()
    with pytest.raises(hg.InvalidOperation, match=f"belongs to another executor than {other}"):
        hg.vector_abs_f32(other, a, a, 1)
