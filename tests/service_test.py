#!/usr/bin/env python3
"""Black-box tests of `hoist match serve`: each endpoint, each error, each key of a session's
configuration, and flows as KATO's documentation tells them."""

import json
import math
import random
import struct
import time
import unittest

from service_case import ServiceCase, SharedServerCase, python_reprs_sha1

DEFAULTS = {
    "max_pattern_length": 0, "persistence": 5, "recall_threshold": 0.1, "stm_mode": "CLEAR",
    "indexer_type": "VI", "max_predictions": 100, "sort_symbols": True, "process_predictions": True,
    "use_token_matching": True, "rank_sort_algo": "potential", "filter_pipeline": [],
    "length_min_ratio": 0.5, "length_max_ratio": 2.0, "jaccard_threshold": 0.3,
    "jaccard_min_overlap": 2, "minhash_threshold": 0.7, "minhash_bands": 20, "minhash_rows": 5,
    "minhash_num_hashes": 100, "bloom_false_positive_rate": 0.01,
    "max_candidates_per_stage": 100000, "enable_filter_metrics": True}
# For each key the values at the ends of its range, and values beyond.
RANGES = {
    "recall_threshold": ([0, 0.0, 1, 0.5], [-0.1, 1.1, "high", [], True]),
    "persistence": ([1, 100], [0, 101, 1.5, "5"]),
    "max_pattern_length": ([0, 1, 10**6], [-1, 1.5, "5"]),
    "max_predictions": ([1, 10000], [0, 10001, "5"]),
    "fuzzy_token_threshold": ([0, 1, 0.85], [-0.1, 1.1, "0.5"]),
    "stm_mode": (["CLEAR", "ROLLING"], [5, []]),
    "indexer_type": (["VI", "LSH", "ANNOY", "FAISS"], ["BM25", 5]),
    "use_token_matching": ([True, False], ["yes", 1]),
    "sort_symbols": ([True, False], ["yes", 1]),
    "process_predictions": ([True, False], ["no", 0]),
    "enable_filter_metrics": ([True, False], ["no", 0]),
    "affinity_emotive": (["joy"], [5, ["joy"]]),
    "filter_pipeline": ([[], ["length", "jaccard"], ["minhash", "bloom", "rapidfuzz"]],
                        ["length", ["sieve"], [5]]),
    "length_min_ratio": ([0.0, 1.0], [-0.1, 1.1]),
    "length_max_ratio": ([1.0, 10.0], [0.9, "2"]),
    "jaccard_threshold": ([0.0, 1.0], [-0.1, 1.1]),
    "jaccard_min_overlap": ([1, 100], [0, 1.5]),
    "minhash_threshold": ([0.0, 1.0], [-0.1, 1.1]),
    "minhash_bands": ([1, 100], [0, 101]),
    "minhash_rows": ([1, 20], [0, 21]),
    "minhash_num_hashes": ([10, 256], [9, 257]),
    "bloom_false_positive_rate": ([0.0001, 0.1], [0, 0.2]),
    "max_candidates_per_stage": ([100, 10**7], [99, "many"]),
    "rank_sort_algo": ([
        "potential", "similarity", "evidence", "confidence", "snr", "fragmentation", "frequency",
        "normalized_entropy", "global_normalized_entropy", "itfdf_similarity", "confluence",
        "predictive_information", "bayesian_posterior", "bayesian_prior", "bayesian_likelihood",
        "tfidf_score", "weighted_similarity", "weighted_evidence", "weighted_confidence",
        "weighted_snr"], ["best", 5]),
}
FIELDS = {
    "type", "name", "frequency", "emotives", "matches", "past", "present", "future", "sequence",
    "missing", "extras", "anomalies", "potential", "similarity", "evidence", "confidence", "snr",
    "fragmentation", "weighted_similarity", "weighted_evidence", "weighted_confidence",
    "weighted_snr", "entropy", "normalized_entropy", "global_normalized_entropy",
    "itfdf_similarity", "tfidf_score", "confluence", "predictive_information",
    "pattern_probability", "weighted_strength", "bayesian_posterior", "bayesian_prior",
    "bayesian_likelihood"}


