"""Tensors from fragments on a device: on the CPU everywhere, on a GPU where there is one."""

import gc
import importlib.util
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import ml_dtypes
import numpy as np
import pytest

from hoist import errors
from hoist.tensors import (
    GpuHoloContext,
    HoloTensorDecoder,
    HoloTensorEncoder,
    MultiGpuHoloContext,
    ProgressiveHoloLoader,
    StreamingHoloContext,
)

ENCODINGS = ("embedded", "lossless", "spectral", "rph", "lrdf")


def weights(shape, dtype=np.float32, seed=1):
    return (np.random.default_rng(seed).standard_normal(shape) * 0.02).astype(dtype)


def encode(encoding, tensor):
    return HoloTensorEncoder(encoding).with_fragments(5).encode(tensor)


def decode(encoded, numbers):
    """What the plain decoder makes of them."""
    decoder = HoloTensorDecoder(encoded.description)
    for number in numbers:
        decoder.add_fragment(number, encoded.fragments[number])
    return decoder.reconstruct(framework="numpy")


def gpus():
    if importlib.util.find_spec("torch") is None:
        return []
    try:
        GpuHoloContext("cuda", framework="torch")
    except errors.Unavailable:
        return []
    return ["cuda"]


class Place:
    """A device, and what brings its arrays to the host."""

    def __init__(self, device):
        self.device = device
        self.framework = "numpy" if device == "cpu" else "torch"

    def context(self):
        return GpuHoloContext(self.device, framework=self.framework)

    def host(self, array):
        if self.framework == "numpy":
            return array
        return array.cpu().view(dtype=__import__("torch").uint8).numpy()


@pytest.fixture(params=["cpu", "cuda"])
def place(request):
    if request.param != "cpu" and request.param not in gpus():
        pytest.skip("no GPU")
    return Place(request.param)


def same(place, array, expected, encoding="embedded"):
    """Bit for bit on the CPU, and of encodings without rounding on a GPU."""
    array = place.host(array)
    if place.device == "cpu" or encoding in ("embedded", "lossless"):
        return array.tobytes() == expected.tobytes()
    values = np.frombuffer(array.tobytes(), expected.dtype).astype(np.float64).reshape(expected.shape)
    wrong = np.linalg.norm(values - expected.astype(np.float64))
    return wrong <= 1e-2 * np.linalg.norm(expected.astype(np.float64))


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16])
def test_any_fragments(place, encoding, dtype):
    tensor = weights((48, 64), dtype)
    encoded = encode(encoding, tensor)
    context = place.context()
    accumulator = context.create_accumulator(encoded.description)
    assert not accumulator.can_reconstruct and accumulator.quality == 0
    with pytest.raises(errors.InvalidArgument, match="not enough to begin with"):
        context.finalize_reconstruction(accumulator)
    added = []
    for number, fragment in reversed(list(enumerate(encoded.fragments))):
        context.accumulate_fragment(accumulator, number, fragment)
        context.accumulate_fragment(accumulator, number, fragment)  # ignored
        added.append(number)
        assert accumulator.fragments == len(added)
        assert accumulator.quality == pytest.approx(encoded.description.quality(added))
        if accumulator.can_reconstruct:
            got = context.finalize_reconstruction(accumulator)
            assert tuple(got.shape) == tensor.shape
            assert same(place, got, decode(encoded, added), encoding)
    assert same(place, context.reconstruct(encoded.description, encoded.fragments),
                decode(encoded, added), encoding)


def test_other_types(place):
    tensor = weights((16, 24), ml_dtypes.bfloat16)
    encoded = encode("embedded", tensor)
    context = place.context()
    for dtype, numpy in (("F32", np.float32), ("F16", np.float16), ("BF16", ml_dtypes.bfloat16)):
        got = context.reconstruct(encoded.description, encoded.fragments, dtype)
        assert same(place, got, tensor.astype(np.float32).astype(numpy))
    with pytest.raises(errors.Unsupported):
        context.reconstruct(encoded.description, encoded.fragments, "I64")


