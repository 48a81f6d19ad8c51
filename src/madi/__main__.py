"""`python -m madi` is `madi`."""

from madi.cli import main

main()
