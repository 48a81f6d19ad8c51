"""The page: one HTML file with animation, plots, tree and findings."""

from __future__ import annotations

import tempfile
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from madi.files import whole_file
from madi.given import File
from madi.show.place import in_notebook

if TYPE_CHECKING:
    from madi.results.run import Run


class Shown:
    """A page in a notebook: it is drawn where it stands in the output."""

    def __init__(self, text: str, height: int):
        self.text, self.height = text, height

    def _repr_html_(self) -> str:
        import html

        return f'<iframe srcdoc="{html.escape(self.text)}" style="width:100%;height:{self.height}px;border:0"></iframe>'


def view(
    run: Run, path: File | None = None, *, signals: Sequence[str | Sequence[str]] | None = None, follow: str | None = None,
    trace: str | None = None, speed: float | None = None, height: int = 620,
) -> Path | Shown:  # fmt: skip
    """Write the page of a run to `path` and return the path. Without one: in a notebook an object that shows it there,
    elsewhere a temporary file that is opened in a browser."""
    from madi.view.page import page

    text = page(run, signals, follow, trace, speed)
    if path is not None:
        target = Path(path)
        with whole_file(target) as part:
            part.write_text(text, encoding="utf-8")
        return target
    if in_notebook():
        return Shown(text, height)
    folder = Path(tempfile.mkdtemp(prefix="madi-"))
    target = folder / "run.html"
    target.write_text(text, encoding="utf-8")
    webbrowser.open(target.as_uri())
    return target
