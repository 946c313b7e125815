#!/usr/bin/env python3
"""Black-box tests of `hoist tensors`: files of every element type and awkward shape go in and come
back byte for byte, whole or in part; damage is found, mended or said."""

import json
import math
import os
import pathlib
import random
import resource
import signal
import struct
import subprocess
import tempfile
import time
import unittest

import svg_checks
from hoist_tree import BUILD, HOIST, environment, run

TOOL = BUILD / "libexec/hoist/hoist-tensors"
SIZES = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E5M2": 1, "F8_E4M3": 1, "I16": 2, "U16": 2, "F16": 2,
         "BF16": 2, "I32": 4, "U32": 4, "F32": 4, "I64": 8, "U64": 8, "F64": 8}
SHAPES = ([], [0], [1], [7], [31, 1], [1, 127], [3, 0, 5], [2, 1, 3, 1, 2, 1, 2, 2], [13, 17])


def tool(*arguments, **options):
    done = run(TOOL, *arguments, **options)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def safetensors(tensors, metadata=None, padding=0):
    """(name, dtype, shape, bytes) …"""
    header, data = {}, b""
    if metadata is not None:
        header["__metadata__"] = metadata
    for name, dtype, shape, content in tensors:
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header, ensure_ascii=False).encode() + b" " * padding
    return struct.pack("<Q", len(text)) + text + data


def read_safetensors(path):
    content = pathlib.Path(path).read_bytes()
    size, = struct.unpack_from("<Q", content)
    header = json.loads(content[8:8 + size])
    header.pop("__metadata__", None)
    data = content[8 + size:]
    return {name: (entry["dtype"], entry["shape"], data[slice(*entry["data_offsets"])])
            for name, entry in header.items()}


def bf16(values):
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def from_bf16(content):
    return [struct.unpack("<f", b"\0\0" + content[i:i + 2])[0] for i in range(0, len(content), 2)]