class Sessions(SharedServerCase):
    def test_made_and_looked_at(self):
        made = self.client.session(self.node, metadata={"who": "me"}, ttl_seconds=120).made
        self.assertEqual((made["node_id"], made["ttl_seconds"], made["metadata"]),
                         (self.node, 120, {"who": "me"}))
        self.assertLess(made["created_at"], made["expires_at"])
        status, seen = self.client.get(f"/sessions/{made['session_id']}")
        self.assertEqual(status, 200)
        for key in ("session_id", "node_id", "created_at", "metadata", "session_config"):
            self.assertEqual(seen[key], made[key])
        self.assertLessEqual(seen["ttl_seconds"], 120)

    def test_counted_and_deleted(self):
        before = self.client.get("/sessions/count")[1]["active_session_count"]
        one, other = self.session(), self.session()
        self.assertNotEqual(one.id, other.id)
        self.assertEqual(self.client.get("/sessions/count")[1]["active_session_count"], before + 2)
        self.assertEqual(self.client.ask("DELETE", one.path),
                         (200, {"status": "deleted", "session_id": one.id}))
        self.assertEqual(self.client.ask("DELETE", one.path)[0], 404)
        self.assertEqual(self.client.get("/sessions/count")[1]["active_session_count"], before + 1)
        self.assertFalse(self.client.get(f"{one.path}/exists")[1]["exists"])
        self.assertTrue(self.client.get(f"{other.path}/exists")[1]["exists"])

    def test_expire_and_extend(self):
        session = self.client.session(self.node, ttl_seconds=1)
        extended = self.client.session(self.node, ttl_seconds=5)
        self.assertEqual(self.client.ask("POST", f"{extended.path}/extend?ttl_seconds=100")[0], 200)
        deadline = time.monotonic() + 60
        while self.client.get(f"{session.path}/exists")[1]["exists"]:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.1)
        self.assertEqual(self.client.get(f"{session.path}/stm")[0], 404)
        self.assertEqual(self.client.get(f"{extended.path}/stm")[0], 200)

    def test_what_no_session_can_be_made_of(self):
        for body, place in (({}, ["body", "node_id"]), ({"node_id": 5}, ["body", "node_id"]),
                            ({"node_id": "n", "metadata": 5}, ["body", "metadata"]),
                            ({"node_id": "n", "ttl_seconds": "long"}, ["body", "ttl_seconds"]),
                            ({"node_id": "n", "config": []}, ["body", "config"])):
            with self.subTest(body=body):
                status, answer = self.client.post("/sessions", body)
                self.assertEqual(status, 422)
                self.assertIn(place, [fault["loc"] for fault in answer["detail"]])
                self.assertLessEqual({"type", "loc", "msg", "input"}, answer["detail"][0].keys())
        self.assertEqual(self.client.post("/sessions", {"node_id": ""})[0], 400)

    def test_of_no_session(self):
        for method, what in (("GET", ""), ("DELETE", ""), ("GET", "/stm"), ("GET", "/config"),
                             ("GET", "/predictions"), ("POST", "/observe"), ("POST", "/learn"),
                             ("POST", "/observe-sequence"), ("POST", "/clear-stm"),
                             ("POST", "/clear-all"), ("POST", "/config"), ("POST", "/extend"),
                             ("POST", "/finalize-training")):
            with self.subTest(method=method, what=what):
                body = {"strings": ["a"], "observations": []} if method == "POST" else None
                status, answer = self.client.ask(method, f"/sessions/session-nowhere{what}", body)
                self.assertEqual(status, 404)
                self.assertIn("session-nowhere", answer["detail"])
        self.assertEqual(self.client.get("/sessions/session-nowhere/exists")[1]["exists"], False)

    def test_wrong_paths_and_methods(self):
        self.assertEqual(self.client.get("/nowhere"), (404, {"detail": "Not Found"}))
        self.assertEqual(self.client.ask("PUT", "/sessions/count")[0], 405)
        self.assertIn("GET", self.client.headers["allow"])


