"""The Cartesian model as named arrays: what its kernels read and write."""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.kernel.fields import Fields, evaluator, ints, part, reals
from madi.kernel.fields import size as header
from madi.loops.memory import LoopMemory, LoopOptions, LoopTally, fresh_tally
from madi.topology.layout import declared

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
    ("angle", "nq"),  # behind the bodies' coordinates: angles and their rates as they are at a stage
    ("pace", "nq"),
]
# nq: seven of every body, the angles of the joints, the nz states
COUNTS = ("n", "nk", "nr", "nu", "nl", "nq", "nz")
CartesianArrays: Any = type(
    "CartesianArrays", (Fields,), {**{name: header() for name in COUNTS}, **declared(INTS, ints), **declared(REALS, reals)}
)


class CartesianWork(type("Scratch", (LoopMemory,), declared(SCRATCH, reals))):  # type: ignore[misc]
    """What kernels call `work`."""

    options: LoopOptions = part(LoopOptions)
    tally: LoopTally = part(LoopTally)


def model_arrays(sizes: dict[str, int], fields: dict[str, Any]) -> Any:
    """Named arrays of the values given."""
    made = CartesianArrays(sizes)
    for name, field in CartesianArrays.arrays().items():
        getattr(made, name)[...] = np.asarray(fields[name]).reshape(evaluator(field.size)(sizes), *field.inner)
    return made


def scratch(sizes: dict[str, int], options: Any = None) -> Any:
    """Fresh scratch; `options`: of closing the loops."""
    return CartesianWork(sizes, options=LoopOptions({}) if options is None else options, tally=fresh_tally())
