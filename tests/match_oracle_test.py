"""The oracle of `match` beside CPython's difflib and RapidFuzz, on generated pairs of sequences.

    HOIST_MATCH_PAIRS=1000000 HOIST_TEST_SEED=7 python3 tests/match_oracle_test.py

Small alphabets, repeats, long runs, shared runs, and thresholds at exact ties. What RapidFuzz says
is left out where it is not installed.
"""

import difflib
import os
import pathlib
import random
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
VENV = ROOT / "build/venv/bin/python"

try:
    from rapidfuzz import fuzz, process
    from rapidfuzz.distance import Indel, LCSseq, Levenshtein
except ImportError:
    if VENV.exists() and pathlib.Path(sys.prefix).resolve() != VENV.parent.parent.resolve():
        os.execv(VENV, [str(VENV), *sys.argv])  # of scripts/setup
    fuzz = None

ORACLE = pathlib.Path(os.environ.get("HOIST_BUILD_DIR", ROOT / "build/release")) / "tests/match_oracle"
PAIRS = int(os.environ.get("HOIST_MATCH_PAIRS", "20000"))
SEED = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(2**32)))
CHUNK = 2000


def sequence(rng, alphabet, longest):
    length = rng.choice([0, 1, 2, rng.randint(0, 20), rng.randint(0, longest)])
    kind = rng.randrange(4)
    if kind == 0:  # repeats of a short unit
        unit = [rng.randrange(alphabet) for _ in range(rng.randint(1, 3))]
        return (unit * (length // len(unit) + 1))[:length]
    if kind == 1:  # long runs
        result = []
        while len(result) < length:
            result += [rng.randrange(alphabet)] * rng.randint(1, 12)
        return result[:length]
    return [rng.randrange(alphabet) for _ in range(length)]


def pair(rng):
    alphabet = rng.choice([1, 2, 3, 4, 8, 30, 1000])
    long = rng.random() < 0.02  # autojunk begins at 200
    a = sequence(rng, alphabet, 260 if long else 40)
    if rng.random() < 0.5:
        return a, sequence(rng, alphabet, 320 if long else 40)
    b = list(a)
    for _ in range(rng.randint(0, 6)):
        at = rng.randint(0, len(b))
        if rng.random() < 0.5:
            b.insert(at, rng.randrange(alphabet))
        else:
            del b[at:at + rng.randint(1, 4)]
    return a, b


def threshold(rng, n, m):
    """k/1000, often exactly where 2 * lcs / (n + m) is for some lcs."""
    if n + m and rng.random() < 0.5:
        return round(1000 * 2 * rng.randint(0, min(n, m)) / (n + m))
    return rng.randint(0, 1000)


def expected(autojunk, thousandths, a, b):
    matcher = difflib.SequenceMatcher(None, a, b, autojunk)
    blocks = matcher.get_matching_blocks()[:-1]
    codes = matcher.get_opcodes()
    fields = {
        "ratio": matcher.ratio(),
        "blocks": [tuple(block) for block in blocks],
        "opcodes": codes,
    }
    if fuzz:
        lcs = LCSseq.similarity(a, b)
        total = len(a) + len(b)
        score = 2.0 * lcs / total * 100.0 if total else 0.0
        cutoff = thousandths / 1000.0
        fields |= {
            "lcs": lcs,
            "levenshtein": Levenshtein.distance(a, b),
            "kato": score / 100.0,
            "keeps": int(score >= cutoff * 100.0 - 1e-6 and score / 100.0 >= cutoff),
            "lcs_similarity": LCSseq.normalized_similarity(a, b),
            "indel_similarity": Indel.normalized_similarity(a, b),
            "levenshtein_similarity": Levenshtein.normalized_similarity(a, b),
        }
    return fields


def parse(line):
    words = iter(line.split())

    def whole():
        return int(next(words))

    def real():
        return float.fromhex(next(words))

    fields = {
        "lcs": whole(), "levenshtein": whole(), "kato": real(), "keeps": whole(),
        "lcs_similarity": real(), "indel_similarity": real(), "levenshtein_similarity": real(),
        "ratio": real(),
    }
    fields["blocks"] = [(whole(), whole(), whole()) for _ in range(whole())]
    fields["opcodes"] = [(next(words), whole(), whole(), whole(), whole())
                         for _ in range(whole())]
    return fields


def ask(lines):
    done = subprocess.run([ORACLE], input="".join(line + "\n" for line in lines), text=True,
                          capture_output=True, check=True)
    return done.stdout.splitlines()


class OracleTest(unittest.TestCase):
    def test_pairs(self):
        rng = random.Random(SEED)
        for begin in range(0, PAIRS, CHUNK):
            cases = []
            for _ in range(min(CHUNK, PAIRS - begin)):
                a, b = pair(rng)
                cases.append((rng.randrange(2), threshold(rng, len(a), len(b)), a, b))
            answers = ask(" ".join(map(str, [junk, cut, len(a), *a, len(b), *b]))
                          for junk, cut, a, b in cases)
            self.assertEqual(len(answers), len(cases))
            for case, answer in zip(cases, answers):
                junk, cut, a, b = case
                got = parse(answer)
                for field, value in expected(bool(junk), cut, a, b).items():
                    self.assertEqual(got[field], value, f"{field} of {case}")

    @unittest.skipUnless(fuzz, "RapidFuzz is not installed")
    def test_texts(self):
        rng = random.Random(SEED)
        letters = "ab é€😀'"
        texts = [("", ""), ("", "a"), ("kitten", "sitting")]
        for _ in range(min(PAIRS, 20000)):
            texts.append(tuple("".join(rng.choices(letters, k=rng.randint(0, 12)))
                               for _ in range(2)))
        # Cut-offs at what the ratio is, and at what it would be in other arithmetic.
        cases = [(a, b, rng.choice([fuzz.ratio(a, b), rng.randint(0, 1000) / 1000 * 100.0,
                                    round(fuzz.ratio(a, b)) / 100 * 100.0,
                                    200 * LCSseq.similarity(a, b) / max(1, len(a) + len(b))]))
                 for a, b in texts]
        answers = ask(f"text {cutoff.hex()} x{a.encode().hex()} x{b.encode().hex()}"
                      for a, b, cutoff in cases)
        for (a, b, cutoff), answer in zip(cases, answers):
            ratio, passes = answer.split()
            self.assertEqual(float.fromhex(ratio), fuzz.ratio(a, b), (a, b))
            found = process.extractOne(a, [b], scorer=fuzz.ratio, score_cutoff=cutoff)
            self.assertEqual(passes == "1", found is not None, (a, b, cutoff))


if __name__ == "__main__":
    print(f"HOIST_TEST_SEED={SEED} HOIST_MATCH_PAIRS={PAIRS} "
          f"RapidFuzz {'yes' if fuzz else 'no'}", file=sys.stderr)
    unittest.main()