class Configuration(SharedServerCase):
    def test_defaults(self):
        session = self.session()
        config = session.ask("GET", "/config")["config"]
        for key, value in DEFAULTS.items():
            self.assertEqual(config[key], value, key)
        self.assertEqual(session.made["session_config"], config)

    def test_each_key_and_its_range(self):
        session = self.session()
        for key, (good, bad) in RANGES.items():
            for value in good:
                with self.subTest(key=key, value=value):
                    session.configure(**{key: value})
                    self.assertEqual(session.ask("GET", "/config")["config"][key], value)
            for value in bad:
                with self.subTest(key=key, value=value):
                    status, answer = self.client.post(f"{session.path}/config",
                                                      {"config": {key: value}})
                    self.assertEqual(status, 400, answer)
                    self.assertEqual(list(answer["detail"]["validation_errors"]), [key])
                    self.assertEqual(session.ask("GET", "/config")["config"][key], good[-1])

    def test_all_or_nothing(self):
        session = self.session()
        status, answer = self.client.post(f"{session.path}/config", {
            "config": {"recall_threshold": 0.7, "persistence": 1000, "max_predictions": 0}})
        self.assertEqual(status, 400)
        self.assertEqual(set(answer["detail"]["validation_errors"]), {"persistence", "max_predictions"})
        self.assertEqual(session.ask("GET", "/config")["config"]["recall_threshold"], 0.1)

    def test_flat_body_and_creation(self):
        session = self.session(recall_threshold=0.4)
        self.assertEqual(session.made["session_config"]["recall_threshold"], 0.4)
        session.ask("POST", "/config", {"max_predictions": 7})
        config = session.ask("GET", "/config")["config"]
        self.assertEqual((config["recall_threshold"], config["max_predictions"]), (0.4, 7))
        status, _ = self.client.post("/sessions", {"node_id": "n", "config": {"persistence": 0}})
        self.assertEqual(status, 400)

    def test_other_modes_are_clear(self):
        session = self.session(stm_mode="ROLLING")
        session.configure(stm_mode="SOMEHOW")
        self.assertEqual(session.ask("GET", "/config")["config"]["stm_mode"], "CLEAR")

    def test_null_is_the_default_again(self):
        session = self.session(recall_threshold=0.9)
        session.configure(recall_threshold=None)
        self.assertEqual(session.ask("GET", "/config")["config"]["recall_threshold"], 0.1)


