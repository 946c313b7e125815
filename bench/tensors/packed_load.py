#!/usr/bin/env python3
"""Seconds and peak memory of loading a .holo file onto a CUDA GPU, plain and packed.

    packed_load.py [--matrices 36] [--group-mib 96 192 384] [--rounds 5]

The file has random normal bf16 matrices of 14336 x 4096 and lies in the page cache. Loads alternate;
medians, the first round left out. The peak is of the whole GPU's memory, asked for every millisecond, less what
was in use before. A group is what is loaded while another one is packed, as stored.
"""

import argparse
import pathlib
import statistics
import sys
import tempfile
import threading
import time


class Peak:
    """Of the GPU's memory in use, above what was in use at first."""

    def __init__(self, torch):
        self._info = torch.cuda.mem_get_info
        self._least = self._before = self._info()[0]
        self._is_done = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self):
        while not self._is_done.wait(0.001):
            self._least = min(self._least, self._info()[0])

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._is_done.set()
        self._thread.join()
        self.bytes = self._before - min(self._least, self._info()[0])


def write(torch, tensors, path, matrices):
    generator = torch.Generator("cuda").manual_seed(1)
    weights = torch.empty(14336, 4096, dtype=torch.bfloat16, device="cuda")
    tensors.save_file(
        {f"w{i}": weights.normal_(0, 0.02, generator=generator).cpu() for i in range(matrices)}, path
    )
    path.read_bytes()
    return matrices * weights.nbytes


def load(torch, tensors, path, resident, is_watched):
    torch.cuda.empty_cache()
    torch.cuda.synchronize()
    if is_watched:  # which takes the driver's locks
        with Peak(torch) as peak:
            kept = tensors.load_file(path, "cuda", resident=resident)
            torch.cuda.synchronize()
        return peak.bytes, kept
    begin = time.perf_counter()
    kept = tensors.load_file(path, "cuda", resident=resident)
    torch.cuda.synchronize()
    return time.perf_counter() - begin, kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--matrices", type=int, default=36)
    parser.add_argument("--group-mib", type=int, nargs="+", default=[96, 192, 384])
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    try:
        import torch
        from hoist import _packed_loading, tensors
    except ImportError as why:
        print(f"packed_load: {why}", file=sys.stderr)
        return 77
    if not torch.cuda.is_available():
        print("packed_load: there is no CUDA GPU", file=sys.stderr)
        return 77
    ways = [("plain", None)] + [("packed", mib << 20) for mib in options.group_mib]
    seconds = {way: [] for way in ways}
    peaks, sizes = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.holo")
        plain = write(torch, tensors, path, options.matrices)
        print(
            f"{torch.cuda.get_device_name()}: {plain / 2**30:.2f} GiB, {path.stat().st_size / 2**30:.2f} stored"
        )
        for round_ in range(options.rounds + 1):
            for way in ways:
                _packed_loading.GROUP_BYTES = way[1]
                took, kept = load(torch, tensors, path, way[0], False)
                sizes[way] = sum(getattr(t, "packed_bytes", t.nbytes) for t in kept.values())
                del kept
                if round_:
                    seconds[way].append(took)
        for way in ways:
            _packed_loading.GROUP_BYTES = way[1]
            peaks[way], kept = load(torch, tensors, path, way[0], True)
            del kept
    for way in ways:
        group = "" if way[1] is None else f", groups of {way[1] >> 20} MiB"
        print(
            f"{way[0]}{group}: {statistics.median(seconds[way]):.3f} s, {sizes[way] / 2**30:.2f} GiB, "
            f"peak {peaks[way] / 2**30:.2f} GiB"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
