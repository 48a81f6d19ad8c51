"""Where compiled code is kept between processes, and what it depends on."""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path


@cache
def source_hash() -> str:
    """Hash of all sources that compiled code is made from; a changed kernel must never meet old machine code."""
    digest = hashlib.sha256(sys.version.encode())
    root = Path(__file__).parent.parent
    for path in sorted(root.rglob("*.py")):
        if path.relative_to(root).parts[0] not in NOT_COMPILED:
            digest.update(path.name.encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


NOT_COMPILED = (
    "bench",
    "cli",
    "flexible",
    "imports",
    "model",
    "papers",
    "results",
    "schema",
    "view",
    "vehicle",
    "verify",
    "__init__.py",
    "batch.py",
    "comparison.py",
    "checkpoint.py",
    "doctor.py",
    "equilibrium.py",
    "files.py",
    "linearization.py",
    "observation.py",
    "pipeline.py",
    "pace.py",
    "solver.py",
    "solver_cartesian.py",
    "system.py",
    "tir.py",
)  # folders and files that have no kernels, and that no generated code is made from; fmt: skip


@cache
def jit_folder() -> Path:
    """Where Numba keeps the machine code of these sources."""
    from importlib.metadata import version

    return cache_folder() / f"numba-{version('numba')}-{source_hash()}"


@cache
def cache_folder() -> Path:
    """$MADI_CACHE_DIR, else the user's cache folder, else a temporary one; made if it is not there."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    wanted = Path(os.environ.get("MADI_CACHE_DIR") or Path(home) / "madi")
    try:
        wanted.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=wanted):
            return wanted
    except OSError:
        return Path(tempfile.mkdtemp(prefix="madi-"))
