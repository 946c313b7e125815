#!/usr/bin/env python3
"""How fast peers give the columns of candles as arrays, in bytes of the JSON Lines that the columns come from.

    bench/records/columns.py [--rows 300000]

simdjson (PyPI `pysimdjson`) parses the text, a line at a time, and gives the numbers out to Python, which takes most of the time;
pyarrow reads JSON, and Parquet with zstd; pcodec decodes columns of integers. One thread, CPU time, the best of
three. Hoist's own figure is that of `hoist bench records` (records/candles/columns), in C++."""

import argparse
import io
import time

import candles


def best(work):
    times = []
    for _ in range(3):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return max(min(times), 1e-6)


def simdjson_columns(lines):
    import simdjson
    parser = simdjson.Parser()

    def work():
        columns = ([], [], [], [])
        for line in lines:
            row = parser.parse(line)
            columns[0].append(row["timestamp"])
            columns[1].append(float(row["open"]))
            columns[2].append(float(row["close"]))
            columns[3].append(float(row["volume"]))
            del row
        return columns
    return work


def peers(text, table):
    lines = text.encode().splitlines()
    yield "simdjson, from Python", simdjson_columns(lines)
    import numpy
    import pyarrow
    import pyarrow.json
    import pyarrow.parquet
    pyarrow.set_cpu_count(1)
    data = text.encode()
    yield "pyarrow, JSON", lambda: pyarrow.json.read_json(io.BytesIO(data), pyarrow.json.ReadOptions(use_threads=False))
    arrays = {name: numpy.array(column, dtype=numpy.int64) for name, column in table.items()}
    stored = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(arrays), stored, compression="zstd")
    yield "Parquet, zstd", lambda: pyarrow.parquet.read_table(io.BytesIO(stored.getvalue()), use_threads=False)
    from pcodec import ChunkConfig, standalone
    packed = [standalone.simple_compress(array, ChunkConfig(compression_level=12)) for array in arrays.values()]
    yield "pcodec 12", lambda: [standalone.simple_decompress(column) for column in packed]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--rows", type=int, default=300_000)
    options = parser.parse_args()
    out = io.StringIO()
    candles.write(out, options.rows)
    text = out.getvalue()
    names = ("timestamp", "open", "close", "volume")
    table = dict(zip(names, list(zip(*candles.rows(options.rows, 1, 1)))[1:]))
    print(f"{options.rows} rows, {len(text)} bytes of JSON Lines")
    for name, work in peers(text, table):
        print(f"  {name:<24} {len(text) / best(work) / 1e6:>8.0f} MB/s")


if __name__ == "__main__":
    main()
