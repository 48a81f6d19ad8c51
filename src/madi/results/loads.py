"""Loads of joints along the axes a user asks for: the ground's, either body's, or the joint's own.

A run records loads in ground axes; beside them stands what is needed to turn them: the two bodies of each joint, and the
joint's axes (z along its axis) as they are fixed to its parent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError
from madi.joints import KINDS
from madi.model.elements import Joint, body_name
from madi.spatial.rotation import as_rotation, quaternions_to_matrices

if TYPE_CHECKING:
    from madi.system import System

WORDS = ("ground", "parent", "child", "joint")
COMPONENTS = {f"{kind}{axis}": (f"reaction_{what}", k) for kind, what in (("f", "force"), ("m", "moment"))
              for k, axis in enumerate("xyz")}  # fmt: skip
PARTS = {f"{part}_{word}": (variable, k, word) for word in WORDS for part, (variable, k) in COMPONENTS.items()}


def asked(reactions: Any) -> dict[str, str]:
    """{joint: axes} of what `simulate(reactions=...)` was given: a name, a list of names, or {name: axes}."""
    if reactions is None or isinstance(reactions, str):
        return {} if reactions is None else {reactions: "ground"}
    if not isinstance(reactions, Iterable):
        raise InputError(f"reactions={reactions!r}: give a list of names, or {{name: axes}}")
    if not isinstance(reactions, Mapping):
        return {name: "ground" for name in dict.fromkeys(reactions)}
    for name, word in reactions.items():
        if word not in WORDS:
            raise InputError(f"reactions: axes {word!r} of {name!r}: choose one of {', '.join(WORDS)}")
    return dict(reactions)


def described(system: System, reactions: Mapping[str, str]) -> tuple[dict[str, Any], np.ndarray]:
    """(coordinates along "joint", axes of each joint in its parent's as drawn; NaN where an element has none)."""
    model = system.model
    drawn = {body.name: body for body in model.bodies}
    known = {e.name: e for e in (*system.frozen.joints, *model.constraints, *model.joints)}
    ends: list[tuple[str, str]] = []
    frames = np.full((len(reactions), 3, 3), np.nan)
    for k, (name, word) in enumerate(reactions.items()):
        element = known.get(name)
        if element is None:
            system.load_of(name)  # tells what there is
            ends.append(("ground", "ground"))
            continue
        pair = (element.parent, element.child) if isinstance(element, Joint) else (element.a, element.b)
        bodies = [str(body_name(end)).partition("@")[0] for end in pair]
        ends.append((bodies[0] if bodies[0] in drawn else "ground", bodies[1] if bodies[1] in drawn else "ground"))
        if isinstance(element, Joint):
            frames[k] = _axes(element, *(drawn.get(body, model.ground) for body in bodies))
        if word == "joint" and np.isnan(frames[k]).any():
            raise InputError(f"reactions: {no_axes(name)}")
    words = {"joint_parent": [a for a, _ in ends], "joint_child": [b for _, b in ends],
             "reaction_axes": list(reactions.values())}  # fmt: skip
    return {name: ("joint", np.array(values, dtype=str)) for name, values in words.items()}, frames


def no_axes(name: str) -> str:
    """Why a load has no joint's axes."""
    return f"{name!r} has no axes of its own, or they bend with its parent; choose ground, parent or child"


def _axes(joint: Joint, parent: Any, child: Any) -> np.ndarray:
    """A joint's axes in its parent's as drawn; NaN where the parent bends, and its axes with it."""
    from madi.topology.frames import joint_frame

    if KINDS[joint.kind].bends or getattr(parent, "flexible", None) is not None:
        return np.full((3, 3), np.nan)
    return as_rotation(parent.orientation, parent.name).T @ joint_frame(joint, child, False).R


def load_parts(data: Any, joint: str) -> list[str]:
    """Endings of a joint's signals: components along its own choice of axes, sizes, components along all axes it has."""
    parts = [*COMPONENTS, "force", "moment"]
    if "joint_parent" not in data.coords:
        return parts
    own = bool(np.isfinite(data["joint_frame"].sel(joint=joint).values).all())
    return parts + [part for part, (_, _, word) in PARTS.items() if own or word != "joint"]


def component(data: Any, joint: str, variable: str, k: int, word: str | None = None) -> np.ndarray:
    """Component k of a load over time, along `word`'s axes; None: along those that were asked for."""
    one = data.sel(joint=joint)
    word = str(one["reaction_axes"].values) if word is None and "reaction_axes" in data.coords else word or "ground"
    vectors = one[variable].values
    if word == "ground":
        return vectors[:, k]
    if "joint_parent" not in data.coords:
        raise InputError(f"{joint!r}: this run was made before loads could be turned; only ground axes are in it")
    body = str(one["joint_child" if word == "child" else "joint_parent"].values)
    R = np.eye(3)[None]
    if body != "ground":
        R = quaternions_to_matrices(data["orientation"].sel(body=body).values)
    if word == "joint":
        R = R @ one["joint_frame"].values
        if np.isnan(R).any():
            raise InputError(no_axes(joint))
    return np.einsum("tj,tj->t", np.broadcast_to(R[..., k], vectors.shape), vectors)
