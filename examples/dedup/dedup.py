#!/usr/bin/env python3
"""Finds rows of a CSV file that name the same customer, and writes them with a cluster's number.

    python3 dedup.py customers.csv clustered.csv
    python3 dedup.py customers.csv clustered.csv --also city --cutoff 92
    python3 dedup.py customers.csv clustered.csv --engine rapidfuzz   # the same answer by RapidFuzz

Every pair of rows that share a block is compared: names as their words in order, in percent, as
fuzz.ratio() has it. Rows share a block if they have a word that begins alike, and other words that
begin with the same letters. Rows that are alike enough, directly or by way of others, are a
cluster; it has the number of its first row. The output has two columns more: `cluster`, and
`alike`, the best score that a row has with another one of its cluster.
"""

import argparse
import csv
import importlib
import sys
import time
from collections import defaultdict

import numpy as np

PREFIX = 4  # letters by which a word begins alike
ROWS_AT_ONCE = 1000  # of a block's matrix


def keys(words):
    """The blocks of a row."""
    for i, word in enumerate(words):
        others = "".join(sorted(other[0] for j, other in enumerate(words) if j != i))
        yield word[:PREFIX], others


def blocks_of(texts, also):
    """Lists of the numbers of rows, those of two rows and more."""
    blocks = defaultdict(list)
    for row, text in enumerate(texts):
        for key in set(keys(text.split())):
            blocks[also[row], key].append(row)
    return [rows for rows in blocks.values() if len(rows) > 1]


class Clusters:
    """Sets of rows that are joined, each known by its first row."""

    def __init__(self, size):
        self.parent = list(range(size))

    def first(self, row):
        while self.parent[row] != row:
            self.parent[row] = self.parent[self.parent[row]]
            row = self.parent[row]
        return row

    def join(self, a, b):
        a, b = sorted((self.first(a), self.first(b)))
        self.parent[b] = a


def alike_pairs(rapidfuzz, texts, rows, cutoff, workers):
    """(row, row, score) of each pair of a block that is alike enough."""
    names = [texts[row] for row in rows]
    for begin in range(0, len(rows), ROWS_AT_ONCE):
        scores = rapidfuzz.process.cdist(
            names[begin : begin + ROWS_AT_ONCE],
            names[begin:],
            scorer=rapidfuzz.fuzz.ratio,
            score_cutoff=cutoff,
            dtype=np.float32,
            workers=workers,
        )
        for i, j in zip(*np.nonzero(np.triu(scores, 1))):
            yield rows[begin + i], rows[begin + j], float(scores[i, j])


def dedup(rapidfuzz, names, also, options):
    """The cluster of every row, and how alike it is to another row of it."""
    say = progress()
    process = rapidfuzz.utils.default_process
    texts = [" ".join(sorted(process(name).split())) for name in names]
    blocks = blocks_of(texts, also)
    clusters = Clusters(len(names))
    alike = [0.0] * len(names)
    left_out = 0
    compared = 0
    for done, rows in enumerate(blocks):
        if len(rows) > options.largest:
            left_out += 1
            continue
        compared += len(rows) * (len(rows) - 1) // 2
        for a, b, score in alike_pairs(rapidfuzz, texts, rows, options.cutoff, options.workers):
            clusters.join(a, b)
            alike[a] = max(alike[a], score)
            alike[b] = max(alike[b], score)
        say(f"{done + 1} of {len(blocks)} blocks")
    say("")
    if left_out:
        print(f"dedup: {left_out} blocks of over {options.largest} rows were left out (--largest)",
              file=sys.stderr)  # fmt: skip
    return [clusters.first(row) for row in range(len(names))], alike, compared


def progress():
    last = [0.0]

    def say(what):
        if sys.stderr.isatty() and (not what or time.monotonic() - last[0] > 0.2):
            last[0] = time.monotonic()
            print(f"\r\x1b[K{what}", end="", file=sys.stderr, flush=True)

    return say


def found_of(people, clusters):
    """How many pairs of rows of one person are in one cluster, how many there are, and how many
    pairs of a cluster are not one person."""

    def pairs(groups):
        sizes = defaultdict(int)
        for group in groups:
            sizes[group] += 1
        return sum(size * (size - 1) // 2 for size in sizes.values())

    both = pairs(zip(people, clusters))
    return both, pairs(people), pairs(clusters) - both


def read(options):
    """The names of the columns, and the rows."""
    with open(options.input, newline="", encoding="utf-8-sig") as file:  # Excel writes a mark
        reader = csv.DictReader(file)
        columns = reader.fieldnames or []
        for column in (options.column, options.also, options.truth):
            if column is not None and column not in columns:
                sys.exit(f"dedup: {options.input} has no column {column}: {', '.join(columns)}")
        return columns, list(reader)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0], epilog="Examples:\n" + "\n".join(__doc__.splitlines()[2:5]),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("input", metavar="IN.csv", help="a file with a line of column names")
    parser.add_argument("output", metavar="OUT.csv", help="what is written; it must not exist")
    parser.add_argument("--column", default="name", help="what is compared (name)")
    parser.add_argument("--also", help="a column that must be equal")
    parser.add_argument("--cutoff", type=float, default=88, help="how alike, in percent (88)")
    parser.add_argument("--largest", type=int, default=50000, help="rows of a block (50000)")
    parser.add_argument("--workers", type=int, default=-1, help="threads; -1: all CPUs (-1)")
    parser.add_argument("--engine", choices=("hoist", "rapidfuzz"), default="hoist")
    parser.add_argument("--truth", help="a column of who it is: prints how much was found")
    options = parser.parse_args()
    rapidfuzz = importlib.import_module("hoist.rapidfuzz" if options.engine == "hoist" else "rapidfuzz")

    begin = time.monotonic()
    try:
        columns, table = read(options)
    except (UnicodeDecodeError, csv.Error) as error:
        sys.exit(f"dedup: {options.input} is no CSV file in UTF-8: {error}")
    names = [row[options.column] or "" for row in table]
    also = [row[options.also] if options.also else None for row in table]
    loaded = time.monotonic()
    clusters, alike, compared = dedup(rapidfuzz, names, also, options)
    found = time.monotonic()
    with open(options.output, "x", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*columns, "cluster", "alike"])
        for row, cluster, score in zip(table, clusters, alike):
            writer.writerow([*(row[column] for column in columns), cluster, f"{score:.1f}"])
    written = time.monotonic()

    sizes = defaultdict(int)
    for cluster in clusters:
        sizes[cluster] += 1
    several = [size for size in sizes.values() if size > 1]
    print(f"{len(table)} rows, {len(several)} clusters of {sum(several)} rows, {compared} pairs compared")
    print(f"read {loaded - begin:.1f} s, compared {found - loaded:.1f} s, written {written - found:.1f} s")
    if options.truth:
        both, there_are, wrong = found_of([row[options.truth] for row in table], clusters)
        print(f"of {there_are} pairs of one person {both} are in one cluster; {wrong} others are, too")


if __name__ == "__main__":
    try:
        main()
    except OSError as error:
        sys.exit(f"dedup: {error}")
