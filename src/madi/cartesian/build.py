"""From the drawn model to the Cartesian arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.bodies import OTHERS
from madi.cartesian.equations import masses
from madi.cartesian.fields import model_arrays, scratch
from madi.cartesian.links import Builder
from madi.cartesian.motion import angles, relative, take
from madi.cartesian.pattern import pattern
from madi.cartesian.rows import rows as evaluate_rows
from madi.cartesian.words import SECOND, TURN
from madi.constraints.fields import REGULARISATION
from madi.errors import InputError
from madi.loops.kkt import EPSILON
from madi.model.elements import inertia_matrix
from madi.spatial.rotation import matrix_to_quaternion

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.system import System


@dataclass
class Cartesian:
    """Arrays, scratch, and the way back to names."""

    system: System
    arrays: Any
    work: Any
    forces: Any  # scratch of the force elements
    q0: np.ndarray
    v0: np.ndarray
    names: list[str]  # bodies, as drawn
    links: dict[str, int] = field(default_factory=dict)  # joints and constraints
    row_owner: list[str] = field(default_factory=list)  # joint or constraint of every row
    coms: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    origins: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))  # where coordinates are measured from

    @property
    def coordinates(self) -> int:
        """Seven a body."""
        return 7 * int(self.arrays.n)

    @property
    def size(self) -> int:
        """What is integrated: the coordinates, and the joints' angles."""
        return int(self.arrays.nq)

    @property
    def constraints(self) -> int:
        """Rows; the unit length of each body's Euler parameters is not counted."""
        return len(self.row_owner)


def cartesian(model: Model, system: System, q: np.ndarray, v: np.ndarray, options: Any = None) -> Cartesian:
    """The Cartesian model of a drawn one; `system`: the same with frame="ground", for names and force elements; q, v: the
    start in its coordinates; `options`: of closing the loops."""
    _refuse(model, system)
    seen, tree_work = system.observe(q, v, engine="jit"), system.engine("jit").work
    made = Builder(model, system, tree_work.frame_r.copy())
    for edge in system.spanning_tree.edges:
        if edge.body in system.spanning_tree.floating:
            made.joint(edge.joint)
    for joint in model.joints:
        made.joint(joint)
    for constraint in model.constraints:
        made.constraint(constraint)
    sizes, fields = pattern(made)
    coms = np.array([body.com for body in model.bodies], dtype=float).reshape(len(model.bodies), 3)
    arrays = model_arrays(sizes, fields | _numbers(model, system, made, coms))
    forces = system.layout.scratch()
    forces.R[0], forces.frame_R[:], forces.frame_r[:] = np.eye(3), np.eye(3), tree_work.frame_r
    forces.q[:] = seen.q[0]
    q0, v0 = np.zeros(sizes["nq"]), np.zeros(sizes["nq"])
    v0[sizes["nq"] - sizes["nz"] :] = v[len(v) - sizes["nz"] :]
    names = [body.name for body in model.bodies]
    owners, origins = [row.owner for row in made.rows], np.array(made.origin[: len(names)])
    found = Cartesian(system, arrays, scratch(sizes, options), forces, q0, v0, names, made.link_of, owners, coms, origins)
    _put_bodies(found, seen, tree_work.r)
    _put_turns(found, made, seen)
    _regularise(found)
    return found


def _refuse(model: Model, system: System) -> None:
    """Bodies that have no equations of their own here."""
    arrays, number = system.layout.arrays, {name: i for i, name in enumerate(system.frozen.bodies, start=1)}
    for body in model.bodies:
        if body.flexible is not None:
            raise InputError(f"formulation='cartesian': body {body.name!r} is flexible; it serves rigid bodies only")
        if any(kind.owns(arrays, number[body.name]) for kind in OTHERS):
            raise InputError(f"formulation='cartesian': body {body.name!r} is not rigid; it serves rigid bodies only")
        inertia = inertia_matrix(body)
        if float(body.mass) <= 0 or inertia is None or np.linalg.eigvalsh(inertia)[0] <= 0:
            raise InputError(
                f"formulation='cartesian': body {body.name!r} needs a mass and three moments of inertia > 0, because every "
                "body has its own six degrees of freedom there"
            )


