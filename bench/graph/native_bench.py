"""Programs with precompiled kernels, and with those that were compiled for this CPU where they are faster.

    PYTHONPATH=build/release/python build/venv/bin/python bench/graph/native_bench.py

Results of both are compared bit by bit first. Times are CPU time of the one thread that runs, so that other
programs of the machine count less.
"""

import argparse
import json
import os
import tempfile
import time

import numpy as np

import program_bench
from hoist import graph


def polynomial(x, y):
    for factor in (0.3, 0.2, -0.7, 1.1, 0.4, -0.2, 0.9, -1.3):
        x = x * y + factor
    return x


def adam(parameter, gradient, first, second):
    first = first * 0.9 + gradient * 0.1
    second = second * 0.999 + gradient * gradient * 0.001
    step = 1e-3 * (first / 0.99) / (graph.sqrt(second / 0.99) + 1e-8)
    return parameter - step, first, second


def choice(x, y):
    return graph.where((x > 0.1) & (y < 0.5), x * 2 - y, graph.clip(x * y + 0.25, -1, 1))


def bits(x, y):
    return ((x ^ y) & 0xFFFF) + (x << 3) - (y >> 2)


def pixels(x):
    contrast = (x.astype("float32") / 255 - 0.5) * 1.2 + 0.5
    return graph.round(graph.clip(contrast * 255, 0, 255)).astype("uint8")


def entropy(x, y):
    return -(y * graph.log(x) + (1 - y) * graph.log(1 - x))


def gelu(x):
    return graph.gelu(x)


def element_wise():
    """(name, function, arguments)"""
    rng = np.random.default_rng(0)
    for n in (1000, 30_000, 1_000_000):
        floats = [rng.random(n, dtype=np.float32) for _ in range(4)]
        doubles = [rng.random(n) for _ in range(2)]
        integers = [rng.integers(0, 1000, n).astype(np.int32) for _ in range(2)]
        yield f"polynomial of degree 8, {n} float32", polynomial, floats[:2]
        yield f"polynomial of degree 8, {n} float64", polynomial, doubles
        yield f"Adam's step, {n} float32", adam, floats
        yield f"comparisons and a choice, {n} float32", choice, floats[:2]
        yield f"bits and shifts, {n} int32", bits, integers
        yield f"contrast, {n} uint8", pixels, [rng.integers(0, 256, n).astype(np.uint8)]
        yield f"cross entropy, {n} float32", entropy, floats[:2]
        yield f"GELU by erf, {n} float32", gelu, floats[:1]


def cases():
    yield from element_wise()
    for name, function, x, w, others in program_bench.models():
        yield name, lambda x, *others, f=function, w=w: f(graph, x, w, *others), (x, *others)


def arrays_of(result):
    return result if isinstance(result, tuple) else (result,)


def measure(ways, seconds):
    """The least CPU time of a call in many short rounds, which alternate."""
    calls = {}
    for name, call in ways.items():
        start = time.thread_time()
        call()
        calls[name] = max(1, int(0.002 / max(time.thread_time() - start, 1e-7)))
    best = dict.fromkeys(ways, float("inf"))
    end = time.thread_time() + seconds * len(ways)
    while time.thread_time() < end:
        for name, call in ways.items():
            start = time.thread_time()
            for _ in range(calls[name]):
                call()
            best[name] = min(best[name], (time.thread_time() - start) / calls[name])
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=0.5, help="CPU time for a way of a program")
    parser.add_argument("--only", default="", help="programs whose names have this text")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = []
    print("| program | kernels | compiled | ready, s | precompiled, us | compiled where faster, us | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    for name, function, arguments in cases():
        if options.only not in name:
            continue
        off = graph.compile(function, threads=1, native="off")
        now = graph.compile(function, threads=1, native="now")
        start = time.perf_counter()
        now(*arguments)
        ready = time.perf_counter() - start
        while now.report().native == "measuring":
            now(*arguments)
        for a, b in zip(arrays_of(off(*arguments)), arrays_of(now(*arguments))):
            assert a.tobytes() == b.tobytes(), name
        best = measure({"off": lambda: off(*arguments), "now": lambda: now(*arguments)}, options.seconds)
        kernels = now.report().kernels
        row = {
            "program": name,
            "kernels": len(kernels),
            "compiled": sum(kernel.code == "compiled" for kernel in kernels),
            "ready_s": ready,
            "precompiled_us": best["off"] * 1e6,
            "compiled_us": best["now"] * 1e6,
        }
        rows.append(row)
        print(
            f"| {name} | {row['kernels']} | {row['compiled']} | {ready:.2f} | {row['precompiled_us']:.2f} |"
            f" {row['compiled_us']:.2f} | {row['precompiled_us'] / row['compiled_us']:.2f} |",
            flush=True,
        )
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder  # so that each is compiled
        main()
