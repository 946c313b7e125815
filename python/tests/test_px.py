"""hoist.px: kernels on NumPy's arrays, against NumPy."""

import array
import os
import subprocess
import sys
import threading
import warnings

import ml_dtypes
import numpy as np
import pytest

from hoist import errors, px

SAXPY = """
GPU_KERNEL saxpy
    GPU_PARAM x in f32[]
    GPU_PARAM y inout f32[]
    GPU_PARAM a f32
    GPU_PARAM n i32
    GPU_THREAD_CODE:
        THREAD_ID -> tid
        IF tid < n:
            STORE a * x[tid] + y[tid] -> y[tid]
        ENDIF
GPU_END
"""
TARGETS = ["cpu", "interpreter"]


@pytest.fixture(params=TARGETS)
def target(request):
    return request.param


def twice(kind, target="cpu"):
    """A kernel that doubles each element of b into c."""
    return px.compile(
        f"""
GPU_KERNEL twice
    GPU_PARAM b in {kind}[]
    GPU_PARAM c out {kind}[]
    GPU_THREAD_CODE:
        THREAD_ID -> tid
        IF tid < i32(len(b)):
            STORE b[tid] + b[tid] -> c[tid]
        ENDIF
GPU_END
""",
        target=target,
    ).kernels["twice"]


def store_scalar(kind, target="interpreter"):
    return px.compile(
        f"""
GPU_KERNEL keep
    GPU_PARAM c out {kind}[]
    GPU_PARAM v {kind}
    GPU_THREAD_CODE:
        THREAD_ID -> tid
        IF tid < i32(len(c)):
            STORE v -> c[tid]
        ENDIF
GPU_END
""",
        target=target,
    ).kernels["keep"]


def test_module_is_loaded_when_it_is_used():
    code = "import sys, hoist; assert 'hoist._px' not in sys.modules; hoist.px.compile; hoist._px"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_saxpy_is_numpys(target):
    saxpy = px.compile(SAXPY, target=target).kernels["saxpy"]
    random = np.random.default_rng(7)
    x, y = random.random((2, 1000), dtype=np.float32)
    expected = np.float32(2.5) * x + y
    saxpy(x, y, 2.5, len(x))
    np.testing.assert_array_equal(y, expected)


def test_grid_is_given_both_ways():
    saxpy = px.compile(SAXPY).kernels["saxpy"]
    x = np.ones(100, np.float32)
    y = np.zeros(100, np.float32)
    saxpy(x, y, 1.0, 100, blocks=1, threads=32)
    assert y.sum() == 32
    saxpy[2, (32,)](x, y, 1.0, 100)
    assert y.sum() == 32 + 64
    saxpy(x, y, 1.0, 100, threads=64)
    assert y.sum() == 32 + 64 + 100
    saxpy[0, 32](x, y, 1.0, 100)
    assert y.sum() == 32 + 64 + 100


def test_grid_of_the_texts_own_launch():
    count = """
GPU_KERNEL count
    GPU_PARAM c inout i32[]
    GPU_PARAM n i32
    GPU_THREAD_CODE:
        BLOCK_ID -> b
        LOCAL_ID -> t
        IF t == 0:
            ATOMIC_ADD c[0] 1 -> old
        ENDIF
GPU_END
GPU_LAUNCH count BLOCKS n * 3 THREADS 64
"""
    c = np.zeros(1, np.int32)
    px.compile(count, target="interpreter").kernels["count"](c, 5)
    assert c[0] == 15


def test_parameters_are_told():
    kernel = px.compile(SAXPY).kernels["saxpy"]
    assert [tuple(each) for each in kernel.parameters] == [
        ("x", "f32[]", "in"),
        ("y", "f32[]", "inout"),
        ("a", "f32", "in"),
        ("n", "i32", "in"),
    ]
    assert kernel.name == "saxpy" and "x in f32[]" in repr(kernel)


@pytest.mark.parametrize(
    "kind,dtype",
    [
        ("i8", np.int8),
        ("i16", np.int16),
        ("i32", np.int32),
        ("i64", np.int64),
        ("u8", np.uint8),
        ("u16", np.uint16),
        ("u32", np.uint32),
        ("u64", np.uint64),
        ("f16", np.float16),
        ("bf16", ml_dtypes.bfloat16),
        ("f32", np.float32),
        ("f64", np.float64),
    ],
)
def test_every_type(kind, dtype):
    b = np.arange(300).astype(dtype)
    c = np.zeros(300, dtype)
    twice(kind, "interpreter")(b, c)
    np.testing.assert_array_equal(c, b + b)


def test_bool_arrays():
    c = np.zeros(3, bool)
    keep = store_scalar("bool")
    keep(c, True)
    assert c.all()
    keep(c, np.bool_(False))
    assert not c.any()
    with pytest.raises(TypeError, match="v is bool"):
        keep(c, 0.5)