def _numbers(model: Model, system: System, made: Builder, coms: np.ndarray) -> dict[str, Any]:
    """Fields of bodies, links and rows that are no indices; rotors come last among the bodies."""
    tree = [system._body(body.name) for body in model.bodies]
    body_R, body_r = system.frozen.body_R, system.frozen.body_r
    more = made.n - len(tree)
    inner_r = [-coms[k] - body_R[i - 1].T @ body_r[i - 1] for k, i in enumerate(tree)]
    return {
        "tree_body": [*tree, *[-1] * more], "mass": made.mass, "J": made.J, "gravity": model.gravity,
        "inner_R": [*(body_R[i - 1].T for i in tree), *[np.eye(3)] * more], "inner_r": [*inner_r, *[np.zeros(3)] * more],
        "link_s": [s for link in made.links for s in link.s], "link_C": [C for link in made.links for C in link.C],
        "row_value": [(row.value, row.offset, 1.0) for row in made.rows],
    }  # fmt: skip


def _put_bodies(found: Cartesian, seen: Any, r: np.ndarray) -> None:
    """Bodies at the start, where the tree sees them (r: their internal frames); rotors as drawn."""
    arrays, q0, v0 = found.arrays, found.q0, found.v0
    for k in range(len(found.names)):
        i = int(arrays.tree_body[k])
        R, w = seen.rotation[0, i - 1], seen.angular_velocity[0, i - 1]
        p = matrix_to_quaternion(R)
        q0[7 * k : 7 * k + 3], q0[7 * k + 3 : 7 * k + 7] = r[i] - R @ arrays.inner_r[k], p
        v0[7 * k : 7 * k + 3] = seen.velocity[0, i - 1] + np.cross(w, R @ found.coms[k])
        a, b, c, d = p
        E = np.array([[-b, a, -d, c], [-c, d, a, -b], [-d, -c, b, a]])  # w = 2 E p'
        v0[7 * k + 3 : 7 * k + 7] = 0.5 * E.T @ w
    for k in range(len(found.names), int(arrays.n)):
        q0[7 * k + 3] = 1.0


def _put_turns(found: Cartesian, made: Builder, seen: Any) -> None:
    """Angles at the start, with the whole turns that the tree's coordinates have; rotors where their joints are."""
    arrays, work, n = found.arrays, found.work, made.n
    for k, link in enumerate(made.links):
        for part, place in ((TURN, arrays.link_turn[k]), (SECOND, arrays.link_second[k])):
            if link.q >= 0 and place >= 0:
                found.q0[7 * n + place] = seen.q[0, link.q + link.coordinate(part)]
    take(arrays, work, found.system.layout.arrays, found.forces, 0.0, found.q0, found.v0)
    angles(arrays, work, found.q0, found.v0, np.zeros(len(found.q0)))
    for joint, part, own in made.rotors:
        i = 7 * made.links[own].ends[1]
        if part == TURN:
            at, turn = 7 * n + int(arrays.link_turn[own]), 7 * n + int(arrays.link_turn[joint])
            angle, rate = found.q0[turn], found.v0[turn]
            found.q0[at], found.v0[at] = angle, rate
            c, s = np.cos(0.5 * angle), np.sin(0.5 * angle)
            found.q0[[i + 3, i + 6]], found.v0[[i + 3, i + 6]] = (c, s), (-0.5 * rate * s, 0.5 * rate * c)
        else:
            d, u, *_ = relative(arrays, work, joint)
            found.q0[i + 2], found.v0[i + 2] = work.E[0][:, part] @ d, work.E[0][:, part] @ u


def _regularise(made: Cartesian) -> None:
    """eps of the rows: a small part of the mean of Phi_q M^-1 Phi_q^T at the start."""
    model, work, n = made.arrays, made.work, int(made.arrays.n)
    with np.errstate(all="ignore"):
        take(model, work, made.system.layout.arrays, made.forces, 0.0, made.q0, made.v0)
        evaluate_rows(model, work, made.forces)
        masses(model, work)
    blocks = np.zeros((n, 7, 7))
    for i in range(n):
        blocks[i, :3, :3] = np.eye(3) * work.mass[i, 0]
        upper = np.zeros((4, 4))
        upper[np.triu_indices(4)] = work.mass[i, 3:]
        blocks[i, 3:, 3:] = upper + np.triu(upper, 1).T
    inverse = np.linalg.inv(blocks)
    compliance = np.zeros(len(made.row_owner))
    for r in range(len(compliance)):
        for slot in range(4):
            i = int(model.row_body[r, slot])
            if i < n:
                J = work.jacobian[4 * r + slot]
                compliance[r] += J @ inverse[i] @ J
    positive = compliance[compliance > 0]
    mean = float(np.exp(np.mean(np.log(positive)))) if len(positive) else 1.0
    model.row_value[:, REGULARISATION] = EPSILON * np.clip(compliance, 1e-2 * mean, 1e2 * mean)
