#!/usr/bin/env python3
"""The HTTP server under programs that others wrote: curl, openssl s_client and Python's http.client;
with thousands of connections; and its signals and inherited sockets."""

import http.client
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from hoist_tree import BUILD

SERVER = BUILD / "tests/http_test_server"
MEBIBYTE = 1 << 20


class Server:
    """The test server, listening at a free port."""

    def __init__(self, *arguments, **options):
        self.process = subprocess.Popen([str(SERVER), *arguments], stdout=subprocess.PIPE, text=True,
                                        **options)
        self.address = self.process.stdout.readline().strip()
        self.port = int(self.address.rsplit(":", 1)[1]) if ":/" not in self.address else 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port))

    def resident(self):
        """Bytes of memory."""
        pages = int(pathlib.Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize()


def curl(*arguments, **options):
    return subprocess.run(["curl", "--silent", "--show-error", "--max-time", "60", *arguments],
                          check=True, capture_output=True, **options).stdout


def read_answer(connection):
    answer = b""
    while b"hello x" not in answer:
        piece = connection.recv(4096)
        if not piece:
            raise AssertionError(answer)
        answer += piece
    return answer


@unittest.skipUnless(shutil.which("curl"), "curl is not installed")
class Curl(unittest.TestCase):
    def test_methods_and_bodies(self):
        body = os.urandom(3 * MEBIBYTE)
        with Server() as server:
            url = f"http://{server.address}"
            self.assertEqual(curl(f"{url}/hello/w%20d"), b"hello w d")
            self.assertEqual(curl("--http1.0", f"{url}/hello/x"), b"hello x")
            self.assertEqual(curl("--data-binary", "@-", f"{url}/echo", input=body), body)
            # By chunks, and after "Expect: 100-continue".
            self.assertEqual(curl("--header", "Transfer-Encoding: chunked", "--header",
                                  "Expect: 100-continue", "--data-binary", "@-", f"{url}/echo",
                                  input=body), body)
            self.assertEqual(curl("--upload-file", "-", f"{url}/upload", input=body),
                             str(len(body)).encode())
            self.assertIn(b"content-length: 7", curl("--head", f"{url}/hello/x"))
            self.assertIn(b"204 No Content", curl("-i", "-X", "OPTIONS", f"{url}/hello/x"))
            # Two on one connection.
            self.assertEqual(curl("--write-out", "%{num_connects}", f"{url}/hello/x",
                                  f"{url}/hello/x"), b"hello x1hello x0")
            self.assertEqual(len(curl(f"{url}/download/5000000")), 5_000_000)

    def test_unix_socket_and_ipv6(self):
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/socket"
            with Server("--listen", f"unix:{path}"):
                self.assertEqual(curl("--unix-socket", path, "http://x/hello/x"), b"hello x")
        if not pathlib.Path("/proc/net/if_inet6").exists():
            self.skipTest("there is no IPv6")
        with Server("--listen", "[::1]:0") as server:
            self.assertEqual(curl(f"http://{server.address}/hello/x"), b"hello x")

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_tls(self):
        with tempfile.TemporaryDirectory() as folder:
            files = [f"{folder}/cert.pem", f"{folder}/key.pem"]

            def make(days):
                subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                "ec_paramgen_curve:P-256", "-nodes", "-days", str(days), "-subj",
                                f"/CN=days{days}", "-addext", "subjectAltName=IP:127.0.0.1", "-out",
                                files[0], "-keyout", files[1]], check=True, capture_output=True)

            make(1)
            with Server("--tls", *files) as server:
                url = f"https://{server.address}"
                body = os.urandom(3 * MEBIBYTE)
                self.assertEqual(curl("--cacert", files[0], f"{url}/hello/x"), b"hello x")
                self.assertEqual(curl("--cacert", files[0], "--data-binary", "@-", f"{url}/echo",
                                      input=body), body)
                self.assertEqual(len(curl("--cacert", files[0], f"{url}/download/5000000")),
                                 5_000_000)

                def s_client(*arguments):
                    done = subprocess.run(["openssl", "s_client", "-connect", server.address,
                                           *arguments], input=b"", capture_output=True, timeout=60,
                                          check=False)
                    return done.returncode, done.stdout + done.stderr

                self.assertIn(b"ALPN protocol: http/1.1", s_client("-alpn", "h2,http/1.1")[1])
                self.assertEqual(s_client("-tls1_2")[0], 0)
                self.assertNotEqual(s_client("-tls1_1", "-cipher", "ALL@SECLEVEL=0")[0], 0)
                self.assertIn(b"days1", s_client()[1])
                make(2)
                server.process.send_signal(signal.SIGHUP)
                self.assertEqual(server.process.stdout.readline(), "reload: done\n")
                self.assertIn(b"days2", s_client()[1])


