"""The three lives behind one contract (engine.py): plain, jit, compiled. `choice` says which of them "auto" is."""

from __future__ import annotations

from madi.engines.compiled import CompiledEngine
from madi.engines.engine import Engine
from madi.engines.jit import JitEngine
from madi.engines.plain import PlainEngine

__all__ = ["ENGINES", "Engine", "is_made_for_model"]
ENGINES: dict[str, type[Engine]] = {engine.name: engine for engine in (PlainEngine, JitEngine, CompiledEngine)}


def is_made_for_model(name: str) -> bool:
    """Whether that engine has code for what can be traced only."""
    return name in ENGINES and ENGINES[name].made_for_model
