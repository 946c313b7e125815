#!/usr/bin/env python3
"""`hoist match serve` that is stopped, killed under load, or has no room on its disk."""

import http.client
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
import unittest

from hoist_tree import environment
from service_case import SERVER, ServiceCase, python_reprs_sha1


class Restarts(ServiceCase):
    def test_patterns_survive(self):
        server = self.serve()
        session = server.client().session()
        session.observe("a", emotives={"joy": 0.5}, metadata={"page": 1})
        session.observe("b", vectors=[[1.0, 2.0]])
        name = session.learn()
        found = server.client().get(f"/pattern/{name}?node_id=shop")
        vectors = server.client().session("apart")
        vectors.observe(vectors=[[1.0, 2.0]])
        symbols = vectors.stm()
        predicted = session.recall(["a"], ["b"])
        self.assertEqual(server.end(), 0)
        again = self.serve()
        self.assertEqual(again.client().get(f"/pattern/{name}?node_id=shop"), found)
        self.assertEqual(again.client().session().recall(["a"], ["b"]), predicted)
        vectors = again.client().session("apart")
        vectors.observe(vectors=[[1.0, 2.0]])
        self.assertEqual(vectors.stm(), symbols)

    def test_sessions_in_memory_end(self):
        server = self.serve()
        session = server.client().session()
        server.end()
        client = self.serve().client()
        self.assertEqual(client.get(f"{session.path}/stm")[0], 404)

    def test_durable_sessions_go_on(self):
        server = self.serve("--sessions", "durable")
        session = server.client().session(metadata={"who": "me"}, config={"recall_threshold": 0.4})
        session.observe("a", emotives={"joy": 1.0})
        session.observe("b")
        gone = server.client().session()
        gone.client.ask("DELETE", gone.path)
        server.end(signal.SIGKILL)
        client = self.serve("--sessions", "durable").client()
        status, seen = client.get(session.path)
        self.assertEqual((status, seen["metadata"], seen["session_config"]["recall_threshold"]),
                         (200, {"who": "me"}, 0.4))
        session.client = client
        self.assertEqual(session.stm(), [["a"], ["b"]])
        session.observe("c")
        self.assertEqual(session.learn(), "PTRN|" + python_reprs_sha1([["a"], ["b"], ["c"]]))
        self.assertEqual(client.get(gone.path)[0], 404)

    def test_deleted_stays_deleted(self):
        server = self.serve("--sessions", "durable")
        client = server.client()
        gone, kept = client.session("gone"), client.session("kept")
        for session in (gone, kept):
            session.teach(["a"], ["b"])
        self.assertEqual(client.ask("DELETE", "/nodes/gone")[0], 409)
        status, deleted = client.ask("DELETE", "/nodes/gone?sessions=end")
        self.assertEqual((status, deleted["sessions_ended"]), (200, 1))
        server.end(signal.SIGKILL)
        client = self.serve("--sessions", "durable").client()
        self.assertEqual(client.get(gone.path)[0], 404)
        self.assertEqual(client.get(kept.path)[0], 200)
        self.assertEqual([node["node_id"] for node in client.get("/nodes")[1]["nodes"]], ["kept"])
        self.assertEqual(len(os.listdir(f"{server.folder}/nodes")), 1)

    def test_an_end_keeps_the_time_of_sessions(self):
        server = self.serve("--sessions", "durable")
        client = server.client()
        status, made = client.post("/sessions", {"node_id": "shop", "ttl_seconds": 1000})
        self.assertEqual(status, 200)
        time.sleep(1.1)  # less than an eighth
        path = f"/sessions/{made['session_id']}"
        client.get(path + "/stm")
        before = client.get(path)[1]["expires_at"]
        self.assertEqual(server.end(), 0)
        client = self.serve("--sessions", "durable", "--fixed-ttl").client()
        self.assertEqual(client.get(path)[1]["expires_at"], before)

    def test_cleared_stays_cleared(self):
        server = self.serve()
        session = server.client().session()
        session.teach(["a"], ["b"])
        session.ask("POST", "/clear-all", {})
        session.teach(["c"], ["d"])
        server.end(signal.SIGKILL)
        session = self.serve().client().session()
        self.assertEqual(session.recall(["a"], ["b"]), [])
        self.assertEqual(len(session.recall(["c"], ["d"])), 1)

    def test_requests_under_way_are_answered(self):
        server = self.serve("--grace", "50")
        session = server.client().session()
        for i in range(200):
            session.teach(["a"], ["b"], [f"{i}"])
        body = {"node_id": "shop", "states": [[["a"], ["b"]]] * 2000,
                "config": {"max_predictions": 20}}
        answers = []
        thread = threading.Thread(
            target=lambda: answers.append(server.client().post("/predictions", body)))
        thread.start()
        watcher = server.client()
        while not answers and watcher.get("/concurrency")[1]["current"]["concurrent_requests"] < 2:
            time.sleep(0.001)
        self.assertEqual(server.end(), 0)
        thread.join()
        self.assertEqual(answers[0][0], 200)
        self.assertEqual(len(answers[0][1]["results"]), 2000)


