#!/usr/bin/env python3
"""Single operations from Python, on one thread: hologram_ffi ("hoist") and hoist.graph with its Arrays
("graph") beside NumPy and, where it is, PyTorch.

    PYTHONPATH=build/release/python bench/graph/eager_bench.py [--json FILE]

Every peer computes into an array that it is given (rows "new": into a new one), and does so in turn with the others: short rounds, so
that a change of load meets all of them. A time is the least of all rounds. Results are compared first."""

import argparse
import json
import os
import sys
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("MKL_NUM_THREADS", "1")

import hologram_ffi as hg  # noqa: E402
import numpy as np  # noqa: E402
from hoist import graph  # noqa: E402

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None

EXECUTOR = hg.new_executor()


def buffer_of(values):
    buffer = hg.executor_allocate_buffer(EXECUTOR, values.size)
    np.asarray(hg.buffer_view(buffer))[:] = values.ravel()
    return buffer


def numpy_sigmoid(x, out):
    np.negative(x, out=out)
    np.exp(out, out=out)
    np.add(out, 1, out=out)
    np.reciprocal(out, out=out)


def numpy_gelu(x, out):
    np.multiply(x, x, out=out)
    np.multiply(out, 0.044715, out=out)
    np.add(out, 1, out=out)
    np.multiply(out, x, out=out)
    np.multiply(out, 0.7978845608, out=out)
    np.tanh(out, out=out)
    np.add(out, 1, out=out)
    np.multiply(out, x, out=out)
    np.multiply(out, 0.5, out=out)


def numpy_softmax(x, out):
    np.subtract(x, x.max(), out=out)
    np.exp(out, out=out)
    np.divide(out, out.sum(), out=out)


def elementwise(n):
    """(name, bytes moved, {peer: (call, result)})"""
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal(n, np.float32), rng.standard_normal(n, np.float32)
    a, b, c = buffer_of(x), buffer_of(y), buffer_of(np.zeros_like(x))
    out = np.asarray(hg.buffer_view(c))
    z = np.empty_like(x)
    gx, gy, gz = graph.array(x, copy=True), graph.array(y, copy=True), graph.empty(n)
    names = {"mul": "multiply"}
    if torch:
        tx, ty, tz = torch.from_numpy(x), torch.from_numpy(y), torch.empty(n)
    table = [
        ("add", hg.vector_add_f32, np.add, "add", 2),
        ("mul", hg.vector_mul_f32, np.multiply, "mul", 2),
        ("relu", hg.vector_relu_f32, lambda x, out: np.maximum(x, 0, out=out), None, 1),
        ("sigmoid", hg.sigmoid_f32, numpy_sigmoid, "sigmoid", 1),
        ("tanh", hg.tanh_f32, np.tanh, "tanh", 1),
        ("gelu", hg.gelu_f32, numpy_gelu, None, 1),
        ("softmax", hg.softmax_f32, numpy_softmax, "softmax", 1),
    ]
    for name, ours, of_numpy, of_torch, inputs in table:
        of_graph = getattr(graph, names.get(name, name))
        if inputs == 2:
            peers = {"hoist": (lambda f=ours: f(EXECUTOR, a, b, c, n), out),
                     "graph": (lambda f=of_graph: f(gx, gy, out=gz), gz),
                     "numpy": (lambda f=of_numpy: f(x, y, out=z), z)}
            if torch:
                peers["torch"] = (lambda f=getattr(torch, of_torch): f(tx, ty, out=tz), tz)
        else:
            peers = {"hoist": (lambda f=ours: f(EXECUTOR, a, c, n), out),
                     "graph": (lambda f=of_graph: f(gx, out=gz), gz),
                     "numpy": (lambda f=of_numpy: f(x, out=z), z)}
            if torch and name == "relu":
                peers["torch"] = (lambda: torch.clamp_min(tx, 0, out=tz), tz)
            elif torch and name == "gelu":
                def gelu():
                    torch._C._nn.gelu(tx, approximate="tanh", out=tz)

                peers["torch"] = (gelu, tz)
            elif torch and name == "softmax":
                peers["torch"] = (lambda: torch.softmax(tx, 0, out=tz), tz)
            elif torch:
                peers["torch"] = (lambda f=getattr(torch, of_torch): f(tx, out=tz), tz)
        yield name, 4 * n * (inputs + 1), peers
    peers = {"graph": (lambda: gx + gy, gx + gy), "numpy": (lambda: x + y, x + y)}
    if torch:
        peers["torch"] = (lambda: tx + ty, tx + ty)
    yield "add, new", 12 * n, peers
    peers = {"graph": (lambda: gx * 0.5, gx * 0.5), "numpy": (lambda: x * 0.5, x * 0.5)}
    if torch:
        peers["torch"] = (lambda: tx * 0.5, tx * 0.5)
    yield "x * 0.5, new", 8 * n, peers


