#!/usr/bin/env python3
"""`hoist match serve` as an operator has it: options, limits, signals, TLS, sockets, events."""

import base64
import http.client
import json
import os
import signal
import socket
import ssl
import struct
import subprocess
import threading
import time
import unittest

from hoist_tree import HOIST, environment
from service_case import SERVER, Client, ServiceCase


def until(condition, seconds=60):
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("it never came")
        time.sleep(0.05)


class WebSocket:
    """As much of RFC 6455 as a listener needs."""

    def __init__(self, port, path="/ws/events"):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        self.stream = self.connection.makefile("rb")
        self.status = int(self.stream.readline().split()[1])
        while self.stream.readline() != b"\r\n":
            pass

    def send(self, payload, opcode=1):
        mask = os.urandom(4)
        head = bytes([0x80 | opcode, 0x80 | len(payload)]) + mask
        self.connection.sendall(head + bytes(x ^ mask[i % 4] for i, x in enumerate(payload)))

    def receive(self):
        """Opcode and payload of the next frame."""
        first, size = self.stream.read(2)
        size &= 0x7F
        if size == 126:
            (size,) = struct.unpack(">H", self.stream.read(2))
        elif size == 127:
            (size,) = struct.unpack(">Q", self.stream.read(8))
        return first & 0x0F, self.stream.read(size)

    def event(self):
        return json.loads(self.receive()[1])

    def close(self):
        self.stream.close()
        self.connection.close()