def test_fragments_by_number(place):
    tensor = weights((32, 32))
    encoded = encode("spectral", tensor)
    some = {number: encoded.fragments[number] for number in (4, 1)}
    got = place.context().reconstruct(encoded.description, some)
    assert same(place, got, decode(encoded, [1, 4]), "spectral")


def test_results_outlive_the_context(place):
    tensor = weights((32, 32))
    encoded = encode("embedded", tensor)
    got = [place.context().reconstruct(encoded.description, encoded.fragments) for _ in range(3)]
    gc.collect()
    assert all(same(place, one, tensor) for one in got)


def test_empty_tensors(place):
    tensor = np.zeros((0, 3), np.float32)
    encoded = encode("embedded", tensor)
    got = place.context().reconstruct(encoded.description, encoded.fragments)
    assert tuple(got.shape) == (0, 3)


def test_progressive(place):
    tensor = weights((64, 64))
    encoded = encode("embedded", tensor)
    loader = ProgressiveHoloLoader(place.context(), encoded.description)
    assert not loader.is_sufficient(0)
    for number, fragment in enumerate(encoded.fragments):
        assert loader.feed(number, fragment) == loader.quality == loader.tensor.quality
        assert loader.is_sufficient(0.99) == (loader.quality >= 0.99)
        if loader.is_sufficient(0.99):
            break
    count = encoded.description.fragments_for(0.99)
    assert loader.tensor.fragments == count < len(encoded.fragments)
    assert same(place, loader.finalize(), decode(encoded, range(count)))
    for number, fragment in enumerate(encoded.fragments):
        loader.feed(number, fragment)
    assert same(place, loader.finalize(), tensor)
    assert same(place, loader.finalize("F16"), tensor.astype(np.float16))


@pytest.mark.parametrize("depth", [1, 3])
def test_streaming_fetches_no_more_than_it_needs(place, depth):
    tensor = weights((64, 64))
    encoded = encode("embedded", tensor)
    description = encoded.description
    fetched, told = [], []

    def fetch(number):
        fetched.append(number)
        return encoded.fragments[number]

    streaming = StreamingHoloContext(place.context(), depth)
    got = streaming.stream(description, fetch, min_quality=0.9,
                           on_fragment=lambda *what: told.append(what))
    count = description.fragments_for(0.9)
    assert got.fragments == count and got.quality == description.prefixes[count - 1][0]
    assert told == [(i, description.prefixes[i][0]) for i in range(count)]
    assert fetched == list(range(len(fetched))) and count <= len(fetched) <= count + depth + 1
    assert same(place, got.tensor, decode(encoded, range(count)))

    whole = streaming.stream(description, fetch)
    assert whole.quality == 1 and same(place, whole.tensor, tensor)
    half = streaming.stream(description, fetch, dtype="F16")
    assert same(place, half.tensor, tensor.astype(np.float16))


def test_streaming_in_another_order(place):
    tensor = weights((64, 64))
    encoded = encode("spectral", tensor)
    told = []

    def enough(number, quality):
        told.append(number)
        return len(told) < 2

    got = StreamingHoloContext(place.context()).stream(
        encoded.description, encoded.fragments.__getitem__, order=[4, 2, 0], on_fragment=enough
    )
    assert told == [4, 2] and got.fragments == 2
    assert same(place, got.tensor, decode(encoded, [2, 4]), "spectral")
    with pytest.raises(errors.Corrupt, match="0.9900 is wanted"):
        StreamingHoloContext(place.context()).stream(
            encoded.description, encoded.fragments.__getitem__, order=[1], min_quality=0.99
        )


