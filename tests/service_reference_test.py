#!/usr/bin/env python3
"""Predictions of `hoist match serve` beside those of KATO's own PatternProcessor, which runs here
without its databases: random patterns are taught over HTTP, and every field of every prediction is
compared. One rule is not KATO's: where it weighs by affinities and the state has several symbols, it
looks up the weights of these alone, so that a pattern's other symbols weigh nothing. Here each symbol has its
weight, as in KATO where the state has one. It is given the weights of all for that.

Skipped unless HOIST_KATO_CHECKOUT names a folder with KATO's repository, whose requirements are
installed.
"""

import asyncio
import collections
import logging
import math
import os
import pathlib
import random
import sys
import unittest
from types import SimpleNamespace

from hoist_tree import SKIPPED
from service_case import SharedServerCase

CHECKOUT = os.environ.get("HOIST_KATO_CHECKOUT")
SEED = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(2**32)))
PERSISTENCE = 5


def import_kato():
    """PatternProcessor, PatternSearcher, SessionConfiguration, the stand-ins of its stores."""
    sys.path[:0] = [CHECKOUT, str(pathlib.Path(__file__).resolve().parents[1] / "python/tests")]
    os.environ.setdefault("LOG_LEVEL", "CRITICAL")
    logging.disable(logging.CRITICAL)
    from kato.config.session_config import SessionConfiguration
    from kato.searches.pattern_search import PatternSearcher
    from kato.storage import connection_manager
    from kato.storage.redis_writer import RedisWriter
    from kato.workers.pattern_processor import PatternProcessor
    from kato_stores import Keys, Tables

    return SimpleNamespace(Processor=PatternProcessor, Searcher=PatternSearcher,
                           Configuration=SessionConfiguration, Keys=Keys, Tables=Tables,
                           RedisWriter=RedisWriter,
                           connections=connection_manager)


KATO = None
if CHECKOUT:
    try:
        KATO = import_kato()
    except ImportError as missing:
        print(f"skipped: KATO cannot be imported: {missing}", file=sys.stderr)


class Writer:
    """What KATO's processor asks its Redis for."""

    def __init__(self, counts, patterns, keys, affinities):
        self.counts, self.patterns, self.affinities = counts, patterns, affinities
        self.get_metadata_batch = KATO.RedisWriter("base", keys).get_metadata_batch

    def get_global_metadata(self):
        return {"total_symbols_in_patterns_frequencies": sum(self.counts.values()),
                "total_pattern_frequencies": self.patterns,  # KATO counts each pattern once
                "total_unique_patterns": self.patterns}

    def get_precomputed_metrics_batch(self, names):
        return {}

    def get_symbol_affinity_batch(self, symbols):
        return {symbol: dict(self.affinities.get(symbol, {})) for symbol in symbols}

    def get_symbol_frequencies_batch(self, symbols):
        return {symbol: self.counts.get(symbol, 0) for symbol in symbols}


class Reference:
    """KATO's processor over the same patterns."""

    def __init__(self, learned):
        self.tables, self.keys = KATO.Tables(), KATO.Keys()
        self.counts, members = collections.Counter(), collections.Counter()
        affinities = collections.defaultdict(collections.Counter)
        for name, (events, frequency, emotives) in learned.items():
            self.tables.add("base", name, events)
            self.keys.learn("base", name, frequency, emotives[-PERSISTENCE:])
            flat = [symbol for event in events for symbol in event]
            for symbol in flat:
                self.counts[symbol] += frequency
            members.update(set(flat))
            for felt in emotives:
                for symbol in set(flat):
                    affinities[symbol].update(felt)
        self.symbols = {symbol: {"name": symbol, "frequency": self.counts[symbol],
                                 "pattern_member_frequency": members[symbol]} for symbol in members}
        self.writer = Writer(self.counts, len(learned), self.keys, affinities)
        KATO.connections.get_clickhouse_client = lambda: self.tables

    def predict(self, events, config):
        processor = KATO.Processor.__new__(KATO.Processor)
        settings = KATO.Configuration(filter_pipeline=[], **config)
        processor.__dict__.update(
            name="reference", kb_id="base", max_predictions=10_000, target_class_candidates=[],
            recall_threshold=settings.recall_threshold, rank_sort_algo="similarity",
            use_token_matching=True, _global_metadata_cache=None, cached_calculator=None,
            metrics_cache_manager=None, future_potentials=[],
            query_manager=SimpleNamespace(get_all_symbols_optimized=lambda kb: self.symbols),
            superkb=SimpleNamespace(
                id="base", symbols_kb=None, redis_writer=self.writer,
                clickhouse_writer=SimpleNamespace(flush_if_pending=lambda: None)))
        processor.patterns_searcher = KATO.Searcher(
            kb_id="base", max_predictions=10_000, recall_threshold=settings.recall_threshold,
            use_token_matching=True, session_config=settings, clickhouse_client=self.tables,
            redis_client=self.keys)
        weights = processor._compute_affinity_weights
        everything = [{"pattern_data": [list(self.symbols)]}]
        processor._compute_affinity_weights = lambda state, patterns=None: weights(state, everything)
        state = [symbol for event in events for symbol in event]
        found = asyncio.run(processor.predictPattern(state, stm_events=events))
        return {one["name"]: dict(one) for one in found}, processor.future_potentials


