#!/usr/bin/env python3
"""Predictions beside KATO's own Python searcher, on generated patterns, in one run.

    kato_baseline.py [--patterns 10000 100000 1000000] [--shape chunks] [--kato CHECKOUT] [--json]

Shapes: `chunks` (15 symbols, each an event; 30 000 symbols by Zipf's law, as texts have them), `events`
(2 to 5 events of 5 to 20 of 150 symbols, sorted), `short` (2 to 6 symbols of 1000). A query is a
pattern of which a third of the symbols were changed.

For each number of patterns: how long learning takes, one by one and in bulk; then, for each query,
the candidates at the threshold with all their fields. With --kato a folder with KATO's repository
(its requirements installed) also its own searcher, on stores in memory, alone and with hoist.kato;
the answers of both are compared. --threshold 0.1 is KATO's default.

Its databases' time is not in these figures: KATO's own is longer where it has to ask them.
"""

import argparse
import asyncio
import hashlib
import json
import logging
import os
import pathlib
import random
import statistics
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def say(text):
    print(text, file=sys.stderr, flush=True)


class Generator:
    """Patterns and queries of one shape; the same seed gives the same."""

    def __init__(self, shape, seed):
        self.shape = shape
        self.chance = random.Random(seed)
        self.symbols, self.weights = self.vocabulary()

    def vocabulary(self):
        if self.shape == "events":
            names = [f"sym{i}" for i in range(100)] + [f"VCTR|{i:04x}" for i in range(50)]
            return names, None
        count = 30_000 if self.shape == "chunks" else 1000
        total, cumulated = 0.0, []
        for i in range(count):
            total += 1 / (i + 1)
            cumulated.append(total)
        return [f"w{i}" for i in range(count)], cumulated

    def draw(self, count):
        return self.chance.choices(self.symbols, cum_weights=self.weights, k=count)

    def pattern(self):
        if self.shape == "events":
            return [sorted(self.chance.sample(self.symbols, self.chance.randint(5, 20)))
                    for _ in range(self.chance.randint(2, 5))]
        count = 15 if self.shape == "chunks" else self.chance.randint(2, 6)
        return [[symbol] for symbol in self.draw(count)]

    def patterns(self, count):
        found = {}
        while len(found) < count:
            events = self.pattern()
            found[hashlib.sha1(repr(events).encode()).hexdigest()] = events
        return found

    def query(self, patterns):
        """Of a pattern, a third of its symbols changed."""
        source = patterns[self.chance.randrange(len(patterns))]
        state = []
        for event in source:
            changed = [self.draw(1)[0] if self.chance.random() < 1 / 3 else symbol for symbol in event]
            state.append(sorted(changed))
        return state


def timed(calls, seconds):
    """Milliseconds of as many of the calls as fit, and what the first gave."""
    times, first = [], None
    end = time.perf_counter() + seconds
    for call in calls:
        began = time.perf_counter()
        result = call()
        times.append((time.perf_counter() - began) * 1000)
        first = result if first is None else first
        if time.perf_counter() > end:
            break
    return times, first


def row(what, times):
    ordered = sorted(times)
    return {"what": what, "queries": len(times), "median_ms": statistics.median(times),
            "least_ms": ordered[0], "most_ms": ordered[-1]}


def learned_one_by_one(index_type, patterns):
    """Milliseconds of each; its 99th percentile says what a learner waits."""
    index = index_type()
    times, _ = timed([lambda name=name: index.learn(patterns[name], name=name)
                      for name in list(patterns)[:10_000]], 30)
    return sorted(times)


class Kato:
    """KATO's searcher on stores in memory."""

    def __init__(self, checkout):
        sys.path[:0] = [str(checkout), str(ROOT / "python/tests")]
        os.environ.setdefault("LOG_LEVEL", "CRITICAL")
        logging.disable(logging.WARNING)
        from kato.config.session_config import SessionConfiguration
        from kato.searches.pattern_search import PatternSearcher
        from kato_stores import Keys, Tables

        self.searcher, self.config = PatternSearcher, SessionConfiguration
        self.tables, self.keys = Tables(), Keys()

    def fill(self, patterns):
        self.tables.rows["base"] = patterns
        for name in patterns:
            self.keys.learn("base", name, 1)

    def predict(self, state, threshold):
        searcher = self.searcher(
            kb_id="base", max_predictions=100, recall_threshold=threshold, use_token_matching=True,
            session_config=self.config(filter_pipeline=[]), clickhouse_client=self.tables,
            redis_client=self.keys)
        searcher.hoist_best = 100  # as its PatternProcessor tells hoist.kato
        flat = [symbol for event in state for symbol in event]
        return asyncio.run(searcher.causalBeliefAsync(flat, None, state))


