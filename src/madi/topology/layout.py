"""A model as two flat arrays, one of integers and one of reals, and the views kernels read them through.

Everything an evaluation needs is in these two arrays (and a scratch array): they are hashed to key the compile cache,
handed to C by three pointers, and filled with symbols to trace a model. Bodies are numbered 1..n in depth-first order,
parents before children, so that the subtree of body i is i..last[i]; body 0 is the ground. *Columns* are the degrees of
freedom: column c is one column B_c of the motion subspace of the joint of body column_body[c]. A column of a flexible body
(a mode) moves every point of it in a way of its own, so B has more rows, *unit motions*: unit motion c is what its own body
sees of column c, further ones are what is attached to each point sees of a mode (joints/modal.py). *Pairs* are two frames,
one on each of two bodies, that constraints compare; *rows* are scalar constraints; *unknowns* are those of the loop
equations (free columns and multipliers) in the order of elimination (topology/pattern.py).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from madi import bodies  # noqa: F401 (its kernels are counted below)
from madi.kernel import SEPARATE
from madi.kernel.fields import Fields, evaluator, ints, part, reals
from madi.kernel.fields import size as header
from madi.loops.memory import LoopMemory, LoopOptions, LoopTally, fresh_tally

# The sizes, in the order in which they head the array of integers; n counts the ground.
HEADER = {
    "n": "bodies", "nq": "coordinates", "nv": "columns", "nf": "reference frames", "ne": "force elements",
    "np": "parameters of force elements", "nt": "instructions on the tape", "ns": "signals", "nc": "callbacks",
    "nd": "instructions of the tape that belong to drives, its first", "nk": "pairs", "nr": "rows",
    "nj": "entries of the constraint Jacobian", "nm": "entries of the mass matrix", "nu": "unknowns of the loop equations",
    "nl": "entries below the diagonal of their factor", "nx": "multiplications of their factorisation",
    "nn": "free columns, where there are loops", "nb": "unit motions: columns as seen by what they move",
    "ng": "numbers of modes: inertia integrals, shapes at points", "nz": "entries of modal mass blocks",
    "na": "force elements whose law sees their line",
    "nh": "flexible bodies", "nw": "modes times functions of their foreshortening", "ny": "modes and those functions",
}  # fmt: skip

# What kernels call `model`: (name, size, inner shape). Read, never written.
INTS: list[tuple[Any, ...]] = [
    ("parent", "n"),
    ("code", "n"),  # joint type (joints/ladder.py)
    ("reverse", "n"),  # whether the tree walks the joint against its drawn direction (joints/kind.py)
    ("q_at", "n"),  # first coordinate
    ("v_at", "n"),  # first column; of the ground: the first-order states, columns behind all others
    ("v_end", "n"),  # one past the last column
    ("last", "n"),  # last body of the subtree
    ("frame", "n"),  # reference frame: 0 the ground itself, k >= 1 of a tree (or of trees that loops tie together)
    ("carries", "n"),  # 1: on the ground, and where it is now is the origin of its reference frame, in the ground's axes
    ("axisymmetric", "n"),  # 1: inertia does not depend on the turn about the frame's z axis
    ("modes", "n"),  # how many modes the body (or the body it is a point of) has, where its joint is modal
    ("modal", "n"),  # its place among flexible bodies, -1 if it is none
    ("mode_v", "n"),  # first column of those modes
    ("mode_at", "n"),  # first number of their shapes at the joint (joints/modal.py)
    ("inertia_at", "n"),  # first of its inertia integrals (bodies/bending.py)
    ("block_at", "n"),  # first entry of its modal mass block
    ("shortenings", "n"),  # how many functions its foreshortening is made of
    ("shortening_at", "n"),
    ("eta_at", "n"),
    ("turn", "n"),  # modes turn the joint: -1 not, 0..2 about that axis only, 3 anyhow
    ("motion_at", "n"),  # first unit motion of a modal joint
    ("copy_at", "n"),  # of a flexible body: the unit motions of its points
    ("copy_end", "n"),
    ("tip_motion", "n"),  # last unit motion on the path to the body, -1 if nothing moves it
    ("motion_column", "nb"),
    ("motion_body", "nb"),
    ("motion_parent", "nb"),  # previous unit motion on the path to the base, -1 at its end
    ("free_motion", "nb"),  # the same, driven columns left out
    ("separate", str(len(SEPARATE))),  # addresses of the kernels in kernel.SEPARATE, where the model needs them
    ("column_body", "nv"),
    ("column_parent", "nv"),  # previous column on the path to the base, -1 at its end
    ("free_parent", "nv"),  # the same, driven columns left out
    ("drive", "nv"),  # the signal that prescribes it (position, rate, acceleration), or joints/columns.py
    ("column_q", "nv"),  # its coordinate, -1 where a rotation has none of its own
    ("force_kind", "ne"),
    ("force_a", "ne"),  # body or column
    ("force_b", "ne"),
    ("force_at", "ne"),  # first parameter
    ("force_signal", "ne"),  # first signal, -1 if none
    ("force_state", "ne"),  # first of its first-order states, a column; -1 if it has none
    ("force_call", "ne"),  # address of its compiled kernel, 0 where the forward kernel has it built in
    ("tape_op", "nt"),  # signals: functions of time and state as a tape (signals/tape.py)
    ("tape_a", "nt"),
    ("tape_b", "nt"),
    ("callback", "nc", 3),  # (address, first signal, count) of functions that stay in Python
    ("measured", "na"),  # force elements whose length and rate functions see
    ("pair_a", "nk"),
    ("pair_b", "nk"),
    ("row_pair", "nr"),  # -1: a row between two columns
    ("row_kind", "nr"),  # constraints/
    ("row_signal", "nr"),  # what its measure is driven by (position, rate, acceleration), -1 if nothing
    ("row_a", "nr"),  # columns of a coupler
    ("row_b", "nr"),
    ("row_place", "nr"),  # its multiplier among the unknowns, -1: the row vanishes identically
    ("row_first", "nr+1"),  # first of its entries in the constraint Jacobian
    ("j_column", "nj"),
    ("j_sign", "nj"),  # +1: the column moves body b of the pair, -1: body a
    ("j_motion", "nj"),
    ("j_other", "nj"),  # unit motion by which the column moves the pair's other body too, -1 if it does not
    ("j_place", "nj"),  # its place in the factor
    ("m_row", "nm"),
    ("m_column", "nm"),
    ("m_motion", "nm"),  # the column as seen from that of m_row
    ("m_place", "nm"),
    ("column_place", "nv"),  # the column among the unknowns, -1 if driven
    ("l_first", "nu+1"),  # entries below the diagonal of each unknown's column
    ("l_index", "nl"),
    ("l_target", "nx"),  # where each product of the factorisation goes
]
REALS: list[tuple[Any, ...]] = [
    ("C", "n", 3, 3),  # joint frame in the parent's frame
    ("d", "n", 3),
    ("pitch", "n"),
    ("mass", "n"),
    ("com", "n", 3),  # in the body's internal frame
    ("J", "n", 6),  # about the centre of mass: xx xy xz yy yz zz
    ("armature", "nv"),  # rotor inertia that turns (or slides) with the column
    ("shape", "ng"),  # of modes
    ("gravity", "3"),
    ("parameter", "np"),  # of the force elements
    ("tape_constant", "nt"),
    ("pair_C", "2*nk", 3, 3),  # the pair's frames in the internal frames of their bodies: a, b, a, b, ...
    ("pair_d", "2*nk", 3),
    ("row_value", "nr", 3),  # its parameter (a length, a pitch, a ratio), what its measure is held at, its regularisation
]

# What kernels call `work`: scratch and results of one evaluation, in the reference frame of each body's tree.
SCRATCH: list[tuple[Any, ...]] = [
    ("q", "nq"),  # coordinates with the driven ones put in
    ("contact", "35"),  # a tire's geometry: see forces/contact.py
    ("moved", "nq"),  # coordinates of a trial state of an implicit step
    ("v", "nv"),
    ("tau", "nv"),  # generalised force of every column
    ("acceleration", "nv"),  # qdd (on entry: of the driven columns)
    ("P", "nv"),
    ("R", "n", 3, 3),
    ("r", "n", 3),
    ("Y", "n", 6),  # state velocity
    ("A", "n", 6),  # state acceleration for qdd = 0 (driven columns: as prescribed), minus gravity
    ("Q", "n", 6),  # force vector: applied and gyroscopic
    ("inertia", "n", 10),  # of the body alone
    ("K", "n", 10),  # composite
    ("W", "n", 6),  # P1's L - K sum(D)
    ("articulated", "n", 21),  # upper triangle
    ("d_inverse", "nv"),  # 1/d of a column of the articulated recursion
    ("a", "n", 6),  # state acceleration (relative to A)
    ("B", "nb", 6),  # P1's B_j
    ("U", "nb", 6),  # K_c B_c
    ("T", "nb", 6),  # columns of the velocity transformation of one body
    ("h", "nv", 6),  # of a mode: momentum of its own body per unit of its rate
    ("xi", "nv"),  # of a mode: its coordinate and its rate
    ("xi_rate", "nv"),
    ("eta", "ny"),  # of flexible bodies: modes, then functions of foreshortening; their rates
    ("eta_rate", "ny"),
    ("slides", "ny", 6),  # S_a and N_a in the body's axes, of modes with what they shorten
    ("turns", "ny", 6),  # dJ/deta_a, likewise
    ("own", "nv"),  # of a mode: what its own body adds to its equation
    ("bent", "nh", 9),  # of a flexible body: S and J in its axes
    ("block", "nz"),  # modal mass blocks
    ("own_mass", "nz"),  # of the body alone
    ("shortening", "nw"),  # G_rc: how foreshortening function r grows with mode c
    ("M", "nv*nv"),  # by rows
    ("frame_R", "nf", 3, 3),  # reference frames in the ground: axes, origins
    ("frame_r", "nf", 3),
    ("force", "ne", 4),  # of every force element: value, potential energy, power delivered, power dissipated
    ("signal", "ns"),
    ("measure", "2*na"),  # length and rate of each measured element
    ("tape", "nt"),
    ("joint_R", "3", 3),
    ("joint_p", "3"),
    ("joint_S", "6", 6),
    ("joint_b", "6"),
    ("pair_E", "2", 3, 3),  # axes and origins of a pair's two frames
    ("pair_o", "2", 3),
    ("phi", "nr"),  # residual of every row
    ("rate", "nr"),  # its rate
    ("gamma", "nr"),  # Phi_q qdd = gamma
    ("pace", "nr"),  # rate at which its measure is driven
    ("psi", "nr", 6),  # the force vector of a unit multiplier
    ("lam", "nr"),  # multipliers
    ("mass", "nm"),  # entries of M
    ("jacobian", "nj"),  # entries of Phi_q
    ("factor", "nu+nl"),  # diagonal, then what is below it
    ("unknown", "nu"),
    ("correction", "nu"),
    ("chosen", "nr"),  # null-space methods (loops/null_space.py): rows, the independent ones first
    ("scaled", "nj"),  # entries of Phi_q and M, measured by mass
    ("scaled_mass", "nm"),
    ("heavy", "nr"),  # what rows and columns are measured by
    ("size", "nn"),
    ("dense", "nr*nn"),  # their Jacobian
    ("spare", "nr*nn"),
    ("square", "nn*nn"),  # what range and null space are solved with, factored
    ("order", "nn"),  # and the order of its rows
    ("basis", "nn*nn"),  # directions that stay independent, side by side
    ("null", "nn*nn"),  # the basis of the null space made of them
    ("product", "nn*nn"),
    ("reduced", "nn*nn"),  # their mass matrix
    ("short", "nn"),
    ("force_left", "nn"),
    ("rest", "nn"),
]


def declared(of: list[tuple[Any, ...]], make: Callable[..., Any]) -> dict[str, Any]:
    """The fields of a table (name, size, inner shape)."""
    return {name: make(size, *inner) for name, size, *inner in of}


# what kernels read of the header
COUNTS = ("n", "nq", "nv", "ne", "nt", "nc", "na", "nd", "nk", "nr", "nj", "nm", "nu", "nl", "nx", "nn", "nb", "nh")
Arrays: Any = type(
    "Arrays", (Fields,), {**{name: header() for name in COUNTS}, **declared(INTS, ints), **declared(REALS, reals)}
)


class Work(type("Scratch", (LoopMemory,), declared(SCRATCH, reals))):  # type: ignore[misc]
    """What kernels call `work`."""

    options: LoopOptions = part(LoopOptions)
    tally: LoopTally = part(LoopTally)


@dataclass(frozen=True)
class Layout:
    """The two flat arrays and their views."""

    ints: np.ndarray
    reals: np.ndarray

    @cached_property
    def arrays(self) -> Any:
        """Named views of the two arrays."""
        return model_views(self.ints, self.reals)

    @cached_property
    def sizes(self) -> dict[str, int]:
        """The header."""
        return _sizes(self.ints)

    def header(self, name: str) -> int:
        """One of the sizes in HEADER."""
        return self.sizes[name]

    @cached_property
    def structure(self) -> np.ndarray:
        """The integers less where this process keeps functions that stay in Python."""
        if self.header("nc") == 0:
            return self.ints
        table = np.array(self.arrays.callback)
        table[:, 0] = 0
        return repack(self, {}, {"callback": table}).ints

    def scratch(self, dense: bool = False, dtype: Any = float, options: Any = None) -> Any:
        """Fresh scratch of an evaluation, for floats or symbols; `dense`: with what null-space methods need, whose matrices
        are full; `options`: of closing the loops."""
        sizes = self.sizes | ({} if dense else {"nn": 0})
        memory = np.zeros(Work.length(sizes, True), dtype=dtype)
        return Work(sizes, None, memory, options=LoopOptions({}) if options is None else options, tally=fresh_tally())


def pack(sizes: dict[str, int], fields: dict[str, Any]) -> Layout:
    """Put named arrays behind each other in the order `model_views` reads them."""

    def flat(real: bool) -> list[np.ndarray]:
        parts = []
        for name, field in Arrays.arrays().items():
            if field.real == real:
                values = np.asarray(fields[name], dtype=float if real else np.int64).reshape(-1)
                assert len(values) == evaluator(field.size)(sizes) * math.prod(field.inner), name
                parts.append(values)
        return parts

    head = np.array([sizes[name] for name in HEADER], dtype=np.int64)
    layout = Layout(np.concatenate([head, *flat(False)]), np.concatenate(flat(True)) + 0.0)
    for array in (layout.ints, layout.reals):
        array.setflags(write=False)
    return layout


def repack(layout: Layout, sizes: dict[str, int], fields: dict[str, Any]) -> Layout:
    """The same layout with some sizes and fields changed."""
    return pack(layout.sizes | sizes, {**layout.arrays.values(), **fields})


def _sizes(ints: np.ndarray) -> dict[str, int]:
    return {name: int(value) for name, value in zip(HEADER, ints, strict=False)}


def model_views(int_memory: Any, real_memory: Any) -> Any:
    """The named views of the two flat arrays."""
    return Arrays(_sizes(int_memory), int_memory[len(HEADER) :], real_memory)
