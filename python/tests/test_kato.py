"""hoist.kato beside a small KATO of our own: the same seams, its rules written down once more, slowly."""

import asyncio
import difflib
import hashlib
import logging
import math
import os
import subprocess
import sys
import types

import pytest
from kato_stores import Keys, Tables

import hoist.kato
from hoist.errors import InvalidArgument, NotFound
from hoist.kato import Settings
from hoist.kato._node import FINGERPRINT, Fingerprint, Node


def name_of(events):
    return hashlib.sha1(repr(events).encode()).hexdigest()


def lcs(a, b):
    row = [0] * (len(b) + 1)
    for x in a:
        diagonal = 0
        for j, y in enumerate(b):
            above = row[j + 1]
            row[j + 1] = diagonal + 1 if x == y else max(above, row[j])
            diagonal = above
    return row[-1]


class Prediction(dict):
    pass


class RedisWriter:
    def __init__(self, base, client):
        self.base, self.client = base, client

    def get_metadata_batch(self, names):
        return {
            name: {"frequency": int(self.client.get(f"{self.base}:frequency:{name}") or 0)}
            for name in names
        }


class PatternSearcher:
    """Finds by reading the whole table; says only how similar."""

    use_token_matching = use_fast_matching = True
    affinity_weights = None

    def __init__(self, base, tables, keys, threshold=0.1, **session):
        self.kb_id, self.clickhouse_client, self.redis_client = base, tables, keys
        self.recall_threshold = threshold
        self.session_config = types.SimpleNamespace(**session)
        self.asked = 0

    def _search(self, state):
        self.asked += 1
        found = []
        for name, events in self.clickhouse_client.rows.get(self.kb_id, {}).items():
            pattern = [symbol for event in events for symbol in event]
            similarity = 2.0 * lcs(pattern, state) / (len(pattern) + len(state)) * 100.0 / 100.0
            matcher = difflib.SequenceMatcher(None, pattern, state, autojunk=False)
            blocks = matcher.get_matching_blocks()[:-1]
            if similarity >= self.recall_threshold and blocks:
                matches = [state[j] for _, first, size in blocks for j in range(first, first + size)]
                found.append(
                    Prediction(
                        name=name,
                        similarity=similarity,
                        matches=matches,
                        evidence=len(matches) / len(pattern),
                        fragmentation=float(len(blocks) - 1),
                        sequence=events,
                    )
                )
        return found

    def causalBelief(self, state, target_class_candidates=None, stm_events=None):
        return self._search(state)

    async def causalBeliefAsync(self, state, target_class_candidates=None, stm_events=None):
        return self._search(state)

    def clearPatternsFromRAM(self):
        self.asked = 0

    def delete_pattern(self, name):
        return self.clickhouse_client.rows[self.kb_id].pop(name, None) is not None


class PatternProcessor:
    def __init__(self, searcher, table_is_late=False):
        self.patterns_searcher, self.kb_id = searcher, searcher.kb_id
        self.max_predictions = 100
        self.table_is_late = table_is_late
        self.STM = []

    def learn(self):
        events, self.STM = list(self.STM), []
        if sum(map(len, events)) < 2:
            return None
        if not self.table_is_late:
            self.patterns_searcher.clickhouse_client.add(self.kb_id, name_of(events), events)
        return name_of(events)

    async def predictPattern(self, state, stm_events=None):
        return await self.patterns_searcher.causalBeliefAsync(state, None, stm_events)

    async def finalize_training(self):
        return {"status": "completed"}


@pytest.fixture
def kato(monkeypatch):
    """A package `kato` of these classes; the adapter is taken out at the end."""
    for name in ("HOIST_KATO", "HOIST_KATO_NODES", "HOIST_KATO_REFRESH"):
        monkeypatch.delenv(name, raising=False)
    places = {
        "kato.searches.pattern_search": {"PatternSearcher": PatternSearcher},
        "kato.workers.pattern_processor": {"PatternProcessor": PatternProcessor},
        "kato.representations.prediction": {"Prediction": Prediction},
        "kato.storage.redis_writer": {"RedisWriter": RedisWriter},
    }
    for path, values in places.items():
        parts = path.split(".")
        for i in range(1, len(parts) + 1):
            monkeypatch.setitem(sys.modules, ".".join(parts[:i]), types.ModuleType(parts[i - 1]))
        for name, value in values.items():
            setattr(sys.modules[path], name, value)
    yield
    hoist.kato.uninstall()


