"""One tensor in fragments: HoloTensor's encoder and decoder."""

import copy
import itertools
import pickle
import threading

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hoist import errors, tensors
from hoist.tensors import HoloTensorDecoder, HoloTensorEncoder

ANY_SUBSET = ("spectral", "rph", "lrdf")


def weights(shape, dtype=np.float32, seed=1):
    return (np.random.default_rng(seed).standard_normal(shape) * 0.02).astype(dtype)


def quality(exact, rough):
    exact, rough = exact.astype(np.float64), rough.astype(np.float64)
    return 1 - np.sum((exact - rough) ** 2) / np.sum(exact**2)


def decode(encoded, numbers):
    decoder = HoloTensorDecoder(encoded.description)
    for number in numbers:
        decoder.add_fragment(number, encoded.fragments[number])
    return decoder.reconstruct(framework="numpy")


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
@pytest.mark.parametrize("shape", [(64, 48), (7,), (3, 5, 16), ()])
def test_embedded_ends_bit_exact(dtype, shape):
    tensor = weights(shape, dtype)
    encoded = HoloTensorEncoder().encode(tensor)
    whole = decode(encoded, range(len(encoded.fragments)))
    assert whole.dtype == tensor.dtype and whole.shape == tensor.shape
    assert whole.tobytes() == tensor.tobytes()


def test_quality_is_what_was_measured():
    tensor = weights((64, 48))
    encoded = HoloTensorEncoder().encode(tensor)
    description = encoded.description
    for count in range(1, len(encoded.fragments) + 1):
        rough = decode(encoded, range(count))
        measured = description.quality(list(range(count)))
        assert measured == pytest.approx(quality(tensor, rough), abs=1e-6)
        assert measured == description.prefixes[count - 1][0]
    for target in (0.5, 0.9, 0.99, 0.9999):
        count = description.fragments_for(target)
        assert description.prefixes[count - 1][0] >= target
        assert count == 1 or description.prefixes[count - 2][0] < target


@pytest.mark.parametrize("encoding", ANY_SUBSET)
def test_any_subset_gives_an_approximation(encoding):
    tensor = weights((48, 64))
    encoded = HoloTensorEncoder(encoding).with_fragments(4).with_seed(7).encode(tensor)
    assert encoded.description.encoding == encoding and len(encoded.fragments) == 4
    for size in range(1, 5):
        for numbers in itertools.combinations(range(4), size):
            decoder = HoloTensorDecoder(encoded.description)
            for number in reversed(numbers):
                decoder.add_fragment(number, encoded.fragments[number])
            assert decoder.can_reconstruct and decoder.fragments == size
            rough = decoder.reconstruct(framework="numpy")
            assert decoder.quality == pytest.approx(quality(tensor, rough), abs=1e-3)
            assert decoder.quality == pytest.approx(encoded.description.quality(list(numbers)))


def test_wishes_change_what_is_made():
    tensor = weights((48, 64))

    def made(encoder):
        return encoder.encode(tensor)

    plain = made(HoloTensorEncoder("spectral"))
    assert made(HoloTensorEncoder("spectral")).fragments == plain.fragments
    assert len(plain.fragments) == 8
    assert made(HoloTensorEncoder("spectral").with_seed(1)).fragments != plain.fragments
    more = made(HoloTensorEncoder("spectral").with_essential_share(0.2))
    assert more.description.quality([3]) > plain.description.quality([3])
    half = made(HoloTensorEncoder("spectral").with_precision("F16"))
    assert sum(map(len, half.fragments)) < 0.6 * sum(map(len, plain.fragments))
    low = [
        made(HoloTensorEncoder("lrdf").with_max_rank(rank)).description.prefixes[-1][0]
        for rank in (2, 48)
    ]
    assert low[0] < low[1]


