"""How a body lies and moves as its driver would say it: roll, pitch, yaw, side slip, and vectors along its own axes.

ISO 8855: from the ground, yaw about the vertical, then pitch about the axis to the left as it is then, then roll about the
body's own forward axis; R = Rz(yaw) Ry(pitch) Rx(roll) in (forward, left, up). Side slip is the angle from the heading to
the horizontal velocity, > 0 to the left. Up is against gravity (z without it); forward is x, or y where x is up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from madi.results.cuts import with_turns
from madi.spatial.rotation import quaternions_to_matrices

ANGLES = ("roll", "pitch", "yaw", "slip")
_VECTORS = {"v": "velocity", "a": "acceleration", "w": "angular_velocity"}
OF_BODY = {f"{kind}{axis}_body": (name, k) for kind, name in _VECTORS.items() for k, axis in enumerate("xyz")}
UNBOUNDED = 1e9  # rad/s: the rate of yaw of a body that points straight up, where it has none
PARTS = (*ANGLES, *OF_BODY)


def up_axis(gravity: Any) -> str:
    """The axis gravity pulls against, by name: "z", "-y", ..."""
    g = np.asarray(gravity, dtype=float)
    k = int(np.argmax(np.abs(g)))
    return "z" if not np.any(g) else ("-" if g[k] > 0 else "") + "xyz"[k]


def level_axes(up: str) -> np.ndarray:
    """Forward, left and up as columns."""
    k = "xyz".index(up[-1])
    vertical = np.eye(3)[k] * (-1.0 if up.startswith("-") else 1.0)
    forward = np.eye(3)[1 if k == 0 else 0]
    return np.column_stack([forward, np.cross(vertical, forward), vertical])


def attitude(data: Any, body: str, part: str) -> tuple[np.ndarray, str]:
    """One of PARTS of a body over time, and its unit."""
    one = data.sel(body=body)
    E = level_axes(str(data.attrs.get("up", "z")))
    R = quaternions_to_matrices(one["orientation"].values)
    if part in OF_BODY:
        variable, k = OF_BODY[part]
        return np.einsum("tj,tj->t", R[..., k], one[variable].values), one[variable].attrs["units"]
    seen = E.T @ R @ E  # in (forward, left, up), body axes alike
    roll, pitch = np.arctan2(seen[:, 2, 1], seen[:, 2, 2]), -np.arcsin(np.clip(seen[:, 2, 0], -1.0, 1.0))
    if part in ("roll", "pitch"):
        return (roll if part == "roll" else pitch), "rad"
    yaw = np.arctan2(seen[:, 1, 0], seen[:, 0, 0])
    if part == "yaw":
        w = np.einsum("tji,tj->ti", seen, one["angular_velocity"].values @ E)  # along the body's axes
        with np.errstate(all="ignore"):
            rate = (w[:, 1] * np.sin(roll) + w[:, 2] * np.cos(roll)) / np.cos(pitch)
        rate = np.nan_to_num(rate, posinf=UNBOUNDED, neginf=-UNBOUNDED)
        return with_turns(data["time"].values, yaw, rate, getattr(data, "runs", 1)), "rad"
    v = one["velocity"].values @ E
    ahead, left = np.cos(yaw) * v[:, 0] + np.sin(yaw) * v[:, 1], np.cos(yaw) * v[:, 1] - np.sin(yaw) * v[:, 0]
    return np.arctan2(left, ahead), "rad"
