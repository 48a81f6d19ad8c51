"""The mechanisms that speed is measured on."""

from __future__ import annotations

from madi.model.model import Model
from madi.papers.six_by_six import vehicle


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
    """P4's vehicle without tires, its wheels at the arms' far ends.

    `printed=False`: for engines that refuse the printed inertia of the arms, which no rigid body has.
    """
    m = vehicle(tires=False, printed=printed, hub_at=1.0)
    m.name = "6x6"
    return m
