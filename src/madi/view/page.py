"""A run as one HTML file that needs nothing else: scene, poses, signals and script."""

from __future__ import annotations

import base64
import html
import json
import re
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError, MadiError, positive_number
from madi.forces import KINDS as FORCES
from madi.joints import KINDS
from madi.model.elements import body_name
from madi.results.flexible import centre_line
from madi.results.run import Run
from madi.results.signals import listed, names, panels, signal
from madi.spatial.rotation import NO_LENGTH, turn_by_quaternion
from madi.view.scene import Scene, graph, lines_of_forces

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.system import System

RATE, MOST_FRAMES = 60.0, 1800  # frames per second of the run, and in all
MOST_PUSHES = 60  # contacts that have arrows
MOST_MOTION = 8_000_000  # bytes of poses and arrows: of many bodies fewer frames are shown
MOST_SIGNALS = 2_000_000  # bytes of signals in the page
MOST_LISTED = 2000  # signals in its list, beside those asked for
MOST_SAMPLES = 1500  # of a signal: of longer ones the least and the largest of every piece are kept
MOVES = 1e-9  # m or rad: less is rounding
BEAM_POINTS = 25
SPEEDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)


def page(
    run: Run, signals: Any = None, follow: str | None = None, trace: str | None = None, speed: float | None = None
) -> str:
    """The page. `signals`: names, each list of them a panel; `follow`: the body the camera follows; `trace`: the body, or
    named point of a flexible one ("link@tip"), whose way is drawn; `speed` of the animation (default: it lasts some
    seconds)."""
    if run.model is None:
        raise InputError(
            "this run does not know its model, so there is nothing to draw: simulate anew, or save it with run.save"
        )
    if not len(run.data["time"]):
        raise InputError("this run has no outputs; there is nothing to show")
    span = float(run.data["time"][-1] - run.data["time"][0])
    usual = max((s for s in SPEEDS if s <= 1 and span / s >= 2.0), default=SPEEDS[0])
    data = _made(run, signals, follow, trace, usual if speed is None else positive_number(speed, "speed"))
    static = resources.files("madi.view") / "static"
    text = json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    parts = {name: (static / name).read_text(encoding="utf-8") for name in ("page.html", "page.css", "page.js")}
    contents = {"title": html.escape(data["name"]), "style": parts["page.css"], "script": parts["page.js"], "run": text}
    # in one go: what is put in may look like a mark itself
    return re.sub(r"\{\{(title|style|script|run)\}\}", lambda mark: contents[mark[1]], parts["page.html"])


def packed(array: Any) -> str:
    """32-bit floats in base64."""
    return base64.b64encode(np.ascontiguousarray(array, dtype="<f4").tobytes()).decode("ascii")


def _made(run: Run, signals: Any, follow: str | None, trace: str | None, speed: float) -> dict[str, Any]:
    model, data = run.model, run.data
    assert model is not None
    system = model.build()
    span = np.ptp(data["position"].values.reshape(-1, 3), axis=0)
    scene = Scene(model, listed(data, "body"), float(np.linalg.norm(np.nan_to_num(span))))
    pick, times = _frames(data["time"].values, _numbers_per_frame(run, scene))
    poses = _poses(data, scene.names, pick)
    up = _up(model)
    centres = _centres(scene, poses)
    lines = [_flexible(scene, run, name, pick) for name in scene.names if scene.bodies[name].flexible is not None]
    everything = np.concatenate([centres.reshape(-1, 3), *(line["points"].reshape(-1, 3) for line in lines)])
    points = [name for name in listed(data, "body") if "@" in name and not name.endswith("@frame")]  # of flexible bodies
    followed = _number(scene, follow, "follow") if follow else _leader(scene, centres)
    made = _signals(run, signals, pick, up, scene)
    return {
        "name": str(model.name), "about": _about(run), "size": scene.size, "up": up.tolist(), "look": _look(up).tolist(),
        "middle": (0.5 * (everything.min(axis=0) + everything.max(axis=0))).tolist(), "speed": speed,
        "speeds": sorted({*SPEEDS, speed}),
        "floor": float((everything @ up).min() - 0.12 * scene.size),
        "reach": _reach(everything, followed, scene), "times": packed(times), "poses": packed(poses), "follow": followed,
        "trace": _traced(scene, points, trace),
        "paths": [{"name": name, "points": packed(_way(data, name, pick))} for name in points],
        "bodies": [_body(scene, name) for name in scene.names],
        "ground": [_packed_shape(shape) for shape in scene.shapes(model.ground)],
        "joints": scene.joints(system.cut_joints), "springs": scene.springs(),
        "roads": [{"points": packed(points), "every": every} for points, every in scene.roads(everything)],
        "flexible": [{**line, "points": packed(line["points"])} for line in lines],
        "arrows": _arrows(run, scene, poses, pick, up), "signals": made[0], "panels": made[1],
        "samples": packed(_sample_times(data["time"].values)),
        "graph": graph(system), "findings": _findings(run, system), "statistics": _statistics(run, len(made[0])),
    }  # fmt: skip


