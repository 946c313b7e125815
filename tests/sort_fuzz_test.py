#!/usr/bin/env python3
"""Random command lines and inputs: the sort engine against the installed sort.

HOIST_FUZZ_CASES  how many cases (default 1000)
HOIST_FUZZ_SEED   the seed; printed, so that a run can be repeated
HOIST_FUZZ_CASE   only the case of this number
"""

import concurrent.futures
import copy
import itertools
import os
import random
import sys
import unittest

import sort_pair

CASES = int(os.environ.get("HOIST_FUZZ_CASES", "1000"))
SEED = os.environ.get("HOIST_FUZZ_SEED") or str(random.SystemRandom().randrange(10**9))
ONLY = os.environ.get("HOIST_FUZZ_CASE")
WORKERS = 2

WORDS = ["apple", "Apple", "zebra", "Zebra", "\u00e4pfel", "\u00c4pfel", "zo\u00eb", "e\u0301a",
         "na\u00efve", "co-op", "coop", "CO OP", "_x", "x_", "stra\u00dfe", "\u65e5\u672c",
         "\U0001f600", "a", "b", "aa", "ab", "the", "quick", "brown"]
MONTHS = ["Jan", "feb", "MAR", "apr", "May", "mai", "jun", "jul", "aug", "sep", "okt", "oct",
          "nov", "dez", "dec", "m\u00e4r", "ja", "x", ""]


def text_line(rng):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randrange(5))).encode()


def number(rng):
    digits = "".join(rng.choice("0123456789") for _ in range(rng.choice((1, 1, 2, 3, 9, 18, 25))))
    form = rng.randrange(12)
    if form == 0:
        digits = f"{int(digits):,}"
    elif form == 1:
        digits = f"{int(digits):,}".replace(",", ".")
    sign = rng.choice(["", "", "", "-", "-", "+"])
    fraction = rng.choice(["", "", ".5", ",5", ".", ".05", ".50", ".000", ".0001"])
    suffix = rng.choice(["", "", "", "", "K", "k", "M", "G", "T", "Y", "R", "Q", "Ki", "e3", "E-2",
                         "x"])
    return rng.choice(["", "", "", " ", "\t", "00"]) + sign + digits + fraction + suffix


ODD_NUMBERS = ["", "-", ".", "inf", "-inf", "0x1p3", "0x", "1e999999", "-0", "+0", "0.0", "--1",
               "1..2", "1,,2", ",5", "0,,5K", "1,000,K", "1m", "1e"]
if sort_pair.VERSION != "9.1":
    # Release 9.1 compares NaNs with the bytes that pad them, which are never set.
    ODD_NUMBERS += ["nan", "-nan", "nan(7)"]


def number_line(rng):
    line = (rng.choice(ODD_NUMBERS) if rng.randrange(6) == 0 else number(rng)).encode()
    if rng.randrange(20) == 0:  # a byte that some releases skip among the digits, and its neighbours
        at = rng.randrange(len(line) + 1)
        line = line[:at] + rng.choice([b"\x80", b"\x81", b"\x7f", b"\xff", b"\xa0"]) + line[at:]
    return line


def csv_line(rng):
    fields = [rng.choice(["", rng.choice(WORDS), number(rng)]) for _ in range(rng.randrange(6))]
    return ",".join(fields).encode()


def table_line(rng):
    blanks = [" ", "  ", "\t", " \t", ""]

    def field():
        return rng.choice([rng.choice(WORDS), number(rng), rng.choice(MONTHS)])

    return "".join(rng.choice(blanks) + field() for _ in range(rng.randrange(6))).encode()


def duplicate_line(rng):
    return rng.choice([b"", b"a", b"A", b"a ", b" a", b"b", b"10", b"010", b"1e1", b"a\x00",
                       b"a\x00b"])


def byte_line(rng):
    return bytes(rng.choice(b"\x00\x01\x7f\x80\xa0\xc3\xa4\xe4\xff aAbB\t,.~-\r\x0b")
                 for _ in range(rng.randrange(12)))


def random_line(rng):
    return rng.randbytes(rng.randrange(20)).replace(b"\n", b"")


def version_line(rng):
    pieces = ["a", "b", "Z", "~", ".", ".", "-", "_", "0", "1", "9", "10", ".tar.gz", ".x", ".."]
    return "".join(rng.choice(pieces) for _ in range(rng.randrange(8))).encode()


def month_line(rng):
    ends = ["", " 1", "x", "uary"]
    return (rng.choice(["", "", " ", "\t"]) + rng.choice(MONTHS) + rng.choice(ends)).encode()


def prefix_line(rng):
    """Long equal beginnings, so that what decides lies deep."""
    stem = rng.choice([b"common/prefix/", b"the very same beginning of all these lines, ",
                       b"\xc3\xa4" * 9])
    ends = [b"", b"a", b"b", b"1", b"2", b"\x00", b"\xff", b"A"]
    return stem * rng.randrange(1, 4) + rng.choice(ends)


def spelling_line(rng):
    """The same letters: what lower levels of collation tell apart."""
    signs = ["", "", "", "", "-", " ", "(", "\u2500", "\u0301", "'"]
    return "".join(rng.choice((letter, letter.upper())) + rng.choice(signs)
                   for letter in "chalk").encode()