class Observing(SharedServerCase):
    def test_answer(self):
        session = self.session()
        answer = session.observe("b", "a")
        self.assertEqual(answer["status"], "okay")
        self.assertEqual(answer["stm_length"], 1)
        self.assertEqual(answer["time"], 1)
        self.assertIsNone(answer["auto_learned_pattern"])
        self.assertEqual(answer["session_id"], session.id)
        self.assertNotEqual(answer["unique_id"], session.observe("c")["unique_id"])
        self.assertEqual(session.stm(), [["a", "b"], ["c"]])

    def test_empty_observations_leave_no_event(self):
        session = self.session()
        session.observe()
        session.observe(emotives={"joy": 1.0})
        self.assertEqual(session.stm(), [])

    def test_symbols_are_kept_as_they_are(self):
        session = self.session()
        symbols = ["", " ", "ü", "日本", "a\nb", "'\"\\", "\x00", "🦀", "VCTR|x", "x" * 1000]
        session.observe(*symbols)
        self.assertEqual(session.stm(), [sorted(symbols)])

    def test_vectors(self):
        session = self.session()
        session.observe(vectors=[[1.0, 2.0], [0.5, 0.5]])
        session.observe(vectors=[[1.5, 2.5]])
        first, second = session.stm()
        self.assertTrue(first[0].startswith("VCTR|"))
        self.assertEqual(first, second, "vectors of an observation are summed")

    def test_a_refused_observation_leaves_nothing(self):
        session = self.session()
        session.observe("a", vectors=[[1, 2]], emotives={"joy": 1.0}, metadata={"k": "v"})
        before = [session.ask("GET", what) for what in ("/stm", "/percept-data")]
        status, _ = self.client.post(f"{session.path}/observe", {
            "strings": ["b"], "vectors": [[1, 2], [1, 2, 3]], "emotives": {"joy": 3.0}, "metadata": {"k": "w"}})
        self.assertEqual(status, 400)
        self.assertEqual([session.ask("GET", what) for what in ("/stm", "/percept-data")], before)
        self.assertEqual(session.ask("POST", "/observe", {"strings": ["c"]})["time"], 2)
        name = session.learn()
        found = self.client.get(f"/pattern/{name}?node_id={self.node}")[1]["pattern"]["pattern"]
        self.assertEqual((found["emotives"], found["metadata"]), ([{"joy": 1.0}], {"k": ["v"]}))

    def test_dimensions(self):
        session = self.session()
        session.observe("a", vectors=[[1.0, 2.0]])
        session.observe("b")
        session.learn()
        status, answer = self.client.post(f"{session.path}/observe", {"strings": [],
                                                                      "vectors": [[1.0]]})
        self.assertEqual(status, 400)
        self.assertEqual(answer["detail"]["error"], "VectorDimensionError")

    def test_sequence(self):
        session = self.session()
        answer = session.observe_all([["a"], {"strings": ["b"], "unique_id": "mine"}, ["c"]])
        self.assertEqual((answer["status"], answer["observations_processed"]), ("completed", 3))
        self.assertEqual((answer["initial_stm_length"], answer["final_stm_length"]), (0, 3))
        self.assertEqual([result["stm_length"] for result in answer["results"]], [1, 2, 3])
        self.assertEqual(answer["results"][1]["unique_id"], "mine")
        self.assertFalse(answer["isolated"])
        self.assertIsNone(answer["final_learned_pattern"])

    def test_sequence_that_learns(self):
        session = self.session()
        answer = session.observe_all([["a"], ["b"]], learn_at_end=True)
        self.assertEqual(answer["final_learned_pattern"],
                         "PTRN|" + python_reprs_sha1([["a"], ["b"]]))
        self.assertEqual(answer["final_stm_length"], 0)
        answer = session.observe_all([["a", "b"], ["c", "d"]], learn_after_each=True)
        self.assertEqual(answer["auto_learned_patterns"],
                         ["PTRN|" + python_reprs_sha1([event]) for event in (["a", "b"], ["c", "d"])])
        answer = session.observe_all([["a"], ["b"]], clear_stm_between=True)
        self.assertTrue(answer["isolated"])
        self.assertEqual(session.stm(), [["b"]])

    def test_a_sequence_is_taken_whole_or_not(self):
        session = self.session()
        session.observe("a")
        body = {"observations": [{"strings": ["b"]}, {"strings": "c"}]}
        self.assertEqual(self.client.post(f"{session.path}/observe-sequence", body)[0], 422)
        self.assertEqual(session.stm(), [["a"]])

    def test_wrong_bodies(self):
        session = self.session()
        for body in ({"strings": "a"}, {"strings": [1]}, {"strings": ["a"], "vectors": [1]},
                     {"strings": ["a"], "vectors": [["x"]]}, {"strings": ["a"], "emotives": []},
                     {"strings": ["a"], "emotives": {"joy": "much"}}, {"strings": None}, [], 5, None,
                     "text", {"strings": [["a"]]}):
            with self.subTest(body=body):
                status, answer = self.client.ask("POST", f"{session.path}/observe",
                                                 json.dumps(body).encode())
                self.assertEqual(status, 422)
                self.assertIsInstance(answer["detail"], list)
        for body in (b"", b"{", b"\xff\xfe", b'{"strings": ["\xc3\x28"]}', b"{'strings': []}",
                     b'{"strings": ["a"]} and', b"[" * 10000, b'{"strings": ["\\ud800"]}',
                     b'{"strings": [1e999]}', b"NaN"):
            with self.subTest(body=body[:40]):
                status, _ = self.client.ask("POST", f"{session.path}/observe", body)
                self.assertIn(status, (400, 422))
        self.assertEqual(session.stm(), [])
        for body in ({}, {"observations": {}}, {"observations": [5]}):
            with self.subTest(body=body):
                self.assertEqual(self.client.post(f"{session.path}/observe-sequence", body)[0], 422)