def ask(searcher, events):
    state = [symbol for event in events for symbol in event]
    return asyncio.run(searcher.causalBeliefAsync(state, None, events))


def filled(patterns, base="shop", **session):
    tables, keys = Tables(), Keys()
    for events in patterns:
        tables.add(base, name_of(events), events)
        keys.learn(base, name_of(events), 1)
    return tables, PatternSearcher(base, tables, keys, **session)


SHOES = [[["shoe"], ["sock"], ["hat"]], [["shoe"], ["belt"]], [["boat"], ["oar", "sail"]]]
STATE = [["shoe"], ["sock"]]
FIELDS = ("name", "similarity", "matches", "evidence", "fragmentation", "sequence")


def test_answers_are_those_of_the_own_code(kato):
    import random

    seed = random.SystemRandom().randrange(2**32)
    print("seed", seed)
    chance = random.Random(seed)

    def events():
        return [
            sorted(chance.choices("abcdefg", k=chance.randint(1, 3)))
            for _ in range(chance.randint(1, 6))
        ]

    patterns = [made for made in (events() for _ in range(300)) if sum(map(len, made)) > 1]
    for threshold in (0.1, 0.4, 0.5, 0.75):
        tables, searcher = filled(patterns, threshold=threshold)
        for _ in range(20):
            state = events()
            if sum(map(len, state)) < 2:
                continue
            hoist.kato.uninstall()
            expected = ask(searcher, state)
            hoist.kato.install()
            got = ask(searcher, state)
            assert hoist.kato.stats()["queries"] == 1
            by_name = {one["name"]: one for one in expected}
            assert len(got) == len(by_name)
            for one in got:
                other = by_name[one["name"]]
                # The reference's roundings: by percent.
                assert one["similarity"] == pytest.approx(other["similarity"], abs=1e-15)
                for field in FIELDS[2:]:
                    assert one[field] == other[field], field


def test_what_is_learned_is_in_the_next_prediction(kato):
    """Also while the table does not show it yet, and once it does."""
    hoist.kato.install()
    tables, searcher = filled(SHOES)
    processor = PatternProcessor(searcher, table_is_late=True)
    assert len(ask(searcher, STATE)) == 2
    processor.STM = [["shoe"], ["lace"]]
    name = processor.learn()
    assert name in {one["name"] for one in ask(searcher, STATE)}
    assert tables.asked[:2] == ["fingerprint", "patterns"] and "names" not in tables.asked
    tables.add("shop", name, [["shoe"], ["lace"]])
    assert len(ask(searcher, STATE)) == 3
    assert tables.asked.count("names") == 0


def test_what_is_learned_before_the_first_prediction(kato):
    hoist.kato.install()
    _, searcher = filled([])
    processor = PatternProcessor(searcher, table_is_late=True)
    processor.STM = [["shoe"], ["lace"]]
    name = processor.learn()
    assert [one["name"] for one in ask(searcher, STATE)] == [name]


def test_what_other_processes_did_is_seen(kato):
    hoist.kato.install()
    tables, searcher = filled(SHOES)
    assert len(ask(searcher, STATE)) == 2
    tables.add("shop", name_of([["shoe"], ["lace"]]), [["shoe"], ["lace"]])
    assert len(ask(searcher, STATE)) == 3
    del tables.rows["shop"][name_of(SHOES[0])]
    assert len(ask(searcher, STATE)) == 2
    assert tables.asked.count("patterns") == 1


def test_refresh_waits(kato):
    hoist.kato.install(Settings(refresh=3600))
    tables, searcher = filled(SHOES)
    ask(searcher, STATE)
    tables.add("shop", name_of([["shoe"], ["lace"]]), [["shoe"], ["lace"]])
    assert len(ask(searcher, STATE)) == 2
    assert tables.asked == ["fingerprint", "patterns"]


