#!/usr/bin/env python3
"""scripts/check-words on small made-up trees."""

import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "scripts" / "check-words"
SKIPPED = 77


def load_script():
    loader = importlib.machinery.SourceFileLoader("check_words", str(SCRIPT))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("check_words", loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True  # scripts/ stays clean
CHECK_WORDS = load_script()


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
                             "src/b.cc": 'fail("as we cannot read our file");\nput("we" "ll");\n',
                             "src/a_test.cc": 'put("none of ours");\n'}),
            ['src/a.cc:1: "of ours": write instead: Hoist\'s',
             'src/a.cc:2: "that is none": write instead: say what it is: an invalid …',
             'src/b.cc:1: "our": write instead: Hoist\'s, the engine\'s',
             'src/b.cc:1: "we": write instead: Hoist, the command',
             'src/b.cc:2: "we": write instead: Hoist, the command'])

    def test_a_comment_begins_with_its_subject_whatever_the_letter(self):
        self.assertEqual(
            self.violations({"src/a.cc": "// Of XXH64, which ends.\nint a;  // Of 64 rows.\n"}),
            [f'src/a.cc:{line}: "// Of {letter}": write instead: begin with the subject: '
             '"The sum of …", "Rounds …"' for line, letter in ((1, "X"), (2, "6"))])

    def test_a_spelling_checker_that_fails_fails(self):
        # Stands for a codespell that crashes, says nothing, or contradicts its status.
        for program, said in (("raise OSError('no dictionary')", "no dictionary"),
                              ("raise SystemExit(65)", "status 65"),
                              ("raise SystemExit(1)", "status 1"),
                              ("print('a:1: b ==> c')", "status 0")):
            with self.assertRaisesRegex(CHECK_WORDS.SpellingFailure, said):
                CHECK_WORDS.misspelt([sys.executable, "-c", program], SCRIPT.parent, [])

    def test_only_the_wanted_version_serves(self):
        version = subprocess.run([*CHECK_WORDS.find_codespell(), "--version"], capture_output=True,
                                 text=True, check=True).stdout.strip()
        self.assertEqual(version, CHECK_WORDS.wanted_version())


if __name__ == "__main__":
    try:
        CHECK_WORDS.find_codespell()
    except CHECK_WORDS.SpellingFailure as lacking:
        print(f"skipped: {lacking}", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
