"""The mechanisms that speed is measured on."""

from __future__ import annotations

from madi.model.model import Model


def chain(n: int) -> Model:
    """n links of 1 m, hinged in turn about y and x: a spatial chain."""
    m = Model(f"chain {n}")
    parent = m.ground
    for k in range(n):
        link = m.body(f"link{k}", mass=1.0, com=(0.01, 0.02, 0.5), inertia=(0.1, 0.12, 0.15), position=(0, 0, k))
        m.revolute(f"j{k}", parent, link, at=(0, 0, k), axis=(0, 1, 0) if k % 2 == 0 else (1, 0, 0))
        parent = link
    return m


def binary_tree(n: int = 63) -> Model:
    """n links, each carrying two: branches of all lengths up to log2(n)."""
    m = Model(f"binary tree {n}")
    bodies = [m.ground]
    for k in range(n):
        parent = bodies[(k + 1) // 2]
        x, _, z = parent.position if k else (0.0, 0.0, -1.0)
        at = (float(x) + (0.3 if k % 2 else -0.3) * (k > 0), 0.0, float(z) + 1.0)
        link = m.body(f"link{k}", mass=1.0, com=(0.01, 0.02, 0.5), inertia=(0.1, 0.12, 0.15), position=at)
        m.revolute(f"j{k}", parent, link, at=at, axis=(0, 1, 0) if k % 2 == 0 else (1, 0, 0))
        bodies.append(link)
    return m


def six_by_six(printed: bool = True) -> Model:
    """P4's vehicle without tires: chassis, six arms, six wheels; x forward, y up, z right.

    The printed arm inertia breaks the triangle inequality (12.33 + 1.16 < 23.10): no rigid body has it. `printed=False`
    takes the largest third moment that a body can have, for engines that refuse the printed one.
    """
    arm_inertia = (12.33, 1.16, 23.10 if printed else 13.49)
    m = Model("6x6", gravity=(0.0, -9.81, 0.0))
    chassis = m.body("chassis", mass=2575.0, inertia=(242.0, 1270.0, 1170.0))
    m.free("base", m.ground, chassis)
    for row, x in enumerate((0.7, 0.0, -0.7), start=1):
        for side, sign in (("left", -1.0), ("right", 1.0)):
            name, z = f"{side}{row}", 0.45 * sign
            arm = m.body(f"arm_{name}", mass=227.38, inertia=arm_inertia, position=(x + 0.5, 0, z), unphysical=printed)
            m.revolute(f"pivot_{name}", chassis, arm, at=(x, 0, z), axis=(0, 0, 1))
            m.joint_spring(f"spring_{name}", f"pivot_{name}", stiffness=55295.78, damping=2624.79)
            wheel = m.body(f"wheel_{name}", mass=25.0, inertia=(0.54, 0.54, 0.8), position=(x + 1.0, 0, z + 0.15 * sign))
            m.revolute(f"hub_{name}", arm, wheel, at=(x + 1.0, 0, z), axis=(0, 0, 1))
    return m
