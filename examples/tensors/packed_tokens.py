#!/usr/bin/env python3
"""Tokens from a model whose weights stay packed in memory.

    packed_tokens.py [--device cuda] [--layers 4] [--width 512] [--tokens 24]

Makes a model of Llama's shape with random weights, saves it as a .holo file and loads it packed. The
model's code is plain PyTorch. Then it shows that with `exact_like="cublas"` the logits have the bits
of the plain weights' logits. Exit status 1 if they have not.
"""

import argparse
import pathlib
import sys
import tempfile

import torch
from hoist import tensors
from torch import nn
from torch.nn.functional import rms_norm, scaled_dot_product_attention, silu

WORDS = 4096
HEAD = 64
SYLLABLES = "ka lo mi ru tu sa no vi pe du ga hi jo ba fe zu".split()


class Layer(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.query, self.key, self.value, self.out = (
            nn.Linear(width, width, bias=False) for _ in range(4)
        )
        self.gate = nn.Linear(width, 3 * width, bias=False)
        self.up = nn.Linear(width, 3 * width, bias=False)
        self.down = nn.Linear(3 * width, width, bias=False)

    def forward(self, x, past):
        """x (1, width) and the keys and values of the tokens so far, which grow."""
        normal = rms_norm(x, x.shape[-1:])
        turned = [turn(heads_of(project(normal)), len(past)) for project in (self.query, self.key)]
        past.append((turned[1], heads_of(self.value(normal))))
        keys, values = (torch.cat(each, -2) for each in zip(*past))
        seen = scaled_dot_product_attention(turned[0], keys, values)
        x = x + self.out(seen.transpose(-3, -2).flatten(-2))
        normal = rms_norm(x, x.shape[-1:])
        return x + self.down(silu(self.gate(normal)) * self.up(normal))


class Model(nn.Module):
    def __init__(self, layers, width):
        super().__init__()
        self.embed = nn.Embedding(WORDS, width)
        self.layers = nn.ModuleList(Layer(width) for _ in range(layers))
        self.head = nn.Linear(width, WORDS, bias=False)

    def forward(self, token, past):
        """The logits, (1, words), of what follows the token."""
        x = self.embed(token)
        for layer, seen in zip(self.layers, past):
            x = layer(x, seen)
        return self.head(rms_norm(x, x.shape[-1:]))


def heads_of(x):
    return x.unflatten(-1, (-1, HEAD)).transpose(-3, -2)


def turn(x, place):
    """Turns pairs of a head's values by the token's place."""
    rates = 10000 ** (-torch.arange(0, HEAD, 2, device=x.device) / HEAD)
    sine, cosine = (place * rates).sin(), (place * rates).cos()
    a, b = x.float().chunk(2, -1)
    return torch.cat([a * cosine - b * sine, a * sine + b * cosine], -1).to(x.dtype)


def write(model, tokens, device):
    """The most likely tokens, and the logits of each."""
    past = [[] for _ in model.layers]
    token = torch.tensor([1], device=device)
    written, all_logits = [], []
    with torch.inference_mode():
        for _ in range(tokens):
            logits = model(token, past)
            token = logits.argmax(-1)
            written.append(int(token))
            all_logits.append(logits)
    return written, torch.cat(all_logits)


def word(token):
    return "".join(SYLLABLES[token >> shift & 15] for shift in (8, 4, 0))


def loaded(path, options, **how):
    with torch.device("meta"):
        model = Model(options.layers, options.width).eval().requires_grad_(False)
    model.load_state_dict(tensors.load_file(path, options.device, **how), assign=True)
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--width", type=int, default=512, help=f"a multiple of {HEAD}")
    parser.add_argument("--tokens", type=int, default=24)
    options = parser.parse_args()

    torch.manual_seed(1)
    model = Model(options.layers, options.width).bfloat16()
    for weights in model.parameters():
        nn.init.normal_(weights, 0, 0.05)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "model.holo")
        tensors.save_file(model.state_dict(), path)
        plain = loaded(path, options)
        packed = loaded(path, options, resident="packed")
        exact = loaded(path, options, resident="packed", exact_like="cublas")

    size = sum(weights.nbytes for weights in plain.parameters())
    packed_size = sum(weights.packed_bytes for weights in packed.parameters())
    print(f"weights: {size / 1e6:.1f} MB, packed {packed_size / 1e6:.1f} MB on {options.device}")
    written, logits = write(packed, options.tokens, options.device)
    print(" ".join(map(word, written)))
    _, wanted = write(plain, options.tokens, options.device)
    _, same = write(exact, options.tokens, options.device)
    print(f"logits, packed: at most {(logits[0] - wanted[0]).abs().max():.3g} from plain ones at first")
    is_same = torch.equal(same.view(torch.int16), wanted.view(torch.int16))
    print(f'logits, exact_like="cublas": {"the same bits" if is_same else "OTHER BITS"}')
    return 0 if is_same else 1


if __name__ == "__main__":
    sys.exit(main())