def test_arrays_of_other_kinds():
    double = twice("i32")
    b = array.array("i", range(10))
    c = bytearray(40)
    double(b, memoryview(c).cast("i"))
    assert list(memoryview(c).cast("i")) == [2 * i for i in range(10)]

    class OnlyDlpack:
        def __init__(self, it):
            self.it = it

        def __dlpack__(self, **options):
            return self.it.__dlpack__(**options)

        def __dlpack_device__(self):
            return self.it.__dlpack_device__()

    class OnlyInterface:
        def __init__(self, it):
            self.__array_interface__ = it.__array_interface__
            self.it = it

    for kind in (OnlyDlpack, OnlyInterface):
        b = np.arange(10, dtype=np.int32)
        c = np.zeros(10, np.int32)
        double(kind(b), kind(c))
        np.testing.assert_array_equal(c, 2 * b)
        fixed = np.zeros(10, np.int32)
        fixed.flags.writeable = False
        with pytest.raises((errors.InvalidArgument, BufferError), match="(?i)read-?only"):
            double(kind(b), kind(fixed))


def test_dlpack_says_where_an_array_lies():
    class Elsewhere:
        def __init__(self, it, kind):
            self.it = it
            self.kind = kind
            self.streams = []

        def __dlpack__(self, stream=None, **options):
            self.streams.append(stream)
            return self.it.__dlpack__()

        def __dlpack_device__(self):
            return (self.kind, 0)

    b = np.arange(10, dtype=np.int32)
    c = np.zeros(10, np.int32)
    with pytest.raises(errors.Unsupported, match="b lies on a device of DLPack's kind 10"):
        twice("i32")(Elsewhere(b, 10), c)
    of_gpu = Elsewhere(b, 2)  # its producer is asked to let the default stream wait
    twice("i32")(of_gpu, c)
    assert of_gpu.streams == [1] and c[9] == 18


def test_views_are_written_in_place():
    double = twice("f32")
    whole = np.zeros((4, 8), np.float32)
    double(np.full(8, 3, np.float32), whole[1])
    assert whole[1].tolist() == [6] * 8 and whole.sum() == 48
    matrix = np.arange(32, dtype=np.float32).reshape(4, 8)
    double(matrix, whole)
    np.testing.assert_array_equal(whole, 2 * matrix)


def test_zero_length():
    empty = np.zeros(0, np.float32)
    twice("f32")(empty, np.zeros((0, 3), np.float32))
    px.compile(SAXPY).kernels["saxpy"](empty, np.zeros(0, np.float32), 1.0, 0)


@pytest.mark.parametrize(
    "bad,error,text",
    [
        (np.zeros(4), errors.InvalidArgument, r"twice: c is f32\[\], not an array of f64"),
        (np.zeros(4, ">f4"), errors.InvalidArgument, r"c is f32\[\], not an array of >f4"),
        (np.zeros(4, "M8[s]"), errors.InvalidArgument, r"not an array of datetime64\[s\]"),
        (np.zeros(8, np.float32)[::2], errors.InvalidArgument, "c is not contiguous"),
        (np.zeros(8, np.float32)[::-1], errors.InvalidArgument, "c is not contiguous"),
        (np.zeros((2, 4), np.float32).T, errors.InvalidArgument, "c is not contiguous"),
        (b"abcd", errors.InvalidArgument, r"not an array of u8"),
        ([1.0, 2.0], TypeError, "c is an array, not list"),
        (None, TypeError, "c is an array, not NoneType"),
        (3.0, TypeError, "c is an array, not float"),
    ],
)
def test_wrong_arrays(bad, error, text):
    with pytest.raises(error, match=text):
        twice("f32", "interpreter")(np.zeros(4, np.float32), bad)


def test_read_only_arrays_are_read_but_not_written():
    double = twice("u8", "interpreter")
    c = bytearray(3)
    double(b"\1\2\3", c)
    assert c == b"\2\4\6"
    with pytest.raises(errors.InvalidArgument, match="c is written by the kernel"):
        double(b"\1\2\3", b"\0\0\0")


def test_arrays_that_overlap_are_refused():
    whole = np.zeros(10, np.float32)
    with pytest.raises(errors.InvalidArgument, match="overlaps"):
        twice("f32", "interpreter")(whole[:6], whole[4:])


@pytest.mark.parametrize("kind,least,most", [("i8", -128, 127), ("u8", 0, 255), ("i32", -(2**31), 2**31 - 1),
                                             ("i64", -(2**63), 2**63 - 1), ("u64", 0, 2**64 - 1)])