def typed(n):
    """Integers, comparisons, casts and functions of doubles: as elementwise()."""
    rng = np.random.default_rng(n)

    def row(name, function, of_numpy, arrays, dtype):
        given, out, z = [graph.array(x, copy=True) for x in arrays], graph.empty(n, dtype=dtype), np.empty(n, dtype)
        yield (f"{name}, {arrays[0].dtype}", sum(x.nbytes for x in arrays) + z.nbytes,
               {"graph": (lambda: function(*given, out=out), out), "numpy": (lambda: of_numpy(*arrays, out=z), z)})

    for dtype in ("int8", "uint8", "int16", "int32"):
        x, y = rng.integers(-100, 100, n).astype(dtype), rng.integers(1, 100, n).astype(dtype)
        for name in ("add", "maximum", "floor_divide", "remainder"):
            yield from row(name, getattr(graph, name), getattr(np, name), [x, y], dtype)
        yield from row("less", graph.less, np.less, [x, y], "bool")
    for dtype in ("float32", "float64"):
        x, y = rng.standard_normal(n).astype(dtype), rng.standard_normal(n).astype(dtype)
        yield from row("less", graph.less, np.less, [x, y], "bool")
    for name in ("exp", "log", "tanh", "sqrt"):
        yield from row(name, getattr(graph, name), getattr(np, name), [np.abs(x)], "float64")
    for source, target in (("uint8", "float32"), ("int32", "int8"), ("float32", "int32"), ("float64", "int32")):
        x = (10 * rng.standard_normal(n)).clip(0 if source == "uint8" else -100, 100).astype(source)
        given = graph.array(x, copy=True)
        peers = {"graph": (lambda v=given, t=target: graph.astype(v, t), graph.astype(given, target)),
                 "numpy": (lambda v=x, t=target: v.astype(t), x.astype(target))}
        yield f"{source} as {target}, new", x.nbytes + n * np.dtype(target).itemsize, peers


def products(n):
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal((n, n), np.float32), rng.standard_normal((n, n), np.float32)
    a, b, c = buffer_of(x), buffer_of(y), buffer_of(np.zeros_like(x))
    z = np.empty_like(x)
    gx, gy, gz = graph.array(x, copy=True), graph.array(y, copy=True), graph.empty((n, n))
    peers = {"hoist": (lambda: hg.gemm_f32(EXECUTOR, a, b, c, n, n, n),
                       np.asarray(hg.buffer_view(c)).reshape(n, n)),
             "graph": (lambda: graph.matmul(gx, gy, out=gz), gz),
             "numpy": (lambda: np.matmul(x, y, out=z), z)}
    if torch:
        tx, ty, tz = torch.from_numpy(x), torch.from_numpy(y), torch.empty(n, n)
        peers["torch"] = (lambda: torch.mm(tx, ty, out=tz), tz)
    return peers


def least_times(peers, seconds):
    """{peer: seconds of a call}, in turns for so long."""
    times = dict.fromkeys(peers, float("inf"))
    clock = time.perf_counter
    calls = {}
    for peer, (call, _) in peers.items():
        call()
        begin = clock()
        call()
        calls[peer] = max(1, min(1000, int(2e-4 / (clock() - begin))))
    end = clock() + seconds
    while clock() < end:
        for peer, (call, _) in peers.items():
            count = range(calls[peer])
            begin = clock()
            for _ in count:
                call()
            times[peer] = min(times[peer], (clock() - begin) / calls[peer])
    return times


def check(name, peers, tolerance):
    for call, _ in peers.values():
        call()
    expected = peers["numpy"][1]
    for peer, (_, result) in peers.items():
        if not np.allclose(np.asarray(result), expected, rtol=tolerance, atol=tolerance):
            sys.exit(f"eager_bench: {peer} has another result for {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", metavar="FILE")
    parser.add_argument("--seconds", type=float, default=1.0, help="of each row (default 1)")
    arguments = parser.parse_args()
    rows = []
    for n in (1000, 100_000, 10_000_000):
        for name, moved, peers in elementwise(n):
            check(name, peers, 1e-5)
            times = least_times(peers, arguments.seconds)
            rows.append({"operation": name, "n": n, "bytes": moved, "seconds": times})
    for n in (1000, 100_000):
        for name, moved, peers in typed(n):
            check(name, peers, 1e-5)
            times = least_times(peers, arguments.seconds)
            rows.append({"operation": name, "n": n, "bytes": moved, "seconds": times})
    for n in (8, 16, 32, 64, 96, 128, 192, 256, 512, 1024):
        peers = products(n)
        check(f"products of {n}", peers, 1e-3)
        times = least_times(peers, arguments.seconds)
        rows.append({"operation": "gemm", "n": n, "flop": 2 * n**3, "seconds": times})
        hg.clear_all_registries()
        globals()["EXECUTOR"] = hg.new_executor()
    versions = {"numpy": np.__version__, "torch": torch.__version__ if torch else None}
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump({"versions": versions, "rows": rows}, file, indent=1)
    peers = [peer for peer in ("hoist", "graph", "numpy", "torch") if peer != "torch" or torch]
    print("| operation | n | " + " | ".join(f"{peer}, us" for peer in peers) + " | "
          + " | ".join(f"{peer} over graph" for peer in peers[2:]) + " | graph |")
    print("|---|---:" + "|---:" * (2 * len(peers) - 1) + "|")
    for row in rows:
        times = row["seconds"]
        rate = (f"{row['flop'] / times['graph'] / 1e9:.1f} GFLOP/s" if "flop" in row
                else f"{row['bytes'] / times['graph'] / 1e9:.1f} GB/s")
        cells = [f"{1e6 * times[peer]:.3f}" if peer in times else "" for peer in peers]
        cells += [f"{times[peer] / times['graph']:.2f}" for peer in peers[2:]]
        print(f"| {row['operation']} | {row['n']} | " + " | ".join(cells) + f" | {rate} |")


if __name__ == "__main__":
    main()
