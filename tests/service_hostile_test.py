#!/usr/bin/env python3
"""`hoist match serve` and clients that are slow, gone, many, or send what is none of their business."""

import os
import random
import socket
import threading
import time
import unittest

from service_case import SharedServerCase, usable_descriptors

MEBIBYTE = 1 << 20
SEED = int(os.environ.get("HOIST_TEST_SEED", random.SystemRandom().randrange(2**32)))


class HostileCase(SharedServerCase):
    def connect(self):
        connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=60)
        self.addCleanup(connection.close)
        return connection

    def assert_serves(self):
        """Somebody else is served as if nothing were."""
        session = self.server.client(timeout=60).session(self.node + "_other")
        session.teach(["a"], ["b"])
        self.assertEqual(len(session.recall(["a"], ["b"])), 1)
        self.assertIsNone(self.server.process.poll())

    def answer(self, connection):
        """All that comes until the other side closes."""
        text = b""
        while piece := connection.recv(65536):
            text += piece
        return text


class Connections(HostileCase):
    def test_half_a_request(self):
        session = self.session()
        for sent in (b"", b"GET /heal", b"GET /health HTTP/1.1\r\nHost: x\r\n",
                     b"POST /sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{"):
            with self.subTest(sent=sent):
                waiting = self.connect()
                waiting.sendall(sent)
                self.assert_serves()
                waiting.shutdown(socket.SHUT_WR)
                answer = self.answer(waiting)
                self.assertNotIn(b" 200 ", answer)
        self.assertEqual(session.stm(), [])

    def test_gone_before_the_answer(self):
        """Learning was asked for: it is done, though nobody waits any more."""
        session = self.session()
        session.observe_all([["a"], ["b"]])
        for _ in range(50):
            gone = self.connect()
            gone.sendall(f"GET {session.path}/predictions HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            gone.close()
        gone = self.connect()
        gone.sendall(f"POST {session.path}/learn HTTP/1.1\r\nHost: x\r\n"
                     "Content-Length: 2\r\n\r\n{}".encode())
        gone.close()
        deadline = time.monotonic() + 60
        while session.stm() and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertEqual(session.stm(), [])
        self.assert_serves()

    def test_slow_writers(self):
        session = self.session()
        body = b'{"strings": ["a"]}'
        head = (f"POST {session.path}/observe HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
                f"Content-Length: {len(body)}\r\n\r\n").encode()
        slow = [self.connect() for _ in range(20)]
        for i in range(0, len(head + body), 7):
            for connection in slow:
                connection.sendall((head + body)[i:i + 7])
            if i % 70 == 0:
                self.assert_serves()
        for connection in slow:
            self.assertIn(b" 200 ", self.answer(connection))
        self.assertEqual(session.stm(), [["a"]] * 20)

    def test_slow_readers(self):
        """Of large answers, which nobody takes: memory stays bounded, others are served."""
        session = self.session(max_predictions=1000)
        lines = b"".join(b'{"events": [["a"], ["b"], ["%d"]]}\n' % i for i in range(1000))
        self.client.ask("POST", f"/nodes/{self.node}/patterns", lines)
        session.observe_all([["a"], ["b"]])
        self.assertEqual(len(session.predictions()), 1000)
        before = self.server.resident()
        slow = []
        for _ in range(30):
            connection = self.connect()
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            for _ in range(30):
                connection.sendall(
                    f"GET {session.path}/predictions HTTP/1.1\r\nHost: x\r\n\r\n".encode())
            slow.append(connection)
        time.sleep(1)
        self.assert_serves()
        # Each answer is about a megabyte, and 900 were asked for.
        self.assertLess(self.server.resident() - before, 400 * MEBIBYTE)
        self.assertIn(b"HTTP/1.1 200", slow[0].recv(100))

    def test_pipelined(self):
        session = self.session()
        body = b'{"strings": ["%d"]}'
        text = b""
        for i in range(100):
            one = body % i
            text += (f"POST {session.path}/observe HTTP/1.1\r\nHost: x\r\n"
                     f"Content-Length: {len(one)}\r\n\r\n").encode() + one
        connection = self.connect()
        connection.sendall(text + b"GET /sessions/count HTTP/1.1\r\nHost: x\r\n"
                                  b"Connection: close\r\n\r\n")
        self.assertEqual(self.answer(connection).count(b"HTTP/1.1 200"), 101)
        self.assertEqual(session.stm(), [[str(i)] for i in range(100)])

    def test_many_idle(self):
        """10 000, or as many as this machine lets a process have."""
        count = min(10_000, usable_descriptors(10_200) - 200)
        limit = open(f"/proc/{self.server.process.pid}/limits").read()
        most = int(next(line.split()[3] for line in limit.splitlines() if "open files" in line))
        count = min(count, most - 200)
        print(f"{count} idle connections")
        idle = []
        before = self.server.resident()
        for i in range(count):
            # A process has 28 000 ports an address.
            idle.append(self.connect())
        self.assert_serves()
        self.assertLess((self.server.resident() - before) / count, 32 << 10)
        for connection in idle[:: max(1, count // 20)]:
            connection.sendall(b"GET /sessions/count HTTP/1.1\r\nHost: x\r\n\r\n")
            self.assertIn(b" 200 ", connection.recv(4096))


class Bodies(HostileCase):
    def refused_or_closed(self, head, pieces):
        """The statuses of the answer to a request whose body comes in pieces; none where the server
        hangs up."""
        connection = self.connect()
        try:
            connection.sendall(head)
            for piece in pieces:
                connection.sendall(piece)
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            return connection.recv(4096).split(b" ")[1:2]
        except ConnectionResetError:
            return []

    def test_a_hundred_megabytes(self):
        session = self.session()
        piece = b'"' + b"x" * (MEBIBYTE - 3) + b'",'
        before = self.server.resident()
        size = 100 * len(piece) + 1024
        head = f"POST {session.path}/observe HTTP/1.1\r\nHost: x\r\n".encode()
        for framing, pieces in (
                (b"Content-Length: %d\r\n\r\n" % size, [b'{"strings": ['] + [piece] * 100),
                (b"Transfer-Encoding: chunked\r\n\r\n",
                 [b"%x\r\n%s\r\n" % (len(part), part)
                  for part in [b'{"strings": ['] + [piece] * 100])):
            with self.subTest(framing=framing[:12]):
                self.assertIn(self.refused_or_closed(head + framing, pieces), ([b"413"], []))
        self.assertLess(self.server.resident() - before, 128 * MEBIBYTE)
        self.assertEqual(session.stm(), [])
        self.assert_serves()

    def test_large_symbols_and_many(self):
        session = self.session()
        status, _ = self.client.post(f"{session.path}/observe", {"strings": ["x" * (2 * MEBIBYTE)]})
        self.assertIn(status, (200, 413, 422))
        status, _ = self.client.post(f"{session.path}/observe",
                                     {"strings": [str(i) for i in range(100_000)]})
        self.assertIn(status, (200, 400, 413, 422))
        self.assertIn(self.client.post(f"{session.path}/learn")[0], (200, 400))
        self.assert_serves()

    def test_memory_that_only_grows(self):
        """A session that observes for ever is stopped, or forgets: it does not take all memory."""
        session = self.session()
        body = {"observations": [{"strings": [f"{i} {'x' * 900}"]} for i in range(1000)]}
        before = self.server.resident()
        for _ in range(100):
            status, _ = self.client.post(f"{session.path}/observe-sequence", body)
            if status != 200:
                self.assertIn(status, (400, 413, 429, 507))
                break
        self.assertLess(self.server.resident() - before, 512 * MEBIBYTE)
        self.assert_serves()

    def test_deep_and_wide(self):
        session = self.session()
        for body in (b"[" * 100_000, b'{"a":' * 100_000, b'{"strings": ' + b"[" * 5000 + b"]" * 5000 + b"}",
                     b'{"metadata": ' + b'{"a":' * 60 + b"1" + b"}" * 60 + b"}",
                     b"[" + b"0," * 500_000 + b"0]", b'{"emotives": {"x": -1e308, "x": 1e308}}'):
            with self.subTest(body=body[:20]):
                self.assertIn(self.client.ask("POST", f"{session.path}/observe", body)[0],
                              (200, 400, 413, 422))
        self.assert_serves()

    def test_endless_numbers(self):
        session = self.session()
        for number in (b"1e308", b"1e309", b"-1e309", b"1" * 400, b"0." + b"1" * 400, b"1e-400",
                       b"1e" + b"9" * 100, b"-0", b"-", b"+1", b"01", b"0x10", b"1e999"):
            for body in (b'{"strings": ["a"], "emotives": {"joy": %s}}', b'{"vectors": [[%s, 1]]}',
                         b'{"strings": ["b"], "metadata": {"n": %s}}'):
                with self.subTest(number=number[:10], body=body):
                    self.assertIn(
                        self.client.ask("POST", f"{session.path}/observe", body % number)[0],
                        (200, 400, 422))
        for what in ("/learn", "/finalize-training"):
            self.assertIn(self.client.post(f"{session.path}{what}")[0], (200, 400))
        self.assertEqual(self.client.get(f"{session.path}/predictions")[0], 200)
        self.assert_serves()

    def test_broken_utf8(self):
        session = self.session()
        for text in (b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"a\xc3",
                     b"\\ud800", b"\\udc00\\ud800", b"\\u12", b"\\x41", b"\x00"):
            with self.subTest(text=text):
                status, _ = self.client.ask("POST", f"{session.path}/observe",
                                            b'{"strings": ["' + text + b'"]}')
                self.assertEqual(status, 422)
        for path in ("/pattern/%ff", "/pattern/%c0%80?node_id=%ff", "/symbols/%ed%a0%80/affinity",
                     "/sessions/%00/stm", "/pattern/%2e%2e%2f", "/pattern/" + "x" * 5000,
                     "/nodes/%ff/patterns", "/pattern/x?node_id=" + "%f0" * 10):
            with self.subTest(path=path):
                self.assertIn(self.client.get(path)[0], (200, 400, 404, 414, 431))
        self.assertEqual(session.stm(), [])
        self.assert_serves()


class Garbage(HostileCase):
    def test_no_http(self):
        print("HOIST_TEST_SEED =", SEED)
        chance = random.Random(SEED)
        request = (b"POST /sessions HTTP/1.1\r\nHost: x\r\nContent-Length: 16\r\n\r\n"
                   b'{"node_id": "n"}')
        for _ in range(300):
            text = bytearray(request)
            for _ in range(chance.randint(1, 8)):
                text[chance.randrange(len(text))] = chance.randrange(256)
            connection = socket.create_connection(("127.0.0.1", self.server.port), timeout=60)
            with connection:
                connection.sendall(bytes(text))
                connection.shutdown(socket.SHUT_WR)
                try:
                    while connection.recv(65536):
                        pass
                except ConnectionResetError:
                    pass
        self.assert_serves()

    def test_random_bodies(self):
        print("HOIST_TEST_SEED =", SEED)
        chance = random.Random(SEED)
        pieces = [b"{", b"}", b"[", b"]", b",", b":", b'"', b"strings", b'"strings": ', b'"a"', b"1",
                  b"null", b"true", b"-1e5", b"\\u00e9", b"\xc3\xa9", b"\xff", b'"vectors": ',
                  b'"emotives": ', b'"observations": ', b'"config": ', b'"states": ', b'"node_id": ']
        session = self.session()
        for _ in range(1500):
            body = b"".join(chance.choices(pieces, k=chance.randint(1, 12)))
            if chance.random() < 0.7:
                body = b"{" + body + b"}"
            path = chance.choice([f"{session.path}/observe", f"{session.path}/observe-sequence",
                                  f"{session.path}/config", "/sessions", "/predictions",
                                  f"/nodes/{self.node}/patterns"])
            status, _ = self.client.ask("POST", path, body)
            self.assertIn(status, (200, 400, 422), (path, body))
        self.assert_serves()


class Together(HostileCase):
    def test_one_session_from_many_connections(self):
        """Every observation is there once, whoever sent it."""
        session = self.session()
        failed = []

        def observe(number):
            client = self.server.client()
            for i in range(100):
                status, answer = client.post(f"{session.path}/observe", {"strings": [f"{number} {i}"]})
                if status != 200:
                    failed.append(answer)

        threads = [threading.Thread(target=observe, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        stm = [event[0] for event in session.stm()]
        self.assertEqual(sorted(stm), sorted(f"{n} {i}" for n in range(8) for i in range(100)))
        for number in range(8):
            own = [text for text in stm if text.startswith(f"{number} ")]
            self.assertEqual(own, [f"{number} {i}" for i in range(100)])

    def test_clearing_while_others_learn(self):
        failed = []

        def work(number):
            session = self.server.client().session(self.node)
            for i in range(60):
                try:
                    session.observe_all([[f"{number}"], [f"{i}"]])
                    session.client.post(f"{session.path}/learn")
                    session.predictions()
                    if number == 0 and i % 5 == 0:
                        session.ask("POST", "/clear-all", {})
                except AssertionError as error:
                    failed.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])
        self.assert_serves()


class Places(HostileCase):
    def test_files_of_the_folder_only(self):
        for path in ("/../../etc/passwd", "/..%2f..%2fetc/passwd", "//etc/passwd", "/%00", "/status.js/..",
                     "/nodes/..%2f..%2f/snapshots"):
            status, answer = self.client.get(path)
            self.assertIn(status, (200, 400, 404))
            self.assertNotIn("root:", str(answer))


if __name__ == "__main__":
    unittest.main()
