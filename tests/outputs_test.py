#!/usr/bin/env python3
"""Every command that writes a file for its user: it replaces nothing that exists without --force,
never its input, leaves nothing behind when it fails, and says what to do."""

import json
import os
import pathlib
import random
import shutil
import signal
import stat
import struct
import subprocess
import tempfile
import time
import unittest

from hoist_tree import BUILD, HOIST, compile_c, environment, run

TOOLS = BUILD / "libexec/hoist"
OPERATION = "hash/sha256sum"
# As on a file system without hard links and without RENAME_NOREPLACE and RENAME_EXCHANGE.
POOR_FILE_SYSTEM = r"""
#include <errno.h>
int link(const char* from, const char* to) { errno = EPERM; return -1; }
int renameat2(int a, const char* from, int b, const char* to, unsigned flags) {
  errno = EINVAL;
  return -1;
}
"""
PX = """\
GPU_KERNEL twice
    GPU_PARAM a i32[]
    THREAD_ID → i
    IF i64(i) < len(a):
        STORE a[i] * 2 → a[i]
    ENDIF
GPU_END

GPU_LAUNCH twice BLOCKS 1 THREADS 128
"""
PRECIOUS = b"nobody has another copy of this\n"


def safetensors(count, size, seed):
    """`count` tensors of `size` random bytes each."""
    header, data = {}, b""
    values = random.Random(seed)
    for i in range(count):
        header[f"t{i}"] = {"dtype": "U8", "shape": [size], "data_offsets": [i * size, (i + 1) * size]}
        data += values.randbytes(size)
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


class Command:
    """A way to have a file written: `words` with OUT in it, or the environment."""

    def __init__(self, name, words, inputs=(), out="out", environment_variable=None):
        self.name, self.words, self.inputs, self.out = name, words, inputs, out
        self.variable = environment_variable

    def run(self, out, *more, **options):
        words = [str(out) if word == "OUT" else word.replace("OUT", str(out)) for word in self.words]
        if "--" in words:
            at = words.index("--")
            words[at:at] = more
        else:
            words += more
        changes = {self.variable: str(out)} if self.variable else {}
        return run(*words, env=environment(**{**ENVIRONMENT, **changes}), **options)


ENVIRONMENT = {}
EXAMPLES = None  # inputs that no test changes