def test_integers_are_range_checked(kind, least, most):
    keep = store_scalar(kind)
    c = np.zeros(1, {"i": "int", "u": "uint"}[kind[0]] + kind[1:])
    for right in (least, most, np.int8(3)):
        keep(c, right)
        assert c[0] == right
    for wrong in (least - 1, most + 1, 2**70):
        with pytest.raises(errors.InvalidArgument, match=f"keep: v is {kind}, which does not reach"):
            keep(c, wrong)
    for wrong in (1.0, "1", None):
        with pytest.raises(TypeError, match=f"v is {kind}, which takes an int"):
            keep(c, wrong)


def test_reals_are_range_checked():
    keep = store_scalar("f16")
    c = np.zeros(1, np.float16)
    for right in (1.5, 65504, float("inf"), np.float32(2)):
        keep(c, right)
        assert c[0] == right
    for wrong in (65520.0, 10**400):
        with pytest.raises(errors.InvalidArgument, match="does not reach"):
            keep(c, wrong)
    with pytest.raises(TypeError, match="takes a number, not str"):
        keep(c, "1.5")


def test_wrong_calls():
    saxpy = px.compile(SAXPY).kernels["saxpy"]
    x = np.zeros(4, np.float32)
    y = np.zeros(4, np.float32)
    with pytest.raises(TypeError, match=r"saxpy takes 4 arguments \(x, y, a, n\), not 2"):
        saxpy(x, y)
    with pytest.raises(errors.InvalidArgument, match="give threads, too"):
        saxpy(x, y, 1.0, 4, blocks=1)
    for grid in ((1, 0), (1, 1025), (-1, 4), ((1, 2, 3, 4), 4), (2**40, 4)):
        with pytest.raises(errors.InvalidArgument):
            saxpy[grid](x, y, 1.0, 4)
    with pytest.raises(TypeError, match="blocks are an int"):
        saxpy["1", 4](x, y, 1.0, 4)
    with pytest.raises(TypeError, match="takes two"):
        saxpy[4]
    with pytest.raises(errors.InvalidArgument, match='no target gpu: give "auto"'):
        px.compile(SAXPY, target="gpu")


def test_compile_errors_have_their_place():
    text = SAXPY.replace("a * x[tid]", "aa * x[tid]")
    with pytest.raises(px.CompileError) as caught:
        px.compile(text, name="k.px")
    assert isinstance(caught.value, ValueError)
    (diagnostic,) = caught.value.diagnostics
    assert (diagnostic.file, diagnostic.line, diagnostic.column) == ("k.px", 10, 19)
    assert "aa" in diagnostic.message and diagnostic.mend
    line = f"k.px:10:19: error: {diagnostic.message}"
    assert str(caught.value).splitlines()[0] == line
    assert str(caught.value).splitlines()[-1] == f"mend: {diagnostic.mend}"


def test_compile_errors_are_the_commands(tmp_path):
    text = SAXPY.replace("a * x[tid]", "aa * y").replace("        ENDIF\n", "")
    (tmp_path / "k.px").write_text(text)
    command = os.path.abspath(os.path.join(os.environ["HOIST_BUILD_DIR"], "bin", "hoist"))
    if not os.path.exists(command):
        pytest.skip("the command is not built")
    done = subprocess.run([command, "px", "check", "k.px"], cwd=tmp_path, text=True, capture_output=True)
    with pytest.raises(px.CompileError) as caught:
        px.compile(text, name="k.px")
    assert done.returncode != 0 and done.stderr.rstrip("\n") == str(caught.value)


def test_warnings():
    program = px.compile(SAXPY.replace("IF tid < n:", "IF n > 0:"), name="k.px")
    assert program.warnings and program.warnings[0].file == "k.px"
    assert px.compile(SAXPY).warnings == ()


@pytest.mark.parametrize("options", [{"target": "cpu", "check_bounds": True}, {"target": "interpreter"}])
def test_bounds_errors_have_their_place(options):
    saxpy = px.compile(SAXPY, name="k.px", **options).kernels["saxpy"]
    x = np.zeros(10, np.float32)
    with pytest.raises(px.BoundsError, match=r"k.px:10:\d+: saxpy reads or writes") as caught:
        saxpy(x, np.zeros(10, np.float32), 1.0, 11)
    assert isinstance(caught.value, IndexError)
    assert (caught.value.line, caught.value.index, caught.value.length) == (10, 10, 10)
    saxpy(x, np.zeros(10, np.float32), 1.0, 10)  # it is taken: the next call has none


