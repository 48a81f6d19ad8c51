"""`python -m madi.ahead`: the library for this machine's processor, into the package, where its sources are newer."""

import argparse
import sys

from madi.ahead.build import build_here

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m madi.ahead", description=__doc__)
    parser.add_argument("--all", action="store_true", help="for all processors of this kind, not for this one only")
    sys.exit(build_here(every_level=parser.parse_args().all))
