#!/usr/bin/env python3
"""Copies public headers, and the headers of src/ that they reach, to where they are installed.

    install_headers.py --source TREE --into FOLDER/hoist [--depfile FILE --stamp FILE] PUBLIC…

A header of src/AREA becomes FOLDER/hoist/AREA/…, a public one FOLDER/hoist/NAME. Their quoted
includes become <hoist/…>, so that nothing of them can be mistaken for somebody else's base/ or
array/. What lay in FOLDER/hoist and is reached no more is removed. Exit status 1 where a header
includes something that is neither in src/ nor the standard library's nor the system's.
"""

import argparse
import pathlib
import re
import sys

INCLUDE = re.compile(r'^(\s*#\s*include\s*)"([^"]+)"', re.MULTILINE)
ANGLED = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
# Headers of the system beside the standard library's, which have no dot and no slash in their names.
SYSTEM = re.compile(r"^(sys/\w+\.h|pthread\.h|[a-z_]+)$")


class Headers:
    def __init__(self, tree):
        self.src = (tree / "src").resolve()
        self.texts = {}  # installed name: text
        self.sources = []
        self.faults = []

    def add(self, source, installed):
        if installed in self.texts:
            return
        self.texts[installed] = ""  # so that a cycle ends
        self.sources.append(source)
        text = source.read_text()
        for name in ANGLED.findall(text):
            if not SYSTEM.match(name):
                self.faults.append(f"{source}: #include <{name}>: an installed header may include only the "
                                   "standard library: declare what it needs, and include it in the .cc file")
        self.texts[installed] = INCLUDE.sub(lambda match: self.rewritten(source, match), text)

    def rewritten(self, source, match):
        begin, name = match.groups()
        for folder in (source.parent, self.src):
            found = (folder / name).resolve()
            if found.is_file() and found.is_relative_to(self.src):
                installed = found.relative_to(self.src)
                self.add(found, installed)
                return f"{begin}<hoist/{installed}>"
        self.faults.append(f'{source}: #include "{name}": no such file in src/')
        return match.group(0)


def write(texts, folder):
    for name, text in texts.items():
        path = folder / name
        if path.is_file() and path.read_text() == text:
            continue  # its time stays, and what was built with it
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for path in sorted(folder.rglob("*"), reverse=True):
        if path.is_file() and path.relative_to(folder) not in texts:
            path.unlink()
        elif path.is_dir() and not any(path.iterdir()):
            path.rmdir()


def in_make(path):
    """A path as Make's rules and Ninja's depfiles spell it."""
    return re.sub(r"([ #])", r"\\\1", str(path)).replace("$", "$$")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--into", type=pathlib.Path, required=True)
    parser.add_argument("--depfile", type=pathlib.Path)
    parser.add_argument("--stamp", type=pathlib.Path)
    parser.add_argument("public", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    headers = Headers(arguments.source)
    for header in arguments.public:
        headers.add(header, pathlib.Path(header.name))
    for fault in headers.faults:
        print(f"install_headers: error: {fault}", file=sys.stderr)
    if headers.faults:
        return 1
    write(headers.texts, arguments.into)
    if arguments.stamp:
        arguments.stamp.write_text("")
    if arguments.depfile:
        needed = " ".join(in_make(path.resolve()) for path in headers.sources)
        arguments.depfile.write_text(f"{in_make(arguments.stamp)}: {needed}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
