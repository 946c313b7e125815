#!/usr/bin/env python3
"""NumPy's matrix products plain, under `hoist run` with a hoistd of its own, with a hoistd that runs
and has done a product before, and with the GPU in the process.

    bench/gemm/numpy_products.py --hoist build/release/bin/hoist --products d256 d8192 s16384

Each way is a process of its own, one after the other, `--rounds` times. Of each product the table has
the median of the calls after the first, of all rounds; the first call, which may make a CUDA context or
start a daemon; and the greatest difference from the plain result over its greatest number. `whole` is
the process from its start to its end. Where a GPU has been measured (`hoist tune --op gemm`), placement
decides; HOIST_GPU=require in the environment asks for the GPU wherever a product has a size.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

WAYS = ("plain", "hoist run", "hoistd running", "in process")
CHILD = """
import json, sys, time
import numpy as np
products, seconds, folder = json.loads(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
result = {}
for name in products:
    n = int(name[1:])
    random = np.random.default_rng(n)
    a, b = (random.standard_normal((n, n)).astype(name[0].replace("s", "f")) for _ in range(2))
    c = np.zeros_like(a)
    calls = []
    while len(calls) < 4 or (sum(calls) < seconds and len(calls) < 2000):
        start = time.perf_counter()
        np.matmul(a, b, out=c)
        calls.append(time.perf_counter() - start)
    sample = c[:: max(1, n // 64)]
    file = f"{folder}/{name}.npy"
    difference = 0.0
    if sys.argv[4] == "plain":
        np.save(file, sample)
    else:
        plain = np.load(file)
        difference = float(np.max(np.abs(sample - plain)) / np.max(np.abs(plain)))
    result[name] = {"first": calls[0], "calls": calls[1:], "difference": difference}
print(json.dumps(result))
"""


def run(way, options, folder, socket):
    """(seconds of the whole process, {product: {first, calls, difference}})"""
    words = [options.python, "-c", CHILD, json.dumps(options.products), str(options.seconds),
             str(folder), way]
    environment = dict(os.environ)
    environment.pop("HOIST_SOCKET", None)
    if way != "plain":
        words = [options.hoist, "run", "--", *words]
    if way == "hoistd running":
        environment["HOIST_SOCKET"] = socket
    if way == "in process":
        environment["HOIST_GPU"] = "inprocess"
    start = time.perf_counter()
    done = subprocess.run(words, env=environment, stdout=subprocess.PIPE, text=True, check=False)
    seconds = time.perf_counter() - start
    if done.returncode != 0:
        sys.exit(f"numpy_products: {way}: exit status {done.returncode}")
    return seconds, json.loads(done.stdout)


def serve(options, socket):
    """A hoistd that answers, or None where there is no GPU to serve."""
    hoistd = pathlib.Path(options.hoist).with_name("hoistd")
    daemon = subprocess.Popen([hoistd, "--device", "cuda", "--socket", socket],
                              stderr=subprocess.DEVNULL)
    for _ in range(100):
        if daemon.poll() is not None:
            return None
        asked = subprocess.run([hoistd, "--status", "--socket", socket], check=False,
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if asked.returncode == 0:
            return daemon
        time.sleep(0.1)
    daemon.terminate()
    return None


def make_ready(options, folder, socket):
    """Has the daemon do products, for the first ones take half a second."""
    words = [options.hoist, "run", "--", options.python, "-c", CHILD, '["d1024", "s1024"]', "0",
             folder, "plain"]
    environment = {**os.environ, "HOIST_SOCKET": socket, "HOIST_GPU": "require"}
    subprocess.run(words, env=environment, stdout=subprocess.DEVNULL, check=True)


def milliseconds(seconds):
    return f"{seconds * 1e3:.3g}" if seconds < 1 else f"{seconds * 1e3:.0f}"


def table(options, runs):
    print("| ms (first call) | " + " | ".join(runs) + " | difference |")
    print("|---|" + "---:|" * (len(runs) + 1))
    for name in options.products:
        cells, worst, plain = [], 0.0, None
        for way, rounds in runs.items():
            calls = [call for _, products in rounds for call in products[name]["calls"]]
            first = statistics.median(products[name]["first"] for _, products in rounds)
            worst = max(worst, *(products[name]["difference"] for _, products in rounds))
            median = statistics.median(calls)
            ratio = "" if plain is None else f" {plain / median:.2f}x"
            plain = plain or median
            cells.append(f"{milliseconds(median)}{ratio} ({milliseconds(first)})")
        print(f"| {name} | " + " | ".join(cells) + f" | {worst:.1g} |")
    whole = (f"{statistics.median(seconds for seconds, _ in rounds):.2f} s" for rounds in runs.values())
    print("| whole | " + " | ".join(whole) + " | |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hoist", default="build/release/bin/hoist")
    parser.add_argument("--python", default=sys.executable, help="one that has NumPy")
    parser.add_argument("--products", nargs="+", metavar="TYPESIZE", default=["d256", "d1024", "d2048"],
                        help="s or d and the size of square matrices")
    parser.add_argument("--seconds", type=float, default=0.5, help="of calls a product and round")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="all times")
    options = parser.parse_args()
    for name in options.products:
        if name[:1] not in ("s", "d") or not name[1:].isdigit() or int(name[1:]) == 0:
            parser.error(f"{name}: s or d and a size, as d1024")
    for program in (pathlib.Path(options.hoist), pathlib.Path(options.hoist).with_name("hoistd")):
        if not os.access(program, os.X_OK):
            parser.error(f"{program}: no such program: name hoist by --hoist")
    if subprocess.run([options.python, "-c", "import numpy"], stderr=subprocess.DEVNULL,
                      check=False).returncode != 0:
        parser.error(f"{options.python} has no NumPy: name one that has by --python")
    with tempfile.TemporaryDirectory(prefix="hoist-products-") as folder:
        socket = f"{folder}/hoistd.sock"
        daemon = serve(options, socket)
        try:
            if daemon is not None:
                make_ready(options, folder, socket)
            ways = [way for way in WAYS if daemon is not None or way in ("plain", "hoist run")]
            runs = {way: [] for way in ways}
            for _ in range(options.rounds):
                for way in ways:
                    runs[way].append(run(way, options, folder, socket))
        finally:
            if daemon is not None:
                daemon.terminate()
                daemon.wait()
    table(options, runs)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(runs), encoding="utf-8")


if __name__ == "__main__":
    main()
