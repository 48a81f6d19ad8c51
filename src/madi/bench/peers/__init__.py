"""The same tree in other engines, for cross-checks and speed. Needs the extra `peers`."""

from __future__ import annotations

from madi.bench.peers.base import Link, Peer, links_of
from madi.errors import EngineError
from madi.system import System

__all__ = ["Link", "Peer", "links_of", "peers_of"]


def peers_of(system: System) -> list[Peer]:
    """Pinocchio, MuJoCo and Exudyn built from a system's tree."""
    try:
        from madi.bench.peers.exudyn_peer import Exudyn
        from madi.bench.peers.mujoco_peer import MuJoCo
        from madi.bench.peers.pinocchio_peer import Pinocchio
    except ImportError as error:
        raise EngineError(f"a peer is missing ({error.name}); install them with: pip install 'madi[peers]'") from error
    links, gravity = links_of(system)
    return [Pinocchio(links, gravity), MuJoCo(links, gravity), Exudyn(links, gravity)]
