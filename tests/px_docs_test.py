#!/usr/bin/env python3
"""Every px example of docs/guides/px.md and docs/reference/px.md compiles without a warning, runs, and
gives what its comments say, on the CPU and by the interpreter; with HOIST_TEST_DEVICE=cuda on a GPU.

A block that is no whole file stands in the kernel that the reference page describes. Comments:

    f[0] = f[1] / 2     # 0.5       what the element holds then
    f[0] = exp(f[2])    # ~ 7.389   within the accuracy of functions
    # i[3] is 12        what another element holds"""

import math
import os
import pathlib
import re
import struct
import tempfile
import unittest

from hoist_tree import BUILD, HOIST, ON_CPU, main_on_device, run

HERE = pathlib.Path(__file__).resolve().parent.parent
PAGES = HERE if (HERE / "docs/guides").exists() else HERE / "share/doc/hoist"
REFERENCE = PAGES / "docs/reference/px.md"
GUIDE = PAGES / "docs/guides/px.md"
TARGETS = ("cpu", "interpreter") if ON_CPU else ("cuda",)
CACHE = tempfile.TemporaryDirectory(prefix="hoist-px-cache-")  # compiled code, of these tests alone
os.environ["XDG_CACHE_HOME"] = CACHE.name
ELEMENTS = 256

# Name, type, bytes of an element, and how the bytes of element k are made and read.
ARRAYS = {
    "b": ("u8", "B"), "i": ("i32", "i"), "l": ("i64", "q"), "u": ("u32", "I"), "w": ("u64", "Q"),
    "h": ("f16", "e"), "g": ("bf16", None), "f": ("f32", "f"), "d": ("f64", "d"),
}
BLOCK = re.compile(r"^```px\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
NUMBER = r"(~ )?(-?(?:inf|[\d.]+(?:e-?\d+)?))"
ASSIGNED = re.compile(rf"^\s*(\w)\[(\d+)\] = .*?# {NUMBER}$", re.MULTILINE)
STATED = re.compile(rf"^\s*# (\w)\[(\d+)\] is {NUMBER}$", re.MULTILINE)


def encode(name, values):
    code = ARRAYS[name][1]
    if code:
        return struct.pack(f"<{len(values)}{code}", *values)
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def decode(name, data):
    code = ARRAYS[name][1]
    if code:
        return struct.unpack(f"<{len(data) // struct.calcsize(code)}{code}", data)
    return [struct.unpack("<f", b"\0\0" + data[at:at + 2])[0] for at in range(0, len(data), 2)]


def examples(page):
    text = page.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        yield f"{page.name}:{text.count(chr(10), 0, block.start(1)) + 1}", block[1]


def whole_file(text):
    if re.search(r"^(GPU_KERNEL|FUNC|CONST)\b", text, re.MULTILINE):
        return text
    threads = 64 if re.search(r"THREAD_ID|LOCAL_ID|local_id", text) else 1
    parameters = "".join(f"    GPU_PARAM {name} {kind}[]\n" for name, (kind, _) in ARRAYS.items())
    return (f"GPU_KERNEL example\n{parameters}    GPU_PARAM n int\nGPU_THREAD_CODE:\n"
            f"    IF n > 0:\n    ENDIF\n{text}GPU_END\nGPU_LAUNCH example BLOCKS 1 THREADS {threads}\n")


class Documents(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="hoist-px-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name in ARRAYS:
            (self.folder / name).write_bytes(encode(name, range(ELEMENTS)))

    def compiles(self, where, text):
        (self.folder / "k.px").write_text(text, encoding="utf-8")
        done = run(HOIST, "px", "check", "k.px", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""), where)

    def run_file(self, text, target):
        """Every array that the file's kernels are given, after a run."""
        used = [name for name in ARRAYS if re.search(rf"^ *GPU_PARAM {name} ", text, re.MULTILINE)]
        words = [word for name in used for word in ("--in", f"{name}={name}", "--out", f"{name}=out_{name}")]
        if re.search(r"^ *GPU_PARAM n ", text, re.MULTILINE):
            words += ["--set", "n=64"]
        done = run(HOIST, "px", "run", "k.px", *words, "--target", target, "--force", cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr.decode()), (0, ""))
        return {name: decode(name, (self.folder / f"out_{name}").read_bytes()) for name in used}

    def holds(self, arrays, found):
        name, index, is_about, wanted = found.groups()
        got, wanted = arrays[name][int(index)], float(wanted)
        if is_about:
            self.assertTrue(math.isclose(got, wanted, rel_tol=1e-6), f"{found[0]}: {got}")
        else:
            self.assertEqual(got, wanted, found[0])

    def follow(self, page):
        checked = 0
        for where, text in examples(page):
            with self.subTest(where):
                file = whole_file(text)
                self.compiles(where, file)
                comments = list(ASSIGNED.finditer(text)) + list(STATED.finditer(text))
                for target in TARGETS if comments else ():
                    arrays = self.run_file(file, target)
                    for found in comments:
                        with self.subTest(f"{where}, {target}: {found[0].strip()}"):
                            self.holds(arrays, found)
                checked += len(comments)
        return checked

    def test_reference(self):
        self.assertGreater(self.follow(REFERENCE), 100)

    def test_guide(self):
        self.follow(GUIDE)

    def test_an_example_that_is_wrong_is_found(self):
        file = whole_file("i[0] = i[1] + 1  # 2\n")
        self.compiles("here", file)
        arrays = self.run_file(file, TARGETS[0])
        self.holds(arrays, ASSIGNED.search("i[0] = 2  # 2"))
        with self.assertRaises(AssertionError):
            self.holds(arrays, ASSIGNED.search("i[0] = 2  # 3"))


@unittest.skipUnless((HERE / "src/px/text/keywords.def").exists(), "the sources are not here")
class Completeness(unittest.TestCase):
    """The page has an example of all that the language has."""

    def setUp(self):
        text = REFERENCE.read_text(encoding="utf-8")
        self.code = "\n".join(re.sub(r"#.*", "", block) for block in BLOCK.findall(text))

    def test_words(self):
        source = (HERE / "src/px/text/keywords.def").read_text(encoding="utf-8")
        words = re.findall(r"^HOIST_PX_WORD\((\w+),", source, re.MULTILINE)
        self.assertGreater(len(words), 60)
        self.assertEqual([word for word in words if not re.search(rf"\b{word}\b", self.code)], [])

    def test_functions(self):
        intrinsics = re.search(r"kIntrinsics = \{(.*?)\};", (HERE / "src/px/text/names.cc").read_text(), re.DOTALL)
        builtins = (HERE / "src/ir/operators.cc").read_text()
        names = re.findall(r'"(\w+)"', intrinsics[1])
        names += re.findall(r'\{"(\w+)", \d, Domain::', builtins)
        self.assertGreater(len(names), 30)
        self.assertEqual([name for name in names if not re.search(rf"\b{name}\(", self.code)], [])

    def test_types(self):
        types = ("bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64 int float".split())
        text = REFERENCE.read_text(encoding="utf-8")
        self.assertEqual([name for name in types if f"`{name}`" not in text], [])


if __name__ == "__main__":
    main_on_device()