def measure(arguments, count):
    from hoist.match import Index

    generator = Generator(arguments.shape, arguments.seed)
    say(f"{count} patterns of shape {arguments.shape} …")
    patterns = generator.patterns(count)
    every = list(patterns.values())
    queries = [generator.query(every) for _ in range(arguments.queries)]

    began = time.perf_counter()
    index = Index(device=arguments.device, sort=False)
    index.learn_many(every, names=list(patterns))
    index.sync()
    result = {"patterns": count, "shape": arguments.shape, "threshold": arguments.threshold,
              "bulk_seconds": time.perf_counter() - began,
              "bytes_a_pattern": index.stats()["memory_bytes"] / count}
    learned = learned_one_by_one(lambda: Index(device=arguments.device, sort=False), patterns)
    result["learn_ms"] = {"median": statistics.median(learned),
                          "p99": learned[int(len(learned) * 0.99)]}
    say("Index …")
    rows = []
    index.search([queries[0]], scorer="kato", threshold=arguments.threshold)
    times, _ = timed([lambda q=q: index.search([q], k=100, scorer="kato", threshold=arguments.threshold)
                      for q in queries], arguments.seconds)
    rows.append(row("Index.search, best 100", times))
    times, _ = timed([lambda q=q: index.predict(q, arguments.threshold, 100) for q in queries],
                     arguments.seconds)
    rows.append(row("Index.predict, best 100", times))
    result["candidates"] = len(index.search([queries[0]], threshold=arguments.threshold,
                                            scorer="kato").ids[0])
    if arguments.kato:
        rows += beside_kato(arguments, patterns, queries, result)
    result["rows"] = rows
    index.close()
    return result


def beside_kato(arguments, patterns, queries, result):
    import hoist.kato

    kato = Kato(arguments.kato)
    kato.fill(patterns)
    hoist.kato.install(hoist.kato.Settings(device=arguments.device))
    say("KATO with hoist.kato …")
    began = time.perf_counter()
    kato.predict(queries[0], arguments.threshold)
    result["first_prediction_seconds"] = time.perf_counter() - began
    times, got = timed([lambda q=q: kato.predict(q, arguments.threshold) for q in queries],
                       arguments.seconds)
    rows = [row("KATO's searcher with hoist.kato", times)]
    if hoist.kato.stats()["fallbacks"]:
        sys.exit(f"kato_baseline: hoist.kato fell back: {hoist.kato.stats()}")
    hoist.kato.uninstall()
    say("KATO alone …")
    times, expected = timed([lambda q=q: kato.predict(q, arguments.threshold) for q in queries],
                            arguments.seconds)
    rows.append(row("KATO's own searcher", times))
    known = {one["name"]: dict(one) for one in expected}
    same = all(known[one["name"]] == dict(one) for one in got) and len(got) == min(300, len(known))
    result["same_answers"] = same
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--patterns", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--shape", choices=("chunks", "events", "short"), default="chunks")
    parser.add_argument("--threshold", type=float, default=0.1)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20, help="for each row, at most about")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--kato", type=pathlib.Path, metavar="CHECKOUT")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    results = [measure(arguments, count) for count in arguments.patterns]
    if arguments.json:
        print(json.dumps(results, indent=1))
        return
    for result in results:
        print(f"\n{result['patterns']} patterns, shape {result['shape']}, threshold "
              f"{result['threshold']}: {result['candidates']} candidates for the first query")
        print(f"  bulk {result['bulk_seconds']:.2f} s, {result['bytes_a_pattern']:.0f} bytes a pattern; "
              f"learn {result['learn_ms']['median']:.3f} ms, p99 {result['learn_ms']['p99']:.3f} ms")
        for one in result["rows"]:
            print(f"  {one['what']:34} median {one['median_ms']:10.2f} ms   "
                  f"{one['least_ms']:.2f} to {one['most_ms']:.2f}, {one['queries']} queries")
        if "same_answers" in result:
            print(f"  first prediction with hoist.kato {result['first_prediction_seconds']:.2f} s; "
                  f"answers {'are the same' if result['same_answers'] else 'DIFFER'}")
    if not all(result.get("same_answers", True) for result in results):
        sys.exit(1)


if __name__ == "__main__":
    main()
