"""`hoist match grep` prints the scores of the pair calls."""

import json
import os
import pathlib
import random
import subprocess

import pytest

from hoist import match

BUILD = pathlib.Path(os.environ.get("HOIST_BUILD_DIR", "build/release"))
SEED = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(2**32)))
SCORERS = {"indel": match.Indel, "levenshtein": match.Levenshtein, "lcs": match.LCSseq}


def text(rng):
    letters = rng.choice(["ab ", "abcdefgh", "aé€", "абв", "ab😀"])
    length = rng.choice([0, 1, rng.randint(2, 12), rng.randint(10, 70), rng.randint(60, 300)])
    return "".join(rng.choices(letters, k=length))


def edited(rng, line):
    symbols = list(line)
    for _ in range(rng.randint(0, 9)):
        at = rng.randint(0, len(symbols))
        symbols[at : at + rng.randint(0, 1)] = rng.choice(["", "x", "é"])
    return "".join(symbols)


def hits(arguments, pattern, lines):
    done = subprocess.run(
        [BUILD / "bin/hoist", "match", "grep", "--json", *arguments, "--", pattern],
        input="".join(f"{line}\n" for line in lines).encode(), capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode in (0, 1), done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["text"] for row in found] == [lines[row["line"] - 1] for row in found]
    return [(row["line"], row["score"]) for row in found]


@pytest.mark.parametrize("scorer", SCORERS)
def test_scores_are_those_of_pair_calls(scorer):
    rng = random.Random(SEED)
    score = SCORERS[scorer].normalized_similarity
    for _ in range(12):
        pattern = text(rng)
        lines = [edited(rng, pattern) if rng.random() < 0.3 else text(rng) for _ in range(500)]
        scores = [score(pattern, line) for line in lines]
        for threshold in (0, 0.3, 0.5, 0.7, 0.8, 1):
            expected = [(i + 1, s) for i, s in enumerate(scores) if s >= threshold]
            found = hits(["--scorer", scorer, "--threshold", str(threshold)], pattern, lines)
            assert found == expected, f"seed {SEED}"
            best = sorted(expected, key=lambda hit: (-hit[1], hit[0]))[:9]
            arguments = ["--scorer", scorer, "--threshold", str(threshold), "-k", "9"]
            assert hits(arguments, pattern, lines) == best, f"seed {SEED}"


def test_case_is_ignored_by_lower_case():
    rng = random.Random(SEED)
    letters = "aAbBéÉжЖßσΣ€"
    for _ in range(5):
        pattern = "".join(rng.choices(letters, k=10))
        lines = ["".join(rng.choices(letters, k=rng.randint(0, 20))) for _ in range(300)]

        def lower(line):
            return "".join(letter.lower() for letter in line)

        scores = [match.Indel.normalized_similarity(lower(pattern), lower(line)) for line in lines]
        expected = [(i + 1, s) for i, s in enumerate(scores) if s >= 0.6]
        assert hits(["-i", "--threshold", "0.6"], pattern, lines) == expected, f"seed {SEED}"
