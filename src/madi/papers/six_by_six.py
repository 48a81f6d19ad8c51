"""P4: a 6x6 vehicle over bumps in real time; chassis-local frame, code made for the model, implicit Newmark.

Printed: 13 bodies (chassis, six arms, six wheels), 12 revolute joints, 18 degrees of freedom; axes x forward, y up, z right;
masses, inertias, places of the arms, springs, tire radius, stiffness and damping; 5 m/s, 5.5 s, half-ellipse bumps.
As printed, the arm's inertia breaks the triangle inequality (12.33 + 1.16 < 23.10): used with `unphysical=True`.
Not printed, and ours to choose:
- the hub's place on the arm: at the arm's centre, 0.5 m from its joint. At the arm's far end the centre of gravity would be
  behind the rear axle, and the vehicle would tip over;
- slip stiffness 30 kN, cornering stiffness 40 kN/rad, friction 0.8, low speed 0.5 m/s (forces/tire.py);
- the bump: 1.6 m long and 0.1 m high, 8 m ahead on the left, 0.5 m later on the right; felt by a disc (nine places);
- the start: at rest on springs and tires, then set in motion with rolling wheels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.model.model import Model
from madi.system import System
from madi.vehicle.road import Road, flat

SPEED, DURATION = 5.0, 5.5
ARM, HUB = 0.5, 0.5  # m from the arm's joint: its centre, and the wheel's hub
SPRING, DAMPER = 55295.78, 2624.79
RADIUS, TIRE, TIRE_DAMPING = 0.2, 175000.0, 2000.0
SLIP, CORNERING, FRICTION = 30e3, 40e3, 0.8
BUMP = {"at": 8.0, "half_length": 0.8, "height": 0.1}
SHIFT = 0.5
GROUND = -0.2  # level of the road below the chassis' centre as drawn


def road(bumps: bool = True) -> Road:
    """The road of the experiment: level, with one bump, later on the right."""
    level = flat(GROUND, forward=(1, 0, 0), up=(0, 1, 0))
    return level.half_ellipse(**BUMP).two_sided(SHIFT) if bumps else level


def vehicle(on: Road | None = None, tires: bool = True, printed: bool = True, places: int = 9) -> Model:
    """P4's vehicle. `printed=False`: the largest third moment of the arm that a body can have."""
    on = road() if on is None else on
    m = Model("6x6 vehicle", gravity=(0.0, -9.81, 0.0))
    chassis = m.body("chassis", mass=2575.0, inertia=(242.0, 1270.0, 1170.0))
    m.free("base", m.ground, chassis)
    for row, x in enumerate((0.7, 0.0, -0.7), start=1):
        for side, sign in (("left", -1.0), ("right", 1.0)):
            name, z, hub = f"{side}{row}", 0.45 * sign, (x + HUB, 0.0, 0.6 * sign)
            inertia = (12.33, 1.16, 23.10 if printed else 13.49)
            arm = m.body(f"arm_{name}", mass=227.38, inertia=inertia, position=(x + ARM, 0, z), unphysical=printed)
            m.revolute(f"pivot_{name}", chassis, arm, at=(x, 0, z), axis=(0, 0, 1))
            m.joint_spring(f"spring_{name}", f"pivot_{name}", stiffness=SPRING, damping=DAMPER)
            wheel = m.body(f"wheel_{name}", mass=25.0, inertia=(0.54, 0.54, 0.8), position=hub)
            m.revolute(f"hub_{name}", arm, wheel, at=(x + HUB, 0, z), axis=(0, 0, 1))
            if tires:
                m.tire(f"tire_{name}", wheel, hub, (0, 0, 1), RADIUS, TIRE, TIRE_DAMPING, slip_stiffness=SLIP,
                       cornering_stiffness=CORNERING, friction=FRICTION, road=on, places=places)  # fmt: skip
    return m


def start(system: System, speed: float = SPEED) -> tuple[np.ndarray, np.ndarray]:
    """(q, v): at rest on springs and tires (Newton on heave, pitch and arm angles), then moving with rolling wheels."""
    from scipy.optimize import root

    arms = [system.q_slice(f"pivot_{side}{row}").start for row in (1, 2, 3) for side in ("left", "right")]
    columns = [1, 5, *(system.v_slice(f"pivot_{side}{row}").start for row in (1, 2, 3) for side in ("left", "right"))]

    def placed(x: np.ndarray) -> np.ndarray:
        q = system.q0
        q[1], q[3], q[6] = x[0], np.cos(x[1] / 2), np.sin(x[1] / 2)
        q[arms] = x[2:]
        return q

    def unbalanced(x: np.ndarray) -> Any:
        still = np.zeros(system.nv)
        return system.inverse_dynamics(placed(x), still, still, engine="plain")[columns] / 1e4

    found = root(unbalanced, np.array([-0.06, 0.0, *[0.03] * 6]), tol=1e-13)
    q, v = placed(found.x), np.zeros(system.nv)
    pitch = found.x[1]
    v[0], v[1] = speed * np.cos(pitch), -speed * np.sin(pitch)
    for side in ("left", "right"):
        for row in (1, 2, 3):
            height = system.body_pose(q, f"wheel_{side}{row}", engine="plain")[0][1] - GROUND
            v[system.v_slice(f"hub_{side}{row}")] = -speed / height
    return q, v
