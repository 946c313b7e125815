"""What takes long holds up no others: `hoist match serve` with one loop, and requests that would take
minutes. No test measures time: others are answered while the long ones are still under way."""

import http.client
import json
import os
import pathlib
import random
import select
import time
import unittest

from service_case import ServiceCase

SEED = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(2**32)))
LETTERS = 60_000  # of a symbol: two are compared in some 30 ms


class Long:
    """A request that was sent, and whose answer is not awaited."""

    def __init__(self, server, method, path, body=None):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=120)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        self.connection.request(method, path, body=data)

    def is_under_way(self):
        return not select.select([self.connection.sock], [], [], 0)[0]

    def answer(self):
        answer = self.connection.getresponse()
        return answer.status, json.loads(answer.read())

    def hang_up(self):
        self.connection.close()


class WaitingCase(ServiceCase):
    def serve_one_loop(self, *arguments, **options):
        return self.serve("--threads", "1", "--sessions", "durable", "--grace", "1", *arguments, **options)

    def send(self, server, method, path, body=None):
        sent = Long(server, method, path, body)
        self.addCleanup(sent.hang_up)
        return sent

    def wait_until_under_way(self, server, count, long):
        """Or until `long`, one of them, has its answer: a busy machine may look too late."""
        client = server.client()
        self.addCleanup(client.close)
        end = time.monotonic() + 300
        while long.is_under_way() and client.get("/live")[1]["under_way"] < count + 1:  # and this one
            self.assertLess(time.monotonic(), end)

    def others_are_answered(self, server, node="other"):
        """Every kind of request, for another node and its sessions."""
        client = server.client(timeout=60)
        self.addCleanup(client.close)
        for path in ("/health", "/live", "/metrics", "/nodes", "/sessions/count"):
            self.assertEqual(client.get(path)[0], 200, path)
        session = client.session(node)
        name = session.teach(["a"], ["b"])
        self.assertEqual(client.get(f"/pattern/{name}?node_id={node}")[0], 200)
        self.assertEqual(len(session.recall(["a"])), 1)
        session.ask("GET", "/cognition-data")
        status, answer = client.post("/predictions", {"node_id": node, "states": [[["a"]]]})
        self.assertEqual((status, len(answer["results"])), (200, 1))
        self.assertEqual(client.ask("POST", f"/nodes/{node}/patterns", b'{"events": [["c"], ["d"]]}\n')[0], 200)
        self.assertEqual(client.get(f"/nodes/{node}/patterns")[0], 200)
        status, snapshot = client.post(f"/nodes/{node}/snapshots")
        self.assertEqual(status, 200)
        session.ask("POST", "/clear-all", {})
        restored = f"/nodes/{node}/snapshots/{snapshot['snapshot']}/restore"
        self.assertEqual(client.post(restored)[0], 200)
        self.assertEqual(client.ask("DELETE", f"/nodes/{node}?sessions=end&snapshots=delete")[0], 200)


