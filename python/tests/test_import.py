"""import hoist is cheap: what its parts need is loaded with them."""

import subprocess
import sys


def test_numpy_comes_with_the_parts_that_need_it():
    code = (
        "import sys, hoist\n"
        "assert 'numpy' not in sys.modules\n"
        "assert set(hoist.__all__) <= set(dir(hoist))\n"
        "assert hoist.tensors.load_file and hoist.match.cdist\n"
        "assert 'numpy' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
