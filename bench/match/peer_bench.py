#!/usr/bin/env python3
"""Hoist's scan beside RapidFuzz's LCSseq (process.cdist, with its cut-off) and difflib, on the same
patterns and states, results compared.

    bench/match/peer_bench.py --build build/release [--patterns 1000000] [--states 4]

Zipf vocabulary of 31 029 symbols. RapidFuzz gets each sequence as a string of one character a
symbol, its fastest form. Prints pairs a second, each on the given number of threads.
"""

import argparse
import difflib
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
VOCABULARY = 31029


def least_lcs(length, threshold):
    """The smallest LCS whose kato score of two sequences of this length reaches the threshold."""
    for lcs in range(length + 1):
        percent = 2.0 * lcs / (2 * length) * 100.0
        if percent >= threshold * 100.0 - 1e-6 and percent / 100.0 >= threshold:
            return lcs
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--patterns", type=int, default=1_000_000)
    parser.add_argument("--states", type=int, default=4)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--difflib-pairs", type=int, default=20_000)
    options = parser.parse_args()
    try:
        import numpy as np
        from rapidfuzz import __version__, process
        from rapidfuzz.distance import LCSseq
    except ImportError as missing:
        sys.exit(f"peer_bench: {missing}: run it with build/venv/bin/python (scripts/setup)")

    rng = np.random.default_rng(1)
    weights = 1.0 / np.arange(1, VOCABULARY + 1)
    weights /= weights.sum()
    print(f"RapidFuzz {__version__}, {options.threads} thread(s), {options.patterns} patterns, "
          f"{options.states} states, vocabulary {VOCABULARY}")
    print(f"{'symbols':>7} {'threshold':>9} {'matches':>9} {'Hoist':>12} {'RapidFuzz':>12} "
          f"{'difflib':>12} {'ratios':>12}   (million pairs a second)")
    for length in (15, 44):
        total = options.states + options.patterns
        symbols = rng.choice(VOCABULARY, size=(total, length), p=weights).astype("<u4")
        # One character a symbol, past the surrogates.
        texts = [row.tobytes().decode("utf-32-le")
                 for row in (symbols + 0xE000).astype("<u4")]
        states, patterns = texts[:options.states], texts[options.states:]
        pairs = options.states * options.patterns
        for threshold in (0.1, 0.5, 0.8):
            cutoff = max(1, least_lcs(length, threshold))
            done = subprocess.run(
                [options.build / "tests/match_scan_file", str(length), str(threshold),
                 str(options.runs), str(options.threads), str(options.states)],
                input=symbols.tobytes(), capture_output=True, check=True)
            ours = float(done.stderr)
            seconds = []
            for _ in range(options.runs):
                begin = time.perf_counter()
                theirs = process.cdist(states, patterns, scorer=LCSseq.similarity,
                                       score_cutoff=cutoff, workers=options.threads,
                                       dtype=np.uint8)
                seconds.append(time.perf_counter() - begin)
            peer = sorted(seconds)[len(seconds) // 2]
            found = np.frombuffer(done.stdout, "<u4").reshape(options.states, -1)
            if not np.array_equal(found, theirs):
                sys.exit(f"peer_bench: results differ at {length} symbols, {threshold}")
            begin = time.perf_counter()
            matcher = difflib.SequenceMatcher(None, autojunk=False)
            matcher.set_seq2(states[0])
            for pattern in patterns[:options.difflib_pairs]:
                matcher.set_seq1(pattern)
                matcher.ratio()
            slow = (time.perf_counter() - begin) / min(options.difflib_pairs, options.patterns)
            print(f"{length:7} {threshold:9} {int((found > 0).sum()):9} {pairs / ours / 1e6:12.1f} "
                  f"{pairs / peer / 1e6:12.2f} {1 / slow / 1e6:12.4f} "
                  f"{peer / ours:6.0f} {slow / (ours / pairs):8.0f}")


if __name__ == "__main__":
    main()
