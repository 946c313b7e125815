#!/usr/bin/env python3
"""Bits that a weight takes in forms that packed weights could have, counted with NumPy.

    packed_forms.py [--model model.safetensors]

bf16 has a sign and 7 bits of mantissa, f16 a sign and 10; these stay as they are. Exponents get codes
of 3 or 4 bits, of a window for each 16 rows, the best one; what lies outside escapes. "list": an
escape is an entry of 64 bits (docs/reference/packed.md). "counted": its exponent lies in a byte, found by
counting escapes in front of it, from an offset of 32 bits for each 1024 weights. "entropy" is what
no code of single exponents gets below. A model's matrices of 65536 weights and more are rounded to
both types.
"""

import argparse

import numpy as np

BLOCK_ROWS = 16
ESCAPE_BITS = 64
OFFSET_BITS = 32 / 1024
EXPONENT_BITS = {"bf16": 8, "f16": 5}
SIGN_AND_MANTISSA = {"bf16": 8, "f16": 11}


def bits_of(matrix, kind):
    if kind == "f16":
        return matrix.astype(np.float16).view(np.uint16)
    whole = matrix.astype(np.float32).view(np.uint32)
    return ((whole + 0x7FFF + (whole >> 16 & 1)) >> 16).astype(np.uint16)


def exponents(matrix, kind):
    return bits_of(matrix, kind) >> (SIGN_AND_MANTISSA[kind] - 1) & ((1 << EXPONENT_BITS[kind]) - 1)


def entropy(counts):
    shares = counts[counts > 0] / counts.sum()
    return -(shares * np.log2(shares)).sum()


def escapes(found, width):
    """Outside of the best window of each row block."""
    count = 0
    for first in range(0, len(found), BLOCK_ROWS):
        block = found[first : first + BLOCK_ROWS]
        sums = np.cumsum(np.bincount(block.ravel(), minlength=256 + width))
        count += block.size - (sums[width:] - sums[:-width]).max()
    return count


def describe(name, kind, matrices):
    found = [exponents(matrix, kind) for matrix in matrices]
    total = sum(one.size for one in found)
    kept = SIGN_AND_MANTISSA[kind]
    counts = sum(np.bincount(one.ravel(), minlength=256) for one in found)
    cells = [name, kind, f"{kept + entropy(counts):.2f}"]
    for bits in (4, 3):
        share = sum(escapes(one, (1 << bits) - 1) for one in found) / total
        cells += [f"{share:.3%}", f"{kept + bits + ESCAPE_BITS * share:.2f}"]
    cells.append(f"{kept + 3 + 8 * share + OFFSET_BITS:.2f}")
    print("| " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", help="a .safetensors file of f32")
    options = parser.parse_args()
    random = np.random.default_rng(1)
    sets = {
        "normal, deviation 0.02": [random.standard_normal((4096, 1024), dtype=np.float32) * 0.02],
        "Student's t, 4 degrees": [random.standard_t(4, (4096, 1024)).astype(np.float32) * 0.02],
    }
    if options.model:
        from safetensors.numpy import load_file

        weights = load_file(options.model).values()
        sets["the model"] = [w for w in weights if w.ndim == 2 and w.size >= 65536]
    print("| weights | type | entropy | 4 bits: escapes | list | 3 bits: escapes | list | counted |")
    print("|---|---|---:|---:|---:|---:|---:|---:|")
    for kind in EXPONENT_BITS:
        for name, matrices in sets.items():
            describe(name, kind, matrices)


if __name__ == "__main__":
    main()