def close(one, other):
    """Equal, numbers to the last bits: sums come in other orders."""
    if isinstance(one, float) and isinstance(other, (int, float)):
        return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(close, one, other))
    return one == other


@unittest.skipUnless(KATO, "HOIST_KATO_CHECKOUT names no checkout of KATO that can be imported")
class BesideKato(SharedServerCase):
    def setUp(self):
        super().setUp()
        print("HOIST_TEST_SEED =", SEED)
        self.chance = random.Random(SEED)

    def events(self, alphabet):
        return [sorted(self.chance.choices(alphabet, k=self.chance.randint(1, 3)))
                for _ in range(self.chance.randint(1, 6))]

    def teach(self, node, alphabet, count):
        """Over HTTP; what KATO would then have."""
        learned = {}
        for _ in range(count):
            events = self.events(alphabet)
            emotives = {"joy": round(self.chance.uniform(-1, 1), 3)} if self.chance.random() < 0.5 else {}
            session = self.client.session(node)
            session.observe(*events[0], emotives=emotives)
            session.observe_all(events[1:])
            name = session.learn().removeprefix("PTRN|")
            if name:
                _, frequency, before = learned.get(name, (events, 0, []))
                learned[name] = (events, frequency + 1, before + ([emotives] if emotives else []))
        return learned

    def compare(self, node, reference, events, **config):
        session = self.client.session(node, config={**config, "max_predictions": 10_000})
        session.observe_all(events)
        answer = session.ask("GET", "/predictions")
        got = {one["name"]: one for one in answer["predictions"]}
        expected, futures = reference.predict(events, config)
        self.assertEqual(got.keys(), expected.keys(), (events, config))
        for name, prediction in expected.items():
            for field, value in prediction.items():
                # `length` has only KATO, and only of a state of one symbol; `sequence` says it.
                if field.startswith("_") or field in ("pattern_data", "length"):
                    continue
                self.assertTrue(close(value, got[name].get(field)),
                                f"{field}: KATO {value!r}, here {got[name].get(field)!r}; state {events}, "
                                f"pattern {got[name]['sequence']}, {config}")
        if sum(map(len, events)) > 1:
            self.compare_futures(answer["future_potentials"], futures)
        return len(got)

    def compare_futures(self, got, expected):
        def by_future(potentials):
            return {repr([sorted(event) for event in one["future"]]): one for one in potentials}

        got, expected = by_future(got), by_future(expected)
        self.assertEqual(got.keys(), expected.keys())
        for future, one in expected.items():
            for field in ("aggregate_potential", "supporting_patterns", "total_weighted_frequency"):
                self.assertTrue(close(one[field], got[future][field]), (future, field))

    def run_with(self, alphabet, patterns, **more):
        learned = self.teach(self.node, alphabet, patterns)
        reference = Reference(learned)
        compared = 0
        for _ in range(25):
            config = {"recall_threshold": self.chance.choice([0.0, 0.1, 0.3, 0.5, 0.8]),
                      **{key: self.chance.choice(values) for key, values in more.items()}}
            compared += self.compare(self.node, reference, self.events(alphabet), **config)
        self.assertGreater(compared, 50)
        print(f"{compared} predictions compared")

    def test_plain(self):
        self.run_with("abcdefghij", 150)

    def test_few_symbols(self):
        self.run_with("abc", 60)

    def test_fuzzy(self):
        self.run_with(["kitten", "kiten", "mitten", "sitting", "dog", "dig"], 100,
                      fuzzy_token_threshold=[0.0, 0.5, 0.7, 0.8, 1.0])

    def test_affinities(self):
        self.run_with("abcdefgh", 120, affinity_emotive=["joy", "fear"])

    def test_one_symbol(self):
        learned = self.teach(self.node, "abcd", 100)
        reference = Reference(learned)
        compared = sum(self.compare(self.node, reference, [[symbol]], recall_threshold=threshold, **more)
                       for symbol in "abcd" for threshold in (0.0, 0.1, 0.6)
                       for more in ({}, {"affinity_emotive": "joy"}))
        self.assertGreater(compared, 50)


if __name__ == "__main__":
    if KATO is None:
        print("skipped: HOIST_KATO_CHECKOUT names no checkout of KATO", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
