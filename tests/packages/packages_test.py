"""What scripts/packages-test runs within its namespaces."""

import pathlib
import subprocess
import sys
import time

import debs
import wheels
from failure import Failure
from guide_blocks import ROOT

PARTS = {"deb": (debs, "deb/*.deb"), "wheel": (wheels, "wheel/*.whl")}


def main():
    scratch = ROOT / "build/packages-test"
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "packages-test", scratch], check=True)
    start = time.monotonic()
    for name in sys.argv[1:] or PARTS:
        module, pattern = PARTS[name]
        made = sorted((ROOT / "build").glob(pattern))
        try:
            if not made:
                raise Failure(f"nothing to test (build/{pattern}): run make {name}")
            (scratch / name).mkdir()
            module.check(pathlib.Path(scratch / name), made)
        except Failure as failure:
            print(failure.output, file=sys.stderr)
            print(f"packages-test: error: {failure}", file=sys.stderr)
            return 1
    print(f"packages-test: passed in {time.monotonic() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
