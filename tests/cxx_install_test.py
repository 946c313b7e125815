"""The installed C++ library: CMake finds it wherever it lies, the example builds and runs with it, and
its headers need nothing but what is installed with them and the standard library.

    cxx_install_test.py [Installed | EveryHeader]"""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ["HOIST_BUILD_DIR"])
NEEDED = ("cmake", "c++", "nm", "readelf")
PUBLIC = ("array", "container", "graph", "match", "packed", "px", "tensors")
NAMESPACES = {"packed": "tensors::packed"}  # where they have other names than the header
# What the examples of the public headers take as given.
GIVEN = {"graph": "using namespace hoist::graph::program;\nusing namespace hoist::graph::text;\n"
                  "namespace circuit = hoist::graph::circuit;\nvoid use(const std::string& text);\n"
                  "extern std::vector<float> x_values, w_values, y_values;\n",
         "match": "void use(double score, std::string_view name);\n"
                  "extern const std::vector<Sequence> queries, choices;\n",
         "packed": "void use(const std::string& text);\n"
                   "extern std::vector<uint16_t> weights, x, y;\nextern uint32_t rows, columns;\n",
         "px": "#include <bit>\ntemplate <typename... T> void use(const T&... of);\n"
               "extern const std::string text;\nextern std::vector<float> x, y;\nextern uint32_t n;\n"}
STRICT = ("-std=c++20", "-Wall", "-Wextra", "-Wpedantic", "-Werror")
# What the example prints; numbers that depend on the encoder are left out.
PRINTED = ("roughly: 1 of 24 parts", "exactly: 24 of 24 parts, bit for bit",
           "turned rows 1 and 2: 40 8 5 9 6 10 7 11", "patterns like shoe, sock: 0.8 0.5",
           "hand tool=94.7368 band tools=90 anvil=40",
           "saxpy takes x y a n\n0.5 x + y: 10.5 21 31.5\nan error in line 3\n", "softmax(x w): 1\nits text has 8 nodes\ncircuit: mark@c07\n", "block 7: hello\nblock 9: world\n",
           "packed: 75 % of the bytes\n6 tokens; logits near those of plain weights, unpacked the same bits\n")


