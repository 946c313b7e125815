#!/usr/bin/env python3
"""Loaders of safetensors files in Python, ours among them, on the files that tensors_gpu_load made.

    peers_load.py model.safetensors

Prints a line of JSON for each loader that is installed: the median of five runs, counted in bytes
of weights, from the page cache into GPU memory.
"""

import importlib.util
import json
import os
import statistics
import sys
import time

RUNS = 5
PAUSE = 0.1  # seconds: the driver clears memory that was freed with the copy engines


def load_safetensors(path):
    from safetensors.torch import load_file

    return load_file(path, device="cuda:0")


def load_fastsafetensors(path):
    from fastsafetensors import SafeTensorsFileLoader, SingleGroup

    loader = SafeTensorsFileLoader(SingleGroup(), "cuda:0", nogds=True)
    loader.add_filenames({0: [path]})
    buffers = loader.copy_files_to_device()
    return {name: buffers.get_tensor(name) for name in loader.get_keys()}


def load_instanttensor(path):
    from instanttensor import safe_open

    with safe_open(path, framework="pt", device=0) as file:
        return dict(file.tensors())


def load_instanttensor_buffered(path):
    from instanttensor import Backend, safe_open

    with safe_open(path, framework="pt", device=0, backend=Backend.URING_BUFFERED) as file:
        return dict(file.tensors())


def load_hoist(path):
    from hoist import tensors

    return tensors.load_file(path, device="cuda:0")


def load_hoist_packed(path):
    return load_hoist(path.replace(".safetensors", ".holo"))


LOADERS = {
    "safetensors": load_safetensors,
    "fastsafetensors": load_fastsafetensors,
    "instanttensor": load_instanttensor,
    "instanttensor, through the page cache": load_instanttensor_buffered,
    "hoist, the same file": load_hoist,
    "hoist, packed beside it": load_hoist_packed,
}


def measure(load, path):
    import torch

    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        tensors = load(path)
        torch.cuda.synchronize()
        times.append(time.perf_counter() - start)
        del tensors
        torch.cuda.empty_cache()
        time.sleep(PAUSE)
    return statistics.median(times)


def main():
    path = sys.argv[1]
    if importlib.util.find_spec("torch") is None:
        sys.exit("peers_load: torch is not installed")
    import torch

    torch.zeros(1, device="cuda:0")  # the context is not the loaders' cost
    for name, load in LOADERS.items():
        if importlib.util.find_spec(name.partition(",")[0]) is None:
            print(json.dumps({"case": name, "skipped": "not installed"}))
            continue
        try:
            seconds = measure(load, path)
        except Exception as error:  # a peer that fails here is left out, and said so
            print(json.dumps({"case": name, "failed": repr(error)}))
            continue
        print(json.dumps({"case": name, "seconds": round(seconds, 4),
                          "weights_GBps": round(os.path.getsize(path) / seconds / 1e9, 2)}))


if __name__ == "__main__":
    main()
