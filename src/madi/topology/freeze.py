"""From a checked model and its spanning tree to the flat arrays kernels read, each stage once:

number (bodies, columns) → frames → drives → modes → closures → entries → forces → pack; with loops then settle, which adds
the order of elimination.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np

from madi.bodies import count_others
from madi.joints.columns import LOCKED
from madi.kernel import SEPARATE
from madi.kernel.cores import one_core
from madi.model.elements import Joint, body_name
from madi.signals.trace import Signals
from madi.topology.closures import Row, closures
from madi.topology.elements import by_inertia, force_arrays, hard_sizes
from madi.topology.frames import Frame, joint_frame, place_bodies
from madi.topology.graph import Edge, SpanningTree
from madi.topology.layout import Layout, pack
from madi.topology.modal import Modal
from madi.topology.number import column_arrays, number_bodies, number_columns
from madi.topology.pattern import entries

if TYPE_CHECKING:
    from madi.model.model import Model


@dataclass
class Frozen:
    """The layout and everything needed to translate between names and numbers."""

    layout: Layout
    bodies: list[str]  # 1..n
    joints: list[Joint]  # joint of body k + 1
    coordinates: list[str]
    speeds: list[str]
    units: list[str]
    speed_units: list[str]
    q0: np.ndarray
    v0: np.ndarray
    body_R: np.ndarray  # [n, 3, 3] the user's body frame in the internal one
    body_r: np.ndarray
    frames: list[Frame]  # internal frames in the reference pose, ground first
    signals: Signals
    riding: list[str]  # bodies that carry a reference frame with their own axes
    rows: list[Row]  # the scalar constraints
    given_q: np.ndarray  # which coordinates and velocities the user gave a start
    given_v: np.ndarray


def freeze(model: Model, tree: SpanningTree, frame: str) -> Frozen:
    """All arrays of the model."""
    number, columns = number_bodies(tree), number_columns(model, tree)
    names = (columns.coordinates, columns.speeds)
    bodies = place_bodies(model, tree, number, frame)
    ints, signals = bodies.ints | columns.places, Signals(speeds=len(columns.speeds))
    driven = column_arrays(model, ints, *names, signals)
    modal = modes(model, tree, number, ints)
    ints |= modal.arrays(ints, driven)
    loops = closures(model, tree.cuts, number, bodies.frames, columns.speeds, signals, joint_frame)
    rows = loops.arrays()
    of_drives = len(signals.ops)  # so far the tape has drives only: forces come behind them
    # where entries are; their order of elimination follows when it is known which rows vanish (settle.py)
    scheme = entries({**ints, **driven, **rows})
    q0 = np.array(columns.q0, dtype=float)
    v0 = np.where(driven["drive"] == LOCKED, 0.0, np.array(columns.v0, dtype=float))  # what is locked does not move
    forces, parameters = force_arrays(model, number, bodies.frames, bodies.reals, names, signals, q0, v0)
    sizes = {
        "n": len(number), "nq": len(q0), "nv": len(v0), "nf": bodies.reference_frames, "ne": len(model.forces),
        "np": len(parameters), "nt": len(signals.ops), "ns": signals.count, "nc": len(signals.callbacks), "nd": of_drives,
        "na": len(forces["measured"]), "n_held": len(forces["held_of"]), "n_touch": int(forces.pop("n_touch")),
        **hard_sizes(model, tree, len(v0), len(loops.rows)), "n_separate": len(SEPARATE),
        "nk": len(loops.pairs), "nr": len(loops.rows), **scheme.pop("sizes"), **modal.sizes(),
    }  # fmt: skip
    ops = np.array(signals.ops, dtype=float).reshape(-1, 4)
    fields = {
        **ints, **driven, **forces, **bodies.reals, **rows, **scheme, "shape": modal.shape,
        "separate": [0] * len(SEPARATE), "row_value": [(*value, 0.0) for value in loops.values],
        "tape_op": ops[:, 0], "tape_a": ops[:, 1], "tape_b": ops[:, 2], "tape_constant": ops[:, 3],
        "callback": [[c.address, first, count] for c, first, count in signals.callbacks],
        "curve": signals.curves.array(), "gravity": model.gravity, "parameter": parameters, "armature": columns.armature,
    }  # fmt: skip
    sizes["n_other"] = count_others(SimpleNamespace(**fields), len(number))
    layout = pack(sizes, fields)
    return Frozen(
        layout=by_inertia(model, layout, forces, q0), bodies=[edge.body for edge in tree.edges],
        joints=[edge.joint for edge in tree.edges], coordinates=columns.coordinates, speeds=columns.speeds,
        units=columns.units, speed_units=columns.speed_units, q0=q0, v0=v0, body_R=bodies.offset_R, body_r=bodies.offset_r,
        frames=bodies.frames, signals=signals, riding=sorted(bodies.riding), rows=loops.rows,
        given_q=np.array(columns.given_q, dtype=bool), given_v=np.array(columns.given_v, dtype=bool),
    )  # fmt: skip


def modes(model: Model, tree: SpanningTree, number: dict[str, int], ints: dict[str, np.ndarray]) -> Modal:
    """What the layout holds of flexible bodies."""
    drawn, modal = {body.name: body for body in model.bodies}, Modal(len(number))
    for i, edge in enumerate(tree.edges, start=1):
        if edge.joint.station is not None:
            owner = drawn[body_name(edge.joint.parent)]
            with one_core():
                modal.add(i, edge.joint, owner, edge.reverse, ints, number[owner.name])
    return modal


def path_matrix(edges: tuple[Edge, ...]) -> np.ndarray:
    """P0's path matrix: [i, j] = 1 if body j is on the path from the base to body i (itself included)."""
    number = {edge.body: k for k, edge in enumerate(edges)}
    matrix = np.zeros((len(edges), len(edges)), dtype=np.int64)
    for k, edge in enumerate(edges):
        if edge.parent in number:
            matrix[k] = matrix[number[edge.parent]]
        matrix[k, k] = 1
    return matrix
