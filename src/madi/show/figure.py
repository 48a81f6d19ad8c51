"""Pictures as values: made without pyplot, so no window and no global list knows them, and shown by the notebook once."""

from __future__ import annotations

from io import BytesIO

from matplotlib.figure import Figure

DOTS_PER_INCH = 100


class Picture(Figure):
    """A matplotlib Figure that is its own picture: at the end of a cell, or by `display(...)`, with no %matplotlib."""

    def _repr_png_(self) -> bytes:
        made = BytesIO()
        self.savefig(made, format="png", dpi=DOTS_PER_INCH)
        return made.getvalue()
