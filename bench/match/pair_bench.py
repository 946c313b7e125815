#!/usr/bin/env python3
"""hoist.match's scorers of single pairs beside RapidFuzz's, with and without cut-offs, values compared.

    PYTHONPATH=build/release/python build/venv/bin/python bench/match/pair_bench.py \\
        [--lengths 2,10,100,1000] [--cutoffs none,1,10,100] [--texts unrelated,alike]

Prints the CPU time of a call of ours and of RapidFuzz's, and RapidFuzz's over ours: below 1, ours
is slower. Calls of both alternate, the best turn of each counts. `alike` texts are copies with up to
2 % of edits, `unrelated` ones random letters of 26.
"""

import argparse
import random
import sys
import time

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def unrelated(rng, length):
    return "".join(rng.choices(LETTERS, k=length))


def alike(rng, text):
    symbols = list(text)
    for _ in range(rng.randint(1, max(1, len(text) // 50))):
        at = rng.randrange(len(symbols))
        kind = rng.randrange(3)
        if kind == 0:
            symbols.insert(at, rng.choice(LETTERS))
        elif kind == 1 and len(symbols) > 1:
            del symbols[at]
        else:
            symbols[at] = rng.choice(LETTERS)
    return "".join(symbols)


def seconds(scorer, pairs, words, repeats):
    begin = time.process_time()
    for _ in range(repeats):
        for a, b in pairs:
            scorer(a, b, **words)
    return (time.process_time() - begin) / (repeats * len(pairs))


def nicely(value):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.0f} ns"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", default="2,5,10,30,64,100,300,1000,10000,100000")
    parser.add_argument("--scorers", default="Levenshtein.distance,Indel.distance")
    parser.add_argument("--texts", default="unrelated,alike")
    parser.add_argument("--cutoffs", default="none,1,3,10,100")
    parser.add_argument("--least-seconds", type=float, default=0.05, help="for a cell")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    try:
        from rapidfuzz import __version__, distance, fuzz

        from hoist import match
    except ImportError as missing:
        sys.exit(f"pair_bench: {missing}: PYTHONPATH=BUILD/python, build/venv/bin/python")

    def named(module, name):
        family, _, value = name.partition(".")
        return getattr(getattr(module, family), value) if value else fuzz.ratio

    print(f"RapidFuzz {__version__}; CPU time a call: ours, RapidFuzz's, ratio")
    all_equal = True
    for name in options.scorers.split(","):
        ours = match.ratio if name == "ratio" else named(match, name)
        theirs = named(distance, name)
        for texts in options.texts.split(","):
            for length in map(int, options.lengths.split(",")):
                rng = random.Random(length)
                pairs = []
                for _ in range(max(1, min(50, 10000 // length))):
                    a = unrelated(rng, length)
                    pairs.append((a, alike(rng, a) if texts == "alike" else unrelated(rng, length)))
                for text in options.cutoffs.split(","):
                    words = {} if text == "none" else {"score_cutoff": float(text)}
                    if words and name.endswith(".distance"):
                        words = {"score_cutoff": int(text)}
                        if int(text) > 2 * length:
                            continue
                    for a, b in pairs:
                        all_equal &= ours(a, b, **words) == theirs(a, b, **words)
                    once = seconds(ours, pairs, words, 1) + seconds(theirs, pairs, words, 1)
                    repeats = max(1, int(options.least_seconds / (once * len(pairs) * options.turns)))
                    best = [float("inf"), float("inf")]
                    for _ in range(options.turns if once < 0.3 else 2):
                        best = [
                            min(best[0], seconds(ours, pairs, words, repeats)),
                            min(best[1], seconds(theirs, pairs, words, repeats)),
                        ]
                    print(f"{name:22}{texts:10}{length:8}{text:>6}{nicely(best[0]):>10}"
                          f"{nicely(best[1]):>10}{best[1] / best[0]:8.2f}", flush=True)  # fmt: skip
    if not all_equal:
        sys.exit("pair_bench: values differ")


if __name__ == "__main__":
    main()
