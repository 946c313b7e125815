#!/usr/bin/env python3
"""hoist.rapidfuzz.process beside RapidFuzz's, by scorer and by the shape of the data, values compared.

    PYTHONPATH=build/release/python build/venv/bin/python bench/match/process_bench.py \\
        [--calls cdist,cpdist,extract,extractOne] [--scorers "OSA Jaro"] [--shapes names,mixed] [--cutoffs none,some]

Prints RapidFuzz's time over ours, medians of runs that alternate: below 1, ours is slower. With one
worker it is CPU time. `--million` is extract, limit 5, on 1 000 000 names; `--index COUNT` the same on
so many names of which there also is a hoist.match.Index (`--device` says where it is searched).

Shapes: lengths 4, 8, 16, 32 and 64 of random letters; `mixed` has lengths 1 to 100, `names` words of
names, `bytes` and `ints` are names as bytes and as lists of integers, `arrays` as NumPy arrays. Queries x choices: 10 x 10000
with cdist, 10000 pairs with cpdist, 1 x 10000 else.
"""

import argparse
import random
import statistics
import sys
import time

SYLLABLES = "an ber chi dor el fa gru hen il jo kar lin mo na ol pe qui ra sten tor ul va wis xa yo zim".split()
METRICS = ["LCSseq", "Indel", "Levenshtein", "OSA", "DamerauLevenshtein", "Hamming", "Prefix",
           "Postfix", "Jaro", "JaroWinkler"]  # fmt: skip
RATIOS = ["ratio", "partial_ratio", "token_sort_ratio", "token_set_ratio", "token_ratio",
          "partial_token_sort_ratio", "partial_token_set_ratio", "partial_token_ratio", "WRatio", "QRatio"]  # fmt: skip
WEIGHTED = {"Levenshtein(1,1,2)": (1, 1, 2), "Levenshtein(1,2,2)": (1, 2, 2)}
TEXTS = ["names", "4", "8", "16", "32", "64", "mixed", "bytes", "ints", "arrays"]


def name(rng):
    words = ["".join(rng.choices(SYLLABLES, k=rng.randint(1, 3))) for _ in range(rng.randint(2, 4))]
    return " ".join(words)


def texts(shape, count, rng):
    if shape == "names":
        return [name(rng) for _ in range(count)]
    if shape == "bytes":
        return [name(rng).encode() for _ in range(count)]
    if shape == "ints":
        return [list(name(rng).encode()) for _ in range(count)]
    if shape == "arrays":
        import numpy as np

        return [np.frombuffer(name(rng).encode(), np.uint8) for _ in range(count)]
    letters = "abcdefghijklmnopqrstuvwxyz"
    length = (lambda: rng.randint(1, 100)) if shape == "mixed" else (lambda: int(shape))
    return ["".join(rng.choices(letters, k=length())) for _ in range(count)]


def scorer_of(package, text):
    """The function, its keywords, and a middling cut-off."""
    if text in RATIOS:
        return getattr(package.fuzz, text), {}, 70.0
    if text in WEIGHTED:
        return package.distance.Levenshtein.distance, {"weights": WEIGHTED[text]}, 8
    if text.startswith("Jaro"):
        return getattr(package.distance, text).similarity, {}, 0.7
    return getattr(package.distance, text).distance, {}, 8


def alternate(ours, theirs, clock, least):
    """Median times of both, and the values."""

    def seconds(call):
        begin = clock()
        value = call()
        return clock() - begin, value

    first, our_value = seconds(ours)
    second, their_value = seconds(theirs)
    runs = max(3, min(51, int(least / (first + second + 1e-9))))
    times = [(seconds(ours)[0], seconds(theirs)[0]) for _ in range(runs)]
    return (*(statistics.median(t) for t in zip(*times)), our_value, their_value)


def calls(function, package, text, queries, choices, cutoff, workers):
    scorer, keywords, some = scorer_of(package, text)
    words = {"scorer": scorer, "scorer_kwargs": keywords or None}
    if cutoff == "some":
        words["score_cutoff"] = some
    process = package.process
    if function == "cdist":
        return lambda: process.cdist(queries[:10], choices, workers=workers, **words)
    if function == "cpdist":
        return lambda: process.cpdist(queries, choices, workers=workers, **words)
    if function == "extract":
        return lambda: process.extract(queries[0], choices, limit=5, **words)
    return lambda: process.extractOne(queries[0], choices, **words)


