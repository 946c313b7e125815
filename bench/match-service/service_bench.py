#!/usr/bin/env python3
"""Predictions, observations and learning through HTTP: `hoist match serve` under wrk.

    service_bench.py [--build build/release] [--patterns 100000] [--seconds 10] [--transfers] [--json]

A server with so many patterns of 15 symbols (30 000 symbols by Zipf's law); 64 keep-alive
connections; threshold 0.5, the best 10. Client and server share the machine's cores: say how many
there are, and how busy they were, beside every figure. Rows:

  export, import   all patterns as JSON Lines and as Arrow, and these into a node of their own
  nothing      GET /sessions/count: what HTTP alone takes
  predict      GET /sessions/{id}/predictions, one by one, each connection another state
  bulk         POST /predictions with 100 states a request, on 4 connections
  observe      POST /sessions/{id}/observe, one symbol
  sequence     POST /sessions/{id}/observe-sequence with 20 observations
  learn        POST /sessions/{id}/learn, while predictions run at half of their rate
  sessions     bytes of memory an idle session

Needs wrk; with --transfers, which is imports and exports alone, nothing.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SYMBOLS = 30_000
STATES_A_REQUEST = 100
OBSERVATIONS_A_REQUEST = 20
CONFIG = {"recall_threshold": 0.5, "max_predictions": 10}


def say(text):
    print(text, file=sys.stderr, flush=True)


class Patterns:
    def __init__(self, count, symbols_each, seed=1):
        self.chance = random.Random(seed)
        total, self.weights = 0.0, []
        for i in range(SYMBOLS):
            total += 1 / (i + 1)
            self.weights.append(total)
        self.each = symbols_each
        self.known = [self.draw(symbols_each) for _ in range(count)]

    def draw(self, count):
        return [f"w{i}" for i in
                self.chance.choices(range(SYMBOLS), cum_weights=self.weights, k=count)]

    def state(self):
        """Of a pattern, as far as its tenth symbol, two of them changed."""
        symbols = self.chance.choice(self.known)[:10]
        for place in self.chance.sample(range(len(symbols)), 2):
            symbols[place] = self.draw(1)[0]
        return symbols

    def lines(self):
        return "".join(json.dumps({"events": [[symbol] for symbol in pattern]}) + "\n"
                       for pattern in self.known).encode()


class Bench:
    def __init__(self, options, scratch):
        self.options = options
        self.scratch = scratch
        self.server = None
        self.rows = []

    def start(self):
        sys.path.insert(0, str(ROOT / "tests"))
        os.environ["HOIST_BUILD_DIR"] = str(self.options.build.resolve())
        from service_case import Server

        self.server = Server(self.scratch / "store", "--max-requests", "100000")
        self.client = self.server.client(timeout=600)

    def fill(self):
        self.patterns = Patterns(self.options.patterns, self.options.symbols)
        began = time.perf_counter()
        status, answer = self.client.ask("POST", "/nodes/shop/patterns", self.patterns.lines())
        if status != 200:
            sys.exit(f"service_bench: patterns cannot be imported: {answer}")
        seconds = time.perf_counter() - began
        self.row("import", per_second=self.options.patterns / seconds)

    def timed(self, work):
        """Seconds, and those of CPU time that the server took; what `work` gave."""
        path = pathlib.Path(f"/proc/{self.server.process.pid}/stat")

        def cpu():
            fields = path.read_text().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

        before, began = cpu(), time.perf_counter()
        result = work()
        return {"seconds": time.perf_counter() - began, "cpu_seconds": cpu() - before}, result

    def transfers(self):
        """The fastest of five exports; of three imports, each into a new node."""
        def fastest(times):
            return {name: min(figures[name] for figures in times) for name in times[0]}

        for form in ("jsonl", "arrow"):
            def export(form=form):
                self.client.connection.request("GET", f"/nodes/shop/patterns?format={form}")
                return self.client.connection.getresponse().read()

            results = [self.timed(export) for _ in range(5)]
            body = results[0][1]
            self.row(f"export {form}", **fastest([figures for figures, _ in results]), megabytes=len(body) / 1e6)
            times = []
            for i in range(3):
                figures, (status, answer) = self.timed(lambda path=f"/nodes/{form}{i}/patterns?format={form}": (
                    self.client.ask("POST", path, body)))
                if status != 200 or answer["patterns_learned"] != self.options.patterns:
                    sys.exit(f"service_bench: {form} cannot be imported: {answer}")
                times.append(figures)
            self.row(f"import {form}", **fastest(times), megabytes=len(body) / 1e6)

    def sessions(self, count, state=None, config=None):
        made = [self.client.session("shop", config=config or CONFIG) for _ in range(count)]
        for session in made if state else []:
            session.observe_all([[symbol] for symbol in state()])
        return made

    def row(self, what, **figures):
        self.rows.append({"what": what, **figures})
        say(f"{what}: " + ", ".join(f"{name} {value:,.3f}" for name, value in figures.items()))

    def file(self, name, lines):
        path = self.scratch / name
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    def wrk(self, kind, connections, seconds=None, **environment):
        command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds or self.options.seconds}",
                   "--timeout", "30", "-s", str(HERE / "requests.lua"),
                   f"http://127.0.0.1:{self.server.port}"]
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                env={**os.environ, "WRK_KIND": kind, **environment})

    def result(self, process, units=1):
        output, _ = process.communicate()
        if process.returncode:
            sys.exit(f"service_bench: wrk: exit status {process.returncode}\n{output}")
        found = json.loads(output.strip().splitlines()[-1])
        if found["bad_status"] or found["failed"]:
            sys.exit(f"service_bench: some requests failed: {found}")
        return {"per_second": found["requests"] * units / found["seconds"],
                **{name: found[name] for name in ("p50_ms", "p90_ms", "p99_ms", "most_ms")},
                "kilobytes": found["bytes"] / found["requests"] / 1000}

    def idle_sessions(self):
        count = self.options.idle_sessions
        self.sessions(100)
        before = self.server.resident()
        self.sessions(count)
        self.row("sessions", count=count, megabytes=(self.server.resident() - before) / 1e6)

    def one_kind(self, kind, connections, units=1, **environment):
        # Once for a second before it counts: caches, threads and the processor's clock settle.
        self.wrk(kind, connections, 1, **environment).communicate()
        figures = self.result(self.wrk(kind, connections, **environment), units)
        self.row(kind, **figures)
        return figures

    def learning(self, predictions_a_second, sessions):
        """Learns for as long as predictions run at half of their rate."""
        # A connection waits for its answer, too: some milliseconds of the time between two requests.
        half = predictions_a_second / 2
        wait = max(1, 64 / half * 1000 - 1)
        load = self.wrk("predict", 64, WRK_SESSIONS=sessions, WRK_DELAY=str(wait))
        learner = self.server.client().session("shop")
        times = []
        while load.poll() is None:
            learner.observe_all([[symbol] for symbol in self.patterns.draw(self.options.symbols)])
            began = time.perf_counter()
            learner.learn()
            times.append((time.perf_counter() - began) * 1000)
        beside = self.result(load)
        times.sort()
        self.row("learn", learned=len(times), p50_ms=times[len(times) // 2],
                 p99_ms=times[int(len(times) * 0.99)], most_ms=times[-1],
                 predictions_beside=beside["per_second"])

    def run(self):
        self.start()
        if self.options.transfers:
            self.fill()
            return self.transfers()
        self.idle_sessions()
        self.fill()
        self.transfers()
        self.one_kind("count", 64)
        predicting = self.file("predicting", [
            session.id for session in self.sessions(64, self.patterns.state)])
        predictions = self.one_kind("predict", 64, WRK_SESSIONS=predicting)
        bulk = self.file("bulk", [
            json.dumps({"node_id": "shop", "config": CONFIG, "states": [
                [[symbol] for symbol in self.patterns.state()] for _ in range(STATES_A_REQUEST)]})
            for _ in range(64)])
        self.one_kind("bulk", 4, STATES_A_REQUEST, WRK_BODIES=bulk)
        observing = self.file("observing", [session.id for session in self.sessions(1024)])
        self.one_kind("observe", 64, WRK_SESSIONS=observing)
        sequences = self.file("sequences", [
            json.dumps({"clear_stm_between": True, "observations": [
                {"strings": self.patterns.draw(1)} for _ in range(OBSERVATIONS_A_REQUEST)]})
            for _ in range(64)])
        self.one_kind("sequence", 64, OBSERVATIONS_A_REQUEST, WRK_SESSIONS=observing,
                      WRK_BODIES=sequences)
        self.learning(predictions["per_second"], predicting)


def print_table(result):
    print(f"{result['patterns']} patterns of {result['symbols']} symbols, {result['cores']} cores, "
          f"load before {result['load']:.1f}")
    print(f"{'':12} {'a second':>12} {'p50 ms':>9} {'p90 ms':>9} {'p99 ms':>9} {'kB each':>9}")
    for row in result["rows"]:
        cells = [row.get(name) for name in ("per_second", "p50_ms", "p90_ms", "p99_ms", "kilobytes")]
        texts = [f"{cell:,.2f}" if cell is not None else "" for cell in cells]
        texts[0] = texts[0].split(".")[0]
        extra = {name: value for name, value in row.items() if name in
                 ("count", "seconds", "cpu_seconds", "megabytes", "learned", "predictions_beside")}
        print(f"{row['what']:12} {texts[0]:>12} " + " ".join(f"{text:>9}" for text in texts[1:]) + "  "
              + ", ".join(f"{name} {value:,.2f}" for name, value in extra.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--patterns", type=int, default=100_000)
    parser.add_argument("--symbols", type=int, default=15)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--idle-sessions", type=int, default=10_000)
    parser.add_argument("--transfers", action="store_true")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.transfers and shutil.which("wrk") is None:
        sys.exit("service_bench: wrk is not installed")
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="hoist-bench-") as scratch:
        bench = Bench(options, pathlib.Path(scratch))
        try:
            bench.run()
        finally:
            if bench.server:
                bench.server.end()
    result = {"patterns": options.patterns, "symbols": options.symbols, "cores": os.cpu_count(),
              "load": load, "rows": bench.rows}
    print(json.dumps(result, indent=1)) if options.json else print_table(result)


if __name__ == "__main__":
    main()