def test_shapes_of_floats():
    values = np.arange(12, dtype=np.float32)
    for encoded, shape in (
        (HoloTensorEncoder().encode_1d(values), (12,)),
        (HoloTensorEncoder().encode_2d(list(values), 3, 4), (3, 4)),
        (HoloTensorEncoder().encode_nd(values, (2, 3, 2)), (2, 3, 2)),
    ):
        assert encoded.description.shape == shape and encoded.description.dtype == "F32"
        whole = decode(encoded, range(len(encoded.fragments)))
        assert np.array_equal(whole, values.reshape(shape))
    with pytest.raises(errors.InvalidArgument, match="12 values for shape"):
        HoloTensorEncoder().encode_2d(values, 3, 5)


def test_what_an_encoding_does_not_serve_is_lossless():
    tensor = np.arange(10, dtype=np.int64)
    encoded = HoloTensorEncoder("spectral").encode(tensor)
    assert encoded.description.encoding == "lossless"
    assert encoded.fragments == [tensor.tobytes()]
    assert np.array_equal(decode(encoded, [0]), tensor)


def test_empty_tensors():
    tensor = np.zeros((3, 0, 2), np.float32)
    encoded = HoloTensorEncoder().encode(tensor)
    assert decode(encoded, range(len(encoded.fragments))).shape == (3, 0, 2)


def test_fragments_of_any_kind_of_memory():
    encoded = HoloTensorEncoder("lossless").encode(weights((4, 4)))
    data = encoded.fragments[0]
    for memory in (bytearray(data), memoryview(data), np.frombuffer(data, np.float32)):
        decoder = HoloTensorDecoder(encoded.description)
        decoder.add_fragment(0, memory)
        assert decoder.reconstruct(framework="numpy").tobytes() == data


def test_more_fragments_make_it_better():
    tensor = weights((64, 48))
    encoded = HoloTensorEncoder().encode(tensor)
    decoder = HoloTensorDecoder(encoded.description)
    assert not decoder.can_reconstruct and decoder.quality == 0
    with pytest.raises(errors.InvalidArgument):
        decoder.reconstruct()
    decoder.add_fragment(1, encoded.fragments[1])  # a layer that waits for those before it
    assert not decoder.can_reconstruct and decoder.fragments == 1
    decoder.add_fragment(0, encoded.fragments[0])
    rough = decoder.reconstruct(framework="numpy")
    assert decoder.quality == encoded.description.prefixes[1][0]
    for number, data in enumerate(encoded.fragments):
        decoder.add_fragment(number, data)  # those that are there are ignored
    assert decoder.fragments == decoder.total_fragments == len(encoded.fragments)
    assert np.array_equal(decoder.reconstruct(framework="numpy"), tensor)
    assert not np.array_equal(rough, tensor)  # memory of its own


def test_what_is_refused():
    encoded = HoloTensorEncoder("spectral").with_fragments(3).encode(weights((16, 16)))
    decoder = HoloTensorDecoder(encoded.description)
    with pytest.raises(errors.InvalidArgument, match="fragment 3"):
        decoder.add_fragment(3, encoded.fragments[0])
    with pytest.raises(errors.InvalidArgument, match="fragment of -1"):
        decoder.add_fragment(-1, encoded.fragments[0])
    with pytest.raises(errors.Corrupt):
        decoder.add_fragment(0, encoded.fragments[0][:-1])
    assert decoder.fragments == 0
    with pytest.raises(errors.Exhausted, match="1024 bytes, the limit is 1023"):
        HoloTensorDecoder(encoded.description, limit=1023)
    with pytest.raises(errors.InvalidArgument, match="no such encoding"):
        HoloTensorEncoder("sprectral").encode(weights((4, 4)))
    with pytest.raises(errors.InvalidArgument):
        HoloTensorEncoder("spectral").with_fragments(256).encode(weights((16, 16)))
    with pytest.raises(errors.InvalidArgument, match="fragments of -1"):
        HoloTensorEncoder().with_fragments(-1)
    with pytest.raises(errors.Unsupported):
        HoloTensorEncoder().with_precision("F33").encode(weights((4, 4)))
    with pytest.raises(errors.Unsupported):
        HoloTensorEncoder().encode(np.array(["text"]))


