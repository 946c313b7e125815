"""hoist.kato.encoder, matcher, memory_manager and sync_manager, by the interfaces that KATO planned."""

import hashlib
import os
import random
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from hoist.errors import Exhausted, InvalidArgument
from hoist.kato.encoder import SymbolVocabularyEncoder
from hoist.kato.matcher import GPUConfig, HybridGPUMatcher
from hoist.kato.sync_manager import SyncManager


class Collection:
    def __init__(self):
        self.kept = None
        self.writes = 0

    def find_one(self, query):
        assert query == {"class": "gpu_vocabulary"}
        return self.kept

    def update_one(self, query, change, upsert):
        assert upsert and query == {"class": "gpu_vocabulary"}
        self.kept = {**query, **change["$set"]}
        self.writes += 1


def test_numbers_are_kept():
    collection = Collection()
    encoder = SymbolVocabularyEncoder(collection)
    assert encoder.encode_sequence(["b", "a", "b", ""]).tolist() == [0, 1, 0, 2]
    assert collection.writes == 1
    assert encoder.encode_sequence([]).dtype == np.int32
    again = SymbolVocabularyEncoder(collection)
    assert again.encode_symbol("a") == 1 and again.vocab_size == 3
    assert again.decode_sequence(np.array([0, -1, 99, 2])) == ["b", ""]
    assert again.decode_pattern(again.encode_pattern([["x", "y"], ["b"]])) == [["x", "y"], ["b"]]
    assert collection.writes == 2
    assert again.decode_symbol(99) is None
    assert again.get_stats()["vocab_size"] == again.get_stats()["next_id"] == 5
    again.clear()
    assert SymbolVocabularyEncoder(collection).vocab_size == 0


def test_vocabulary_of_patterns():
    patterns = [{"pattern_data": [["z", "m"], ["a"]]}, {"pattern_data": [["a", "b"]]}]

    class Patterns:
        def find(self):
            return iter(patterns)

    for given in (patterns, Patterns()):
        encoder = SymbolVocabularyEncoder()
        encoder.build_from_patterns(given)
        assert encoder.encode_sequence(["a", "b", "m", "z"]).tolist() == [0, 1, 2, 3]


def test_threads_agree_on_numbers():
    encoder = SymbolVocabularyEncoder(Collection())
    results = []

    def work():
        results.append(encoder.encode_sequence(f"s{i}" for i in range(500)).tolist())

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(result == list(range(500)) for result in results)


def lcs(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b):
            above = row[j + 1]
            row[j + 1] = diagonal + 1 if x == y else max(above, row[j])
            diagonal = above
    return row[-1]


def test_a_score_does_not_depend_on_the_tier():
    chance = random.Random(5)
    matcher = HybridGPUMatcher(config=GPUConfig(device="cpu"))
    patterns = {}
    for i in range(200):
        pattern = chance.choices("abcdef", k=chance.randint(2, 130))
        patterns[f"p{i:03}"] = pattern
        assert matcher.add_new_pattern(f"p{i:03}", [pattern[:2], pattern[2:]])
        if i == 100:
            assert matcher.sync_cpu_to_gpu() == 101
    assert not matcher.add_new_pattern("p000", [["x", "y"]])
    state = chance.choices("abcdef", k=20)
    expected = []
    for name, pattern in patterns.items():
        similarity = 2.0 * lcs(pattern, state) / (len(pattern) + 20) * 100.0 / 100.0
        if similarity >= 0.3:
            expected.append((-similarity, name))
    expected.sort()
    for _ in range(2):
        got = matcher.match_patterns(state, 0.3, 1000)
        assert [(-one["similarity"], one["pattern_name"]) for one in got] == expected
        matcher.sync_cpu_to_gpu()
    assert len(matcher.match_patterns(state, 0.3, 3)) == 3
    stats = matcher.get_stats()
    assert (stats["gpu_tier_patterns"], stats["cpu_tier_patterns"]) == (200, 0)
    assert stats["total_patterns"] == stats["patterns_learned"] == 200
    matcher.clear_all()
    assert matcher.match_patterns(state, 0.0) == []