class Killed(ServiceCase):
    def test_what_was_acknowledged_is_there(self):
        """Writers learn until the server is killed; a new one has all that they were told of."""
        for round in range(3):
            server = self.serve(folder=self.folder / f"store{round}")
            acknowledged = [[] for _ in range(4)]

            def write(number, port=server, told=acknowledged):
                try:
                    session = port.client().session("shop" if number % 2 else "other")
                    for i in range(100000):
                        told[number].append(session.teach([f"w{number}"], [f"{i}"], ["end"]))
                except (OSError, AssertionError, json.JSONDecodeError, ConnectionError):
                    pass
                except Exception as error:  # half an answer
                    if type(error).__module__ != "http.client":
                        raise

            threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
            for thread in threads:
                thread.start()
            deadline = time.monotonic() + 60
            while sum(map(len, acknowledged)) < 400 and time.monotonic() < deadline:
                time.sleep(0.01)
            server.end(signal.SIGKILL)
            for thread in threads:
                thread.join()
            told = sum(map(len, acknowledged))
            self.assertGreaterEqual(told, 400)
            client = self.serve(folder=self.folder / f"store{round}").client()
            for number, names in enumerate(acknowledged):
                node = "shop" if number % 2 else "other"
                for name in names:
                    answer = client.get(f"/pattern/{name}?node_id={node}")[1]
                    self.assertEqual(answer["pattern"]["status"], "okay", (number, name, told))
            client.session("shop").teach(["it"], ["goes", "on"])


class KilledSnapshots(ServiceCase):
    def files(self, *places):
        return [path for place in places for path in (self.folder / "store" / place).rglob("*") if path.is_file()]

    def test_nothing_stays_of_one_that_was_cut_short(self):
        """The server is killed as soon as there is a file of it that is no snapshot yet."""
        server = self.serve()
        client = server.client()
        lines = "\n".join(json.dumps({"events": [[f"{i}", f"{k}" + 100 * "x"] for k in range(3)]}) for i in range(50000))
        self.assertEqual(client.ask("POST", "/nodes/shop/patterns", lines.encode())[0], 200)
        status, kept = client.post("/nodes/shop/snapshots")
        self.assertEqual(status, 200)
        whole = self.files("snapshots")

        def make():
            with contextlib.suppress(OSError, http.client.HTTPException):
                server.client().post("/nodes/shop/snapshots")

        maker = threading.Thread(target=make)
        maker.start()
        while self.files("snapshots", "unfinished") == whole:
            pass
        server.end(signal.SIGKILL)
        maker.join()
        self.assertNotEqual(self.files("snapshots", "unfinished"), whole)
        client = self.serve().client()
        self.assertEqual(self.files("snapshots", "unfinished"), whole)
        status, listed = client.get("/nodes/shop/snapshots")
        self.assertEqual((status, [one["snapshot"] for one in listed["snapshots"]]), (200, [kept["snapshot"]]))
        path = f"/nodes/shop/snapshots/{kept['snapshot']}/restore"
        self.assertEqual(client.post(path)[1]["patterns"], 50000)


