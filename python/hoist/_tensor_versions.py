"""Tensors of a file that get better step by step, in the foreground and behind their reader."""

import atexit
import math
import os
import threading
import weakref
from types import TracebackType
from typing import Any, Dict, Iterable, Iterator, Mapping, Optional, Sequence, Set, Tuple, Type

from hoist import _frameworks
from hoist._ownership import OwnsResources
from hoist._tensor_arrays import ArrayLoader
from hoist._tensor_files import PathLike, Policy, Targets, checked_steps
from hoist.errors import InvalidArgument, Unavailable

Better = Tuple[str, Any, float]  # name, tensor, quality


class Improvements:
    """A file's tensors, each step better than the last."""

    def __init__(self, path: PathLike, device: Any, policy: Optional[Policy], framework: str):
        arrays = _frameworks.framework(framework)
        arrays.check_device(device)
        self._most = Targets(None, policy)
        self._loader = ArrayLoader(path, device, arrays)
        self._names = self._loader.names()
        self._reached: Dict[str, Optional[float]] = {}
        self._qualities: Dict[str, float] = {}

    def all_steps(self, steps: Iterable[Optional[float]]) -> Iterator[Better]:
        for step in steps:
            yield from self.step(step)

    def step(self, step: Optional[float]) -> Iterator[Better]:
        """Those that `step` makes better."""
        targets = {name: self._target(name, step) for name in self._names}
        wanted = [(name, target) for name, target in targets.items() if not self._has(name, target)]
        for name, tensor, quality, is_whole in self._loader.load(wanted):
            self._reached[name] = None if is_whole else targets[name]
            self._qualities[name] = quality
            yield name, tensor, quality
            del tensor  # not kept while the next is loaded

    def _target(self, name: str, step: Optional[float]) -> Optional[float]:
        most = self._most.of(name)
        return most if step is None or (most is not None and most < step) else step

    def _has(self, name: str, wanted: Optional[float]) -> bool:
        if name not in self._reached:
            return False
        if self._reached[name] is None or self._reached[name] == wanted:
            return True
        return wanted is not None and self._qualities[name] >= wanted


class Version(Mapping[str, Any]):
    """Values by name, read-only. The next version shares with this one all but one row of names, so
    that making it costs little however many there are."""

    def __init__(self, row_of: Mapping[str, int], rows: Tuple[Mapping[str, Any], ...]):
        self._row_of = row_of
        self._rows = rows

    @staticmethod
    def of(values: Mapping[str, Any]) -> "Version":
        length = math.isqrt(len(values)) + 1
        row_of = {name: i // length for i, name in enumerate(values)}
        rows: Tuple[Dict[str, Any], ...] = tuple({} for _ in range(length))
        for name, value in values.items():
            rows[row_of[name]][name] = value
        return Version(row_of, rows)

    def with_value(self, name: str, value: Any) -> "Version":
        row = self._row_of[name]
        changed = {**self._rows[row], name: value}
        return Version(self._row_of, (*self._rows[:row], changed, *self._rows[row + 1 :]))

    def __getitem__(self, name: str) -> Any:
        return self._rows[self._row_of[name]][name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._row_of)

    def __len__(self) -> int:
        return len(self._row_of)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._row_of))

    def copy(self) -> Dict[str, Any]:
        return dict(self)

    def __repr__(self) -> str:
        return repr(dict(self))


class ProgressiveModel(OwnsResources):
    """Tensors that get better while they are used.

        with ProgressiveModel("model.holo") as model:
            while generating:
                weights = model.tensors    # one version: it stays as it is
                step(weights)

    The constructor returns once all tensors are as good as the first of `steps`; a thread loads the
    others, until the model is closed or gone. What `tensors` gave never changes under its reader: a
    better tensor is new memory in a new version, so for each tensor both may exist until the older
    version is let go. On a GPU the tensors of 512 MiB of the file share a piece of memory, which is
    free when all of them are gone. In a child after os.fork() nothing gets better: it has the
    versions that were there.
    """

    def __init__(
        self,
        path: PathLike,
        device: Any = "cpu",
        *,
        steps: Sequence[Optional[float]] = (0.96, None),
        policy: Optional[Policy] = None,
        framework: str = "auto",
    ):
        steps = checked_steps(steps)
        if not steps:
            raise InvalidArgument("steps: at least one")
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._error: Optional[BaseException] = None
        self._done = False
        improvements = Improvements(path, device, policy, framework)
        first = list(improvements.step(steps[0]))
        self._tensors = Version.of({name: tensor for name, tensor, _ in first})
        self._qualities = Version.of({name: quality for name, _, quality in first})
        self._version = 1
        self._loader = _Loader(weakref.ref(self), improvements.all_steps(steps[1:]))
        self._loader.start()

    @property
    def tensors(self) -> Mapping[str, Any]:
        """The newest version, read-only."""
        return self._tensors

    @property
    def qualities(self) -> Mapping[str, float]:
        return self._qualities

    @property
    def version(self) -> int:
        """Rises with each tensor that got better."""
        return self._version

    def wait(self, timeout: Optional[float] = None) -> bool:
        """Waits until nothing gets better any more; False: the time was up. Raises what went wrong
        while loading. Unavailable in a child after os.fork(), unless all was loaded before."""
        if os.getpid() != self._process:  # the lock may be held by a thread that is not here
            if self._done and self._error is None:
                return True
            raise Unavailable("this process is a fork of the one that loads the model: wait there")
        with self._changed:
            self._changed.wait_for(lambda: self._done, timeout)
            if self._error is not None:
                raise self._error
            return self._done

    def close(self) -> None:
        """Stops loading. Versions that were given stay."""
        self._loader.stop()

    def __enter__(self) -> "ProgressiveModel":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()

    def _publish(self, name: str, tensor: Any, quality: float) -> None:
        with self._changed:
            self._tensors = self._tensors.with_value(name, tensor)
            self._qualities = self._qualities.with_value(name, quality)
            self._version += 1

    def _finish(self, error: Optional[BaseException]) -> None:
        with self._changed:
            self._error = error
            self._done = True
            self._changed.notify_all()


class _Loader(threading.Thread):
    """Publishes what gets better, as long as there is a model to publish it in."""

    running: "Set[_Loader]" = set()

    def __init__(self, model: "weakref.ref[ProgressiveModel]", better: Iterator[Better]):
        super().__init__(name="hoist-tensors", daemon=True)
        self._model = model
        self._better = better
        self._is_stopped_by_owner = threading.Event()

    def start(self) -> None:
        _Loader.running.add(self)
        try:
            super().start()
        except BaseException:
            _Loader.running.discard(self)
            raise

    def stop(self) -> None:
        self._is_stopped_by_owner.set()
        if threading.current_thread() is not self:  # a model may end on it
            self.join()

    def run(self) -> None:
        error = None
        try:
            self._publish_all()
        except BaseException as raised:  # handed to whoever waits
            error = raised
        model = self._model()
        if model is not None:
            model._finish(error)
        model = error = None  # the error's traceback holds this frame
        self._better = iter(())  # lets the file go
        _Loader.running.discard(self)

    def _publish_all(self) -> None:
        for name, tensor, quality in self._better:
            model = self._model()
            if model is None or self._is_stopped_by_owner.is_set():
                return
            model._publish(name, tensor, quality)
            del model, tensor  # not kept while the next is loaded


@atexit.register
def _stop_loaders() -> None:
    """A thread that comes back from native code after the interpreter's end would take the process
    down."""
    for loader in list(_Loader.running):
        loader.stop()