def index_of(choices, device):
    """Texts as patterns of characters."""
    import numpy as np

    from hoist.match import Index

    joined = np.frombuffer("".join(choices).encode("utf-32-le"), np.uint32)
    ends = np.cumsum([len(text) for text in choices])
    letters, symbols = np.unique(joined, return_inverse=True)
    index = Index(search_only=True, device=device)
    index.learn_arrays(symbols, np.concatenate([[0], ends]), vocabulary=[chr(c) for c in letters])
    index.sync()
    return index


def index_table(ours, theirs, options):
    """Scorers whose scores differ."""
    rng = random.Random(1)
    choices = list(dict.fromkeys(texts("names", options.index, rng)))
    query = texts("names", 1, rng)[0]
    begin = time.perf_counter()
    differ = []
    with index_of(choices, options.device) as index:
        print(f"{len(choices)} names, an index of them in {time.perf_counter() - begin:.1f} s")
        print(f"{'extract, ms':36}{'index':>10}{'list':>10}{'RapidFuzz':>10}{'ratio':>8}")
        for text in options.scorers.split():
            for cutoff in options.cutoffs.split(","):

                def best(package, of):
                    call = calls("extract", package, text, [query], of, cutoff, 1)
                    runs = []
                    for _ in range(1 + 5):  # the first one warms up
                        start = time.perf_counter()
                        found = call()
                        runs.append(time.perf_counter() - start)
                    return statistics.median(runs[1:]), [match[1] for match in found]

                rows = [best(ours, index), best(ours, choices), best(theirs, choices)]
                if any(scores != rows[-1][1] for _, scores in rows):
                    differ.append(("extract from an index", text, cutoff))
                times = [seconds for seconds, _ in rows]
                print(f"{text:28}{cutoff:>8}" + "".join(f"{t * 1e3:10.1f}" for t in times)
                      + f"{times[2] / times[0]:8.2f}", flush=True)  # fmt: skip
        print(f"searched on {index.stats()['search_device']}")
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--calls", default="cdist,cpdist,extract,extractOne")
    parser.add_argument("--scorers", default=" ".join([*METRICS, *WEIGHTED, *RATIOS]))
    parser.add_argument("--shapes", default=",".join(TEXTS))
    parser.add_argument("--cutoffs", default="none,some")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--least-seconds", type=float, default=0.1, help="for a cell of the table")
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--index", type=int, metavar="COUNT")
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    try:
        import numpy as np
        import rapidfuzz as theirs

        import hoist.rapidfuzz as ours
    except ImportError as missing:
        sys.exit(f"process_bench: {missing}: PYTHONPATH=BUILD/python, build/venv/bin/python")
    clock = time.process_time if options.workers == 1 else time.perf_counter
    print(f"RapidFuzz {theirs.__version__}, {options.workers} worker(s); RapidFuzz's time over ours")
    differ = []

    def cell(function, text, queries, choices, cutoff, clock):
        arguments = (text, queries, choices, cutoff, options.workers)
        mine, other, value, expected = alternate(
            calls(function, ours, *arguments), calls(function, theirs, *arguments), clock, options.least_seconds
        )  # fmt: skip
        if not (np.array_equal(value, expected) if function.startswith("c") else str(value) == str(expected)):
            differ.append((function, text, cutoff))
        return mine, other

    if options.index:
        differ += index_table(ours, theirs, options)
    elif options.million:
        rng = random.Random(1)
        choices = texts("names", 1_000_000, rng)
        queries = texts("names", 1, rng)
        print(f"{'extract, 1000000 names':36}{'ours, ms':>10}{'RapidFuzz':>10}{'ratio':>8}")
        for text in options.scorers.split():
            for cutoff in options.cutoffs.split(","):
                mine, other = cell("extract", text, queries, choices, cutoff, time.perf_counter)
                print(f"{text:28}{cutoff:>8}{mine * 1e3:10.1f}{other * 1e3:10.1f}{other / mine:8.2f}", flush=True)
    else:
        shapes = options.shapes.split(",")
        data = {}
        for shape in shapes:
            rng = random.Random(shape)
            data[shape] = (texts(shape, options.count, rng), texts(shape, options.count, rng))
        for function in options.calls.split(","):
            for cutoff in options.cutoffs.split(","):
                heading = f"{function}, cut-off {cutoff}"
                print(f"{heading:28}" + "".join(f"{shape:>9}" for shape in shapes))
                for text in options.scorers.split():
                    row = [cell(function, text, *data[shape], cutoff, clock) for shape in shapes]
                    print(f"{text:28}" + "".join(f"{other / mine:9.2f}" for mine, other in row), flush=True)
    for function, text, cutoff in differ:
        print(f"values differ: {function} {text} {cutoff}")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
