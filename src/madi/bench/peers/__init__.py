"""The same tree in other engines, for cross-checks and speed. Needs the extra `peers`."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import Any

from madi.bench.peers.base import Link, Peer, links_of
from madi.errors import EngineError
from madi.system import System

__all__ = ["PEERS", "Link", "Peer", "links_of", "loop_peers", "missing", "peer_of", "peers_of"]

PEERS = ("Pinocchio", "MuJoCo", "Exudyn")  # (their modules have these names)


def peers_of(system: System) -> list[Peer]:
    """Pinocchio, MuJoCo and Exudyn built from a system's tree."""
    return [peer_of(system, name) for name in PEERS]


def peer_of(system: System, name: str) -> Peer:
    """One of them."""
    found: Peer = getattr(_peer(f"{name.lower()}_peer"), name)(*links_of(system))
    return found


def missing() -> list[str]:
    """Those that are not installed."""
    return [name for name in PEERS if find_spec(name.lower()) is None]


def loop_peers() -> Any:
    """The module of peers on mechanisms with loops."""
    return _peer("loops")


def _peer(module: str) -> Any:
    try:
        return import_module(f"madi.bench.peers.{module}")
    except ImportError as error:
        raise EngineError(f"a peer is missing ({error.name}); install them with: pip install 'madi[peers]'") from error
