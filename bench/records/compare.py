#!/usr/bin/env python3
"""Size and speed of `hoist records` beside zstd, xz and, where they are installed, pcodec and Parquet (pyarrow).

    bench/records/compare.py [FILE…] [--rows 100000] [--build-dir build/release] [--json]

Without files: candles of bench/records/candles.py as JSON Lines (one symbol and ten), CSV and pairs. Each program works
on one core; speeds are by the least CPU time of three (of one above a second), start included, files in memory where /dev/shm is there. Decoded text is compared. pcodec gets
the columns of candles as integers, one by one, at its highest level: what is left when the text's form is known."""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import candles

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


def column_peers(rows, symbols, folder):
    """pcodec and Parquet on the columns of candles, where they can be imported."""
    table = list(zip(*candles.rows(rows, symbols, 1)))
    try:
        import numpy
        from pcodec import ChunkConfig, standalone
        config = ChunkConfig(compression_level=12)
        size = sum(len(standalone.simple_compress(numpy.array(column, dtype=numpy.int64), config))
                   for column in table[1:])
        yield {"program": "pcodec of integers, a column", "bytes": size}
    except ImportError:
        pass
    try:
        import pyarrow
        import pyarrow.parquet
        names = ("symbol", "timestamp", "open", "close", "volume")
        path = folder / "x.parquet"
        pyarrow.parquet.write_table(pyarrow.table(dict(zip(names, map(list, table)))), path, compression="zstd",
                                    compression_level=22)
        yield {"program": "Parquet of integers, zstd 22", "bytes": path.stat().st_size}
    except ImportError:
        pass


def all_results(options, hoist, folder):
    for path in options.files:
        yield {"input": str(path), "bytes": path.stat().st_size, "rows": measure(path, hoist, folder)}
    for title, form, symbols in () if options.files else CANDLES:
        path = folder / f"candles.{form}"
        with path.open("w", encoding="ascii") as out:
            entropy = candles.write(out, options.rows, form, symbols)
        rows = measure(path, hoist, folder) + list(column_peers(options.rows, symbols, folder))
        yield {"input": title, "bytes": path.stat().st_size, "entropy": round(entropy), "rows": rows}


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


if __name__ == "__main__":
    main()