def ruler_line(rng):
    """Nothing that the first level knows, or nearly."""
    return "".join(rng.choice("-=+|\u2500\u253c\u2502 ") * rng.randrange(1, 9)
                   for _ in range(rng.randrange(5))).encode()


def accent_line(rng):
    return "".join(rng.choice(["a", "a", "c", "h", " ", "'", "1", "\u0301", "\u0308", "\xa0", "l\xb7"])
                   for _ in range(rng.randrange(8))).encode()


GENERATORS = [text_line, number_line, csv_line, table_line, duplicate_line, byte_line, random_line,
              version_line, month_line, prefix_line, spelling_line, ruler_line, accent_line]
# Contractions, and a space that weighs nothing on the second level of collation.
MORE_LOCALES = (("cs_CZ", "UTF-8"), ("es_ES", "UTF-8"))


def make_text(rng, zero, most_lines):
    generator = rng.choice(GENERATORS)
    count = rng.choice([0, 1, 2, 3, rng.randrange(1, most_lines), rng.randrange(1, most_lines)])
    terminator = b"\0" if zero else b"\n"
    lines = []
    for _ in range(count):
        line = (generator if rng.randrange(20) else rng.choice(GENERATORS))(rng)
        if rng.randrange(400) == 0:
            line += rng.choice([b"x", b"1", b" ", b"ab "]) * rng.randrange(5000)
        lines.append(line.replace(b"\n", b"") if not zero else line.replace(b"\0", b"\n"))
    text = terminator.join(lines)
    return text + (terminator if lines and rng.randrange(4) else b"")


def ordering_letters(rng):
    return "".join(rng.choice("bdfgiMhnrV") for _ in range(rng.choice((0, 0, 1, 1, 2))))


def key(rng):
    text = f"-k{rng.randrange(1, 5)}"
    if rng.randrange(3) == 0:
        text += f".{rng.randrange(1, 6)}"
    text += ordering_letters(rng)
    if rng.randrange(3):
        text += f",{rng.randrange(1, 6)}"
        if rng.randrange(3) == 0:
            text += f".{rng.randrange(0, 6)}"
        text += ordering_letters(rng)
    return text


def obsolete_key(rng):
    words = [f"+{rng.randrange(4)}" + rng.choice(["", "", ".1", "n", "r", ".2f"])]
    if rng.randrange(2):
        words.append(f"-{rng.randrange(5)}" + rng.choice(["", "", ".1", ".3", "b"]))
    return words


def order_options(rng):
    """What decides the order: keys, global letters, -s, -u, -t, -z."""
    words = []
    style = rng.randrange(10)
    if style < 5:
        words += [key(rng) for _ in range(rng.choice((1, 1, 2, 3)))]
    elif style == 5:
        words += obsolete_key(rng)
    for letter in ("".join(rng.choice("bdfgiMhnrV") for _ in range(rng.choice((0, 0, 1, 1, 2))))):
        words.append(f"-{letter}")
    if rng.randrange(4) == 0:
        words.append("-s")
    if rng.randrange(4) == 0:
        words.append("-u")
    if rng.randrange(3) == 0:
        words.append("-t" + rng.choice([",", ",", ",", " ", "\t", "\\0", ".", "a"]))
    return words


def machine_options(rng, spill):
    """What must not change the result."""
    words = []
    if spill:
        words.append("-S" + rng.choice(["1k", "1b", "10k", "50k", "100k"]))
    elif rng.randrange(4) == 0:
        words.append("-S" + rng.choice(["1k", "1M", "0", "10%"]))
    if rng.randrange(3) == 0:
        words.append(f"--parallel={rng.randrange(1, 5)}")
    if rng.randrange(3) == 0:
        words.append(f"--batch-size={rng.randrange(2, 5)}")
    if rng.randrange(6) == 0:
        words.append(rng.choice(["-T.", "--temporary-directory=/tmp"]))
    if rng.randrange(20) == 0:
        words.append("--compress-program=gzip")
    return words


def presorted(data, words, environment):
    """The same text in the order of `words`, for -m and -c; unchanged where they are no order."""
    case = sort_pair.Case(words, stdin=data, environment=environment)
    done = sort_pair.subprocess.run(
        [sort_pair.ORIGINAL, *words], input=data, capture_output=True, check=False,
        env=sort_pair.environment_of(case, engine=False))
    return done.stdout if done.returncode == 0 else data


