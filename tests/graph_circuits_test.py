#!/usr/bin/env python3
"""hoist graph: the examples of docs/reference/graph-circuits.md and examples/graph/circuits, JSON, files and
standard input, messages and exit statuses."""

import json
import pathlib
import re
import tempfile
import unittest

from hoist_tree import HOIST, run

HERE = pathlib.Path(__file__).resolve().parent.parent
PAGES = HERE if (HERE / "docs/reference").exists() else HERE / "share/doc/hoist"
EXAMPLES = HERE / "examples/graph/circuits"
BLOCK = re.compile(r"^```(canon|eval|words)((?: --\S+| spec)*)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


class GraphTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hoist-graph-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def graph(self, *words, status=0, **options):
        done = run(HOIST, "graph", *words, cwd=self.folder, **options)
        self.assertEqual(done.returncode, status, (words, done.stderr))
        return done.stdout.decode(), done.stderr.decode(errors="replace")


class Examples(GraphTest):
    def test_of_the_reference_page(self):
        text = (PAGES / "docs/reference/graph-circuits.md").read_text(encoding="utf-8")
        count = 0
        for block in BLOCK.finditer(text):
            kind, options, lines = block[1], block[2].split(), block[3].splitlines()
            for line in lines:
                circuit, _, wanted = line.partition(" => ")
                command = "canon" if kind == "canon" else "eval"
                said, _ = self.graph(command, *options, circuit)
                if kind != "canon":
                    said = re.search(rf"^{'bytes' if kind == 'eval' else 'words'} +(.*)$", said, re.MULTILINE)[1]
                self.assertEqual(said.strip(), wanted, circuit)
                count += 1
        self.assertGreater(count, 20)

    def test_files(self):
        files = sorted(EXAMPLES.glob("*.circuit"))
        self.assertGreater(len(files), 5)
        for file in files:
            comments = dict(re.findall(r"^// (grammar|canonical): (.*)$", file.read_text(), re.MULTILINE))
            grammar = comments.get("grammar", "compiler")
            said, _ = self.graph("canon", "--grammar", grammar, "--file", file)
            self.assertEqual(said, comments["canonical"] + "\n", file)

    # As the reference page prints it.
    def test_the_message_of_the_reference_page(self):
        text = (PAGES / "docs/reference/graph-circuits.md").read_text(encoding="utf-8")
        self.assertIn(f"```text\n{self.graph('canon', 'mark@c96', status=2)[1]}```", text)


class Commands(GraphTest):
    def test_json(self):
        said = json.loads(self.graph("canon", "--json", "copy@c05->c06 . mark@c21 . mark@c21 . mark@c21")[0])
        self.assertEqual(list(said), ["canonical", "grammar", "group_element", "before", "after", "rules"])
        element = said["group_element"]
        self.assertEqual(said, {
            "canonical": "copy@c05->c06 . mark@c21", "grammar": "compiler", "before": 4, "after": 2,
            "group_element": {"number": element["number"], "order": 2,
                              "matrix": [["1/√2", "1/√2"], ["1/√2", "-1/√2"]]},
            "rules": ["X² = I", "I.A = A"]})
        said = json.loads(self.graph("canon", "--json", "quote@c21 . mark@c[0..3]")[0])
        self.assertEqual((said["group_element"], said["rules"], said["after"]), (None, [], 2))
        said = json.loads(self.graph("eval", "--json", "copy@c05->c06@17 || mark@c00")[0])
        self.assertEqual(said, {"grammar": "compiler", "bytes": [0x0A, 0x0C, 0], "addresses": [17 * 256 + 12],
                                "words": ["⊗_begin", "copy[d=0]", "⊗_sep", "mark", "⊗_end"]})

    def test_elements_have_numbers_of_their_own(self):
        numbers = {}
        for word in ("mark@c00", "mark@c21", "mark@c42", "mark@c07", "copy@c05", "mark@c21 . mark@c42"):
            said = json.loads(self.graph("canon", "--json", "--grammar", "spec", word)[0])
            numbers[said["group_element"]["number"]] = word
        self.assertEqual(len(numbers), 6)
        self.assertEqual(numbers[0], "mark@c00")

    def test_gates(self):
        self.assertEqual(self.graph("canon", "mark@c21 . mark@c21")[0], "mark@c00\n")
        self.assertEqual(self.graph("canon", "--gates", "mark@c21 . mark@c21")[0], "mark@c00\n")
        self.assertEqual(self.graph("canon", "--no-gates", "mark@c21 . mark@c21")[0], "mark@c21 . mark@c21\n")

    def test_where_circuits_come_from(self):
        (self.folder / "a.circuit").write_text("mark@c21 // X\n. mark@c21\n")
        for words, given in ((["--file", "a.circuit"], b""), (["-"], b"mark@c0"), (["--file", "-"], b"mark@c0")):
            self.assertEqual(self.graph("canon", *words, input=given)[0], "mark@c00\n")
        self.assertEqual(self.graph("eval", "-", input=b"mark@c21")[0], "bytes      0x2A\nwords      mark\n")
        for words in ([], ["mark@c0", "--file", "a.circuit"], [""]):
            said = self.graph("canon", *words, status=2)[1]
            self.assertEqual(said, "hoist: error: one circuit is needed (hoist graph): give EXPR, - or --file FILE\n")
        self.assertIn("none: No such file", self.graph("canon", "--file", "none", status=1)[1])

    def test_errors_have_a_place(self):
        (self.folder / "a.circuit").write_text("mark@c21 .\n  copy@c05\n. mark@c00")
        for command in ("canon", "eval"):
            said = self.graph(command, "--file", "a.circuit", status=1)[1]
            self.assertEqual(said, "a.circuit:3:1: error: . where -> belongs\n    . mark@c00\n    ^\n"
                                   "mend: write copy@c05->c06, or use --grammar spec, where it names one class\n")
            self.assertIn("(standard input):1:1: error: mrak means nothing here",
                          self.graph(command, "-", input=b"mrak@c00", status=1)[1])
            self.assertIn("EXPR:1:9: error: copy names one class",
                          self.graph(command, "--grammar", "spec", "copy@c05->c06", status=2)[1])
        said = self.graph("canon", "-", input=b"\xff\x00 mark@c0", status=1)[1]
        self.assertIn("byte 0xff means nothing here", said)
        self.assertIn("byte 0x00 means nothing here", said)

    def test_too_long_a_circuit(self):
        said = self.graph("canon", "-", input=b" " * (1 << 20) + b"mark@c0", status=1)[1]
        self.assertIn("longer than 1048576 bytes", said)
        longest = b"mark@c21" + b" . mark@c21" * 95000
        self.assertLess(len(longest), 1 << 20)
        self.assertEqual(self.graph("canon", "-", input=longest)[0], "mark@c21\n")
        self.assertIn("nested deeper than 100", self.graph("canon", "-", input=b"(" * 1000000, status=1)[1])


if __name__ == "__main__":
    unittest.main()