def _numbers_per_frame(run: Run, scene: Scene) -> int:
    """Of bodies seven (a pose), of what may have an arrow or a way three, of flexible bodies their line."""
    points = sum("@" in name for name in listed(run.data, "body"))
    arrows = len(lines_of_forces(scene.model)) + len(listed(run.data, "joint")) + len(scene.model.contacts[:MOST_PUSHES])
    beams = sum(body.flexible is not None for body in scene.bodies.values())
    return 7 * len(scene.names) + 3 * (points + arrows + BEAM_POINTS * beams)


def _frames(time: np.ndarray, numbers: int) -> tuple[np.ndarray, np.ndarray]:
    """Outputs that are shown: evenly, no more than needed, nor than the page can carry."""
    span = float(time[-1] - time[0])
    most = min(len(time), MOST_FRAMES, MOST_MOTION // (4 * max(numbers, 1)))
    count = max(min(2, len(time)), int(min(most, RATE * span + 1 if span > 3 else 240)))
    wanted = np.linspace(time[0], time[-1], count)
    pick = np.unique(np.clip(np.searchsorted(time, wanted), 0, len(time) - 1))
    return pick, time[pick] - time[0]


def _poses(data: Any, bodies: list[str], pick: np.ndarray) -> np.ndarray:
    """Position and quaternion (w, x, y, z) of every body, (frames, bodies, 7)."""
    chosen = data.sel(body=bodies).isel(time=pick)
    return np.nan_to_num(np.concatenate([chosen["position"].values, chosen["orientation"].values], axis=2))


def _way(data: Any, name: str, pick: np.ndarray) -> np.ndarray:
    """A point of a flexible body over time, (frames, 3)."""
    return np.nan_to_num(data["position"].sel(body=name).values[pick])


def _centres(scene: Scene, poses: np.ndarray) -> np.ndarray:
    """Centres of mass over time, (frames, bodies, 3)."""
    com = np.array([np.asarray(scene.bodies[name].com, dtype=float) for name in scene.names]).reshape(-1, 3)
    turned = turn_by_quaternion(tuple(np.moveaxis(poses[..., 3:], 2, 0)), tuple(com.T[:, None, :]))
    return poses[..., :3] + np.stack(np.broadcast_arrays(*turned), axis=2)


def _up(model: Model) -> np.ndarray:
    gravity = np.asarray(model.gravity, dtype=float)
    size = np.linalg.norm(gravity)
    return -gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])


def _look(up: np.ndarray) -> np.ndarray:
    """From where the camera looks: aside, in front and above."""
    k = int(np.argmax(np.abs(up)))
    return {0: np.array([0.45, 0.8, 0.6]), 1: np.array([0.6, 0.42, 0.85]), 2: np.array([0.55, -0.9, 0.42])}[k] * np.where(
        np.arange(3) == k, np.sign(up[k]), 1.0
    )


