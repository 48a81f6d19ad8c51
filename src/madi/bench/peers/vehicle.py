"""P4's 6x6 vehicle in other engines: over the bump in Exudyn, and without tires, the time each method takes to an accuracy.

In Exudyn the vehicle is its kinematic tree (18 coordinates, no constraints; singular only at 90 degrees of yaw). The tires
are that object's force user function, f(t, q, q_t) on the right-hand side: Exudyn calls it at the current state in every
residual and for every column of its numerical Jacobian, nothing lags. The law is written out here once more, over arrays,
and compiled by Numba; of madi's code it uses only the road under the wheel (`distance`, `way`). Cost: 4.5 calls per step of
1 ms, each some 6 µs for Exudyn's way into Python and 7 µs for six tires (5 of them compiled), half of the run in all.

`python -m madi.bench.peers.vehicle` prints the check over the bump and the table of times.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import mujoco
import numba
import numpy as np

from madi.bench.models import six_by_six
from madi.bench.peers.base import Link, links_of
from madi.bench.peers.exudyn_peer import Exudyn, angles, exu, items, solved
from madi.bench.peers.mujoco_peer import MuJoCo
from madi.bench.trees import state
from madi.engines import numba_support
from madi.forces.envelope import distance
from madi.forces.road import way
from madi.forces.tire import KIND as TIRE
from madi.forces.tire_contact import ROAD, SOFT
from madi.model.model import Model
from madi.papers import six_by_six as p4
from madi.run.simulate import simulate
from madi.system import System

DURATION, OUTPUTS, EVERY = 2.0, 201, 10e-3
FINEST = 14  # the steps tried are coarsest / 2^k, k up to this
MUJOCO = {"Euler": "EULER", "implicit": "IMPLICIT", "implicitfast": "IMPLICITFAST", "RK4": "RK4"}
EXUDYN = {"generalized-alpha": "GeneralizedAlpha", "RK44": "RK44", "DOPRI5": "DOPRI5", "RK67": "RK67"}

Forces = Callable[[Any, Any], np.ndarray]


# ---- the tires ------------------------------------------------------------------------------------------------------


def _cross(a, b, out):  # type: ignore[no-untyped-def]
    out[0], out[1], out[2] = a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _dot(a, b):  # type: ignore[no-untyped-def]
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _tire(p, s, centre, u, e, w, scratch, force, torque):  # type: ignore[no-untyped-def]
    """Force and torque on a wheel about its centre, ground axes: velocity u, spin axis e, angular velocity w."""
    road, radius = s + ROAD, p[s + 6]
    n, l, t, arm, c = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]
    forward, _, rise = way(p, road, u)
    far, by, slope, slope_by = distance(p, p, road, way(p, road, centre), radius, int(p[s + 9]))  # no polyline: no blocks
    steep = math.sqrt(1.0 + slope * slope)
    for k in range(3):
        n[k] = (p[road + 3 + k] - slope * p[road + k]) / steep
        c[k] = -(p[road + k] + slope * p[road + 3 + k]) / steep**3  # dn / dslope
    lean, turned = _dot(e, n), _dot(e, c)
    upright = math.sqrt(1.0 - lean * lean)
    loaded = far / upright
    depth, tilt = radius - loaded, loaded * lean / (upright * upright)  # -d depth / d lean
    gain_x, gain_z = by[0] / upright + tilt * turned * slope_by[0], by[1] / upright + tilt * turned * slope_by[1]
    _cross(e, n, l)
    rate = -(gain_x * forward + gain_z * rise + tilt * _dot(l, w))
    load = p[s + 7] * depth + p[s + 8] * min(depth / (SOFT * radius), 1.0) * rate
    force[:], torque[:] = 0.0, 0.0
    if depth <= 0.0 or load <= 0.0:
        return
    torque[:] = load * tilt * l
    l[:] = l / upright
    _cross(n, l, t)
    arm[:] = loaded * (lean * t - upright * n)
    _cross(w, arm, c)
    c[:] = c + u
    pace = math.hypot(_dot(u, l), p[s + 13])
    kappa, side = -_dot(c, l) / pace, -_dot(c, t) / pace
    fl, ft = p[s + 10] * kappa, p[s + 11] * side
    size, slip = math.hypot(fl, ft), math.hypot(kappa, side)
    for k in range(3):
        force[k] = load * (gain_x * p[road + k] + gain_z * p[road + 3 + k])
    normal = _dot(force, n)
    circle = p[s + 12] * normal
    if slip > 0.0:
        grip, share = circle / math.hypot(circle, size), size * size / (circle * circle + size * size)
        fl = grip * ((1.0 - share) * fl + share * size * kappa / slip)
        ft = grip * ((1.0 - share) * ft + share * size * side / slip)
    c[:] = fl * l + ft * t
    force[:] = force + c
    _cross(arm, c, n)
    turn = _dot(w, e)
    torque[:] = torque + n - e * (p[s + 14] * normal * radius * turn / math.hypot(turn, p[s + 13] / radius))


def _tires(parents, slides, about, C, d, tires, p, q, q_t, out):  # type: ignore[no-untyped-def]
    """Generalised forces of all tires on a tree of joints with one coordinate each."""
    count = len(parents)
    R, x, a = np.empty((count, 3, 3)), np.empty((count, 3)), np.empty((count, 3))  # frames, origins, joint axes
    v, w = np.empty((count, 3)), np.empty((count, 3))
    scratch = np.empty((11, 3))
    arm, wheel, u, e, force, torque = scratch[0], scratch[1], scratch[2], scratch[3], scratch[4], scratch[5]
    for i in range(count):
        up, k = parents[i], about[i]
        for row in range(3):
            for column in range(3):
                R[i, row, column] = C[i, row, column]
            x[i, row], v[i, row], w[i, row] = d[i, row], 0.0, 0.0
        if up >= 0:
            for row in range(3):
                for column in range(3):
                    R[i, row, column] = _dot(R[up, row], C[i, :, column])
                arm[row] = _dot(R[up, row], d[i])
            _cross(w[up], arm, v[i])
            for row in range(3):
                x[i, row], v[i, row], w[i, row] = x[up, row] + arm[row], v[i, row] + v[up, row], w[up, row]
        for row in range(3):
            a[i, row] = R[i, row, k]
        if slides[i]:
            for row in range(3):
                arm[row] = q[i] * a[i, row]
            _cross(w[i], arm, u)
            for row in range(3):
                x[i, row], v[i, row] = x[i, row] + arm[row], v[i, row] + u[row] + q_t[i] * a[i, row]
        else:
            sine, cosine, f, g = math.sin(q[i]), math.cos(q[i]), (k + 1) % 3, (k + 2) % 3
            for row in range(3):
                rf, rg = R[i, row, f], R[i, row, g]
                R[i, row, f], R[i, row, g] = cosine * rf + sine * rg, cosine * rg - sine * rf
                w[i, row] += q_t[i] * a[i, row]
    out[:] = 0.0
    for j in range(len(tires)):
        i, s = tires[j]
        for row in range(3):
            arm[row], e[row] = _dot(R[i, row], p[s : s + 3]), _dot(R[i, row], p[s + 3 : s + 6])
        _cross(w[i], arm, u)
        for row in range(3):
            wheel[row], u[row] = x[i, row] + arm[row], u[row] + v[i, row]
        _tire(p, s, wheel, u, e, w[i], scratch[6:], force, torque)
        while i >= 0:
            if slides[i]:
                out[i] += _dot(a[i], force)
            else:
                for row in range(3):
                    arm[row] = wheel[row] - x[i, row]
                _cross(arm, force, u)
                out[i] += _dot(a[i], torque) + _dot(a[i], u)
            i = parents[i]


@cache
def _compiled() -> Callable[..., None]:
    """`_tires` and what it calls, by Numba."""
    from numba.extending import register_jitable

    numba_support.register_kernels()
    for function in (_cross, _dot, _tire):
        register_jitable(error_model="numpy")(function)
    return numba.njit(error_model="numpy")(_tires)


# ---- Exudyn ---------------------------------------------------------------------------------------------------------


class ExudynVehicle(Exudyn):
    """The peer with a choice of solver, sensors of its coordinates, and tires.

    A free base is six joints: three slides along and three hinges about x, y and z.
    """

    def __init__(self, system: System, links: list[Link], gravity: np.ndarray, tires: bool = False):
        super().__init__(links, gravity)
        if tires:
            forces = self._tires_of(system)
            self.mbs.SetObjectParameter(self.tree, "forceUserFunction", lambda mbs, t, item, q, q_t: forces(q, q_t))
        kind = exu.OutputVariableType
        self.sensors = [
            self.mbs.AddSensor(
                items.SensorNode(nodeNumber=0, outputVariableType=variable, storeInternal=True, writeToFile=False)
            )
            for variable in (kind.Coordinates, kind.Coordinates_t, kind.Coordinates_tt)
        ]
        self.mbs.Assemble()
        stepping = self.settings.timeIntegration
        stepping.stepInformation = 0
        # measured best: at Exudyn's own 1e-8 the accuracy is the same and the time up to a third more
        stepping.newton.relativeTolerance = 1e-6
        # DOPRI5 checks its error even at a fixed step, and gives up where it cannot shorten it
        stepping.absoluteTolerance = stepping.relativeTolerance = 1e6

    def _tires_of(self, system: System) -> Forces:
        model, extra = system.layout.arrays, self.extra
        first = self.links[0]
        nothing, eye = np.zeros((extra, 3)), np.broadcast_to(np.eye(3), (extra, 3, 3))
        tree = (
            np.array([*range(-1, extra), *(link.parent + extra for link in self.links[1:])]),
            np.array([True] * 3 * self.free + [False] * (self.nv - 3 * self.free)),
            np.array([0, 1, 2, 0, 1, 2][: extra + 1] + [2] * (self.nv - extra - 1)) if self.free else np.full(self.nv, 2),
            np.concatenate([[first.C], eye, [link.C for link in self.links[1:]]]),
            np.concatenate([[first.d], nothing, [link.d for link in self.links[1:]]]),
        )
        of = [e for e in range(int(model.ne)) if model.force_kind[e] == TIRE.code]
        tires = np.array([[int(model.force_a[e]) - 1 + extra, int(model.force_at[e])] for e in of])
        parameters, compiled = model.parameter.copy(), _compiled()

        def forces(q: Sequence[float], q_t: Sequence[float]) -> np.ndarray:
            out = np.empty(len(q))
            # Exudyn hands over lists, which Numba takes ten times as long to look at
            compiled(*tree, tires, parameters, np.array(q), np.array(q_t), out)
            return out

        return forces

    def solve(self, q: np.ndarray, v: np.ndarray, duration: float, step: float, method: str, every: float = 0.0) -> float:
        """Seconds of the solver's own loop; with `every` > 0 the sensors record that often."""
        s = self.enter(q, v)
        self._set(s.q, s.v, np.zeros(self.nv), exu.ConfigurationType.Initial)
        settings = self.settings.timeIntegration
        settings.solverType = getattr(exu.DynamicSolverType, method)
        settings.numberOfSteps, settings.endTime = round(duration / step), duration
        self.settings.solution.sensors.active = every > 0
        self.settings.solution.sensors.writePeriod = every
        implicit = method == "GeneralizedAlpha"
        self.solver = exu.MainSolverImplicitSecondOrder() if implicit else exu.MainSolverExplicit()
        return solved(self.solver, self.mbs, self.settings)

    def recorded(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Times, coordinates, and their first and second derivatives."""
        q, q_t, q_tt = (np.array(self.mbs.GetSensorStoredData(sensor)) for sensor in self.sensors)
        return q[:, 0], q[:, 1:], q_t[:, 1:], q_tt[:, 1:]


def _without_tires(model: Model) -> System:
    bare = copy.copy(model)
    bare.forces = [force for force in model.forces if force.kind != "tire"]
    return bare.build()


def exudyn_vehicle(
    model: Model, system: System, q: np.ndarray, v: np.ndarray, duration: float, step: float, tires: bool = True
) -> dict[str, Any]:
    """A run in Exudyn with generalized-alpha: times, chassis accelerations in madi's sense, pitch, height, seconds.

    The kinematic tree with the tires as its force user function: at the current state, in every residual and Jacobian
    column. `seconds` is the solver's loop without sensors; a second run records. Accelerations are the derivatives of
    the velocity's components in chassis axes, as in run.data["a"][:, 1] and [:, 5].
    """
    peer = ExudynVehicle(system, *links_of(_without_tires(model)), tires)
    seconds = peer.solve(q, v, duration, step, "GeneralizedAlpha")
    peer.solve(q, v, duration, step, "GeneralizedAlpha", every=step)
    times, coordinates, rates, seconds_rates = peer.recorded()
    vertical, turning = np.empty(len(times)), np.empty(len(times))
    for k, (x, x_t, x_tt) in enumerate(zip(coordinates, rates, seconds_rates, strict=True)):
        R, G = angles.RotXYZ2RotationMatrix(x[3:6]), angles.RotXYZ2GLocal(x[3:6])
        # the components' derivative: R^T a - w x R^T v
        vertical[k] = (R.T @ x_tt[:3] - np.cross(G @ x_t[3:6], R.T @ x_t[:3]))[1]
        turning[k] = (G @ x_tt[3:6] + angles.RotXYZ2GLocal_t(x[3:6], x_t[3:6]) @ x_t[3:6])[2]
    return {
        "time": times,
        "vertical_acceleration": vertical,
        "pitch_acceleration": turning,
        "pitch": _pitch_of_angles(coordinates),
        "height": coordinates[:, 1],
        "seconds": seconds,
    }


# ---- time to an accuracy --------------------------------------------------------------------------------------------


def pitch(quaternions: np.ndarray) -> np.ndarray:
    """asin of the y component (ground) of the chassis' x axis; rows w, x, y, z."""
    w, x, y, z = np.asarray(quaternions).T
    return np.arcsin(np.clip(2 * (x * y + w * z), -1.0, 1.0))


def _pitch_of_angles(coordinates: np.ndarray) -> np.ndarray:
    return np.arcsin([angles.RotXYZ2RotationMatrix(x[3:6])[1, 0] for x in coordinates])


def reference_pitch(system: System, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """madi's, with the tightest tolerances."""
    times = np.linspace(0.0, DURATION, OUTPUTS)
    run = simulate(system, DURATION, method="dopri", rtol=1e-12, atol=1e-13, start=(q, v), times=times)
    return pitch(run.data["q"].values[:, 3:7])


def _mujoco_pitch(peer: MuJoCo, q: np.ndarray, v: np.ndarray, step: float) -> np.ndarray:
    s, every = peer.enter(q, v), max(EVERY, step)
    peer._set(s.q, s.v, np.zeros(peer.nv))
    peer.model.opt.timestep = step
    turned = [peer.data.qpos[3:7].copy()]
    for _ in range(round(DURATION / every)):
        mujoco.mj_step(peer.model, peer.data, round(every / step))
        turned.append(peer.data.qpos[3:7].copy())
    return pitch(np.array(turned))


def _mujoco_seconds(peer: MuJoCo, q: np.ndarray, v: np.ndarray, step: float) -> float:
    s = peer.enter(q, v)
    return peer.run(s.q, s.v, np.zeros(peer.nv), round(DURATION / step), step)[0]


def _exudyn_pitch(peer: ExudynVehicle, q: np.ndarray, v: np.ndarray, step: float, method: str) -> np.ndarray:
    every = max(EVERY, step)
    peer.solve(q, v, DURATION, step, method, every=every)
    times, coordinates, _, _ = peer.recorded()
    wanted = np.linspace(0.0, DURATION, round(DURATION / every) + 1)
    at = np.searchsorted(times, wanted - 0.25 * step)
    if np.max(np.abs(times[at] - wanted)) > 1e-9:
        raise RuntimeError("Exudyn did not record at the times asked for")
    return _pitch_of_angles(coordinates[at])


def _row(
    names: tuple[str, str], error: float, coarsest: float, off: Callable[[float], float], took: Callable[[float], float]
) -> dict[str, Any]:
    """The largest step that meets the error, coarse to fine: all trials together cost at most two runs at that step."""
    found = step = seconds = float("nan")
    for k in range(FINEST + 1):
        found = off(coarsest / 2**k)
        if found <= error:
            step = coarsest / 2**k
            once = took(step)
            seconds = min(took(step) for _ in range(max(3, min(20, int(0.5 / once)))))
            break
    return {"engine": names[0], "method": names[1], "step, ms": 1e3 * step, "error": found, "seconds": seconds,
            "µs per step": 1e6 * seconds * step / DURATION}  # fmt: skip


def time_to_accuracy(error: float = 1e-4, coarsest: float = EVERY) -> list[dict[str, Any]]:
    """Two seconds of the 6x6 without tires: each peer method's largest step with this error in pitch, and its time.

    Error: largest difference from the reference at 201 times (with longer steps, at those they meet) over the
    reference's range. Steps are `coarsest` / 2^k, `coarsest` 10, 20 or 40 ms; methods that meet the error with no k up to
    14 have step NaN and the last error. Times are the engines' own loops with outputs off, best of three or more.
    """
    system = six_by_six(printed=False).build()
    q, v = state(system)
    reference = reference_pitch(system, q, v)
    span = float(np.ptp(reference))
    links, gravity = links_of(system)

    def off(found: np.ndarray) -> float:
        apart = np.max(np.abs(found - reference[:: (OUTPUTS - 1) // (len(found) - 1)])) / span
        return float(apart) if np.isfinite(apart) else math.inf

    rows = []
    peer = MuJoCo(links, gravity)
    for method, name in MUJOCO.items():
        peer.model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{name}")
        rows.append(_row(("MuJoCo", method), error, coarsest, lambda step: off(_mujoco_pitch(peer, q, v, step)),
                         lambda step: _mujoco_seconds(peer, q, v, step)))  # fmt: skip
    other = ExudynVehicle(system, links, gravity)
    for method, name in EXUDYN.items():
        rows.append(_row(("Exudyn", method), error, coarsest, lambda step: off(_exudyn_pitch(other, q, v, step, name)),
                         lambda step: other.solve(q, v, DURATION, step, name)))  # fmt: skip
    return rows


# ---- the check over the bump ----------------------------------------------------------------------------------------


def over_the_bump(printed: bool = True, step: float = 1e-3, duration: float = p4.DURATION) -> list[dict[str, Any]]:
    """Exudyn against madi (dopri, rtol 1e-8) over the bump: peaks, and the largest difference in pitch."""
    model = p4.vehicle(printed=printed)
    system = model.build()
    q, v = p4.start(system)
    theirs = exudyn_vehicle(model, system, q, v, duration, step)
    run = simulate(system, duration, method="dopri", rtol=1e-8, start=(q, v), times=theirs["time"])
    a, turned = run.data["a"].values, run.data["q"].values
    ours = {"vertical_acceleration": a[:, 1], "pitch_acceleration": a[:, 5], "pitch": pitch(turned[:, 3:7]),
            "height": turned[:, 1]}  # fmt: skip
    rows = []
    for name, mine in ours.items():
        for which, peak in (("largest", np.max), ("smallest", np.min)):
            x, y = float(peak(mine)), float(peak(theirs[name]))
            rows.append({"quantity": f"{name}, {which}", "madi": x, "Exudyn": y, "difference, %": 100 * (y - x) / abs(x),
                         "largest difference": float(np.max(np.abs(theirs[name] - mine)))})  # fmt: skip
    nan = float("nan")
    rows.append({"quantity": "seconds", "madi": nan, "Exudyn": theirs["seconds"], "difference, %": nan,
                 "largest difference": nan})  # fmt: skip
    return rows


def main() -> None:
    """Both tables."""
    from madi.cli.app import show

    show({"title": "6x6 over the bump, generalized-alpha at 1 ms", "tables": {"Exudyn and madi": over_the_bump()}})
    tables = {f"Step (at most {1e3 * most:g} ms) and time": time_to_accuracy(coarsest=most) for most in (EVERY, 4 * EVERY)}
    show({"title": "6x6 without tires, 2 s, error of 1e-4 in pitch", "tables": tables})


if __name__ == "__main__":
    main()
