#!/usr/bin/env python3
"""Every writer of `hoist records` on a full disk: the message names the file and the reason, the exit status is not 0, and
nothing that is half written stays."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

from hoist_tree import BUILD, environment, run

TOOL = BUILD / "libexec/hoist/hoist-records"

# In a file system of 400 KiB, nearly full or full: runs each command, and says what it gave and which files there are.
INSIDE = """
import json, os, pathlib, subprocess, sys
small, commands = pathlib.Path(sys.argv[1]), json.loads(sys.argv[2])
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "none", small], check=False).returncode != 0:
    sys.exit(77)
results = []
for words, full in commands:
    filler = small / "filler"
    with filler.open("wb", buffering=0) as file:
        try:
            for _ in range(1000 if full else 70):
                file.write(bytes(4096))
        except OSError:
            pass
    done = subprocess.run(words, capture_output=True, check=False)
    filler.unlink()
    left = {str(path.relative_to(small)): path.stat().st_size for path in small.rglob("*")}
    results.append((done.returncode, done.stderr.decode(), left))
print(json.dumps(results))
"""


class Disk(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="hoist-records-")
        cls.addClassCleanup(holder.cleanup)
        cls.folder = pathlib.Path(holder.name)
        cls.text = cls.folder / "x.jsonl"
        lines = (json.dumps({"id": i, "price": f"{i * 7919 % 100003}.50", "word": f"{i * 6700417 % 10**9:x}" * 3})
                 for i in range(40_000))
        cls.text.write_text("\n".join(lines) + "\n", encoding="utf-8")
        cls.file = cls.folder / "x.hrec"
        done = run(TOOL, "encode", cls.text, "-o", cls.file, env=environment())
        assert done.returncode == 0, done.stderr

    def writers(self, out, more=()):
        """Commands and what they write, in the folder `out`."""
        for form in ("jsonl", "csv", "lt", "lts", "ltu", "sym"):
            yield ("convert", self.text, "-o", out / f"c.{form}", *more)
            yield ("decode", self.file, "--to", form, "-o", out / f"d.{form}", *more)
        yield ("convert", self.text, "--from", "lines", "--to", "csv", "-o", out / "lines", *more)
        yield ("decode", self.file, "-o", out / "text", *more)
        yield ("decode", self.file, "--to", "arrow", "-o", out / "d.arrow", *more)
        yield ("columns", self.file, "-o", out / "x.arrow", *more)
        yield ("columns", self.file, "-o", out / "x.arrows", *more)
        yield ("columns", self.file, "--select", "id,price,word", "-o", out / "x.npz", *more)
        yield ("encode", self.text, "-o", out / "x.hrec", *more)
        yield ("repair", self.file, "-o", out / "r.hrec", *more)

    def run_on_small(self, commands):
        small = self.folder / "small"
        small.mkdir(exist_ok=True)
        words = [([str(TOOL), *map(str, command)], full) for command, full in commands]
        done = subprocess.run(["unshare", "-rm", sys.executable, "-c", INSIDE, small, json.dumps(words)],
                              capture_output=True, check=False, env=environment(HOIST_THREADS="2"))
        if done.returncode == 77 or b"unshare" in done.stderr:
            self.skipTest("no file systems of one's own here")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_full_file_system(self):
        small = self.folder / "small"
        commands = [(command, full) for command in self.writers(small) for full in (True, False)]
        commands.append((("info", self.file, "--plot", small / "x.svg"), True))
        for (command, full), (status, err, left) in zip(commands, self.run_on_small(commands)):
            out = next(str(word) for word in command if str(word).startswith(str(small)))
            with self.subTest(command=" ".join(map(str, command)), full=full):
                self.assertEqual(status, 1)
                self.assertIn("No space left on device", err)
                self.assertIn(out, err)
                self.assertEqual(left, {})

    def test_what_was_there_stays(self):
        small = self.folder / "small"
        replaced = [command for command in self.writers(small, ("--force",))]
        commands = []
        for command in replaced:
            out = next(word for word in command if str(word).startswith(str(small)))
            commands += [(("info", self.folder / "tiny.hrec", "--plot", out), False), (command, False)]
        tiny = run(TOOL, "encode", "-", "-o", self.folder / "tiny.hrec", input=b'{"a":1}\n', env=environment())
        self.assertEqual(tiny.returncode, 0, tiny.stderr)
        results = self.run_on_small(commands)
        sizes = {}
        for (command, _), (status, err, left) in zip(commands, results):
            if command[0] == "info":
                self.assertEqual(status, 0, err)
                sizes = left
            else:
                self.assertEqual((status, left), (1, sizes), (command, err))

    def test_dev_full(self):
        full = pathlib.Path("/dev/full")
        written = [("convert", self.text, "--to", "jsonl", "-o", full), ("convert", self.text, "--to", "csv", "-o", full),
                   ("decode", self.file, "-o", full), ("decode", self.file, "--to", "sym", "-o", full),
                   ("decode", self.file, "--to", "arrow", "-o", full), ("columns", self.file, "--to", "arrow", "-o", full),
                   ("info", self.file, "--plot", full)]
        for words in written:
            done = run(TOOL, *words, env=environment())
            self.assertEqual(done.returncode, 1, (words, done.stderr))
            self.assertRegex(done.stderr.decode(), "/dev/full.*No space left on device")
        # What must be a file is refused.
        for words in (("encode", self.text, "-o", full, "--force"), ("repair", self.file, "-o", full, "--force"),
                      ("columns", self.file, "--select", "id", "-o", full, "--force")):
            done = run(TOOL, *words, env=environment())
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertIn(b"/dev/full", done.stderr)

    def test_standard_output_is_full(self):
        for words in (("convert", self.text, "--to", "jsonl"), ("convert", self.text, "--to", "csv"),
                      ("decode", self.file), ("decode", self.file, "--to", "lt"), ("decode", self.file, "--to", "arrow"),
                      ("columns", self.file, "-o", "-"), ("encode", self.text, "-o", "-"), ("info", self.file),
                      ("info", self.file, "--json"), ("verify", self.file), ("verify", self.file, "--json")):
            with open("/dev/full", "wb") as full:
                done = subprocess.run([TOOL, *words], stdout=full, stderr=subprocess.PIPE, env=environment(), check=False)
            self.assertEqual(done.returncode, 1, (words, done.stderr))
            self.assertRegex(done.stderr.decode().lower(), "(standard output|stdout|stream).*no space left on device")


if __name__ == "__main__":
    unittest.main()
