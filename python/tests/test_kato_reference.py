"""hoist.kato beside KATO's own searcher, which runs here without its databases.

HOIST_KATO_CHECKOUT names a folder with KATO's repository; its requirements must be installed.
"""

import asyncio
import hashlib
import os
import random
import sys
from collections import Counter, deque
from types import SimpleNamespace

import pytest
from kato_stores import Keys, Tables

import hoist.kato

CHECKOUT = os.environ.get("HOIST_KATO_CHECKOUT")
if not CHECKOUT:
    pytest.skip("HOIST_KATO_CHECKOUT names no checkout of KATO", allow_module_level=True)
sys.path.insert(0, CHECKOUT)
os.environ.setdefault("LOG_LEVEL", "CRITICAL")
pattern_search = pytest.importorskip("kato.searches.pattern_search")
session_config = pytest.importorskip("kato.config.session_config")

SEED = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(2**32)))


@pytest.fixture(autouse=True)
def taken_out():
    yield
    hoist.kato.uninstall()


def name_of(events):
    return hashlib.sha1(repr(events).encode()).hexdigest()


def random_events(chance, alphabet):
    return [
        sorted(chance.choices(alphabet, k=chance.randint(1, 3)))
        for _ in range(chance.randint(1, 7))
    ]


def random_stores(chance, alphabet, count):
    tables, keys = Tables(), Keys()
    for _ in range(count):
        events = random_events(chance, alphabet)
        if sum(map(len, events)) > 1:
            emotives = [{"joy": chance.random()}] if chance.random() < 0.5 else None
            tables.add("base", name_of(events), events)
            keys.learn("base", name_of(events), chance.randint(0, 5), emotives)
    return tables, keys


def predictions(stores, events, threshold, fuzzy=0.0, weights=None):
    tables, keys = stores
    searcher = pattern_search.PatternSearcher(
        kb_id="base",
        max_predictions=100,
        recall_threshold=threshold,
        session_config=session_config.SessionConfiguration(
            filter_pipeline=[], fuzzy_token_threshold=fuzzy
        ),
        clickhouse_client=tables,
        redis_client=keys,
        use_token_matching=True,
    )
    searcher.affinity_weights = weights
    state = [symbol for event in events for symbol in event]
    found = asyncio.run(searcher.causalBeliefAsync(state, None, events))
    return {one["name"]: dict(one) for one in found}


@pytest.mark.parametrize("alphabet", ["abcdefgh", "ab", ["kitten", "kiten", "mitten", "dog"]])
def test_every_field_of_every_prediction(alphabet):
    print("HOIST_TEST_SEED =", SEED)
    chance = random.Random(SEED)
    compared = 0
    for _ in range(5):
        # With more than 500 candidates KATO loses its weights: docs/reference/kato.md.
        stores = random_stores(chance, alphabet, chance.choice([30, 200, 480]))
        for _ in range(8):
            events = random_events(chance, alphabet)
            if sum(map(len, events)) < 2:
                continue
            threshold = chance.choice([0.0, 0.1, 0.3, 0.5, 2 / 3, 0.8])
            fuzzy = chance.choice([0.0, 0.0, 0.5, 0.8, 1.0])
            weights = None
            if chance.random() < 0.3:
                weights = {symbol: chance.random() for event in events for symbol in event}
            hoist.kato.uninstall()
            expected = predictions(stores, events, threshold, fuzzy, weights)
            hoist.kato.install()
            got = predictions(stores, events, threshold, fuzzy, weights)
            assert hoist.kato.stats()["queries"] == 1
            assert got == expected
            compared += len(got)
    assert compared > 100


