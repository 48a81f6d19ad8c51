"""Random mechanisms, and states to try them in."""

from __future__ import annotations

import numpy as np

import madi
from madi.joints import KINDS

KINDS_ALL = ("revolute", "prismatic", "screw", "cylindrical", "universal", "spherical", "planar", "fixed", "free")


def unit(rng):
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def rotation(rng):
    q = rng.normal(size=4)
    return q / np.linalg.norm(q)


def random_inertia(rng, mass, size=0.4):
    """Inertia of a cloud of points: always that of a possible body."""
    points = rng.normal(size=(6, 3)) * size
    points -= points.mean(axis=0)
    weights = mass / 6
    return sum(weights * (np.dot(p, p) * np.eye(3) - np.outer(p, p)) for p in points)


def add_joint(m, rng, kind, name, parent, child, at):
    if kind in ("revolute", "prismatic", "cylindrical", "planar"):
        getattr(m, kind)(name, parent, child, at=at, axis=unit(rng))
    elif kind == "screw":
        m.screw(name, parent, child, at=at, axis=unit(rng), pitch=rng.normal())
    elif kind == "universal":
        a = unit(rng)
        m.universal(name, parent, child, at=at, axes=(a, np.cross(a, unit(rng))))
    else:
        getattr(m, kind)(name, parent, child, at=at)


def random_tree(rng, n, kinds=KINDS_ALL, moving=False, reverse=0.0, chain=0.5, forces=False):
    """A tree of n bodies; `reverse`: share of joints drawn against the tree; `chain`: how often a body hangs on the last."""
    m = madi.Model("random", gravity=rng.normal(size=3) * 5)
    bodies = [m.ground]
    for i in range(n):
        mass = rng.uniform(0.5, 3)
        body = m.body(
            f"b{i}", mass=mass, com=rng.normal(size=3) * 0.3, inertia=random_inertia(rng, mass),
            position=rng.normal(size=3), orientation=rotation(rng),
        )  # fmt: skip
        if i == 0:
            kind = "free" if moving else rng.choice([k for k in kinds if k not in ("free", "fixed")])
            parent = m.ground
        else:
            kind = rng.choice([k for k in kinds if k != "free"])
            parent = bodies[-1] if rng.random() < chain else bodies[rng.integers(1, len(bodies))]
        ends = (parent, body)
        if rng.random() < reverse:
            ends = (body, parent)
        at = np.asarray(parent.position) + rng.normal(size=3) * 0.5
        add_joint(m, rng, kind, f"j{i}", *ends, at)
        bodies.append(body)
    if forces:
        add_forces(m, rng, bodies)
    return m


def add_forces(m, rng, bodies):
    moving = bodies[1:]
    for k in range(3):
        a, b = (
            (bodies[j] for j in rng.choice(len(bodies), size=2, replace=False)) if len(bodies) > 2 else (moving[0], m.ground)
        )
        m.spring_damper(f"s{k}", a, b, at=(rng.normal(size=3), rng.normal(size=3)), stiffness=rng.uniform(1, 50),
                        damping=rng.uniform(0, 5), free_length=rng.uniform(0, 2))  # fmt: skip
    m.force("f", moving[-1], rng.normal(size=3), at=rng.normal(size=3))
    m.torque("t", moving[0], rng.normal(size=3))
    for joint in m.joints:
        kind = KINDS[joint.kind]
        if kind.quaternion is None and kind.nv > 0:
            part = kind.coordinates[-1]
            name = f"{joint.name}.{part}" if part else joint.name
            m.joint_spring("js", name, stiffness=3.0, damping=0.7, rest=0.2)
            m.joint_torque("jt", name, 1.3)
            break


def random_state(rng, s, speed=1.0):
    """Coordinates (quaternions of unit length), speeds, and generalised forces."""
    q = rng.normal(size=s.nq)
    for joint in s.frozen.joints:
        at = KINDS[joint.kind].quaternion
        if at is not None:
            part = slice(s.q_slice(joint.name).start + at, s.q_slice(joint.name).start + at + 4)
            q[part] /= np.linalg.norm(q[part])
    return q, speed * rng.normal(size=s.nv), rng.normal(size=s.nv)


def difference(a, b):
    """Largest difference relative to the largest entry."""
    a, b = np.asarray(a), np.asarray(b)
    return float(np.max(np.abs(a - b), initial=0.0) / max(np.max(np.abs(b), initial=0.0), 1e-300))


def moved(s, q, theta):
    """q moved by theta in its chart."""
    from madi.joints.chart import retract

    out = np.array(q, dtype=float)
    retract(s.layout.arrays, np.asarray(q, float), np.asarray(theta, float), out)
    return out


def close_loops(m, rng, freedoms, most=3, joints=True):
    """Add loops to a drawn tree, at most as many constraints as leave one freedom: cut joints and constraints of all kinds.
    In the drawing every loop is closed."""
    from madi.topology.graph import spanning_tree

    bodies = [m.ground, *m.bodies]
    one_axis = [j.name for j in m.joints if j.kind in ("revolute", "prismatic", "screw")]
    left = freedoms - 1
    for k in range(most):
        choices = [("distance", 1), ("point_on_plane", 1), ("point_on_line", 2)]
        if joints:
            choices += [
                ("spherical", 3),
                ("universal", 4),
                ("cylindrical", 4),
                ("planar", 3),
                ("revolute", 5),
                ("prismatic", 5),
            ]
            choices += [("fixed", 6), ("screw", 5)]
        if len(one_axis) >= 2:
            choices.append(("coupler", 1))
        kind, cost = choices[rng.integers(len(choices))]
        if cost > left:
            continue
        a, b = (bodies[j] for j in rng.choice(len(bodies), size=2, replace=False))
        at, name = rng.normal(size=3), f"loop{k}"
        if kind == "distance":
            m.distance(name, a, b, at=(at, rng.normal(size=3)))
        elif kind == "point_on_plane":
            m.point_on_plane(name, a, b, at=at, normal=unit(rng))
        elif kind == "point_on_line":
            m.point_on_line(name, a, b, at=at, axis=unit(rng))
        elif kind == "coupler":
            first, second = rng.choice(one_axis, size=2, replace=False)
            m.coupler(name, str(first), str(second), ratio=rng.uniform(0.3, 2.0))
        else:
            add_joint(m, rng, kind, name, a, b, at)
            m.joints[-1].cut = True
        left -= cost
    return spanning_tree(m)
