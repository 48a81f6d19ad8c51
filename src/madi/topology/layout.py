"""A model as two flat arrays, one of integers and one of reals, and the views kernels read them through.

Everything an evaluation needs is in these two arrays (and a scratch array): they are hashed to key the compile cache,
handed to C by three pointers, and filled with symbols to trace a model. Bodies are numbered 1..n in depth-first order,
parents before children, so that the subtree of body i is i..last[i]; body 0 is the ground. *Columns* are the degrees of
freedom: column c is one column B_c of the motion subspace of the joint of body column_body[c].
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from madi.kernel import view1, view2, view3


class Arrays(NamedTuple):
    """What kernels call `model`: read, never written."""

    n: Any  # bodies and the ground
    nq: Any
    nv: Any
    ne: Any  # force elements
    nt: Any  # instructions on the tape
    nc: Any  # callbacks
    nd: Any  # instructions of the tape that belong to drives, its first
    # bodies and the ground, [n]
    parent: Any
    code: Any  # joint type (joints/dispatch.py)
    reverse: Any  # 1: the tree walks the joint against its drawn direction; 2: so too, seen to by its z axis
    q_at: Any  # first coordinate
    v_at: Any  # first column
    v_end: Any  # one past the last column
    last: Any  # last body of the subtree
    frame: Any  # reference frame: 0 ground, k >= 1 riding on a base body
    axisymmetric: Any  # 1: inertia does not depend on the turn about the frame's z axis
    # columns, [nv]
    column_body: Any
    column_parent: Any  # previous column on the path to the base, -1 at its end
    free_parent: Any  # the same, driven columns left out
    drive: Any  # >= 0: prescribed by that signal (position, rate, acceleration); -1 free; -2 locked
    column_q: Any  # its coordinate, -1 where a rotation has none of its own
    # force elements, [ne]
    force_kind: Any
    force_a: Any  # body or column
    force_b: Any
    force_at: Any  # first parameter
    force_signal: Any  # first signal, -1 if none
    # signals: functions of time and state as a tape (signals/tape.py)
    tape_op: Any
    tape_a: Any
    tape_b: Any
    callback: Any  # (address, first signal, count) of functions that stay in Python
    # reals
    C: Any  # [n, 3, 3] joint frame in the parent's frame
    d: Any  # [n, 3]
    pitch: Any
    mass: Any
    com: Any  # [n, 3] in the body's internal frame
    J: Any  # [n, 6] about the centre of mass: xx xy xz yy yz zz
    gravity: Any  # [3]
    parameter: Any  # of the force elements
    tape_constant: Any


class Work(NamedTuple):
    """What kernels call `work`: scratch and results of one evaluation, in the reference frame of each body's tree."""

    q: Any  # coordinates with the driven ones put in
    v: Any
    tau: Any  # generalised force of every column
    acceleration: Any  # qdd (on entry: of the driven columns)
    R: Any  # [n, 3, 3]
    r: Any  # [n, 3]
    B: Any  # [nv, 6] P1's B_j
    Y: Any  # [n, 6] state velocity
    A: Any  # [n, 6] state acceleration for qdd = 0 (driven columns: as prescribed), minus gravity
    Q: Any  # [n, 6] force vector: applied and gyroscopic
    inertia: Any  # [n, 10] of the body alone
    K: Any  # [n, 10] composite
    W: Any  # [n, 6] P1's L - K sum(D)
    U: Any  # [nv, 6] K_c B_c
    M: Any  # [nv * nv], by rows
    P: Any  # [nv]
    articulated: Any  # [n, 21] upper triangle
    a: Any  # [n, 6] state acceleration (relative to A)
    frame_R: Any  # [nf, 3, 3] reference frames in the ground
    frame_r: Any
    force: Any  # [ne, 4] of every force element: value, potential energy, power delivered, power dissipated
    signal: Any
    tape: Any
    joint_R: Any
    joint_p: Any
    joint_o: Any
    joint_S: Any
    joint_a: Any
    joint_b: Any
    T: Any  # [nv, 6] columns of the velocity transformation of one body


HEADER = ("n", "nq", "nv", "nf", "ne", "np", "nt", "ns", "nc", "nd")  # n counts the ground
INT_FIELDS = {
    "n": "parent code reverse q_at v_at v_end last frame axisymmetric",
    "nv": "column_body column_parent free_parent drive column_q",
    "ne": "force_kind force_a force_b force_at force_signal",
    "nt": "tape_op tape_a tape_b",
}


@dataclass(frozen=True)
class Layout:
    """The two flat arrays and their views."""

    ints: np.ndarray
    reals: np.ndarray

    @cached_property
    def arrays(self) -> Arrays:
        """Named views of the two arrays."""
        return model_views(self.ints, self.reals)

    def header(self, name: str) -> int:
        """One of the sizes in HEADER."""
        return int(self.ints[HEADER.index(name)])

    @cached_property
    def table(self) -> np.ndarray:
        """Sizes and addresses in the order of `Arrays`: what compiled kernels reach the views through."""
        return address_table(self.arrays)

    def work_size(self) -> int:
        """Reals an evaluation needs as scratch."""
        return work_length(self.ints)


