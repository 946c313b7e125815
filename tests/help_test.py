#!/usr/bin/env python3
"""What a new user reads: every option that --help names is in the manual page and is completed, and
the examples run as they are written."""

import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
import zipfile

from hoist_tree import BUILD, HOIST, environment, run

SOURCE = pathlib.Path(__file__).resolve().parent.parent
HOISTD = BUILD / "bin/hoistd"
AREAS = ("container", "graph", "match", "px", "tensors")
PLAIN = ("run", "top", "options", "doctor", "learn-program", "tune", "explain")


def help_of(*words):
    done = run(*words, "--help")
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout.decode()


def commands_of(text):
    listed = text.split("Subcommands:\n")[1].split("\n\n")[0]
    return re.findall(r"^  ([a-z-]+)  ", listed, re.MULTILINE)


def options_of(text):
    """Long and short ones, from the lines that describe them."""
    heads = re.findall(r"^  (-\S+)", text, re.MULTILINE)
    return {option for head in heads for option in head.split(",")}


def examples_of(text):
    found = re.search(r"^Examples?:\n((?:  .*\n?)+)", text, re.MULTILINE)
    return [line.strip() for line in found.group(1).splitlines()]


def all_commands():
    has_bench = (BUILD / "libexec/hoist/hoist-bench").exists()
    for name in PLAIN + (("bench",) if has_bench else ()):
        yield (name,)
    for area in AREAS:
        yield (area,)
        for name in commands_of(help_of(HOIST, area)):
            yield (area, name)


def manual(name):
    """The options that a page names."""
    text = (SOURCE / "docs" / name).read_text().replace("\\-", "-").replace("\\ ", " ")
    return set(re.findall(r"(?<![\w-])--?[A-Za-z][a-z-]*", re.sub(r"\\f.", " ", text)))


def completions(script, function, *words, before=""):
    program = (f'{before}. "{SOURCE}/completions/{script}"; COMP_WORDS=("$@"); '
               f'COMP_CWORD=$(($#-1)); {function}; printf "%s\\n" "${{COMPREPLY[@]}}"')
    done = run("bash", "-c", program, "bash", *words)
    assert done.stderr == b"", done.stderr
    return {word.rstrip("=") for word in done.stdout.decode().split()}


