"""A pytest plugin for kato_suite.py: leads the ports that KATO's tests connect to elsewhere.

Connections to the ports 8000 to 8003 of this machine go to KATO_SUITE_PORT. With KATO_SUITE_REDIS=1
connections to 6379 go to a server of this process that speaks as much of Redis' protocol as the
tests need, and that knows nothing: it asks the service, by GET /pattern/{name} and GET
/symbols/{symbol}/affinity, for what KATO keeps in Redis.
"""

import json
import os
import re
import socket
import socketserver
import threading
import urllib.error
import urllib.parse
import urllib.request

SERVICE = int(os.environ["KATO_SUITE_PORT"])
_node_of = {}  # what KATO calls the node in Redis: what the service calls it

_connect, _connect_ex = socket.socket.connect, socket.socket.connect_ex
_led = {port: SERVICE for port in (8000, 8001, 8002, 8003)}


def _where(connection, address):
    if connection.family == socket.AF_INET and address[1] in _led:
        return ("127.0.0.1", _led[address[1]])
    return address


_resolve = socket.getaddrinfo


def _resolve_localhost(host, port, family=0, *rest, **named):
    """IPv4 alone: what is led elsewhere listens there."""
    if host in ("localhost", b"localhost"):
        host, family = "127.0.0.1", socket.AF_INET
    return _resolve(host, port, family, *rest, **named)


socket.getaddrinfo = _resolve_localhost
socket.socket.connect = lambda self, address: _connect(self, _where(self, address))
socket.socket.connect_ex = lambda self, address: _connect_ex(self, _where(self, address))


def _ask(path, node):
    url = f"http://127.0.0.1:{SERVICE}{path}?node_id={urllib.parse.quote(node)}"
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


def _stored(key):
    """The value of a key of KATO's: {knowledge base}:{what}:{name}; None where there is none."""
    base, what, name = key.split(":", 2)
    node = _node_of.get(base, base.removesuffix("_kato"))
    quoted = urllib.parse.quote(name, safe="")
    if what == "affinity":
        return {emotive: repr(total)
                for emotive, total in _ask(f"/symbols/{quoted}/affinity", node)["affinity"].items()}
    if what not in ("emotives", "metadata", "frequency"):
        raise ValueError(f"a test asks Redis for {what}, which this stand-in does not know")
    found = _ask(f"/pattern/{quoted}", node)["pattern"]
    if found["status"] != "okay":
        return None
    value = found["pattern"][what]
    if what == "frequency":
        return str(value)
    return json.dumps(value) if value else None  # KATO writes no key for nothing


def _value(value):
    if isinstance(value, int):
        return b":%d\r\n" % value
    data = value.encode()
    return b"$%d\r\n%s\r\n" % (len(data), data)


class _Redis(socketserver.StreamRequestHandler):
    protocol = 2

    def handle(self):
        while line := self.rfile.readline():
            words = []
            for _ in range(int(line[1:])):
                size = int(self.rfile.readline()[1:])
                words.append(self.rfile.read(size + 2)[:size].decode())
            self.wfile.write(self.answer(words[0].upper(), words[1:]))

    def answer(self, command, arguments):
        if command == "HELLO":
            self.protocol = int(arguments[0])
            return self.pairs({"proto": self.protocol})
        if command == "GET":
            value = _stored(arguments[0])
            if value is None:
                return b"_\r\n" if self.protocol == 3 else b"$-1\r\n"
            return _value(value)
        if command == "EXISTS":
            return b":%d\r\n" % (_stored(arguments[0]) is not None)
        if command == "HGETALL":
            return self.pairs(_stored(arguments[0]) or {})
        if command in ("CLIENT", "SELECT"):
            return b"+OK\r\n"
        if command == "PING":
            return b"+PONG\r\n"
        return b"-ERR unknown command '%s'\r\n" % command.encode()

    def pairs(self, values):
        head = b"%%%d\r\n" % len(values) if self.protocol == 3 else b"*%d\r\n" % (2 * len(values))
        return head + b"".join(_value(key) + _value(value) for key, value in values.items())


def _remember_nodes(fixture):
    name_in_redis = fixture._get_actual_kb_id

    def remembering(self, node, *rest, **named):
        base = name_in_redis(self, node, *rest, **named)
        _node_of[base] = node
        return base

    fixture._get_actual_kb_id = remembering


if os.environ.get("KATO_SUITE_REDIS") == "1":
    _server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Redis)
    _server.daemon_threads = True
    _led[6379] = _server.server_address[1]
    threading.Thread(target=_server.serve_forever, daemon=True).start()

    def pytest_collection_finish(session):
        import sys

        for name, module in list(sys.modules.items()):
            if re.fullmatch(r"(.*\.)?kato_fixtures", name):
                _remember_nodes(module.KATOFastAPIFixture)
