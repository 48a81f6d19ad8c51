"""madi: multibody dynamics. Bodies, joints, springs; code made for the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from madi.errors import (
    AssemblyError,
    EngineError,
    FileError,
    InputError,
    MadiError,
    MadiWarning,
    ModelError,
    RunError,
    TraceError,
)
from madi.kernel import (
    acos,
    asin,
    atan,
    atan2,
    ceil,
    cos,
    cosh,
    exp,
    fabs,
    floor,
    log,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
    where,
)

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.road import Road, flat
    from madi.tir import Tir, read_tir

__version__ = "0.1.0"

# what is asked for is imported then: `madi --help` waits for nothing
_LAZY = {"Model": "madi.model.model", "Road": "madi.road", "flat": "madi.road", "Tir": "madi.tir", "read_tir": "madi.tir",
         "simulate": "madi.run.simulate", "System": "madi.system", "Run": "madi.results.run", "load_run": "madi.results.run",
         "assemble": "madi.run.simulate", "export_c": "madi.run.simulate", "realtime": "madi.run.pace",
         "simulate_many": "madi.run.batch", "compare": "madi.comparison",
         "load": "madi.schema.read", "load_urdf": "madi.imports.urdf",
         "load_mjcf": "madi.imports.mjcf", "table": "madi.signals.table", "in_python": "madi.signals.proof",
         "linearize": "madi.linearization",
         "statics": "madi.equilibrium"}  # fmt: skip

__all__ = [
    "AssemblyError",
    "EngineError",
    "FileError",
    "InputError",
    "MadiError",
    "MadiWarning",
    "Model",
    "ModelError",
    "Road",
    "Run",
    "RunError",
    "System",
    "Tir",
    "TraceError",
    "acos",
    "asin",
    "assemble",
    "atan",
    "atan2",
    "ceil",
    "check",
    "compare",
    "cos",
    "cosh",
    "exp",
    "export_c",
    "fabs",
    "flat",
    "floor",
    "in_python",
    "linearize",
    "load",
    "load_mjcf",
    "load_run",
    "load_urdf",
    "log",
    "read_tir",
    "realtime",
    "simulate",
    "simulate_many",
    "sin",
    "sinh",
    "sqrt",
    "statics",
    "table",
    "tan",
    "tanh",
    "vehicle",
    "where",
]


def check(model: Model, step: float | None = None, method: str | None = None) -> Any:
    """What the doctor says of a model: errors, warnings, remarks, each with element, reason and cure; `.ok` when it can be
    run. `step`, `method`: the run that is meant. (`model.check()` gives the defects alone.)"""
    from madi.doctor import examine

    return examine(model, step, method)


def __getattr__(name: str) -> Any:
    if name == "vehicle":
        from importlib import import_module

        return import_module("madi.vehicle")
    if name in _LAZY:
        from importlib import import_module

        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module 'madi' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
