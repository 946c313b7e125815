#!/usr/bin/env python3
"""Real programs plain and under Hoist, compared (docs/real-programs.md).

  run.py [NAME…]                 each scenario once (all, or those whose names begin so)
  run.py --family=git            those of git.py
  run.py --minutes=10 [NAME…]    each again and again, with other seeds and larger inputs

Exit status: 0 all was the same, 1 something was not, 77 nothing could run here. HOIST_BUILD_DIR
names the build, HOIST_REAL_SEED the first seed.
"""

import argparse
import importlib
import os
import pathlib
import signal
import sys
import time

import driver

FAMILIES = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("*.py")
                  if path.stem not in ("driver", "inputs", "run"))


def repeat(outcome, seed, minutes):
    """Rounds of one scenario: one, or as many as fit into so many minutes, each in all modes."""
    end = time.monotonic() + 60 * minutes
    scale = 4 if minutes else 1
    which = driver.modes(outcome.scenario, short=not minutes)
    while not outcome.problems:
        driver.run_once(outcome, seed, scale, which)
        seed += 1
        if time.monotonic() >= end:
            break


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--verbose", action="store_true", help="also what was left, and why")
    given = parser.parse_args()
    # As an interrupt does it: servers are ended and folders removed on the way out.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    for family in [given.family] if given.family else FAMILIES:
        importlib.import_module(family)
    chosen = [scene for name, scene in sorted(driver.SCENARIOS.items())
              if not given.names or name.startswith(tuple(given.names))]
    seed = int(os.environ.get("HOIST_REAL_SEED", time.time_ns() // 1000 % 1000000))
    print(f"HOIST_REAL_SEED={seed}\n{driver.HEADING}", flush=True)
    outcomes = []
    for scene in chosen:
        outcome = driver.Outcome(scene, skipped=scene.missing())
        outcomes.append(outcome)
        if not outcome.skipped:
            repeat(outcome, seed, given.minutes)
        print(outcome.row(), flush=True)
        for problem in outcome.problems:
            print(f"  {problem}", flush=True)
        if given.verbose:
            for reason, calls in sorted(outcome.passed.items()):
                print(f"  left: {reason}: {calls}", flush=True)
    if any(outcome.problems for outcome in outcomes):
        return 1
    return 77 if all(outcome.skipped for outcome in outcomes) else 0


if __name__ == "__main__":
    sys.exit(main())
