#!/usr/bin/env python3
"""Compiled programs from Python, on one thread: hoist.graph beside NumPy and, where it is, PyTorch.

    PYTHONPATH=build/release/python bench/graph/program_bench.py [--compiled] [--only TEXT] [--json FILE]

Each model is one Python function, which each peer is given with its own functions. Peers take short rounds
that alternate, so that a change of load meets all of them. A time is the least of all rounds. Results are compared
first. `--compiled` adds torch.compile, which needs a C++ compiler. `ready` is the first call of a new function: traced,
compiled and run."""

import argparse
import json
import os
import time

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "HOIST_THREADS"):
    os.environ.setdefault(variable, "1")

import numpy as np  # noqa: E402

from hoist import graph  # noqa: E402

try:
    import torch

    torch.set_num_threads(1)
except ImportError:
    torch = None


class NumPy:
    """NumPy with the names that the models use."""

    exp, tanh = np.exp, np.tanh
    softmax = staticmethod(lambda x: (e := np.exp(x - x.max(-1, keepdims=True))) / e.sum(-1, keepdims=True))
    relu = staticmethod(lambda x: np.maximum(x, 0))
    sigmoid = staticmethod(lambda x: 1 / (1 + np.exp(-x)))
    permute_dims = staticmethod(np.transpose)

    @staticmethod
    def gelu(x):
        return x * 0.5 * (1 + np.tanh(0.7978845608 * (x + 0.044715 * (x * x * x))))

    @staticmethod
    def layer_norm(x, weight, bias):
        centred = x - x.mean(-1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(-1, keepdims=True) + np.float32(1e-5)) * weight + bias


class Torch:
    if torch:
        exp, tanh, relu, sigmoid = torch.exp, torch.tanh, torch.relu, torch.sigmoid
        softmax = staticmethod(lambda x: torch.softmax(x, -1))
        permute_dims = staticmethod(torch.permute)
        gelu = staticmethod(lambda x: torch.nn.functional.gelu(x, approximate="tanh"))
        layer_norm = staticmethod(lambda x, w, b: torch.nn.functional.layer_norm(x, w.shape, w, b))


def mlp(f, x, w):
    h = f.relu(x @ w[0] + w[1])
    h = f.relu(h @ w[2] + w[3])
    return h @ w[4] + w[5]


def lstm(f, x, w, h, c):
    width = h.shape[-1]
    gates = x @ w[0] + h @ w[1] + w[2]
    i, g, o = (gates[:, k * width : (k + 1) * width] for k in (0, 2, 3))
    forget = gates[:, width : 2 * width]
    c = f.sigmoid(forget) * c + f.sigmoid(i) * f.tanh(g)
    return f.sigmoid(o) * f.tanh(c)


