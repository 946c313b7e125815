"""One tensor in fragments, in HoloTensor's words: an encoder that is told its wishes one after the
other, and a decoder that takes fragments as they come."""

from typing import Any, List, NamedTuple, Optional, Sequence, Union

import numpy as np

from hoist import _frameworks, _native
from hoist._native import TensorDescription as TensorDescription
from hoist._ownership import OwnsResources
from hoist.errors import InvalidArgument

# What a fragment's bytes may come as: bytes, bytearray, a memoryview, or an array of bytes.
Fragment = Union[bytes, bytearray, memoryview, "np.ndarray[Any, Any]"]

_MOST_BYTES = 1 << 40  # of a tensor that is decoded, unless the caller says otherwise


class EncodedTensor(NamedTuple):
    """What `HoloTensorEncoder` makes of a tensor."""

    description: TensorDescription
    fragments: List[bytes]  # by number


def flat_bytes(fragment: Fragment) -> Any:
    """The fragment's bytes as NumPy sees them, without a copy."""
    memory: Any = fragment
    view = memoryview(memory)
    if not view.nbytes:  # NumPy makes no array of an empty buffer
        return np.empty(0, np.uint8)
    return np.frombuffer(view, np.uint8)


def checked_count(what: str, count: int, bits: int = 32, least: int = 0) -> int:
    if isinstance(count, (bool, np.bool_)) or not least <= count < 1 << bits:
        raise InvalidArgument(f"{what} of {count}: {least} to {(1 << bits) - 1}")
    return count


class HoloTensorEncoder:
    """Encodes one tensor as fragments.

        encoded = HoloTensorEncoder("spectral").with_fragments(8).with_seed(42).encode(weights)

    `encoding`: "embedded" (its fragments are layers: each refines those before, and all of them give
    the tensor bit for bit), "spectral", "rph", "lrdf" (any subset of the fragments gives an
    approximation), or "lossless" (one fragment). What an encoding does not serve, as integers, is
    encoded as "lossless"; `description.encoding` says which it was. The same tensor and wishes give
    the same fragments on any machine.

    Raises InvalidArgument for an encoding that does not exist and for a wish out of range, the latter
    when `encode` is called.
    """

    def __init__(self, encoding: str = "embedded"):
        self._encoding = encoding
        self._fragments = 8
        self._seed = 0
        self._essential_share = 0.02
        self._max_rank = 256
        self._precision: Optional[str] = None

    def with_fragments(self, fragments: int) -> "HoloTensorEncoder":
        """How many, of "spectral", "rph" and "lrdf": 1 to 255; at first 8."""
        self._fragments = checked_count("fragments", fragments)
        return self

    def with_seed(self, seed: int) -> "HoloTensorEncoder":
        """Of permutations and projections: 64 bits; at first 0."""
        self._seed = checked_count("seed", seed, 64)
        return self

    def with_essential_share(self, share: float) -> "HoloTensorEncoder":
        """Of "spectral": the share of coefficients, of the lowest frequencies, that every fragment
        has; at first 0.02."""
        self._essential_share = share
        return self

    def with_max_rank(self, rank: int) -> "HoloTensorEncoder":
        """Of "lrdf": the most singular vectors; at first 256."""
        self._max_rank = checked_count("max_rank", rank)
        return self

    def with_precision(self, dtype: Optional[str]) -> "HoloTensorEncoder":
        """Of coefficients: "F32", "F16" or "BF16"; None, as at first: the tensor's width, at most
        F32."""
        self._precision = dtype
        return self

    def encode(self, tensor: Any) -> EncodedTensor:
        """A NumPy array or a torch tensor, of any shape; all threads of the process take part.

        Raises Unsupported for a type that Hoist does not have, InvalidArgument for a wish out of
        range, Exhausted where there is no memory.
        """
        dtype, shape, data = _frameworks.framework_of(tensor).parts(tensor)
        description, fragments = _native.encode_tensor(
            dtype,
            list(shape),
            data,
            self._encoding,
            self._fragments,
            self._seed,
            self._essential_share,
            self._max_rank,
            self._precision,
        )
        return EncodedTensor(description, fragments)

    def encode_1d(self, values: Any) -> EncodedTensor:
        """Values as float32, shape (n,)."""
        return self.encode_nd(values, (-1,))

    def encode_2d(self, values: Any, rows: int, columns: int) -> EncodedTensor:
        """Values as float32, row by row: shape (rows, columns). InvalidArgument where there are not
        rows * columns of them."""
        return self.encode_nd(values, (rows, columns))

    def encode_nd(self, values: Any, shape: Sequence[int]) -> EncodedTensor:
        """The same of any shape."""
        flat = np.asarray(values, np.float32)
        try:
            return self.encode(flat.reshape(tuple(shape)))
        except ValueError as error:
            if isinstance(error, InvalidArgument):
                raise
            raise InvalidArgument(f"{flat.size} values for shape {tuple(shape)}") from None


class HoloTensorDecoder(OwnsResources):
    """Rebuilds a tensor from fragments as they come.

        decoder = HoloTensorDecoder(encoded.description)
        decoder.add_fragment(5, encoded.fragments[5])
        if decoder.can_reconstruct and decoder.quality > 0.1:
            rough = decoder.reconstruct()

    The description is untrusted: Corrupt where it breaks a rule of its encoding, Exhausted where the
    tensor would have more than `limit` bytes. One thread at a time (InvalidArgument); several may
    have a decoder each. Memory: the fragments, the tensor, and a small multiple of that.
    """

    def __init__(self, description: TensorDescription, *, limit: int = _MOST_BYTES):
        self._decoder = _native.TensorDecoder(description, checked_count("limit", limit, 64))

    @property
    def description(self) -> TensorDescription:
        return self._decoder.description

    @property
    def fragments(self) -> int:
        """How many were added."""
        return self._decoder.fragments

    @property
    def total_fragments(self) -> int:
        return len(self.description.fragment_bytes)

    @property
    def can_reconstruct(self) -> bool:
        """Whether the fragments suffice for an approximation at all."""
        return self._decoder.can_reconstruct

    @property
    def quality(self) -> float:
        """Of the fragments that were added: 1 - |x - x'|² / |x|², measured when they were made."""
        return self._decoder.quality

    def add_fragment(self, fragment: int, data: Fragment) -> None:
        """Keeps a copy. A fragment that is there already is ignored. Corrupt where the bytes cannot
        be that fragment, InvalidArgument where there is none of that number."""
        self._decoder.add_fragment(checked_count("fragment", fragment, 64), flat_bytes(data))

    def reconstruct(self, *, framework: str = "auto") -> Any:
        """The tensor, in its own type and shape and in memory of its own, as good as the fragments
        make it; more may be added afterwards. InvalidArgument where they do not suffice, Corrupt
        where they are not an encoder's.

        As `load_file`, it gives a torch tensor where PyTorch is installed, else a NumPy array."""
        arrays = _frameworks.framework(framework)
        description = self._decoder.description
        data = self._decoder.reconstruct()
        return arrays.tensor(data, description.dtype, description.shape, "cpu")
