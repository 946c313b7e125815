"""A second interpreter of the process gets an ImportError that says why, whichever came first."""

import subprocess
import sys

import pytest

TEXT = """
import sys
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
{first}
number = interpreters.create()
text = '''
import sys
sys.path[:] = {path!r}
try:
    import {module}
except ImportError as error:
    print("refused:", error, flush=True)
'''
failed = interpreters.run_string(number, text)
assert failed is None, failed
"""


@pytest.mark.parametrize("module", ["hoist", "hoist.graph", "hoist.px", "hoist.records", "hologram_ffi"])
@pytest.mark.parametrize("is_first", [True, False])
def test_subinterpreters_are_refused(module, is_first):
    first = "" if is_first else f"import {module}"
    text = TEXT.format(first=first, path=sys.path, module=module)
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    package = module.partition(".")[0]
    assert done.stdout == (
        f"refused: {package} works in the main interpreter only: "
        "import it there, or in another process\n"
    )
