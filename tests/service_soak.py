#!/usr/bin/env python3
"""Hours of random sessions against `hoist match serve`, compared with a model, with restarts and kills between.

    tests/service_soak.py [SECONDS] [--seed N] [--restart-within S]   60 seconds unless given; scripts/soak takes a day

Some threads, each with a node and sessions of its own, observe, learn, predict, clear, copy, and delete
their node. Each answer is
compared with what the thread remembers. Every so often the server is ended or killed and started again: all that was
answered has to be there. Memory and open files are printed once a minute; both must level off."""

import argparse
import http.client
import json
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time
import urllib.parse

from service_case import Server

THREADS = 4
SYMBOLS = [f"w{i}" for i in range(12)] + ["é", "\"quoted\"", "a b", "日本"]


class Lost(Exception):
    """The server went away during a request: whether it was done is not known."""


class Model:
    """What a node must have, and what its session must remember."""

    def __init__(self, number, chance):
        self.node = f"node {number}/'\""
        self.chance = chance
        self.patterns = {}  # events: frequency
        self.unsure = set()  # learned or forgotten when the server went away
        self.stm = []
        self.session = None

    def event(self):
        return sorted(self.chance.choices(SYMBOLS, k=self.chance.randint(1, 3)))


def check(condition, *what):
    if not condition:
        raise AssertionError(*what)


class Worker(threading.Thread):
    def __init__(self, soak, number):
        super().__init__(daemon=True)
        self.soak = soak
        self.model = Model(number, random.Random(f"{soak.seed} {number}"))
        self.requests = 0
        self.fault = None

    def run(self):
        try:
            while not self.soak.ended.is_set():
                with self.soak.serving:  # restarts wait for none
                    server = self.soak.server
                try:
                    self.work(server)
                except Lost:
                    self.model.session = None
                    time.sleep(0.05)
        except Exception as fault:  # noqa: BLE001: told by the main thread
            self.fault = fault
            self.soak.ended.set()

    def ask(self, method, path, body=None):
        self.requests += 1
        try:
            status, answer = self.client.ask(method, path, body)
        except (OSError, http.client.HTTPException) as error:
            raise Lost() from error
        if status == 404 and path.startswith("/sessions/"):
            raise Lost()  # the server was started again
        check(status == 200, status, answer)
        return answer

    def work(self, server):
        model = self.model
        self.client = server.client()
        if model.session is None:
            answer = self.ask("POST", "/sessions", {"node_id": model.node, "config": {"recall_threshold": 0.1,
                                                                                      "max_predictions": 10000}})
            model.session, model.stm = answer["session_id"], []
            self.settle()
        for _ in range(50):
            if model.session is not None:
                self.step()

    def settle(self):
        """After a restart: asks for what was under way, and that all else is there."""
        model = self.model
        found = self.read_all()
        for events in model.unsure:
            model.patterns.pop(events, None)
            if events in found:
                model.patterns[events] = found[events]
        model.unsure.clear()
        check(found == model.patterns, f"{model.node}: {len(found)} patterns, {len(model.patterns)} were learned")

    def node_path(self):
        return f"/nodes/{urllib.parse.quote(self.model.node, safe='')}"

    def read_all(self):
        text = self.ask("GET", self.node_path() + "/patterns")
        lines = map(json.loads, text.splitlines())
        return {tuple(map(tuple, line["events"])): line["frequency"] for line in lines}

    def step(self):
        model, path = self.model, f"/sessions/{self.model.session}"
        chance = model.chance.random()
        if chance < 0.55:
            event = model.event()
            answer = self.ask("POST", path + "/observe", {"strings": model.chance.sample(event, len(event))})
            model.stm.append(event)
            check(answer["stm_length"] == len(model.stm), answer)
        elif chance < 0.75 and model.stm:
            events = tuple(map(tuple, model.stm))
            model.unsure.add(events)
            name = self.ask("POST", path + "/learn", {})["pattern_name"]
            model.unsure.discard(events)
            model.stm = []
            check((name != "") == (sum(map(len, events)) > 1), name, events)
            if name:
                model.patterns[events] = model.patterns.get(events, 0) + 1
        elif chance < 0.93:
            found = self.ask("GET", path + "/predictions")["predictions"]
            state = tuple(map(tuple, model.stm))
            if state in model.patterns and sum(map(len, state)) > 1:
                own = [record for record in found if record["similarity"] > 0.999 and
                       tuple(map(tuple, record["sequence"])) == state]
                check(len(own) == 1 and own[0]["frequency"] == model.patterns[state], state, own)
        elif chance < 0.97:
            answer = self.ask("GET", path + "/stm")
            check(answer["stm"] == model.stm, answer, model.stm)
            self.ask("POST", path + "/clear-stm", {})
            model.stm = []
        elif chance < 0.99:
            check(self.read_all() == model.patterns, model.node)
        elif chance < 0.995:
            copies = self.node_path() + "/snapshots"
            copy = f"{copies}/{self.ask('POST', copies)['snapshot']}"
            answer = self.ask("POST", copy + "/restore")
            check(answer["patterns"] == len(model.patterns), answer)
            check(self.read_all() == model.patterns, model.node)
            self.ask("DELETE", copy)
        elif len(model.patterns) > 2000:
            model.unsure.update(model.patterns)
            if model.chance.random() < 0.5:
                self.ask("POST", path + "/clear-all", {})
            else:
                answer = self.ask("DELETE", self.node_path() + "?sessions=end")
                check(answer["sessions_ended"] >= 1, answer)
                model.session = None
            model.unsure.clear()
            model.patterns.clear()
            model.stm = []


class Soak:
    def __init__(self, seed, restart_within, folder):
        self.seed = seed
        self.restart_within = restart_within
        self.folder = folder
        self.ended = threading.Event()
        self.serving = threading.Lock()
        self.server = Server(folder)

    def restart(self, sent):
        with self.serving:
            status = self.server.end(sent)
            check(sent == signal.SIGKILL or status == 0, f"exit status {status}")
            self.server = Server(self.folder)

    def run(self, seconds):
        chance = random.Random(self.seed)
        workers = [Worker(self, number) for number in range(THREADS)]
        for worker in workers:
            worker.start()
        end, said, restarts = time.monotonic() + seconds, time.monotonic(), 0
        while time.monotonic() < end and not self.ended.wait(
                min(chance.uniform(2, self.restart_within), seconds / 4)):
            self.restart(chance.choice((signal.SIGTERM, signal.SIGKILL)))
            restarts += 1
            if time.monotonic() - said >= 60:
                said = time.monotonic()
                files = len(os.listdir(f"/proc/{self.server.process.pid}/fd"))
                print(f"{sum(worker.requests for worker in workers)} requests, {restarts} restarts, "
                      f"{self.server.resident() >> 20} MiB, {files} files", flush=True)
        self.ended.set()
        for worker in workers:
            worker.join(60)
        self.server.end()
        for worker in workers:
            if worker.fault is not None:
                raise worker.fault
        print(f"service_soak: passed: {sum(worker.requests for worker in workers)} requests, {restarts} restarts, "
              f"{sum(len(worker.model.patterns) for worker in workers)} patterns at the end")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("seconds", type=float, nargs="?", default=60)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    parser.add_argument("--restart-within", type=float, default=20, metavar="S",
                        help="the server is ended or killed after 2 to S seconds")
    options = parser.parse_args()
    print(f"service_soak: seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="hoist-soak-") as folder:
        Soak(options.seed, options.restart_within, pathlib.Path(folder) / "data").run(options.seconds)


if __name__ == "__main__":
    sys.exit(main())