def learn(processor, tables, *names):
    """This process learns patterns of one event each; the table does not show them yet."""
    for name in names:
        processor.STM = [["shoe", name]]
        yield processor.learn(), [["shoe", name]]


@pytest.fixture
def always_fingerprints(monkeypatch):
    monkeypatch.setattr(Node, "SHARE", math.inf)


def test_another_pattern_in_place_of_one_is_seen(kato, always_fingerprints):
    """The number of rows stays as it was: another process cleared the table and learned anew."""
    hoist.kato.install()
    tables, searcher = filled(SHOES)
    assert len(ask(searcher, STATE)) == 2
    del tables.rows["shop"][name_of(SHOES[0])]
    tables.add("shop", name_of([["shoe"], ["lace"]]), [["shoe"], ["lace"]])
    found = {one["name"] for one in ask(searcher, STATE)}
    assert found == {name_of(SHOES[1]), name_of([["shoe"], ["lace"]])}


def test_what_arrives_in_another_order_reads_no_names(kato, always_fingerprints):
    hoist.kato.install()
    tables, searcher = filled(SHOES)
    processor = PatternProcessor(searcher, table_is_late=True)
    ask(searcher, STATE)
    learned = list(learn(processor, tables, "a", "b", "c"))
    for at in (2, 0, 1):
        tables.add("shop", *learned[at])
        assert len(ask(searcher, STATE)) == 5
    assert "names" not in tables.asked


def test_what_hides_behind_a_late_pattern_is_seen(kato, monkeypatch, always_fingerprints):
    """One pattern is on its way, somebody else's arrived: the number alone does not tell."""
    hoist.kato.install()
    tables, searcher = filled(SHOES)
    processor = PatternProcessor(searcher, table_is_late=True)
    ask(searcher, STATE)
    list(learn(processor, tables, "late"))
    tables.add("shop", name_of([["shoe"], ["lace"]]), [["shoe"], ["lace"]])
    assert len(ask(searcher, STATE)) == 3  # it may be this process's, in another order
    monkeypatch.setattr(Node, "SETTLED", 0.0)
    assert len(ask(searcher, STATE)) == 4


def test_a_slow_fingerprint_is_asked_seldom(kato, monkeypatch):
    monkeypatch.setattr(Node, "SHARE", 1e-4)
    hoist.kato.install()
    tables, searcher = filled(SHOES)
    tables.fingerprint_seconds = 0.1
    for _ in range(5):
        ask(searcher, STATE)
    assert tables.asked == ["fingerprint", "patterns", "count", "count", "count", "count"]


def test_clickhouse_has_the_same_fingerprint():
    """The engine itself, in this process, where it is installed."""
    session = pytest.importorskip("chdb.session").Session()
    names = [name_of([[str(number)]]) for number in range(1000)] + ["abc", "0123456789ab", ""]
    expected = Fingerprint(0, 0)
    session.query("CREATE DATABASE kato ENGINE = Atomic")
    session.query("CREATE TABLE kato.names (name String) ENGINE = MergeTree ORDER BY name")
    session.query("INSERT INTO kato.names VALUES " + ", ".join(f"('{name}')" for name in names))
    for name in names:
        expected = expected.with_name(name)
    answer = session.query(f"SELECT {FINGERPRINT} FROM kato.names").bytes().decode()
    rows, low, high = map(int, answer.split(","))
    assert Fingerprint(rows, low | high << 64) == expected


def test_clearing_and_deleting(kato):
    hoist.kato.install()
    tables, searcher = filled(SHOES)
    assert len(ask(searcher, STATE)) == 2
    searcher.delete_pattern(name_of(SHOES[1]))
    assert [one["name"] for one in ask(searcher, STATE)] == [name_of(SHOES[0])]
    searcher.clearPatternsFromRAM()
    tables.rows.clear()
    assert ask(searcher, STATE) == []


