#!/usr/bin/env python3
"""scripts/check-words on small made-up trees."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "check-words"
SKIPPED = 77


class CheckWordsTest(unittest.TestCase):
    def violations(self, files):
        """What it says of a tree of {path: content}, its last line aside."""
        with tempfile.TemporaryDirectory() as root:
            for path, content in files.items():
                target = pathlib.Path(root, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.encode() if isinstance(content, str) else content)
            done = subprocess.run([sys.executable, SCRIPT, "--root", root], capture_output=True,
                                  text=True, check=False)
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()[:-1]
        self.assertEqual(done.returncode, 1 if lines else 0)
        return lines

    def test_plain_words(self):
        self.assertEqual(self.violations({
            "README.md": "# A\nA staging ring of ours and colour.\n", "a.bin": b"\xff crew",
            "src/a.cc": '// No thread of ours. "crewed"\nconst char* kA = "a file";\n'}), [])

    def test_spelling(self):
        self.assertEqual(self.violations({"docs/a.md": "What te" "h reader\n"}),
                         ["docs/a.md:1: te" "h ==> the"])

    def test_words_of_the_authors(self):
        self.assertEqual(
            self.violations({"docs/a.md": "x\nthe relay kit\n", "src/a.h": "// Of a line.\nint crew;\n"}),
            ['docs/a.md:2: "relay kit": write instead: staging ring',
             'src/a.h:1: "// Of a": write instead: begin with the subject: "The sum of …", "Rounds …"',
             'src/a.h:2: "crew": write instead: thread pool'])

    def test_messages(self):
        self.assertEqual(
            self.violations({"src/a.cc": 'fail("no \\" of ours");\nfail("a size that is none");\n',
                             "src/a_test.cc": 'put("none of ours");\n'}),
            ['src/a.cc:1: "of ours": write instead: Hoist\'s',
             'src/a.cc:2: "that is none": write instead: say what it is: an invalid …'])


if __name__ == "__main__":
    if shutil.which("codespell") is None:
        print("skipped: no codespell: run scripts/setup checks", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
