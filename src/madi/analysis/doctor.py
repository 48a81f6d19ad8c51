"""The doctor: what may be wrong with a model, each finding with reason and cure. Errors stop a run; warnings may spoil it;
remarks are good to know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from madi.analysis.linearize import Linear, linearize
from madi.assembly.redundancy import Mobility, length_of
from madi.errors import (
    ERROR,
    REMARK,
    WARNING,
    AssemblyError,
    Finding,
    Findings,
    InputError,
    MadiError,
    ModelError,
    positive_number,
)
from madi.forces.contact_law import RINGING
from madi.integrate import METHODS
from madi.integrate.method import Method
from madi.joints.columns import FREE_COLUMN
from madi.kernel.cores import one_core
from madi.loops.methods import LOOP_METHODS, LoopMethod
from madi.model.elements import Body, body_name, inertia_matrix
from madi.model.model import Model
from madi.run.options import by_word, word_of
from madi.run.start import overlaps
from madi.spatial.rotation import as_rotation
from madi.system import System
from madi.system.loads import determined

SINGULAR, NEAR = 1e-4, 1e-2  # smallest singular value of the constraints, against the largest
STIFF = 300.0  # fastest rate over the slowest that a run shows: beyond, implicit methods win
INERTIAS = {"g mm2": 1e9, "g cm2": 1e7, "kg mm2": 1e6, "kg cm2": 1e4, "g m2": 1e3}  # other units, and how many make a kg m2
SMALLEST, LARGEST = 1e-3, 200.0  # m across: smaller or larger ones are in other units
MASSES = 1e6  # heaviest over lightest: beyond, a unit is wrong, or digits are lost
STILL, UNDAMPED = 1e-9, 1e-9  # 1/s; of critical: rounding of a rate, and of a damping, that is none
AS_GOOD_AS_RIGID = 1e-6  # of the fastest rate: slower ones are rounding of rigid motions
ROUNDING = 1e-9  # of 1, 2, 5 times a power of ten
MOST_ALIKE = 20  # findings in the same words: of more, only the first are named
MARCH, FEWEST_PLACES = 40, 3  # places a mechanism of one degree of freedom is looked at; fewer tell nothing
LOOKED_AT = 200  # generalised velocities up to which eigenvalues are found: their time grows with the cube


def examine(model: Model, step: float | None = None, method: Any = None, system: System | None = None) -> Findings:
    """Everything worth saying about a model before it is run; `step`, `method` (as in `simulate`): the run that is meant
    (default: the model's own `run`). `system`: the model built, where it is there already."""
    if not isinstance(model, Model):
        raise InputError(f"check: give a Model, not {type(model).__name__}")
    if method is not None:
        method = by_word(method, "method", Method, METHODS).name
    if step is not None:
        positive_number(step, "step")
    if system is None:
        try:
            system = model.build()
        except ModelError as error:
            return Findings(error.findings)
    found = [
        *_notes(model),
        *_run(model, system),
        *_units(model),
        *_inertias(model),
    ]
    try:
        start = system.start
    except AssemblyError as error:
        found.append(Finding("assembly", str(error).rstrip("."), "Move the drawing nearer to a closed position", ERROR))
        return _sorted(found)
    freedoms = system.mobility(start.q)
    found += [*_assembly(system, start), *_mobility(system, freedoms), *_loads(system, start.q, freedoms)]
    found += _positions(system, start, freedoms)
    found += _contacts(system, start.q, step or model.run.get("step"), method or _word(model.run.get("method")))
    found += _stiffness(model, system, start, step or model.run.get("step"), method or _word(model.run.get("method")))
    return _sorted(found)


def _sorted(found: list[Finding]) -> Findings:
    rank = {ERROR: 0, WARNING: 1, REMARK: 2}
    return Findings(sorted(found, key=lambda finding: rank[finding.severity]))


def _notes(model: Model) -> Iterator[Finding]:
    """What the file it was imported from says and the model does not."""
    for note in model.notes:
        told = note if len(note) < 300 else f"{note[:300]} ..."
        yield Finding("import", f"not carried over: {told}", "Add what matters by hand", WARNING)


def _run(model: Model, system: System) -> Iterator[Finding]:
    """What the model's own `run` asks for must be there."""
    for name, base, known in (("method", Method, METHODS), ("loops", LoopMethod, LOOP_METHODS)):
        given = model.run.get(name)
        if given is None:
            continue
        if _word(given) not in known:
            yield Finding(f"run: {name}", f"there is no {_word(given)!r}", f"Choose one of {', '.join(known)}", ERROR)
            continue
        try:
            by_word(given, name, base, known)
        except InputError as error:
            yield Finding(f"run: {name}", str(error), f"Look at the options of {_word(given)!r}", ERROR)
    loaded = set(system.loaded_names)
    for name in model.run.get("reactions") or ():
        if name not in loaded:
            told = f"there is no joint or constraint {name!r} whose load could be recorded"
            yield Finding("run: reactions", told, f"There are: {', '.join(system.loaded_names[:12])}", ERROR)


def _word(given: Any) -> str | None:
    """The word of a method that a model's own `run` names, however it does."""
    return None if given is None else word_of(given)


# ---- units ---------------------------------------------------------------------------------------------------------------


def _units(model: Model) -> Iterator[Finding]:
    """Numbers that look like other units than metres, kilograms and seconds."""
    pull = float(np.linalg.norm(np.asarray(model.gravity, dtype=float)))
    for size, unit in ((9810.0, "mm/s2"), (386.1, "in/s2"), (32.17, "ft/s2"), (981.0, "cm/s2")):
        if abs(pull / size - 1) < 0.03:
            yield Finding("gravity", f"{pull:g} m/s2 looks like {unit}", "madi works in m, kg, s: give 9.81 m/s2", WARNING)
    points = [np.asarray(joint.at, dtype=float) for joint in model.joints if joint.at is not None]
    points += [_centre(body) for body in model.bodies]
    span = float(np.max(np.ptp(np.array(points), axis=0)))
    if span > LARGEST and pull > 0:
        yield Finding(
            f"model {model.name!r}", f"it is {span:.4g} m across: lengths look like mm",
            f"Divide them by 1000, or write units in a model file ({span:.3g} mm = {span / 1000:.3g} m)", WARNING,
        )  # fmt: skip
    elif 0 < span < SMALLEST:
        yield Finding(
            f"model {model.name!r}", f"it is {span:.2g} m across", "Check the unit of lengths: madi works in metres", WARNING
        )
    masses = [float(body.mass) for body in model.bodies if body.flexible is None and float(body.mass) > 0]
    if masses and max(masses) > MASSES * min(masses):
        heavy = max((b for b in model.bodies if b.flexible is None), key=lambda b: float(b.mass))
        light = min((b for b in model.bodies if b.flexible is None and float(b.mass) > 0), key=lambda b: float(b.mass))
        yield Finding(
            f"body {light.name!r}", f"its mass, {float(light.mass):g} kg, is below a millionth of that of {heavy.name!r}",
            "Check the units (g, t?); such ratios cost digits", WARNING,
        )  # fmt: skip


def _inertias(model: Model) -> Iterator[Finding]:
    """Radii of gyration against the sizes of bodies as their joints show them."""
    points: dict[str, list[np.ndarray]] = {body.name: [] for body in model.bodies}
    for joint in model.joints:
        if joint.at is not None:
            for name in {body_name(joint.parent), body_name(joint.child)} & points.keys():
                points[name].append(np.asarray(joint.at, dtype=float))
    yield from _folded([finding for body in model.bodies for finding in _inertia(model, body, points[body.name])])


def _folded(found: list[Finding]) -> Iterator[Finding]:
    """What is told of very many elements in the same words is told once."""
    alike: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in found:
        alike.setdefault((finding.problem, finding.cure, finding.severity), []).append(finding)
    for (problem, cure, severity), same in alike.items():
        if len(same) <= MOST_ALIKE:
            yield from same
        else:
            names = ", ".join(finding.element for finding in same[:3])
            yield Finding(f"{names} and {len(same) - 3} more", problem, cure, severity)


def _inertia(model: Model, body: Body, points: list[np.ndarray]) -> Iterator[Finding]:
    """Of one body; `points`: its joints in the drawing."""
    inertia, mass = inertia_matrix(body), float(body.mass)
    if body.flexible is not None or inertia is None or mass <= 0:
        return
    where = model.places.get(f"body {body.name!r}", "")
    element = f"body {body.name!r}{f' ({where})' if where else ''}"
    if not np.any(inertia):
        yield Finding(element, "it has mass but no inertia", "Fine for a point mass; else give its moments", REMARK)
        return
    gyration = float(np.sqrt(np.linalg.eigvalsh(inertia)[-1] / mass))
    reach = _reach(body, points)
    if reach <= 0:
        return
    ratio = gyration / reach
    if ratio > 20:
        told = f"its radius of gyration, {gyration:.3g} m, is {ratio:.3g} times its reach ({reach:.3g} m)"
        unit, factor = min(INERTIAS.items(), key=lambda item: abs(np.log(ratio / np.sqrt(item[1]) / 0.6)))
        fits = 0.05 < ratio / np.sqrt(factor) < 5
        cure = f"The inertia looks like {unit}: divide it by {factor:g}" if fits else "Check its unit, kg m2"
        yield Finding(element, told, cure, WARNING)
    elif ratio < 1 / 500:
        told = f"its radius of gyration, {gyration:.2g} m, is a {1 / ratio:.0f}th of its reach ({reach:.3g} m)"
        yield Finding(element, told, "The inertia looks too small by far (g, mm2?); check its unit, kg m2", WARNING)


def _centre(body: Body) -> np.ndarray:
    """A body's centre of mass in the drawing."""
    turn = as_rotation(body.orientation, body.name)
    return np.asarray(np.asarray(body.position, dtype=float) + turn @ np.asarray(body.com, dtype=float))


def _reach(body: Body, points: list[np.ndarray]) -> float:
    """Largest distance of a joint from the body's centre of mass, in the drawing."""
    centre = _centre(body)
    return max((float(np.linalg.norm(point - centre)) for point in points), default=0.0)


# ---- loops ---------------------------------------------------------------------------------------------------------------


def _assembly(system: System, start: Any) -> Iterator[Finding]:
    size = length_of(system)
    units = dict(zip(system.speeds, system.frozen.speed_units, strict=True))
    far = {
        name: d for name, d in start.moved.items() if abs(d) > (0.05 * size if units.get(name, "").startswith("m") else 0.05)
    }
    if far:
        told = ", ".join(f"{name} by {d:.3g}" for name, d in sorted(far.items(), key=lambda item: -abs(item[1]))[:5])
        yield Finding("assembly", f"to close the loops, coordinates moved from where they were: {told}",
                      "Look at the first picture: is it the position that is meant? Else give q0", REMARK)  # fmt: skip
    if start.released:
        yield Finding("assembly", f"these given starts could not be kept: {', '.join(start.released)}",
                      "Give starts that the loops allow, or fewer", WARNING)  # fmt: skip


def _mobility(system: System, found: Mobility) -> Iterator[Finding]:
    driven = int(np.sum(np.asarray(system.layout.arrays.drive) != FREE_COLUMN)) + sum(
        bool(row.driven) for row in system.frozen.rows
    )
    prescribed = f", {driven} coordinate(s) prescribed" if driven else ""
    what = f"{found.degrees_of_freedom} degree(s) of freedom{prescribed}; Grübler's count gives {found.gruebler}"
    if found.degrees_of_freedom == 0 and not driven:
        yield Finding("mobility", f"the mechanism cannot move: {what}", "Free a joint, or ask for its static loads", ERROR)
    else:
        yield Finding("mobility", what, "Compare it with what you expect", REMARK)
    if found.redundant:
        yield Finding(
            "redundant constraints",
            f"{len(found.redundant)} add nothing (x, y, z of the joint, z its axis): {'; '.join(found.redundant[:6])}"
            + (f" and {len(found.redundant) - 6} more" if len(found.redundant) > 6 else ""),
            "Motion is not affected. For unique joint loads give some of these joints more degrees of "
            "freedom (spherical, cylindrical)", REMARK,
        )  # fmt: skip
    if found.rank and found.smallest < SINGULAR:
        told = f"it is (nearly) a singular position: the constraints' smallest pivot is {found.smallest:.1e}"
        yield Finding("start", told, "Start elsewhere; there a mechanism can go two ways", WARNING)


def _loads(system: System, q: np.ndarray, found: Mobility) -> Iterator[Finding]:
    """Joint loads that rigid bodies do not determine."""
    if not system.frozen.rows:
        return
    names = [name for name in system.loaded_names if "@" not in name]
    sure = determined(system, q, 0.0, np.eye(3), [system.load_of(name) for name in names], found)
    unsure = [name for name, row in zip(names, sure, strict=True) if not np.all(row)]
    if unsure:
        listed = ", ".join(unsure[:8]) + (f" and {len(unsure) - 8} more" if len(unsure) > 8 else "")
        yield Finding("static determinacy", f"rigid-body mechanics does not determine all loads of: {listed}",
                      "madi gives those of least norm and marks them; use bushings where they matter", REMARK)  # fmt: skip


def _contacts(system: System, q: np.ndarray, step: Any, method: str | None) -> Iterator[Finding]:
    """Shapes that start in each other; steps that are too long for stiff contact."""
    for name, depth in overlaps(system, q):
        cure = "Start them apart, leave the pair out, or say contact(..., overlap=True)"
        yield Finding(f"contact {name!r}", f"its shapes start {depth:.3g} m deep in each other", cure, ERROR)
    quickest = min((_contact_time(f) for f in system.lowered.forces if "geometry" in f.parameters), default=np.inf)
    if step and method != "time-stepping" and float(step) > quickest:
        told = f"a step of {float(step):g} s is longer than what touches takes to swing back, {quickest:.1g} s"
        cure = f"Take madi.TimeStepping({float(step):g}): contact is hard there; or an adaptive method, or softer contact"
        yield Finding("contact", told, cure, WARNING)


def _contact_time(force: Any) -> float:
    """A radian of the swing of what lies on a contact: sqrt(depth / g)."""
    return float(force.parameters["law"][RINGING])


def _positions(system: System, start: Any, found: Mobility) -> Iterator[Finding]:
    """A mechanism of one degree of freedom is moved through its range: where is it (nearly) singular?"""
    free = np.flatnonzero(np.asarray(system.layout.arrays.drive) == FREE_COLUMN)
    if found.degrees_of_freedom != 1 or not found.rank or system.n_constraints > 60 or len(free) != system.nv:
        return
    places = list(_march(system, start.q, 0.15, MARCH))
    if len(places) < FEWEST_PLACES:
        return
    k = int(np.argmin([smallest for _, _, smallest in places]))
    at, _, worst = places[k]
    way, q = (places[k - 1][0], places[k - 1][1]) if k else (0.0, start.q)
    for further, _, smallest in _march(system, q, 0.01, 32, before=places[k][1]):
        if smallest < worst:
            worst, at = smallest, way + further
    if worst < NEAR * found.smallest:
        told = f"some {at:.2g} (rad or m) from the start the loops come near a singular position (pivot {worst:.1e})"
        yield Finding("positions", told, "Expect large loads there; use rtol 1e-9 or a small fixed step to pass it", WARNING)


def _march(
    system: System, q: np.ndarray, step: float, count: int, before: np.ndarray | None = None
) -> Iterator[tuple[float, np.ndarray, float]]:
    """(how far, where, smallest pivot of the constraints) along the one degree of freedom; towards `before`, if it is
    given."""
    from madi.joints.chart import chart_point, exponential

    arrays = system.layout.arrays
    last = None
    if before is not None:
        last = np.empty(system.nv)
        chart_point(arrays, q, before, last)
    for k in range(count):
        J = system.constraint_jacobian(q)
        with one_core(len(J)):
            direction = np.linalg.svd(J)[2][-1]
        direction = direction if last is None or np.dot(direction, last) >= 0 else -direction
        last, moved = direction, np.empty(system.nq)
        exponential(arrays, q, step * direction / np.max(np.abs(direction)), moved)
        try:
            q = system.assemble(moved).q
        except MadiError:
            return
        yield (k + 1) * step, q, system.mobility(q).smallest


# ---- stiffness -----------------------------------------------------------------------------------------------------------


def _stiffness(model: Model, system: System, start: Any, step: Any, method: Any) -> Iterator[Finding]:
    """The fastest small motion at the start against the step that is meant, and what fits it."""
    if system.nv > LOOKED_AT or not system.has_exact_slopes:
        told = f"not looked at: there are {system.nv} generalised velocities"
        cure = "Halve the step and compare; madi.linearize(model) takes its time"
        yield Finding("stiffness", told, cure, REMARK)
        return
    try:
        linear = linearize(system, start.q, start.v)
    except (MadiError, np.linalg.LinAlgError, ZeroDivisionError):
        return
    rates = np.abs(linear.eigenvalues)
    if not len(rates) or not np.isfinite(rates).all() or rates[-1] <= STILL:
        return
    fastest = float(rates[-1])
    k = len(linear.modes) - 1  # they come by size
    told = f"the fastest small motion at the start is {_rate(linear, k)}"
    slow = float(np.median(rates[rates > AS_GOOD_AS_RIGID * fastest]))
    stiff = fastest / max(slow, STILL) > STIFF or _overdamped(linear, fastest)
    best = "generalized-alpha" if stiff else "rk4"
    advised = _nice(min(0.1 / (slow if stiff else fastest), 0.01))
    other = "'radau'" if stiff else "'dopri'"
    cure = f"Recommended: method={best!r} with step={advised:g} s, or {other}, which chooses its steps"
    name = method or ("rk4" if step is not None else "dopri")
    bound = METHODS[name].stable if name in METHODS else None
    if step is not None and bound is not None and float(step) * fastest > bound:
        yield Finding(
            f"step {float(step):g} s", f"{told}; {name} is stable only up to {bound / fastest:.2g} s", cure, WARNING
        )
    elif step is not None and name in METHODS and METHODS[name].implicit and float(step) * slow > 1.0:
        yield Finding(f"step {float(step):g} s", f"it is long even for the slow motions ({slow:.3g} 1/s)", cure, WARNING)
    else:
        yield Finding("stiffness", told, cure, REMARK)


def _overdamped(linear: Linear, fastest: float) -> bool:
    """Whether the fastest motion is a mere decay: explicit methods follow it for nothing."""
    mode = max(linear.modes, key=lambda one: abs(one["eigenvalue"]))
    others = [abs(one["eigenvalue"]) for one in linear.modes if one is not mode]
    return bool(mode["damping"] > 0.9 and others and fastest > 30 * max(others))


def _rate(linear: Linear, k: int) -> str:
    mode = linear.modes[k]
    who = ", ".join(linear.movers(k, 2)) or "?"
    if mode["eigenvalue"].imag:
        damping = 0.0 if abs(mode["damping"]) < UNDAMPED else mode["damping"]
        return f"{mode['frequency']:.3g} Hz (damping {damping:.2g}), mostly of {who}"
    what = "a decay" if mode["eigenvalue"].real < 0 else "a growth"
    return f"{what} at {abs(mode['eigenvalue']):.3g} 1/s, mostly of {who}"


def _nice(value: float) -> float:
    """1, 2 or 5 times a power of ten, not above the value."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(max(m for m in (1, 2, 5) if m <= value / power * (1 + ROUNDING)) * power)
