"""Tensors from fragments on a device: the CPU, a GPU, several GPUs."""

from typing import Any, Callable, Iterable, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from hoist import _frameworks, _native
from hoist._holo_tensor import Fragment, TensorDescription, checked_count, flat_bytes
from hoist._ownership import OwnsResources
from hoist.errors import InvalidArgument

# Fragments by number, or all of them in order.
Fragments = Union[Mapping[int, Fragment], Sequence[Fragment]]


def _numbered(fragments: Fragments) -> List[Tuple[int, Any]]:
    pairs: Iterable[Tuple[int, Fragment]] = (
        fragments.items() if isinstance(fragments, Mapping) else enumerate(fragments)
    )
    return [(checked_count("fragment", number, 64), flat_bytes(data)) for number, data in pairs]


class _Arrays:
    """Makes arrays of one framework of a device's memory."""

    def __init__(self, framework: str):
        self._arrays = _frameworks.framework(framework)

    def device_name(self, device: str) -> str:
        """NumPy has no memory of a GPU, so that "auto" is the CPU there."""
        if device == "auto" and self._arrays.name == "numpy":
            return "cpu"
        self._arrays.check_device(device)
        return device

    def wrap(self, array: Any, description: TensorDescription, dtype: Optional[str] = None) -> Any:
        return self._arrays.wrap(array, dtype or description.dtype, description.shape)


class GpuAccumulator(OwnsResources):
    """A tensor that fragments are collected for; `GpuHoloContext.create_accumulator` makes it."""

    def __init__(self, context: _native.HoloContext, description: TensorDescription):
        self._context = context
        self._loader = _native.HoloLoader(context, description)

    @property
    def description(self) -> TensorDescription:
        return self._loader.description

    @property
    def fragments(self) -> int:
        """How many are there."""
        return self._loader.fragments

    @property
    def can_reconstruct(self) -> bool:
        """Whether the fragments suffice for an approximation at all."""
        return self._loader.can_reconstruct

    @property
    def quality(self) -> float:
        """Measured quality of the fragments that are there; of "embedded" those without a gap
        count."""
        return self._loader.quality


class GpuHoloContext(OwnsResources):
    """Decodes tensors on one device from whichever fragments come, in whichever order.

        context = GpuHoloContext("cuda:0")
        tensor = context.create_accumulator(encoded.description)
        context.accumulate_fragment(tensor, 3, encoded.fragments[3])
        rough = context.finalize_reconstruction(tensor)

    `device`: "cpu", "cuda:0" (a number), "cuda" (the first), or "auto": the first GPU, else the CPU.
    Results are arrays in the device's memory, which own it: torch tensors, or NumPy arrays on the
    CPU. Several threads may use a context, each with accumulators of its own, whose copies and
    kernels overlap on `streams` streams.

    Raises Unavailable where there is no such device, driver or plug-in, with the reason.
    """

    def __init__(self, device: str = "auto", *, streams: int = 4, framework: str = "auto"):
        self._arrays = _Arrays(framework)
        self._context = _native.HoloContext(
            self._arrays.device_name(device), checked_count("streams", streams, least=1)
        )

    @property
    def device(self) -> str:
        """"cpu" or "cuda:0"."""
        return self._context.device

    def create_accumulator(self, description: TensorDescription) -> GpuAccumulator:
        """Descriptions are untrusted: Corrupt."""
        return GpuAccumulator(self._context, description)

    def _own(self, tensor: GpuAccumulator) -> _native.HoloLoader:
        if tensor._context is not self._context:
            raise InvalidArgument("an accumulator of another context: use the one that made it")
        return tensor._loader

    def accumulate_fragment(self, tensor: GpuAccumulator, fragment: int, data: Fragment) -> None:
        """Copies the bytes. A fragment that is there already is ignored. Corrupt where they cannot be
        that fragment, InvalidArgument where there is none of that number, and for an accumulator of
        another context."""
        self._own(tensor).feed(checked_count("fragment", fragment, 64), flat_bytes(data))

    def finalize_reconstruction(self, tensor: GpuAccumulator, dtype: Optional[str] = None) -> Any:
        """The tensor as good as its fragments make it, in its own type or as `dtype` ("F32", "F16",
        "BF16"). More fragments may come afterwards. InvalidArgument where the fragments do not
        suffice, and for an accumulator of another context; Unsupported for another `dtype`."""
        return self._arrays.wrap(self._own(tensor).finalize(dtype), tensor.description, dtype)

    def reconstruct(
        self, description: TensorDescription, fragments: Fragments, dtype: Optional[str] = None
    ) -> Any:
        """All of it in one call. `fragments`: by number, or all in order."""
        tensor = self.create_accumulator(description)
        for number, data in _numbered(fragments):
            tensor._loader.feed(number, data)
        return self.finalize_reconstruction(tensor, dtype)