class Predictions(WaitingCase):
    """Comparing the letters of long symbols."""

    def texts(self, client):
        """A session that asks for 6000 comparisons."""
        rng = random.Random(SEED)
        symbols = ["".join(rng.choices("abcdefgh", k=LETTERS)) for _ in range(200)]
        patterns = [{"events": [[symbols[i], f"{i}"], [symbols[i + 1]]]} for i in range(0, 200, 2)]
        lines = "\n".join(map(json.dumps, patterns)).encode()
        status, answer = client.ask("POST", "/nodes/texts/patterns", lines)
        self.assertEqual(status, 200, answer)
        session = client.session("texts", config={"fuzzy_token_threshold": 0.3, "recall_threshold": 0.0})
        session.observe_all([["".join(rng.choices("abcdefgh", k=LETTERS))] for _ in range(30)])
        return session

    def test_others_are_answered(self):
        server = self.serve_one_loop()
        session = self.texts(server.client())
        for what in ("predictions", "cognition-data"):
            with self.subTest(what=what):
                asked = [self.send(server, "GET", f"{session.path}/{what}") for _ in range(4)]
                self.others_are_answered(server)
                self.assertEqual(len(session.stm()), 30)  # nor is the session held
                self.assertTrue(all(one.is_under_way() for one in asked))
                # Whoever hangs up leaves the threads to others.
                for one in asked:
                    one.hang_up()
                other = server.client().session("small", config={"fuzzy_token_threshold": 0.5})
                other.teach(["hello"], ["world"], ["again"])
                self.assertEqual(len(other.recall(["hallo"], ["world"])), 1)

    def test_bulk(self):
        server = self.serve_one_loop()
        session = self.texts(server.client())
        states = [session.stm()] * 4
        asked = [self.send(server, "POST", "/predictions", {
            "node_id": "texts", "states": states,
            "config": {"fuzzy_token_threshold": 0.3, "recall_threshold": 0.0}}) for _ in range(2)]
        client = server.client()
        other = client.session("small", config={"fuzzy_token_threshold": 0.5})
        other.teach(["hello"], ["world"], ["again"])
        self.assertEqual(len(other.recall(["hallo"], ["world"])), 1)
        self.assertEqual(client.get("/nodes")[0], 200)
        self.assertTrue(all(one.is_under_way() for one in asked))
        for one in asked:
            one.hang_up()
        self.others_are_answered(server)

    def test_an_end(self):
        server = self.serve_one_loop()
        session = self.texts(server.client())
        asked = [self.send(server, "GET", f"{session.path}/{what}") for what in ("predictions", "cognition-data")]
        self.assertEqual(server.client().get("/health")[0], 200)
        self.assertTrue(all(one.is_under_way() for one in asked))
        self.assertEqual(server.end(), 0)