class Learning(SharedServerCase):
    def test_names_are_the_references(self):
        session = self.session()
        for events in ([["a"], ["b"], ["c"]], [["b", "a"], ["it's"]], [['"', "'"], ["\n", "ü"]]):
            self.assertEqual(session.teach(*events), "PTRN|" + python_reprs_sha1(events))
            self.assertEqual(session.stm(), [])

    def test_nothing_to_learn(self):
        session = self.session()
        status, answer = self.client.post(f"{session.path}/learn")
        self.assertEqual((status, answer["detail"]), (400, "Cannot learn from empty STM"))
        session.observe("alone")
        self.assertEqual(session.learn(), "")

    def test_again(self):
        session = self.session()
        name = session.teach(["a"], ["b"])
        self.assertEqual(session.teach(["a"], ["b"]), name)
        found = self.client.get(f"/pattern/{name}?node_id={self.node}")[1]["pattern"]["pattern"]
        self.assertEqual((found["frequency"], found["pattern_data"], found["length"]),
                         (2, [["a"], ["b"]], 2))

    def test_automatic(self):
        session = self.session(max_pattern_length=3)
        session.observe("a")
        session.observe("b")
        learned = session.observe("c")["auto_learned_pattern"]
        self.assertEqual(learned, "PTRN|" + python_reprs_sha1([["a"], ["b"], ["c"]]))
        self.assertEqual(session.stm(), [])
        rolling = self.session(max_pattern_length=3, stm_mode="ROLLING")
        answers = [rolling.observe(symbol)["auto_learned_pattern"] for symbol in "abcd"]
        self.assertEqual(answers[2:], ["PTRN|" + python_reprs_sha1([[x] for x in part])
                                       for part in ("abc", "bcd")])
        self.assertEqual(rolling.stm(), [["c"], ["d"]])

    def test_emotives(self):
        session = self.session(persistence=2)
        for joy in (0.2, 0.4, 0.6):
            fresh = self.client.session(self.node, config={"persistence": 2})
            fresh.observe("a", emotives={"joy": joy})
            fresh.observe("b")
            name = fresh.learn()
        found = self.client.get(f"/pattern/{name}?node_id={self.node}")[1]["pattern"]["pattern"]
        self.assertEqual(found["frequency"], 3)
        self.assertEqual(found["emotives"][-1], {"joy": 0.6})
        predicted = session.recall(["a"], ["b"])[0]
        self.assertAlmostEqual(
            predicted["emotives"]["joy"],
            sum(entry["joy"] for entry in found["emotives"]) / len(found["emotives"]))

    def test_metadata(self):
        session = self.session()
        session.observe("a", metadata={"book": "one"})
        session.observe("b", metadata={"book": "two", "page": 5})
        name = session.learn()
        found = self.client.get(f"/pattern/{name}?node_id={self.node}")[1]["pattern"]["pattern"]
        self.assertEqual(sorted(found["metadata"]["book"]), ["one", "two"])
        self.assertEqual(found["metadata"]["page"], ["5"])

    def test_numbers_are_written_as_python_writes_them(self):
        bits = random.Random(11)
        numbers = [struct.unpack("<d", bits.randbytes(8))[0] for _ in range(300)]
        numbers += [bits.uniform(-1, 1) * 10 ** bits.randrange(-8, 20) for _ in range(300)]
        numbers += [5e-324, -5e-324, 2.2250738585072014e-308, 1e16, 1e15, 1e-4, 1e-5, 0.0, -0.0, 1.7976931348623157e308]
        numbers = [number for number in numbers if math.isfinite(number)]
        session = self.session()
        session.observe("a", metadata={"numbers": numbers})
        session.observe("b")
        name = session.learn()
        found = self.client.get(f"/pattern/{name}?node_id={self.node}")[1]["pattern"]["pattern"]
        self.assertEqual(found["metadata"], {"numbers": [str(numbers)]})

    def test_unknown_pattern(self):
        answer = self.client.get(f"/pattern/PTRN|nothing?node_id={self.node}")[1]
        self.assertEqual(answer["pattern"]["status"], "error")

    def test_deleting(self):
        session = self.session()
        name = session.teach(["a"], ["b"])
        status, _ = self.client.ask("DELETE", f"/pattern/{name}?node_id={self.node}")
        self.assertEqual(status, 200)
        self.assertEqual(session.recall(["a"], ["b"]), [])
        self.assertEqual(self.client.ask("DELETE", f"/pattern/{name}?node_id={self.node}")[0], 404)

    def test_clearing(self):
        session = self.session()
        session.teach(["a"], ["b"])
        session.observe("a")
        session.clear()
        self.assertEqual(session.stm(), [])
        self.assertEqual(len(session.recall(["a"], ["b"])), 1)
        session.ask("POST", "/clear-all", {})
        self.assertEqual(session.stm(), [])
        self.assertEqual(session.recall(["a"], ["b"]), [])
        session.clear()
        self.assertEqual(session.teach(["a"], ["b"]), "PTRN|" + python_reprs_sha1([["a"], ["b"]]))


