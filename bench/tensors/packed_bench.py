#!/usr/bin/env python3
"""Weights that stay packed under PyTorch beside plain ones, on a CUDA GPU.

    packed_bench.py [--layers 32] [--context 512] [--rounds 30] [--skip-step] [--skip-products]

First products: microseconds of torch.nn.functional.linear with plain weights and with packed ones,
medians of recorded graphs, the weights out of the cache. Then a decode step of a model of Llama 3
8B's shape with random weights, batch 1, as a recorded graph: milliseconds and peak memory. Query,
key and value are one product on both sides, gate and up another, and the attention is the same.
Exit status 77 without PyTorch or a GPU.
"""

import argparse
import statistics
import sys

SHAPES = ((4096, 4096), (14336, 4096), (4096, 14336), (8192, 8192), (28672, 8192), (8192, 28672))
COLUMNS = (1, 4, 8, 16, 32)
OUT_OF_CACHE = 256 << 20  # bytes of weights between two uses of the same

HIDDEN, INNER, HEADS, KEY_HEADS, HEAD, WORDS = 4096, 14336, 32, 8, 128, 128256


def recorded(torch, work):
    """`work` as a graph, and what it returned."""
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        work()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = work()
    return graph, result


def median_ms(torch, graph, rounds):
    times = []
    for round_ in range(rounds + 3):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if round_ >= 3:
            times.append(begin.elapsed_time(end))
    return statistics.median(times)


def random_weights(torch, rows, columns):
    return torch.empty(rows, columns, dtype=torch.bfloat16, device="cuda").normal_(0, 0.02)


def products(torch, tensors, rounds):
    linear = torch.nn.functional.linear
    print(f"{'rows x columns':>15} {'n':>3} {'plain us':>9} {'packed us':>9} {'times':>6}")
    for rows, columns in SHAPES:
        copies = max(2, -(-OUT_OF_CACHE // (2 * rows * columns)))
        plain = [random_weights(torch, rows, columns) for _ in range(copies)]
        packed = [tensors.PackedTensor.pack(weights) for weights in plain]
        for count in COLUMNS:
            x = torch.randn(count, columns, device="cuda").bfloat16()
            took = []
            for matrices in (plain, packed):
                graph, _ = recorded(torch, lambda: [linear(x, weights) for weights in matrices])
                took.append(1000 * median_ms(torch, graph, rounds) / copies)
            print(
                f"{f'{rows} x {columns}':>15} {count:3} {took[0]:9.1f} {took[1]:9.1f} "
                f"{took[0] / took[1]:5.2f}x",
                flush=True,
            )


def make_model(torch, layers, context):
    nn, functional = torch.nn, torch.nn.functional

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            width = (HEADS + 2 * KEY_HEADS) * HEAD
            self.qkv = nn.Linear(HIDDEN, width, bias=False)
            self.out = nn.Linear(HEADS * HEAD, HIDDEN, bias=False)
            self.gate_up = nn.Linear(HIDDEN, 2 * INNER, bias=False)
            self.down = nn.Linear(INNER, HIDDEN, bias=False)
            self.before = nn.Parameter(torch.ones(HIDDEN))
            self.between = nn.Parameter(torch.ones(HIDDEN))
            for name in ("keys", "values"):
                self.register_buffer(name, torch.randn(1, KEY_HEADS, context, HEAD))

        def forward(self, x, turn):
            qkv = self.qkv(functional.rms_norm(x, (HIDDEN,), self.before))
            heads = qkv.view(1, HEADS + 2 * KEY_HEADS, 1, HEAD)
            turned = torch.view_as_complex(
                heads[:, : HEADS + KEY_HEADS].float().unflatten(-1, (-1, 2))
            )
            turned = torch.view_as_real(turned * turn).flatten(-2).bfloat16()
            # The step's place is the last of the context.
            self.keys[:, :, -1:] = turned[:, HEADS:]
            self.values[:, :, -1:] = heads[:, HEADS + KEY_HEADS :]
            seen = functional.scaled_dot_product_attention(
                turned[:, :HEADS], self.keys, self.values, enable_gqa=True
            )
            x = x + self.out(seen.reshape(1, HEADS * HEAD))
            gate, up = self.gate_up(functional.rms_norm(x, (HIDDEN,), self.between)).chunk(2, -1)
            return x + self.down(functional.silu(gate) * up)

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(WORDS, HIDDEN)
            self.layers = nn.ModuleList(Layer() for _ in range(layers))
            self.norm = nn.Parameter(torch.ones(HIDDEN))
            self.head = nn.Linear(HIDDEN, WORDS, bias=False)

        def forward(self, token, turn):
            x = self.embed(token)
            for layer in self.layers:
                x = layer(x, turn)
            return self.head(functional.rms_norm(x, (HIDDEN,), self.norm))

    with torch.device("meta"):
        model = Model().bfloat16().eval().requires_grad_(False)
    model = model.to_empty(device="cuda")
    for tensor in (*model.parameters(), *model.buffers()):
        tensor.normal_(0, 0.02) if tensor.dim() == 2 else tensor.normal_()
    return model


def measure_step(torch, model, token, turn, rounds):
    """Milliseconds, peak bytes and the logits."""
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    graph, logits = recorded(torch, lambda: model(token, turn))
    took = median_ms(torch, graph, rounds)
    return took, torch.cuda.max_memory_allocated(), logits.float()


def step(torch, tensors, layers, context, rounds):
    model = make_model(torch, layers, context)
    token = torch.tensor([17], device="cuda")
    angles = torch.rand(HEAD // 2, device="cuda") * 6.28
    turn = torch.polar(torch.ones_like(angles), angles)
    took, peak, logits = measure_step(torch, model, token, turn, rounds)
    done = tensors.pack_module(model)
    packed_took, packed_peak, packed_logits = measure_step(torch, model, token, turn, rounds)
    error = (packed_logits - logits).norm() / logits.norm()
    print(f"\na decode step, {layers} layers, context {context}, batch 1")
    print(f"plain   {took:8.3f} ms  {peak / 2**30:6.2f} GiB at most")
    print(f"packed  {packed_took:8.3f} ms  {packed_peak / 2**30:6.2f} GiB at most")
    print(f"times   {took / packed_took:8.3f}x    {packed_peak / peak:6.3f}x")
    print(f"weights {done.bytes_before / 2**30:.2f} GiB, packed {done.bytes_after / 2**30:.2f} GiB")
    print(f"logits differ by {error:.2e} of their norm")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=32)
    parser.add_argument("--context", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--skip-step", action="store_true", help="products alone")
    parser.add_argument("--skip-products", action="store_true", help="the step alone")
    options = parser.parse_args()
    try:
        import torch
    except ImportError:
        print("packed_bench: needs PyTorch", file=sys.stderr)
        return 77
    if not torch.cuda.is_available():
        print("packed_bench: needs a CUDA GPU", file=sys.stderr)
        return 77
    from hoist import tensors

    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    with torch.inference_mode():
        if not options.skip_products:
            products(torch, tensors, options.rounds)
        torch.cuda.empty_cache()
        if not options.skip_step:
            step(torch, tensors, options.layers, options.context, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