class Observations(WaitingCase):
    """A sequence that learns after each of its observations, all with metadata."""

    def body(self, count=100_000):
        return {"learn_after_each": True, "observations": [
            {"strings": ["a", f"b{i}"], "metadata": {"k": i}, "emotives": {"e": 1}} for i in range(count)]}

    def test_others_are_answered(self):
        server = self.serve_one_loop()
        client = server.client()
        session = client.session("busy")
        asked = self.send(server, "POST", f"{session.path}/observe-sequence", self.body())
        self.others_are_answered(server)
        self.assertTrue(asked.is_under_way())
        # Another request of the session waits for its turn, and takes no loop.
        stm = self.send(server, "GET", f"{session.path}/stm")
        self.others_are_answered(server)
        self.assertTrue(asked.is_under_way() and stm.is_under_way())
        # Who deletes the session does not wait until all is learned.
        self.assertEqual(client.ask("DELETE", session.path)[0], 200)
        self.assertEqual(asked.answer()[0], 404)
        status, answer = stm.answer()
        self.assertEqual((status, answer["stm"]), (200, []))

    def test_only_so_many_wait_for_a_session(self):
        server = self.serve_one_loop("--max-requests", "400")
        client = server.client()
        session = client.session("busy")
        asked = self.send(server, "POST", f"{session.path}/observe-sequence", self.body())
        self.wait_until_under_way(server, 1, asked)
        waiting = [self.send(server, "GET", f"{session.path}/stm") for _ in range(300)]
        self.others_are_answered(server)
        self.assertTrue(asked.is_under_way())
        refused = [one for one in waiting if not one.is_under_way()]
        self.assertEqual([one.answer()[0] for one in refused], [503] * 44)
        self.assertEqual(client.ask("DELETE", session.path)[0], 200)
        self.assertEqual({one.answer()[0] for one in waiting if one not in refused}, {200})

    def test_a_session_lives_while_it_is_used(self):
        """And its time begins anew after a long request."""
        server = self.serve_one_loop()
        client = server.client()
        session = client.session("busy", ttl_seconds=3)
        long = self.send(server, "POST", f"{session.path}/observe-sequence", self.body(20_000))
        self.wait_until_under_way(server, 1, long)
        after = self.send(server, "POST", f"{session.path}/observe", {"strings": ["after"]})
        self.assertEqual((long.answer()[0], after.answer()[0]), (200, 200))
        self.assertEqual(client.get(f"{session.path}/exists")[1]["exists"], True)
        self.assertEqual(session.stm()[-1], ["after"])

    def test_large_sessions(self):
        """Their answers are made by other threads, and are the same."""
        server = self.serve_one_loop()
        session = server.client().session("large")
        events = [[f"{i} {k} " + 1000 * "x" for k in range(20)] for i in range(100)]
        session.observe_all([{"strings": event, "metadata": {"k": ["v" * 1000]}} for event in events])
        events = [sorted(event) for event in events]
        self.assertEqual(session.stm(), events)
        self.assertEqual(session.predictions(), [])
        self.assertEqual(session.ask("GET", "/cognition-data")["cognition_data"]["short_term_memory"], events)
        self.assertEqual(session.ask("GET", "/percept-data")["percept_data"]["strings"], events[-1])
        session.configure(max_predictions=5)
        self.assertEqual(session.ask("GET", "/config")["config"]["max_predictions"], 5)
        session.observe("small")
        session.observe_all([["a"], ["b"]])
        session.learn()
        (found,) = session.recall(*events[:60])
        self.assertEqual((found["present"], found["future"][-1]), (events[:60], ["b"]))
        self.assertEqual(session.recall(*events[:60]), [found])

    def test_requests_of_a_session_keep_their_order(self):
        server = self.serve_one_loop()
        session = server.client().session("busy")
        long = self.send(server, "POST", f"{session.path}/observe-sequence",
                         {**self.body(30_000), "learn_after_each": False, "learn_at_end": False})
        self.wait_until_under_way(server, 1, long)
        short = []
        for i in range(20):
            short.append(self.send(server, "POST", f"{session.path}/observe", {"strings": [f"after{i}"]}))
            self.wait_until_under_way(server, 1 + len(short), long)
        self.assertEqual(long.answer()[0], 200)
        self.assertEqual([one.answer()[0] for one in short], [200] * 20)
        self.assertEqual([event[0] for event in session.stm()[-20:]], [f"after{i}" for i in range(20)])

    def test_an_end(self):
        server = self.serve_one_loop()
        client = server.client()
        kept = client.session("busy")
        kept.observe("before")
        asked = self.send(server, "POST", f"{kept.path}/observe-sequence", self.body())
        self.assertEqual(client.get("/health")[0], 200)
        self.assertTrue(asked.is_under_way())
        self.assertEqual(server.end(), 0)
        client = self.serve_one_loop().client()
        self.assertEqual(client.get(f"{kept.path}/stm")[1]["stm"], [["before"]])