class Predicting(SharedServerCase):
    def test_every_field(self):
        session = self.session()
        session.teach(["a"], ["b", "c"], ["d"], ["e"])
        prediction = session.recall(["b", "x"], ["d"])[0]
        self.assertLessEqual(FIELDS, prediction.keys())
        for key, value in {
                "past": [["a"]], "present": [["b", "c"], ["d"]], "future": [["e"]],
                "missing": [["c"], []], "extras": [["x"], []], "matches": ["b", "d"],
                "frequency": 1, "sequence": [["a"], ["b", "c"], ["d"], ["e"]], "evidence": 0.4,
                "type": "prototypical", "name": python_reprs_sha1(
                    [["a"], ["b", "c"], ["d"], ["e"]])}.items():
            self.assertEqual(prediction[key], value, key)
        self.assertEqual(prediction["similarity"], 2.0 * 2 / 8 * 100.0 / 100.0)
        answer = session.ask("GET", "/predictions")
        self.assertEqual(answer["count"], len(answer["predictions"]))
        self.assertEqual(answer["session_id"], session.id)

    def test_threshold_and_number(self):
        session = self.session()
        for i in range(10):
            session.teach(["a"], ["b"], *[[f"{i}{j}"] for j in range(i)])
        session.configure(recall_threshold=1.0)
        self.assertEqual([one["similarity"] for one in session.recall(["a"], ["b"])], [1.0])
        session.configure(recall_threshold=0.5)
        similarities = [one["similarity"] for one in session.recall(["a"], ["b"])]
        self.assertEqual(len(similarities), 5)
        self.assertTrue(all(similarity >= 0.5 for similarity in similarities))
        session.configure(recall_threshold=0.0, max_predictions=3)
        self.assertEqual(len(session.recall(["a"], ["b"])), 3)

    def test_ranking(self):
        session = self.session()
        session.teach(["a"], ["b"], ["c"], ["d"])
        for _ in range(3):
            session.teach(["a"], ["x"], ["y"])
        for key in ("similarity", "frequency", "evidence", "potential"):
            session.configure(rank_sort_algo=key)
            ranked = [one[key] for one in session.recall(["a"], ["b"], ["c"])]
            self.assertEqual(len(ranked), 2)
            self.assertEqual(ranked, sorted(ranked, reverse=True), key)

    def test_no_state_and_one_symbol(self):
        session = self.session()
        session.teach(["a"], ["b"])
        session.teach(["b"], ["a"])
        session.clear()
        self.assertEqual(session.predictions(), [])
        found = session.recall(["a"])
        self.assertEqual([one["sequence"] for one in found], [[["a"], ["b"]]])

    def test_fuzzy(self):
        session = self.session(fuzzy_token_threshold=0.7, recall_threshold=0.3)
        session.teach(["kitten"], ["sits"])
        prediction = session.recall(["kiten"], ["sits"])[0]
        self.assertEqual([(one["observed"], one["expected"]) for one in prediction["anomalies"]],
                         [("kiten", "kitten")])

    def test_characters(self):
        session = self.session(use_token_matching=False, recall_threshold=0.5)
        session.teach(["hello"], ["world"])
        self.assertEqual(len(session.recall(["hello"], ["worlds"])), 1)

    def test_future_potentials(self):
        session = self.session()
        session.teach(["a"], ["b"], ["c"])
        session.teach(["a"], ["b"], ["d"])
        session.recall(["a"], ["b"])
        potentials = session.ask("GET", "/predictions")["future_potentials"]
        self.assertEqual(sorted(one["future"] for one in potentials), [[["c"]], [["d"]]])
        for one in potentials:
            self.assertAlmostEqual(one["aggregate_potential"], 0.5)
            self.assertEqual(one["supporting_patterns"], 1)

    def test_what_is_learned_is_in_the_next_prediction(self):
        session, reader = self.session(), self.session()
        reader.observe_all([["a"], ["b"]])
        for i in range(50):
            session.teach(["a"], ["b"], [f"{i}"])
            self.assertEqual(len(reader.predictions()), i + 1)

    def test_bulk_is_one_by_one(self):
        session = self.session(recall_threshold=0.2)
        for i in range(40):
            session.teach([f"{i % 7}"], [f"{i % 5}", "z"], [f"{i % 3}"])
        states = [[[f"{i % 7}"], ["z", f"{i % 4}"]] for i in range(300)] + [[], [["0"]]]
        status, answer = self.client.post("/predictions", {
            "node_id": self.node, "states": states, "config": {"recall_threshold": 0.2}})
        self.assertEqual(status, 200)
        self.assertEqual(len(answer["results"]), len(states))
        for state, result in list(zip(states, answer["results"]))[::29] + [([["0"]],
                                                                           answer["results"][-1])]:
            self.assertEqual(result["predictions"], session.recall(*state))
        self.assertEqual(answer["results"][-2]["predictions"], [])

    def test_wrong_bulks(self):
        for body in ({}, {"node_id": self.node}, {"node_id": self.node, "states": 5},
                     {"node_id": self.node, "states": [["a"]]}, {"states": []},
                     {"node_id": self.node, "states": [], "config": {"persistence": 0}}):
            with self.subTest(body=body):
                self.assertEqual(self.client.post("/predictions", body)[0], 422)