def make_case(index, locales, locale_folder):
    rng = random.Random(f"{SEED}:{index}")
    environment = {"LC_ALL": rng.choice(locales), "LOCPATH": locale_folder}
    if rng.randrange(30) == 0:
        environment["POSIXLY_CORRECT"] = "1"
    if rng.randrange(30) == 0:
        environment["_POSIX2_VERSION"] = rng.choice(["199209", "200112", "200809"])
    zero = rng.randrange(8) == 0
    spill = rng.randrange(15) == 0
    order = order_options(rng) + (["-z"] if zero else [])
    mode = rng.choice(["sort"] * 7 + ["merge", "check"])
    most_lines = 8000 if spill else 120

    names = ["one", "two", "three", "four", "five", "six"]
    files = {name: make_text(rng, zero, most_lines)
             for name in names[:rng.choice((0, 0, 1, 1, 2, 3, 6))]}
    stdin = make_text(rng, zero, most_lines)
    if mode != "sort" and rng.randrange(5):
        files = {name: presorted(data, order, environment) for name, data in files.items()}
        stdin = presorted(stdin, order, environment)

    operands = list(files)
    if rng.randrange(5) == 0:
        operands.insert(rng.randrange(len(operands) + 1), "-")
    if rng.randrange(12) == 0 and operands:
        operands.append(rng.choice(operands))
    if rng.randrange(40) == 0:
        operands.insert(rng.randrange(len(operands) + 1), "missing")
    words = order + machine_options(rng, spill)
    if mode == "merge":
        words.append("-m")
    elif mode == "check":
        words.append(rng.choice(["-c", "-C", "--check", "--check=silent"]))
        operands = operands[:1]
    elif rng.randrange(6) == 0:
        words.append(rng.choice(["-oout", "--output=out", "-oone"]))
    if not any(word.startswith("+") for word in words):
        rng.shuffle(words)
    if operands and "-" not in operands and mode != "check" and rng.randrange(12) == 0:
        files["list"] = "\0".join(operands).encode() + b"\0"
        words.append("--files0-from=list")
        operands = []
    if rng.randrange(3):
        arguments = words + operands
    else:
        arguments = operands + words
    return sort_pair.Case(
        arguments, files=files, stdin=stdin, environment=environment,
        stdin_is_file=rng.randrange(2) == 0, stdout_is_file=rng.randrange(2) == 0,
        engine_environment={"HOIST_THREADS": str(rng.randrange(1, 5))} if rng.randrange(2) else {})


def smaller_cases(case):
    """The case with one argument, one file or a part of a text left out."""
    for i in range(len(case.arguments)):
        smaller = copy.deepcopy(case)
        del smaller.arguments[i]
        yield smaller
    texts = [(name, data) for name, data in case.files.items()] + [(None, case.stdin)]
    for name, data in texts:
        terminator = b"\0" if "-z" in case.arguments else b"\n"
        lines = data.splitlines(keepends=True) if terminator == b"\n" else [
            line + terminator for line in data.split(terminator)]
        step = max(1, len(lines) // 4)
        for start in range(0, len(lines), step):
            smaller = copy.deepcopy(case)
            kept = b"".join(lines[:start] + lines[start + step:])
            if len(kept) >= len(data):
                continue
            if name is None:
                smaller.stdin = kept
            else:
                smaller.files[name] = kept
            yield smaller


def minimised(case, folder, attempts=300):
    """A smaller case that still differs."""
    budget = itertools.count()
    progress = True
    while progress:
        progress = False
        for smaller in smaller_cases(case):
            if next(budget) > attempts:
                return case
            if sort_pair.difference(smaller, folder):
                case = smaller
                progress = True
                break
    return case


class SortFuzzTest(unittest.TestCase):
    def report(self, index, case, folder):
        case = minimised(case, folder)
        told = sort_pair.difference(case, folder)
        kept = os.path.join(sort_pair.tempfile.gettempdir(), f"hoist-sort-fuzz-{SEED}-{index}")
        os.makedirs(kept, exist_ok=True)
        for name, data in {**case.files, "stdin": case.stdin}.items():
            with open(os.path.join(kept, name), "wb") as file:
                file.write(data)
        return (f"\ncase {index} (HOIST_FUZZ_SEED={SEED} HOIST_FUZZ_CASE={index}), "
                f"engine environment {case.engine_environment}\n"
                f"cd {kept} && {case.shell()}\n{told}")

    def test_random_cases(self):
        print(f"HOIST_FUZZ_SEED={SEED} HOIST_FUZZ_CASES={CASES}", flush=True)
        folder = sort_pair.temporary_folder("sort-fuzz")
        locale_folder = os.path.join(folder, "locales")
        os.makedirs(locale_folder)
        locales = sort_pair.compile_locales(locale_folder, MORE_LOCALES)
        log = os.path.join(folder, "log")

        def run(worker, indices):
            own = os.path.join(folder, str(worker))
            for index in indices:
                case = make_case(index, locales, locale_folder)
                if sort_pair.difference(case, own, log):
                    return self.report(index, case, own)
            return ""

        indices = [int(ONLY)] if ONLY else range(CASES)
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            runs = [pool.submit(run, i, indices[i::WORKERS]) for i in range(WORKERS)]
            told = "".join(done.result() for done in runs)
        self.assertEqual(told, "", told)

        taken = 0
        if os.path.exists(log):
            with open(log, errors="replace") as file:
                taken = sum("taken over" in line for line in file)
        print(f"{taken} of {len(indices)} taken over by the engine")
        if not ONLY:
            self.assertGreater(taken, len(indices) // 3)


if __name__ == "__main__":
    sort_pair.skip_unless_possible()
    unittest.main(argv=sys.argv[:1], verbosity=2)