@pytest.mark.parametrize("where", ["main", "thread"])
def test_what_functions_raise_is_raised(place, where):
    encoded = encode("embedded", weights((64, 64)))

    class Lost(Exception):
        pass

    def fetch(number):
        if number == 2:
            raise Lost(number)
        return encoded.fragments[number]

    def refuse(number, quality):
        raise Lost(quality)

    streaming = StreamingHoloContext(place.context())
    seen = []

    def work():
        with pytest.raises(Lost, match="2"):
            streaming.stream(encoded.description, fetch)
        with pytest.raises(Lost, match=r"0\.\d"):
            streaming.stream(encoded.description, encoded.fragments.__getitem__, on_fragment=refuse)
        with pytest.raises(TypeError):
            streaming.stream(encoded.description, lambda number: "text")
        seen.append(True)

    if where == "main":
        work()
    else:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert seen == [True]


def test_nothing_is_fetched_after_an_error(place):
    encoded = encode("embedded", weights((64, 64)))
    fetched = []

    def fetch(number):
        fetched.append(number)
        if number == 1:
            raise LookupError("lost")
        return encoded.fragments[number]

    with pytest.raises(LookupError, match="lost"):
        StreamingHoloContext(place.context(), 9).stream(encoded.description, fetch)
    assert fetched == [0, 1]


def test_no_order_is_no_fragments(place):
    encoded = encode("embedded", weights((64, 64)))
    with pytest.raises(errors.Corrupt, match="0 of"):
        StreamingHoloContext(place.context()).stream(encoded.description, encoded.fragments.__getitem__, order=[])


def test_enough_before_anything_can_be_rebuilt(place):
    encoded = encode("embedded", weights((64, 64)))
    with pytest.raises(errors.InvalidArgument, match="on_fragment ended"):
        StreamingHoloContext(place.context()).stream(
            encoded.description, encoded.fragments.__getitem__, order=[1, 0], on_fragment=lambda *_: False
        )


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_between_fetches(place):
    """Fetching sends it and goes on: it may come a fetch or two later, and not after the last."""
    encoded = encode("embedded", weights((64, 64)))
    fetched = []

    def fetch(number):
        fetched.append(number)
        if len(fetched) == 2:
            interrupt()
        time.sleep(0.1)  # longer than the main thread needs to take it
        return encoded.fragments[number % 2]

    with pytest.raises(KeyboardInterrupt):
        StreamingHoloContext(place.context()).stream(encoded.description, fetch, order=[0, 1] * 500)
    assert len(fetched) < 1000


def test_an_interrupt_during_a_fetch_that_blocks(place):
    encoded = encode("embedded", weights((64, 64)))
    streaming = StreamingHoloContext(place.context())
    interrupted, returned = threading.Event(), threading.Event()

    def fetch(number):
        if number == 1:
            interrupt()
            interrupted.wait()  # until the interrupt has been raised
            returned.set()
        return encoded.fragments[number]

    with pytest.raises(KeyboardInterrupt):
        streaming.stream(encoded.description, fetch)
    assert not returned.is_set()
    interrupted.set()
    assert returned.wait(60)
    assert streaming.stream(encoded.description, encoded.fragments.__getitem__).quality == 1


# A thread that never leaves stream(), when the interpreter ends.
ENDING = """
import threading, time
import numpy as np
from hoist.tensors import GpuHoloContext, HoloTensorEncoder, StreamingHoloContext
encoded = HoloTensorEncoder("spectral").with_fragments(100).encode(np.ones((64, 64), np.float32))
inside = threading.Event()
def pause(seconds):
    inside.set()
    time.sleep(seconds)
def fetch(number):
    {fetch}
    return encoded.fragments[number]
def told(number, quality):
    {told}
streaming = StreamingHoloContext(GpuHoloContext("cpu", framework="numpy"))
def work():
    while True: streaming.stream(encoded.description, fetch, on_fragment=told)
for _ in range(3): threading.Thread(target=work, daemon=True).start()
inside.wait()
"""


