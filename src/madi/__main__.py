"""`python -m madi` is `madi`."""

from __future__ import annotations

import sys


def main() -> None:
    """Entry point; Ctrl-C is quiet even while modules are still being imported."""
    try:
        from madi.cli import main as run

        run()
    except KeyboardInterrupt:
        print("madi: stopped", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
