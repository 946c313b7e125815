#!/usr/bin/env python3
"""The status page of `hoist match serve` in a real browser, headless Chromium: what it shows after its
script has run. Exit status 77: there is no Chromium."""

import http.server
import json
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.request

from hoist_tree import BUILD

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


class StatusPage(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hoist-page-")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name
        self.server = subprocess.Popen(
            [str(BUILD / "bin/hoist"), "match", "serve", f"{self.folder}/data", "--listen", "127.0.0.1:0", "--json"],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.end)
        self.base = "http://" + json.loads(self.server.stdout.readline())["listening"][0]

    def end(self):
        self.server.terminate()
        self.assertEqual(self.server.wait(60), 0)
        self.server.stdout.close()

    def ask(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(self.base + path, data=data, timeout=30) as answer:
            return json.load(answer)

    def with_gpu(self):
        """The address of the same page, of a service whose first node has a part of it on a GPU."""
        base = self.base

        class Pages(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                request = urllib.request.Request(base + self.path, headers={"accept": self.headers["accept"]})
                with urllib.request.urlopen(request, timeout=30) as answer:
                    kind, body = answer.headers["content-type"], answer.read()
                if self.path == "/live":
                    live = json.loads(body)
                    live["gpus"] = [{"device": "cuda:0", "name": "<i>GPU</i>", "memory_used_bytes": 60 << 30,
                                     "memory_total_bytes": 80 << 30}]
                    live["nodes"][0]["device_memory_bytes"] = {"cuda:0": 3 << 20, "cuda:1": 1 << 20}
                    body = json.dumps(live).encode()
                self.send_response(200)
                self.send_header("content-type", kind)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
        self.addCleanup(server.server_close)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.shutdown)
        return f"http://127.0.0.1:{server.server_port}"

    def page(self, milliseconds=3000, base=None):
        """The document once its script has asked some times."""
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile",
             f"--virtual-time-budget={milliseconds}", "--dump-dom", (base or self.base) + "/"],
            capture_output=True, text=True, timeout=120, check=True)
        return done.stdout

    def test_shows_what_the_service_did(self):
        node = "<b>node</b> & \"others\""
        session = self.ask("/sessions", {"node_id": node})["session_id"]
        for strings in (["a", "b"], ["c"]):
            self.ask(f"/sessions/{session}/observe", {"strings": strings})
        self.ask(f"/sessions/{session}/learn", {})
        self.ask(f"/sessions/{session}/predictions")
        page = self.page()
        self.assertRegex(page, r'id="state"[^>]*>version \S+, updated ')
        by_name = self.rows(page)
        self.assertEqual(by_name["observe"][1], "2")
        self.assertEqual(by_name["learn"][1], "1")
        self.assertEqual(by_name["predict"][1], "1")
        # A name is a client's text: it is shown as text, and is no part of the page.
        shown = by_name["&lt;b&gt;node&lt;/b&gt; &amp; \"others\""]
        self.assertEqual(shown[1:4], ["1", "1", "3"])
        self.assertNotIn("<b>node</b>", page)
        self.assertIn("polyline", page)

    def rows(self, page):
        rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]
        return {row[0]: row for row in rows if row}

    def test_shows_gpus(self):
        session = self.ask("/sessions", {"node_id": "shop"})["session_id"]
        self.ask(f"/sessions/{session}/observe", {"strings": ["a", "b"]})
        self.ask(f"/sessions/{session}/learn", {})
        without = self.page()
        self.assertRegex(without, r'<p id="no-gpu">The service uses no GPU')
        self.assertRegex(without, r'<table id="gpus" hidden')
        self.assertEqual(self.rows(without)["shop"][-1], "0 B")
        page = self.page(base=self.with_gpu())
        self.assertRegex(page, r'<p id="no-gpu" hidden')
        self.assertRegex(page, r'<table id="gpus">')
        rows = self.rows(page)
        self.assertEqual(rows["cuda:0"][1:], ["&lt;i&gt;GPU&lt;/i&gt;", "80.0 GiB", "60.0 GiB (75 %)", "3.0 MiB"])
        self.assertEqual(rows["shop"][-1], "4.0 MiB")

    def test_says_when_nobody_answers(self):
        page = self.page(1)
        self.assertIn("hoist match serve", page)


if __name__ == "__main__":
    if CHROMIUM is None:
        print("service_page_test: skipped: no chromium", file=sys.stderr)
        sys.exit(77)
    unittest.main()
