#!/usr/bin/env python3
"""Other loaders of safetensors files, on the file that tensors_gpu_load made.

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


def load_safetensors(path):
    from safetensors.torch import load_file

    return load_file(path, device="cuda:0")


def load_fastsafetensors(path):
    from fastsafetensors import SafeTensorsFileLoader, SingleGroup

    loader = SafeTensorsFileLoader(SingleGroup(), "cuda:0", nogds=True)
    loader.add_filenames({0: [path]})
    buffers = loader.copy_files_to_device()
    return {name: buffers.get_tensor(name) for name in buffers.key_to_rank_lidix}


PEERS = {
    "safetensors": load_safetensors,
    "fastsafetensors": load_fastsafetensors,
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
    return statistics.median(times)


def main():
    path = sys.argv[1]
    if importlib.util.find_spec("torch") is None:
        sys.exit("peers_load: torch is not installed")
    import torch

    torch.zeros(1, device="cuda:0")  # the context is not the loaders' cost
    for name, load in PEERS.items():
        if importlib.util.find_spec(name) is None:
            print(json.dumps({"case": name, "skipped": "not installed"}))
            continue
        seconds = measure(load, path)
        print(json.dumps({"case": name, "seconds": round(seconds, 4),
                          "weights_GBps": round(os.path.getsize(path) / seconds / 1e9, 2)}))


if __name__ == "__main__":
    main()