def processor_on(stores, most):
    """KATO's PatternProcessor, as far as it predicts and learns, on stand-ins of its stores."""
    processors = pytest.importorskip("kato.workers.pattern_processor")
    writers = pytest.importorskip("kato.storage.redis_writer")
    tables, keys = stores
    members, counts = Counter(), Counter()
    for events in tables.rows.get("base", {}).values():
        flat = [symbol for event in events for symbol in event]
        counts.update(flat)
        members.update(set(flat))
    symbols = {
        symbol: {"frequency": counts[symbol], "pattern_member_frequency": members[symbol]}
        for symbol in members
    }
    patterns = len(tables.rows.get("base", {}))
    writer = SimpleNamespace(
        get_metadata_batch=writers.RedisWriter("base", keys).get_metadata_batch,
        get_precomputed_metrics_batch=lambda names: {},
        get_global_metadata=lambda: {
            "total_symbols_in_patterns_frequencies": sum(counts.values()),
            "total_pattern_frequencies": patterns,
            "total_unique_patterns": patterns,
        },
    )

    def learn_pattern(pattern, emotives, metadata):
        tables.add("base", pattern.name, pattern.pattern_data)
        return True

    processor = processors.PatternProcessor.__new__(processors.PatternProcessor)
    processor.__dict__.update(
        name="reference",
        kb_id="base",
        max_predictions=most,
        recall_threshold=0.1,
        rank_sort_algo="similarity",
        target_class_candidates=[],
        use_token_matching=True,
        _global_metadata_cache=None,
        cached_calculator=None,
        metrics_cache_manager=None,
        emotives=[],
        metadata=[],
        STM=deque(),
        query_manager=SimpleNamespace(
            get_all_symbols_optimized=lambda kb: symbols, invalidate_caches=lambda: None
        ),
        patterns_kb=SimpleNamespace(learnPattern=learn_pattern),
        superkb=SimpleNamespace(
            id="base",
            symbols_kb=None,
            redis_writer=writer,
            clickhouse_writer=SimpleNamespace(flush_if_pending=lambda: None),
        ),
        patterns_searcher=pattern_search.PatternSearcher(
            kb_id="base",
            max_predictions=most,
            recall_threshold=0.1,
            use_token_matching=True,
            session_config=session_config.SessionConfiguration(filter_pipeline=[]),
            clickhouse_client=tables,
            redis_client=keys,
        ),
    )
    return processor


def flat(events):
    return [symbol for event in events for symbol in event]


def test_the_whole_prediction_and_learning():
    """What KATO computes from the candidates, and what its processor has just learned."""
    chance = random.Random(SEED)
    stores = random_stores(chance, "abcdefgh", 200)
    for _ in range(15):
        events = random_events(chance, "abcdefgh")
        if len(flat(events)) < 2:
            continue
        alone = asyncio.run(processor_on(stores, 10_000).predictPattern(flat(events), events))
        hoist.kato.install()
        with_hoist = processor_on(stores, 10_000)
        got = asyncio.run(with_hoist.predictPattern(flat(events), events))
        assert hoist.kato.stats()["queries"] == 1
        by_name = {one["name"]: one for one in alone}
        assert {one["name"] for one in got} == set(by_name)
        for one in got:
            other = by_name[one["name"]]
            assert one.keys() == other.keys()
            for key, value in one.items():
                # Sums over all predictions run in another order.
                assert value == (pytest.approx(other[key]) if type(value) is float else other[key])

        with_hoist.STM = deque([["new", "symbols"], *events])
        stores[0].rows["late"] = stores[0].rows.pop("base")  # the table does not show it yet
        name = with_hoist.learn()
        stores[0].rows["base"] = stores[0].rows.pop("late")
        found = asyncio.run(with_hoist.predictPattern(flat(events), events))
        assert name in {one["name"] for one in found}
        hoist.kato.uninstall()


def own_potential(prediction):
    """By which KATO prunes before it computes what depends on the other predictions."""
    fragmentation = prediction["fragmentation"]
    whole = 0.0 if fragmentation == -1 else 1.0 / (fragmentation + 1)
    return (prediction["evidence"] + prediction["confidence"]) * prediction["snr"] + whole


def test_few_predictions_of_many():
    """Those that KATO would keep when it prunes; among equal ones it has no order."""
    chance = random.Random(SEED)
    stores = random_stores(chance, "abcd", 400)
    pruned = 0
    for _ in range(10):
        events = random_events(chance, "abcd")
        if len(flat(events)) < 2:
            continue
        every = predictions(stores, events, 0.1)
        kept = sorted(map(own_potential, every.values()), reverse=True)[:30]
        pruned += len(every) > 30
        hoist.kato.install()
        processor = processor_on(stores, 10)
        processor.patterns_searcher.hoist_best = 10  # as predictPattern() tells it
        got = asyncio.run(
            processor.patterns_searcher.causalBeliefAsync(flat(events), None, events)
        )
        assert sorted(map(own_potential, got), reverse=True) == kept
        assert len(asyncio.run(processor.predictPattern(flat(events), events))) == min(10, len(kept))
        hoist.kato.uninstall()
    assert pruned > 0
