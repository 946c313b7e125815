#!/usr/bin/env python3
"""Compiled programs on a GPU: hoist.graph beside PyTorch, eager and compiled, and what CUDA itself takes.

    PYTHONPATH=build/release/python bench/graph/gpu_bench.py [--compiled] [--only TEXT] [--json FILE]

Needs PyTorch with a CUDA GPU, and a C compiler for the bare launches. `submit` is the time of a call until it
returns, `waited` until the device is done, both the median of many; `device` is the time on the device by CUDA's events,
the least of several rounds. Results are compared first. `--compiled` adds torch.compile."""

import argparse
import ctypes
import json
import os
import statistics
import subprocess
import tempfile
import time

import torch
from hoist import graph

BARE = """
#include <time.h>
int cuLaunchKernel(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*, void**,
                   void**);
double bare_launches(void* function, void** arguments, void* stream, int count) {
  struct timespec a, b;
  clock_gettime(CLOCK_MONOTONIC, &a);
  for (int i = 0; i < count; ++i) cuLaunchKernel(function, 4, 1, 1, 256, 1, 1, 0, stream, arguments, 0);
  clock_gettime(CLOCK_MONOTONIC, &b);
  return ((b.tv_sec - a.tv_sec) * 1e9 + (b.tv_nsec - a.tv_nsec)) / count;
}
"""
ADD = r'extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {' \
      r' int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) c[i] = a[i] + b[i]; }'


def bare_launch():
    """Nanoseconds that cuLaunchKernel takes; None without a compiler or NVRTC."""
    try:
        driver = ctypes.CDLL("libcuda.so.1", mode=ctypes.RTLD_GLOBAL)
        nvrtc = next(lib for lib in map(_load, ("libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so")) if lib)
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, "bare.c"), os.path.join(folder, "bare.so")
            with open(source, "w", encoding="utf-8") as file:
                file.write(BARE)
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", source, "-o", library], check=True)
            bare = ctypes.CDLL(library)
    except (OSError, StopIteration, subprocess.CalledProcessError) as error:
        print(f"no bare launches: {error}")
        return None
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    nvrtc.nvrtcCreateProgram(ctypes.byref(program), ADD.encode(), b"add.cu", 0, None, None)
    major, minor = torch.cuda.get_device_capability()
    options = (ctypes.c_char_p * 1)(f"--gpu-architecture=sm_{major}{minor}".encode())
    nvrtc.nvrtcCompileProgram(program, 1, options)
    nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
    code = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetCUBIN(program, code)
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    driver.cuModuleLoadData(ctypes.byref(module), code)
    driver.cuModuleGetFunction(ctypes.byref(function), module, b"add")
    x = torch.ones(1024, device="cuda")
    values = [ctypes.c_void_p(x.data_ptr()) for _ in range(3)] + [ctypes.c_int(1024)]
    pointers = (ctypes.c_void_p * 4)(*(ctypes.cast(ctypes.pointer(one), ctypes.c_void_p) for one in values))
    bare.bare_launches.restype = ctypes.c_double
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
    times = []
    for _ in range(50):
        times.append(bare.bare_launches(function, pointers, stream, 200))
        torch.cuda.synchronize()
    return statistics.median(times)


def _load(name):
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


def submit(call, count=200, rounds=30):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter_ns()
        for _ in range(count):
            call()
        times.append((time.perf_counter_ns() - begin) / count)
        torch.cuda.synchronize()
    return statistics.median(times)


def waited(call, count=1000):
    stream = torch.cuda.current_stream()
    times = []
    for _ in range(count):
        begin = time.perf_counter_ns()
        call()
        stream.synchronize()
        times.append(time.perf_counter_ns() - begin)
    return statistics.median(times)


def device(call, rounds=20, count=5):
    call()
    best = float("inf")
    for _ in range(rounds):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(count):
            call()
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end) * 1e6 / count)
    return best


