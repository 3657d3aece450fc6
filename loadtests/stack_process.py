"""`make run` as a module without arguments, which is how a program is tethered to the one that started it."""

import sys

from services.local.__main__ import main

if __name__ == "__main__":
    sys.exit(main(["run"]))