class Nodes(SharedServerCase):
    def test_are_apart(self):
        one, other = self.client.session(self.node + "1"), self.client.session(self.node + "2")
        one.teach(["a"], ["b"])
        self.assertEqual(other.recall(["a"], ["b"]), [])
        self.assertEqual(len(one.recall(["a"], ["b"])), 1)
        other.ask("POST", "/clear-all", {})
        self.assertEqual(len(one.recall(["a"], ["b"])), 1)

    def test_share_patterns_and_not_memory(self):
        one, other = self.session(), self.session()
        one.teach(["a"], ["b"])
        one.observe("c")
        self.assertEqual(other.stm(), [])
        self.assertEqual(len(other.recall(["a"], ["b"])), 1)
        self.assertEqual(one.stm(), [["c"]])

    def test_names_are_no_paths(self):
        for i, name in enumerate(("../../etc", "a/b", ".", "..", "ü 日本", "x" * 300, "a\nb", "%2e%2e",
                                  "COM1", "a;rm -rf", "'; DROP TABLE")):
            with self.subTest(name=name):
                session = self.client.session(name)
                session.teach(["a"], [f"{i}"])
                found = self.client.session(name).recall(["a"], [f"{i}"])
                self.assertEqual([one["sequence"] for one in found], [[["a"], [f"{i}"]]])
        outside = [path for path in self.server.folder.parent.rglob("*")
                   if self.server.folder not in (path, *path.parents)]
        self.assertEqual(outside, [])

    def test_symbols(self):
        session = self.session()
        session.observe("a", emotives={"joy": 0.5})
        session.observe("b")
        session.learn()
        session.teach(["a"], ["c", "a"])
        symbols = self.client.get(f"/symbols/stats?node_id={self.node}")[1]["symbols"]
        self.assertEqual((symbols["a"]["frequency"], symbols["a"]["pattern_member_frequency"]), (3, 2))
        affinities = self.client.get(f"/symbols/affinity?node_id={self.node}")[1]["affinities"]
        self.assertEqual(self.client.get(f"/symbols/a/affinity?node_id={self.node}")[1]["affinity"],
                         affinities["a"])
        self.assertEqual(self.client.get(f"/symbols/none/affinity?node_id={self.node}")[1]["affinity"],
                         {})

    def test_export_and_import(self):
        session = self.session()
        session.observe("a", emotives={"joy": 0.5}, metadata={"page": 1})
        session.observe("b")
        session.learn()
        session.teach(["ü"], ["日本", "c"])
        status, text = self.client.get(f"/nodes/{self.node}/patterns")
        self.assertEqual(status, 200)
        self.assertEqual(len(text.splitlines()), 2)
        status, answer = self.client.ask("POST", f"/nodes/{self.node}copy/patterns", text.encode())
        self.assertEqual((status, answer["patterns_learned"]), (200, 2))
        copied = self.client.get(f"/nodes/{self.node}copy/patterns")[1]
        self.assertEqual(sorted(copied.splitlines()), sorted(text.splitlines()))
        other = self.client.session(self.node + "copy")
        self.assertEqual(other.recall(["a"], ["b"]), session.recall(["a"], ["b"]))

    def test_import_of_wrong_lines(self):
        good = b'{"events": [["a"], ["b"]]}\n'
        for line in (b"{", b"5", b'{"events": 5}', b'{"events": [["a", 5]]}', b"\xff\xff",
                     b'{"events": [["a"], ["b"]], "frequency": 1e999}'):
            with self.subTest(line=line):
                status, answer = self.client.ask(
                    "POST", f"/nodes/{self.node}/patterns", good + line + b"\n" + good)
                self.assertEqual((status, answer["detail"]["line"],
                                  answer["detail"]["patterns_learned"]), (400, 2, 1))

    def test_looking_makes_no_node(self):
        for method, path in (("GET", "snapshots"), ("DELETE", "snapshots/20200101T000000Z-0000"),
                             ("POST", "snapshots/20200101T000000Z-0000/restore"), ("GET", "patterns")):
            status, _ = self.client.ask(method, f"/nodes/nobody's/{path}", {} if method == "POST" else None)
            self.assertIn(status, (200, 404), (method, path))
        names = [node["node_id"] for node in self.client.get("/nodes")[1]["nodes"]]
        self.assertNotIn("nobody's", names)

    def test_snapshots(self):
        session = self.session()
        session.teach(["a"], ["b"])
        status, made = self.client.post(f"/nodes/{self.node}/snapshots")
        self.assertEqual(status, 200, made)
        session.teach(["a"], ["c"])
        self.assertEqual(len(session.recall(["a"], ["x"])), 2)
        listed = self.client.get(f"/nodes/{self.node}/snapshots")[1]["snapshots"]
        self.assertEqual([one["snapshot"] for one in listed], [made["snapshot"]])
        place = f"/nodes/{self.node}/snapshots/{made['snapshot']}"
        self.assertEqual(self.client.post(f"{place}/restore")[0], 200)
        self.assertEqual([one["sequence"] for one in session.recall(["a"], ["x"])], [[["a"], ["b"]]])
        self.assertEqual(self.client.ask("DELETE", place)[0], 200)
        self.assertEqual(self.client.post(f"{place}/restore")[0], 404)
        self.assertEqual(self.client.post(f"/nodes/{self.node}/snapshots/..%2f..%2fx/restore")[0], 404)