def _leader(scene: Scene, centres: np.ndarray) -> int:
    """What travels is followed: the heaviest body, if it leaves its place."""
    far = np.max(np.linalg.norm(centres - centres[:1], axis=2), axis=0)
    weights = [0.0 if scene.bodies[name].flexible is not None else float(scene.bodies[name].mass) for name in scene.names]
    k = int(np.argmax(weights))
    return k if far[k] > 1.5 * scene.size else -1


def _reach(everything: np.ndarray, followed: int, scene: Scene) -> float:
    """How far around its middle the camera must see."""
    span = float(np.linalg.norm(np.ptp(everything, axis=0)))
    return scene.size if followed >= 0 else float(np.clip(span, 0.7 * scene.size, 3.0 * scene.size))


def _number(scene: Scene, name: str, what: str) -> int:
    number = scene.number(name)
    if number < 0 or scene.names[number] != name:
        raise InputError(f"{what}={name!r}: there is no such body; bodies are: {', '.join(scene.names[:12])}")
    return number


def _traced(scene: Scene, points: list[str], name: str | None) -> int:
    """Number of a body, or behind them of a point; -1: none."""
    if not name:
        return -1
    return len(scene.names) + points.index(name) if name in points else _number(scene, name, "trace")


def _body(scene: Scene, name: str) -> dict[str, Any]:
    body = scene.bodies[name]
    joints = [joint.name for joint in scene.joints_of[name]]
    weight = "flexible" if body.flexible is not None else f"{float(body.mass):g} kg"
    told = f"{name}: {weight}; joints {', '.join(map(str, joints[:6]))}"
    shapes = [_packed_shape(shape) for shape in scene.shapes(body)]
    return {"name": name, "com": [float(x) for x in body.com], "told": told, "shapes": shapes}


def _packed_shape(shape: dict[str, Any]) -> dict[str, Any]:
    return {**shape, "vertices": packed(shape["vertices"])} if shape["kind"] == "mesh" else shape


def _flexible(scene: Scene, run: Run, name: str, pick: np.ndarray) -> dict[str, Any]:
    body = scene.bodies[name]
    part = Run(run.data.isel(time=pick), {})
    points = np.nan_to_num(centre_line(body, part, BEAM_POINTS))
    radius = 0.012 * scene.size
    if body.drawn is not None:
        radius = max(float(np.sqrt(body.flexible.section.area / np.pi)), 0.006 * scene.size)
    return {"body": scene.number(name), "count": points.shape[1], "radius": radius, "points": points}


def _arrows(run: Run, scene: Scene, poses: np.ndarray, pick: np.ndarray, up: np.ndarray) -> list[dict[str, Any]]:
    """Forces as arrows: of elements along their line, of wheels along the road's normal, loads of joints that were asked
    for. Lengths are of one scale for all: the largest is a third of the drawing."""
    found: list[dict[str, Any]] = []
    data = run.data

    def world(name: Any, point: Any) -> np.ndarray:
        k, local = scene.number(name), scene.local(name, point)
        if k < 0:
            return np.broadcast_to(np.asarray(point, dtype=float), (len(poses), 3))
        turned = turn_by_quaternion(tuple(poses[:, k, 3:].T), tuple(local))
        return poses[:, k, :3] + np.stack(np.broadcast_arrays(*turned), axis=1)

    places = {name: k for k, name in enumerate(listed(data, "force"))}
    values = data["force_value"].values[pick] if places else None
    for force in lines_of_forces(scene.model):
        if force.name not in places or values is None:
            continue
        value = values[:, places[force.name], None]
        at = force.at[0]
        if FORCES[force.kind].line:
            line = world(force.b, force.at[1]) - world(force.a, at)
            vectors = value * line / np.maximum(np.linalg.norm(line, axis=1, keepdims=True), NO_LENGTH)
        elif FORCES[force.kind].given:
            vectors = _applied(force, run, pick)
            at = force.at[0] if force.at and force.at[0] is not None else None
        else:
            vectors = value * force.parameters["road"].axes()[1]
        if vectors is None or scene.number(force.a) < 0:
            continue
        body = scene.bodies[scene.names[scene.number(force.a)]]
        local = np.asarray(body.com, dtype=float) if at is None else scene.local(force.a, at)
        found.append(_arrow(force.name, scene.number(force.a), local, vectors, FORCES[force.kind].given))
    drawn = {joint.name: joint for joint in reversed(scene.model.joints)}
    for k, name in enumerate(listed(data, "joint")):
        joint = drawn.get(name)
        if joint is not None and joint.at is not None:
            vectors = data["reaction_force"].values[pick, k]
            found.append(_arrow(name, scene.number(joint.child), scene.local(joint.child, joint.at), vectors, False, True))
    found += _pushes(run, scene, pick)
    largest = max((float(np.nanmax(np.linalg.norm(arrow["vectors"], axis=1))) for arrow in found), default=0.0)
    scale = 0.33 / largest if largest > 0 else 0.0
    return [{**arrow, "vectors": packed(np.nan_to_num(arrow["vectors"])), "scale": scale} for arrow in found]


