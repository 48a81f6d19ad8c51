"""What joint and constraint files say of themselves (`parts`, `absolute`; joints/kind.py), as numbers for the kernels."""

from __future__ import annotations

from madi.joints.kind import JointKind

# rows: a coordinate of a point, axis normal to axis (Haug's dot-1), to the line between the origins (dot-2), ...
POINT, DOT1, DOT2, DISTANCE, MEASURE, HELIX, COUPLER = range(7)
# parts of a joint's motion; those of the slides are axes
X, Y, Z, TURN, SECOND, SHIFT, BALL = range(7)
AXES = {"x": X, "y": Y, "z": Z}
PARTS = {**AXES, "turn": TURN, "second": SECOND, "shift": SHIFT, "ball": BALL}
MEASURED = (X, Y, Z, TURN)  # parts that rows can hold, drive and couple
ROWS = {
    **{a: (POINT, i, 0) for a, i in AXES.items()}, **{a + b: (DOT1, i, j) for a, i in AXES.items() for b, j in AXES.items()},
    **{a + "d": (DOT2, i, 0) for a, i in AXES.items()}, "distance": (DISTANCE, 0, 0), "screw": (HELIX, Z, TURN),
    "coupler": (COUPLER, 0, 0),
}  # fmt: skip


def parts(kind: JointKind) -> list[tuple[int, int, int]]:
    """(part, its first coordinate, its first speed) of a joint's motion."""
    found, coordinate, speed = [], 0, 0
    for word in kind.parts.split():
        part = PARTS[word]
        found.append((part, coordinate, speed))
        coordinate, speed = coordinate + coordinates(part), speed + speeds(part)
    return found


def coordinates(part: int) -> int:
    """How many coordinates a part has."""
    return {SHIFT: 3, BALL: 4}.get(part, 1)


def speeds(part: int) -> int:
    """How many speeds a part has."""
    return 3 if part in (SHIFT, BALL) else 1


def measures(kind: JointKind) -> list[int]:
    """The parts of a joint, one a coordinate, if rows can measure all of them; else none."""
    found = [part for part, _, _ in parts(kind)]
    return found if all(part in MEASURED for part in found) else []
