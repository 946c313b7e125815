#!/usr/bin/env python3
"""What a call on packed weights costs from Python, without a recorded graph or a compiler.

    packed_eager.py [--device cuda] [--rounds 5]

Microseconds a call, the best of some rounds: "CPU" until a call returns, while its work is queued,
and "all" of calls in a row, the last one's work included. Plain and packed weights alternate.
"""

import argparse
import copy
import sys
import time

SHAPES = ((1024, 1024), (4096, 4096), (14336, 4096))
ON_CPU = ((16, 64),)  # a product that takes no time beside the call
CALLS = 200  # fewer than a stream queues


def times(torch, work, rounds, is_gpu):
    """Microseconds a call until calls return, and until their work is done."""
    best = [float("inf")] * 2
    for _ in range(rounds):
        if is_gpu:
            torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(CALLS):
            work()
        called = time.perf_counter()
        if is_gpu:
            torch.cuda.synchronize()
        done = time.perf_counter()
        best = [min(a, b - begin) for a, b in zip(best, (called, done))]
    return [1e6 * seconds / CALLS for seconds in best]


def calls_of(torch, tensors, rows, columns, device):
    """By name, the same call with plain weights and with packed ones."""
    layer = torch.nn.Linear(columns, rows, bias=True, device=device, dtype=torch.bfloat16)
    layer.requires_grad_(False).weight.normal_(0, 0.02)
    packed = copy.deepcopy(layer)
    packed.weight = torch.nn.Parameter(tensors.PackedTensor.pack(layer.weight), requires_grad=False)
    x = torch.randn(1, columns, device=device).bfloat16()
    index = torch.tensor([1], device=device)
    functional = torch.nn.functional
    calls = {
        "F.linear": lambda weight, _: functional.linear(x, weight),
        "nn.Linear": lambda _, module: module(x),
        "F.embedding": lambda weight, _: functional.embedding(index, weight),
    }
    for name, call in calls.items():
        yield name, [lambda m=m, call=call, w=m.weight: call(w, m) for m in (layer, packed)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    try:
        import torch
        from hoist import tensors
    except ImportError as why:
        print(f"packed_eager: {why}", file=sys.stderr)
        return 77
    is_gpu = options.device.startswith("cuda")
    if is_gpu and not torch.cuda.is_available():
        print("packed_eager: there is no CUDA GPU", file=sys.stderr)
        return 77
    where = torch.cuda.get_device_name(options.device) if is_gpu else "CPU"
    print(f"{where}, PyTorch {torch.__version__}, 1 row of x")
    print(f"{'weights':>14} {'call':>12} {'plain: CPU':>11} {'all':>6} {'packed: CPU':>12} {'all':>6}")
    with torch.inference_mode():
        for rows, columns in SHAPES if is_gpu else ON_CPU:
            for name, pair in calls_of(torch, tensors, rows, columns, options.device):
                for call in pair:
                    times(torch, call, 1, is_gpu)
                plain, packed = (times(torch, call, options.rounds, is_gpu) for call in pair)
                print(
                    f"{f'{rows} x {columns}':>14} {name:>12} {plain[0]:11.1f} {plain[1]:6.1f} "
                    f"{packed[0]:12.1f} {packed[1]:6.1f}"
                )
    return 0


if __name__ == "__main__":
    sys.exit(main())