class Learning(WaitingCase):
    """Learning that takes long, and short learning in the same node meanwhile."""

    def learns(self, client, node, events, **options):
        session = client.session(node)
        session.observe_all(events, **options)
        return session

    def test_emotives(self):
        server = self.serve_one_loop()
        client = server.client()
        names = [f"s{i}" for i in range(900)]
        many = {"strings": names, "emotives": {f"e{i}": 1 for i in range(900)}}
        long = [self.learns(client, "busy", [many]) for _ in range(6)]
        short = self.learns(client, "busy", [["a"], {"strings": ["b"], "emotives": {"e": 1}}])
        asked = [self.send(server, "POST", f"{one.path}/learn", {}) for one in [*long, short]]
        self.others_are_answered(server)
        self.assertTrue(any(one.is_under_way() for one in asked))
        self.assertEqual({one.answer()[0] for one in asked}, {200})
        felt = client.get("/symbols/s7/affinity?node_id=busy")[1]["affinity"]
        self.assertEqual((len(felt), felt["e899"]), (900, 6))

    def test_too_many_emotives(self):
        """A small body, and gigabytes of affinities."""
        server = self.serve_one_loop()
        client = server.client()
        before = server.resident()
        many = {"strings": [f"s{i}" for i in range(4000)], "emotives": {f"e{i}": 1 for i in range(4000)}}
        session = self.learns(client, "busy", [many])
        status, answer = client.post(f"{session.path}/learn")
        self.assertEqual((status, len(session.stm()[0])), (400, 4000), answer)
        self.assertIn("16000000 affinities", answer["detail"])
        full = client.session("busy", config={"max_pattern_length": 1})
        self.assertEqual(client.post(f"{full.path}/observe", many)[0], 400)
        self.assertEqual(full.stm(), [])
        lines = json.dumps({"events": [many["strings"]], "emotives": many["emotives"]}).encode()
        self.assertEqual(client.ask("POST", "/nodes/busy/patterns", lines)[0], 400)
        self.assertLess(server.resident() - before, 256 << 20)
        self.others_are_answered(server)

    def test_large_metadata_and_clearing(self):
        server = self.serve_one_loop()
        client = server.client()
        line = json.dumps({"events": [["p"], ["q"]], "metadata": {"m": [f"{i:07}" for i in range(380_000)]}})
        imports = "\n".join([line] * 4).encode()
        self.assertEqual(client.ask("POST", "/nodes/busy/patterns", imports)[0], 200)
        one_more = json.dumps({"events": [["p"], ["q"]], "metadata": {"n": [f"{i:07}" for i in range(380_000)]}})
        status, answer = client.ask("POST", "/nodes/busy/patterns", one_more.encode())
        self.assertEqual(status, 400)
        self.assertIn("4 MiB", answer["detail"]["message"])
        short = [self.learns(client, "busy", [["a"], ["b"]]),
                 self.learns(client, "busy", [["p"], {"strings": ["q"], "metadata": {"m": 1}}])]
        asked = [self.send(server, "POST", "/nodes/busy/patterns", imports) for _ in range(4)]
        asked.append(self.send(server, "POST", f"{client.session('busy').path}/clear-all", {}))
        asked += [self.send(server, "POST", f"{one.path}/learn", {}) for one in short]
        self.others_are_answered(server)
        self.assertEqual({one.answer()[0] for one in asked}, {200})


class Openings(WaitingCase):
    """A node that takes as long to open as the test likes: a file of its store is a pipe."""

    def test_others_are_answered(self):
        server = self.serve_one_loop()
        client = server.client()
        client.session("fast").teach(["a"], ["b"])
        fast = client.session("fast")
        folders = set(pathlib.Path(server.folder).glob("nodes/*"))
        client.session("slow").teach(["a"], ["b"])
        (folder,) = set(pathlib.Path(server.folder).glob("nodes/*")) - folders
        waits = client.session("slow")
        self.assertEqual(server.end(), 0)

        (current,) = folder.rglob("CURRENT")
        text = current.read_bytes()
        current.unlink()
        os.mkfifo(current)
        server = self.serve_one_loop()

        def release():
            """Whoever opens the pipe from then on finds a file."""
            if current.is_fifo():
                pipe = os.open(current, os.O_RDWR)
                current.unlink()
                current.write_bytes(text)
                os.write(pipe, text)
                os.close(pipe)

        self.addCleanup(release)
        asked = [self.send(server, "GET", f"{waits.path}/predictions") for _ in range(20)]
        asked.append(self.send(server, "POST", "/sessions", {"node_id": "slow"}))
        asked.append(self.send(server, "POST", f"{waits.path}/observe", {"strings": ["a", "b"]}))
        asked.append(self.send(server, "POST", f"{waits.path}/learn", {}))
        client = server.client()
        self.assertEqual(client.post(f"{fast.path}/observe", {"strings": ["a"]})[0], 200)
        self.assertEqual(len(client.get(f"{fast.path}/predictions")[1]["predictions"]), 1)
        self.others_are_answered(server)
        self.assertTrue(all(one.is_under_way() for one in asked))
        release()
        self.assertEqual({one.answer()[0] for one in asked}, {200})
        self.assertEqual(server.end(), 0)
        self.assertEqual(len(self.serve_one_loop().client().session("slow").recall(["a"])), 2)


if __name__ == "__main__":
    print(f"HOIST_TEST_SEED = {SEED}")
    unittest.main()
