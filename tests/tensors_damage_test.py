#!/usr/bin/env python3
"""What `hoist tensors` saves of a damaged file: every tensor that is intact, in a valid file, with the
others named; and whether the advice that its messages give can be followed."""

import json
import pathlib
import random
import re
import struct
import tempfile
import unittest
import zipfile

from hoist_tree import BUILD, run

TOOLS = BUILD / "libexec/hoist"
COUNT, SIZE = 12, 70_000  # from 64 KiB on, with --fragments 1, a tensor shares no shard


def tool(*words, name="tensors"):
    done = run(TOOLS / f"hoist-{name}", *words)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def safetensors(tensors, metadata):
    header, data = {"__metadata__": metadata}, b""
    for name, content in tensors.items():
        header[name] = {"dtype": "U8", "shape": [len(content)],
                        "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def read_safetensors(path):
    content = pathlib.Path(path).read_bytes()
    size, = struct.unpack_from("<Q", content)
    header = json.loads(content[8:8 + size])
    metadata = header.pop("__metadata__", None)
    data, end = content[8 + size:], 0
    for entry in sorted(header.values(), key=lambda entry: entry["data_offsets"]):
        begin, past = entry["data_offsets"]
        assert begin == end, "a gap"
        end = past
    assert end == len(data)
    return {name: data[slice(*entry["data_offsets"])] for name, entry in header.items()}, metadata


def gguf_text(text):
    return struct.pack("<Q", len(text)) + text.encode()


PAIRS = (gguf_text("general.alignment") + struct.pack("<II", 4, 64) +
         gguf_text("general.name") + struct.pack("<I", 8) + gguf_text("a model") +
         gguf_text("tokens") + struct.pack("<IIQ", 9, 8, 2) + gguf_text("a") + gguf_text("b"))


def gguf(tensors):
    """Names, each with a type's number (0 F32, 8 Q8_0), elements and content."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), 3) + PAIRS
    data = b""
    for name, (kind, count, content) in tensors.items():
        data += bytes(-len(data) % 64)
        head += gguf_text(name) + struct.pack("<IQIQ", 1, count, kind, len(data))
        data += content
    return head + bytes(-len(head) % 64) + data


def read_gguf(path, tensors):
    """Contents by name; the key-values must be PAIRS."""
    content = pathlib.Path(path).read_bytes()
    magic, version, count, pairs = struct.unpack_from("<4sIQQ", content)
    assert (magic, version, pairs) == (b"GGUF", 3, 3)
    at = 24
    assert content[at:at + len(PAIRS)] == PAIRS
    at += len(PAIRS)
    found = {}
    for _ in range(count):
        size, = struct.unpack_from("<Q", content, at)
        name = content[at + 8:at + 8 + size].decode()
        found[name] = struct.unpack_from("<IQIQ", content, at + 8 + size)
        at += 8 + size + 24
    begin = at + -at % 64
    for name, (rank, elements, kind, offset) in found.items():
        assert (rank, kind, elements) == (1, *tensors[name][:2]) and offset % 64 == 0
    return {name: content[begin + place[3]:begin + place[3] + len(tensors[name][2])]
            for name, place in found.items()}


class Damage(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.random = random.Random(7)
        self.tensors = {f"t{i}": self.random.randbytes(SIZE) for i in range(COUNT)}
        self.model = self.folder / "m.safetensors"
        self.model.write_bytes(safetensors(self.tensors, {"by": "a test"}))
        self.holo = self.folder / "m.holo"
        self.out = self.folder / "out.safetensors"

    def pack(self, *inputs, more=(), warns=""):
        status, _, err = tool("pack", *(inputs or [self.model]), "-o", self.holo, "--fragments", "1",
                              *more, "--force")
        self.assertEqual(status, 0, err)
        self.assertRegex(err, f"^{warns}.*$" if warns else "^$")

    def damage(self, *contents):
        """Flips a bit within each; random bytes are stored as they are."""
        holo = bytearray(self.holo.read_bytes())
        for content in contents:
            at = holo.find(content[5000:5040])
            self.assertGreater(at, 0)
            holo[at] ^= 4
        self.holo.write_bytes(holo)

    def unpack(self, out, *more, lost=()):
        """With --skip-damaged; what was said must name what is lost."""
        status, said, err = tool("unpack", self.holo, "-o", out, "--skip-damaged", "--json", *more)
        self.assertEqual(status, 0, err)
        report = json.loads(said)
        self.assertEqual([one["name"] for one in report["left_out"]], list(lost))
        named = re.findall(r"^hoist: warning: left out: (.*?) \(", err, re.MULTILINE)
        self.assertEqual(named, list(lost))
        return report

    def follow_advice(self, error, expected):
        """Runs the command that the message names, with what it needs."""
        advice = re.search(r"`hoist tensors ([^`]*)`", error).group(1).split()
        out = self.folder / "followed.safetensors"
        status, _, err = tool(*advice, self.holo, "-o", out, "--force")
        self.assertEqual(status, 0, err)
        self.assertEqual(read_safetensors(out)[0], expected)

    def intact(self, *lost):
        return {name: content for name, content in self.tensors.items() if name not in lost}

    def test_all_but_one(self):
        self.pack()
        self.damage(self.tensors["t5"])
        status, _, err = tool("unpack", self.holo, "-o", self.out)
        self.assertEqual(status, 1)
        self.assertIn("--skip-damaged leaves out what cannot be read", err)
        self.assertFalse(self.out.exists())
        report = self.unpack(self.out, lost=["t5"])
        self.assertEqual(report["tensors"], COUNT - 1)
        self.assertEqual(read_safetensors(self.out), (self.intact("t5"), {"by": "a test"}))
        self.assertIn("1 damaged left out", tool("unpack", self.holo, "-o", self.out, "--force",
                                                 "--skip-damaged")[1])
        for command in ("repair", "verify"):
            status, _, err = tool(command, self.holo)
            self.assertEqual(status, 1)
            self.assertIn("--skip-damaged", err)
            self.follow_advice(err, self.intact("t5"))

    def test_nothing_is_damaged(self):
        self.pack()
        self.unpack(self.out)
        self.assertEqual(self.out.read_bytes(), self.model.read_bytes())

    def test_nothing_is_left(self):
        self.pack()
        self.damage(*self.tensors.values())
        status, _, err = tool("unpack", self.holo, "-o", self.out, "--skip-damaged")
        self.assertEqual(status, 1)
        self.assertRegex(err, "none of 12 tensors is intact .*: get the file again")
        self.assertFalse(self.out.exists())
        for command in ("repair", "verify"):
            err = tool(command, self.holo)[2]
            self.assertIn("get ", err)
            self.assertNotIn("--skip-damaged", err)

    def test_parity_and_copies_come_first(self):
        self.pack(more=["--parity", "1"])
        self.damage(self.tensors["t3"])
        self.unpack(self.out)
        self.assertEqual(self.out.read_bytes(), self.model.read_bytes())
        self.pack()
        copy = self.folder / "copy.holo"
        copy.write_bytes(self.holo.read_bytes())
        self.damage(self.tensors["t3"])
        self.unpack(self.out, "--source", copy, "--force")
        self.assertEqual(self.out.read_bytes(), self.model.read_bytes())

    def test_a_file_that_was_cut_off(self):
        self.pack(more=["--order", "tensor", "--encoding", "lossless"])
        whole = self.holo.read_bytes()
        self.holo.write_bytes(whole[:len(whole) * 6 // 10])
        status, _, err = tool("unpack", self.holo, "-o", self.out, "--skip-damaged")
        self.assertEqual(status, 0, err)
        saved, _ = read_safetensors(self.out)
        self.assertGreater(len(saved), COUNT // 3)
        self.assertLess(len(saved), COUNT)
        for name, content in saved.items():
            self.assertEqual(content, self.tensors[name])

    def test_gguf(self):
        tensors = {}
        for i in range(6):
            quantised = i % 2 == 1
            count = (70_400 if quantised else 17_600) + 32 * i
            content = self.random.randbytes(count // 32 * 34 if quantised else count * 4)
            tensors[f"blk.{i}"] = (8 if quantised else 0, count, content)
        model = self.folder / "m.gguf"
        model.write_bytes(gguf(tensors))
        self.pack(model, more=["--encoding", "lossless", "--order", "tensor"])
        out = self.folder / "out.gguf"
        self.unpack(out)
        self.assertEqual(out.read_bytes(), model.read_bytes())
        for lost in (["blk.0"], ["blk.3", "blk.4"], ["blk.5"]):
            self.pack(model, more=["--encoding", "lossless", "--order", "tensor"])
            self.damage(*[tensors[name][2] for name in lost])
            self.unpack(out, "--force", lost=lost)
            kept = {name: one[2] for name, one in tensors.items() if name not in lost}
            self.assertEqual(read_gguf(out, tensors), kept)
            # And our reader takes it.
            self.assertEqual(tool("pack", out, "-o", self.folder / "again.holo", "--force")[0], 0)
            self.assertEqual(tool("unpack", self.folder / "again.holo", "-o", self.folder / "b.gguf",
                                  "--force")[0], 0)
            self.assertEqual((self.folder / "b.gguf").read_bytes(), out.read_bytes())

    def test_big_endian_gguf(self):
        def text(word):
            return struct.pack(">I", len(word)) + word.encode()
        values = {f"blk.{i}": [self.random.random() for _ in range(17_600)] for i in range(3)}
        head = b"GGUF" + struct.pack(">III", 1, len(values), 1)
        head += text("general.name") + struct.pack(">I", 8) + text("a model")
        contents = {name: struct.pack(f">{len(one)}f", *one) for name, one in values.items()}

        def file_of(names):
            described = b"".join(text(name) + struct.pack(">IIIQ", 1, 17_600, 0, 70_400 * i)
                                 for i, name in enumerate(names))
            start = head[:8] + struct.pack(">I", len(names)) + head[12:] + described
            return start + bytes(-len(start) % 32) + b"".join(contents[name] for name in names)
        model, out = self.folder / "m.gguf", self.folder / "out.gguf"
        model.write_bytes(file_of(list(values)))
        self.pack(model, more=["--encoding", "lossless", "--order", "tensor"])
        blocks = json.loads(tool("info", "--json", "--blocks", self.holo,
                                 name="container")[1])["block_list"]
        holo = bytearray(self.holo.read_bytes())
        holo[blocks[1]["offset"] + 5000] ^= 4
        self.holo.write_bytes(holo)
        self.unpack(out, lost=["blk.1"])
        self.assertEqual(out.read_bytes(), file_of(["blk.0", "blk.2"]))

    def test_types_that_are_not_known(self):
        content = self.model.read_bytes()
        self.model.write_bytes(content.replace(b'"U8"', b'"X8"'))
        self.pack(more=["--order", "tensor", "--encoding", "lossless"],
                  warns="hoist: warning: tensor 't0' and 11 more are of type X8")
        self.damage(self.tensors["t5"])
        self.unpack(self.out, lost=["t5"])
        self.assertEqual(read_safetensors(self.out), (self.intact("t5"), {"by": "a test"}))
        header = self.out.read_bytes()[:4000]
        self.assertEqual(header.count(b'"X8"'), COUNT - 1)
        self.assertNotIn(b'"U8"', header)

    def test_sharded(self):
        folder = self.folder / "model"
        folder.mkdir()
        shards = {"a": ("t0", "t1"), "b": ("t2", "t3"), "c": ("t4",)}
        index = {"metadata": {"total_size": 5 * SIZE}, "weight_map": {}}
        for shard, names in shards.items():
            (folder / f"{shard}.safetensors").write_bytes(
                safetensors({name: self.tensors[name] for name in names}, {"shard": shard}))
            index["weight_map"] |= {name: f"{shard}.safetensors" for name in names}
        (folder / "model.safetensors.index.json").write_text(json.dumps(index))
        self.pack(folder)
        self.damage(self.tensors["t1"], self.tensors["t4"])
        out = self.folder / "out"
        self.unpack(f"{out}/", lost=["t1", "t4"])
        self.assertEqual(read_safetensors(out / "a.safetensors"),
                         ({"t0": self.tensors["t0"]}, {"shard": "a"}))
        self.assertEqual((out / "b.safetensors").read_bytes(),
                         (folder / "b.safetensors").read_bytes())
        self.assertEqual(read_safetensors(out / "c.safetensors"), ({}, {"shard": "c"}))
        left = json.loads((out / "model.safetensors.index.json").read_text())
        self.assertEqual(sorted(left["weight_map"]), ["t0", "t2", "t3"])
        self.assertEqual(left["metadata"], index["metadata"])
        # What it makes is a model again.
        self.assertEqual(tool("pack", out, "-o", self.folder / "again.holo")[0], 0)
        merged = self.folder / "merged.safetensors"
        self.unpack(merged, lost=["t1", "t4"])
        self.assertEqual(sorted(read_safetensors(merged)[0]), ["t0", "t2", "t3"])

    def test_numpy(self):
        def npy(content):
            header = (b"{'descr': '|u1', 'fortran_order': False, 'shape': (%d,), }" % len(content))
            return b"\x93NUMPY\1\0" + struct.pack("<H", 118) + header.ljust(117) + b"\n" + content
        archive = self.folder / "m.npz"
        with zipfile.ZipFile(archive, "w") as file:
            for name in ("t0", "t1"):
                file.writestr(f"{name}.npy", npy(self.tensors[name]))
        self.pack(archive)
        self.damage(self.tensors["t1"])
        status, _, err = tool("unpack", self.holo, "-o", self.folder / "x.npz", "--skip-damaged")
        self.assertEqual(status, 3)
        self.assertRegex(err, "name an output that ends in .safetensors")
        self.unpack(self.out, lost=["t1"])
        self.assertEqual(read_safetensors(self.out)[0], {"t0": self.tensors["t0"]})
        single = self.folder / "t.npy"
        single.write_bytes(npy(self.tensors["t0"]))
        self.pack(single)
        self.damage(self.tensors["t0"])
        status, _, err = tool("unpack", self.holo, "-o", self.folder / "x.npy", "--skip-damaged")
        self.assertEqual(status, 1)
        self.assertIn("none of 1 tensors is intact", err)
        self.assertFalse((self.folder / "x.npy").exists())

    def lose_the_header(self):
        """Damages the packed file's header; the names of the tensors that are lost with it."""
        whole = self.holo.read_bytes()
        blocks = json.loads(tool("info", "--json", "--blocks", self.holo,
                                 name="container")[1])["block_list"]
        for block in blocks:
            content = bytearray(whole)
            content[block["offset"] + 64 + block["stored_size"] // 2] ^= 4
            self.holo.write_bytes(content)
            lost = json.loads(tool("verify", "--json", self.holo)[1])["files"][0]["lost_tensors"]
            if any("header" in name for name in lost):
                break
        self.assertIn("the header of m.safetensors", lost)
        return [name for name in lost if "header" not in name]

    def test_the_header_is_lost(self):
        self.pack(more=["--order", "tensor", "--encoding", "lossless"])
        tensors = self.lose_the_header()
        self.unpack(self.out, lost=["the header of m.safetensors", *tensors])
        self.assertEqual(read_safetensors(self.out), (self.intact(*tensors), None))

    def test_the_header_is_lost_with_the_shape_of_a_type_that_is_not_known(self):
        self.model.write_bytes(self.model.read_bytes().replace(b'"U8"', b'"X8"', 1))
        self.pack(more=["--order", "tensor", "--encoding", "lossless"],
                  warns="hoist: warning: tensor 't0' is of type X8")
        tensors = self.lose_the_header()
        self.assertNotIn("t0", tensors)
        lost = ["the header of m.safetensors", *tensors, "t0"]
        report = self.unpack(self.out, lost=lost)
        self.assertIn("tensor 't0' is of type X8", report["left_out"][-1]["why"])
        self.assertEqual(read_safetensors(self.out), (self.intact("t0", *tensors), None))

    def test_quality_that_is_left(self):
        values = b"".join(struct.pack("<f", self.random.gauss(0, 0.02))[2:] for _ in range(90_000))
        header = json.dumps({"w": {"dtype": "BF16", "shape": [300, 300],
                                   "data_offsets": [0, 180_000]}}).encode()
        self.model.write_bytes(struct.pack("<Q", len(header)) + header + values)
        self.pack()
        blocks = json.loads(tool("info", "--json", "--blocks", self.holo,
                                 name="container")[1])["block_list"]
        whole = self.holo.read_bytes()
        for block in reversed(blocks):
            content = bytearray(whole)
            content[block["offset"] + 64 + block["stored_size"] // 2] ^= 4
            self.holo.write_bytes(content)
            lost = json.loads(tool("verify", "--json", self.holo)[1])["files"][0]["lost_tensors"]
            if lost == ["w"]:
                break
        self.assertEqual(lost, ["w"])
        self.assertEqual(tool("unpack", self.holo, "-o", self.out, "--skip-damaged")[0], 1)
        report = self.unpack(self.out, "--min-quality", "0.9")
        self.assertEqual(report["tensors"], 1)
        self.assertLess(report["lowest_quality"], 1)
        self.assertGreater(report["skipped_parts"], 0)
        self.assertEqual(tool("unpack", self.holo, "-o", self.out, "--force", "--skip-damaged",
                              "--min-quality", "1")[0], 1)

    def test_models_are_not_called_damaged(self):
        for command in (["info"], ["verify"], ["repair"], ["unpack", "-o", self.out]):
            status, _, err = tool(*command, self.model)
            self.assertEqual(status, 2, command)
            self.assertRegex(err, "a safetensors file, which is not packed .*: `hoist tensors pack`")


if __name__ == "__main__":
    unittest.main()
