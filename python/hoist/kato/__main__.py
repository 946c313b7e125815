"""python -m hoist.kato MODULE [ARGUMENTS…]: runs a module with the adapter installed.

python -m hoist.kato uvicorn kato.services.kato_fastapi:app --port 8000
"""

import runpy
import sys

from hoist.kato import install


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print((__doc__ or "").strip())
        sys.exit(0 if len(sys.argv) > 1 else 2)
    install()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