def replayed(function, arguments):
    """The function as a CUDA graph of PyTorch's."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            function(*arguments)
    torch.cuda.synchronize()
    recorded = torch.cuda.CUDAGraph()
    with torch.cuda.graph(recorded):
        function(*arguments)
    return recorded.replay


class Torch:
    exp, tanh, sigmoid, sqrt, abs = torch.exp, torch.tanh, torch.sigmoid, torch.sqrt, torch.abs
    relu, minimum, maximum = torch.relu, torch.minimum, torch.maximum
    softmax = staticmethod(lambda x: torch.softmax(x, -1))
    layer_norm = staticmethod(lambda x, w, b: torch.nn.functional.layer_norm(x, w.shape, w, b))
    sum = staticmethod(lambda x, axis=None: x.sum() if axis is None else x.sum(axis))


def chain(m, x):
    """20 element-wise nodes, four of them transcendental."""
    y = m.exp(x * 0.5)
    y = m.tanh(y + x) * 2.0 + 0.25
    z = m.sigmoid(y - 0.5) * x
    y = m.maximum(y, z) - z * 0.125
    y = m.sqrt(m.abs(y) + 1.0)
    return m.exp(-y) + m.minimum(x, z) * 3.0


def mlp(m, x, *weights):
    for i in range(0, len(weights), 2):
        x = m.relu(x @ weights[i] + weights[i + 1]) if i + 2 < len(weights) else x @ weights[i] + weights[i + 1]
    return x


def random(*shape):
    return torch.randn(*shape, device="cuda")


def layers(*widths):
    made = []
    for a, b in zip(widths, widths[1:]):
        made += [random(a, b) / a**0.5, random(b)]
    return made


CASES = {
    # name: (function, arguments, bytes or flops of a call, tolerance)
    "chain 2^24": (chain, lambda: [random(1 << 24)], 8 << 24, 1e-5),
    "softmax 4096x4096": (lambda m, x: m.softmax(x), lambda: [random(4096, 4096)], 8 << 24, 1e-5),
    "layer norm 16384x1024": (
        lambda m, x, w, b: m.layer_norm(x, w, b),
        lambda: [random(16384, 1024), random(1024), random(1024)], 8 << 24, 1e-4),
    "sum 2^24": (lambda m, x: m.sum(x), lambda: [random(1 << 24)], 4 << 24, 1e-1),
    "sum of rows 16384x1024": (lambda m, x: m.sum(x, axis=1), lambda: [random(16384, 1024)], 4 << 24, 1e-3),
    "sum of columns 16384x1024": (lambda m, x: m.sum(x, axis=0), lambda: [random(16384, 1024)], 4 << 24, 1e-2),
    "softmax 4096x4096 bf16": (lambda m, x: m.softmax(x), lambda: [random(4096, 4096).bfloat16()], 4 << 24, 1e-2),
    "matmul 4096": (lambda m, x, w: x @ w, lambda: [random(4096, 4096), random(4096, 4096)], None, 1e-4),
    "matmul 4096 bf16": (
        lambda m, x, w: x @ w, lambda: [random(4096, 4096).bfloat16(), random(4096, 4096).bfloat16()], None, 1e-2),
    "relu(matmul) 4096 bf16": (
        lambda m, x, w, b: m.relu(x @ w + b),
        lambda: [random(4096, 4096).bfloat16(), random(4096, 4096).bfloat16(), random(4096).bfloat16()], None, 1e-2),
    "mlp 256x1024-4096-1024": (mlp, lambda: [random(256, 1024), *layers(1024, 4096, 1024)], None, 1e-3),
}


def compare(found, expected, tolerance, name):
    error = (found - expected).abs().max().item()
    scale = max(1.0, expected.abs().max().item())
    if not error <= tolerance * scale:
        raise SystemExit(f"{name}: off by {error}")


def compiled_by_torch(function, arguments):
    made = torch.compile(lambda *a: function(Torch, *a))
    made(*arguments)
    return lambda: made(*arguments)


def measure_large(options, rows):
    source = random(1 << 24)
    target = torch.empty_like(source)
    copy = device(lambda: target.copy_(source))
    print(f"copy of 64 MiB: {copy / 1e3:.1f} us, {8 * (1 << 24) / copy:.0f} GB/s")
    rows.append({"case": "copy 2^24", "device_ns": copy})
    for name, (function, make, size, tolerance) in CASES.items():
        if options.only and options.only not in name:
            continue
        arguments = make()
        made = graph.compile(lambda *a, function=function: function(graph, *a))
        result = made(*arguments)
        compare(result, function(Torch, *arguments), tolerance, name)
        peers = {
            "hoist": lambda: made(*arguments),
            "hoist, out=": lambda: made(*arguments, out=result),
            "torch": lambda: function(Torch, *arguments),
        }
        if options.compiled:
            peers["torch.compile"] = compiled_by_torch(function, arguments)
        for peer, call in peers.items():
            for _ in range(3):
                call()
            took = device(call)
            rate = f", {size / took:.0f} GB/s, {100 * size / took / (8 * (1 << 24) / copy):.0f} % of a copy's" if size else ""
            print(f"{name}, {peer}: {took / 1e3:.1f} us{rate}")
            rows.append({"case": name, "peer": peer, "device_ns": took})
        print(made.report())


def measure_small(options, rows):
    x, y, out = random(1024), random(1024), random(1024)
    add = graph.compile(lambda a, b: a + b)
    compare(add(x, y), x + y, 0, "add")
    weights = layers(64, 64, 64, 8)
    network = graph.compile(lambda *a: mlp(graph, *a))
    arguments = [random(1, 64), *weights]
    result = network(*arguments)
    compare(result, mlp(Torch, *arguments), 1e-5, "mlp")
    network(*arguments, out=result)
    print(network.report())
    peers = {
        "add 1024, hoist, out=": lambda: add(x, y, out=out),
        "add 1024, hoist": lambda: add(x, y),
        "add 1024, torch, out=": lambda: torch.add(x, y, out=out),
        "add 1024, torch": lambda: x + y,
        "mlp 64-64-64-8, hoist, out=": lambda: network(*arguments, out=result),
        "mlp 64-64-64-8, hoist": lambda: network(*arguments),
        "mlp 64-64-64-8, torch": lambda: mlp(Torch, *arguments),
        "mlp 64-64-64-8, torch's CUDA graph": replayed(lambda *a: mlp(Torch, *a), arguments),
    }
    if options.compiled:
        peers["mlp 64-64-64-8, torch.compile"] = compiled_by_torch(mlp, arguments)
    bare = bare_launch()
    if bare is not None:
        print(f"bare cuLaunchKernel: {bare / 1e3:.2f} us")
        rows.append({"case": "bare launch", "submit_ns": bare})
    for name, call in peers.items():
        if options.only and options.only not in name:
            continue
        for _ in range(20):
            call()
        torch.cuda.synchronize()
        submitted, done = submit(call), waited(call)
        print(f"{name}: submit {submitted / 1e3:.2f} us, waited {done / 1e3:.2f} us")
        rows.append({"case": name, "submit_ns": submitted, "waited_ns": done})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compiled", action="store_true", help="torch.compile, too")
    parser.add_argument("--only", help="cases whose names have this in them")
    parser.add_argument("--json", help="writes the results to this file")
    options = parser.parse_args()
    torch.backends.cuda.matmul.allow_tf32 = False
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    rows = []
    with torch.no_grad():
        measure_small(options, rows)
        measure_large(options, rows)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
