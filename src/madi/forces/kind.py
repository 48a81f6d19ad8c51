"""What a force element tells the rest of the package about itself, and what its kernels share."""

from __future__ import annotations

from dataclasses import dataclass

from madi.dynamics.kinematics import from_ground, point, point_velocity, to_ground
from madi.kernel import apart, inline, kernel


@dataclass(frozen=True)
class ForceKind:
    """Name, integer code, names of the reals it reads, and how many signals (functions of time and state) it reads."""

    name: str
    code: int
    parameters: tuple[str, ...] = ()
    signals: int = 0
    law: bool = False  # its signals may depend on the length of its line and its rate
    value: str = ""  # what work.force[e, 0] is
    unit: str = "N"
    ends: int = 0  # bodies it acts on (0: a joint's coordinate, or no part of the mechanism)
    positive: tuple[str, ...] = ()  # parameters that must be > 0
    states: tuple[tuple[str, str], ...] = ()  # first-order states of its own: name ("": the element's) and unit of each

    @property
    def on_joint(self) -> bool:
        """Whether it acts on a joint's coordinate."""
        return self.ends == 0 and not self.states


@inline
def seen_from(model, a, b):
    """The reference frame from whose origin an element between bodies a and b measures places: near both of them."""
    return model.frame[a if a > 0 else b]


@kernel
def point_state(model, work, i, s, common, o):
    """Position and velocity of the point parameter[s:s+3] of body i: in the reference frame both ends share (common), or
    in ground axes, from the origin of reference frame o (0: the ground's own)."""
    p = model.parameter
    x, y, z = point(work, i, p[s], p[s + 1], p[s + 2])
    u, v, w = point_velocity(work, i, x, y, z)
    if not common:
        f = model.frame[i]
        x, y, z = to_ground(work, f, x, y, z)
        O = work.frame_r
        x, y, z = x + apart(O[f, 0], O[o, 0]), y + apart(O[f, 1], O[o, 1]), z + apart(O[f, 2], O[o, 2])
        u, v, w = to_ground(work, f, u, v, w)
    return x, y, z, u, v, w


@kernel
def add_force(work, i, x, y, z, f0, f1, f2):
    """Add a force at the reference coordinates (x, y, z), in reference axes, to body i."""
    Q = work.Q
    Q[i, 0], Q[i, 1], Q[i, 2] = Q[i, 0] + f0, Q[i, 1] + f1, Q[i, 2] + f2
    Q[i, 3] = Q[i, 3] + (y * f2 - z * f1)
    Q[i, 4] = Q[i, 4] + (z * f0 - x * f2)
    Q[i, 5] = Q[i, 5] + (x * f1 - y * f0)


@kernel
def add_force_at(model, work, i, s, f0, f1, f2, common):
    """Add a force at the point parameter[s:s+3] of body i; its axes are the ground's unless `common`."""
    p = model.parameter
    if i > 0:
        if not common:
            f0, f1, f2 = from_ground(work, model.frame[i], f0, f1, f2)
        x, y, z = point(work, i, p[s], p[s + 1], p[s + 2])
        add_force(work, i, x, y, z, f0, f1, f2)