class Connections(unittest.TestCase):
    def test_idle_connections_cost_little(self):
        """Each has had an answer before it idles."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = 10_000 if hard == resource.RLIM_INFINITY else min(10_000, hard - 200)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted + 100), hard))

        def as_users_have_it():
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(1024, hard), hard))

        try:
            with Server(preexec_fn=as_users_have_it) as server:
                with server.connect() as first:
                    first.sendall(b"GET /hello/x HTTP/1.1\r\nHost: x\r\n\r\n")
                    read_answer(first)
                before = server.resident()
                connections = [server.connect() for _ in range(wanted)]
                for connection in connections:
                    connection.sendall(b"GET /hello/x HTTP/1.1\r\nHost: x\r\n\r\n")
                for connection in connections:
                    read_answer(connection)
                each = (server.resident() - before) / wanted
                print(f"{wanted} idle connections: {each:.0f} bytes each")
                self.assertLess(each, 2048)
                # All are alive, and new ones come in.
                for connection in connections[::500] + [server.connect()]:
                    connection.sendall(b"GET /hello/x HTTP/1.1\r\nHost: x\r\n\r\n")
                    read_answer(connection)
                    connection.close()
                for connection in connections:
                    connection.close()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def test_large_bodies_need_little_memory(self):
        with Server() as server:
            client = http.client.HTTPConnection("127.0.0.1", server.port)
            before = server.resident()
            client.request("POST", "/upload", body=(b"u" * MEBIBYTE for _ in range(300)),
                           encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
            self.assertEqual(client.getresponse().read(), str(300 * MEBIBYTE).encode())
            client.request("GET", f"/download/{300 * MEBIBYTE}")
            answer = client.getresponse()
            count = 0
            while piece := answer.read(MEBIBYTE):
                count += len(piece)
            self.assertEqual(count, 300 * MEBIBYTE)
            client.close()
            self.assertLess(server.resident() - before, 20 * MEBIBYTE)

    def test_drains_at_sigterm(self):
        with Server() as server:
            upload = server.connect()
            upload.sendall(b"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nabc")
            idle = server.connect()
            idle.sendall(b"GET /hello/x HTTP/1.1\r\nHost: x\r\n\r\n")
            read_answer(idle)
            server.process.send_signal(signal.SIGTERM)
            self.assertEqual(idle.recv(100), b"")
            with self.assertRaises(OSError):
                server.connect()
            upload.sendall(b"def")
            answer = b""
            while piece := upload.recv(4096):
                answer += piece
            self.assertIn(b"connection: close\r\n", answer)
            self.assertTrue(answer.endswith(b"\r\n\r\n6"))
            upload.close()
            idle.close()
            self.assertEqual(server.process.wait(timeout=60), 0)

    def test_sockets_of_the_service_manager(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            os.set_inheritable(listener.fileno(), True)
            script = f'exec 3<&{listener.fileno()}; LISTEN_FDS=1 LISTEN_PID=$$ exec "$@"'
            process = subprocess.Popen(["bash", "-c", script, "bash", str(SERVER), "--listen",
                                        "systemd"], stdout=subprocess.PIPE, text=True,
                                       pass_fds=[listener.fileno()])
        try:
            self.assertEqual(process.stdout.readline(), f"127.0.0.1:{port}\n")
            with socket.create_connection(("127.0.0.1", port)) as connection:
                connection.sendall(b"GET /hello/x HTTP/1.1\r\nHost: x\r\n\r\n")
                read_answer(connection)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()

    def test_without_descriptors_clients_wait_their_turn(self):
        def few():
            resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))

        with Server(preexec_fn=few) as server:
            connections = [server.connect() for _ in range(200)]
            for connection in connections:
                connection.sendall(b"GET /hello/x HTTP/1.1\r\nHost: x\r\n\r\n")
            for connection in connections:
                read_answer(connection)
                connection.close()

    def test_a_client_that_vanishes_leaves_nothing(self):
        with Server() as server:
            descriptors = pathlib.Path(f"/proc/{server.process.pid}/fd")
            with server.connect() as first:  # it runs, and has opened what it needs
                first.sendall(b"GET /hello/x HTTP/1.1\r\nHost: x\r\n\r\n")
                read_answer(first)
                before = len(list(descriptors.iterdir())) - 1
            for request in (b"", b"GET", b"POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na",
                            b"GET /download/99999999 HTTP/1.1\r\nHost: x\r\n\r\n"):
                for _ in range(20):
                    with server.connect() as connection:
                        connection.sendall(request)
            end = time.monotonic() + 60
            while len(list(descriptors.iterdir())) > before and time.monotonic() < end:
                time.sleep(0.01)
            self.assertEqual(len(list(descriptors.iterdir())), before)


if __name__ == "__main__":
    unittest.main()
