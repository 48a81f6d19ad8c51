"""The papers' experiments, one file each; `madi papers NAME` runs them."""

from collections.abc import Callable
from pathlib import Path

from madi.papers import rrc

EXPERIMENTS: dict[str, Callable[[Path], dict[str, object]]] = {"rrc": rrc.report}