class Options(ServiceCase):
    def test_ready_line_as_json(self):
        process = subprocess.Popen(
            [str(SERVER), str(self.folder / "store"), "--listen", "127.0.0.1:0", "--json"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment())
        try:
            told = json.loads(process.stdout.readline())
            self.assertIn("127.0.0.1:", json.dumps(told))
        finally:
            process.terminate()
            self.assertEqual(process.wait(60), 0)
            process.stdout.close()

    def test_by_the_command(self):
        process = subprocess.Popen(
            [str(HOIST), "match", "serve", str(self.folder / "store"), "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment())
        try:
            port = int(process.stdout.readline().rsplit(":", 1)[1])
            Client(port).session().teach(["a"], ["b"])
        finally:
            process.terminate()
            self.assertEqual(process.wait(60), 0)
            process.stdout.close()

    def test_unix_socket(self):
        place = self.folder / "socket"
        server = self.serve("--listen", f"unix:{place}")
        connection = http.client.HTTPConnection("localhost")
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(str(place))
        connection.request("GET", "/health")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        server.end()

    def test_defaults_of_sessions(self):
        config = self.folder / "config.json"
        config.write_text('{"recall_threshold": 0.7, "max_predictions": 3}')
        server = self.serve("--config", str(config))
        client = server.client()
        settings = client.session().made["session_config"]
        self.assertEqual((settings["recall_threshold"], settings["max_predictions"]), (0.7, 3))
        config.write_text('{"recall_threshold": 0.2}')
        server.process.send_signal(signal.SIGHUP)
        until(lambda: client.session().made["session_config"]["recall_threshold"] == 0.2)
        for wrong in ('{"recall_threshold": 7}', "{", "[]", ""):
            config.write_text(wrong)
            server.process.send_signal(signal.SIGHUP)
        time.sleep(0.3)
        self.assertEqual(client.session().made["session_config"]["recall_threshold"], 0.2)

    def test_wrong_defaults(self):
        for text in ('{"recall_threshold": 7}', '{"recall_treshold": 0.2}', "{", "[]"):
            config = self.folder / "config.json"
            config.write_text(text)
            with self.subTest(text=text), self.assertRaises(AssertionError):
                self.serve("--config", str(config))

    def test_lifetimes(self):
        client = self.serve("--session-ttl", "5").client()
        session, idle = client.session(), client.session()
        for _ in range(12):
            session.observe("a")
            time.sleep(0.5)
        self.assertEqual(client.get(f"{idle.path}/stm")[0], 404)
        client = self.serve("--session-ttl", "1", "--fixed-ttl", folder=self.folder / "other").client()
        session = client.session()
        until(lambda: client.get(f"{session.path}/stm")[0] == 404)

    def test_origins(self):
        client = self.serve("--origin", "https://friend.example").client()
        client.get("/health", headers={"origin": "https://friend.example"})
        self.assertEqual(client.headers["access-control-allow-origin"], "https://friend.example")
        client.get("/health", headers={"origin": "https://other.example"})
        self.assertNotIn("access-control-allow-origin", client.headers)
        status, _ = client.ask("OPTIONS", "/sessions", headers={
            "origin": "https://friend.example", "access-control-request-method": "POST"})
        self.assertIn(status, (200, 204))
        self.assertIn("POST", client.headers["access-control-allow-methods"])


class Tokens(ServiceCase):
    def tokens(self, text, mode=0o600):
        path = self.folder / "tokens"
        path.write_text(text)
        path.chmod(mode)
        return path

    def test_file_that_others_can_read(self):
        tokens = self.tokens("first-token-of-some-length\n", 0o644)
        with self.assertRaises(AssertionError) as raised:
            self.serve("--tokens", str(tokens))
        self.assertIn("exit status 2", str(raised.exception))

    def test_reload(self):
        tokens = self.tokens("first-token-of-some-length\n")
        server = self.serve("--tokens", str(tokens))
        client = server.client()

        def status(token):
            return client.post("/sessions", {"node_id": "n"},
                               headers={"authorization": f"Bearer {token}"})[0]

        self.assertEqual(status("first-token-of-some-length"), 200)
        tokens.write_text("second-token-of-some-length\n")
        server.process.send_signal(signal.SIGHUP)
        until(lambda: status("second-token-of-some-length") == 200)
        self.assertEqual(status("first-token-of-some-length"), 401)
        self.assertEqual(status("second-token-of-some-lengt"), 401)
        self.assertEqual(status(""), 401)

    def test_every_path_wants_one(self):
        tokens = self.tokens("first-token-of-some-length\n")
        client = self.serve("--tokens", str(tokens)).client()
        description = client.get("/openapi.json", headers={
            "authorization": "Bearer first-token-of-some-length"})[1]
        open_to_all = []
        for path, methods in description["paths"].items():
            for method in methods:
                status, _ = client.ask(method.upper(), path.replace("{", "").replace("}", ""),
                                       {} if method == "post" else None)
                if status != 401:
                    open_to_all.append(path)
        self.assertLessEqual(set(open_to_all), {"/health", "/", "/openapi.json"})
        listener = WebSocket(client.connection.port)
        self.assertEqual(listener.status, 401)
        listener.close()


class Limits(ServiceCase):
    def test_rate(self):
        client = self.serve("--max-rate", "20").client()
        statuses = [client.get("/sessions/count")[0] for _ in range(200)]
        self.assertIn(429, statuses)
        self.assertEqual(set(statuses), {200, 429})
        while client.get("/sessions/count")[0] != 429:
            pass
        self.assertGreaterEqual(int(client.headers["retry-after"]), 1)

    def test_memory(self):
        server = self.serve("--max-memory", "8MiB")
        session = server.client().session()
        status = 200
        for i in range(400):
            lines = b"".join(json.dumps({"events": [[f"{i} {k} a"], [f"{i} {k} b"]]}).encode() + b"\n"
                             for k in range(500))
            status, answer = session.client.ask("POST", "/nodes/shop/patterns", lines)
            if status != 200:
                break
        self.assertEqual(status, 507, answer)
        session.observe_all([["x"], ["y"]])
        self.assertEqual(session.client.post(f"{session.path}/learn")[0], 507)
        self.assertEqual(session.stm(), [["x"], ["y"]], "what could not be learned is still remembered")
        self.assertEqual(len(session.recall(["0 0 a"], ["0 0 b"])), 1)
        # An observation that would have learned leaves nothing, nor does a sequence with one.
        full = server.client().session(config={"max_pattern_length": 3})
        full.observe("x", emotives={"joy": 1})
        full.observe("y")
        before = full.ask("GET", "/percept-data"), full.stm()
        for path, body in (("observe", {"strings": ["z"], "emotives": {"joy": 5}}),
                           ("observe-sequence", {"observations": [{"strings": ["z"]}, {"strings": ["w"]}]})):
            self.assertEqual(full.client.post(f"{full.path}/{path}", body)[0], 507)
            self.assertEqual((full.ask("GET", "/percept-data"), full.stm()), before, path)

    def test_connections(self):
        server = self.serve("--max-connections", "20")
        many = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(40)]
        time.sleep(0.2)
        for connection in many:
            connection.close()
        until(lambda: server.client().get("/health")[0] == 200)

    def test_requests_under_way(self):
        server = self.serve("--max-requests", "4")
        session = server.client().session()
        session.client.ask("POST", "/nodes/shop/patterns", b"".join(
            b'{"events": [["a"], ["b"], ["%d"]]}\n' % i for i in range(3000)))
        body = {"node_id": "shop", "states": [[["a"], ["b"]]] * 200, "config": {"max_predictions": 1}}
        statuses, waits = [], []

        def ask():
            client = server.client()
            statuses.append(client.post("/predictions", body)[0])
            waits.append(client.headers.get("retry-after"))

        threads = [threading.Thread(target=ask) for _ in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLessEqual(set(statuses), {200, 503})
        self.assertIn(200, statuses)
        for status, wait in zip(statuses, waits):
            self.assertEqual(wait is not None, status == 503)


class Tls(ServiceCase):
    def certificate(self, name):
        paths = [str(self.folder / f"{name}.{end}") for end in ("key", "pem")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", f"/CN={name}",
                        "-keyout", paths[0], "-out", paths[1]], check=True, capture_output=True)
        return paths

    def subject(self, port):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection(("127.0.0.1", port), timeout=60) as plain, \
                context.wrap_socket(plain) as connection:
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            self.assertIn(b" 200 ", connection.recv(4096))
            return connection.getpeercert(binary_form=True)

    def test_serves_and_reloads(self):
        key, certificate = self.certificate("one")
        server = self.serve("--tls-certificate", certificate, "--tls-key", key)
        first = self.subject(server.port)
        with self.assertRaises((http.client.HTTPException, OSError)):
            server.client(timeout=60).get("/health")
        other_key, other = self.certificate("two")
        os.replace(other_key, key)
        os.replace(other, certificate)
        server.process.send_signal(signal.SIGHUP)
        until(lambda: self.subject(server.port) != first)

    def test_certificate_without_key(self):
        _, certificate = self.certificate("one")
        with self.assertRaises(AssertionError):
            self.serve("--tls-certificate", certificate)
        with self.assertRaises(AssertionError):
            self.serve("--tls-certificate", certificate, "--tls-key", certificate)


class Events(ServiceCase):
    def test_sessions(self):
        server = self.serve()
        listener = WebSocket(server.port)
        self.addCleanup(listener.close)
        self.assertEqual(listener.status, 101)
        snapshot = listener.event()
        self.assertEqual((snapshot["event_type"], snapshot["data"]["active_sessions"]),
                         ("state.snapshot", 0))
        listener.send(b"ping")
        self.assertEqual(listener.receive(), (1, b"pong"))
        session = server.client().session("n")
        made = listener.event()
        self.assertEqual((made["event_type"], made["data"]["session_id"], made["data"]["node_id"]),
                         ("session.created", session.id, "n"))
        session.client.ask("DELETE", session.path)
        ended = listener.event()
        self.assertEqual((ended["event_type"], ended["data"]["session_id"]),
                         ("session.destroyed", session.id))
        listener.send(b"\x03\xe8", opcode=8)
        self.assertEqual(listener.receive()[0], 8)

    def test_who_does_not_read(self):
        """A listener that takes nothing delays nobody."""
        server = self.serve()
        lazy = WebSocket(server.port)
        self.addCleanup(lazy.close)
        client = server.client()
        before = server.resident()
        for _ in range(3000):
            session = client.session("x" * 200)
            client.ask("DELETE", session.path)
        self.assertLess(server.resident() - before, 64 << 20)
        self.assertEqual(client.get("/health")[0], 200)

    def test_no_websocket(self):
        client = self.serve().client()
        self.assertIn(client.get("/ws/events")[0], (400, 426))


class Ends(ServiceCase):
    def test_grace(self):
        """Idle connections do not hold it up; SIGINT is SIGTERM."""
        for sent in (signal.SIGTERM, signal.SIGINT):
            server = self.serve("--grace", "30")
            idle = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(5)]
            listener = WebSocket(server.port)
            server.client().session()
            began = time.monotonic()
            self.assertEqual(server.end(sent), 0)
            self.assertLess(time.monotonic() - began, 25)
            listener.close()
            for connection in idle:
                connection.close()


if __name__ == "__main__":
    unittest.main()
