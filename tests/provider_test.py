#!/usr/bin/env python3
"""Black-box tests of the OpenSSL provider: real programs, with and without it, do the same."""

import hashlib
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import time
import sys
import tempfile
import unittest

from hoist_tree import BUILD, HOIST, environment, run

OPENSSL = shutil.which("openssl")
PROVIDER = BUILD / "lib/ossl-modules/hoist.so"
SIZE = 3_000_017
CONFIGURATION = """.include /etc/ssl/openssl.cnf
[default]
openssl_conf = hoist_configuration
[hoist_configuration]
providers = hoist_providers
alg_section = hoist_algorithms
[hoist_providers]
default = hoist_default
hoist = hoist_provider
[hoist_default]
activate = 1
[hoist_provider]
module = {module}
activate = 1
threshold = 2000
[hoist_algorithms]
default_properties = ?provider=hoist
"""
# Large updates of many kinds, a fork between them, and what else a program does with OpenSSL.
PROGRAM = r"""
import ctypes, ctypes.util, hashlib, os, ssl
crypto = ctypes.CDLL(ctypes.util.find_library("crypto"))
for name in ("EVP_CIPHER_CTX_new", "EVP_get_cipherbyname", "EVP_CIPHER_fetch",
             "EVP_CIPHER_get0_provider", "OSSL_PROVIDER_get0_name"):
    getattr(crypto, name).restype = ctypes.c_void_p
crypto.OSSL_PROVIDER_get0_name.restype = ctypes.c_char_p
text = bytes(range(256)) * 4000
def encrypted(name):
    cipher = ctypes.c_void_p(crypto.EVP_CIPHER_fetch(None, name, None))
    provider = ctypes.c_void_p(crypto.EVP_CIPHER_get0_provider(cipher))
    context = ctypes.c_void_p(crypto.EVP_CIPHER_CTX_new())
    out, length = ctypes.create_string_buffer(len(text) + 64), ctypes.c_int()
    assert crypto.EVP_EncryptInit_ex(context, cipher, None, bytes(range(64)), b"i" * 16) == 1
    assert crypto.EVP_EncryptUpdate(context, out, ctypes.byref(length), text, len(text)) == 1
    crypto.EVP_CIPHER_CTX_free(context)
    return crypto.OSSL_PROVIDER_get0_name(provider), hashlib.sha256(out.raw[:length.value])
names = (b"AES-256-GCM", b"AES-128-CTR", b"AES-256-XTS", b"AES-192-ECB", b"ChaCha20-Poly1305",
         b"AES-128-CBC")
def report():
    for name in names:
        provider, digest = encrypted(name)
        print(name.decode(), digest.hexdigest())
    return provider
report()
child = os.fork()
if child == 0:
    report()
    os._exit(0)
# What Python itself looks at from 3.12 on, to warn of a fork in a process that has threads.
threads = open("/proc/self/stat").read().rsplit(")", 1)[1].split()[17]
os.waitpid(child, 0)
print(threads, "thread")
print(hashlib.sha3_256(text).hexdigest(), ssl.create_default_context().verify_mode)
import sys
print(report().decode(), file=sys.stderr)
"""


def wait_for_listener(port):
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens at {port}")


