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
from madi.kernel import acos, asin, atan, atan2, ceil, cos, cosh, exp, fabs, floor, log, sin, sinh, sqrt, tan, tanh, where

if TYPE_CHECKING:
    from collections.abc import Mapping

    from madi import vehicle
    from madi.analysis.compare import compare
    from madi.analysis.linearize import linearize
    from madi.assembly.statics import statics
    from madi.errors import Findings
    from madi.forces.road import Road, flat
    from madi.forces.tir import Tir, read_tir
    from madi.imports.mjcf import load_mjcf
    from madi.imports.urdf import load_urdf
    from madi.integrate import (
        AB3,
        CVODE,
        IDA,
        RK4,
        Adams,
        DormandPrince,
        ExplicitNewmark,
        ExplicitNewmarkFull,
        GeneralizedAlpha,
        Newmark,
        Radau,
        TimeStepping,
    )
    from madi.integrate.method import Method
    from madi.loops.methods import QR, Augmented, Baumgarte, Partition, Projection, PseudoInverse, SingularValues
    from madi.model.model import Model
    from madi.results.run import Run, load_run
    from madi.run.batch import simulate_many
    from madi.run.checkpoint import Checkpoint
    from madi.run.design import design
    from madi.run.export import export_c
    from madi.run.pace import realtime
    from madi.run.simulate import simulate
    from madi.run.start import assemble
    from madi.run.stream import Stream
    from madi.schema.read import load
    from madi.signals.proof import in_python
    from madi.signals.table import table
    from madi.system import System

__version__ = "0.1.0"

# what is asked for is imported then: `madi --help` waits for nothing
_LAZY = {
    name: module
    for module, names in {
        "madi.model.model": "Model", "madi.forces.road": "Road flat", "madi.forces.tir": "Tir read_tir",
        "madi.system": "System",
        "madi.run.simulate": "simulate", "madi.run.start": "assemble", "madi.run.export": "export_c",
        "madi.run.checkpoint": "Checkpoint", "madi.run.stream": "Stream", "madi.run.pace": "realtime",
        "madi.run.batch": "simulate_many", "madi.run.design": "design",
        "madi.results.run": "Run load_run", "madi.analysis.compare": "compare",
        "madi.schema.read": "load", "madi.imports.urdf": "load_urdf", "madi.imports.mjcf": "load_mjcf",
        "madi.signals.table": "table", "madi.signals.proof": "in_python", "madi.analysis.linearize": "linearize",
        "madi.assembly.statics": "statics",
        "madi.integrate": "RK4 AB3 Adams DormandPrince ExplicitNewmark ExplicitNewmarkFull Newmark GeneralizedAlpha Radau "
        "TimeStepping CVODE IDA",
        "madi.loops.methods": "Projection PseudoInverse SingularValues QR Partition Augmented Baumgarte",
    }.items()
    for name in names.split()
}  # fmt: skip

__all__ = [
    "AB3",
    "CVODE",
    "IDA",
    "QR",
    "RK4",
    "Adams",
    "AssemblyError",
    "Augmented",
    "Baumgarte",
    "Checkpoint",
    "DormandPrince",
    "EngineError",
    "ExplicitNewmark",
    "ExplicitNewmarkFull",
    "FileError",
    "GeneralizedAlpha",
    "InputError",
    "MadiError",
    "MadiWarning",
    "Model",
    "ModelError",
    "Newmark",
    "Partition",
    "Projection",
    "PseudoInverse",
    "Radau",
    "Road",
    "Run",
    "RunError",
    "SingularValues",
    "Stream",
    "System",
    "TimeStepping",
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
    "design",
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


def check(model: Model, step: float | None = None, method: Method | str | Mapping[str, Any] | None = None) -> Findings:
    """What the doctor says of a model: errors, warnings, remarks, each with element, reason and cure; `.ok` when it can be
    run. `step`, `method`: the run that is meant. (`model.check()` gives the defects alone.)"""
    from madi.analysis.doctor import examine

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
