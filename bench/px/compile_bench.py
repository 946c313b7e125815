#!/usr/bin/env python3
"""How long hoist.px.compile() takes for the largest kernels that Hoist has built in, cold and from the cache.

  compile_bench.py [--target cpu|cuda] [--rounds 5] [FILE.px ...]

Prints a line of JSON a file, in milliseconds: `cold` with an empty cache, `cached` in a new process that finds the code on
the disk, `again` a second time in that process; the best of the rounds, and the worst. Each is one call, in a process in
which a small kernel was compiled before, so that what the first use of a compiler or a GPU costs is `first`. `hoist` is
imported from PYTHONPATH.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

OPS = pathlib.Path(__file__).resolve().parent.parent.parent / "src/ops"
LARGEST = [OPS / name for name in ("hash/gpu/sha256.px", "aes/gpu/aes_ctr.px", "aes/gpu/aes_encrypt.px",
                                   "aes/gpu/aes_decrypt.px")]
ONE = """
import sys, time
from hoist import px
def timed(text):
    begin = time.perf_counter()
    px.compile(text, target=sys.argv[1])
    return 1e3 * (time.perf_counter() - begin)
first = timed("GPU_KERNEL k\\nGPU_PARAM v out i32[]\\nSTORE 1 -> v[0]\\nGPU_END\\n")
text = open(sys.argv[2]).read()
print(first, timed(text), timed(text))
"""


def measured(target, path, cache):
    done = subprocess.run([sys.executable, "-c", ONE, target, str(path)], check=True, capture_output=True, text=True,
                          env={**os.environ, "XDG_CACHE_HOME": cache})
    return [float(word) for word in done.stdout.split()]


def best_and_worst(values):
    return [round(min(values), 2), round(max(values), 2)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("files", nargs="*", type=pathlib.Path, default=LARGEST)
    options = parser.parse_args()
    for path in options.files:
        first, cold, cached, again = [], [], [], []
        for _ in range(options.rounds):
            with tempfile.TemporaryDirectory() as cache:
                first_here, cold_here, _ = measured(options.target, path, cache)
                _, cached_here, again_here = measured(options.target, path, cache)
            first.append(first_here)
            cold.append(cold_here)
            cached.append(cached_here)
            again.append(again_here)
        print(json.dumps({"file": path.name, "target": options.target, "bytes": path.stat().st_size,
                          "first": best_and_worst(first), "cold": best_and_worst(cold),
                          "cached": best_and_worst(cached), "again": best_and_worst(again)}), flush=True)


if __name__ == "__main__":
    main()
