"""Children that fork() makes, of processes that learn, search and load meanwhile."""

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from hoist import match, tensors
from hoist.errors import NotFound, Unavailable

FIRST = [["a0"], ["b0"]]
PATIENCE = 60  # seconds; a child that hangs is killed


def in_child(body, leave="_exit"):
    """Ends by os._exit() or C's exit(); what `body` raises is raised here."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        try:
            os.close(read)
            body()
            text = b""
        except BaseException as error:
            text = repr(error).encode()
        os.write(write, text or b"ok")
        os.close(write)
        if leave == "_exit":
            os._exit(0)
        ctypes.CDLL(None).exit(0)  # with C's handlers, and without pytest's
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    assert text == b"ok"
    assert status == 0


def look(index):
    found = index.search([FIRST], k=1)
    assert found.scores[0, 0] == 1.0
    assert found.names() == [["first"]]
    assert index.name(int(found.ids[0, 0])) == "first"
    assert index.predict(FIRST, threshold=0.9, affinity_emotive="joy")[0]["name"] == "first"
    assert "first" in index and "none" not in index
    assert len(index) > 0 and index.stats()["patterns"] > 0


def expect_no_changes(index):
    many = [[["c"], [str(i)]] for i in range(5000)]
    for change in (
        lambda: index.learn([["c"], ["d"]]),
        lambda: index.learn_many(many[:2]),
        lambda: index.learn_many(many),
        lambda: index.learn_arrays([1, 2], [0, 2]),
        lambda: index.delete("first"),
        index.sync,
    ):
        with pytest.raises(Unavailable, match="fork"):
            change()


class Busy:
    """Threads that call functions over and over, while it is entered."""

    def __init__(self, *calls):
        self.stop = False
        self.errors = []
        self.threads = [threading.Thread(target=self.run, args=(call,)) for call in calls]

    def run(self, call):
        step = 0
        try:
            while not self.stop:
                call(step)
                step += 1
        except BaseException as error:
            self.errors.append(error)

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.stop = True
        for thread in self.threads:
            thread.join()
        assert not self.errors


@pytest.mark.parametrize("kind", ["memory", "folder"])
def test_children_of_a_busy_index(tmp_path, kind):
    path = None if kind == "memory" else tmp_path / "index"
    index = match.Index(path, sync_patterns=500)
    index.learn(FIRST, name="first", emotives={"joy": 1.0})
    learned = []

    def learn(step):
        name = index.learn([[f"a{step % 50}"], [f"b{step + 1}"]], emotives={"joy": 1.0})
        learned.append(name)
        if step % 5 == 0:
            index.delete(learned.pop())

    def learn_many(step):
        learned.extend(index.learn_many([[[f"m{step}"], [f"n{i}"]] for i in range(4096)]))
        time.sleep(0.2)

    def sync(_):
        index.sync()

    with Busy(learn, learn_many, sync, lambda _: look(index), lambda _: look(index)):
        for step in range(24):

            def body():
                look(index)
                expect_no_changes(index)
                if step % 3 == 0:
                    index.close()

            in_child(body, ("_exit", "exit")[step % 2])
    assert index.verify() == len(index) == len(set(learned)) + 1
    index.close()
    if path is None:
        return
    with match.Index(path, create=False) as again:
        assert again.verify() == len(set(learned)) + 1
        assert all(name in again for name in learned)


def test_what_only_the_store_has(tmp_path):
    with match.Index(tmp_path / "index") as index:
        index.learn(FIRST, name="first", metadata={"x": 1})

        def body():
            with pytest.raises(Unavailable, match="fork"):
                index.metadata("first")
            with pytest.raises(NotFound):
                index.metadata("none")
            with pytest.raises(Unavailable, match="fork"):
                index.verify()

        in_child(body)
        assert index.metadata("first") == {"x": 1}


def test_a_child_that_lives_keeps_no_lock(tmp_path):
    index = match.Index(tmp_path / "index")
    index.learn(FIRST, name="first")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(PATIENCE)
        os.close(write)
        os.read(read, 1)
        os._exit(0)
    index.close()
    with match.Index(tmp_path / "index") as again:
        again.learn([["c"], ["d"]])
        again.sync()
    os.close(write)
    assert os.waitpid(child, 0)[1] == 0
    os.close(read)


def _search(_):
    look(_search.index)
    with pytest.raises(Unavailable):
        _search.index.learn([["c"], ["d"]])
    return os.getpid()


def test_a_pool_of_workers(tmp_path):
    with match.Index(tmp_path / "index") as index:
        index.learn(FIRST, name="first", emotives={"joy": 1.0})
        _search.index = index
        with multiprocessing.get_context("fork").Pool(2) as pool:
            assert os.getpid() not in pool.map_async(_search, range(20)).get(PATIENCE)
        index.learn([["c"], ["d"]])
        assert index.verify() == 2


def _open_and_count(path):
    with match.Index(path, read_only=True) as index:
        return len(index)


@pytest.mark.parametrize("method", ["forkserver", "spawn"])
def test_workers_that_open_it_themselves(tmp_path, method):
    with match.Index(tmp_path / "index") as index:
        index.learn(FIRST, name="first")
        with multiprocessing.get_context(method).Pool(1) as pool:
            counted = pool.map_async(_open_and_count, [str(tmp_path / "index")]).get(PATIENCE)
        assert counted == [1]


def test_children_of_a_process_that_loads(tmp_path):
    values = {f"w{i}": np.arange(50_000, dtype=np.float32) + i for i in range(8)}
    tensors.save_file(values, tmp_path / "model.holo")
    file = tensors.safe_open(tmp_path / "model.holo", framework="np")

    def load(_=None):
        loaded = tensors.load_file(tmp_path / "model.holo")
        assert all(np.array_equal(loaded[name], values[name]) for name in values)
        assert np.array_equal(file.get_tensor("w3"), values["w3"])

    with Busy(load, load):
        for step in range(10):
            in_child(load, ("_exit", "exit")[step % 2])


# Run by themselves: what happens when the interpreter ends.
ENDINGS = {
    "open": "",
    "in a cycle": "cycle = [index]; cycle.append(cycle); del index",
    "a daemon thread searches": """
