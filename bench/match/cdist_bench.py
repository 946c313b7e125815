#!/usr/bin/env python3
"""hoist.match.cdist beside RapidFuzz's, with and without cut-offs, values compared.

    PYTHONPATH=build/release/python build/venv/bin/python bench/match/cdist_bench.py \\
        [--lengths 10,100,1000] [--shapes 1x10000,50x1000] [--texts unrelated] [--cutoffs none,1,31]

Prints RapidFuzz's time over ours, the best of several turns of each: below 1, ours is slower. With
one worker it is CPU time.

Texts are random letters of 26 (unrelated), or copies of the queries with up to 2 % of edits
(alike); `cyrillic` ones have one letter of four from there, so that a character takes 2 bytes, and
`latin` ones accents, 1 byte. RapidFuzz 3.14.6 gives LCSseq distances of one more than the cut-off
for some pairs that are as far apart as the cut-off is: `*` marks rows in which values differ for
that reason alone.
"""

import argparse
import sys
import time

LETTERS = "abcdefghijklmnopqrstuvwxyz"
ALPHABETS = {"ascii": LETTERS, "latin": LETTERS + "àáâãäåæçè", "cyrillic": LETTERS + "абвгдежзи"}


def unrelated(random, count, length, letters):
    return ["".join(row) for row in random.choice(list(letters), size=(count, length))]


def alike(random, originals, count, letters):
    texts = []
    for i in range(count):
        text = originals[i % len(originals)]
        for _ in range(random.integers(0, max(1, len(text) // 50) + 1)):
            at = random.integers(0, len(text) + 1)
            inserted = letters[random.integers(0, len(letters))] if random.integers(0, 2) else ""
            text = text[:at] + inserted + text[at + random.integers(0, 2) :]
        texts.append(text)
    return texts


def compare(ours, theirs, turns, least, clock):
    """Best times of both, which take turns, and the values."""

    def seconds(call):
        begin = clock()
        value = call()
        return clock() - begin, value

    first, our_value = seconds(ours)
    second, their_value = seconds(theirs)
    turns = max(turns, min(200, int(least / (first + second))))
    best = [first, second]
    for _ in range(turns - 1):
        best = [min(best[0], seconds(ours)[0]), min(best[1], seconds(theirs)[0])]
    return (*best, our_value, their_value)


def differences(np, name, cutoff, ours, theirs):
    """'' where all values are equal, '*' where RapidFuzz misses pairs at the cut-off itself."""
    if np.array_equal(ours, theirs):
        return ""
    odd = ours != theirs
    is_known = name.startswith("LCSseq") and np.all(ours[odd] == cutoff)
    return "*" if is_known and np.all(theirs[odd] == cutoff + 1) else "DIFFERENT"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", default="10,100,1000")
    parser.add_argument("--shapes", default="1x10000,50x1000,1000x1000")
    parser.add_argument("--scorers", default="Levenshtein,Indel,LCSseq")
    parser.add_argument("--texts", default="unrelated,alike")
    parser.add_argument("--letters", default="ascii,cyrillic")
    parser.add_argument("--cutoffs", default="none,1,3,10,31,63,100")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--least-seconds", type=float, default=0.1, help="for a cell of the table")
    parser.add_argument("--most-steps", type=float, default=1e11,
                        help="shapes of larger matrices, all together, are left out")  # fmt: skip
    options = parser.parse_args()
    try:
        import numpy as np
        from rapidfuzz import __version__, distance, process

        from hoist import match
    except ImportError as missing:
        sys.exit(f"cdist_bench: {missing}: PYTHONPATH=BUILD/python, build/venv/bin/python")

    cutoffs = [None if text == "none" else int(text) for text in options.cutoffs.split(",")]
    clock = time.process_time if options.workers == 1 else time.perf_counter
    print(f"RapidFuzz {__version__}, {options.workers} worker(s); RapidFuzz's time over ours")
    print(f"{'':46}" + "".join(f"{'none' if c is None else c:>8}" for c in cutoffs))

    def row(name, length, queries, choices):
        is_equal = True
        cells = ""
        for cutoff in cutoffs:
            if cutoff is not None and cutoff > 2 * length:
                cells += f"{'':8}"
                continue
            words = {"score_cutoff": cutoff, "workers": options.workers}
            scorer = getattr(distance, name).distance
            ours, theirs, our_value, their_value = compare(
                lambda: match.cdist(queries, choices, scorer=scorer, **words),
                lambda: process.cdist(queries, choices, scorer=scorer, **words),
                options.turns, options.least_seconds, clock,
            )  # fmt: skip
            mark = differences(np, name, cutoff, our_value, their_value)
            is_equal &= mark != "DIFFERENT"
            cells += f"{f'{theirs / ours:.2f}{mark}':>8}"
        return cells, is_equal

    all_equal = True
    for shape in options.shapes.split(","):
        rows, columns = map(int, shape.split("x"))
        for length in map(int, options.lengths.split(",")):
            if rows * columns * length**2 > options.most_steps:
                continue
            for letters in options.letters.split(","):
                for kind in options.texts.split(","):
                    random = np.random.default_rng(1)
                    queries = unrelated(random, rows, length, ALPHABETS[letters])
                    choices = unrelated(random, columns, length, ALPHABETS[letters])
                    if kind == "alike":
                        choices = alike(random, queries, columns, ALPHABETS[letters])
                    for name in options.scorers.split(","):
                        cells, is_equal = row(name, length, queries, choices)
                        all_equal &= is_equal
                        print(f"{name:12}{shape:>10}{length:6} {letters:9}{kind:9}{cells}",
                              flush=True)  # fmt: skip
    if not all_equal:
        sys.exit("cdist_bench: values differ")


if __name__ == "__main__":
    main()