class TensorsCommand(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        seed = int(os.environ.get("HOIST_TEST_SEED", random.randrange(1 << 32)))
        print(f"HOIST_TEST_SEED={seed}", flush=True)
        self.random = random.Random(seed)

    def weights(self, count, deviation=0.02):
        return bf16([self.random.gauss(0, deviation) for _ in range(count)])

    def model(self):
        tensors = []
        for i, (dtype, size) in enumerate(SIZES.items()):
            for j in range(2):
                shape = SHAPES[(2 * i + j) % len(SHAPES)]
                content = self.random.randbytes(math.prod(shape) * size)
                tensors.append((f"layers.{j}.{dtype}", dtype, shape, content))
        tensors.append(("layers.0.attention.q", "BF16", [64, 100], self.weights(6400)))
        tensors.append(("layers.0.mlp.up", "BF16", [64, 100], self.weights(6400)))
        path = self.folder / "model.safetensors"
        path.write_bytes(safetensors(tensors, {"format": "pt", "note": "ünï"}, 11))
        return path

    def ok(self, *arguments):
        """Outputs are written again and again."""
        force = ["--force"] if arguments[0] in ("pack", "unpack") else []
        status, out, err = tool(*arguments, *force)
        self.assertEqual((status, err), (0, ""), arguments)
        return out

    def packed(self, *options, source=None):
        path = self.folder / "model.holo"
        self.ok("pack", source or self.model(), "-o", path, *options)
        return path

    def test_whole_files_come_back(self):
        model = self.model()
        for options in ([], ["--encoding", "lossless"], ["--order", "tensor"],
                        ["--fragments", "3", "--parity", "2", "--digests"]):
            self.packed(*options, source=model)
            again = self.folder / "again.safetensors"
            self.ok("unpack", self.folder / "model.holo", "-o", again)
            self.assertEqual(again.read_bytes(), model.read_bytes(), options)
            self.assertIn("OK", self.ok("verify", self.folder / "model.holo"))

    def test_size_of_gaussian_weights(self):
        count = 400_000
        path = self.folder / "w.safetensors"
        path.write_bytes(safetensors([("w", "BF16", [count], self.weights(count))]))
        self.ok("pack", path, "-o", self.folder / "w.holo")
        share = (self.folder / "w.holo").stat().st_size / path.stat().st_size
        self.assertLess(share, 0.67)

    def test_info_of_packed_weights(self):
        weights = random.Random(3)
        big = bf16(weights.gauss(0, 0.02) for _ in range(256 * 512))
        wild = b"".join(struct.pack("<H", i % 65536) for i in range(256 * 512))
        source = self.folder / "weights.safetensors"
        source.write_bytes(safetensors([("big", "BF16", [256, 512], big), ("wild", "BF16", [256, 512], wild),
                                        ("small", "BF16", [4, 4], big[:32]), ("line", "BF16", [16], big[:32]),
                                        ("float", "F32", [2, 2], big[:16])]))
        info = json.loads(self.ok("info", source, "--packed", "--json"))
        tensors = {tensor["name"]: tensor for tensor in info["tensors"]}
        self.assertEqual(info["plain_bytes"], 2 * len(big) + 32 + 32 + 16)
        self.assertEqual(info["bytes"], sum(tensor["bytes"] for tensor in info["tensors"]))
        tables = sum((size + 255) // 256 * 256 for size in (16 * 4, 257 * 4, 8 * tensors["big"]["escapes"]))
        self.assertEqual(tensors["big"]["bytes"], 256 * 512 * 3 // 2 + tables)
        self.assertNotIn("plain_because", tensors["big"])
        for name, words in (("wild", "exponents"), ("small", "small"), ("line", "no bfloat16 matrix"),
                            ("float", "no bfloat16 matrix")):
            self.assertIn(words, tensors[name]["plain_because"])
            self.assertEqual(tensors[name]["bytes"], tensors[name]["plain_bytes"])
        text = self.ok("info", source, "--packed")
        self.assertIn("plain: too small", text)
        self.ok("pack", source, "-o", self.folder / "weights.holo")
        again = json.loads(self.ok("info", self.folder / "weights.holo", "--packed", "--json"))
        self.assertEqual({tensor["name"]: tensor for tensor in again["tensors"]}, tensors)

    def test_info(self):
        path = self.packed("--parity", "1")
        info = json.loads(self.ok("info", "--json", path))
        self.assertEqual(info["bytes"], path.stat().st_size)
        self.assertEqual(info["parity_shards"], 1)
        tensors = {tensor["name"]: tensor for tensor in info["tensors"]}
        self.assertEqual(len(tensors), 2 * len(SIZES) + 2)
        query = tensors["layers.0.attention.q"]
        self.assertEqual((query["dtype"], query["shape"], query["encoding"]),
                         ("BF16", [64, 100], "embedded"))
        qualities = [layer["quality"] for layer in query["layers"]]
        self.assertEqual(qualities, sorted(qualities))
        self.assertEqual((qualities[-1], query["layers"][-1]["cosine"]), (1, 1))
        self.assertGreater(qualities[0], 0.9)
        self.assertEqual(tensors["layers.0.I64"]["encoding"], "lossless")
        self.assertIn("layers.0.attention.q", self.ok("info", path))
        svg = self.folder / "curve.svg"
        self.ok("info", path, "--plot", svg)
        self.assertTrue(svg.read_text().startswith("<svg "))
        self.assertEqual(svg_checks.faults(svg.read_text()), [])
        for words in ("all tensors, weighted by size", "each tensor", "loaded (bits an element)",
                      "relative squared error (1 − quality)"):
            self.assertIn(f">{words}</text>", svg.read_text())
        spectral = self.packed("--encoding", "spectral", "--fragments", "5")
        info = json.loads(self.ok("info", "--json", spectral))
        query = [t for t in info["tensors"] if t["name"] == "layers.0.attention.q"][0]
        self.assertEqual((query["encoding"], len(query["fragments"])), ("spectral", 5))

    def test_quality_is_what_it_says(self):
        values = [self.random.gauss(0, 0.05) for _ in range(3000)]
        source = self.folder / "w.safetensors"
        source.write_bytes(safetensors([("w", "BF16", [30, 100], bf16(values))]))
        path = self.packed(source=source)
        layers = json.loads(self.ok("info", "--json", path))["tensors"][0]["layers"]
        exact = from_bf16(bf16(values))
        rough = self.folder / "rough.safetensors"
        for count, layer in enumerate(layers, 1):
            self.ok("unpack", path, "-o", rough, "--layers", count)
            loaded = from_bf16(read_safetensors(rough)["w"][2])
            energy = sum(x * x for x in exact)
            error = sum((x - y) ** 2 for x, y in zip(exact, loaded))
            cosine = (sum(x * y for x, y in zip(exact, loaded))
                      / math.sqrt(energy * sum(y * y for y in loaded)))
            self.assertAlmostEqual(1 - error / energy, layer["quality"], 6)
            self.assertAlmostEqual(cosine, layer["cosine"], 6)
        for target in (0.5, 0.99, 0.9999, 1):
            out = json.loads(self.ok("unpack", path, "-o", rough, "--target", target, "--json"))
            fewest = next(layer["quality"] for layer in layers if layer["quality"] >= target)
            self.assertAlmostEqual(out["lowest_quality"], fewest, 9)

    def test_policy(self):
        path = self.packed()
        rough = self.folder / "rough.safetensors"
        self.ok("unpack", path, "-o", rough, "--target", "0.9", "--policy", "attention.*=1@2",
                "--policy", "*q=0.5@1")
        exact, loaded = (read_safetensors(p) for p in (self.folder / "model.safetensors", rough))
        self.assertEqual(loaded["layers.0.attention.q"], exact["layers.0.attention.q"])
        self.assertNotEqual(loaded["layers.0.mlp.up"], exact["layers.0.mlp.up"])
        self.assertEqual(loaded["layers.0.I64"], exact["layers.0.I64"])

    def test_any_fragments(self):
        source = self.folder / "w.safetensors"
        source.write_bytes(safetensors([("w", "BF16", [64, 96], self.weights(6144))]))
        for encoding in ("spectral", "rph", "lrdf"):
            path = self.packed("--encoding", encoding, "--fragments", "4", source=source)
            tensor = json.loads(self.ok("info", "--json", path))["tensors"][0]
            self.assertEqual(tensor["encoding"], encoding)
            for fragments in ("0", "3", "1,3", "0-2", "0,1,2,3"):
                out = json.loads(self.ok("unpack", path, "-o", self.folder / "x.safetensors",
                                         "--fragments", fragments, "--json"))
                self.assertLess(out["lowest_quality"], 1.0000001)
            full = tensor["fragments"][-1]["quality"]
            self.assertAlmostEqual(out["lowest_quality"], full, 4)

    def test_damage_is_found_and_repaired(self):
        path = self.packed("--fragments", "4", "--parity", "2")
        good = path.read_bytes()
        blocks = json.loads(run(BUILD / "libexec/hoist/hoist-container", "info", "--json",
                                "--blocks", path).stdout)["block_list"]
        for block in self.random.sample(blocks, 6):
            at = block["offset"] + self.random.randrange(56 + block["stored_size"])
            path.write_bytes(good[:at] + bytes([good[at] ^ 32]) + good[at + 1:])
            status, out, err = tool("verify", path)
            self.assertEqual(status, 1)
            self.assertIn("DAMAGED", out)
            self.assertRegex(err, r"^hoist: error: damaged tensor file \(.*\): `hoist tensors rep")
            # Reading goes on meanwhile.
            again = self.folder / "again.safetensors"
            self.assertEqual(tool("unpack", path, "-o", again, "--force")[0], 0)
            self.assertEqual(again.read_bytes(),
                             (self.folder / "model.safetensors").read_bytes())
            self.ok("repair", path)
            self.assertEqual(path.read_bytes(), good)

    def test_damaged_metadata_is_read_from_a_copy(self):
        path = self.packed("--fragments", "4", "--parity", "2")
        good = path.read_bytes()
        before = self.ok("info", path, "--json")
        at = good.index(b"layers")  # a name, in the metadata at the file's begin
        path.write_bytes(good[:at] + b"L" + good[at + 1:])
        status, out, err = tool("info", path, "--json")
        self.assertEqual(status, 0)
        self.assertRegex(err, "^hoist: warning: the metadata is damaged, a copy .*repair")
        self.assertEqual(out, before)
        again = self.folder / "again.safetensors"
        status, _, err = tool("unpack", path, "-o", again)
        self.assertEqual(status, 0)
        self.assertIn("a copy of it was read", err)
        self.assertEqual(again.read_bytes(), (self.folder / "model.safetensors").read_bytes())

    def test_damage_beyond_parity(self):
        path = self.packed()
        good = path.read_bytes()
        blocks = json.loads(run(BUILD / "libexec/hoist/hoist-container", "info", "--json",
                                "--blocks", path).stdout)["block_list"]
        last = [block for block in blocks if block["stored_size"] > 0][-3]
        at = last["offset"] + 60 + last["stored_size"] // 2
        copy = self.folder / "copy.holo"
        copy.write_bytes(good)
        path.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1:])
        out = self.folder / "out.safetensors"
        status, _, err = tool("unpack", path, "-o", out)
        self.assertEqual(status, 1)
        self.assertRegex(err, r"^hoist: error: ")
        self.assertFalse(out.exists())
        self.assertEqual(tool("repair", path)[0], 1)
        self.assertEqual(tool("unpack", path, "-o", out, "--source", copy)[0], 0)
        self.assertEqual(out.read_bytes(), (self.folder / "model.safetensors").read_bytes())
        report = json.loads(tool("verify", "--json", path, copy)[1])
        self.assertEqual([file["ok"] for file in report["files"]], [False, True])

    def test_several_files(self):
        folder = self.folder / "sharded"
        folder.mkdir()
        for i in (1, 2):
            (folder / f"model-{i}.safetensors").write_bytes(
                safetensors([(f"w{i}", "BF16", [10, 50], self.weights(500))]))
        (folder / "model.safetensors.index.json").write_text(json.dumps(
            {"metadata": {}, "weight_map": {f"w{i}": f"model-{i}.safetensors" for i in (1, 2)}}))
        packed = self.folder / "model.holo"
        self.ok("pack", folder, "-o", packed)
        out = self.folder / "out"
        out.mkdir()
        self.ok("unpack", packed, "-o", out)
        self.assertEqual(sorted(p.name for p in out.iterdir()),
                         sorted(p.name for p in folder.iterdir()))
        for path in folder.iterdir():
            self.assertEqual((out / path.name).read_bytes(), path.read_bytes())
        merged = self.folder / "merged.safetensors"
        self.ok("unpack", packed, "-o", merged)
        self.assertEqual(sorted(read_safetensors(merged)), ["w1", "w2"])
        status, _, err = tool("unpack", packed, "-o", self.folder / "x.gguf")
        self.assertEqual(status, 2)
        self.assertIn("name a folder", err)

    def test_other_formats(self):
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (30, 2), }".ljust(117) + b"\n"
        npy = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + self.random.randbytes(240)
        path = self.folder / "w.npy"
        path.write_bytes(npy)
        self.ok("pack", path, "-o", self.folder / "w.holo")
        self.ok("unpack", self.folder / "w.holo", "-o", self.folder / "again.npy")
        self.assertEqual((self.folder / "again.npy").read_bytes(), npy)
        self.ok("unpack", self.folder / "w.holo", "-o", self.folder / "w.safetensors")
        self.assertEqual(read_safetensors(self.folder / "w.safetensors")["w"][1:],
                         ([30, 2], npy[-240:]))

    def test_pointers_and_pages_are_named(self):
        """What stands in a model's place after a clone without Git LFS, or a wrong download."""
        pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"
        for content, text in ((pointer, r"a Git LFS pointer, not the file itself \(.*\): fetch the "
                                        "file with `git lfs pull`"),
                              (b"\n<!DOCTYPE html>\n<html>", "an HTML page, not the file itself")):
            for name in ("x.safetensors", "x.gguf", "x.npy", "x.npz", "x.holo",
                         "model.safetensors.index.json"):
                path = self.folder / name
                path.write_bytes(content)
                words = [["pack", path, "-o", self.folder / "out.holo"]]
                if name == "x.holo":
                    words += [["info", path], ["verify", path], ["repair", path],
                              ["unpack", path, "-o", self.folder / "y.safetensors"]]
                for arguments in words:
                    status, _, err = tool(*arguments)
                    self.assertEqual(status, 1, arguments)
                    self.assertRegex(err, "^hoist: error: " + text)

    def test_an_output_of_another_kind_is_refused(self):
        model = self.folder / "m.safetensors"
        model.write_bytes(struct.pack("<Q", 2) + b"{}")
        self.ok("pack", model, "-o", self.folder / "m.holo")
        status, _, err = tool("unpack", self.folder / "m.holo", "-o", self.folder / "y.npz")
        self.assertEqual(status, 2)
        self.assertRegex(err, r"no npz \(.*y.npz\): name an output that ends in .safetensors$")

    def test_what_is_refused(self):
        def refused(status, text, *arguments):
            done = tool(*arguments)
            self.assertEqual(done[0], status, arguments)
            self.assertRegex(done[2], "^hoist: error: .*" + text)
        out = self.folder / "out.holo"
        foreign = self.folder / "x.safetensors"
        foreign.write_bytes(b"HTNS" + bytes(92))
        refused(3, "HTNS", "pack", foreign, "-o", out)
        for magic in (b"HTNS", b"HCTN"):
            content = magic + self.random.randbytes(5000)
            foreign.write_bytes(content)
            name = magic.decode()
            for words in (["info", foreign], ["unpack", foreign, "-o", out], ["verify", foreign],
                          ["repair", foreign], ["repair", foreign, "-o", out]):
                refused(3, f"{name} is a format of haagenti", *words)
                self.assertEqual(foreign.read_bytes(), content)
            report = json.loads(tool("verify", "--json", foreign)[1])
            self.assertIn(name, report["files"][0]["error"])
        foreign.write_bytes(b"garbage of no format at all")
        refused(1, "", "pack", foreign, "-o", out)
        refused(1, "none.safetensors", "pack", self.folder / "none.safetensors", "-o", out)
        model = self.model()
        refused(2, "", "pack", model)
        refused(2, "", "pack", model, "-o", out, "--encoding", "magic")
        refused(2, "255 in all", "pack", model, "-o", out, "--fragments", "200", "--parity", "99")
        refused(2, "--seed: -1 is no whole number", "pack", model, "-o", out, "--seed", "-1")
        refused(2, "same file", "pack", model, "-o", model)
        path = self.packed(source=model)
        refused(2, "", "unpack", path, "-o", out, "--target", "0.5", "--layers", "2")
        refused(2, "list", "unpack", path, "-o", out, "--fragments", "1,")
        refused(2, "no tensor has fragments, which spectral, rph and lrdf make", "unpack", path,
                "-o", out, "--fragments", "0,2")
        refused(2, "no gguf .* .safetensors", "unpack", path, "-o", self.folder / "x.gguf")
        self.assertFalse((self.folder / "x.gguf").exists())
        refused(2, "rule", "unpack", path, "-o", out, "--policy", "nothing")
        refused(1, "", "unpack", path, "-o", self.folder / "gone" / "x.safetensors")
        packed = path.read_bytes()
        refused(2, "same file", "unpack", path, "-o", path)
        copy = self.folder / "copy.holo"
        copy.write_bytes(packed)
        refused(2, "same file", "unpack", path, "-o", copy, "--source", copy)
        self.assertEqual((path.read_bytes(), copy.read_bytes()), (packed, packed))
        for option in ("--target", "--min-quality"):
            for value in ("nan", "-0.1", "1.5"):
                refused(2, "", "unpack", path, "-o", out, option, value)
        self.assertFalse(out.exists())
        self.assertEqual(tool("--help")[0], 0)
        for command in ("pack", "unpack", "info", "verify", "repair", "bench"):
            status, text, _ = tool(command, "--help")
            self.assertEqual(status, 0)
            self.assertIn("Example", text)

    def test_through_hoist(self):
        done = run(HOIST, "tensors", "info", self.packed())
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_killed_while_packing(self):
        source = self.folder / "big.safetensors"
        count = 1_500_000
        source.write_bytes(safetensors([(f"w{i}", "BF16", [count], self.random.randbytes(2 * count))
                                        for i in range(4)]))
        for _ in range(6):
            out = self.folder / "big.holo"
            process = subprocess.Popen([TOOL, "pack", source, "-o", out], env=environment(),
                                       stdout=subprocess.DEVNULL)
            time.sleep(self.random.random() * 0.3)
            process.send_signal(signal.SIGKILL)
            process.wait()
            if out.exists():
                self.ok("verify", out)
                out.unlink()

    def test_full_disk(self):
        model = self.model()
        out = self.folder / "out"
        out.mkdir()

        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

        path = self.packed(source=model)
        for command in (("pack", model, "-o", out / "m.holo"),
                        ("unpack", path, "-o", out / "m.safetensors")):
            status, _, err = tool(*command, preexec_fn=limit)
            self.assertEqual(status, 1, command)
            self.assertIn("File too large", err)
            self.assertEqual(list(out.iterdir()), [])

    def test_bench(self):
        out = json.loads(self.ok("bench", "--size", "4M", "--json", "--folder", self.folder))
        self.assertEqual({line["name"] for line in out["lines"]} >= {"pack", "unpack", "verify"}, True)
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
