"""The installed C library: pkg-config finds it wherever it lies, and it exports its interface and
nothing else."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ["HOIST_BUILD_DIR"])
NEEDED = ("cmake", "pkg-config", "cc", "nm")


def run(*argv, **options):
    return subprocess.run([str(arg) for arg in argv], check=True, capture_output=True, text=True,
                          **options).stdout


def declared():
    """Functions that the headers declare."""
    found = set()
    for name in ("hoist", "tensors", "packed", "match", "px", "graph"):
        text = (ROOT / "include" / "hoist" / f"{name}.h").read_text()
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        found |= set(re.findall(r"\b(hoist_\w+)\(", text))
    return found - {"hoist_progress_function"}


class InstalledTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        first = pathlib.Path(cls.folder.name) / "first"
        run("cmake", "--install", BUILD, "--component", "capi", "--prefix", first)
        cls.prefix = pathlib.Path(cls.folder.name) / "moved away"  # relocatable, blanks and all
        first.rename(cls.prefix)
        cls.environment = {**os.environ, "PKG_CONFIG_PATH": str(cls.prefix / "lib" / "pkgconfig")}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def flags(self):
        return shlex.split(run("pkg-config", "--cflags", "--libs", "hoist", env=self.environment))

    def test_the_example_builds_and_runs(self):
        program = pathlib.Path(self.folder.name) / "example"
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
            ROOT / "examples" / "capi" / "capi_example.c", "-o", program, *self.flags(), "-lm")
        out = run(program, pathlib.Path(self.folder.name) / "x.holo",
                  env={**os.environ, "LD_LIBRARY_PATH": str(self.prefix / "lib")})
        self.assertIn("all layers: bit for bit", out)
        self.assertIn('"present"', out)

    def test_the_example_of_kernels_builds_and_runs(self):
        program = pathlib.Path(self.folder.name) / "kernels"
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
            ROOT / "examples" / "capi" / "px_example.c", "-o", program, *self.flags())
        out = run(program, env={**os.environ, "LD_LIBRARY_PATH": str(self.prefix / "lib"),
                                "XDG_CACHE_HOME": self.folder.name})
        self.assertIn("2 x + 1: 1 3 5", out)

    def test_the_example_of_programs_builds_and_runs(self):
        program = pathlib.Path(self.folder.name) / "programs"
        run("cc", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
            ROOT / "examples" / "capi" / "graph_example.c", "-o", program, *self.flags())
        out = run(program, env={**os.environ, "LD_LIBRARY_PATH": str(self.prefix / "lib")})
        self.assertIn("matmul add max subtract exp sum divide\n0.599 0.401\n", out)

    def test_the_plug_in_of_cuda_lies_beside_it(self):
        if not (BUILD / "lib" / "libhoist_cuda.so").is_file():
            self.skipTest("built without CUDA")
        self.assertTrue((self.prefix / "lib" / "libhoist_cuda.so").is_file())

    def test_headers_stand_alone_in_c_and_cplusplus(self):
        source = pathlib.Path(self.folder.name) / "header.c"
        for header in ("hoist/hoist.h", "hoist/tensors.h", "hoist/packed.h", "hoist/match.h", "hoist/graph.h", "hologram_ffi.h"):
            source.write_text(f"#include <{header}>\n")
            for compiler in (("cc", "-std=c99"), ("c++", "-xc++", "-std=c++11")):
                with self.subTest(header=header, compiler=compiler):
                    run(*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                        *self.flags()[:1], source)

    def test_it_exports_what_the_headers_declare_and_no_more(self):
        library = self.prefix / "lib" / "libhoist.so"
        lines = run("nm", "-D", "--defined-only", library).splitlines()
        exported = {line.split()[-1].split("@")[0] for line in lines} - {"HOIST_0"}
        self.assertEqual(exported, declared())
        dynamic = run("readelf", "-d", library)
        self.assertIn("Library soname: [libhoist.so.0]", dynamic)
        self.assertNotIn("RUNPATH", dynamic)


if __name__ == "__main__":
    if os.environ.get("HOIST_SANITIZE") or any(shutil.which(tool) is None for tool in NEEDED):
        sys.exit(77)
    unittest.main()
