"""nginx serving files with TLS and gzip, asked by curl and wrk, while it is told to reload."""

import os
import signal
import threading

import inputs
from driver import free_ports, listens, scenario, wait_for

CONFIGURATION = """
{user}
worker_processes 2;
daemon off;
pid {home}/nginx.pid;
error_log {home}/error.log warn;
events {{ worker_connections 256; }}
http {{
  access_log off;
  types {{ text/plain txt; application/json json; application/octet-stream bin; }}
  client_body_temp_path {home}/body;
  proxy_temp_path {home}/proxy;
  fastcgi_temp_path {home}/fastcgi;
  uwsgi_temp_path {home}/uwsgi;
  scgi_temp_path {home}/scgi;
  gzip on;
  gzip_types text/plain application/json;
  gzip_comp_level 5;
  gzip_min_length 100;
  server {{
    listen 127.0.0.1:{plain};
    listen 127.0.0.1:{tls} ssl http2;
    ssl_certificate {home}/certificate.pem;
    ssl_certificate_key {home}/key.pem;
    ssl_ciphers {ciphers};
    root {root};
    location /packed/ {{ alias {root}/packed/; gzip_static always; gunzip on; }}
    location /proxied/ {{ proxy_pass https://127.0.0.1:{tls}/; proxy_ssl_verify off; }}
  }}
}}
"""
FILES = ("page.txt", "data.json", "noise.bin", "small.txt", "empty.txt")


def lines_without(path, part):
    return [line for line in path.read_text().splitlines() if part not in line]


def _make_site(side, root):
    (root / "packed").mkdir(parents=True)
    for name, content in zip(FILES, (inputs.text(side.seed, 2_000_000 * side.scale),
                                     inputs.mixed(side.seed, 1_500_000 * side.scale),
                                     inputs.noise(side.seed, 4_000_000 * side.scale),
                                     inputs.text(side.seed, 500), b"")):
        (root / name).write_bytes(content)
    side.shell("gzip -nc ../page.txt >page.txt.gz", cwd=root / "packed")
    side.run("find", root, "-exec", "touch", "-d", "2020-01-01 00:00", "{}", "+")


@scenario("web", needs=("nginx", "curl", "openssl", "wrk"), takes=("crc32", "inflate"))
def web(side):
    root = side.folder / "site"
    _make_site(side, root)
    plain, tls = free_ports(2)
    side.run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=localhost", "-keyout", side.home / "key.pem", "-out",
             side.home / "certificate.pem")
    configuration = side.home / "nginx.conf"
    configuration.write_text(CONFIGURATION.format(
        home=side.home, root=root, plain=plain, tls=tls,
        ciphers=("ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305",
                 "ECDHE-RSA-AES128-SHA")[side.seed % 3],
        user="user root;" if os.geteuid() == 0 else ""))
    nginx = ("nginx", "-e", side.home / "error.log", "-c", configuration)
    server = side.start(*nginx, log=side.home / "nginx.log")
    wait_for("nginx", lambda: listens(tls), server)
    there = {"http": f"http://127.0.0.1:{plain}", "https": f"https://127.0.0.1:{tls}"}

    def curl(url, *words):
        return side.run("curl", "-sSfk", *words, url)

    for scheme, address in there.items():
        for name in FILES:
            content = (root / name).read_bytes()
            for words in ((), ("--compressed",), ("--compressed", "--http1.1")):
                side.expect(curl(f"{address}/{name}", *words) == content,
                            f"curl {words} {scheme} {name}: not the file's content")
            sent = curl(f"{address}/{name}", "-H", "Accept-Encoding: gzip")
            side.see_encoded("deflate", f"{scheme} {name}, encoded", sent)
            side.see(f"{scheme} {name}, part", curl(f"{address}/{name}", "-r", "17-70000")
                     if content else b"")
        page = (root / "page.txt").read_bytes()
        for place in ("packed/page.txt", "proxied/page.txt"):
            for words in ((), ("--compressed",)):
                side.expect(curl(f"{address}/{place}", *words) == page,
                            f"curl {words} {scheme} {place}: not the file's content")

    for address in there.values():
        told = side.run("wrk", "-t1", "-c8", f"-d{side.scale}s", "--timeout", "60s", "-H",
                        "Accept-Encoding: gzip", f"{address}/small.txt").decode()
        side.see(f"{address.split(':')[0]}: wrk's complaints", [
            line for line in told.splitlines() if "Socket errors" in line or "Non-2xx" in line])

    stop = threading.Event()

    def reload():
        while not stop.wait(0.1):
            server.send_signal(signal.SIGHUP)

    reloading = threading.Thread(target=reload)
    reloading.start()
    try:
        for _ in range(5 * side.scale):
            for name in FILES[:3]:
                side.expect(curl(f"{there['https']}/{name}", "--compressed", "--http1.1")
                            == (root / name).read_bytes(), f"{name} while nginx reloads")
    finally:
        stop.set()
        reloading.join()
    side.stop(server, signal.SIGQUIT)
    # A loaded machine alone decides whether nginx buffers an upstream's answer in a file.
    side.see("error log", lines_without((side.home / "error.log"), "buffered to a temporary file"))
    # What --verify says at the end.
    side.see("streams", lines_without((side.home / "nginx.log"), " verified, 0 mismatch"))