class Watching(SharedServerCase):
    def test_answers(self):
        self.session().teach(["a"], ["b"])
        for path in ("/health", "/status", "/metrics", "/stats", "/concurrency", "/cache/stats",
                     "/connection-pools", "/distributed-stm/stats", "/live", "/openapi.json"):
            with self.subTest(path=path):
                status, answer = self.client.get(path)
                self.assertEqual(status, 200)
                self.assertIsInstance(answer, dict)
        self.assertEqual(self.client.get("/health")[1]["status"], "healthy")
        status, page = self.client.get("/", headers={"accept": "text/html"})
        self.assertIn((status, "<!doctype html>" in page.lower()), [(200, True)])

    def test_prometheus(self):
        session = self.session()
        session.teach(["a"], ["b"])
        session.recall(["a"], ["b"])
        status, text = self.client.get("/metrics/prometheus")
        self.assertEqual(status, 200)
        values = [line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#")]
        self.assertGreater(len(values), 10)
        for _, value in values:
            float(value)

    def test_every_path_of_the_description_answers(self):
        description = self.client.get("/openapi.json")[1]
        for path, methods in description["paths"].items():
            for method in methods:
                concrete = path.replace("{", "").replace("}", "")
                status, _ = self.client.ask(method.upper(), concrete,
                                            {} if method == "post" else None)
                self.assertNotIn(status, (405, 500), (method, path))


class Documented(ServiceCase):
    def test_a_days_work(self):
        """A session that observes, learns, forgets and recalls, as the documentation begins."""
        client = self.serve().client()
        session = client.session("user_alice")
        for event in (["hello"], ["world"], ["how", "are"], ["you"]):
            session.observe(*event)
        name = session.learn()
        self.assertTrue(name.startswith("PTRN|"))
        session.observe("hello")
        session.observe("world")
        prediction = session.predictions()[0]
        self.assertEqual("PTRN|" + prediction["name"], name)
        self.assertEqual(prediction["future"], [["are", "how"], ["you"]])
        self.assertEqual(client.session("user_bob").recall(["hello"], ["world"]), [])

    def test_tokens(self):
        tokens = self.folder / "tokens"
        tokens.write_text("secret-one-of-some-length\n")
        tokens.chmod(0o600)
        client = self.serve("--tokens", str(tokens)).client()
        self.assertEqual(client.post("/sessions", {"node_id": "n"})[0], 401)
        for header in ("Bearer wrong", "Basic secret-one-of-some-length", "Bearer "):
            self.assertEqual(client.post("/sessions", {"node_id": "n"},
                                         headers={"authorization": header})[0], 401)
        self.assertEqual(client.post("/sessions", {"node_id": "n"}, headers={
            "authorization": "Bearer secret-one-of-some-length"})[0], 200)

    def test_limits(self):
        client = self.serve("--max-sessions", "2").client()
        client.session()
        client.session()
        status, _ = client.post("/sessions", {"node_id": "shop"})
        self.assertEqual(status, 429)
        self.assertIn("retry-after", client.headers)

    def test_wrong_command_lines(self):
        for arguments in (("--threads", "0"), ("--listen", "nowhere"), ("--sessions", "some"),
                          ("--config", "/nonexistent")):
            with self.subTest(arguments=arguments):
                with self.assertRaises(AssertionError) as raised:
                    self.serve(*arguments)
                self.assertRegex(str(raised.exception), "exit status [12]")

    def test_one_server_a_folder(self):
        self.serve().client().session().teach(["a"], ["b"])
        with self.assertRaises(AssertionError):
            self.serve()


if __name__ == "__main__":
    unittest.main()
