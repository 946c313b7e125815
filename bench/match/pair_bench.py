#!/usr/bin/env python3
"""Calls for single pairs beside RapidFuzz's: every scorer of hoist.rapidfuzz, values compared.

    PYTHONPATH=build/release/python build/venv/bin/python bench/match/pair_bench.py \\
        [--scorers ratio,OSA.distance] [--lengths 2,10,100,1000] [--cutoffs none,0.8] \\
        [--texts unrelated,alike] [--module rapidfuzz|match]

Prints a table in Markdown: a row a scorer, texts and cut-off, a column a length, in each cell
RapidFuzz's CPU time over ours (below 1 ours is slower) and our time of a call. Calls of both
alternate, the best turn of each counts. `alike` texts are copies with up to 2 % of edits,
`unrelated` ones random letters of 26, of which every seventh is a space for scorers of words. A
cut-off is how alike texts must be, from 0 to 1.
"""

import argparse
import random
import sys
import time

LETTERS = "abcdefghijklmnopqrstuvwxyz"
METRICS = ["LCSseq", "Indel", "Levenshtein", "OSA", "DamerauLevenshtein", "Hamming", "Jaro"]
METRICS += ["JaroWinkler", "Prefix", "Postfix"]
VALUES = ["distance", "normalized_similarity"]


def unrelated(rng, letters, length):
    return "".join(rng.choices(letters, k=length))


def alike(rng, letters, text):
    symbols = list(text)
    for _ in range(rng.randint(1, max(1, len(text) // 50))):
        at = rng.randrange(len(symbols))
        kind = rng.randrange(3)
        if kind == 0:
            symbols.insert(at, rng.choice(letters))
        elif kind == 1 and len(symbols) > 1:
            del symbols[at]
        else:
            symbols[at] = rng.choice(letters)
    return "".join(symbols)


def pairs_of(name, texts, length):
    rng = random.Random(length)
    letters = LETTERS if "." in name else LETTERS + 4 * " "
    pairs = []
    for _ in range(max(1, min(50, 10000 // length))):
        a = unrelated(rng, letters, length)
        pairs.append((a, alike(rng, letters, a) if texts == "alike" else unrelated(rng, letters, length)))
    return pairs


def cutoff_of(name, text, length):
    """How alike, as this scorer has it."""
    if text == "none":
        return None
    share = float(text)
    family, _, value = name.partition(".")
    if not value:
        return 100 * share
    if value in ("normalized_similarity", "similarity"):
        return share
    if value == "normalized_distance" or family.startswith("Jaro"):
        return round(1 - share, 6)
    return int(length * (1 - share))


def seconds(scorer, pairs, cutoff, repeats):
    begin = time.process_time()
    if cutoff is None:
        for _ in range(repeats):
            for a, b in pairs:
                scorer(a, b)
    else:
        for _ in range(repeats):
            for a, b in pairs:
                scorer(a, b, score_cutoff=cutoff)
    return (time.process_time() - begin) / (repeats * len(pairs))


def nicely(value):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= size:
            return f"{value / size:.3g} {unit}"
    return f"{value * 1e9:.0f} ns"


def compared(ours, theirs, pairs, cutoff, options):
    """A cell: their time over ours, and ours. None where values differ."""
    if any(ours(a, b, score_cutoff=cutoff) != theirs(a, b, score_cutoff=cutoff) for a, b in pairs):
        return None
    once = seconds(ours, pairs, cutoff, 1) + seconds(theirs, pairs, cutoff, 1)
    repeats = max(1, int(options.least_seconds / (once * len(pairs) * options.turns)))
    best = [float("inf"), float("inf")]
    for _ in range(options.turns if once < 0.3 else 2):
        for i, scorer in enumerate((ours, theirs)):
            best[i] = min(best[i], seconds(scorer, pairs, cutoff, repeats))
    return f"{best[1] / best[0]:.3g} ({nicely(best[0])})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", default="2,10,40,64,100,300,1000")
    parser.add_argument("--scorers", default="all")
    parser.add_argument("--texts", default="unrelated,alike")
    parser.add_argument("--cutoffs", default="none,0.8")
    parser.add_argument("--module", choices=("rapidfuzz", "match"), default="rapidfuzz")
    parser.add_argument("--least-seconds", type=float, default=0.05, help="for a cell")
    parser.add_argument("--turns", type=int, default=5)
    options = parser.parse_args()
    try:
        import rapidfuzz as theirs

        import hoist.rapidfuzz
        from hoist import match
    except ImportError as missing:
        sys.exit(f"pair_bench: {missing}: PYTHONPATH=BUILD/python, build/venv/bin/python")

    def named(module, name):
        family, _, value = name.partition(".")
        if not value:
            return getattr(getattr(module, "fuzz", module), name)
        return getattr(getattr(getattr(module, "distance", module), family), value)

    scorers = options.scorers.split(",")
    if options.scorers == "all":
        scorers = [name for name in hoist.rapidfuzz.fuzz.__all__ if "alignment" not in name]
        scorers += [f"{metric}.{value}" for metric in METRICS for value in VALUES]
    ours = hoist.rapidfuzz if options.module == "rapidfuzz" else match
    lengths = [int(length) for length in options.lengths.split(",")]
    print(f"RapidFuzz {theirs.__version__}: its time over ours (ours)\n")
    print("| scorer, texts, cut-off |", " | ".join(map(str, lengths)), "|")
    print("|---|" + "---:|" * len(lengths))
    all_equal = True
    for name in scorers:
        for texts in options.texts.split(","):
            for text in options.cutoffs.split(","):
                cells = []
                for length in lengths:
                    pairs = pairs_of(name, texts, length)
                    cutoff = cutoff_of(name, text, length)
                    cell = compared(named(ours, name), named(theirs, name), pairs, cutoff, options)
                    all_equal &= cell is not None
                    cells.append(cell or "differs")
                print(f"| {name}, {texts}, {text} |", " | ".join(cells), "|", flush=True)
    if not all_equal:
        sys.exit("pair_bench: values differ")


if __name__ == "__main__":
    main()
