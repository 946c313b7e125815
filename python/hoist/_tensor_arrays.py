"""Arrays of a file's tensors, decoded on the device they are wanted on where Hoist can use it."""

import sys
import warnings
from functools import partial
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    NamedTuple,
    Optional,
    Sequence,
    Tuple,
    Union,
)

import numpy as np

from hoist import _frameworks
from hoist._ahead import one_ahead
from hoist._tensor_files import (
    HoloFile,
    ModelFile,
    PathLike,
    TensorFile,
    Wanted,
    box_of,
    open_file,
)
from hoist.errors import Corrupt, Exhausted, Unavailable, Unsupported

# That a GPU loads at a time, as stored: enough for a load's beginning and end not to count, and
# little to wait for.
_GROUP_BYTES = 512 << 20
# A single tensor below that, as stored, is there sooner if the CPU decodes it: a load takes a
# millisecond to begin and end.
_LEAST_BYTES = 4 << 20


_NO_BYTES = np.empty(0, np.uint8)


class LoadedTensor(NamedTuple):
    name: str
    tensor: Any
    quality: float
    is_whole: bool


class ArrayLoader:
    """Makes arrays of one framework, on one device, of an open file's tensors."""

    def __init__(
        self, file: Union[PathLike, TensorFile], device: Any, arrays: Any, zero_copy: bool = False
    ):
        self.file: TensorFile
        if isinstance(file, (HoloFile, ModelFile)):
            self.file = file
        else:
            self.file = open_file(file, zero_copy)
        self._device = device
        self._arrays = arrays
        self._is_resolved = False
        # What Hoist calls the device if it decodes there; else the CPU decodes.
        self._place: Optional[str] = None
        self._has_warned = False

    def names(self) -> List[str]:
        """Of all tensors that the framework has a type for; what it has none for is left out, with
        one warning."""
        left_out = {}
        for name in self.file.foreign():
            try:
                self._check(name)
            except Unsupported as why:
                left_out[name] = str(why)
        if left_out:
            first = next(iter(left_out.values()))
            more = f" (and {len(left_out) - 1} more)" if len(left_out) > 1 else ""
            warnings.warn(
                f"left out: {first}{more}", RuntimeWarning, stacklevel=callers_stack_level()
            )
        return [name for name in self.file.infos if name not in left_out]

    def _check(self, name: str) -> None:
        _, _, stored_as = self.file.elements(name)
        if not _frameworks.is_foreign(stored_as):
            return
        try:
            self._arrays.check_foreign(stored_as)
        except Unsupported as why:
            raise Unsupported(f"tensor '{name}': {why}") from None

    def load_whole(self, names: Sequence[str]) -> Dict[str, Any]:
        """All of them at once. In host memory small neighbours in a file share a few pages."""
        self._resolve_device()
        if self._place is not None or not isinstance(self.file, ModelFile):
            wanted = [(name, None) for name in names]
            return {loaded.name: loaded.tensor for loaded in self.load(wanted, at_once=True)}
        make, finished, device = self._arrays.tensor, self._arrays.finished, self._device
        foreign = set(self.file.foreign())
        tensors = {}
        for name, dtype, shape, data, offset in self.file.load_together(names):
            if name in foreign:
                size = self.file.stored_bytes(name)
                part = np.frombuffer(data, np.uint8, size, offset) if size else _NO_BYTES
                tensors[name] = self._array(name, part, device)
            else:
                tensors[name] = finished(make(data, dtype, shape, device, offset))
        return tensors

    def load(
        self,
        wanted: Wanted,
        at_once: bool = False,
        group_bytes: Optional[int] = None,
        ahead: bool = False,
    ) -> Iterator[LoadedTensor]:
        """In their order; names of the same tensor get it once. On a GPU those that are loaded
        together share a piece of its memory: all of them if `at_once`, else `group_bytes` of the
        file (512 MiB) at a time. With `ahead` one more group is loaded while the caller works on
        one."""
        shared = self.file.shared
        if not shared:
            yield from self._load_each(wanted, at_once, group_bytes or _GROUP_BYTES, ahead)
            return
        names: Dict[Tuple[str, Optional[float]], List[str]] = {}
        for name, target in wanted:
            names.setdefault((shared.get(name, name), target), []).append(name)
        of_each = iter(names.values())
        for loaded in self._load_each(list(names), at_once, group_bytes or _GROUP_BYTES, ahead):
            for name in next(of_each):
                yield loaded._replace(name=name)
            del loaded  # not kept while the next ones are loaded

    def _load_each(
        self, wanted: Wanted, at_once: bool, group_bytes: int, ahead: bool
    ) -> Iterator[LoadedTensor]:
        self._resolve_device()
        for group, load in self._loads(self._groups(wanted, at_once, group_bytes), ahead):
            loaded = None if load is None else self._load_onto_device(group, load)
            load = None
            if loaded is None:
                for name, target in group:
                    yield self._load(name, target)
            else:
                loaded.reverse()
                while loaded:
                    yield loaded.pop()

    def _loads(
        self, groups: Iterable[Wanted], ahead: bool
    ) -> Iterator[Tuple[Wanted, Optional[Callable[[], Any]]]]:
        """Groups, and what loads them onto the device; None: the CPU decodes."""
        loads = ((group, self._onto(group) if self._is_for_device(group) else None) for group in groups)
        return one_ahead(loads) if ahead else loads

    def _onto(self, group: Wanted) -> Callable[[], Any]:
        return partial(self.file.load_onto, str(self._place), group)

    def load_intact(self, wanted: Wanted) -> Tuple[List[LoadedTensor], Dict[str, str]]:
        """As load() at once: what can be read, and for the names of the rest why it cannot."""
        try:
            return list(self.load(wanted, at_once=True)), {}
        except Corrupt:
            pass  # which ones is found out one by one
        loaded: List[LoadedTensor] = []
        left_out: Dict[str, str] = {}
        for name, target in wanted:
            try:
                loaded.extend(self.load([(name, target)]))
            except Corrupt as why:
                left_out[name] = str(why)
        return loaded, left_out

    def load_one(self, name: str, target: Optional[float] = None) -> Any:
        """The tensor alone, in memory of its own."""
        self._check(name)
        self._resolve_device()
        if self._place is None:
            return self._array(name, self.file.load(name, target)[0], self._device)
        return next(self.load([(name, target)])).tensor

    def load_part(self, name: str, index: Any) -> Any:
        """What `index` takes of the tensor, in memory of its own unless it is all. Of files that
        need no decoding no more than that is read, and a GPU gets no more. A tensor of a .holo file
        is decoded whole on a GPU where that has room for it, else as far as its encoding needs."""
        self._check(name)
        self._resolve_device()
        dtype, shape, stored_as = self.file.elements(name)
        loaded = None
        if isinstance(self.file, HoloFile) and self._is_for_device([(name, None)]):
            loaded = self._load_onto_device([(name, None)], self._onto([(name, None)]))
        is_foreign = _frameworks.is_foreign(stored_as)
        if loaded is None and not is_foreign and self.file.can_load_part(name):
            box = box_of(index, shape)
            if box is not None:
                data = self.file.load_part(name, box)
                read = self._arrays.tensor(data, dtype, box.shape, "cpu")
                return self._arrays.finished(self._arrays.part(read, box.rest, self._device))
        if loaded is not None:
            whole = loaded[0].tensor
        else:
            data, _, _ = self.file.load(name, None)
            whole = self._array(name, data, "cpu", is_finished=False)
        return self._arrays.finished(self._arrays.part(whole, index, self._device))

    def _resolve_device(self) -> None:
        """At the first load, not before: to ask for "the current GPU" may begin to use one. From
        then on it is that one."""
        if self._is_resolved:
            return
        self._place = self._arrays.device_name(self._device)
        if self._place is not None:
            self._device = self._place
        self._is_resolved = True

    def _groups(self, wanted: Wanted, at_once: bool, group_bytes: int) -> Iterator[Wanted]:
        if at_once or self._place is None:
            if wanted:
                yield wanted
            return
        group: List[Any] = []
        size = 0
        for one in wanted:
            group.append(one)
            size += self.file.stored_bytes(*one)
            if size >= group_bytes:
                yield group
                group, size = [], 0
        if group:
            yield group

    def _is_for_device(self, group: Wanted) -> bool:
        if self._place is None:
            return False
        return len(group) > 1 or self.file.stored_bytes(*group[0]) >= _LEAST_BYTES

    def _load(self, name: str, target: Optional[float]) -> LoadedTensor:
        data, quality, is_whole = self.file.load(name, target)
        return LoadedTensor(name, self._array(name, data, self._device), quality, is_whole)

    def _array(self, name: str, data: Any, device: Any, is_finished: bool = True) -> Any:
        dtype, shape, stored_as = self.file.elements(name)
        if _frameworks.is_foreign(stored_as):
            array = self._arrays.foreign(data, stored_as, shape, device)
        else:
            array = self._arrays.tensor(data, dtype, shape, device)
        return self._arrays.finished(array) if is_finished else array

    def _load_onto_device(
        self, group: Wanted, load: Callable[[], Any]
    ) -> Optional[List[LoadedTensor]]:
        """Nothing, and a warning the first time, where the device cannot be used or has no room."""
        try:
            loaded = load()
        except (Exhausted, Unavailable) as why:
            if isinstance(why, Unavailable):
                self._place = None  # nor for what is loaded later
            if not self._has_warned:
                self._has_warned = True
                warnings.warn(
                    f"decoding on the CPU and copying to {self._device}, because: {why}",
                    RuntimeWarning,
                    stacklevel=callers_stack_level(),
                )
            return None
        tensors = []
        for (name, _), (array, quality, is_whole) in zip(group, loaded):
            tensor = self._arrays.wrap(array, *self.file.elements(name)[:2])
            tensors.append(LoadedTensor(name, tensor, quality, is_whole))
        return tensors


def callers_stack_level() -> int:
    """Of whoever called this package."""
    level = 1
    frame = sys._getframe(1)
    while frame.f_back is not None and __package__ == frame.f_globals.get("__package__"):
        frame = frame.f_back
        level += 1
    return level
