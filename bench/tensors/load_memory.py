#!/usr/bin/env python3
"""load_file of plain .safetensors files beside safetensors: wall and CPU seconds, and memory. Each
load has a process of its own; the loaders alternate, and each round begins with the other one. The
file is in the page cache.

    PYTHONPATH=build/release/python build/venv/bin/python bench/tensors/load_memory.py --gb 8

"used" is a load that reads every byte once: torch tensors are the mapped file. Peak is the largest
resident set of the process, mapped files included, above what it was after the imports.
"""

import argparse
import importlib
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np

MAKERS = {"safetensors": "safetensors", "Hoist": "hoist.safetensors"}


def status(field):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith(field))


def load(maker, framework, path, is_used):
    """In a process of its own."""
    module = importlib.import_module(f"{MAKERS[maker]}.{framework}")
    before = status("VmRSS")
    start, cpu = time.perf_counter(), time.process_time()
    loaded = module.load_file(path)
    if is_used:
        for tensor in loaded.values():
            tensor.max()
    wall, cpu = time.perf_counter() - start, time.process_time() - cpu
    print(json.dumps([wall, cpu, status("VmHWM") - before]))


def measure(path, framework, rounds, is_used):
    """Least wall time, CPU time and peak of each maker."""
    best = {maker: (float("inf"),) * 3 for maker in MAKERS}
    for turn in range(rounds):
        for maker in list(MAKERS)[:: -1 if turn % 2 else 1]:
            command = [sys.executable, __file__, "--child", maker, framework, path, str(int(is_used))]
            found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            best[maker] = tuple(map(min, best[maker], found))
    return best


def write_zeros(path, count, size):
    """A file of `count` F32 tensors of `size` bytes, random enough not to be a hole."""
    header, offset = {}, 0
    for number in range(count):
        header[f"layer.{number}"] = {
            "dtype": "F32", "shape": [size // 4], "data_offsets": [offset, offset + size]
        }  # fmt: skip
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    piece = np.random.default_rng(1).standard_normal(1 << 20).astype("f4").tobytes()
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for _ in range(0, offset, len(piece)):
            file.write(piece[: min(len(piece), offset - (file.tell() - 8 - len(text)))])


def main():
    if sys.argv[1:2] == ["--child"]:
        return load(*sys.argv[2:5], sys.argv[5] == "1")
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gb", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--folder", default=None, help="where the files are made")
    parser.add_argument("--frameworks", nargs="+", default=["numpy", "torch"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        many, large = pathlib.Path(folder) / "many", pathlib.Path(folder) / "large"
        write_zeros(many, 100_000, 32)
        write_zeros(large, 16, int(options.gb * 1e9 / 16) // 4 * 4)
        for framework in options.frameworks:
            if importlib.util.find_spec(framework) is None:
                print(f"{framework}: not installed")
                continue
            for title, path in [("100 000 tensors of 32 bytes", many),
                                (f"16 tensors, {options.gb:g} GB", large)]:
                for is_used in [False, True]:
                    if path is many and is_used:
                        continue
                    with open(path, "rb") as file:
                        while file.read(64 << 20):
                            pass
                    found = measure(str(path), framework, options.rounds, is_used)
                    for maker, (wall, cpu, peak) in found.items():
                        print(f"{title}, {framework}{', used' * is_used}: {maker:12}"
                              f" {wall:7.3f} s, CPU {cpu:7.3f} s, {peak / 1e6:6.0f} MB", flush=True)


if __name__ == "__main__":
    sys.exit(main())
