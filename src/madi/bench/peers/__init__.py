"""The same tree in other engines, for cross-checks and speed. Needs the extra `peers`."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from madi.bench.peers.base import Link, Peer, links_of
from madi.errors import EngineError
from madi.system import System

__all__ = ["Link", "Peer", "links_of", "loop_peers", "peers_of"]


def peers_of(system: System) -> list[Peer]:
    """Pinocchio, MuJoCo and Exudyn built from a system's tree."""
    exudyn, mujoco, pinocchio = (_peer(name) for name in ("exudyn_peer", "mujoco_peer", "pinocchio_peer"))
    links, gravity = links_of(system)
    return [pinocchio.Pinocchio(links, gravity), mujoco.MuJoCo(links, gravity), exudyn.Exudyn(links, gravity)]


def loop_peers() -> Any:
    """The module of peers on mechanisms with loops."""
    return _peer("loops")


def _peer(module: str) -> Any:
    try:
        return import_module(f"madi.bench.peers.{module}")
    except ImportError as error:
        raise EngineError(f"a peer is missing ({error.name}); install them with: pip install 'madi[peers]'") from error
