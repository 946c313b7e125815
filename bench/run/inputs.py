"""The benchmark's inputs: generated files with a fixed seed, and locales made where missing."""

import pathlib
import subprocess


class Inputs:
    """Makes files in `folder` on first use; `scale` 1 gives the sizes named in the rows."""

    def __init__(self, make_data, folder, scale):
        self.make_data = str(make_data)
        self.folder = pathlib.Path(folder)
        self.scale = scale

    def scaled(self, count):
        return max(1, round(count * self.scale))

    def data(self, kind, count):
        """A file of `count` (scaled) lines of this kind, or bytes for kind "bytes"."""
        path = self.folder / f"{kind}-{self.scaled(count)}"
        if not path.exists():
            with open(path, "wb") as output:
                subprocess.run([self.make_data, kind, str(self.scaled(count))], stdout=output,
                               check=True)
        return path

    def files(self, count):
        """A folder of `count` (scaled) small files."""
        folder = self.folder / f"files-{self.scaled(count)}"
        if not folder.exists():
            folder.mkdir()
            subprocess.run([self.make_data, "files", str(self.scaled(count)), str(folder)],
                           check=True)
        return folder

    def gzipped(self, path):
        compressed = path.with_name(path.name + ".gz")
        if not compressed.exists():
            with open(path, "rb") as source, open(compressed, "wb") as output:
                subprocess.run(["gzip", "-c"], stdin=source, stdout=output, check=True)
        return compressed


def locale_environment(name, folder):
    """Variables that select locale `name`, compiled privately where the system has none.

    None where the sources of locales (package "locales") are not installed either.
    """
    known = subprocess.run(["locale", "-a"], capture_output=True, text=True, check=False).stdout
    wanted = name.lower().replace("-", "")
    if any(line.lower().replace("-", "") == wanted for line in known.splitlines()):
        return {"LC_ALL": name}
    language, _, charset = name.partition(".")
    try:
        subprocess.run(["localedef", "-i", language, "-f", charset, pathlib.Path(folder, name)],
                       capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return {"LC_ALL": name, "LOCPATH": str(folder)}
