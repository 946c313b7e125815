#!/usr/bin/env python3
"""Judges the choices of one profile by the times of another, of the same machine: choices look best by
the very times that they were made from.

    HOIST_PROFILE=a.json hoist tune --op sort/C
    HOIST_PROFILE=b.json hoist tune --op sort/C
    bench/placement/regret.py a.json b.json

A table (Markdown) a variant: milliseconds by size, what is chosen in bold, and how far it is behind
the fastest, in percent with the standard error. Sizes below the least that was decided from are the
plain program's. Last, the largest excess and the largest beyond two standard errors. What was measured
through a hoistd has a second table, for where one answers; the first leaves it out.

The fastest is the one that happened to be, so that of implementations that are equally fast the other
one seems behind: by about the standard error, and by more where they are many.
"""

import argparse
import bisect
import json
import math
import sys


def variants_by_name(path):
    """Those of a profile that were measured and decided, with input in the host's memory or files."""
    with open(path, encoding="utf-8") as file:
        profile = json.load(file)
    found = {}
    for variant in profile["variants"]:
        if variant["residency"] != "host" or not variant["rows"]:
            continue
        if all(row["intervals"] for row in variant["rows"]):
            found[variant["name"]] = variant
    return found


def choice_at(rows, size):
    row = max(rows, key=lambda row: row["cpus"])
    intervals = row["intervals"]
    at = bisect.bisect_right([interval["from"] for interval in intervals], size) - 1
    return intervals[at]["implementation"]


def times_by_size(implementations):
    """{size: {implementation: (seconds, relative standard error)}}"""
    times = {}
    for one in implementations:
        for point in one["points"]:
            error = point["noise"] / math.sqrt(max(point["runs"], 1))
            seconds = point["seconds"] * point["factor"]
            times.setdefault(point["bytes"], {})[one["name"]] = (seconds, error)
    return times


def excess(times, chosen):
    """(how far `chosen` is behind the fastest, standard error of that), relative; None: no time."""
    if chosen not in times:
        return None
    best = min(times, key=lambda name: times[name][0])
    if best == chosen:
        return 0.0, 0.0
    ratio = times[chosen][0] / times[best][0]
    return ratio - 1, ratio * math.hypot(times[chosen][1], times[best][1])


def show_size(size):
    for unit, name in ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{show_number(size / unit)} {name}"
    return f"{size} B"


def show_number(value):
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"


def show_worst(worst):
    excess, size = worst
    return f"{100 * excess:.1f} % ({show_size(size)})" if excess > 0 else "0"


def print_variant(title, rows, implementations):
    names = [one["name"] for one in implementations]
    print(f"\n| {title} | " + " | ".join(names) + " | behind, % |")
    print("|---" + "|---:" * (len(names) + 1) + "|")
    worst = surest = (0.0, 0)
    for size, times in sorted(times_by_size(implementations).items()):
        chosen = choice_at(rows, size)
        cells = []
        for name in names:
            text = show_number(1e3 * times[name][0]) if name in times else ""
            cells.append(f"**{text}**" if name == chosen and text else text)
        behind = excess(times, chosen)
        if behind is None:
            judged = "?"
        elif behind[0] == 0:
            judged = "0"
        else:
            judged = f"{100 * behind[0]:.1f} ± {100 * behind[1]:.1f}"
            worst = max(worst, (behind[0], size))
            surest = max(surest, (behind[0] - 2 * behind[1], size))
        print(f"| {show_size(size)} | " + " | ".join(cells) + f" | {judged} |")
    print(f"\nat most {show_worst(worst)} behind; beyond two standard errors {show_worst(surest)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("decided", help="profile whose choices are judged")
    parser.add_argument("measured", help="profile whose times judge them")
    arguments = parser.parse_args()
    profiles = []
    for path in (arguments.decided, arguments.measured):
        try:
            profiles.append(variants_by_name(path))
        except (OSError, ValueError, KeyError, TypeError) as error:
            sys.exit(f"regret.py: {path} is no profile of `hoist tune` ({error})")
    common = [name for name in profiles[0] if name in profiles[1]]
    if not common:
        sys.exit("regret.py: the profiles have no operation in common")
    for name in common:
        decided, measured = profiles[0][name], profiles[1][name]["implementations"]
        alone = [one for one in measured if one["name"] != "hoistd"]
        print_variant(name, decided["rows"], alone)
        if "rows_with_hoistd" in decided and len(alone) < len(measured):
            print_variant(f"{name}, a hoistd answers", decided["rows_with_hoistd"], measured)


if __name__ == "__main__":
    main()