def test_begins_with_known_patterns():
    matcher = HybridGPUMatcher(None, GPUConfig(device="cpu"), {"one": ["a", "b"], "two": ["c", "d"]})
    assert matcher.match_patterns(["a", "b"], 0.5) == [{"pattern_name": "one", "similarity": 1.0}]
    assert matcher.memory_manager.pattern_count == 2
    assert matcher.memory_manager.get_capacity_info()["memory_limit_gb"] is None


def test_limits_are_errors():
    with pytest.raises(Exhausted):
        HybridGPUMatcher(None, GPUConfig(device="cpu", max_memory=1), {"one": ["a", "b"]})
    with pytest.raises(InvalidArgument):
        HybridGPUMatcher(config=GPUConfig(device="cpu")).add_new_pattern("one", [["a"]])


def learn(matcher, count):
    for i in range(count):
        matcher.add_new_pattern(hashlib.sha1(f"{matcher} {i}".encode()).hexdigest(), [["a", str(i)]])


def test_triggers():
    matcher = HybridGPUMatcher(config=GPUConfig(5, 3600, True, "cpu"))
    manager = SyncManager(matcher)
    learn(matcher, 4)
    assert not manager.check_sync_needed("background")
    learn(matcher, 1)
    assert manager.check_sync_needed("background")
    assert manager.trigger_sync() == 5 and not manager.check_sync_needed()
    matcher.last_sync_time -= 7200
    assert not manager.check_sync_needed()
    learn(matcher, 1)
    assert manager.check_sync_needed()
    manager.enter_training_mode()
    assert not manager.check_sync_needed("background") and manager.trigger_sync("background") == 0
    manager.exit_training_mode()
    assert manager.get_stats()["total_patterns_synced"] == 6
    assert manager.total_syncs == 2


def test_background():
    matcher = HybridGPUMatcher(config=GPUConfig(3, 0.05, True, "cpu"))
    manager = SyncManager(matcher)
    manager.start_background_sync()
    manager.start_background_sync()
    assert manager.get_stats()["background_sync_running"]
    learn(matcher, 3)
    deadline = time.monotonic() + 60
    while matcher.recent and time.monotonic() < deadline:
        time.sleep(0.01)
    assert matcher.recent == 0
    manager.stop_background_sync()
    assert not manager.get_stats()["background_sync_running"]
    off = SyncManager(HybridGPUMatcher(config=GPUConfig(enable_background_sync=False, device="cpu")))
    off.start_background_sync()
    assert not off.get_stats()["background_sync_running"]


ENCODER_TESTS = "tests/tests/gpu/test_encoder.py"
AS_KATO = """
import sys, types
import pytest
import hoist.kato.encoder

for name in ("kato", "kato.gpu"):
    sys.modules[name] = types.ModuleType(name)
sys.modules["kato.gpu.encoder"] = hoist.kato.encoder


class Patterns(list):
    insert_many = list.extend
    insert_one = list.append


class Metadata:
    kept = None

    def find_one(self, query):
        return self.kept

    def update_one(self, query, change, upsert):
        self.kept = {**query, **change["$set"]}


@pytest.fixture
def mongodb():
    return types.SimpleNamespace(metadata=Metadata(), patterns_kb=Patterns())


@pytest.fixture
def encoder(mongodb):
    return hoist.kato.encoder.SymbolVocabularyEncoder(mongodb.metadata)
"""


def test_katos_own_tests_of_its_encoder(tmp_path):
    """Those of a checkout of KATO, with our encoder in the place of its own."""
    checkout = os.environ.get("HOIST_KATO_CHECKOUT")
    if not checkout:
        pytest.skip("HOIST_KATO_CHECKOUT names no checkout of KATO")
    source = Path(checkout) / ENCODER_TESTS
    folder = tmp_path / "tests/gpu"
    folder.mkdir(parents=True)
    for name in ("test_encoder.py", "data_generators.py"):
        (folder / name).write_text((source.parent / name).read_text())
    (folder / "__init__.py").touch()
    (tmp_path / "tests/__init__.py").touch()
    (folder / "conftest.py").write_text(AS_KATO)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(folder)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "34 passed" in done.stdout, done.stdout
