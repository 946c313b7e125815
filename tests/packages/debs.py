"""Debian packages: each alone on a bare root, used, and then all together, removed without a trace."""

import re
import shutil

from debian_root import Distribution, call
from failure import Failure
from guide_blocks import ROOT, follow

# Debian's own for a first upload to Debian; whoever uploads there has a bug to close.
LINTIAN = ("lintian", "--allow-root", "--fail-on", "error,warning", "--suppress-tags",
           "initial-upload-closes-no-bugs")
# A file of the system, large enough for an engine.
USE_HOIST = """
for i in $(seq 40); do cat /var/lib/dpkg/info/*.md5sums; done > sums.txt
hoist run --stats -- sort sums.txt > sorted.txt 2> stats.txt
cat stats.txt
grep -q 'ran on the engine' stats.txt
sort sums.txt | cmp - sorted.txt
LD_PRELOAD=libhoist_preload.so sort sums.txt | cmp - sorted.txt
hoist doctor > doctor.txt
grep '^on  engine sort' doctor.txt
grep '^on  program sort' doctor.txt
if grep -F 'not installed' doctor.txt | grep -v libcuda; then exit 1; fi
for command in bench container explain match tensors tune; do hoist $command --help > /dev/null; done
. /usr/share/bash-completion/completions/hoist
complete -p hoist
for file in man/man1/hoist.1.gz zsh/vendor-completions/_hoist fish/vendor_completions.d/hoist.fish; do
  test -s /usr/share/$file
done
"""
USE_HOISTD = """
getent group hoist
test -e /etc/systemd/system/sockets.target.wants/hoistd.socket
test -x "$(sed -n 's/^ExecStart=\\([^ ]*\\) .*/\\1/p' /lib/systemd/system/hoistd.service)"
hoistd --device cpu &
daemon=$!
for i in $(seq 100); do hoistd --status > /dev/null 2>&1 && break; sleep 0.1; done
hoistd --status
hoist doctor | grep '^on  hoistd'
[ "$(./hoistd-client work 3)" = "$(printf 'works\\ndone')" ]
kill $daemon
wait $daemon
if hoistd --status; then exit 1; fi
"""
USE_C = "cc -std=c99 -Wall -Werror capi_example.c -o example $(pkg-config --cflags --libs hoist) -lm\n./example x.holo"
USE_PYTHON = """
import hoist
from hoist.match import Index
with Index("shop.index") as index:
    index.learn([["shoe"], ["sock"], ["hat"]])
    assert [record["future"] for record in index.predict([["shoe"], ["sock"]])] == [[["hat"]]]
print("hoist", hoist.__version__)
"""


def use_hoist(root):
    root.run(USE_HOIST)
    for page in ("first-steps.md", "sort-and-checksums.md", "install.md"):
        follow(page, root.run)
        root.run("find . -mindepth 1 -maxdepth 1 ! -name build -exec rm -r {} +; mkdir home")


def use_hoistd(root):
    shutil.copy(ROOT / "build/release/tests/hoistd-client", root.path / "tmp/work")
    root.run(USE_HOISTD)


def compilers():
    """What the guides of the installed libraries compile with."""
    cxx = (ROOT / "docs/guides/cxx.md").exists()
    return ("gcc", "libc6-dev", "pkg-config", *(("g++", "cmake", "make") if cxx else ()))


def use_c(root):
    root.install(*compilers())
    shutil.copy(ROOT / "examples/capi/capi_example.c", root.path / "tmp/work")
    root.run(USE_C)
    follow("c.md", root.run)
    if (root.path / "usr/lib/cmake/hoist").exists():
        follow("cxx.md", root.run)


def use_python(root):
    (root.path / "tmp/work/use.py").write_text(USE_PYTHON)
    root.run("python3 use.py")
    follow("python.md", root.run)


# The library has no program of its own; what it needs is looked up.
USES = {"hoist": use_hoist, "hoistd": use_hoistd, "libhoist0": None, "libhoist-dev": use_c,
        "python3-hoist": use_python}


def check_libraries(root, package):
    """Every library that a file of the package needs is there by its dependencies."""
    lacking = root.run(f"for file in $(dpkg -L {package}); do\n"
                       "  if [ -f $file ]; then\n"
                       "    (ldd $file 2>/dev/null || true) | sed -n \"s|.*not found|$file:&|p\"\n"
                       "  fi\ndone")
    if lacking:
        raise Failure(f"{package}: libraries are missing", lacking)


def check_alone(distribution, package):
    with distribution.root(package) as root:
        root.run("apt-get -q update")
        root.install(*[f"./build/deb/{deb.name}" for deb in needed(distribution, package)])
        check_libraries(root, package)
        if USES[package]:
            USES[package](root)


def needed(distribution, package):
    """The package and those of Hoist that it depends on."""
    by_name = {deb.name.partition("_")[0]: deb for deb in distribution.debs}
    found, waiting = [], [package]
    while waiting:
        name = waiting.pop()
        if by_name[name] not in found:
            found.append(by_name[name])
            depends = call("dpkg-deb", "--field", by_name[name], "Depends")
            waiting += [other for other in by_name if re.search(rf"(^|, ){other} \(", depends)]
    return found


def check_removal(distribution):
    """All of them, as the guide installs and removes them."""
    with distribution.root("all") as root:
        names = {deb.name.partition("_")[0] for deb in distribution.debs}
        planned = root.run("apt-get -q update >/dev/null; apt-get -qs install ./build/deb/*.deb")
        others = sorted(set(re.findall(r"^Inst (\S+)", planned, re.MULTILINE)) - names)
        root.install(*compilers(), *others)
        before = root.files()
        follow("install.md", root.run, kind="deb-install")
        installed = root.files().keys() - before.keys()
        for use in filter(None, USES.values()):
            use(root)
        follow("install.md", root.run, kind="deb-remove")
        root.run("rm -rf /tmp/work/*")
        after = root.files()
        changed = sorted(path for path in before.keys() | after.keys()
                         if before.get(path) != after.get(path))
        if changed:
            raise Failure("removed and purged, but files are left, lost or changed",
                          "\n".join(changed))
        return len(installed)


def check(scratch, debs):
    names = {deb.name.partition("_")[0] for deb in debs}
    if names != USES.keys():
        raise Failure(f"these packages were expected: {', '.join(USES)}; there are {', '.join(names)}")
    call(*LINTIAN, *debs)
    print("packages-test: lintian finds nothing", flush=True)
    distribution = Distribution(scratch, debs)
    print(f"packages-test: bare root made ({call('du', '-shx', distribution.base).split()[0]})", flush=True)
    for package in USES:
        try:
            check_alone(distribution, package)
        except Failure as failure:
            raise Failure(f"{package}, installed alone: {failure}", failure.output) from failure
        print(f"packages-test: {package}: installed alone, and used", flush=True)
    count = check_removal(distribution)
    print(f"packages-test: all installed, used and purged: nothing is left of {count} files", flush=True)
