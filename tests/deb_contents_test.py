#!/usr/bin/env python3
"""The Debian packages that scripts/deb makes of this build tree: files, dependencies, scripts.

tests/data/deb_contents.txt lists the files. Under Python's tag there stands `*`; what a tree without
CUDA, without a 32-bit compiler or without the C++ interface lacks has `?` in front. Pages of
documentation are not listed. After a change that is meant: this script --write, and read the
difference."""

import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("HOIST_BUILD_DIR", ROOT / "build/release"))
EXPECTED = ROOT / "tests/data/deb_contents.txt"
SKIPPED = 77
CXX = re.compile(r"/usr/include/hoist/(.*\.hpp$|.*/)|/usr/lib/cmake/|/libhoist_cxx\.so")
CXX_PATTERNS = [f"?libhoist-dev {path}" for path in
                ("/usr/include/hoist/*", "/usr/lib/cmake/hoist/*", "/usr/lib/libhoist_cxx.so*")]
OPTIONAL = re.compile(r"libhoist_cuda\.so|/lib/hoist/(lib32|lib/i386-linux-gnu)/|/lib/hoist/lib/libhoist_preload")
SCRIPTS = {"hoist": {"triggers"}, "hoistd": {"postinst", "postrm", "prerm"}, "libhoist-dev": set(),
           "libhoist0": {"shlibs", "triggers"}, "python3-hoist": {"postinst", "prerm"}}


def output_of(*argv):
    return subprocess.run([str(word) for word in argv], check=True, capture_output=True, text=True).stdout


def name_of(deb):
    return deb.name.partition("_")[0]


def contents(debs):
    """Lines of PACKAGE PATH, of all but folders and pages."""
    for deb in debs:
        for line in output_of("dpkg-deb", "--contents", deb).splitlines():
            path = line.split(maxsplit=5)[5].partition(" -> ")[0][1:]
            if line[0] != "d" and not re.match(r"/usr/share/doc/hoist/(.*/)?[^/]*\.(md|svg)$", path):
                yield f"{name_of(deb)} " + re.sub(r"\.(cpython-\S+|abi3)\.so$", ".*.so", path)


def make(folder):
    done = subprocess.run([ROOT / "scripts/deb", "--fast", "--build-dir", BUILD, "--output", folder],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return sorted(pathlib.Path(folder).glob("*.deb"))


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="hoist-deb-")
        cls.addClassCleanup(folder.cleanup)
        cls.debs = {name_of(deb): deb for deb in make(folder.name)}

    def field(self, package, name):
        return output_of("dpkg-deb", "--field", self.debs[package], name).strip()

    def control(self, package, file):
        return output_of("dpkg-deb", "--info", self.debs[package], file)

    def test_files(self):
        expected = EXPECTED.read_text().splitlines()
        found = set(contents(self.debs.values()))
        lacking = [line for line in expected if line[0] != "?" and line not in found]
        known = [line.removeprefix("?") for line in expected]
        new = [line for line in sorted(found)
               if not any(fnmatch.fnmatchcase(line, pattern) for pattern in known)]
        self.assertEqual((lacking, new), ([], []), "lacking, new: see tests/deb_contents_test.py --write")

    def test_dependencies(self):
        for package in self.debs:
            with self.subTest(package):
                depends = self.field(package, "Depends")
                self.assertNotRegex(depends, "cuda|nvidia")
                if package != "libhoist-dev":
                    self.assertIn("libc6 (>= ", depends)
        version = self.field("hoist", "Version")
        self.assertIn(f"libhoist0 (= {version})", self.field("libhoist-dev", "Depends"))
        self.assertIn(f"hoist (= {version})", self.field("hoistd", "Depends"))
        self.assertIn("librocksdb", self.field("libhoist0", "Depends"))
        self.assertRegex(self.field("python3-hoist", "Depends"), r"python3 \(.*python3-numpy \(>= ")

    def test_version(self):
        """Its home is CMakeLists.txt."""
        home = re.search(r"project\(hoist VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
        for package in self.debs:
            self.assertEqual(self.field(package, "Version"), f"{home}-1")
        for page in ("hoist.1", "hoistd.8"):
            self.assertIn(f'"Hoist {home}"', (ROOT / "docs" / page).read_text().splitlines()[0])

    def test_maintainer_scripts(self):
        for package, deb in self.debs.items():
            listed = subprocess.run(["tar", "t"], input=subprocess.run(
                ["dpkg-deb", "--ctrl-tarfile", deb], check=True, capture_output=True).stdout,
                check=True, capture_output=True).stdout.decode().split()
            files = {path.removeprefix("./") for path in listed} - {"", "control", "md5sums"}
            if any("libhoist_cxx" in line for line in contents([deb])):
                files -= {"triggers"}
            self.assertEqual(files, SCRIPTS[package], package)
        self.assertIn("libhoist 0 libhoist0", self.control("libhoist0", "shlibs"))

    def test_units_name_the_installed_daemon(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["dpkg-deb", "--extract", self.debs["hoistd"], folder], check=True)
            unit, = pathlib.Path(folder).rglob("hoistd.service")
            self.assertIn("\nExecStart=/usr/bin/hoistd ", unit.read_text())

    def test_an_installations_list_stays(self):
        manifest = BUILD / "install_manifest.txt"
        self.assertNotIn("/usr/bin/hoist", manifest.read_text().splitlines() if manifest.exists() else [])


if __name__ == "__main__":
    if os.environ.get("HOIST_SANITIZE") or os.environ.get("HOIST_COVERAGE") == "ON" or \
            any(shutil.which(tool) is None for tool in ("dh", "dh_python3", "dpkg-deb")) or \
            not list((BUILD / "python/hoist").glob("_native*.so")):
        sys.exit(SKIPPED)
    if sys.argv[1:] == ["--write"]:
        with tempfile.TemporaryDirectory() as scratch:
            found = sorted(set(contents(make(scratch))))
        lines = [f"{'?' if OPTIONAL.search(line) else ''}{line}" for line in found if not CXX.search(line)]
        lines = sorted(lines + CXX_PATTERNS, key=lambda line: line.removeprefix("?"))
        EXPECTED.write_text("".join(f"{line}\n" for line in lines))
        sys.exit(0)
    unittest.main()
