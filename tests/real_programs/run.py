#!/usr/bin/env python3
"""Real programs plain and under Hoist, compared (docs/reference/real-programs.md).

  run.py [NAME…]                 each scenario once (all, or those whose names begin so)
  run.py --family=git            those of git.py
  run.py --minutes=10 [NAME…]    each again and again, with other seeds and larger inputs
  run.py --jobs=4 …              four scenarios at the same time

Exit status: 0 all was the same, 1 something was not, 77 nothing could run here. HOIST_BUILD_DIR
names the build, HOIST_REAL_SEED the first seed.
"""

import argparse
import importlib
import multiprocessing
import os
import pathlib
import queue
import signal
import sys
import time
import traceback

import driver

FAMILIES = sorted(path.stem for path in pathlib.Path(__file__).parent.glob("*.py")
                  if path.stem not in ("driver", "inputs", "run"))


def repeat(scene, seed, minutes, progress):
    """Rounds of one scenario: one, or as many as fit into so many minutes, each in all modes."""
    began = time.monotonic()
    outcome = driver.Outcome(scene.name)
    which = driver.modes(scene, short=not minutes)
    while not outcome.problems:
        driver.run_once(outcome, scene, seed, 4 if minutes else 1, which)
        seed += 1
        passed = (time.monotonic() - began) / 60
        if passed >= minutes:
            break
        progress(f"{scene.name}: {outcome.rounds} rounds in {passed:.1f} of {minutes:g} minutes, "
                 f"{outcome.compared} compared")
    return outcome


def work(messages, scene, seed, minutes):
    """One scenario in a process of its own, so that what it takes of CPU time can be told."""
    try:
        outcome = repeat(scene, seed, minutes, lambda line: messages.put((scene.name, line)))
    except Exception:  # of the scenario itself
        outcome = driver.Outcome(scene.name, problems=[traceback.format_exc()])
    messages.put((scene.name, outcome))


def run_all(scenes, jobs, seed, minutes, progress):
    """The outcomes of all scenes, `jobs` of them at the same time."""
    messages = multiprocessing.Queue()
    waiting, running, outcomes = list(scenes), {}, []
    try:
        while waiting or running:
            while waiting and len(running) < jobs:
                scene = waiting.pop(0)
                running[scene.name] = multiprocessing.Process(
                    target=work, args=(messages, scene, seed, minutes))
                running[scene.name].start()
            try:
                name, told = messages.get(timeout=5)
            except queue.Empty:
                ended = [name for name, process in running.items() if not process.is_alive()]
                if not ended or not messages.empty():
                    continue
                name = ended[0]
                code = running[name].exitcode
                told = driver.Outcome(name, problems=[f"its process ended with {code}"])
            if isinstance(told, str):
                progress(told)
            elif name in running:
                running.pop(name).join()
                outcomes.append(told)
                progress(f"{name}: done, {told.rounds} rounds, {told.compared} compared, "
                         f"{len(told.problems)} differences")
                for problem in told.problems:
                    print(f"  {problem}", flush=True)
    finally:
        for process in running.values():
            process.terminate()  # its servers and folders go with it
        for process in running.values():
            process.join()
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--family", choices=FAMILIES)
    parser.add_argument("--minutes", type=float, default=0, help="for each scenario")
    parser.add_argument("--jobs", type=int, default=1, help="scenarios at the same time")
    parser.add_argument("--verbose", action="store_true", help="also what was left, and why")
    given = parser.parse_args()
    # As an interrupt does it: servers are ended and folders removed on the way out.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    for family in [given.family] if given.family else FAMILIES:
        importlib.import_module(family)
    chosen = [scene for name, scene in sorted(driver.SCENARIOS.items())
              if not given.names or name.startswith(tuple(given.names))]
    skipped = [driver.Outcome(scene.name, skipped=scene.missing())
               for scene in chosen if scene.missing()]
    seed = int(os.environ.get("HOIST_REAL_SEED", time.time_ns() // 1000 % 1000000))
    print(f"HOIST_REAL_SEED={seed}", flush=True)

    def progress(line):
        if given.minutes:
            print(time.strftime("%H:%M:%S "), line, flush=True)

    outcomes = run_all([scene for scene in chosen if not scene.missing()], max(1, given.jobs), seed,
                       given.minutes, progress)
    print(driver.HEADING)
    for outcome in sorted(outcomes + skipped, key=lambda outcome: outcome.scenario):
        print(outcome.row())
        if given.verbose:
            for reason, calls in sorted(outcome.passed.items()):
                print(f"  left: {reason}: {calls}")
    sys.stdout.flush()
    if any(outcome.problems for outcome in outcomes):
        return 1
    return 0 if outcomes else 77


if __name__ == "__main__":
    multiprocessing.set_start_method("fork")  # scenarios are functions that were registered here
    sys.exit(main())
