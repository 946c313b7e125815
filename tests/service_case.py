"""What the black-box tests of `hoist match serve` share: a server at a free port, and its client."""

import http.client
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import tempfile
import unittest

from hoist_tree import BUILD, environment

SERVER = BUILD / "libexec/hoist/hoist-serve"


class Server:
    """`hoist match serve FOLDER` at a free port of 127.0.0.1."""

    def __init__(self, folder, *arguments, **options):
        self.folder = folder
        options.setdefault("stderr", subprocess.DEVNULL)
        options.setdefault("env", environment())
        self.process = subprocess.Popen(
            [str(SERVER), str(folder), "--listen", "127.0.0.1:0", "--device", "cpu", *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **options)
        self.ready = self.process.stdout.readline()
        found = re.search(r"127\.0\.0\.1:(\d+)", self.ready)
        if found is None:
            raise AssertionError(f"no ready line: {self.ready!r}, exit status {self.end()}")
        self.port = int(found.group(1))

    def end(self, sent=signal.SIGTERM):
        """The exit status after the signal."""
        if self.process.poll() is None:
            self.process.send_signal(sent)
        status = self.process.wait(60)
        self.process.stdout.close()
        return status

    def resident(self):
        """Bytes of memory."""
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize()

    def client(self, **options):
        return Client(self.port, **options)


class Client:
    """JSON over one connection that is kept alive."""

    def __init__(self, port, timeout=60):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)

    def ask(self, method, path, body=None, headers=None):
        """Status, parsed answer. body: bytes go as they are, anything else as JSON."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        sent = {"content-type": "application/json", **(headers or {})} if data is not None else headers
        self.connection.request(method, path, body=data, headers=sent or {})
        answer = self.connection.getresponse()
        text = answer.read()
        self.headers = {name.lower(): value for name, value in answer.getheaders()}
        if self.headers.get("content-type", "").split(";")[0] == "application/json":
            return answer.status, json.loads(text)
        return answer.status, text.decode(errors="replace")

    def get(self, path, **options):
        return self.ask("GET", path, **options)

    def post(self, path, body=None, **options):
        return self.ask("POST", path, {} if body is None else body, **options)

    def session(self, node="shop", **more):
        return Session(self, node, **more)

    def close(self):
        self.connection.close()


class Session:
    """A session, whose requests must succeed."""

    def __init__(self, client, node="shop", **more):
        self.client = client
        status, self.made = client.post("/sessions", {"node_id": node, **more})
        if status != 200:
            raise AssertionError((status, self.made))
        self.id = self.made["session_id"]
        self.path = f"/sessions/{self.id}"

    def ask(self, method, what, body=None):
        status, answer = self.client.ask(method, f"{self.path}{what}", body)
        if status != 200:
            raise AssertionError((status, answer))
        return answer

    def observe(self, *strings, **more):
        return self.ask("POST", "/observe",
                        {"strings": list(strings), "vectors": [], "emotives": {}, **more})

    def observe_all(self, events, **options):
        return self.ask("POST", "/observe-sequence", {
            "observations": [event if isinstance(event, dict) else {"strings": list(event)}
                             for event in events], **options})

    def learn(self):
        return self.ask("POST", "/learn", {})["pattern_name"]

    def teach(self, *events):
        self.observe_all(events)
        return self.learn()

    def stm(self):
        return self.ask("GET", "/stm")["stm"]

    def clear(self):
        return self.ask("POST", "/clear-stm", {})

    def predictions(self):
        return self.ask("GET", "/predictions")["predictions"]

    def configure(self, **keys):
        return self.ask("POST", "/config", {"config": keys})

    def recall(self, *events):
        """Predictions of nothing but these events."""
        self.clear()
        self.observe_all(events)
        return self.predictions()


class ServiceCase(unittest.TestCase):
    """A folder of its own for each test; `serve()` gives a server that ends with the test."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hoist-serve-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def serve(self, *arguments, folder=None, **options):
        server = Server(folder or self.folder / "store", *arguments, **options)
        self.addCleanup(lambda: server.process.poll() is None and server.end(signal.SIGKILL))
        return server


class SharedServerCase(unittest.TestCase):
    """One server for a class's tests, which use nodes of their own."""

    arguments = ()

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="hoist-serve-")
        cls.addClassCleanup(scratch.cleanup)
        cls.server = Server(pathlib.Path(scratch.name) / "store", *cls.arguments)
        cls.addClassCleanup(lambda: cls.server.process.poll() is None
                            and cls.server.end(signal.SIGKILL))

    def setUp(self):
        self.client = self.server.client()
        self.addCleanup(self.client.close)
        self.node = re.sub(r"\W", "_", self.id())

    def session(self, **config):
        return self.client.session(self.node, **({"config": config} if config else {}))


def usable_descriptors(wanted):
    """How many files this process may open, at most `wanted`; raises the soft limit."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return max(soft, wanted)


def python_reprs_sha1(events):
    """KATO's name of a pattern."""
    import hashlib

    return hashlib.sha1(repr([sorted(event) for event in events if event]).encode()).hexdigest()


if not SERVER.exists() and os.environ.get("HOIST_BUILD_DIR"):
    raise SystemExit(f"{SERVER} is not built")