class KilledSessions(ServiceCase):
    """Durable sessions that are asked for changes until the server is killed: a new one has each as it was after the
    last answer, or after the request that was not answered any more."""

    def model(self, state, request):
        """What the request makes of (short-term memory, number of observations, last string)."""
        events, observations, last = state
        kind, strings = request
        if kind == "clear":
            return [], 0, None
        if kind == "learn":
            return [], observations, last
        for string in strings:
            events = [*events, [string]][-1000:]
            observations, last = observations + 1, string
            if kind == "roll" and len(events) >= 5:
                events = events[-4:]
        return events, observations, last

    def send(self, session, request):
        kind, strings = request
        if kind == "clear":
            session.clear()
        elif kind == "learn":
            session.learn()
        elif len(strings) == 1:
            session.observe(*strings)
        else:
            session.observe_all([[string] for string in strings])

    def change(self, number, session, told, answered):
        chance = random.Random(number)
        rolls = number % 2 == 1
        state = told[number][0]
        for i in range(1_000_000):
            kinds = ["roll"] if rolls else ["observe"] * 20 + ["clear", "learn"]
            kind = chance.choice(kinds)
            count = 1 if chance.random() < 0.7 else chance.choice([2, 5, 40, 1200])
            request = (kind, [f"{number}.{i}.{k}" for k in range(count)])
            if kind == "learn" and not state[0]:
                continue
            after = self.model(state, request)
            told[number] = (state, after)
            try:
                self.send(session, request)
            except (OSError, AssertionError, json.JSONDecodeError, http.client.HTTPException):
                return
            state = after
            told[number] = (state, state)
            answered[number] += 1

    def state_of(self, session):
        told = session.ask("GET", "/cognition-data")["cognition_data"]
        strings = session.ask("GET", "/percept-data")["percept_data"].get("strings")
        return told["short_term_memory"], told["time"], strings and strings[0]

    def test_are_whole(self):
        for round in range(4):
            folder = self.folder / f"store{round}"
            server = self.serve("--sessions", "durable", folder=folder)
            sessions = []
            for number in range(6):
                config = {"max_pattern_length": 5, "stm_mode": "ROLLING"} if number % 2 else {}
                sessions.append(server.client().session(f"node{number}", config=config))
            told = [(([], 0, None),) * 2 for _ in sessions]
            answered = [0] * len(sessions)
            threads = [threading.Thread(target=self.change, args=(number, session, told, answered))
                       for number, session in enumerate(sessions)]
            for thread in threads:
                thread.start()
            deadline = time.monotonic() + 60
            while min(answered) < 50 * (round + 1) and time.monotonic() < deadline:
                time.sleep(0.01)
            server.end(signal.SIGKILL)
            for thread in threads:
                thread.join()
            self.assertGreaterEqual(min(answered), 50 * (round + 1))
            client = self.serve("--sessions", "durable", folder=folder).client()
            for session, states in zip(sessions, told):
                session.client = client
                found = self.state_of(session)
                self.assertIn(found, states)
                session.observe("goes on")
                self.assertEqual(self.state_of(session)[1:], (found[1] + 1, "goes on"))