def layer(heads):
    def transformer(f, x, w):
        batch, length, width = x.shape

        def split(y):
            return f.permute_dims(y.reshape(batch, length, heads, width // heads), (0, 2, 1, 3))

        q, k, v = (split(x @ w[2 * i] + w[2 * i + 1]) for i in range(3))
        scores = f.softmax(q @ f.permute_dims(k, (0, 1, 3, 2)) * (heads / width) ** 0.5)
        context = f.permute_dims(scores @ v, (0, 2, 1, 3)).reshape(batch, length, width)
        x = f.layer_norm(context @ w[6] + w[7] + x, w[8], w[9])
        hidden = f.gelu(x @ w[10] + w[11])
        return f.layer_norm(hidden @ w[12] + w[13] + x, w[14], w[15])

    return transformer


def chain(f, x, w):
    for i in range(4):
        x = f.tanh((x * 1.5 + w[0]) * x - 0.25 * i)
    return x


def arrays(*shapes, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.standard_normal(shape) / 8).astype(np.float32) for shape in shapes]


def layer_weights(width, hidden):
    square = [(width, width), (width,)]
    return square * 3 + square + [(width,)] * 2 + [(width, hidden), (hidden,), (hidden, width)] + [(width,)] * 3


def models():
    """(name, function, x, weights, other inputs)"""
    sizes = [(64, 64), (64,), (64, 64), (64,), (64, 8), (8,)]
    for batch in (1, 32, 1024):
        yield f"MLP 64-64-64-8, batch {batch}", mlp, *arrays((batch, 64)), arrays(*sizes), []
    w = arrays((128, 1024), (256, 1024), (1024,))
    for batch in (1, 32):
        yield f"LSTM step 128-256, batch {batch}", lstm, *arrays((batch, 128)), w, arrays((batch, 256), (batch, 256))
    yield "transformer layer 64 x 256, 8 heads", layer(8), *arrays((1, 64, 256)), arrays(*layer_weights(256, 1024)), []
    w = arrays(*layer_weights(384, 1536))
    yield "MiniLM-like layer 128 x 384, 12 heads", layer(12), *arrays((1, 128, 384)), w, []
    for n in (1000, 100_000, 10_000_000):
        yield f"chain of 20, {n} elements", chain, *arrays((n,)), arrays((n,), seed=1), []


def ways(function, x, w, others, compiled):
    call = graph.compile(lambda x, *others: function(graph, x, w, *others))
    start = time.perf_counter()
    call(x, *others)
    ready = time.perf_counter() - start
    peers = {"hoist": lambda: call(x, *others), "numpy": lambda: function(NumPy, x, w, *others)}
    if torch:
        tensors = [torch.from_numpy(one) for one in (x, *others)]
        weights = [torch.from_numpy(one) for one in w]

        def eager():
            with torch.inference_mode():
                return function(Torch, tensors[0], weights, *tensors[1:])

        peers["torch"] = eager
        if compiled:
            fused = torch.compile(lambda x, w, *others: function(Torch, x, w, *others))

            def run():
                with torch.inference_mode():
                    return fused(tensors[0], weights, *tensors[1:])

            peers["torch.compile"] = run
    return call, ready, peers


def measure(peers, seconds):
    calls = {}
    for name, call in peers.items():
        call()
        start = time.perf_counter()
        call()
        calls[name] = max(1, int(seconds / 60 / max(time.perf_counter() - start, 1e-7)))
    best = dict.fromkeys(peers, float("inf"))
    end = time.perf_counter() + seconds * len(peers)
    while time.perf_counter() < end:
        for name, call in peers.items():
            start = time.perf_counter()
            for _ in range(calls[name]):
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / calls[name])
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.0, help="for a peer of a model")
    parser.add_argument("--only", default="", help="models whose names have this text")
    parser.add_argument("--json")
    options = parser.parse_args()
    rows = []
    for name, function, x, w, others in models():
        if options.only not in name:
            continue
        call, ready, peers = ways(function, x, w, others, options.compiled)
        expected = np.asarray(peers["numpy"]())
        for peer, run in peers.items():
            difference = np.abs(np.asarray(run()) - expected).max()
            assert difference <= 2e-4 * (1 + np.abs(expected).max()), (name, peer, difference)
        best = measure(peers, options.seconds)
        report = call.report()
        rows.append(
            {"model": name, "nodes": report.nodes_traced, "kernels": len(report.kernels), "ready_ms": ready * 1e3}
            | {f"{peer}_us": seconds * 1e6 for peer, seconds in best.items()}
        )
        row = rows[-1]
        if len(rows) == 1:
            print("| model | nodes | kernels | share | ready, ms |", " | ".join(f"{peer}, us" for peer in best), "|")
            print("|---|---:|---:|---:|---:|" + "---:|" * len(best))
        times = " | ".join(f"{seconds * 1e6:.2f}" for seconds in best.values())
        share = 100 * row["kernels"] / row["nodes"]
        print(f"| {name} | {row['nodes']} | {row['kernels']} | {share:.0f} % | {row['ready_ms']:.2f} | {times} |", flush=True)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