def setUpModule():  # unittest's name
    global EXAMPLES
    holder = tempfile.TemporaryDirectory(prefix="hoist-outputs-")
    unittest.addModuleCleanup(holder.cleanup)
    EXAMPLES = pathlib.Path(holder.name)
    ENVIRONMENT.update(HOME=str(EXAMPLES / "home"), XDG_CACHE_HOME=str(EXAMPLES / "cache"))
    (EXAMPLES / "m.safetensors").write_bytes(safetensors(4, 50_000, 1))
    (EXAMPLES / "n.safetensors").write_bytes(safetensors(4, 50_000, 2).replace(b'"t', b'"u'))
    (EXAMPLES / "twice.px").write_text(PX)
    (EXAMPLES / "numbers.raw").write_bytes(bytes(400))
    (EXAMPLES / "twice.graph").write_text("hoist graph 1\n%x = input : f32[100]\n"
                                          "%1 = add %x, %x : f32[100]\nreturn y = %1\n")
    (EXAMPLES / "patterns").write_text("".join(f"a{i} b c\n" for i in range(100)))
    tool("tensors", "pack", EXAMPLES / "m.safetensors", "-o", EXAMPLES / "m.holo", "--parity", "1")
    tool("tensors", "pack", EXAMPLES / "m.safetensors", EXAMPLES / "n.safetensors", "-o",
         EXAMPLES / "two.holo")
    keys = random.Random(3)
    (EXAMPLES / "r.jsonl").write_text("".join(f'{{"key": "{keys.getrandbits(64):016x}"}}\n' for _ in range(2000)))
    tool("records", "encode", EXAMPLES / "r.jsonl", "-o", EXAMPLES / "r.hrec")
    damaged = bytearray((EXAMPLES / "m.holo").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (EXAMPLES / "bad.holo").write_bytes(damaged)
    tool("tune", "--quick", "--seconds", "1", "--op", OPERATION, "--force")


def tool(name, *words):
    done = run(TOOLS / f"hoist-{name}", *words, env=environment(**ENVIRONMENT))
    assert done.returncode == 0, done.stderr
    return done


def commands(folder):
    """With copies of their inputs in `folder`."""
    for name in ("m.safetensors", "m.holo", "bad.holo", "patterns", "two.holo", "twice.px", "twice.graph",
                 "numbers.raw", "r.jsonl", "r.hrec"):
        shutil.copy(EXAMPLES / name, folder / name)
    at = {name: str(folder / name) for name in os.listdir(folder)}
    tensors, container = str(TOOLS / "hoist-tensors"), str(TOOLS / "hoist-container")
    records = str(TOOLS / "hoist-records")
    return [
        Command("pack", [tensors, "pack", at["m.safetensors"], "-o", "OUT"], ["m.safetensors"]),
        Command("unpack", [tensors, "unpack", at["m.holo"], "-o", "OUT"], ["m.holo"]),
        Command("unpack, two copies", [tensors, "unpack", at["bad.holo"], "--source", at["m.holo"],
                                       "-o", "OUT"], ["bad.holo", "m.holo"]),
        Command("unpack, all into one", [tensors, "unpack", at["two.holo"], "-o", "OUT"],
                ["two.holo"], "out.safetensors"),
        Command("tensors repair", [tensors, "repair", at["bad.holo"], "-o", "OUT"], ["bad.holo"]),
        Command("info --plot", [tensors, "info", at["m.holo"], "--plot", "OUT"], ["m.holo"]),
        Command("container repair", [container, "repair", at["bad.holo"], "-o", "OUT"],
                ["bad.holo"]),
        Command("records encode", [records, "encode", at["r.jsonl"], "-o", "OUT"], ["r.jsonl"]),
        Command("records decode", [records, "decode", at["r.hrec"], "-o", "OUT"], ["r.hrec"]),
        Command("records repair", [records, "repair", at["r.hrec"], "-o", "OUT"], ["r.hrec"]),
        Command("records info --plot", [records, "info", at["r.hrec"], "--plot", "OUT"], ["r.hrec"]),
        Command("records columns", [records, "columns", at["r.hrec"], "--select", "key", "-o", "OUT"], ["r.hrec"]),
        Command("px run", [str(TOOLS / "hoist-px"), "run", at["twice.px"], "--in", f"a={at['numbers.raw']}",
                           "--out", "a=OUT"], ["twice.px", "numbers.raw"]),
        Command("graph show -o, a plot", [str(TOOLS / "hoist-graph"), "show", at["twice.graph"], "-o", "OUT"],
                ["twice.graph"]),
        Command("graph run", [str(TOOLS / "hoist-graph"), "run", at["twice.graph"], "--in",
                              f"x={at['numbers.raw']}", "--out", "y=OUT"], ["twice.graph", "numbers.raw"]),
        Command("explain --plot", [str(TOOLS / "hoist-explain"), OPERATION, "--cpus", "2", "--plot", "OUT"]),
    ]


def own_kind(folder):
    """Those that replace what they have written before."""
    return [
        Command("run --stats", [str(HOIST), "run", "--stats=OUT", "--", "true"]),
        Command("HOIST_STATS", [str(HOIST), "run", "--", "true"], environment_variable="HOIST_STATS"),
        Command("tune", [str(TOOLS / "hoist-tune"), "--quick", "--seconds", "1", "--op", OPERATION,
                         "--force"], environment_variable="HOIST_PROFILE"),
    ]


class Outputs(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hoist-outputs-")
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def content(self):
        """Of all files below the folder, by name; links are not followed."""
        return {path.relative_to(self.folder).as_posix(): path.read_bytes()
                for path in self.folder.rglob("*")
                if path.is_file() and not path.is_symlink()}

    def refused(self, command, out, *more, message="exists", status=2):
        before = self.content()
        done = command.run(out, *more)
        about = (command.name, str(out), more, done)
        self.assertEqual(done.returncode, status, about)
        self.assertRegex(done.stderr.decode(), rf"^hoist: error: .*{message}.*: .*", about)
        self.assertEqual(self.content(), before, about)
        return done.stderr.decode()

    def test_what_exists_is_refused(self):
        for command in commands(self.folder):
            out = self.folder / command.out
            out.write_bytes(PRECIOUS)
            (self.folder / "soft").symlink_to(out.name)
            (self.folder / "same").symlink_to(".")
            soft = self.folder / "soft"
            if command.out.endswith(".safetensors"):  # whose name decides what is written
                soft = soft.rename(self.folder / "soft.safetensors")
            for name in (out, soft, self.folder / "same" / command.out,
                         f"{self.folder}/./{command.out}"):
                error = self.refused(command, name)
                self.assertIn("pass --force to replace it, or choose another name", error)
            self.refused(command, self.folder / "same" / ".." / self.folder.name / command.out)
            out.write_bytes(b"")
            self.refused(command, out)
            for path in (out, soft, self.folder / "same"):
                path.unlink()

    def test_own_output_is_replaced_with_force_only(self):
        for command in commands(self.folder):
            out = self.folder / command.out
            self.assertEqual(command.run(out).returncode, 0, command.name)
            first = out.read_bytes()
            self.refused(command, out)
            out.write_bytes(PRECIOUS)
            os.chmod(out, 0o640)
            os.link(out, self.folder / "hard")
            done = command.run(out, "--force")
            self.assertEqual((done.returncode, done.stderr.count(b"error")), (0, 0), done)
            self.assertEqual(out.read_bytes(), first, command.name)
            self.assertEqual(stat.S_IMODE(out.stat().st_mode), 0o640, command.name)
            self.assertEqual((self.folder / "hard").read_bytes(), PRECIOUS, command.name)
            (self.folder / "hard").unlink()
            out.unlink()

    def test_a_link_stays_and_what_it_leads_to_is_written(self):
        for command in commands(self.folder):
            link = self.folder / f"link-{command.out}"
            target = self.folder / f"target-{command.out}"
            link.symlink_to(target.name)
            for more in ([], ["--force"]):
                done = command.run(link, *more)
                self.assertEqual(done.returncode, 0, (command.name, more, done))
                self.assertTrue(link.is_symlink(), command.name)
                self.assertGreater(target.stat().st_size, 50, command.name)
            link.unlink()
            target.unlink()

    def test_an_input_is_never_replaced(self):
        for command in commands(self.folder):
            for name in command.inputs:
                made = [self.folder / f"soft-{command.out}", self.folder / f"hard-{command.out}"]
                made[0].symlink_to(name)
                os.link(self.folder / name, made[1])
                (self.folder / "same").symlink_to(".")
                names = [*made, self.folder / "same" / made[1].name]
                if command.out == "out":
                    names += [self.folder / name, self.folder / "same" / name,
                              f"{self.folder}/./{name}"]
                for out in names:
                    for more in ([], ["--force"]):
                        self.refused(command, out, *more, message="same file")
                for path in (*made, self.folder / "same"):
                    path.unlink()

    def test_inputs_that_nobody_named(self):
        """A folder of models, and an index that names its shards."""
        model = self.folder / "model"
        model.mkdir()
        weights = {}
        for letter in "mn":
            shutil.copy(EXAMPLES / f"{letter}.safetensors", model)
        for i in range(4):
            weights |= {f"t{i}": "m.safetensors", f"u{i}": "n.safetensors"}
        index = model / "model.safetensors.index.json"
        index.write_text(json.dumps({"metadata": {}, "weight_map": weights}))
        for given in (model, index):
            command = Command("pack", [str(TOOLS / "hoist-tensors"), "pack", str(given), "-o", "OUT"])
            for out in (model / "m.safetensors", index):
                for more in ([], ["--force"]):
                    self.refused(command, out, *more, message="same file")

    def test_a_folder_is_no_output(self):
        (self.folder / "folder").mkdir()
        for command in (*commands(self.folder), *own_kind(self.folder)):
            if command.name.startswith("unpack"):
                continue  # into it: below
            if command.variable == "HOIST_PROFILE":
                self.refused(command, self.folder / "folder", message="no regular file")
                continue
            for more in ([], ["--force"])[:1 if command in own_kind(self.folder) else 2]:
                if "--stats" in command.name or command.variable:
                    more = []
                self.refused(command, self.folder / "folder", *more, message="is a folder")

    def test_no_such_folder(self):
        for command in commands(self.folder):
            before = self.content()
            done = command.run(self.folder / "none" / command.out)
            self.assertEqual(done.returncode, 1, (command.name, done))
            self.assertIn(b"choose a place where you may write", done.stderr, command.name)
            self.assertEqual(self.content(), before)

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_a_folder_that_takes_no_files(self):
        (self.folder / "closed").mkdir(mode=0o500)
        for command in commands(self.folder):
            done = command.run(self.folder / "closed" / command.out)
            self.assertEqual(done.returncode, 1, (command.name, done))
            self.assertIn(b"Permission denied", done.stderr, command.name)

    def device(self):
        """A null device. For root, whom nothing would keep from replacing the machine's, one of the
        test's own."""
        if os.geteuid() != 0:
            return pathlib.Path("/dev/null")
        own = self.folder / "null"
        try:
            os.mknod(own, stat.S_IFCHR | 0o666, os.makedev(1, 3))
            own.write_bytes(b"x")
        except PermissionError as why:
            self.skipTest(f"no device of our own: {why}")
        return own

    def test_devices_and_pipes_stay(self):
        device = self.device()
        for command in (*commands(self.folder), *own_kind(self.folder)[:2]):
            is_text = "plot" in command.name or command in own_kind(self.folder)
            through = command.name in ("info --plot", "records info --plot", "explain --plot", "graph show -o, a plot",
                                       "graph run", "px run", "records decode", "run --stats", "HOIST_STATS")
            for more in ([], ["--force"]):
                if command.name in ("run --stats", "HOIST_STATS"):
                    more = []
                if command.out != "out":
                    continue
                done = command.run(device, *more)
                self.assertEqual(done.returncode, 0 if through else 2, (command.name, done))
                self.assertTrue(device.is_char_device())
            if through:
                done = command.run("/dev/fd/1")
                wanted = (b"<svg" if is_text and "plot" in command.name
                          else bytes(400) if command.name in ("px run", "graph run")
                          else b'{"key": ' if command.name == "records decode" else b"programs")
                self.assertIn(wanted, done.stdout, command.name)
                pipe = self.folder / "pipe"
                os.mkfifo(pipe)
                reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
                self.assertEqual(command.run(pipe).returncode, 0, command.name)
                self.assertGreater(len(os.read(reader, 1 << 16)), 20, command.name)
                self.assertTrue(pipe.is_fifo())
                os.close(reader)
                pipe.unlink()

    def test_own_kind(self):
        for command in own_kind(self.folder):
            out = self.folder / "out"
            for content in (PRECIOUS, b"{}\n", b'{"format": 1}\n', b"\0"):
                out.write_bytes(content)
                error = self.refused(command, out)
                self.assertRegex(error, r"out exists \(not .*\): .*, or remove it")
            (self.folder / "hard").hardlink_to(out)
            self.refused(command, self.folder / "hard")
            (self.folder / "hard").unlink()
            out.write_bytes(b"")
            for what in ("empty", "own", "own"):
                self.assertEqual(command.run(out).returncode, 0, (command.name, what))
                self.assertGreater(out.stat().st_size, 20)
            for path in self.folder.iterdir():
                path.unlink()

    def test_what_belongs_to_a_profile(self):
        """Files beside it that are somebody else's."""
        tune = own_kind(self.folder)[2]
        out = self.folder / "out"
        (self.folder / "out.decisions").write_bytes(PRECIOUS)
        self.refused(tune, out)
        (self.folder / "out.decisions").unlink()
        self.assertEqual(tune.run(out).returncode, 0)
        timings = self.folder / "out.timings"
        timings.write_bytes(PRECIOUS * 500)
        self.assertEqual(tune.run(out, "--refine").returncode, 0)
        self.assertEqual(timings.read_bytes(), PRECIOUS * 500)
        link = self.folder / "link"
        link.symlink_to("target")
        self.refused(tune, link, message="no regular file")

    def test_a_program_keeps_what_it_wrote(self):
        """Where it writes the file that its statistics were to go to."""
        out = self.folder / "out"
        done = run(HOIST, "run", f"--stats={out}", "--", "sh", "-c", f"echo mine > {out}; exit 3")
        self.assertEqual(done.returncode, 3)
        self.assertIn(b"exists", done.stderr)
        self.assertEqual(out.read_bytes(), b"mine\n")

    def test_a_log_is_appended_to(self):
        out = self.folder / "log"
        out.write_bytes(PRECIOUS)
        run(HOIST, "run", "--", "true", env=environment(
            **ENVIRONMENT, HOIST_LOG="debug", HOIST_LOG_FILE=str(out), HOIST_OPS="nosuch"))
        self.assertTrue(out.read_bytes().startswith(PRECIOUS))
        self.assertGreater(out.stat().st_size, len(PRECIOUS))

    def test_several_files(self):
        unpack = Command("unpack", [str(TOOLS / "hoist-tensors"), "unpack",
                                    str(EXAMPLES / "two.holo"), "-o", "OUT"])
        out = self.folder / "out"
        self.assertEqual(unpack.run(f"{out}/").returncode, 0)
        for letter in "mn":
            self.assertEqual((out / f"{letter}.safetensors").read_bytes(),
                             (EXAMPLES / f"{letter}.safetensors").read_bytes())
        (out / "m.safetensors").unlink()
        (out / "n.safetensors").write_bytes(PRECIOUS)
        self.refused(unpack, out)
        self.assertEqual(os.listdir(out), ["n.safetensors"])
        self.assertEqual(unpack.run(out, "--force").returncode, 0)
        self.assertEqual((out / "n.safetensors").read_bytes(),
                         (EXAMPLES / "n.safetensors").read_bytes())
        (out / "n.safetensors").unlink()
        (out / "n.safetensors").mkdir()
        before = (out / "m.safetensors").stat().st_ino
        self.refused(unpack, out, "--force", message="is a folder")
        lost = self.folder / "lost.holo"
        lost.write_bytes(bytes(byte ^ (i % 1000 == 999 and i > 4096) for i, byte in
                               enumerate((EXAMPLES / "two.holo").read_bytes())))
        done = run(TOOLS / "hoist-tensors", "unpack", lost, "-o", f"{self.folder}/new/")
        self.assertEqual(done.returncode, 1, done)
        self.assertFalse((self.folder / "new").exists())
        self.assertEqual((out / "m.safetensors").stat().st_ino, before)

    def test_a_failure_leaves_what_was_there(self):
        def lost(name):
            content = bytearray((EXAMPLES / name).read_bytes())
            for at in range(4096, len(content), 1000):
                content[at] ^= 1
            return content

        for command in commands(self.folder):
            takes_any_bytes = command.name in ("pack", "px run", "graph run", "records encode")
            if not command.inputs or "plot" in command.name or takes_any_bytes:
                continue
            for name in command.inputs:
                (self.folder / name).write_bytes(lost(name) if command.name != "container repair"
                                                 else b"nothing of a container")
            out = self.folder / command.out
            for content in (None, PRECIOUS):
                if content is not None:
                    out.write_bytes(content)
                before = self.content()
                done = command.run(out, "--force")
                self.assertEqual(done.returncode, 1, (command.name, done))
                self.assertEqual(self.content(), before, command.name)
            out.unlink()
            for name in command.inputs:
                shutil.copy(EXAMPLES / name, self.folder)

    def test_repair_in_place(self):
        tensors = TOOLS / "hoist-tensors"
        original = (EXAMPLES / "m.holo").read_bytes()
        for name in ("bad.holo", "soft"):
            bad = self.folder / "bad.holo"
            shutil.copy(EXAMPLES / "bad.holo", bad)
            os.chmod(bad, 0o600)
            if name == "soft":
                (self.folder / "soft").symlink_to("bad.holo")
            done = run(tensors, "repair", self.folder / name)
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(bad.read_bytes(), original)
            self.assertEqual(stat.S_IMODE(bad.stat().st_mode), 0o600)
        self.assertTrue((self.folder / "soft").is_symlink())
        done = run(tensors, "repair", bad, "-o", self.folder / "soft", "--force")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn(b"leave out -o to repair it in place", done.stderr)

    def build(self, *more, source=None):
        return run(TOOLS / "hoist-match", "build", "--format", "lines", "-i",
                   source or EXAMPLES / "patterns", "-o", self.folder / "index", *more)

    def test_match_build(self):
        index = self.folder / "index"
        for make in (lambda: index.write_bytes(PRECIOUS), lambda: index.mkdir(),
                     lambda: (index.mkdir(), (index / "diary").write_bytes(PRECIOUS)),
                     lambda: index.symlink_to("nowhere")):
            make()
            before = self.content()
            for more in ([], ["--force"]):
                done = self.build(*more)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(b"index exists (not an index", done.stderr)
            self.assertEqual(self.content(), before)
            if index.is_dir() and not index.is_symlink():
                shutil.rmtree(index)
            else:
                index.unlink()
        self.assertEqual(self.build().returncode, 0)
        before = self.content()
        done = self.build()
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"exists (an index): pass --force to replace it, or choose another name",
                      done.stderr)
        done = self.build("--force", source=index / "store/CURRENT")
        self.assertEqual(done.returncode, 2)
        self.assertIn(b"the input lies in the index", done.stderr)
        self.assertEqual(self.content(), before)
        (self.folder / "one").write_text("x y z\n")
        self.assertEqual(self.build("--force", "--no-store", source=self.folder / "one").returncode, 0)
        self.assertEqual(os.listdir(self.folder).count("index"), 1)
        self.assertEqual(sorted(os.listdir(index)), ["ledger", "snapshot.hoist"])
        (self.folder / "bad").write_bytes(b"x \xff\n")
        before = self.content()
        self.assertEqual(self.build("--force", source=self.folder / "bad").returncode, 2)
        self.assertEqual(self.content(), before)

    def test_an_index_in_use_is_not_replaced(self):
        self.assertEqual(self.build().returncode, 0)
        with subprocess.Popen([TOOLS / "hoist-match", "learn", self.folder / "index", "-i", "-",
                               "--format", "lines"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE) as learning:
            learning.stdin.write(b"p q r\n")
            learning.stdin.flush()
            learning.stdout.readline()
            done = self.build("--force")
            learning.stdin.close()
            learning.wait()
        self.assertEqual(done.returncode, 3, done)
        self.assertIn(b"another process writes to the index", done.stderr)

    def test_kill(self):
        """A kill at any time leaves the old file, or nothing, or the whole new one."""
        (self.folder / "m.safetensors").write_bytes(safetensors(30, 300_000, 3))
        tensors = TOOLS / "hoist-tensors"
        whole = self.folder / "whole"
        done = run(tensors, "pack", self.folder / "m.safetensors", "-o", whole)
        self.assertEqual(done.returncode, 0, done)
        out = self.folder / "out"
        start = time.monotonic()
        run(tensors, "pack", self.folder / "m.safetensors", "-o", self.folder / "again")
        usual = time.monotonic() - start
        for i in range(16):
            force = i % 2 == 1
            if force:
                out.write_bytes(PRECIOUS)
            with subprocess.Popen([tensors, "pack", self.folder / "m.safetensors", "-o", out,
                                   *(["--force"] if force else [])],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as packing:
                time.sleep(usual * 1.1 * i / 16)
                packing.send_signal(signal.SIGKILL)
            if out.exists():
                self.assertIn(out.read_bytes(), [whole.read_bytes()] + [PRECIOUS] * force)
                out.unlink()
            else:
                self.assertFalse(force)
            left = set(os.listdir(self.folder)) - {"m.safetensors", "whole", "again"}
            # The one name that a file may have for a moment before it replaces another.
            self.assertEqual([name for name in left if not (force and name.startswith(".hoist-"))],
                             [])

    def in_own_mounts(self, script):
        """Runs a shell where file systems may be mounted for it alone."""
        if shutil.which("unshare") is None:
            self.skipTest("no unshare")
        done = run("unshare", "-rm", "sh", "-c", script)
        if done.returncode == 77 or b"unshare:" in done.stderr:
            self.skipTest(f"no file system of our own: {done.stderr.decode()}")
        return done

    def test_files_that_have_names_from_the_beginning(self):
        """Without /proc a file cannot get its name later; and where a file system can neither link
        nor rename without replacing, an empty file keeps the name."""
        shim = compile_c(POOR_FILE_SYSTEM, self.folder / "shim.so", "-shared", "-fPIC")
        preloads = [""]
        if shim is not None and not os.environ.get("HOIST_SANITIZE"):
            preloads.append(str(shim))
        (self.folder / "lines").write_text("x y z\n")
        index = self.folder / "index"
        self.assertEqual(run(f"{TOOLS}/hoist-match", "build", "--format", "lines", "-i",
                             self.folder / "lines", "-o", index).returncode, 0)
        match = (f"{TOOLS}/hoist-match build --format lines -i {self.folder}/lines -o {index} "
                 "--no-store --force")
        pack = f"{TOOLS}/hoist-tensors pack {EXAMPLES}/m.safetensors -o {self.folder}"
        for preload in preloads:
            (self.folder / "old").write_bytes(PRECIOUS)
            done = self.in_own_mounts(f"""
                mount -t tmpfs none /proc || exit 77
                export LD_PRELOAD={preload}
                {pack}/old; test $? = 2 || exit 10
                {pack}/new || exit 11
                {pack}/new; test $? = 2 || exit 12
                {pack}/old --force || exit 13
                {match} || exit 15
                {pack}/none/new; test $? = 1 || exit 14""")
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual((self.folder / "old").read_bytes(),
                             (self.folder / "new").read_bytes())
            self.assertEqual(set(os.listdir(self.folder)) - {"shim.so"},
                             {"old", "new", "lines", "index"})
            self.assertFalse((index / "store").exists())
            (self.folder / "new").unlink()

    def test_all_or_none_where_names_cannot_be_exchanged(self):
        shim = compile_c(POOR_FILE_SYSTEM, self.folder / "shim.so", "-shared", "-fPIC")
        if shim is None or os.environ.get("HOIST_SANITIZE"):
            self.skipTest("needs a compiler, and no sanitizer")
        done = run(BUILD / "tests/output_file_test", "--gtest_filter=Outputs.AllOrNone",
                   env=environment(LD_PRELOAD=str(shim)))
        self.assertEqual(done.returncode, 0, done.stdout.decode())

    def test_a_link_in_shared_memory(self):
        with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
            link, target = pathlib.Path(folder, "link.json"), pathlib.Path(folder, "target.json")
            link.symlink_to(target)
            files = set()
            for _ in range(2):
                self.assertEqual(run(HOIST, "run", f"--stats={link}", "--", "true").returncode, 0)
                self.assertTrue(link.is_symlink())
                json.loads(target.read_text())
                files.add(target.stat().st_ino)
            self.assertEqual(len(files), 2)  # replaced at once, not written over

    def test_full_disk(self):
        commands(self.folder)
        script = f"""
            mount -t tmpfs -o size=100k none {self.folder}/full || exit 77
            cp /dev/null {self.folder}/full/old; echo old > {self.folder}/full/old
            for out in new old; do
              for command in "tensors pack {EXAMPLES}/m.safetensors" "tensors unpack {EXAMPLES}/m.holo" \\
                  "tensors repair {EXAMPLES}/bad.holo" "container repair {EXAMPLES}/bad.holo"; do
                {TOOLS}/hoist-$command -o {self.folder}/full/$out --force >&2 && exit 2
                ls -A {self.folder}/full; cat {self.folder}/full/old
              done
            done"""
        (self.folder / "full").mkdir()
        done = self.in_own_mounts(script)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(done.stdout, b"old\nold\n" * 8)
        self.assertEqual(done.stderr.count(b"No space left"), 8, done.stderr)


if __name__ == "__main__":
    unittest.main()