class FullDisk(ServiceCase):
    def full_until_refused(self, server):
        """Learns until there is no room; the names that were acknowledged."""
        session = server.client().session()
        names = []
        for i in range(100000):
            events = [[f"{i} {k} " + os.urandom(300).hex()] for k in range(4)]
            status, answer = session.client.post(f"{session.path}/observe-sequence", {
                "observations": [{"strings": event} for event in events], "learn_at_end": True})
            if status != 200:
                self.assertIn(status, (500, 503, 507), answer)
                return names
            names.append(answer["final_learned_pattern"])
        self.fail("the disk was never full")

    def test_durable_sessions_on_a_full_disk(self):
        mounted = self.small_disk("24m")
        server = self.serve("--sessions", "durable", folder=mounted / "store")
        session, filler = server.client().session(), mounted / "filler"
        with open(filler, "wb", buffering=0) as file:
            with contextlib.suppress(OSError):
                while True:
                    file.write(bytes(1 << 14))
        client, told = session.client, []
        for i in range(5000):
            status, answer = client.post(f"{session.path}/observe", {"strings": [f"w{i}" + 300 * "y"]})
            if status != 200:
                self.assertIn(status, (500, 503, 507), answer)
                break
            told.append([f"w{i}" + 300 * "y"])
        else:
            self.fail("the disk was never full")
        # Others fail, too, and nothing else happens to the service.
        for i in range(20):
            self.assertIn(client.post("/sessions", {"node_id": f"node {i}"})[0], (500, 503, 507))
        self.assertEqual(client.get("/health")[0], 200)
        # What was refused is not done, neither now nor later.
        self.assertIn(client.ask("DELETE", session.path)[0], (500, 503, 507))
        self.assertEqual(client.post(f"{session.path}/config", {"max_predictions": 7})[0], 500)
        self.assertEqual(client.post(f"{session.path}/clear-stm")[0], 500)
        self.assertEqual(session.stm(), told[-1000:])
        self.assertNotEqual(client.get(f"{session.path}/config")[1]["config"]["max_predictions"], 7)
        filler.unlink()
        self.takes_writes_again(server, [])
        client = self.serve("--sessions", "durable", folder=server.folder).client()
        self.assertEqual(client.get(f"{session.path}/stm")[1]["stm"], told[-1000:])

    def test_who_takes_an_export_slowly_holds_no_mending_up(self):
        """But for the node's own, which is mended once the export has ended."""
        mounted = self.small_disk("48m")
        server = self.serve(folder=mounted / "store")
        client = server.client()
        lines = "\n".join(json.dumps({"events": [[f"{i}", f"{k}" + 100 * "x"] for k in range(3)]}) for i in range(20000))
        self.assertEqual(client.ask("POST", "/nodes/big/patterns", lines.encode())[0], 200)
        self.assertEqual(client.ask("POST", "/nodes/other/patterns", b'{"events": [["a"], ["b"]]}')[0], 200)
        slow = socket.socket()
        self.addCleanup(slow.close)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", server.port))
        slow.sendall(b"GET /nodes/big/patterns HTTP/1.1\r\nHost: x\r\n\r\n")
        self.assertEqual(slow.recv(8), b"HTTP/1.1")  # it is under way
        filler = mounted / "filler"
        with open(filler, "wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 14))

        def learn(node, i):
            events = [[f"{i} {k} " + os.urandom(300).hex()] for k in range(4)]
            return client.ask("POST", f"/nodes/{node}/patterns", json.dumps({"events": events}).encode())[0]

        for node in ("big", "other"):
            i = 0
            while learn(node, i) == 200:
                i += 1
        filler.unlink()
        while learn("other", -1) != 200:
            time.sleep(0.05)
        while client.post("/sessions", {"node_id": "new"})[0] != 200:
            time.sleep(0.05)
        self.assertEqual(client.get("/pattern/none?node_id=big")[0], 200)
        slow.close()
        while learn("big", -1) != 200:
            time.sleep(0.05)

    def test_a_first_learning_that_is_refused_leaves_its_node_usable(self):
        """Making a node's index ends at another of its steps for each amount of room."""
        mounted = self.small_disk("64m")
        for durability in ("batch", "sync"):
            with self.subTest(durability=durability):
                self.refuse_first_learnings(mounted, durability)

    def refuse_first_learnings(self, mounted, durability):
        server = self.serve("--durability", durability, folder=mounted / durability)
        client, filler = server.client(), mounted / "filler"
        self.addCleanup(client.close)
        refused = {}
        for free in range(0, 1 << 20, 4096):
            session = client.session(f"with {free}")
            session.observe("a", "b")
            self.fill(filler, free)
            status, answer = client.post(f"{session.path}/learn")
            filler.unlink()
            if status == 200:
                break
            self.assertIn(status, (500, 503, 507), answer)
            refused[free] = answer["detail"]
            # The service's own store takes writes first.
            while client.post("/sessions", {"node_id": f"after {free}"})[0] != 200:
                time.sleep(0.05)
            name = session.learn()
            found = client.get(f"/pattern/{name}?node_id=with%20{free}")[1]
            self.assertEqual(found["pattern"]["status"], "okay")
        self.assertGreater(len(refused), 4, refused)
        # Before it is in its place, and after.
        for place in ("/unfinished/", "/nodes/"):
            self.assertTrue(any(place in text for text in refused.values()), refused)
        self.assertEqual(os.listdir(mounted / durability / "unfinished"), [])
        self.assertEqual(server.end(), 0)

    def fill(self, filler, free):
        """All but `free` bytes of its disk."""
        with open(filler, "wb", buffering=0) as file:
            for size in (1 << 16, 4096):
                with contextlib.suppress(OSError):
                    while True:
                        file.write(bytes(size))
            file.truncate(max(0, file.tell() - free))

    def small_disk(self, size):
        mounted = self.folder / "small"
        mounted.mkdir()
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(mounted)],
                              capture_output=True, check=False)
        if done.returncode != 0:
            self.skipTest(f"no tmpfs can be mounted: {done.stderr.decode().strip()}")
        self.addCleanup(subprocess.run, ["umount", "-l", str(mounted)], check=False)
        return mounted

    def still_there(self, client, names):
        self.assertGreater(len(names), 0)
        for name in names:
            answer = client.get(f"/pattern/{name}?node_id=shop")[1]
            self.assertEqual(answer["pattern"]["status"], "okay")

    def test_refuses_and_keeps_what_it_has(self):
        mounted = self.small_disk("8m")
        server = self.serve(folder=mounted / "store")
        names = self.full_until_refused(server)
        client = server.client()
        self.still_there(client, names)
        self.assertEqual(client.get("/health")[0], 200)
        server.end()
        subprocess.run(["mount", "-o", "remount,size=64m", str(mounted)], check=True)
        server = self.serve(folder=mounted / "store")
        self.still_there(server.client(), names)
        server.client().session().teach(["room"], ["again"])
        # The same while it serves.
        subprocess.run(["mount", "-o", "remount,size=16m", str(mounted)], check=True)
        names += self.full_until_refused(server)
        subprocess.run(["mount", "-o", "remount,size=64m", str(mounted)], check=True)
        self.takes_writes_again(server, names)

    def takes_writes_again(self, server, names):
        until = time.monotonic() + 60
        while True:
            session = server.client().post("/sessions", {"node_id": "shop"})
            if session[0] == 200:
                path = f"/sessions/{session[1]['session_id']}"
                client = server.client()
                for word in ("room", "again", "at last"):
                    client.post(f"{path}/observe", {"strings": [word]})
                status, answer = client.post(f"{path}/learn")
                if status == 200:
                    break
            self.assertLess(time.monotonic(), until, "no write was taken any more")
            time.sleep(0.2)
        names = [*names, answer["pattern_name"]]
        self.still_there(server.client(), names)
        server.end(signal.SIGKILL)
        server = self.serve(folder=server.folder)
        self.still_there(server.client(), names)
        server.end()

    def test_limited_files(self):
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, resource.RLIM_INFINITY))

        server = self.serve(preexec_fn=limit)
        names = self.full_until_refused(server)
        self.still_there(server.client(), names)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE,
                         (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        self.takes_writes_again(server, names)


FAILING_SYNC = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int fdatasync(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  path[size > 0 ? size : 0] = 0;
  if (strstr(path, "/service.db/") != NULL && access(getenv("FAIL_WHILE"), F_OK) == 0) {
    errno = EIO;
    return -1;
  }
  return ((int (*)(int))dlsym(RTLD_NEXT, "fdatasync"))(fd);
}
"""


@unittest.skipIf(os.environ.get("HOIST_SANITIZE"), "a sanitizer must be loaded first")
@unittest.skipIf(shutil.which("cc") is None, "needs a C compiler")
class FailingSyncs(ServiceCase):
    """The disk takes a write of the service's store, and its sync fails: it is there after a restart."""

    def setUp(self):
        super().setUp()
        source, self.shim, self.trigger = (self.folder / name for name in ("shim.c", "shim.so", "trigger"))
        source.write_text(FAILING_SYNC)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", self.shim, source, "-ldl"], check=True)

    def serve_sync(self):
        return self.serve("--durability", "sync",
                          env=environment(LD_PRELOAD=str(self.shim), FAIL_WHILE=str(self.trigger)))

    def refused(self, method, path):
        """Is refused, and so is learning until the store takes writes."""
        server = self.serve_sync()
        client = server.client()
        session = client.session()
        names = [session.teach([f"a{i}"], [f"b{i}"]) for i in range(3)]
        session.observe_all([{"strings": ["x"], "emotives": {"joy": 2}}, ["y"]])
        names.append(session.learn())
        status, snapshot = client.post("/nodes/shop/snapshots")
        self.assertEqual(status, 200)
        names += [session.teach([f"c{i}"], [f"d{i}"]) for i in range(2)]
        path = path.format(session=session.path, snapshot=snapshot["snapshot"])
        self.trigger.touch()
        self.assertEqual(client.ask(method, path, {} if method == "POST" else None)[0], 500)
        self.assertIn(client.ask("POST", "/nodes/shop/patterns", b'{"events": [["e"], ["f"]]}\n')[0], (500, 503))
        self.trigger.unlink()
        while client.ask("POST", "/nodes/shop/patterns", b'{"events": [["e"], ["f"]]}\n')[0] != 200:
            time.sleep(0.05)
        names.append("PTRN|" + python_reprs_sha1([["e"], ["f"]]))
        session = client.session()
        names += [session.teach([f"g{i}"], [f"h{i}"]) for i in range(2)]
        self.assertEqual(server.end(), 0)
        client = self.serve("--durability", "sync").client()
        for name in names:
            found = client.get(f"/pattern/{name}?node_id=shop")[1]["pattern"]
            self.assertEqual(found["status"], "okay", name)
        self.assertEqual(client.get("/symbols/x/affinity?node_id=shop")[1]["affinity"], {"joy": 2.0})

    def test_clear(self):
        self.refused("POST", "{session}/clear-all")

    def test_restore(self):
        self.refused("POST", "/nodes/shop/snapshots/{snapshot}/restore")

    def test_remove(self):
        self.refused("DELETE", "/nodes/shop?sessions=end")


class ReadOnlyPlaces(ServiceCase):
    def test_no_such_gpu(self):
        """It is told of at the start, not when something is learned."""
        done = subprocess.run([SERVER, self.folder / "store", "--listen", "127.0.0.1:0", "--device", "cuda:99"],
                              capture_output=True, text=True, env=environment(), timeout=60, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("cuda", done.stderr.lower())
        self.assertEqual(done.stdout, "")

    def test_no_folder(self):
        with tempfile.NamedTemporaryFile() as file:
            with self.assertRaises(AssertionError) as raised:
                self.serve(folder=f"{file.name}/store")
        self.assertIn("exit status 1", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