def run(*argv, **options):
    done = subprocess.run([str(arg) for arg in argv], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{argv}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def compilers():
    return [name for name in ("g++", "clang++") if shutil.which(name)] or ["c++"]


def example_of(text):
    """The code of a public header's first comment: what is indented before the list of names."""
    manual = text.partition("// Names.")[0]
    code = [line.removeprefix("//   ") for line in manual.splitlines() if line.startswith("//   ")]
    return "\n".join(line for line in code if not line.startswith(("find_package", "target_link")))


def is_built_alone(header):
    """Whether the build has shown that it stands alone: its source includes it before all others."""
    name = header.relative_to("hoist")
    source = (ROOT / "src" / name).with_suffix(".cc")
    first = source.is_file() and re.search(r"^\s*#\s*include\s*(\S+)", source.read_text(), re.M)
    return bool(first) and first[1] == f'"{name}"'


def global_functions(path, *options):
    """Functions of namespace hoist that others may call; not those of unnamed namespaces."""
    lines = run("nm", *options, "--defined-only", path).splitlines()
    return {words[-1] for words in map(str.split, lines)
            if len(words) == 3 and words[1] == "T" and re.match(r"_ZN[KRO]*5hoist", words[2])}


class InstalledTree(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory(prefix="hoist-cxx-")
        cls.folder = pathlib.Path(cls.scratch.name)
        first = cls.folder / "first"
        run("cmake", "--install", BUILD, "--component", "cxx", "--prefix", first)
        cls.prefix = cls.folder / "moved away"  # relocatable, blanks and all
        first.rename(cls.prefix)

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def headers(self):
        include = self.prefix / "include"
        return sorted(path.relative_to(include) for path in include.rglob("*") if path.is_file())

    def compile(self, compiler, *headers):
        source = self.folder / f"{compiler}-{str(headers[0]).replace('/', '-')}.cc"
        # Twice: each is guarded.
        source.write_text("".join(f"#include <{header}>\n" for header in headers * 2))
        run(compiler, *STRICT, "-fsyntax-only", "-I", self.prefix / "include", source)

    def build_example(self, compiler):
        project, build, out = (self.folder / name for name in ("project", "build", "out"))
        shutil.copytree(ROOT / "examples" / "cxx", project)
        out.mkdir()
        run("cmake", "-S", project, "-B", build, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_CXX_COMPILER={compiler}", "-DCMAKE_CXX_FLAGS=-Werror")
        run("cmake", "--build", build, "--parallel", str(len(os.sched_getaffinity(0))))
        said = run(build / "tour", out)
        for words in PRINTED:
            self.assertIn(words, said)
        self.assertTrue((out / "model.holo").is_file())


class Installed(InstalledTree):
    def test_the_example_builds_and_runs(self):
        self.build_example(compilers()[0])

    def test_the_plug_in_of_cuda_lies_beside_it(self):
        if not (BUILD / "lib" / "libhoist_cuda.so").is_file():
            self.skipTest("built without CUDA")
        self.assertTrue((self.prefix / "lib" / "libhoist_cuda.so").is_file())

    def test_another_version_is_refused(self):
        (self.folder / "other").mkdir()
        (self.folder / "other" / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.16)\nproject(other LANGUAGES CXX)\n"
            "find_package(hoist 99 QUIET)\nmessage(STATUS \"found: ${hoist_FOUND}\")\n")
        said = run("cmake", "-S", self.folder / "other", "-B", self.folder / "other" / "build",
                   f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.assertIn("found: 0", said)

    def test_examples_of_public_headers_compile(self):
        for name in PUBLIC:
            with self.subTest(name):
                text = (self.prefix / "include" / "hoist" / f"{name}.hpp").read_text()
                example = example_of(text)
                self.assertGreater(example.count("\n"), 3)
                source = self.folder / f"example-{name}.cc"
                source.write_text(
                    f"#include <hoist/{name}.hpp>\n#include <iostream>\n"
                    f"using namespace hoist;\nusing namespace hoist::{NAMESPACES.get(name, name)};\n{GIVEN.get(name, '')}"
                    f"Status example() {{\n{example}\nreturn {{}};\n}}\n")
                run(compilers()[0], *STRICT, "-Wno-unused", "-fsyntax-only", "-I",
                    self.prefix / "include", source)

    def test_headers_reach_only_what_is_installed(self):
        names = {str(name) for name in self.headers()}
        self.assertEqual({f"hoist/{name}.hpp" for name in PUBLIC},
                         {name for name in names if name.count("/") == 1})
        for name in names:
            self.assertTrue(name.startswith("hoist/"), name)
            text = (self.prefix / "include" / name).read_text()
            for quote, included in re.findall(r"^\s*#\s*include\s*([<\"])([^>\"]+)[>\"]", text, re.M):
                with self.subTest(header=name, included=included):
                    self.assertEqual(quote, "<")  # a quoted one would find other people's files
                    if "/" in included and not included.startswith("sys/"):
                        self.assertIn(included, names)
                    elif "." in included:
                        self.assertIn(included, ("pthread.h", "sys/stat.h", "sys/types.h"))

    def test_it_exports_its_own_and_no_more(self):
        library = self.prefix / "lib" / "libhoist_cxx.so"
        exported = {line.split()[-1].split("@")[0]
                    for line in run("nm", "-D", "--defined-only", library).splitlines()}
        foreign = [name for name in exported if not re.match(r"_ZT?[A-Z]*5hoist|_ZGVZ?[A-Z]*5hoist", name)]
        self.assertEqual(foreign, [])
        dynamic = run("readelf", "-d", library)
        version = re.search(r"project\(hoist VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertIn(f"Library soname: [libhoist_cxx.so.{version}]", dynamic)
        self.assertNotIn("RUNPATH", dynamic)
        self.assertIn("NODELETE", dynamic)


    def test_what_headers_declare_is_in_the_library(self):
        """A header's source beside it must be part of the library, with all that it exports."""
        exported = global_functions(self.prefix / "lib" / "libhoist_cxx.so", "-D")
        sources = [name.relative_to("hoist").with_suffix(".cc") for name in self.headers()]
        sources = [name for name in sources if (ROOT / "src" / name).is_file()]
        self.assertGreater(len(sources), 40)
        for source in sources:
            area = BUILD / "src" / source.parts[0]
            # Its folder is part of the object's name, or of its target's place.
            compiled = [path for path in area.rglob(f"{source.name}.o")
                        if set(source.parts[1:-1]) <= set(path.relative_to(area).parts)]
            with self.subTest(str(source)):
                self.assertTrue(compiled, "not compiled")
                declared = global_functions(compiled[0])
                self.assertEqual(declared - exported, set())


class EveryHeader(InstalledTree):
    """What takes longer."""

    def test_each_stands_alone(self):
        headers = [header for header in self.headers() if not is_built_alone(header)]
        self.assertGreater(len(headers), 4)
        with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            work = {header: pool.submit(self.compile, compilers()[0], header) for header in headers}
        for header, done in work.items():
            with self.subTest(header=header):
                done.result()

    def test_all_go_together_in_either_order(self):
        for compiler in compilers():
            for headers in (self.headers(), self.headers()[::-1]):
                with self.subTest(compiler):
                    self.compile(compiler, *headers)


class InstallingHeaders(unittest.TestCase):
    """The step of the build that copies them."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="hoist-headers-")
        self.addCleanup(scratch.cleanup)
        self.tree = pathlib.Path(scratch.name)
        self.write("src/base/a.h", '#include "base/b.h"\n#include <vector>\n')
        self.write("src/base/b.h", "#  include   \"a.h\"  // of this folder\n")
        self.write("src/base/unused.h", "#error\n")
        self.write("include/hoist/x.hpp", '#include "base/a.h"\n')

    def write(self, name, text):
        path = self.tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def install(self):
        return subprocess.run(
            [sys.executable, ROOT / "src/cxx/install_headers.py", "--source", self.tree, "--into",
             self.tree / "out/hoist", "--stamp", self.tree / "stamp", "--depfile",
             self.tree / "stamp.d", self.tree / "include/hoist/x.hpp"],
            capture_output=True, text=True, check=False)

    def test_what_is_reached_is_copied_and_rewritten(self):
        stale = self.write("out/hoist/gone/old.h", "")
        done = self.install()
        self.assertEqual(done.returncode, 0, done.stderr)
        out = self.tree / "out/hoist"
        self.assertEqual((out / "x.hpp").read_text(), "#include <hoist/base/a.h>\n")
        self.assertEqual((out / "base/a.h").read_text(),
                         "#include <hoist/base/b.h>\n#include <vector>\n")
        self.assertEqual((out / "base/b.h").read_text(),
                         "#  include   <hoist/base/a.h>  // of this folder\n")
        self.assertFalse((out / "base/unused.h").exists())
        self.assertFalse(stale.parent.exists())
        for name in ("x.hpp", "a.h", "b.h"):
            self.assertIn(name, (self.tree / "stamp.d").read_text())

    def test_make_reads_the_names_of_any_folder(self):
        whole = self.tree
        self.tree = whole / "a b#c$d"
        for path in ("src", "include"):
            shutil.copytree(whole / path, self.tree / path)
        done = self.install()
        self.assertEqual(done.returncode, 0, done.stderr)
        stamp = self.tree / "stamp"
        os.utime(stamp, (1, 1))  # older than what it was made of
        rules = self.write("../Makefile", (self.tree / "stamp.d").read_text() + "\t@: $(info $?)\n")
        said = subprocess.run(["make", "-f", rules, stamp], check=True, capture_output=True, text=True)
        for name in ("include/hoist/x.hpp", "src/base/a.h", "src/base/b.h"):
            self.assertIn(str(self.tree / name), said.stdout)

    def test_what_would_be_missing_is_refused(self):
        for line in ("#include <fmt/core.h>", "#include <rocksdb/db.h>", '#include "base/none.h"'):
            with self.subTest(line):
                self.write("src/base/b.h", f"{line}\n")
                done = self.install()
                self.assertEqual(done.returncode, 1)
                self.assertIn("base/b.h", done.stderr)
                self.assertFalse((self.tree / "stamp").exists())


if __name__ == "__main__":
    if os.environ.get("HOIST_SANITIZE") or any(shutil.which(tool) is None for tool in NEEDED):
        sys.exit(77)
    unittest.main()