def test_nodes_are_apart(kato):
    hoist.kato.install()
    _, one = filled(SHOES, "one")
    _, other = filled([[["shoe"], ["lace"]]], "it's another")
    assert len(ask(one, STATE)) == 2
    assert len(ask(other, STATE)) == 1
    assert set(hoist.kato.stats()["nodes"]) == {"one", "it's another"}


def test_falls_back_with_one_warning(kato, caplog):
    hoist.kato.install(Settings(max_memory=1))
    _, searcher = filled(SHOES)
    with caplog.at_level(logging.WARNING, "hoist.kato"):
        for _ in range(3):
            assert len(ask(searcher, STATE)) == 2
    assert searcher.asked == 3
    assert hoist.kato.stats()["fallbacks"] == 3
    assert hoist.kato.stats()["fallbacks_by_error"] == {"Exhausted": 3}
    assert len(caplog.records) == 1 and "KATO's own code" in caplog.text


def test_a_table_that_fails_is_asked_by_kato_itself(kato):
    hoist.kato.install()
    tables, searcher = filled(SHOES)
    tables.broken = True
    assert len(ask(searcher, STATE)) == 2
    tables.broken = False
    assert len(ask(searcher, STATE)) == 2
    assert searcher.asked == 1 and hoist.kato.stats()["fallbacks"] == 1


@pytest.mark.parametrize(
    ("reason", "change"),
    [
        ("filter pipeline", lambda it: setattr(it.session_config, "filter_pipeline", ["length"])),
        ("character matching", lambda it: setattr(it, "use_token_matching", False)),
        ("KATO_USE_FAST_MATCHING is off", lambda it: setattr(it, "use_fast_matching", False)),
        ("switched off", lambda it: setattr(it.session_config, "hoist", False)),
    ],
)
def test_what_is_left_to_kato(kato, reason, change):
    hoist.kato.install()
    _, searcher = filled(SHOES)
    change(searcher)
    assert len(ask(searcher, STATE)) == 2
    assert searcher.asked == 1
    assert hoist.kato.stats()["left_to_kato"] == {reason: 1}
    assert hoist.kato.stats()["fallbacks"] == 0


@pytest.mark.parametrize("state", [[["shoe"], [""]], [["shoe", "sock"], []], [["shoe"]], [["\0", "a"]]])
def test_states_that_are_left_to_kato(kato, state):
    hoist.kato.install()
    _, searcher = filled(SHOES)
    ask(searcher, state)
    assert searcher.asked == 1 and hoist.kato.stats()["queries"] == 0


def test_targets_are_left_to_kato(kato):
    hoist.kato.install()
    _, searcher = filled(SHOES)
    searcher.causalBelief(["shoe", "sock"], [name_of(SHOES[0])], STATE)
    assert hoist.kato.stats()["left_to_kato"] == {"target candidates": 1}


def test_who_uses_it(kato, monkeypatch):
    monkeypatch.setenv("HOIST_KATO", "0")
    hoist.kato.install()
    _, searcher = filled(SHOES)
    ask(searcher, STATE)
    assert searcher.asked == 1
    searcher.session_config.hoist = True
    ask(searcher, STATE)
    assert searcher.asked == 1
    monkeypatch.setenv("HOIST_KATO", "1")
    monkeypatch.setenv("HOIST_KATO_NODES", "ware*, shop")
    hoist.kato.install()
    _, house = filled(SHOES, "house")
    _, shop = filled(SHOES, "shop")
    ask(house, STATE)
    ask(shop, STATE)
    assert (house.asked, shop.asked) == (1, 0)


def test_only_as_many_as_kato_looks_at(kato):
    hoist.kato.install()
    _, searcher = filled([[["a"], ["b"], [f"{i}"]] for i in range(50)] + [[["a"], ["b"]]])
    processor = PatternProcessor(searcher)
    processor.max_predictions = 2
    got = asyncio.run(processor.predictPattern(["a", "b"], [["a"], ["b"]]))
    assert len(got) == 6
    assert name_of([["a"], ["b"]]) in {one["name"] for one in got}


