"""Bricard's mechanism (IFToMM A04): five rods, six revolutes, Grübler counts 0, yet it moves with one degree of freedom.

Rods 1 m x 0.1 x 0.1 m of 1 kg, starting at rest under gravity along -y. The reference positions of P3 were computed along
two independent routes (exact closure and quadrature; integration to 1e-13) that agree to 12 digits.
"""

from __future__ import annotations

import numpy as np

from madi.model.model import Model

POINTS = [(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)]
AXES = ["y", "z", "x", "y", "z", "x"]
# t: P3
REFERENCE = {
    0.5: (0.774717808039233441, -0.979815047655668989, -0.199906158953442723),
    1.0: (0.274481319264623041, -0.886707938734672018, -0.462330002687376038),
    2.0: (-0.778135373033290889, -0.980352683443256555, -0.197252670617170617),
    3.0: (-0.771281358968610029, -0.979269329839800279, -0.202562532653767059),
    4.0: (0.283551079081742926, -0.888022814123046715, -0.459799392775789585),
    6.0: (0.265400787358655604, -0.885425562014738214, -0.464781211034702836),
    8.0: (-0.764352602233655716, -0.978153794409671054, -0.207882549729319444),
    9.0: (0.292609586137719557, -0.889369143277640329, -0.457189815050156239),
    10.0: (0.999730987303835347, -0.999999963825817275, -0.000268976512249304597),
}


def model() -> Model:
    """Drawn as it starts."""
    m = Model("Bricard", gravity=(0.0, -9.81, 0.0))
    unit = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
    bodies = [m.ground]
    for k in range(5):
        a, b = np.array(POINTS[k], dtype=float), np.array(POINTS[k + 1], dtype=float)
        inertia = np.where(np.abs(b - a) > 0.5, 1 / 600, 1.01 / 12)
        bodies.append(m.body(f"rod{k + 1}", 1.0, inertia=inertia, position=(a + b) / 2))
    for k in range(5):
        m.revolute(f"P{k + 1}", bodies[k], bodies[k + 1], at=POINTS[k], axis=unit[AXES[k]])
    m.revolute("P6", m.ground, bodies[5], at=POINTS[5], axis=unit[AXES[5]])
    return m


def corner(data: object) -> np.ndarray:
    """P3 over time: the end of rod 2, from its pose."""
    from scipy.spatial.transform import Rotation

    rod = data.sel(body="rod2")  # type: ignore[attr-defined]
    turn = Rotation.from_quat(rod["orientation"].values[:, [1, 2, 3, 0]])
    return rod["position"].values + turn.apply((0.0, -0.5, 0.0))
