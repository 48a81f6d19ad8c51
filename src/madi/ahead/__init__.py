"""Machine code made with the package: all pieces of the general engine in one library a processor.

`python -m madi.ahead` makes it for this machine, into the package; building a wheel makes it for several (hatch_build.py).
Front end (front.py): Numba turns each piece into LLVM's code, which is the same for all processors. Back end (back.py): LLVM
makes objects of it, a linker the library. What uses it needs neither (engines/library.py).
"""

from __future__ import annotations

from collections.abc import Iterator

from madi.cartesian.entries import ENTRIES as CARTESIAN
from madi.cartesian.fields import Arrays, Work
from madi.engines.pieces import Piece, general_pieces, loop_piece, twin_piece
from madi.integrate import batch, many, record  # noqa: F401  (bring loops)
from madi.integrate.memory import Loop


def pieces() -> Iterator[Piece]:
    """All there are."""
    yield from general_pieces()
    yield from (twin_piece(name, kernel, Arrays, Work) for name, kernel in CARTESIAN.items())
    yield from (loop_piece(loop) for loop in Loop.known.values() if is_own(loop))


def is_own(loop: Loop) -> bool:
    """Whether a loop is the package's; not a user's, nor one of an experiment (papers/)."""
    return loop.kernel.__module__.startswith("madi.integrate.") and not loop.outside
