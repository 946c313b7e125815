"""Wheels: each in a fresh virtual environment, used there, and uninstalled without a trace."""

import os
import re
import subprocess
import sys

from debian_root import call
from failure import Failure
from guide_blocks import ROOT, follow

sys.dont_write_bytecode = True
from importlib.machinery import SourceFileLoader  # noqa: E402  pylint: disable=wrong-import-position

interpreter = SourceFileLoader("wheel_script", str(ROOT / "scripts/wheel")).load_module().interpreter

# Libraries that manylinux lets a wheel take from the system.
SYSTEM = re.compile(r"^(linux-vdso|libc|libm|libdl|librt|libpthread|ld-linux-x86-64|libstdc\+\+|libgcc_s|libz)\.so")


def serves(wheel, version):
    """Whether the wheel is for that CPython."""
    tag = re.search(r"-cp3(\d+)-(abi3|cp)", wheel.name)
    minor = int(version.partition(".")[2])
    return minor >= int(tag[1]) if tag[2] == "abi3" else minor == int(tag[1])


def check_libraries(venv):
    """What the package loads comes along with it, or is on every system that the tag names."""
    for library in venv.rglob("hoist*/**/*.so*"):
        for name, place in re.findall(r"^\s*(\S+) (?:=> )?(\S+)", call("ldd", library), re.MULTILINE):
            if not SYSTEM.match(os.path.basename(name)) and str(venv) not in place:
                raise Failure(f"{library.name} needs {name}: {place}")


def listing(venv):
    return {str(path.relative_to(venv)) for path in venv.rglob("*")}


def check_wheel(wheel, python, scratch):
    venv = scratch / f"venv-{python.replace('/', '-')}"
    work = venv / "work"
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("PYTHON", "HOIST", "LD_"))}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "HOME": str(venv), "LC_ALL": "C", "TMPDIR": str(work),
                    "PIP_NO_CACHE_DIR": "1"}

    def run(commands):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", commands], cwd=work, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=False, timeout=600)
        text = done.stdout.decode(errors="replace")
        if done.returncode != 0:
            raise Failure(f"{wheel.name}, {python}: status {done.returncode} of\n{commands}", text)
        return text

    def of_this_python(commands):
        tag = re.search(r"cp3\d+-(abi3|cp3\d+)", wheel.name)[0]
        return commands.replace("cp312-abi3", tag)

    (scratch / "bin").mkdir(exist_ok=True)
    (scratch / "bin/python3").unlink(missing_ok=True)
    (scratch / "bin/python3").symlink_to(python)
    work.mkdir(parents=True)
    (work / "build").symlink_to(ROOT / "build")
    environment["PATH"] = f"{scratch}/bin:{os.environ['PATH']}"
    # What it depends on stays, so the environment is looked at once that is there.
    run(f"{python} -m venv hoist-venv && hoist-venv/bin/pip -q install 'numpy>=1.24' 'ml_dtypes>=0.4'")
    before = listing(work / "hoist-venv")
    follow("install.md", run, kind="wheel-install", change=of_this_python)
    check_libraries(work / "hoist-venv")
    environment["PATH"] = f"{work}/hoist-venv/bin:{environment['PATH']}"
    follow("python.md", run)
    follow("install.md", run, kind="wheel-remove")
    if left := sorted(listing(work / "hoist-venv") ^ before):
        raise Failure(f"{wheel.name}, {python}: uninstalled, but files are left or lost", "\n".join(left))


def check(scratch, wheels):
    tags = {re.search(r"-(cp\d+-\w+)-manylinux_\d+_\d+_x86_64\.whl$", wheel.name)[1] for wheel in wheels}
    if tags != {"cp311-cp311", "cp312-abi3"}:
        raise Failure(f"wheels for Python 3.11 and for 3.12 and newer were expected; there are {tags}")
    for wheel in wheels:
        served = [version for version in ("3.11", "3.12", "3.13", "3.14") if serves(wheel, version)]
        pythons = {version: found for version in served if (found := interpreter(version))}
        if not pythons:
            raise Failure(f"{wheel.name}: no Python {' or '.join(served)} here")
        for version, python in pythons.items():
            check_wheel(wheel, python, scratch)
            print(f"packages-test: {wheel.name}: installed, used and uninstalled with Python {version}",
                  flush=True)
