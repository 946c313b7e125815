#!/usr/bin/env python3
"""The table of interposed symbols against what the libraries export."""

import pathlib
import re
import shutil
import subprocess
import unittest

from hoist_tree import BUILD, PRELOAD, PRELOAD_BLAS, PRELOAD_MEMCPY

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "src/intercept/symbols"
DECISIONS = {"taken", "asked", "gpu", "passed", "pinned"}

# Names of a library that belong together: a new relative has to be looked at.
FAMILIES = {
    "libc.so.6": r"_*(qsort|bsearch)\w*|_*mem(p?cpy|move)(_chk)?|bcopy",
    "libz.so.1": r"(crc32|adler32|inflate|deflate|uncompress|compress)\w*|get_crc_table",
    "libzstd.so.1": r"ZSTD_((de)?compress\w*|[CD]Ctx_\w+|(init|reset|end|flush)[CD]?Stream\w*"
                    r"|copy[CD]Ctx|generateSequences|registerSequenceProducer)",
}
ENGINES = {
    "libhoist_crc32.so": {"hoist_crc32"},
    "libhoist_deflate.so": {"hoist_deflate"},
    "libhoist_inflate.so": {"hoist_inflate"},
    "libhoist_gemm.so": {"hoist_gemm", "hoist_gemm_residency"},
    "libhoist_memcpy.so": {"hoist_memcpy"},
    "libhoist_qsort.so": {"hoist_qsort"},
    "libhoist_zstd.so": {"hoist_zstd_compress", "hoist_zstd_decompress"},
}


def table():
    """(symbol, library, operation, decision) of each line."""
    lines = TABLE.read_text().splitlines()
    return [tuple(line.split()) for line in lines if line and not line.startswith("#")]


def exported(library):
    """Names, without versions, that a shared library defines."""
    done = subprocess.run(["nm", "-D", "--defined-only", str(library)], capture_output=True,
                          text=True, check=True)
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines()
            if line.split()[-2] not in "A"}


def path_of(soname):
    listing = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False,
                             env={"PATH": "/usr/sbin:/sbin:/usr/bin:/bin"})
    found = re.search(rf"^\s*{re.escape(soname)} \(libc6,x86-64.*=> (\S+)$", listing.stdout,
                      re.MULTILINE)
    return found and found.group(1)


@unittest.skipUnless(shutil.which("nm"), "needs nm")
class SymbolsTest(unittest.TestCase):
    def test_lines_are_well_formed_and_unique(self):
        rows = table()
        self.assertTrue(all(len(row) == 4 and row[3] in DECISIONS for row in rows), rows)
        names = [row[0] for row in rows]
        self.assertEqual(sorted(names), sorted(set(names)))

    def test_we_export_exactly_what_is_taken(self):
        for library, ours in ((PRELOAD, "taken"), (PRELOAD_MEMCPY, "asked"),
                              (PRELOAD_BLAS, "gpu")):
            names = {symbol for symbol, _, _, decision in table() if decision == ours}
            self.assertEqual(exported(library), names)

    def test_libraries_export_what_the_table_says(self):
        for library in sorted({row[1] for row in table()}):
            path = path_of(library)
            if path is None:
                continue
            names = exported(path)
            for symbol, owner, _, _ in table():
                if owner == library:
                    self.assertIn(symbol, names, library)

    def test_families_are_complete(self):
        known = {row[0] for row in table()}
        for library, pattern in FAMILIES.items():
            path = path_of(library)
            if path is None:
                continue
            family = {name for name in exported(path) if re.fullmatch(pattern, name)}
            self.assertEqual(family - known, set(), library)

    def test_engines_export_their_functions_only(self):
        for engine in (BUILD / "lib").glob("libhoist_*.so"):
            if engine.name in ENGINES:
                self.assertEqual(exported(engine), ENGINES[engine.name])


if __name__ == "__main__":
    unittest.main()
