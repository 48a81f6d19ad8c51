"""What joints read of a model and write of an evaluation.

Each room of the mechanics (joints, bodies, dynamics, forces, constraints, signals, loops, equations) has such a file: its
`Arrays`, what kernels call `model` (read, never written), and its `Work`, what they call `work` (scratch and results of one
evaluation, in the reference frame of each body's tree). A room's classes are those of the room before it and its own
fields, so a kernel sees what its room may know, and the last room's are all there is: `topology/layout.py` packs them.

Bodies are numbered 1..n in depth-first order, parents before children; body 0 is the ground. *Columns* are the degrees of
freedom: column c is one column B_c of the motion subspace of the joint of body column_body[c]. A column of a flexible body
(a mode) moves every point of it in a way of its own, so B has more rows, *unit motions*: unit motion c is what its own body
sees of column c, further ones are what is attached to each point sees of a mode (joints/modal.py).
"""

from __future__ import annotations

from madi.kernel.fields import Fields, Ints, Reals, ints, reals, size


class Arrays(Fields):
    """Which joint moves each body, and how it is placed."""

    n: int = size()  # bodies, the ground counted
    nq: int = size()  # coordinates
    nv: int = size()  # columns
    nf: int = size()  # reference frames
    nb: int = size()  # unit motions: columns as seen by what they move
    ng: int = size()  # numbers of modes: inertia integrals, shapes at points
    parent: Ints = ints("n")
    code: Ints = ints("n")  # joint type (ladder.py)
    reverse: Ints = ints("n")  # whether the tree walks the joint against its drawn direction (kind.py)
    q_at: Ints = ints("n")  # first coordinate
    v_at: Ints = ints("n")  # first column; of the ground: the first-order states, columns behind all others
    v_end: Ints = ints("n")  # one past the last column
    frame: Ints = ints("n")  # reference frame: 0 the ground itself, k >= 1 of a tree (or of trees that loops tie together)
    carries: Ints = ints("n")  # 1: on the ground, and where it is now is the origin of its frame, in the ground's axes
    drive: Ints = ints("nv")  # the signal that prescribes a column (position, rate, acceleration), or columns.py
    column_q: Ints = ints("nv")  # its coordinate, -1 where a rotation has none of its own
    modes: Ints = ints("n")  # how many modes the body (or the body it is a point of) has, where its joint is modal
    mode_at: Ints = ints("n")  # first number of their shapes at the joint (modal.py)
    bows: Ints = ints("n")  # 1: bending takes from the length up to the joint
    stays: Ints = ints("n")  # 1: modes do not move the joint at all
    turn: Ints = ints("n")  # modes turn the joint: -1 not, 0..2 about that axis only, 3 anyhow
    C: Reals = reals("n", 3, 3)  # joint frame in the parent's frame
    d: Reals = reals("n", 3)
    pitch: Reals = reals("n")
    shape: Reals = reals("ng")  # of modes
    gravity: Reals = reals("3")


class Work(Fields):
    """Poses, velocities, columns; of the joint at hand its pose and columns in its own frame."""

    q: Reals = reals("nq")  # coordinates with the driven ones put in
    v: Reals = reals("nv")
    R: Reals = reals("n", 3, 3)
    r: Reals = reals("n", 3)
    Y: Reals = reals("n", 6)  # state velocity
    A: Reals = reals("n", 6)  # state acceleration for qdd = 0 (driven columns: as prescribed), minus gravity
    B: Reals = reals("nb", 6)  # P1's B_j
    frame_R: Reals = reals("nf", 3, 3)  # reference frames in the ground: axes, origins
    frame_r: Reals = reals("nf", 3)
    joint_R: Reals = reals("3", 3)
    joint_p: Reals = reals("3")
    joint_S: Reals = reals("6", 6)
    joint_b: Reals = reals("6")
