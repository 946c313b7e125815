"""How hoist.tensors improves tensors step by step, on a file that loads when the test says so."""

import gc
import threading
import weakref

import numpy as np
import pytest

from hoist import _tensor_arrays, errors, tensors
from hoist._tensor_files import TensorInfo
from hoist._tensor_versions import Version

QUALITIES = {0.5: 0.6, 0.9: 0.95}


class SlowFile:
    """Tensors of qualities 0.6, 0.95 and 1, one that is whole from the start; what is better than
    the first step waits at the gate."""

    shared = {}

    def __init__(self):
        self.infos = {
            name: TensorInfo(name, "F64", (2,), "embedded", ()) for name in ["a", "b", "whole"]
        }
        self.gate = threading.Event()
        self.waits = threading.Event()
        self.loads = []

    def foreign(self):
        return []

    def elements(self, name):
        return self.infos[name].dtype, self.infos[name].shape, ""

    def load(self, name, target):
        self.loads.append((name, target))
        if target != 0.5:
            self.waits.set()
            assert self.gate.wait(60)
        quality = 1.0 if name == "whole" else QUALITIES.get(target, 1.0)
        return np.full(2, quality).view(np.uint8), quality, quality == 1


@pytest.fixture
def file(monkeypatch):
    file = SlowFile()
    monkeypatch.setattr(_tensor_arrays, "open_file", lambda path, zero_copy: file)
    yield file
    file.gate.set()


@pytest.fixture
def bad_file(file, monkeypatch):
    """One whose tensors cannot be loaded whole."""

    def load(name, target):
        if target is None:
            raise errors.Corrupt("bad")
        return SlowFile.load(file, name, target)

    monkeypatch.setattr(file, "load", load)
    return file


def values(version):
    return {name: value.tolist() for name, value in version.items()}


def test_what_is_whole_is_loaded_once(file):
    file.gate.set()
    with tensors.ProgressiveModel("x", steps=(0.5, 0.9, None), framework="np") as model:
        assert model.wait(60)
    assert file.loads == [
        ("a", 0.5), ("b", 0.5), ("whole", 0.5), ("a", 0.9), ("b", 0.9), ("a", None), ("b", None),
    ]  # fmt: skip
    assert model.version == 5
    assert dict(model.qualities) == {"a": 1, "b": 1, "whole": 1}


def test_a_model_that_is_gone_loads_no_more(file):
    model = tensors.ProgressiveModel("x", steps=(0.5, None), framework="np")
    assert file.waits.wait(60)
    loader, alive = model._loader, weakref.ref(model)
    kept = model.tensors
    del model
    gc.collect()
    assert alive() is None
    file.gate.set()
    loader.join(60)
    assert file.loads[3:] == [("a", None)]
    assert values(kept) == {"a": [0.6, 0.6], "b": [0.6, 0.6], "whole": [1, 1]}


def test_closing_stops_before_the_next_tensor(file):
    model = tensors.ProgressiveModel("x", steps=(0.5, None), framework="np")
    assert file.waits.wait(60)
    is_stopped = model._loader._is_stopped_by_owner
    opener = threading.Thread(target=lambda: is_stopped.wait(60) and file.gate.set())
    opener.start()
    model.close()
    model.close()
    assert model.wait(60)
    assert file.loads[3:] == [("a", None)] and model.version == 1
    opener.join()


def test_versions_stay_as_they_are(file):
    with tensors.ProgressiveModel("x", steps=(0.5, None), framework="np") as model:
        before = model.tensors
        assert not model.wait(0)
        file.gate.set()
        assert model.wait(60)
        assert values(before)["a"] == [0.6, 0.6] and values(model.tensors)["a"] == [1, 1]
        assert before["whole"] is model.tensors["whole"]


def test_errors_reach_who_waits(bad_file):
    with tensors.ProgressiveModel("x", steps=(0.5, None), framework="np") as model:
        with pytest.raises(errors.Corrupt, match="bad"):
            model.wait(60)
        assert values(model.tensors)["a"] == [0.6, 0.6]


def test_a_model_that_failed_is_gone_with_its_owner(bad_file):
    model = tensors.ProgressiveModel("x", steps=(0.5, None), framework="np")
    model._loader.join(60)
    alive = weakref.ref(model)
    gc.disable()
    try:
        del model
        assert alive() is None
    finally:
        gc.enable()


def test_a_model_may_end_on_its_own_thread(file):
    class Owned(tensors.ProgressiveModel):
        def _publish(self, name, tensor, quality):
            super()._publish(name, tensor, quality)
            self.close()
            closed.append(threading.current_thread())

    closed = []
    file.gate.set()
    model = Owned("x", steps=(0.5, None), framework="np")
    assert model.wait(60)
    assert closed == [model._loader]


def test_streams_are_checked_at_once_and_can_be_closed(file, monkeypatch):
    stream = tensors.stream("x", steps=(0.5, None), framework="np")
    assert next(stream)[0] == "a"
    stream.close()
    assert list(stream) == [] and len(file.loads) == 1
    monkeypatch.undo()
    with pytest.raises(FileNotFoundError):
        tensors.stream("nothing.holo", framework="np")
    with pytest.raises(errors.InvalidArgument):
        tensors.stream("nothing.holo", steps=(2,), framework="np")


@pytest.mark.parametrize("count", [0, 1, 2, 7, 100, 1001])
def test_versions_are_read_like_dicts(count):
    values = {f"n{i}": i for i in range(count)}
    version = Version.of(values)
    assert version == values and list(version) == list(values) and len(version) == count
    assert repr(version) == repr(values)
    for name in list(values)[:: max(1, count // 5)]:
        better = version.with_value(name, -1)
        assert better == {**values, name: -1} and list(better) == list(values)
        assert version == values
    with pytest.raises(TypeError):
        version["n0"] = 3
    with pytest.raises(KeyError):
        version["none"]
    assert "none" not in version
