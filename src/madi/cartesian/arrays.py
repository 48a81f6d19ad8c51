"""The Cartesian model as named arrays: what its kernels read and write."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

import numpy as np

from madi.topology.layout import plan, views

# (name, size, inner shape). Bodies are 0..n-1 in the order they are drawn, then rotors; number n is the ground.
INTS: list[tuple[Any, ...]] = [
    ("tree_body", "n"),  # the body's number in the tree's layout, which force elements know it by; -1: a rotor
    ("link_a", "nk"),  # links: two frames, on the drawn parent a and child b
    ("link_b", "nk"),
    ("link_parts", "nk"),  # how many parts the joint's motion has (words.py); 0: no joint, or it has none
    ("link_part", "nk", 6),
    ("link_q", "nk"),  # where the joint's coordinates and velocities go among the tree's; -1: the tree cut it
    ("link_v", "nk"),
    ("link_turn", "nk"),  # place of its angle behind the bodies' coordinates, -1: it has none
    ("link_second", "nk"),  # the same of a second one
    ("row_kind", "nr"),  # words.py
    ("row_link", "nr"),
    ("row_i", "nr"),  # axis of frame a, or the measured part
    ("row_j", "nr"),  # axis of frame b, or the measured part of the other link
    ("row_other", "nr"),  # a coupler's second link
    ("row_signal", "nr"),
    ("row_place", "nr"),
    ("row_body", "nr", 4),  # bodies a row meets, n where it meets fewer
    ("j_place", "4*nr", 7),  # places of its entries in the factor, a line for each of its bodies
    ("q_place", "7*n"),  # unknown of every coordinate
    ("m_place", "n", 13),  # places of a body's mass matrix: 3 on the diagonal, 10 of the 4 x 4 block
    ("l_first", "nu+1"),
    ("l_index", "nl"),
    ("l_target", "nx"),
]
REALS: list[tuple[Any, ...]] = [
    ("mass", "n"),
    ("J", "n", 3, 3),  # about the centre of mass, body axes
    ("gravity", "3"),
    ("inner_R", "n", 3, 3),  # the frame force elements know the body by: axes and origin in the body at its centre of mass
    ("inner_r", "n", 3),
    ("link_s", "2*nk", 3),  # origin of the frames, from the centre of mass, body axes: a, b, a, b, ...
    ("link_C", "2*nk", 3, 3),  # axes of the frames, body axes
    ("row_value", "nr", 3),  # length, pitch or ratio; offset; regularisation
]
SCRATCH: list[tuple[Any, ...]] = [
    ("q", "7*n"),
    ("v", "7*n"),
    ("R", "n+1", 3, 3),
    ("r", "n+1", 3),
    ("u", "n+1", 3),  # velocity of the centre of mass
    ("w", "n+1", 3),  # angular velocity, global axes
    ("G", "n", 3, 4),  # w' = 2 G p'
    ("force", "n", 6),  # force and torque about the centre of mass, global axes
    ("mass", "n", 13),
    ("turn", "nk"),  # angle of each link, whole turns counted: next to what the state has of it
    ("turn2", "nk"),
    ("o", "2", 3),  # frames of one link: origins, axes, and their rates
    ("E", "2", 3, 3),
    ("od", "2", 3),
    ("phi", "nr"),
    ("rate", "nr"),
    ("gamma", "nr"),
    ("lam", "nr"),
    ("jacobian", "4*nr", 7),  # of each row a line for each of its bodies: by (r, p)
    ("turning", "4*nr", 6),  # the same by (r, w): what loads are made of
    ("factor", "nu+nl"),
    ("unknown", "nu"),
    ("correction", "nu"),
    ("a", "7*n"),
    ("tally", "113"),
    ("angle", "nq"),  # behind the bodies' coordinates: angles and their rates as they are at a stage
    ("pace", "nq"),
]
_INTS, _REALS, _SCRATCH = plan(INTS), plan(REALS), plan(SCRATCH)
COUNTS = ("n", "nk", "nr", "nu", "nl", "nq", "nz")  # nq: seven of every body, the angles of the joints, the nz states
CartesianArrays = namedtuple("CartesianArrays", [*COUNTS, *(name for name, _, _ in (*_INTS, *_REALS))])  # type: ignore[misc]
CartesianWork = namedtuple("CartesianWork", [name for name, _, _ in _SCRATCH])  # type: ignore[misc]


def model_arrays(sizes: dict[str, int], fields: dict[str, Any]) -> Any:
    """Named arrays, each of its own type and shape."""

    def shaped(of: Any, kind: Any) -> list[np.ndarray]:
        return [
            np.ascontiguousarray(np.asarray(fields[name], dtype=kind).reshape(size(sizes), *inner))
            for name, size, inner in of
        ]

    return CartesianArrays(*(sizes[name] for name in COUNTS), *shaped(_INTS, np.int64), *shaped(_REALS, float))


def scratch(sizes: dict[str, int]) -> Any:
    """Fresh scratch."""
    length = sum(size(sizes) * int(np.prod(inner, dtype=int)) for _, size, inner in _SCRATCH)
    return CartesianWork(*views(_SCRATCH, sizes, np.zeros(length), 0))


def examples() -> tuple[Any, Any]:
    """Model and scratch of nothing, for their types."""
    none = dict.fromkeys((*COUNTS, "nx"), 0)
    fields = {name: np.zeros((size(none), *inner)) for name, size, inner in (*_INTS, *_REALS)}
    return model_arrays(none, fields), scratch(none)