def safetensors(path, shape):
    count = shape[0] * shape[1]
    content = b"".join(struct.pack("<f", random.gauss(0, 1))[2:] for _ in range(count))
    header = json.dumps({"attention.norm": {"dtype": "BF16", "shape": shape,
                                            "data_offsets": [0, len(content)]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + content)


def npz(path):
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (40, 50), }".ljust(117) + b"\n"
    values = b"".join(struct.pack("<f", random.gauss(0, 1)) for _ in range(2000))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("w.npy", b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header +
                         values)


class Words(unittest.TestCase):
    def test_the_manual_names_every_option(self):
        known = manual("hoist.1")
        for words in all_commands():
            self.assertEqual(options_of(help_of(HOIST, *words)) - known, set(), words)
        self.assertEqual(options_of(help_of(HOIST)) - known, set())
        self.assertEqual(options_of(help_of(HOISTD)) - manual("hoistd.8"), set())

    @unittest.skipIf(shutil.which("bash") is None, "bash is not installed")
    def test_every_option_is_completed(self):
        for words in all_commands():
            wanted = options_of(help_of(HOIST, *words)) - {"-h"}
            got = completions("hoist.bash", "_hoist", "hoist", *words, "-")
            self.assertEqual(wanted - got, set(), words)
            if len(words) == 2:  # and no others
                self.assertEqual(got - wanted, set(), words)
        offered = completions("hoist.bash", "_hoist", "hoist", "")
        for words in all_commands():
            self.assertIn(words[0], offered)
        for area in AREAS:
            self.assertLessEqual(set(commands_of(help_of(HOIST, area))),
                                 completions("hoist.bash", "_hoist", "hoist", area, ""))
        wanted = options_of(help_of(HOISTD)) - {"-h"}
        self.assertEqual(wanted - completions("hoistd.bash", "_hoistd", "hoistd", "-"), set())

    def test_version(self):
        said = run(HOIST, "--version").stdout
        self.assertRegex(said, rb"^hoist \d+\.\d+\.\d+\n$")
        for word in ("-V", "version"):
            self.assertEqual(run(HOIST, word).stdout, said)

    @unittest.skipIf(shutil.which("bash") is None, "bash is not installed")
    def test_values_are_completed(self):
        def offered(*words):
            return completions("hoist.bash", "_hoist", "hoist", *words)

        self.assertEqual(offered("match", "build", "--format", ""), {"jsonl", "lines"})
        self.assertEqual(offered("tensors", "pack", "--precision", "=", "b"), {"bf16"})
        self.assertEqual(offered("match", "query", "--state", ""), set())
        self.assertIn("repair", offered("help", "match", ""))
        self.assertNotIn("first-steps", offered("help", "match", ""))
        self.assertLessEqual({"first-steps", "match", "sort"}, offered("help", ""))
        self.assertEqual(offered("help", "--no"), {"--no-pager"})
        self.assertIn("+aes", offered("run", "--ops", "+"))

    @unittest.skipIf(shutil.which("bash") is None, "bash is not installed")
    def test_programs_are_completed(self):
        """After `hoist run --` programs are, and what follows as after the program alone."""
        def offered(*words):
            return completions("hoist.bash", "_hoist", "hoist", *words, before=own)

        own = ('_own() { COMPREPLY=("$1,$2,$3,$COMP_CWORD,${COMP_LINE// /_}"); }; '
               'complete -F _own sort; ')
        for words in (("run", "--"), ("run", "--stats", "=", "x.json", "--"), ("run",),
                      ("run", "--ops", "sort", "--explain"), ("run", "--", HOIST, "run", "--")):
            self.assertIn("bash", offered(*words, "bas"), words)
            self.assertEqual(offered(*words, "sort", "-k1", "-"), {"sort,-,-k1,2,sort_-k1_-"},
                             words)
        self.assertLessEqual({"sort", "bash"}, offered("run", "--", ""))
        self.assertEqual(offered("sort", "-"), {"sort,-,sort,1,sort_-"})
        self.assertNotIn("bash", offered("run", "--ops", "bas"))
        for option in ("--stats", "--explain"):
            self.assertIn("--verify", offered("run", option, "-"))

    def test_completions_of_other_shells_parse(self):
        for shell in ("zsh", "fish"):
            if shutil.which(shell) is not None:
                done = run(shell, "-n", SOURCE / f"completions/hoist.{shell}")
                self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_help_of_commands(self):
        for words in all_commands():
            if words in (("px",), ("graph",)):
                continue  # a guide has that name
            self.assertEqual(run(HOIST, "help", *words).stdout.decode(), help_of(HOIST, *words))
        self.assertEqual(run(HOIST, "help", "sort").stdout, run(HOIST, "sort", "--help").stdout)


class Examples(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hoist-help-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        self.env = environment(PATH=f"{HOIST.parent}:{os.environ['PATH']}",
                               XDG_DATA_HOME=scratch.name, XDG_CACHE_HOME=scratch.name)

    def folder(self, name):
        """One with the files that the examples name."""
        folder = self.scratch / name
        (folder / "models/llama").mkdir(parents=True)
        (folder / "huge.txt").write_text("".join(f"{random.random()}\n" for _ in range(1000)))
        (folder / "patterns.jsonl").write_text('[["shoe"],["sock"],["hat"]]\n[["a"],["b"]]\n')
        (folder / "log.txt").write_text("a b c\njumps over a lazy fox\n")
        (folder / "tokens.txt").write_text("of sixteen bytes and more\n")
        (folder / "tokens.txt").chmod(0o600)
        (folder / "carts.jsonl").write_text('[["shoe"],["hat"]]\n')
        (folder / "paragraphs.txt").write_text("a b c d e\na b c d f\nx y z\n")
        safetensors(folder / "model.safetensors", [64, 100])
        safetensors(folder / "models/llama/model.safetensors", [50, 60])
        npz(folder / "weights.npz")
        (folder / "layer.graph").write_text("hoist graph 1 layer\n%x = input : f32[1000]\n"
                                            "%1 = tanh %x : f32[1000]\nreturn y = %1\n")
        self.kernels(folder)
        return folder

    def kernels(self, folder):
        code = ("GPU_KERNEL {0}\n{1}GPU_PARAM n int\nTHREAD_ID → t\nIF t < n:\n{2}\nENDIF\nGPU_END\n"
                "GPU_LAUNCH {0} 4 256\n")
        arrays = "GPU_PARAM {0} in float[]\nGPU_PARAM {1} inout float[]\n"
        for name, parameters, body in (
                ("k", arrays.format("a", "c"), "STORE a[t] → c[t]"),
                ("saxpy", arrays.format("x", "y") + "GPU_PARAM a float\n", "y[t] = a * x[t] + y[t]"),
                ("fill", "GPU_PARAM array int[]\nGPU_PARAM value int\n", "STORE value → array[t]")):
            text = code.format(name, parameters, body)
            if name == "fill":
                text = text.replace("GPU_PARAM n", "GPU_PARAM size").replace("t < n", "t < size")
            (folder / f"{name}.px").write_text(text, encoding="utf-8")
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000,), }".ljust(117) + b"\n"
        for name in ("a", "x", "y"):
            (folder / f"{name}.npy").write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) +
                                                 header + bytes(4000))

    def serves(self, line, folder):
        """A service says where it listens, and ends when it is told to; at any free port here."""
        words = line.split()
        if "--listen" in words:
            words[words.index("--listen") + 1] = "127.0.0.1:0"
        else:
            words += ["--listen", "127.0.0.1:0"]
        with subprocess.Popen(words, cwd=folder, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as server:
            said = server.stdout.readline()
            server.terminate()
            self.assertEqual(server.wait(60), 0, (line, said))
        self.assertIn(b"listens on", said, line)

    def passes(self, line, folder):
        if line.startswith("hoist match serve "):
            return self.serves(line, folder)
        done = run("sh", "-c", line, cwd=folder, env=self.env)
        self.assertEqual(done.returncode, 0, (line, done.stderr))

    def test_of_areas(self):
        for area in ("graph", "match", "px", "tensors"):
            folder = self.folder(area)
            for line in examples_of(help_of(HOIST, area)):
                self.passes(line, folder)

    def test_of_their_commands(self):
        folder = self.folder("commands")
        self.passes("hoist tensors pack model.safetensors -o models/one.holo", folder)
        self.passes("hoist tensors pack model.safetensors -o bad.holo", folder)
        for area in ("graph", "match", "px", "tensors"):
            for name in commands_of(help_of(HOIST, area)):
                if name == "bench":
                    continue
                for line in examples_of(help_of(HOIST, area, name)):
                    self.passes(line, folder)

    def test_of_containers(self):
        folder = self.folder("containers")
        self.passes("hoist tensors pack weights.npz -o weights.holo", folder)
        for name in ((), ("info",), ("verify",), ("repair",)):
            for line in examples_of(help_of(HOIST, "container", *name)):
                if "repair" in line:
                    whole = (folder / "weights.holo").read_bytes()
                    (folder / "bad.holo").write_bytes(whole[:-100])
                self.passes(line, folder)
                for name in ("bad.holo", "good.holo"):  # another example makes it anew
                    (folder / name).unlink(missing_ok=True)

    def test_of_other_commands(self):
        folder = self.folder("others")
        (folder / "Makefile").write_text("checksums:\n\tsha256sum huge.txt\n")
        shutil.copy(folder / "huge.txt", folder / "image.iso")
        self.passes("sort huge.txt | gzip > log.gz", folder)
        for command in ((), ("run",), ("options",), ("doctor",), ("explain",)):
            for line in examples_of(help_of(HOIST, *command)):
                needs_profile = "--plot" in line
                if needs_profile or (" make " in line and shutil.which("make") is None):
                    continue
                self.passes(re.sub("   .*", "", line), folder)
        self.passes("hoist top --once --json", folder)


if __name__ == "__main__":
    unittest.main()