def _pushes(run: Run, scene: Scene, pick: np.ndarray) -> list[dict[str, Any]]:
    """What shapes in contact do to each other, push and friction, at the middle of the one that feels it."""
    names, shapes = listed(run.data, "contact"), {shape.name: shape for shape in scene.model.shapes}
    if not names:
        return []
    forces, found = run.data["contact_force"].values[pick], []
    for contact in scene.model.contacts[:MOST_PUSHES]:
        a = next((s for s in shapes.values() if contact.a in (s.name, s.group)), None)
        own = [k for k, name in enumerate(names) if name.split(":")[0].split(".")[0].rstrip("'") == contact.name]
        if a is None or not own or a.name != contact.a:
            continue  # groups have too many
        sign = 1.0 if scene.number(a.body) >= 0 else -1.0
        holder = a if sign > 0 else shapes.get(contact.b)
        if holder is not None and scene.number(holder.body) >= 0:
            at, vectors = np.asarray(holder.at, dtype=float), sign * forces[:, own].sum(axis=1)
            found.append(_arrow(contact.name, scene.number(holder.body), at, vectors, False))
    return found


def _arrow(name: str, body: int, at: np.ndarray, vectors: np.ndarray, push: bool, reaction: bool = False) -> dict[str, Any]:
    """`push`: the arrow's head touches the point, else its tail does."""
    return {"name": name, "body": body, "at": at.tolist(), "vectors": vectors, "reaction": reaction, "push": push}


def _applied(force: Any, run: Run, pick: np.ndarray) -> np.ndarray | None:
    """A force's three components over time; None where only a run can tell."""
    value = force.value
    if not callable(value):
        return np.broadcast_to(np.asarray(value, dtype=float), (len(pick), 3))
    from madi.signals.proof import call, proven_trace
    from madi.signals.state import named, places_of
    from madi.signals.trace import arguments

    names = listed(run.data, "coordinate"), listed(run.data, "speed")
    if hasattr(value, "bind"):
        value = value.bind(*names)
    time, q, v = (run.data[name].values[pick] for name in ("time", "q", "v"))
    places = [places_of(part) for part in names]
    try:
        count = arguments(value)
        proven_trace(value, count, q[0], v[0], names)  # what keeps something from call to call would now give other values
        rows = [
            call(value, count, t, named(a.copy(), places[0], "coordinate"), named(b.copy(), places[1], "speed"))
            for t, a, b in zip(time, q, v, strict=True)
        ]
        return np.array(rows, dtype=float).reshape(len(pick), 3)
    except Exception:  # a user's function: the picture does without
        return None