def make_certificate(key, certificate):
    made = run(OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=test",
               "-addext", "subjectAltName=DNS:test", "-keyout", key, "-out", certificate, env=ON)
    assert made.returncode == 0, made.stderr


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def setUpModule():
    if OPENSSL is None:
        raise unittest.SkipTest("openssl is not installed")
    if not PROVIDER.exists():
        raise unittest.SkipTest("the provider is not built")
    if os.environ.get("HOIST_SANITIZE"):
        raise unittest.SkipTest("a sanitizer's runtime must be the program's own")
    global FOLDER, ON, OFF, DATA
    FOLDER = pathlib.Path(tempfile.mkdtemp(prefix="hoist-provider-"))
    configuration = FOLDER / "openssl.cnf"
    configuration.write_text(CONFIGURATION.format(module=PROVIDER))
    OFF = environment()
    ON = environment(OPENSSL_CONF=str(configuration))
    DATA = FOLDER / "data"
    block = b"".join(hashlib.sha512(bytes([i])).digest() for i in range(256))
    DATA.write_bytes((block * (SIZE // len(block) + 1))[:SIZE])


def tearDownModule():
    shutil.rmtree(FOLDER)


PYTHON = (sys.executable, "-W", "error::DeprecationWarning", "-c")
NGINX = """daemon off;
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx.log;
events {{}}
http {{
  access_log off;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi;
  scgi_temp_path {folder}/scgi;
  server {{
    listen 127.0.0.1:{port} ssl;
    root {folder};
    ssl_certificate {folder}/certificate.pem;
    ssl_certificate_key {folder}/key.pem;
  }}
}}
"""


class ProviderTest(unittest.TestCase):
    def test_is_loaded_beside_the_default_one(self):
        listed = run(OPENSSL, "list", "-providers", env=ON).stdout.decode()
        self.assertIn("Hoist provider", listed)
        self.assertIn("OpenSSL Default Provider", listed)

    def test_only_where_it_is_asked_for(self):
        for words, listed in (([], False), (["--ops", "+aes"], True), (["--ops", "-aes"], False)):
            with self.subTest(words=words):
                done = run(HOIST, "run", *words, "--", OPENSSL, "list", "-providers", env=OFF)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(b"Hoist provider" in done.stdout, listed, done.stderr)

    def test_programs_that_are_watched_find_it(self):
        for words in (["--stats=/dev/null"], ["--verify=0.5"], ["--explain"]):
            with self.subTest(words=words):
                done = run(HOIST, "run", *words, "--ops", "+aes", "--", "sh", "-c",
                           f"{HOIST} top --once >/dev/null; openssl list -providers", env=OFF)
                self.assertIn(b"Hoist provider", done.stdout, done.stderr)

    def test_a_tree_with_an_odd_name(self):
        prefix = FOLDER / "it's a $tree #1"
        (prefix / "libexec/hoist").mkdir(parents=True)
        shutil.copytree(BUILD / "lib", prefix / "lib", symlinks=True,
                        ignore=lambda folder, names: [n for n in names if n.endswith(".a")])
        (prefix / "bin").mkdir()
        shutil.copy(HOIST, prefix / "bin")
        shutil.copy(BUILD / "libexec/hoist/hoist-command-line", prefix / "libexec/hoist")
        own = prefix / "own.cnf"
        shutil.copy("/etc/ssl/openssl.cnf", own)
        for env in (OFF, environment(OPENSSL_CONF=str(own))):
            done = run(prefix / "bin/hoist", "run", "--ops", "+aes", "--", OPENSSL, "list",
                       "-providers", env=env)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"Hoist provider", done.stdout)

    def test_a_missing_module_changes_nothing(self):
        configuration = FOLDER / "missing.cnf"
        text = CONFIGURATION.format(module="/nowhere/hoist.so")
        configuration.write_text(text.replace("activate", "soft_load = 1\nactivate"))
        done = run(OPENSSL, "enc", "-aes-256-ctr", "-K", "42" * 32, "-iv", "24" * 16, "-in", DATA,
                   env=environment(OPENSSL_CONF=str(configuration)))
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_enc(self):
        for cipher in ("aes-256-ctr", "aes-128-cbc", "aes-256-cbc", "aes-192-ecb", "aes-128-ctr"):
            with self.subTest(cipher=cipher):
                words = [OPENSSL, "enc", f"-{cipher}", "-K", "42" * 32, "-bufsize", "1000000"]
                if "ecb" not in cipher:
                    words += ["-iv", "24" * 16]
                words[4] = "42" * (int(cipher.split("-")[1]) // 8)
                there = [run(*words, "-in", DATA, env=env) for env in (OFF, ON)]
                self.assertEqual(there[0].stdout, there[1].stdout)
                back = run(*words, "-d", env=ON, input=there[1].stdout)
                self.assertEqual(back.stdout, DATA.read_bytes(), back.stderr)
                cut = [run(*words, "-d", env=env, input=there[1].stdout[:-1]) for env in (OFF, ON)]
                self.assertEqual(cut[0].returncode, cut[1].returncode)
                self.assertEqual(cut[0].stdout, cut[1].stdout)

    def test_stats(self):
        if len(os.sched_getaffinity(0)) < 2:
            self.skipTest("one CPU")
        stats = FOLDER / "stats.json"
        done = run(HOIST, "run", f"--stats={stats}", "--verify=1", "--", *PYTHON, PROGRAM,
                   env=ON | {"XDG_CACHE_HOME": str(FOLDER / "watched")})
        self.assertEqual((done.returncode, done.stderr.splitlines()[0]), (0, b"hoist"), done.stderr)
        aes = json.loads(stats.read_text())["operations"]["aes"]
        # Six ciphers run, each once in a child: CBC encrypts on one core.
        self.assertEqual(aes["implementations"]["cpu-all"]["calls"], 15)
        self.assertEqual(aes["passed"].pop("CBC encryption is serial"), 3)
        # An AEAD message, which has no end here, counts as the same when it ends.
        self.assertEqual(aes["passed"], {"verify: same": 9})

    def test_python(self):
        done = [run(*PYTHON, PROGRAM, env=env) for env in (OFF, ON)]
        self.assertEqual([d.returncode for d in done], [0, 0], done[1].stderr)
        self.assertEqual(done[0].stdout, done[1].stdout)
        self.assertEqual([d.stderr for d in done], [b"default\n", b"hoist\n"])

    def test_switches(self):
        for changes in ({"HOIST": "off"}, {"HOIST_OPS": "-aes"}):
            with self.subTest(**changes):
                done = run(*PYTHON, PROGRAM, env=ON | changes)
                self.assertEqual(done.stderr, b"default\n")

    def test_verification(self):
        cache = FOLDER / "cache"
        done = run(*PYTHON, PROGRAM,
                   env=ON | {"HOIST_VERIFY": "1", "XDG_CACHE_HOME": str(cache)})
        self.assertEqual((done.returncode, done.stderr), (0, b"hoist\n"))
        self.assertFalse((cache / "hoist/switched-off").exists())

    def test_other_property_queries_pass_by(self):
        done = run(OPENSSL, "enc", "-aes-256-ctr", "-K", "42" * 32, "-iv", "24" * 16, "-propquery",
                   "fips=yes", "-in", DATA, env=ON)
        self.assertNotEqual(done.returncode, 0)

    def test_speed_runs(self):
        done = run(OPENSSL, "speed", "-seconds", "1", "-bytes", "1000000", "-evp", "aes-256-gcm",
                   env=ON)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, rb"AES-256-GCM +\d+")

    def test_tls(self):
        key, certificate = FOLDER / "key.pem", FOLDER / "certificate.pem"
        make_certificate(key, certificate)
        for suite in (["-tls1_3", "-ciphersuites", "TLS_AES_256_GCM_SHA384"],
                      ["-tls1_3", "-ciphersuites", "TLS_CHACHA20_POLY1305_SHA256"],
                      ["-tls1_2", "-cipher", "ECDHE-RSA-AES128-GCM-SHA256"],
                      ["-tls1_2", "-cipher", "ECDHE-RSA-AES256-SHA"]):
            for server_env, client_env in ((ON, OFF), (OFF, ON)):
                with self.subTest(suite=suite[2], server=server_env is ON):
                    self.exchange(suite, key, certificate, server_env, client_env)

    def test_nginx_and_curl(self):
        nginx = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
        curl = shutil.which("curl")
        if nginx is None or curl is None:
            self.skipTest("needs nginx and curl")
        make_certificate(FOLDER / "key.pem", FOLDER / "certificate.pem")
        port = free_port()
        configuration = FOLDER / "nginx.conf"
        configuration.write_text(NGINX.format(folder=FOLDER, port=port))
        under_hoist = (HOIST, "run", "--ops", "+aes", "--")
        FOLDER.chmod(0o755)  # where root runs this, nginx reads as somebody else
        server = subprocess.Popen([*under_hoist, nginx, "-e", FOLDER / "nginx.log", "-c",
                                   configuration], env=OFF, stderr=subprocess.PIPE)
        try:
            wait_for_listener(port)
            done = run(*under_hoist, curl, "--silent", "--show-error", "--cacert",
                       FOLDER / "certificate.pem", "--connect-to", f"test:443:127.0.0.1:{port}",
                       "https://test/data", env=OFF)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(done.stdout, DATA.read_bytes())
        finally:
            server.terminate()
            server.communicate(timeout=60)

    def exchange(self, suite, key, certificate, server_env, client_env):
        port = free_port()
        server = subprocess.Popen(
            [OPENSSL, "s_server", "-accept", f"127.0.0.1:{port}", "-key", key, "-cert",
             certificate, "-WWW", "-naccept", "1"], cwd=FOLDER, env=server_env,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
        try:
            while b"ACCEPT" not in (line := server.stdout.readline()):
                self.assertTrue(line, "the server ended")
            done = run(OPENSSL, "s_client", "-connect", f"127.0.0.1:{port}", "-quiet", *suite,
                       env=client_env, input=b"GET /data HTTP/1.0\r\n\r\n")
            header, body = done.stdout.split(b"\r\n\r\n", 1)
            self.assertTrue(re.match(rb"HTTP/1.0 200", header), header)
            self.assertEqual(body, DATA.read_bytes())
        finally:
            server.terminate()
            server.communicate(timeout=60)


if __name__ == "__main__":
    unittest.main()
