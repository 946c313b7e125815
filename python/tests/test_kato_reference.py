"""hoist.kato beside KATO's own searcher, which runs here without its databases.

HOIST_KATO_CHECKOUT names a folder with KATO's repository; its requirements must be installed.
"""

import asyncio
import hashlib
import os
import random
import sys

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