def test_weights(kato):
    """Symbols that the state has not weigh nothing, as in the original."""
    hoist.kato.install()
    _, searcher = filled(SHOES[:1])
    searcher.affinity_weights = {"shoe": 0.5, "sock": 0.25}
    assert ask(searcher, STATE)[0]["weighted_similarity"] == 2 * 0.75 / (0.75 + 0.75)


def test_end_of_training_and_sync(kato):
    hoist.kato.install()
    _, searcher = filled(SHOES)
    processor = PatternProcessor(searcher)
    ask(searcher, STATE)
    assert hoist.kato.stats()["nodes"]["shop"]["syncs"] == 0
    assert asyncio.run(processor.finalize_training()) == {"status": "completed"}
    assert hoist.kato.stats()["nodes"]["shop"]["syncs"] == 1
    hoist.kato.sync()
    hoist.kato.sync("shop")
    assert hoist.kato.stats()["nodes"]["shop"]["syncs"] == 3
    with pytest.raises(NotFound):
        hoist.kato.sync("nowhere")


def test_uninstalled_it_is_as_before(kato):
    original = PatternSearcher.causalBelief
    hoist.kato.install()
    hoist.kato.install()
    assert PatternSearcher.causalBelief is not original and hoist.kato.installed()
    hoist.kato.uninstall()
    assert PatternSearcher.causalBelief is original and not hoist.kato.installed()
    with pytest.raises(NotFound):
        hoist.kato.stats()
    with pytest.raises(NotFound):
        hoist.kato.sync()


@pytest.mark.parametrize(
    ("name", "value"),
    [("HOIST_KATO", "perhaps"), ("HOIST_KATO_REFRESH", "-1"), ("HOIST_KATO_SYNC_PATTERNS", "many"),
     ("HOIST_KATO_REFRESH", "nan")],
)
def test_impossible_settings(name, value):
    with pytest.raises(InvalidArgument, match=name):
        Settings.from_environment({name: value})


def test_settings_of_the_environment():
    assert Settings.from_environment({}) == Settings()
    assert Settings.from_environment(
        {"HOIST_KATO": "off", "HOIST_KATO_NODES": "a*", "HOIST_KATO_DEVICE": "cpu",
         "HOIST_KATO_MAX_MEMORY": "1000", "HOIST_KATO_SYNC_PATTERNS": "7",
         "HOIST_KATO_SYNC_INTERVAL": "9", "HOIST_KATO_REFRESH": "0.5"}
    ) == Settings(False, "a*", "cpu", 1000, 7, 9, 0.5)


STAND_IN = {
    "searches/pattern_search.py": "class PatternSearcher:\n"
    "    async def causalBeliefAsync(self): pass\n    def causalBelief(self): pass\n"
    "    def clearPatternsFromRAM(self): pass\n    def delete_pattern(self): pass\n",
    "workers/pattern_processor.py": "class PatternProcessor:\n"
    "    def learn(self): pass\n    async def predictPattern(self): pass\n"
    "    async def finalize_training(self): pass\n",
    "representations/prediction.py": "class Prediction(dict): pass\n",
    "storage/redis_writer.py": "class RedisWriter: pass\n",
}


def launch(folder, *arguments):
    return subprocess.run(
        [sys.executable, "-m", "hoist.kato", *arguments],
        env={**os.environ, "PYTHONPATH": f"{folder}{os.pathsep}{os.environ['PYTHONPATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_launcher(tmp_path):
    for path, text in STAND_IN.items():
        (tmp_path / "kato" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "kato" / path).write_text(text)
    (tmp_path / "app.py").write_text(
        "import sys, hoist.kato\nprint(__name__, hoist.kato.installed(), sys.argv[1:])\n"
    )
    assert launch(tmp_path, "app", "--port", "1").stdout == "__main__ True ['--port', '1']\n"
    assert launch(tmp_path).returncode == 2
    assert "hoist.kato" in launch(tmp_path, "--help").stdout
    without = tmp_path / "empty"
    without.mkdir()
    assert "No module named 'kato'" in launch(without, "app").stderr
