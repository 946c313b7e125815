"""libhologram_ffi.so: its header, its symbols, and the module's functions one by one."""

import os
import pathlib
import re
import subprocess

import hologram_ffi as hg
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["HOIST_BUILD_DIR"])
LIBRARY = BUILD / "lib/libhologram_ffi.so"
# What Python has alone: objects, and arrays of them.
PYTHON_ONLY = {"ArrayView", "buffer_view", "tensor_view", "buffer_from_array"}

# Every build tree has it; an installation may be of the Python package alone.
pytestmark = pytest.mark.skipif(
    not LIBRARY.exists() and not (BUILD / "CMakeCache.txt").exists(), reason="no C library installed"
)


def declared():
    header = (ROOT / "include/hologram_ffi.h").read_text(encoding="utf-8")
    return set(re.findall(r"^[\w* ]+\b(hologram_\w+)\(", header, re.MULTILINE))


def test_it_exports_what_its_header_declares_and_nothing_else():
    listed = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], check=True, capture_output=True,
                            text=True).stdout.splitlines()
    exported = {line.split()[2].partition("@")[0] for line in listed}
    assert exported - {"HOLOGRAM_FFI_0"} == declared()


def test_it_has_each_function_of_the_module():
    functions = {name for name in hg.__all__ if callable(getattr(hg, name))
                 and not isinstance(getattr(hg, name), type)} - PYTHON_ONLY
    assert len(functions) == 74
    assert {f"hologram_{name}" for name in functions} <= declared()


def test_it_has_a_name_of_its_own_and_needs_little():
    text = subprocess.run(["readelf", "-d", LIBRARY], check=True, capture_output=True, text=True).stdout
    assert "Library soname: [libhologram_ffi.so.0]" in text
    needed = set(re.findall(r"Shared library: \[([^.]+)", text))
    assert needed <= {"libc", "libm", "ld-linux-x86-64"}