def address_table(views: Arrays | Work) -> np.ndarray:
    """Of every field its value (a size) or its address (an array); valid as long as the arrays live."""
    return np.array([v.ctypes.data if isinstance(v, np.ndarray) else int(v) for v in views], dtype=np.int64)


def pack(sizes: dict[str, int], fields: dict[str, Any]) -> Layout:
    """Put named arrays behind each other in the order `model_views` reads them."""
    ints: list[Any] = [np.array([sizes[name] for name in HEADER])]
    for size, names in INT_FIELDS.items():
        for name in names.split():
            values = np.asarray(fields[name], dtype=np.int64)
            assert values.shape == (sizes[size],), name
            ints.append(values)
    ints.append(np.asarray(fields["callback"], dtype=np.int64).reshape(-1))
    real_names = ("C", "d", "pitch", "mass", "com", "J", "gravity", "parameter", "tape_constant")
    reals = [np.asarray(fields[name], dtype=float).reshape(-1) for name in real_names]
    layout = Layout(np.concatenate(ints).astype(np.int64), np.concatenate(reals) + 0.0)
    for array in (layout.ints, layout.reals):
        array.setflags(write=False)
    return layout


def model_views(ints, reals):
    """The named views of the two flat arrays."""
    n, nq, nv = ints[0], ints[1], ints[2]
    ne, np_ = ints[4], ints[5]
    nt, nc, nd = ints[6], ints[8], ints[9]
    b = 10
    c = b + 9 * n
    e = c + 5 * nv
    t = e + 5 * ne
    return Arrays(
        n,
        nq,
        nv,
        ne,
        nt,
        nc,
        nd,
        view1(ints, b, n),
        view1(ints, b + n, n),
        view1(ints, b + 2 * n, n),
        view1(ints, b + 3 * n, n),
        view1(ints, b + 4 * n, n),
        view1(ints, b + 5 * n, n),
        view1(ints, b + 6 * n, n),
        view1(ints, b + 7 * n, n),
        view1(ints, b + 8 * n, n),
        view1(ints, c, nv),
        view1(ints, c + nv, nv),
        view1(ints, c + 2 * nv, nv),
        view1(ints, c + 3 * nv, nv),
        view1(ints, c + 4 * nv, nv),
        view1(ints, e, ne),
        view1(ints, e + ne, ne),
        view1(ints, e + 2 * ne, ne),
        view1(ints, e + 3 * ne, ne),
        view1(ints, e + 4 * ne, ne),
        view1(ints, t, nt),
        view1(ints, t + nt, nt),
        view1(ints, t + 2 * nt, nt),
        view2(ints, t + 3 * nt, nc, 3),
        view3(reals, 0, n, 3, 3),
        view2(reals, 9 * n, n, 3),
        view1(reals, 12 * n, n),
        view1(reals, 13 * n, n),
        view2(reals, 14 * n, n, 3),
        view2(reals, 17 * n, n, 6),
        view1(reals, 23 * n, 3),
        view1(reals, 23 * n + 3, np_),
        view1(reals, 23 * n + 3 + np_, nt),
    )


def work_length(ints):
    """Length of the scratch array."""
    n, nq, nv = ints[0], ints[1], ints[2]
    nf, ne, nt, ns = ints[3], ints[4], ints[6], ints[7]
    return nq + 4 * nv + 83 * n + 18 * nv + nv * nv + 12 * nf + 4 * ne + ns + nt + 63


def work_views(ints, buffer):
    """The named views of the scratch array, in the order of `Work`."""
    n, nq, nv = ints[0], ints[1], ints[2]
    nf, ne, nt, ns = ints[3], ints[4], ints[6], ints[7]
    a = nq + 4 * nv  # q, v, tau, acceleration, P
    b = a + 83 * n  # bodies
    c = b + 18 * nv  # columns
    f = c + nv * nv
    g = f + 12 * nf
    s = g + 4 * ne
    j = s + ns + nt
    return Work(
        view1(buffer, 0, nq),
        view1(buffer, nq, nv),
        view1(buffer, nq + nv, nv),
        view1(buffer, nq + 2 * nv, nv),
        view3(buffer, a, n, 3, 3),
        view2(buffer, a + 9 * n, n, 3),
        view2(buffer, b, nv, 6),
        view2(buffer, a + 12 * n, n, 6),
        view2(buffer, a + 18 * n, n, 6),
        view2(buffer, a + 24 * n, n, 6),
        view2(buffer, a + 30 * n, n, 10),
        view2(buffer, a + 40 * n, n, 10),
        view2(buffer, a + 50 * n, n, 6),
        view2(buffer, b + 6 * nv, nv, 6),
        view1(buffer, c, nv * nv),
        view1(buffer, nq + 3 * nv, nv),
        view2(buffer, a + 56 * n, n, 21),
        view2(buffer, a + 77 * n, n, 6),
        view3(buffer, f, nf, 3, 3),
        view2(buffer, f + 9 * nf, nf, 3),
        view2(buffer, g, ne, 4),
        view1(buffer, s, ns),
        view1(buffer, s + ns, nt),
        view2(buffer, j, 3, 3),
        view1(buffer, j + 9, 3),
        view1(buffer, j + 12, 3),
        view2(buffer, j + 15, 6, 6),
        view1(buffer, j + 51, 6),
        view1(buffer, j + 57, 6),
        view2(buffer, b + 12 * nv, nv, 6),
    )
