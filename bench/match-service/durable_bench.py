#!/usr/bin/env python3
"""Observations a second in sessions that survive a restart, by the length of their short-term memory.

    durable_bench.py [--build build/release] [--rounds 20]

For each length and kind of session: 64 sessions whose short-term memory has so many events, and
requests to observe one symbol, 8 for each session, sent at once over one connection. The best of the
rounds counts; each begins with fresh sessions. Client and server share the machine's cores.
"""

import argparse
import json
import os
import pathlib
import socket
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SESSIONS = 64
EACH = 8
LENGTHS = (10, 100, 1000)


def observe(server, sessions):
    """Seconds for all requests."""
    body = b'{"strings":["w%05d"]}'
    requests = b"".join(
        b"POST %s/observe HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s"
        % (session.path.encode(), len(body % 0), body % (i * 7919 % 30_000))
        for i in range(EACH) for session in sessions)
    with socket.create_connection(("127.0.0.1", server.port)) as connection:
        began = time.perf_counter()
        connection.sendall(requests)
        answers = b""
        while answers.count(b"HTTP/1.1 ") < SESSIONS * EACH or not answers.endswith(b"}"):
            answers += connection.recv(1 << 20)
        seconds = time.perf_counter() - began
    if answers.count(b"HTTP/1.1 200") != SESSIONS * EACH:
        sys.exit("durable_bench: some requests failed")
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    os.environ["HOIST_BUILD_DIR"] = str(options.build.resolve())
    from service_case import Server

    for kind in ("memory", "durable"):
        for length in LENGTHS:
            with tempfile.TemporaryDirectory(prefix="hoist-durable-") as scratch:
                server = Server(pathlib.Path(scratch) / "store", "--sessions", kind)
                client = server.client()
                times = []
                for _ in range(options.rounds):
                    sessions = [client.session() for _ in range(SESSIONS)]
                    for session in sessions:
                        session.observe_all([[f"event{i:05}"] for i in range(length)])
                    times.append(observe(server, sessions))
                    for session in sessions:
                        session.ask("DELETE", "")
                client.close()
                server.end()
            print(json.dumps({"sessions": kind, "events": length,
                              "observations_a_second": round(SESSIONS * EACH / min(times))}), flush=True)


if __name__ == "__main__":
    main()