@pytest.mark.parametrize("seconds", [1e6, 0.001, 0])
@pytest.mark.parametrize("blocked", ["fetch", "told"])
def test_the_interpreter_ends_during_a_stream(blocked, seconds):
    steps = {"fetch": "pass", "told": "pass", blocked: f"pause({seconds})"}
    for _ in range(1 if seconds > 1 else 5):
        done = subprocess.run([sys.executable, "-c", ENDING.format(**steps)], timeout=60,
                              capture_output=True, text=True)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_stream_while_the_interpreter_ends():
    """Of functions that run when the interpreter ends, the last ones get an answer, too."""
    program = ENDING.format(fetch="pass", told="pass").partition("def work")[0]
    program = f"""
import atexit
def late():
    try:
        streaming.stream(encoded.description, fetch)
    except hoist.errors.Cancelled:
        print("cancelled")
atexit.register(late)
import hoist.errors
{program}
"""
    done = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "cancelled\n", "")


def test_several_devices(place):
    tensor = weights((64, 96))
    for encoding in ENCODINGS:
        encoded = encode(encoding, tensor)
        context = MultiGpuHoloContext([place.device] * 2, framework=place.framework)
        assert context.device == place.context().device
        got = context.reconstruct(encoded.description, encoded.fragments)
        assert same(place, got, decode(encoded, range(len(encoded.fragments))), encoding)
    with pytest.raises(errors.InvalidArgument, match="one or more"):
        MultiGpuHoloContext([])


def test_what_is_refused(place):
    encoded = encode("spectral", weights((16, 16)))
    context = place.context()
    accumulator = context.create_accumulator(encoded.description)
    with pytest.raises(errors.InvalidArgument):
        context.accumulate_fragment(accumulator, 5, encoded.fragments[0])
    with pytest.raises(errors.Corrupt):
        context.accumulate_fragment(accumulator, 0, encoded.fragments[0][:-1])
    assert accumulator.fragments == 0
    for quality in (float("nan"), -0.1, 1.1):
        with pytest.raises(errors.InvalidArgument, match="min_quality"):
            StreamingHoloContext(context).stream(
                encoded.description, encoded.fragments.__getitem__, min_quality=quality
            )
    with pytest.raises(TypeError, match="cannot copy or pickle"):
        pickle.dumps(context)
    for count in (0, -1, True, 1 << 32):
        with pytest.raises(errors.InvalidArgument, match="pipeline_depth"):
            StreamingHoloContext(context, count)
        with pytest.raises(errors.InvalidArgument, match="streams"):
            GpuHoloContext("cpu", streams=count, framework="numpy")
    with pytest.raises(errors.InvalidArgument, match="fragment of True"):
        context.accumulate_fragment(accumulator, True, encoded.fragments[1])


def test_accumulators_of_another_context(place):
    encoded = encode("spectral", weights((16, 16)))
    context, other = place.context(), place.context()
    accumulator = context.create_accumulator(encoded.description)
    with pytest.raises(errors.InvalidArgument, match="another context"):
        other.accumulate_fragment(accumulator, 0, encoded.fragments[0])
    context.accumulate_fragment(accumulator, 0, encoded.fragments[0])
    with pytest.raises(errors.InvalidArgument, match="another context"):
        other.finalize_reconstruction(accumulator)
    context.finalize_reconstruction(accumulator)


def test_devices():
    assert GpuHoloContext("auto", framework="numpy").device == "cpu"
    assert GpuHoloContext("cpu").device == "cpu"
    with pytest.raises(errors.InvalidArgument, match="use torch"):
        GpuHoloContext("cuda:0", framework="numpy")
    with pytest.raises(errors.InvalidArgument):
        GpuHoloContext("tpu", framework="numpy")


def test_threads_share_a_context(place):
    context = place.context()
    cases = [(encode("spectral", weights((64, 64), seed=seed)), seed) for seed in range(4)]
    wrong = []

    def work(encoded):
        for _ in range(5):
            got = context.reconstruct(encoded.description, encoded.fragments)
            expected = decode(encoded, range(len(encoded.fragments)))
            if not same(place, got, expected, "spectral"):
                wrong.append(encoded)

    threads = [threading.Thread(target=work, args=(encoded,)) for encoded, _ in cases]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
