#!/usr/bin/env python3
"""Small HTTP answers by Hoist's server, by Boost.Beast on Asio and by cpp-httplib, under wrk: 1 200
bytes, 64 connections that are kept, one thread a side (cpp-httplib: one a connection).

    bench/net/http_bench.py [--seconds 4] [--rounds 5] [--build build/release]

Servers run on the first CPU and wrk on the second; rounds alternate between the servers. Needs wrk,
openssl, and libboost-dev and libcpp-httplib-dev to build the others. One line a case: the medians of
requests a second and of the latency's quantiles, and the server's CPU time for a request."""

import argparse
import os
import re
import socket
import statistics
import subprocess
import tempfile
import time

CASES = (("http_hoist", "/small", False), ("http_beast", "/small", False),
         ("http_httplib", "/small", False), ("http_hoist", "/later", False),
         ("http_hoist", "/small", True))
UNITS = {"us": 1e-3, "ms": 1, "s": 1000}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port):
    for _ in range(500):
        try:
            return socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            time.sleep(0.01)
    raise SystemExit("the server does not listen")


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def on_cpu(number):
    cpus = sorted(os.sched_getaffinity(0))
    return ["taskset", "-c", str(cpus[number % len(cpus)])]


def measure(program, path, files, seconds):
    """Requests a second, median and 99 % latency in ms, CPU µs a request."""
    port = free_port()
    server = subprocess.Popen([*on_cpu(0), program, str(port), *files])
    try:
        wait_for(port)
        before = cpu_seconds(server.pid)
        scheme = "https" if files else "http"
        text = subprocess.run([*on_cpu(1), "wrk", "-t1", "-c64", f"-d{seconds}", "--latency",
                               f"{scheme}://127.0.0.1:{port}{path}"], check=True,
                              capture_output=True, text=True).stdout
        used = cpu_seconds(server.pid) - before
    finally:
        server.kill()
        server.wait()
    if "Non-2xx" in text or "Socket errors" in text:
        raise SystemExit(text)
    requests = int(re.search(r"(\d+) requests in", text)[1])
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", text)[1])
    quantiles = {q: float(number) * UNITS[unit] for q, number, unit in
                 re.findall(r"(50|99)%\s+([\d.]+)(us|ms|s)", text)}
    return rate, quantiles["50"], quantiles["99"], used / requests * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--build", default="build/release")
    arguments = parser.parse_args()
    subprocess.run(["cmake", "--build", arguments.build, "--target", "http_bench_servers"],
                   check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory() as folder:
        files = [f"{folder}/cert.pem", f"{folder}/key.pem"]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=x", "-out", files[0],
                        "-keyout", files[1]], check=True, capture_output=True)
        cases = [case for case in CASES if os.path.exists(f"{arguments.build}/bench/{case[0]}")]
        results = {case: [] for case in cases}
        for _ in range(arguments.rounds):
            for case in cases:
                program, path, tls = case
                results[case].append(measure(f"{arguments.build}/bench/{program}", path,
                                             files if tls else [], arguments.seconds))
    print("server, path                requests/s   p50 ms   p99 ms   CPU us/request")
    for (program, path, tls), rows in results.items():
        rate, p50, p99, cpu = (statistics.median(column) for column in zip(*rows))
        name = f"{program} {path}{' TLS' if tls else ''}"
        print(f"{name:<28}{rate:>10.0f} {p50:>8.2f} {p99:>8.2f} {cpu:>10.1f}")


if __name__ == "__main__":
    main()