import threading
threading.Thread(target=lambda: [index.search([[["a"], ["b"]]]) for _ in iter(int, 1)], daemon=True).start()
""",
    "a daemon thread learns": """
import threading
threading.Thread(target=lambda: [index.learn([["a"], [str(i)]]) for i in range(10**9)], daemon=True).start()
""",
    "os._exit": "import os; os._exit(0)",
    "a child ends": "import os, sys; child = os.fork(); child or sys.exit(0); assert os.waitpid(child, 0)[1] == 0",
}


@pytest.mark.parametrize("path", ["None", "folder"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_interpreter_ends(tmp_path, path, ending):
    folder = "None" if path == "None" else repr(str(tmp_path / "index"))
    program = f"""
from hoist.match import Index
index = Index({folder})
for i in range(100): index.learn([["a"], ["b"], [str(i)]])
{ENDINGS[ending]}
"""
    if "daemon" in ending:
        program += "\nimport time; time.sleep(0.3)\n"
    done = subprocess.run(
        [sys.executable, "-c", program], timeout=PATIENCE, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    if path == "folder":
        with match.Index(tmp_path / "index", create=False) as again:
            assert again.verify() >= 100


def test_contexts_of_a_parent():
    """What a child can decode with its parent's objects is right, and the rest says so."""
    tensor = np.random.default_rng(3).standard_normal((48, 64)).astype(np.float32)
    encoded = tensors.HoloTensorEncoder().encode(tensor)
    decoder = tensors.HoloTensorDecoder(encoded.description)
    context = tensors.GpuHoloContext("cpu", framework="numpy")
    accumulator = context.create_accumulator(encoded.description)
    for number, fragment in enumerate(encoded.fragments):
        decoder.add_fragment(number, fragment)
        context.accumulate_fragment(accumulator, number, fragment)
    several = tensors.MultiGpuHoloContext(["cpu", "cpu"], framework="numpy")

    def check():
        assert np.array_equal(decoder.reconstruct(framework="numpy"), tensor)
        assert np.array_equal(context.finalize_reconstruction(accumulator), tensor)
        with pytest.raises(Unavailable, match="fork"):
            context.finalize_reconstruction(accumulator, "F16")  # on a stream of the parent's
        with pytest.raises(Unavailable, match="fork"):
            several.reconstruct(encoded.description, encoded.fragments)
        own = tensors.GpuHoloContext("cpu", framework="numpy")
        half = own.reconstruct(encoded.description, encoded.fragments, "F16")
        assert np.array_equal(half, tensor.astype(np.float16))

    in_child(check)
    assert np.array_equal(several.reconstruct(encoded.description, encoded.fragments), tensor)
