#!/usr/bin/env python3
"""Runs the HTTP-only tests of KATO's repository, unchanged, against a running service, and counts.

    kato_suite.py CHECKOUT --port 8000 [-o RESULT.txt] [--workers 2] [-k EXPRESSION]

CHECKOUT is a folder with KATO's repository. The tests connect to the ports 8000 to 8003 of
localhost; what they connect to there is led to --port. Some thirty of them look into KATO's Redis
after their requests; --redis answers these looks from GET /pattern and /symbols. Tests skip where
nothing answers, so what counts is how many passed.

Needs pytest, pytest-asyncio, pytest-timeout, requests, httpx, redis, qdrant-client, websockets and
websocket-client (and pytest-xdist for --workers); --python names the interpreter that has them.
"""

import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.request
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
# They import KATO's own modules or talk to its databases.
NOT_HTTP_ONLY = (
    "gpu/test_encoder.py",
    "integration/test_redis_sessions.py",
    "integration/test_session_management.py",
    "integration/test_vector_qdrant_storage.py",
    "unit/test_affinity_weighted_matching.py",
    "unit/test_error_handling_module.py",
)


def tests_of(checkout):
    """The files of HTTP-only tests."""
    folder = checkout / "tests/tests"
    return [path for path in sorted(folder.rglob("test_*.py"))
            if path.relative_to(folder).as_posix() not in NOT_HTTP_ONLY
            and re.search(r"^\s*(async )?def test_", path.read_text(), re.MULTILINE)]


def run_pytest(arguments, files, workers, scratch):
    report = scratch / "report.xml"
    command = [arguments.python, "-m", "pytest", "-q", "--no-header", "--tb=short", "-p",
               "kato_suite_plugin", "-p", "no:cacheprovider", f"--junitxml={report}",
               f"--timeout={arguments.timeout}", "-o", "addopts=", "-o", "console_output_style=count"]
    if workers > 1:
        command += ["-n", str(workers), "--dist", "loadfile"]
    if arguments.k:
        command += ["-k", arguments.k]
    environment = dict(os.environ, KATO_SUITE_PORT=str(arguments.port),
                       KATO_SUITE_REDIS=str(int(arguments.redis)),
                       KATO_BASE_URL="http://localhost:8000",
                       PYTHONPATH=os.pathsep.join([str(HERE), str(arguments.checkout)]))
    environment.pop("http_proxy", None)
    subprocess.run([*command, *map(str, files)], cwd=arguments.checkout / "tests", env=environment,
                   stdout=None if arguments.verbose else subprocess.DEVNULL,
                   stderr=None if arguments.verbose else subprocess.STDOUT, check=False)
    if not report.exists():
        sys.exit("kato_suite: pytest wrote no report: run again with --verbose")
    return xml.etree.ElementTree.parse(report).getroot()


def last_line(text):
    """The last line of an error that says something: pytest's lines begin with E."""
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line[1:].strip() for line in lines if line.startswith("E ")]
    return (errors or lines or ["?"])[-1][:300]


def outcomes(report):
    """(outcome, id, last line of the error) of each test."""
    for case in report.iter("testcase"):
        identity = f"{case.get('classname', '').replace('.', '/')}.py::{case.get('name')}"
        problem = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        if problem is None:
            yield "passed", identity, ""
        elif problem.tag == "skipped":
            yield "skipped", identity, problem.get("message", "")[:300]
        else:
            place = re.findall(r"^(\S+\.py:\d+): ", problem.text or "", re.MULTILINE)
            first = [line[1:].strip() for line in (problem.text or "").splitlines()
                     if line.startswith("E ")][:1]
            error = last_line(problem.text or problem.get("message", ""))
            if first and first[0][:300] != error:
                error = f"{first[0][:200]} … {error}"
            yield "failed", identity, f"{place[-1] if place else ''} {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=pathlib.Path)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("-o", "--output", type=pathlib.Path, help="where the result goes, too")
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--timeout", type=int, default=60, help="seconds a test may take")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--redis", action="store_true",
                        help="stand in for KATO's Redis, by what the service answers over HTTP")
    parser.add_argument("-k", help="pytest's -k")
    parser.add_argument("--verbose", action="store_true", help="pytest's own output, too")
    arguments = parser.parse_args()
    arguments.checkout = arguments.checkout.resolve()
    files = tests_of(arguments.checkout)
    if not files:
        parser.error(f"no tests below {arguments.checkout}/tests/tests")
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{arguments.port}/health", timeout=10).read()
    except OSError as error:
        sys.exit(f"kato_suite: nothing answers at port {arguments.port}: {error}")

    # Tests of events hear those of every session, so nothing runs beside them.
    alone = [path for path in files if "websocket" in path.name]
    results = []
    with tempfile.TemporaryDirectory() as scratch:
        for group, workers in ([path for path in files if path not in alone], arguments.workers), (alone, 1):
            if group:
                report = run_pytest(arguments, group, workers, pathlib.Path(scratch))
                results += outcomes(report)
    counts = collections.Counter(outcome for outcome, _, _ in results)
    lines = [f"passed {counts['passed']}, failed {counts['failed']}, skipped {counts['skipped']} "
             f"of {len(results)} in {len(files)} files"]
    for outcome in ("failed", "skipped"):
        lines += [f"{outcome} {identity}\n    {why}" for kind, identity, why in results
                  if kind == outcome]
    text = "\n".join(lines) + "\n"
    sys.stdout.write(text)
    if arguments.output:
        arguments.output.write_text(text)
    sys.exit(0 if counts["failed"] == counts["skipped"] == 0 else 1)


if __name__ == "__main__":
    main()
