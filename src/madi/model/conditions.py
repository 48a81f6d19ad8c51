"""Do the shapes of a beam fit the joints it hangs on? Shapes that cannot carry a joint's load do not converge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import Finding
from madi.model.elements import Body, Joint, body_name
from madi.spatial.rotation import as_rotation

if TYPE_CHECKING:
    from madi.model.model import Model

WORDS = {"y": "x-y", "z": "x-z"}


def conditions(model: Model) -> Iterator[Finding]:
    """What does not fit, for every beam that is strict."""
    for body in model.bodies:
        if body.flexible is not None and getattr(body.flexible, "strict", False):
            yield from _beam(model, body)


def _beam(model: Model, body: Body) -> Iterator[Finding]:
    L, where = body.flexible.length, f"body {body.name!r}"
    R = as_rotation(body.orientation, body.name)
    joints = [
        (joint, _along(body, R, joint, _place(model, joint)))
        for joint in model.joints
        if _touches(body, joint.parent, joint.child)
    ]
    joints = [(joint, x) for joint, x in joints if joint.kind != "free"]
    held = [x for _, x in joints]
    elements: list[Any] = [*model.forces, *model.constraints]
    for element in elements:
        for k, end in enumerate((element.a, element.b)):
            if _touches(body, end):
                held.append(_along(body, R, end, element.at[min(k, len(element.at) - 1)] if element.at else None))
    softly = any(e.kind == "bushing" and _touches(body, e.a, e.b) for e in elements)
    floating = softly or any(j.kind == "free" and _touches(body, j.parent, j.child) for j in model.joints)
    ends: dict[str, dict[float, str]] = {}
    for family, x, kind in body.flexible.ends():
        ends.setdefault(family, {})[x] = kind
    for family, kinds in ends.items():
        plane = f"shapes for bending in its {WORDS[family]} plane"
        free = [x for x, kind in kinds.items() if kind == "free"]
        loose = [(joint, x) for joint, x in joints if any(abs(x - end) < 1e-6 * L for end in free)]
        if joints and len(loose) == len(joints) and not floating:
            joint, x = loose[0]
            yield Finding(
                where, f"its {plane} end free at x = {x:.4g} m: no shear, no moment, but joint {joint.name!r}, its "
                "only hold, is there",
                "Draw the beam from the end that is held (swap start and end), or use polynomials; strict=False accepts it",
            )  # fmt: skip
        for joint, x in joints:
            pinned = any(abs(x - end) < 1e-6 * L and kind == "pinned" for end, kind in kinds.items())
            if pinned and not _turns(joint, R[:, 2] if family == "y" else R[:, 1]):
                yield Finding(
                    where, f"its {plane} are pinned at x = {x:.4g} m: no moment there, but the {joint.kind} joint "
                    f"{joint.name!r} holds its slope",
                    "Use clamped shapes there, or a joint that turns about the bending axis; strict=False accepts it",
                )  # fmt: skip
        if all(kind in ("pinned", "clamped") for kind in kinds.values()):
            for end in kinds:
                if not any(abs(x - end) < 1e-6 * L for x in held):
                    yield Finding(
                        where, f"its {plane} hold the point at x = {end:.4g} m in place, but no joint is there",
                        "Use shapes that are free there (clamped_free, clamped_tip); strict=False accepts it",
                    )  # fmt: skip


def _place(model: Model, joint: Joint) -> Any:
    """Where a joint is: as given, else where its child is."""
    if joint.at is not None:
        return joint.at
    return next((b.position for b in model.bodies if b.name == body_name(joint.child)), None)


def _touches(body: Body, *ends: Any) -> bool:
    return any(body_name(end) == body.name or str(body_name(end)).startswith(f"{body.name}@") for end in ends)


def _along(body: Body, R: np.ndarray, element: Any, at: Any) -> float:
    """x of the place along the beam at which something is attached."""
    names = [str(body_name(end)) for end in ((element.parent, element.child) if isinstance(element, Joint) else (element,))]
    for name in names:
        label = name.partition("@")[2]
        if name.startswith(f"{body.name}@") and label in body.flexible.points:
            return float(body.flexible.points[label])
    point = body.position if at is None else at
    return float(R[:, 0] @ (np.asarray(point, dtype=float) - np.asarray(body.position, dtype=float)))


def _turns(joint: Joint, axis: np.ndarray) -> bool:
    """Whether the joint lets the beam turn about an axis."""
    if joint.kind in ("spherical", "free"):
        return True
    if joint.kind in ("fixed", "prismatic"):
        return False
    axes = [np.asarray(a, dtype=float) for a in joint.axes]
    turn = np.stack([a / np.linalg.norm(a) for a in axes])
    return bool(np.linalg.norm(axis - turn.T @ np.linalg.lstsq(turn.T, axis, rcond=None)[0]) < 1e-6)
