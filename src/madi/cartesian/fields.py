"""What Cartesian kernels read of a model and write of an evaluation. Bodies are 0..n-1 in the order they are drawn, then
rotors; number n is the ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.kernel.fields import Ints, Reals, evaluator, ints, part, reals, size
from madi.loops.fields import Factored
from madi.loops.memory import LoopMemory, LoopOptions, LoopTally, fresh_tally


class Arrays(Factored):
    """Bodies, links, rows."""

    n: int = size()  # bodies
    nk: int = size()  # links
    nr: int = size()  # rows
    nq: int = size()  # coordinates: seven of every body, the angles of the joints, the nz states
    nz: int = size()
    tree_body: Ints = ints("n")  # the body's number in the tree's layout, which force elements know it by; -1: a rotor
    link_a: Ints = ints("nk")  # links: two frames, on the drawn parent a and child b
    link_b: Ints = ints("nk")
    link_parts: Ints = ints("nk")  # how many parts the joint's motion has (words.py); 0: no joint, or it has none
    link_part: Ints = ints("nk", 6)
    link_q: Ints = ints("nk")  # where the joint's coordinates and velocities go among the tree's; -1: the tree cut it
    link_v: Ints = ints("nk")
    link_turn: Ints = ints("nk")  # place of its angle behind the bodies' coordinates, -1: it has none
    link_second: Ints = ints("nk")  # the same of a second one
    row_kind: Ints = ints("nr")  # words.py
    row_link: Ints = ints("nr")
    row_i: Ints = ints("nr")  # axis of frame a, or the measured part
    row_j: Ints = ints("nr")  # axis of frame b, or the measured part of the other link
    row_other: Ints = ints("nr")  # a coupler's second link
    row_signal: Ints = ints("nr")
    row_place: Ints = ints("nr")
    row_body: Ints = ints("nr", 4)  # bodies a row meets, n where it meets fewer
    j_place: Ints = ints("4*nr", 7)  # places of its entries in the factor, a line for each of its bodies
    q_place: Ints = ints("7*n")  # unknown of every coordinate
    m_place: Ints = ints("n", 13)  # places of a body's mass matrix: 3 on the diagonal, 10 of the 4 x 4 block
    mass: Reals = reals("n")
    J: Reals = reals("n", 3, 3)  # about the centre of mass, body axes
    gravity: Reals = reals("3")
    inner_R: Reals = reals("n", 3, 3)  # the frame force elements know the body by, from its centre of mass: axes, origin
    inner_r: Reals = reals("n", 3)
    link_s: Reals = reals("2*nk", 3)  # origin of the frames, from the centre of mass, body axes: a, b, a, b, ...
    link_C: Reals = reals("2*nk", 3, 3)  # axes of the frames, body axes
    row_value: Reals = reals("nr", 3)  # length, pitch or ratio; offset; regularisation


class Work(LoopMemory):
    """Scratch and results of one evaluation."""

    options: LoopOptions = part(LoopOptions)
    tally: LoopTally = part(LoopTally)
    q: Reals = reals("7*n")
    v: Reals = reals("7*n")
    R: Reals = reals("n+1", 3, 3)
    r: Reals = reals("n+1", 3)
    u: Reals = reals("n+1", 3)  # velocity of the centre of mass
    w: Reals = reals("n+1", 3)  # angular velocity, global axes
    G: Reals = reals("n", 3, 4)  # w' = 2 G p'
    force: Reals = reals("n", 6)  # force and torque about the centre of mass, global axes
    mass: Reals = reals("n", 13)
    turn: Reals = reals("nk")  # angle of each link, whole turns counted: next to what the state has of it
    turn2: Reals = reals("nk")
    o: Reals = reals("2", 3)  # frames of one link: origins, axes, and their rates
    E: Reals = reals("2", 3, 3)
    od: Reals = reals("2", 3)
    phi: Reals = reals("nr")
    rate: Reals = reals("nr")
    gamma: Reals = reals("nr")
    lam: Reals = reals("nr")
    jacobian: Reals = reals("4*nr", 7)  # of each row a line for each of its bodies: by (r, p)
    turning: Reals = reals("4*nr", 6)  # the same by (r, w): what loads are made of
    factor: Reals = reals("nu+nl")
    unknown: Reals = reals("nu")
    correction: Reals = reals("nu")
    a: Reals = reals("7*n")
    angle: Reals = reals("nq")  # behind the bodies' coordinates: angles and their rates as they are at a stage
    pace: Reals = reals("nq")


def model_arrays(sizes: dict[str, int], fields: dict[str, Any]) -> Arrays:
    """Named arrays of the values given."""
    made = Arrays(sizes)
    for name, field in Arrays.arrays().items():
        getattr(made, name)[...] = np.asarray(fields[name]).reshape(evaluator(field.size)(sizes), *field.inner)
    return made


def scratch(sizes: dict[str, int], options: Any = None) -> Work:
    """Fresh scratch; `options`: of closing the loops."""
    return Work(sizes, options=LoopOptions({}) if options is None else options, tally=fresh_tally())