def _signals(run: Run, asked: Any, pick: np.ndarray, up: np.ndarray, scene: Scene) -> tuple[list[Any], list[list[int]]]:
    """Signals of the page and which of them are plotted at first."""
    data = run.data
    wanted = _wanted(asked, data, up, scene)
    every = list(dict.fromkeys([*(name for group in wanted for name in group), *names(data)]))
    most = min(MOST_SIGNALS // (4 * min(data.sizes["time"], MOST_SAMPLES)), MOST_LISTED)
    most = max(most, sum(map(len, wanted)))
    found: list[dict[str, Any]] = []
    kept: dict[str, int] = {}
    for name in every[:most]:
        values, unit = signal(data, name)
        kept[name] = len(found)
        found.append({"name": name, "unit": unit, "values": packed(np.nan_to_num(thinned(values)))})
    groups = []
    for group in wanted:
        groups += panels([(name, *signal(data, name)) for name in group])
    return found, [[kept[name] for name, _, _ in group] for group in groups]


def thinned(values: np.ndarray) -> np.ndarray:
    """A long signal by the least and the largest value of every piece, in the order they come: peaks stay."""
    if len(values) <= MOST_SAMPLES:
        return values
    found = []
    for piece in np.array_split(np.arange(len(values)), MOST_SAMPLES // 2):
        low, high = piece[np.argmin(values[piece])], piece[np.argmax(values[piece])]
        found += [values[min(low, high)], values[max(low, high)]]
    return np.array(found)


def _sample_times(time: np.ndarray) -> np.ndarray:
    """When the samples of `thinned` are: at the thirds of every piece."""
    if len(time) <= MOST_SAMPLES:
        return time - time[0]
    pieces = np.array_split(time - time[0], MOST_SAMPLES // 2)
    return np.array([piece[0] + part * (piece[-1] - piece[0]) for piece in pieces for part in (0.25, 0.75)])


def _wanted(asked: Any, data: Any, up: np.ndarray, scene: Scene) -> list[list[str]]:
    """Groups of signals: as asked for; else a vehicle's height and acceleration, or the first coordinates."""
    if isinstance(asked, str):
        return [[asked]]
    if asked:
        return [[one] if isinstance(one, str) else list(one) for one in asked]
    axis = "xyz"[int(np.argmax(np.abs(up)))]
    bases = [joint for joint in scene.model.joints if not KINDS[joint.kind].holds]
    if bases:
        name = body_name(bases[0].child)
        groups = [[f"{name}.{axis}"], [f"{name}.a{axis}"]]
        loads = [force.name for force in scene.model.forces if FORCES[force.kind].wheel]
        return [*groups, loads[:6]] if loads else groups
    quaternions = {joint.name for joint in scene.model.joints if KINDS[joint.kind].quaternion is not None}
    moving = np.ptp(data["q"].values, axis=0) > MOVES
    coordinates = [
        name for name, moves in zip(listed(data, "coordinate"), moving, strict=True)
        if moves and name.partition(".")[0] not in quaternions
    ]  # fmt: skip
    groups = [coordinates[:6]] if coordinates else []
    loads = [f"{name}.force" for name in listed(data, "joint")][:4]
    return [*groups, *([loads] if loads else []), ["energy"]]


def _about(run: Run) -> str:
    time, told = run.data["time"].values, run.statistics
    how = ", ".join(str(told[name]) for name in ("method", "loops", "engine") if told.get(name))
    return f"{time[-1] - time[0]:g} s, {told.get('steps', '?')} steps ({how}); madi {run.data.attrs.get('madi', '')}"


def _findings(run: Run, system: System) -> list[dict[str, str]]:
    """What the doctor says; a picture is shown in any case."""
    try:
        from madi.analysis.doctor import examine

        assert run.model is not None
        return examine(run.model, system=system).as_dicts()
    except (MadiError, ArithmeticError, np.linalg.LinAlgError):
        return []


def _statistics(run: Run, listed_signals: int) -> dict[str, str]:
    """Of the run, and what of it the page leaves out."""
    everything = len(run.signals)
    left = (
        {"signals here": f"{listed_signals} of {everything}; others: signals=[...]"} if listed_signals < everything else {}
    )
    shown = {name: f"{value:.6g}" if isinstance(value, float) else str(value) for name, value in run.statistics.items()}
    return {**shown, **left, "model hash": str(run.data.attrs.get("model_hash", ""))}
