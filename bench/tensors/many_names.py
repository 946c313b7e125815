#!/usr/bin/env python3
"""Saves and loads models of many small tensors beside safetensors: what a name costs. Seconds of
CPU time, the least of several turns, because machines that others use scatter; then wall time.

    PYTHONPATH=build/release/python build/venv/bin/python bench/tensors/many_names.py
"""

import argparse
import pathlib
import resource
import tempfile
import time

import numpy as np
import safetensors
import safetensors.numpy as peer

from hoist import tensors


def cpu_seconds():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def measure(calls, turns):
    """Least CPU and wall time of each call; they alternate."""
    best = {name: (float("inf"), float("inf")) for name in calls}
    for _ in range(turns):
        for name, call in calls.items():
            cpu, wall = cpu_seconds(), time.perf_counter()
            result = call()
            took = cpu_seconds() - cpu, time.perf_counter() - wall
            best[name] = tuple(map(min, best[name], took))
            del result
    return best


def each_tensor(open_file, path):
    with open_file(path, framework="np") as file:
        return {name: file.get_tensor(name) for name in file.keys()}


def compare(title, model, folder, turns):
    plain, packed = str(folder / "x.safetensors"), str(folder / "x.holo")
    calls = {
        "save_file, safetensors": lambda: peer.save_file(model, plain),
        "save_file, Hoist": lambda: tensors.save_file(model, packed),
        "load_file, safetensors": lambda: peer.load_file(plain),
        "load_file, Hoist, the same file": lambda: tensors.load_file(plain, framework="np"),
        "load_file, Hoist, .holo": lambda: tensors.load_file(packed, framework="np"),
        "get_tensor of each, safetensors": lambda: each_tensor(safetensors.safe_open, plain),
        "get_tensor of each, Hoist": lambda: each_tensor(tensors.safe_open, plain),
    }
    print(f"\n{title}\n")
    for name, (cpu, wall) in measure(calls, turns).items():
        print(f"{name:34} {cpu:6.2f} s CPU {wall:6.2f} s")
    for path in (plain, packed):
        loaded = tensors.load_file(path, framework="np")
        assert loaded.keys() == model.keys()
        assert all(np.array_equal(loaded[name], model[name]) for name in model)


def compare_slices(folder, turns):
    path = str(folder / "large.safetensors")
    peer.save_file({name: np.zeros((16384, 8192), "f4") for name in "abc"}, path)
    calls = {}
    for maker, open_file in [("safetensors", safetensors.safe_open), ("Hoist", tensors.safe_open)]:
        part = open_file(path, framework="np").get_slice("b")
        calls[f"[5:6], {maker}"] = lambda part=part: part[5:6]
        calls[f"[:, 7:9], {maker}"] = lambda part=part: part[:, 7:9]
    print("\nget_slice of [16384, 8192] F32, 512 MiB\n")
    for name, (cpu, wall) in measure(calls, turns).items():
        print(f"{name:34} {1e3 * cpu:6.2f} ms CPU {1e3 * wall:6.2f} ms")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    many = {
        f"model.layers.{i // 7}.mlp.{i % 7}.weight": rng.standard_normal((4, 2)).astype("f4")
        for i in range(100_000)
    }
    long = {f"{i:05}" + "x" * 4850: rng.standard_normal(2).astype("f4") for i in range(20_010)}
    with tempfile.TemporaryDirectory() as folder:
        compare("100 000 tensors", many, pathlib.Path(folder), options.turns)
        compare("20 010 names of 4855 bytes", long, pathlib.Path(folder), options.turns)
        compare_slices(pathlib.Path(folder), options.turns)


if __name__ == "__main__":
    main()
