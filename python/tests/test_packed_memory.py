"""How much memory a file takes at most that is packed as it is loaded."""

import pathlib
import subprocess
import sys
import threading
import weakref

import pytest
from hoist import _ahead, tensors

torch = pytest.importorskip("torch")

needs_gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")


@pytest.fixture(name="alive")
def _alive():
    """Counts things that are loaded and not let go."""

    class Thing:
        now = most = 0

        def __init__(self, number):
            self.number = number
            Thing.now += 1
            Thing.most = max(Thing.most, Thing.now)

        def __del__(self):
            Thing.now -= 1

    return Thing


def test_calls_come_in_order_and_one_ahead(alive):
    def calls():
        for i in range(20):
            yield i, None if i % 5 == 4 else lambda i=i: alive(i)

    seen = []
    for what, call in _ahead.one_ahead(calls()):
        got = None if call is None else call()
        assert got is None or got.number == what
        seen.append(what)
        del got, call
    assert seen == list(range(20))
    assert alive.now == 0 and alive.most <= 2


def test_the_next_call_runs_meanwhile():
    began = threading.Event()
    calls = iter(_ahead.one_ahead([(0, lambda: 0), (1, began.set)]))
    assert next(calls)[1]() == 0
    assert began.wait(60)  # before anybody asked for it
    assert [what for what, _ in calls] == [1]


def test_errors_come_to_who_asks():
    def fail():
        raise ValueError("no")

    calls = _ahead.one_ahead([(0, fail), (1, lambda: 1)])
    with pytest.raises(ValueError, match="no"):
        next(calls)[1]()
    assert next(calls)[1]() == 1


def test_groups_are_let_go(tmp_path, monkeypatch):
    """As on a GPU: loads of some tensors at a time, of which two are in memory at most."""
    from hoist import _frameworks
    from hoist._packed_loading import packed_tensors
    from hoist._tensor_arrays import ArrayLoader

    shape = (512, 512)
    generator = torch.Generator().manual_seed(1)
    weights = {f"w{i}": (torch.randn(shape, generator=generator) * 0.02).bfloat16() for i in range(12)}
    weights["twin"] = weights["w5"]
    with pytest.warns(UserWarning, match="share memory"):
        tensors.save_file(weights, tmp_path / "x.holo")
    arrays = _frameworks.framework("torch")
    loader = ArrayLoader(tmp_path / "x.holo", "cpu", arrays)
    loader._is_resolved, loader._place = True, "cpu"
    load_onto, wrap = loader.file.load_onto, arrays.wrap
    made, counted, most_alive = [], [], []

    def counting_load_onto(device, group):
        most_alive.append(sum(tensor() is not None for tensor in made))
        counted.append(len(group))
        return load_onto(device, group)

    def remembering_wrap(*args):
        tensor = wrap(*args)
        made.append(weakref.ref(tensor))
        return tensor

    monkeypatch.setattr(loader.file, "load_onto", counting_load_onto)
    monkeypatch.setattr(arrays, "wrap", remembering_wrap)
    group_bytes = 2 * loader.file.stored_bytes("w1")
    monkeypatch.setattr("hoist._tensor_arrays._LEAST_BYTES", 0)
    wanted = [(name, None) for name in loader.names()]
    packed = packed_tensors(loader.load(wanted, group_bytes=group_bytes, ahead=True), None)
    assert packed.keys() == weights.keys() and packed["twin"] is packed["w5"]
    assert max(counted) <= 3 and sum(counted) == len(made) == 12
    assert max(most_alive) <= 3  # when a group's load begins: those of the one before it
    for name, plain in weights.items():
        assert torch.equal(packed[name].unpack().view(torch.int16), plain.view(torch.int16))


MATRICES, ROWS, COLUMNS = 12, 4096, 2048
PLAIN = 2 * ROWS * COLUMNS

CHILD = """
import sys, torch
from hoist import tensors

def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(field))

path, resident = sys.argv[1:]
tensors.PackedTensor.pack(torch.randn(256, 256).bfloat16()).unpack()
before = status("VmRSS")
loaded = tensors.load_file(path, resident=resident)
size = sum(getattr(tensor, "packed_bytes", tensor.nbytes) for tensor in loaded.values())
print(size, status("VmHWM") - before)
"""


@pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="needs /proc")
def test_in_host_memory_one_matrix_is_plain_at_a_time(tmp_path):
    generator = torch.Generator().manual_seed(1)
    weights = {
        f"w{i}": (torch.randn(ROWS, COLUMNS, generator=generator) * 0.02).bfloat16()
        for i in range(MATRICES)
    }
    tensors.save_file(weights, tmp_path / "x.holo")
    command = [sys.executable, "-c", CHILD, tmp_path / "x.holo", "packed"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done
    size, peak = map(int, done.stdout.split())
    assert size < 0.755 * MATRICES * PLAIN
    assert peak <= 1.05 * size + 1.5 * PLAIN


@needs_gpu
def test_on_a_gpu_two_groups_are_plain_at_a_time(tmp_path):
    from hoist import _packed_loading

    rows, columns, matrices = 14336, 4096, 18
    plain = 2 * rows * columns
    weights = torch.empty(rows, columns, dtype=torch.bfloat16, device="cuda")
    path = tmp_path / "x.holo"
    tensors.save_file({f"w{i}": weights.normal_(0, 0.02).cpu() for i in range(matrices)}, path)
    del weights
    tensors.load_file(path, "cuda", resident="packed")  # kernels, pinned memory
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
    free = [torch.cuda.mem_get_info()[0]]
    is_done = threading.Event()

    def watch():
        while not is_done.wait(0.0005):
            free.append(torch.cuda.mem_get_info()[0])

    watcher = threading.Thread(target=watch)
    watcher.start()
    loaded = tensors.load_file(path, "cuda", resident="packed")
    is_done.set()
    watcher.join()
    size = sum(tensor.packed_bytes for tensor in loaded.values())
    # A group ends with the tensor that fills it. The loader has a ring for stored bytes besides.
    group = _packed_loading.GROUP_BYTES * 16 // 10 + plain
    ring = 512 << 20
    assert free[0] - min(free) <= 1.05 * size + 2 * group + ring < size + matrices * plain
