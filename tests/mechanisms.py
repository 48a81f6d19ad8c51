"""Mechanisms that several tests use: random ones, states to try them in, and a few by name."""

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


def four_bar(q0=None, v0=None, lengths=(0.3, 1.0, 0.8, 0.9), **joint):
    """A crank-rocker drawn with its crank upright: crank, coupler, rocker, ground, in the plane x, z."""
    crank, coupler, rocker, ground = lengths
    A, B, D = np.zeros(3), np.array([0, 0, crank]), np.array([ground, 0, 0])
    d = D - B
    far = np.linalg.norm(d)
    x = (coupler**2 - rocker**2 + far**2) / (2 * far)
    C = B + x * d / far + np.sqrt(coupler**2 - x**2) * np.array([-d[2], 0, d[0]]) / far
    m = madi.Model("four-bar")
    for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        length = np.linalg.norm(Q - P)
        z = (Q - P) / length
        m.body(name, length, inertia=(length**3 / 12, length**3 / 12, length**3 / 900), position=(P + Q) / 2,
               orientation=np.column_stack([np.cross((0, 1, 0), z), (0, 1, 0), z]))  # fmt: skip
    m.revolute("A", m.ground, "crank", at=A, axis=(0, 1, 0), q0=q0, v0=v0, **joint)
    m.revolute("B", "crank", "coupler", at=B, axis=(0, 1, 0))
    m.revolute("C", "coupler", "rocker", at=C, axis=(0, 1, 0))
    m.revolute("D", m.ground, "rocker", at=D, axis=(0, 1, 0))
    return m


def pendulum(at=(0.0, 0.0, 0.0), **given):
    m = madi.Model("pendulum")
    place = np.asarray(at, dtype=float)
    m.body("bob", 1.0, inertia=(0.1, 0.1, 0.1), position=place + (0, 0, -0.3))
    m.revolute("A", m.ground, "bob", at=place, axis=(0, 1, 0), **given)
    return m


def double_pendulum(at):
    o = np.asarray(at, dtype=float)
    m = madi.Model("double pendulum")
    m.body("upper", 1.0, inertia=(0.08, 0.08, 0.001), position=o + (0, 0, -0.5))
    m.body("lower", 0.5, inertia=(0.04, 0.04, 0.001), position=o + (0, 0, -1.5))
    m.revolute("A", m.ground, "upper", at=o, axis=(0, 1, 0), q0=1.2)
    m.revolute("B", "upper", "lower", at=o + (0, 0, -1), axis=(0, 1, 0))
    m.spring_damper(
        "k", m.ground, "lower", at=(o + (0.5, 0, 0), o + (0, 0, -1.5)), stiffness=100.0, damping=1.0, free_length=0.5
    )
    return m


def far_four_bar(at):
    o = np.asarray(at, dtype=float)
    m = madi.Model("four-bar")
    A, B, C, D = (o + p for p in ((0, 0, 0), (0, 0, 0.25), (0.5, 0, 0.75), (1, 0, 0)))
    for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        m.body(name, 1.0, inertia=(0.05, 0.05, 0.05), position=(P + Q) / 2)
    m.revolute("A", m.ground, "crank", at=A, axis=(0, 1, 0), v0=2.0)
    m.revolute("B", "crank", "coupler", at=B, axis=(0, 1, 0))
    m.revolute("C", "coupler", "rocker", at=C, axis=(0, 1, 0))
    m.revolute("D", m.ground, "rocker", at=D, axis=(0, 1, 0))
    return m


def four_bar_in_space():
    """A spatial loop (revolute, ball, ball, revolute) whose crank carries a spring and a damper; redundant nowhere."""
    m = madi.Model("spatial four-bar", gravity=(0, 0, -9.81))
    m.body("crank", 1.0, inertia=(0.02, 0.03, 0.04), position=(0.2, 0, 0))
    m.body("coupler", 1.5, inertia=(0.05, 0.08, 0.06), position=(0.7, 0.2, 0.3))
    m.body("rocker", 1.2, inertia=(0.04, 0.03, 0.05), position=(1.2, 0.5, 0.4))
    m.revolute("A", m.ground, "crank", at=(0, 0, 0), axis=(0, 0.2, 1), v0=2.0)
    m.spherical("B", "crank", "coupler", at=(0.4, 0, 0))
    m.spherical("C", "coupler", "rocker", at=(1.0, 0.4, 0.6))
    m.revolute("D", "rocker", m.ground, at=(1.4, 0.6, 0.2), axis=(0.3, 1, 0))
    m.joint_spring("k", "A", stiffness=20.0, damping=0.2, rest=0.3)
    return m


def sprung_double_pendulum():
    m = madi.Model("double pendulum")
    for k, name in enumerate("ab"):
        m.body(name, mass=1.0 + k, inertia=(0.05, 0.1, 0.06), position=(0, 0, -1 - k))
    m.revolute("A", m.ground, "a", at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("B", "a", "b", at=(0, 0, -1), axis=(0, 1, 0))
    m.joint_spring("s", "B", stiffness=5.0, damping=0.3)
    return m


def pinned_bob(**body):
    m = madi.Model("pendulum")
    given = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1), "position": (0, 0, -1)} | body
    m.body("bob", **given)
    m.revolute("pin", m.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
    return m
