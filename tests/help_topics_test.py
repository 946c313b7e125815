#!/usr/bin/env python3
"""`hoist help`: guides in the terminal, from a tree that was moved, and without their files."""

import fcntl
import os
import pathlib
import pty
import re
import shutil
import struct
import tempfile
import termios
import unittest

from hoist_tree import BUILD, HOIST, environment, run

DOCS = BUILD / "share/doc/hoist/docs"
TOPICS = sorted(path.stem for path in (DOCS / "guides").glob("*.md"))
ESCAPE = b"\x1b["


def moved_tree(folder):
    """What `hoist help` needs, as it is installed, in another place."""
    for name in ("bin/hoist", "libexec/hoist/hoist-command-line", "libexec/hoist/hoist-help"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(BUILD / name, folder / name)
    if list((BUILD / "lib").glob("libmd4c.so*")):  # a bundle's libraries lie beside its programs
        (folder / "lib").symlink_to(BUILD / "lib")
    shutil.copytree(DOCS, folder / "share/doc/hoist/docs")
    return folder


def on_terminal(*words, columns=100, **changes):
    """What a terminal of so many columns gets."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    done = os.fork()
    if done == 0:
        try:
            os.dup2(theirs, 1)
            os.close(ours)
            os.execve(HOIST, [str(HOIST), *words], environment(**({"TERM": "xterm"} | changes)))
        finally:
            os._exit(99)
    os.close(theirs)
    text = b""
    try:
        while piece := os.read(ours, 1 << 16):
            text += piece
    except OSError:  # EIO: its last writer has ended
        pass
    os.close(ours)
    assert os.waitpid(done, 0)[1] == 0, text
    return text.replace(b"\r\n", b"\n")


class Topics(unittest.TestCase):
    def test_list(self):
        done = run(HOIST, "help")
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        commands, guides = done.stdout.decode().split("\nGuides (hoist help TOPIC):\n")
        self.assertIn(commands, run(HOIST, "--help").stdout.decode())
        listed = re.findall(r"^  (\S+)  +\S.*$", guides, re.MULTILINE)
        self.assertEqual(sorted(listed), TOPICS)
        self.assertEqual(len(listed), len(guides.splitlines()))

    def test_every_guide(self):
        for topic in TOPICS:
            done = run(HOIST, "help", topic)
            self.assertEqual((done.returncode, done.stderr), (0, b""), topic)
            text, source = done.stdout.decode(), (DOCS / f"guides/{topic}.md").read_text()
            self.assertNotIn("\x1b", text)
            self.assertNotIn("<!--", text)
            self.assertNotRegex(text, r"\]\(")  # links are text
            self.assertTrue(text.startswith(source.splitlines()[0].lstrip("# ") + "\n\n"), topic)
            for heading in re.findall(r"^## (.*)$", source, re.MULTILINE):
                self.assertIn(f"\n{heading}\n\n", text)
            for block in re.findall(r"^```sh\n(.*?)^```", source, re.MULTILINE | re.DOTALL):
                lines = [" " * 6 + line if line else "" for line in block.splitlines()]
                self.assertIn("\n".join(lines), text)
            prose = [line for line in text.split("\nLinks\n")[0].splitlines()
                     if not line.startswith(" " * 6)]
            self.assertLessEqual(max(len(line) for line in prose), 80, topic)
            self.assertEqual([line for line in prose if line != line.rstrip()], [], topic)

    def test_links_lead_on(self):
        text = run(HOIST, "help", "first-steps").stdout.decode()
        links = text.split("\nLinks\n\n")[1]
        self.assertRegex(links, r"(?m)^  troubleshooting  +hoist help troubleshooting$")
        path = re.search(r"^  placement  +(/.*)$", links, re.MULTILINE)[1]
        self.assertTrue(pathlib.Path(path).is_file(), path)

    def test_unknown(self):
        done = run(HOIST, "help", "serch")
        self.assertEqual((done.returncode, done.stdout), (2, b""))
        self.assertEqual(done.stderr, b"hoist: error: no guide or command serch (hoist help): is it "
                                      b"search? `hoist help` lists them\n")
        self.assertIn(b"is it doctor?", run(HOIST, "help", "docter").stderr)
        self.assertNotIn(b"is it", run(HOIST, "help", "nonsense").stderr)
        self.assertEqual(run(HOIST, "help", "c", "--nonsense").returncode, 2)

    def test_moved_and_incomplete(self):
        with tempfile.TemporaryDirectory(prefix="hoist help ") as scratch:
            tree = moved_tree(pathlib.Path(scratch) / "moved")
            hoist = tree / "bin/hoist"
            links = re.compile(rb"\nLinks\n.*", re.DOTALL)
            self.assertEqual(links.sub(b"", run(hoist, "help", "models").stdout),
                             links.sub(b"", run(HOIST, "help", "models").stdout))
            (tree / "share/doc/hoist/docs/guides/models.md").unlink()
            done = run(hoist, "help", "models")
            self.assertEqual((done.returncode, done.stdout), (3, b""))
            self.assertRegex(done.stderr, rb"cannot read a guide \(.*models.md\): install Hoist again")
            shutil.rmtree(tree / "share")
            done = run(hoist, "help", "models")
            self.assertEqual((done.returncode, done.stdout), (3, b""))
            self.assertRegex(done.stderr, rb"^hoist: error: the guides are missing \(.*/share/doc/"
                                          rb"hoist/docs/README.md\): install Hoist again, .*\n$")
            done = run(hoist, "help")  # commands need no guides
            self.assertEqual(done.returncode, 3)
            self.assertEqual(done.stdout, run(HOIST, "--help").stdout)
            self.assertIn(b"the guides are missing", done.stderr)
            self.assertEqual(run(hoist, "help", "run").returncode, 0)


class Terminals(unittest.TestCase):
    def test_pager(self):
        paged = on_terminal("help", "search", PAGER="sed s/^/PAGED/")
        self.assertTrue(paged.startswith(b"PAGED" + ESCAPE + b"1mSearch"), paged[:80])
        for words, changes in ((("--no-pager",), {"PAGER": "sed s/^/PAGED/"}), ((), {"PAGER": ""}),
                               ((), {"PAGER": "hoist-no-such-pager 2>/dev/null"})):
            text = on_terminal("help", "search", *words, **changes)
            self.assertTrue(text.startswith(ESCAPE + b"1mSearch"), (words, changes, text[:80]))
        done = run(HOIST, "help", "search", env=environment(PAGER="sed s/^/PAGED/"))
        self.assertNotIn(b"PAGED", done.stdout)

    def test_a_reader_may_leave_early(self):
        self.assertEqual(on_terminal("help", "troubleshooting", PAGER="head -n 1", NO_COLOR="1"),
                         b"Troubleshooting and uninstall\n")

    def test_styles(self):
        for changes in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            self.assertNotIn(ESCAPE, on_terminal("help", "c", **({"PAGER": ""} | changes)))
        self.assertIn(ESCAPE, on_terminal("help", "c", PAGER="", NO_COLOR=""))

    def test_width(self):
        widths = []
        for columns in (60, 160):
            text = on_terminal("help", "troubleshooting", columns=columns, PAGER="", NO_COLOR="1")
            prose = text.decode().split("\nLinks\n")[0].splitlines()
            widths.append(max(len(line) for line in prose if not line.startswith(" " * 6)))
            self.assertLessEqual(widths[-1], columns)
        self.assertGreater(widths[1], 60)
        self.assertLessEqual(widths[1], 100)  # longer lines are hard to read

    def test_guides_use_what_a_terminal_can_show(self):
        refused = re.compile(r"!\[|^ *>|^ *(-{3,}|\*{3,}|_{3,}) *$|(  |\\)$|"
                             r"&(?!(amp|lt|gt|quot|nbsp);)#?\w+;", re.MULTILINE)
        for topic in TOPICS:
            text = (DOCS / f"guides/{topic}.md").read_text(encoding="utf-8")
            prose = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
            self.assertIsNone(refused.search(prose), topic)

    def test_one_topic_at_a_time(self):
        for words, extra in ((["first-steps", "more"], "more"), (["doctor", "extra", "words"], "extra"),
                             (["sort", "more"], "more"), (["match", "query", "more"], "more")):
            done = run(HOIST, "help", *words)
            self.assertEqual((done.returncode, done.stdout), (2, b""))
            self.assertEqual(done.stderr.decode(),
                             f"hoist: error: {extra} is one word too many (hoist help {words[0]}): "
                             "name one guide or command\n")


if __name__ == "__main__":
    unittest.main()
