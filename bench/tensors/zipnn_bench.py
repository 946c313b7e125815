#!/usr/bin/env python3
"""Hoist's Embedded encoding beside ZipNN (PyPI: zipnn) on Gaussian weights, both on one core.

    zipnn_bench.py HOIST [--mib 32] [--rounds 5]

Prints GB/s of weights by processor time, the best of some rounds, and sizes in percent. Hoist's figures are those of
`hoist bench tensors`, which makes weights of the same distribution and size. Exit status 77 where
ZipNN is not installed.
"""

import argparse
import json
import subprocess
import sys
import time


def gaussian_bf16(mib):
    import numpy

    count = mib << 19
    values = numpy.random.default_rng(1).standard_normal(count, dtype=numpy.float32)
    bits = (values * numpy.float32(0.02)).view(numpy.uint32)
    rounded = bits + 0x7FFF + ((bits >> 16) & 1)
    return (rounded >> 16).astype(numpy.uint16).tobytes()


def measure_zipnn(zipnn, weights, rounds):
    coder = zipnn.ZipNN(bytearray_dtype="bfloat16", input_format="byte", threads=1)
    best = {"encode": 0.0, "decode": 0.0}
    for _ in range(rounds):
        begin = time.process_time()
        stored = bytes(coder.compress(bytearray(weights)))
        middle = time.process_time()
        decoded = coder.decompress(stored)
        end = time.process_time()
        if bytes(decoded) != weights:
            sys.exit("zipnn_bench: ZipNN gave back something else")
        best["encode"] = max(best["encode"], len(weights) / (middle - begin) / 1e9)
        best["decode"] = max(best["decode"], len(weights) / (end - middle) / 1e9)
    return best, 100 * len(stored) / len(weights)


def measure_hoist(hoist):
    filters = "tensors/embedded/(encode/hoist|decode/layers:all)/BF16"
    command = [hoist, "bench", "tensors", "--json", "--filter", filters]
    report = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    best = {"encode": 0.0, "decode": 0.0}
    size = 0.0
    for run in report["benchmarks"]:
        parts = run["name"].split("/")
        if run.get("run_type") != "iteration" or parts[3] == "peer:zstd":
            continue
        best[parts[2]] = max(best[parts[2]], run["bytes_per_second"] / 1e9)
        size = run["size_%"]
    return best, size


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("hoist", help="the hoist program")
    parser.add_argument("--mib", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    try:
        import zipnn
    except ImportError as error:
        print(f"zipnn_bench: skipped: {error}", file=sys.stderr)
        sys.exit(77)
    print(f"{'':8}{'encode':>8}{'decode':>8}{'size %':>8}")
    for name, (best, size) in {
        "Hoist": measure_hoist(arguments.hoist),
        "ZipNN": measure_zipnn(zipnn, gaussian_bf16(arguments.mib), arguments.rounds),
    }.items():
        print(f"{name:8}{best['encode']:8.2f}{best['decode']:8.2f}{size:8.2f}")


if __name__ == "__main__":
    main()