@pytest.mark.parametrize("options", [{}, {"check_bounds": True}, {"target": "interpreter"}])
def test_threads_call_one_kernel(options):
    saxpy = px.compile(SAXPY, **options).kernels["saxpy"]
    length = 2000
    wrong = []

    def work(number):
        x = np.full(length, number, np.float32)
        y = np.zeros(length, np.float32)
        for i in range(1, 6):
            saxpy(x, y, 2.0, length)
            if not (y == 2 * number * i).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_interpreters_lock_is_released():
    spin = px.compile(
        """
GPU_KERNEL spin
    GPU_PARAM c inout u32[]
    GPU_PARAM n i32
    GPU_THREAD_CODE:
        THREAD_ID -> tid
        LET h u32 = 1
        FOR i FROM 0 TO n:
            h = h * 1664525 + 1013904223
        ENDFOR
        IF tid < i32(len(c)):
            STORE h -> c[tid]
        ENDIF
GPU_END
""",
        target="interpreter",
    ).kernels["spin"]
    done = threading.Event()
    c = np.zeros(256, np.uint32)

    def work():
        spin(c, 20000)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    turns = 0
    while not done.wait(0.001):
        turns += 1
    thread.join()
    assert turns > 10


def test_child_after_fork_runs_kernels():
    for target in TARGETS:
        double = twice("i32", target)
        b = np.arange(100000, dtype=np.int32)
        c = np.zeros_like(b)
        double(b, c)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            status = 1
            try:
                c[:] = 0
                double(b, c)
                status = 0 if (c == 2 * b).all() else 2
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0


def test_without_compiler_the_interpreter_warns(tmp_path):
    code = f"""
import os, warnings
import numpy as np
from hoist import px
text = {SAXPY!r}
kernel = px.compile(text + "# not in any cache\\n", check_bounds=True).kernels["saxpy"]
y = np.ones(4, np.float32)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    kernel(y.copy(), y, 1.0, 4)
assert y.tolist() == [2.0] * 4
assert len(caught) == 1 and "the interpreter runs <text>, slowly" in str(caught[0].message)
"""
    environment = {**os.environ, "PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("CXX", None)
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_cuda_without_a_gpu_is_unavailable(monkeypatch):
    code = f"""
from hoist import errors, px
try:
    px.compile({SAXPY!r}, target="cuda")
except errors.Unavailable:
    print("unavailable")
"""
    done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "HOIST_GPU": "off"},
                          capture_output=True, text=True, check=True)
    assert done.stdout == "unavailable\n"


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    x = torch.ones(1000)
    y = torch.arange(1000, dtype=torch.float32)
    saxpy = px.compile(SAXPY).kernels["saxpy"]
    saxpy(x, y, 2.0, 1000)
    assert torch.equal(y, torch.arange(1000) + 2.0)
    if not torch.cuda.is_available():
        return
    x, y = x.cuda(), torch.arange(1000, dtype=torch.float32, device="cuda")
    saxpy(x, y, 2.0, 1000)
    assert torch.equal(y.cpu(), torch.arange(1000) + 2.0)
    with pytest.raises(errors.InvalidArgument, match="move them to one device"):
        saxpy(x.cpu(), y, 2.0, 1000)


SLOW = """
GPU_KERNEL slow
    GPU_PARAM v out u32[]
    GPU_PARAM turns i32
    GPU_THREAD_CODE:
        LET value u32 = u32(thread_id())
        FOR i FROM 0 TO turns:
            value = (value ^ (value >> 7)) * 2654435761
        ENDFOR
        STORE value | 1 -> v[block_id() % i32(len(v))]
GPU_END
"""


def test_an_interrupt_ends_a_long_launch(target):
    """Minutes of work on either target, unless it is stopped between two blocks."""
    code = f"""
import os, signal, sys, threading
import numpy as np
from hoist import px

slow = px.compile({SLOW!r}, target={target!r}).kernels["slow"]
v = np.zeros(1 << 20, dtype=np.uint32)
slow[8, 32](v, 3)
assert v[:8].all()
v[:] = 0
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    slow[1 << 20, 256](v, 20000)
except KeyboardInterrupt:
    assert not v.all()
    slow[8, 32](v, 3)  # and it goes on working
    print("interrupted")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.stdout == "interrupted\n", done.stderr


def test_the_interpreters_end_stops_a_daemon_threads_launch():
    code = f"""
import threading, time
import numpy as np
from hoist import px

slow = px.compile({SLOW!r}, target="cpu").kernels["slow"]
v = np.zeros(1 << 20, dtype=np.uint32)
threading.Thread(target=lambda: slow[1 << 20, 256](v, 20000), daemon=True).start()
while not v.any():
    time.sleep(0.01)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0 and done.stderr == ""


def test_arrays_of_the_host_without_a_gpu():
    code = f"""
import numpy as np
from hoist import errors, px
try:
    px.compile({SAXPY!r}, target="cuda")
except errors.Unavailable:
    print("no GPU")
x = np.ones(8, dtype=np.float32)
px.compile({SAXPY!r}).kernels["saxpy"](x, x.copy(), 1.0, 8)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "HOIST_GPU": "off"},
    )
    assert done.stdout == "no GPU\n", done.stderr