@pytest.mark.parametrize("encoding", ("embedded", "lossless") + ANY_SUBSET)
def test_descriptions_travel(encoding):
    tensor = weights((24, 32))
    encoded = HoloTensorEncoder(encoding).with_fragments(3).encode(tensor)
    there = pickle.loads(pickle.dumps(encoded))
    assert type(there) is tensors.EncodedTensor and there.fragments == encoded.fragments
    for other in (there.description, copy.copy(encoded.description)):
        for member in ("encoding", "dtype", "shape", "parameters", "fragment_bytes", "prefixes"):
            assert getattr(other, member) == getattr(encoded.description, member)
        last = len(encoded.fragments) - 1
        assert other.quality([0, last]) == encoded.description.quality([last, 0, last])
    numbers = range(len(encoded.fragments))
    assert decode(there, numbers).tobytes() == decode(encoded, numbers).tobytes()
    with pytest.raises(TypeError, match="cannot copy or pickle HoloTensorDecoder"):
        pickle.dumps(HoloTensorDecoder(encoded.description))


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_descriptions_are_untrusted(data):
    encoding = data.draw(st.sampled_from(("embedded", "lossless") + ANY_SUBSET))
    encoded = HoloTensorEncoder(encoding).with_fragments(3).encode(weights((8, 16)))
    make, members = encoded.description.__reduce__()
    members = list(members)
    parameters = bytearray(members[3])
    if parameters and data.draw(st.booleans()):
        parameters[data.draw(st.integers(0, len(parameters) - 1))] ^= data.draw(st.integers(1, 255))
        members[3] = bytes(parameters)
    members[2] = data.draw(st.sampled_from([members[2], (8, 15), (1 << 40, 1 << 40), (0,), ()]))
    members[4] = members[4][: data.draw(st.integers(0, len(members[4])))]
    try:
        decoder = HoloTensorDecoder(make(*members), limit=1 << 20)
        for number, fragment in enumerate(encoded.fragments):
            decoder.add_fragment(number, fragment)
        decoder.reconstruct(framework="numpy")
    except (errors.Corrupt, errors.Exhausted, errors.InvalidArgument):
        pass


def test_threads_take_turns():
    """A decoder that another thread uses is refused, and nothing else goes wrong."""
    tensor = weights((512, 512))
    encoded = HoloTensorEncoder().encode(tensor)
    decoder = HoloTensorDecoder(encoded.description)
    for number, fragment in enumerate(encoded.fragments):
        decoder.add_fragment(number, fragment)
    unexpected = []

    def work():
        for _ in range(10):
            try:
                if not np.array_equal(decoder.reconstruct(framework="numpy"), tensor):
                    unexpected.append("another tensor")
            except errors.InvalidArgument as why:
                if "another thread uses this decoder" not in str(why):
                    unexpected.append(why)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert unexpected == []
    assert np.array_equal(decoder.reconstruct(framework="numpy"), tensor)


def test_qualities_of_what_is_not_there():
    description = HoloTensorEncoder("spectral").with_fragments(4).encode(weights((32, 32))).description
    for fragments in ([4], [0, 99], [2**63], [2**64], [-1], [-(2**70)], [True], [1.0], ["1"], [None]):
        with pytest.raises(errors.InvalidArgument, match="no fragment"):
            description.quality(fragments)
    assert description.quality([]) == 0
    assert description.quality(np.array([0, 3])) == description.quality((3, 0)) > 0
    for target in (float("nan"), 2, -0.1, float("inf")):
        with pytest.raises(errors.InvalidArgument, match="0 to 1"):
            description.fragments_for(target)
    assert description.fragments_for(0) == 1