class ProgressiveHoloLoader(OwnsResources):
    """A tensor that becomes usable while its fragments arrive.

        loader = ProgressiveHoloLoader(context, encoded.description)
        while not loader.is_sufficient(0.99):
            loader.feed(*next(arriving))
        tensor = loader.finalize()
    """

    def __init__(self, context: GpuHoloContext, description: TensorDescription):
        self._context = context
        self._tensor = context.create_accumulator(description)

    @property
    def tensor(self) -> GpuAccumulator:
        return self._tensor

    @property
    def can_reconstruct(self) -> bool:
        return self._tensor.can_reconstruct

    @property
    def quality(self) -> float:
        return self._tensor.quality

    def feed(self, fragment: int, data: Fragment) -> float:
        """The quality with this fragment. Raises what `accumulate_fragment` raises."""
        self._context.accumulate_fragment(self._tensor, fragment, data)
        return self.quality

    def is_sufficient(self, target: float) -> bool:
        return self.can_reconstruct and self.quality >= target

    def finalize(self, dtype: Optional[str] = None) -> Any:
        """As good as the fragments so far make it; more may be fed afterwards."""
        return self._context.finalize_reconstruction(self._tensor, dtype)


class StreamedTensor(NamedTuple):
    tensor: Any
    quality: float
    fragments: int  # that were used


class StreamingHoloContext:
    """Fetches the next fragments of a tensor while one is copied to the device.

        streaming = StreamingHoloContext(context)
        tensor, quality, count = streaming.stream(description, fetch, min_quality=0.99)

    `pipeline_depth`: how many fragments are fetched ahead, at least 1; so many are in memory.
    """

    def __init__(self, context: GpuHoloContext, pipeline_depth: int = 2):
        self._context = context
        self._depth = checked_count("pipeline_depth", pipeline_depth, least=1)

    def stream(
        self,
        description: TensorDescription,
        fetch: Callable[[int], Fragment],
        *,
        min_quality: float = 1.0,
        order: Optional[Sequence[int]] = None,
        on_fragment: Optional[Callable[[int, float], Optional[bool]]] = None,
        dtype: Optional[str] = None,
    ) -> StreamedTensor:
        """The tensor with as few fragments as reach `min_quality`, in its own type or as `dtype`.

        `fetch(fragment)` gives a fragment's bytes. Threads of Hoist's call it, one at a time, ahead
        of their use. After it has raised, it is not called again. `order`: numbers of fragments in
        the order in which they are fetched; None: all, from the first on.

        `on_fragment(fragment, quality)` is told of each that is on the device. Another thread than
        the caller's may call it. Where it answers False, fetching ends, and the tensor is as good as
        it is then.

        A call of `fetch` that takes long delays the result, also one ahead that is not needed any
        more: give it a timeout of its own. Ctrl-C does not wait for it: KeyboardInterrupt is raised
        at once, and what that call gives is thrown away when it returns. Of `on_fragment` Ctrl-C
        waits for the end. A daemon thread that is in either does not keep Python from ending.

        Raises what these two raise; Corrupt where all fragments are used and the quality stays below
        the minimum; InvalidArgument for a minimum outside 0 to 1, and where `on_fragment` answers
        False before the fragments suffice to rebuild anything.
        """
        if not 0 <= min_quality <= 1:  # NaN neither
            raise InvalidArgument(f"a min_quality of {min_quality}: 0 to 1")

        def fetched(fragment: int) -> Any:
            return flat_bytes(fetch(fragment))

        numbers = None if order is None else [checked_count("fragment", one, 64) for one in order]
        array, quality, count = self._context._context.stream(
            self._depth, description, fetched, min_quality, numbers, on_fragment, dtype
        )
        tensor = self._context._arrays.wrap(array, description, dtype)
        return StreamedTensor(tensor, quality, count)


class MultiGpuHoloContext(OwnsResources):
    """One tensor through several devices: each takes a share of the fragments over its own link, all
    at once, and the first one gathers and decodes them.

        tensor = MultiGpuHoloContext(["cuda:0", "cuda:1"]).reconstruct(description, fragments)

    Devices of one kind, at least one (InvalidArgument). It pays where fragments are large and the
    devices' links are their own. One thread at a time (InvalidArgument).
    """

    def __init__(self, devices: Sequence[str], *, framework: str = "auto"):
        self._arrays = _Arrays(framework)
        self._context = _native.MultiHoloContext(
            [self._arrays.device_name(device) for device in devices]
        )

    @property
    def device(self) -> str:
        """Where results are: the first one."""
        return self._context.device

    def reconstruct(self, description: TensorDescription, fragments: Fragments) -> Any:
        """The tensor in its own type, on the first device. `fragments`: by number, or all in order.
        Raises what `GpuHoloContext` raises."""
        array = self._context.reconstruct(description, _numbered(fragments))
        return self._arrays.wrap(array, description)
