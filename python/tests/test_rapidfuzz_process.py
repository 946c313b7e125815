"""hoist.rapidfuzz.process among threads: others that work, and an interpreter that ends."""

import subprocess
import sys

import pytest

DAEMONS = """
import threading, time
from hoist.rapidfuzz import process

choices = [f"new york jets {i % 977}" for i in range(200_000)]
begun = threading.Barrier(3)

def work():
    begun.wait()
    while True:
        process.CALL

for _ in range(2):
    threading.Thread(target=work, daemon=True).start()
begun.wait()
time.sleep(0.3)
"""


@pytest.mark.parametrize(
    "call",
    [
        "extract('new york mets', choices, limit=5)",
        "extract('new york mets' * 30, choices, limit=5)",
        "extractOne('new york mets', choices)",
    ],
)
def test_daemon_threads_when_the_interpreter_ends(call):
    code = DAEMONS.replace("CALL", call)
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, b"")
