#!/usr/bin/env python3
"""The status page of `hoist match serve` in a real browser, headless Chromium: what it shows after its
script has run. Exit status 77: there is no Chromium."""

import json
import re
import shutil
import subprocess
import sys
import tempfile
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

    def page(self, milliseconds=3000):
        """The document once its script has asked some times."""
        done = subprocess.run(
            [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={self.folder}/profile",
             f"--virtual-time-budget={milliseconds}", "--dump-dom", self.base + "/"],
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
        rows = [re.findall(r"<td>(.*?)</td>", row) for row in re.findall(r"<tr>(.*?)</tr>", page)]
        by_name = {row[0]: row for row in rows if row}
        self.assertEqual(by_name["observe"][1], "2")
        self.assertEqual(by_name["learn"][1], "1")
        self.assertEqual(by_name["predict"][1], "1")
        # A name is a client's text: it is shown as text, and is no part of the page.
        shown = by_name["&lt;b&gt;node&lt;/b&gt; &amp; \"others\""]
        self.assertEqual(shown[1:4], ["1", "1", "3"])
        self.assertNotIn("<b>node</b>", page)
        self.assertIn("polyline", page)

    def test_says_when_nobody_answers(self):
        page = self.page(1)
        self.assertIn("hoist match serve", page)


if __name__ == "__main__":
    if CHROMIUM is None:
        print("service_page_test: skipped: no chromium", file=sys.stderr)
        sys.exit(77)
    unittest.main()
