"""One run in absolute coordinates: the same integrators, the same results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.cartesian import entries
from madi.cartesian.build import Cartesian, cartesian
from madi.cartesian.words import BALL, COUPLER, SECOND, SHIFT, TURN, X, Z, parts
from madi.equations.fields import Arrays
from madi.errors import InputError
from madi.integrate.method import Method, Steps
from madi.integrate.record import RECORD, Recording
from madi.joints import KINDS
from madi.kernel.fields import ABSENT, Function, evaluator
from madi.loops.memory import LoopOptions, LoopTally
from madi.loops.methods import LoopMethod
from madi.results.recorded import loop_record, of_loops
from madi.results.store import HEAP, Heap
from madi.run.solver import Integration, loop_statistics
from madi.topology.layout import SIZES, Layout, pack

if TYPE_CHECKING:
    from madi.model.model import Model
    from madi.results.run import Run
    from madi.system import System

KEPT = "Outputs before it are in error.run."


def flat_space(size: int) -> Layout:
    """A layout for the integrators: one body whose coordinates are plain numbers, and their rates its speeds."""
    sizes = dict.fromkeys(SIZES, 0) | {"n": 2, "nq": size, "nv": size, "nf": 1}
    fields = {name: np.zeros((evaluator(f.size)(sizes), *f.inner)) for name, f in Arrays.arrays().items()}
    fields["code"][1] = KINDS["cylindrical"].code  # sums, no quaternion
    fields["v_end"][1] = size
    return pack(sizes, fields)


class CartesianSolver(Integration):
    """One run of the Cartesian formulation."""

    def __init__(self, model: Model, system: System, method: Method, steps: Steps, times: np.ndarray, engine: str,
                 start: Any, reactions: Mapping[str, str], loops: LoopMethod, jumps: Sequence[Any] = (),
                 store: Heap = HEAP):  # fmt: skip
        options = LoopOptions({})
        loops.put(options)
        q, v = start
        self.made: Cartesian = cartesian(model, system, q, v, options)
        size = self.made.size
        self.jumps, stops = list(jumps), sorted({jump.time for jump in jumps})
        sizes = {"nq": size, "nv": size, "nr": self.made.constraints, "n_held": 0}
        super().__init__(system, method, steps, times, sizes, flat_space(size).arrays, stops, store=store)
        self.memory.tally, self.way = self.made.work.tally, loops.words()
        self.engine = system.engine(engine)
        self.engine_name = self.engine.name
        self.reactions = dict(reactions)
        known = dict.fromkeys([*self.made.links, *self.made.row_owner])
        for name in self.reactions:
            if name not in known:
                raise InputError(f"reactions: there is no joint {name!r}; there are: {', '.join(known)}")
        self.start(self.made.q0, self.made.v0)

    def loop_work(self) -> Any:
        """See Integration."""
        return self.made.work

    def scratch(self) -> dict[str, Any]:
        """See Integration; of joint coordinates too: the sign of a quaternion goes on from the one before."""
        return {**super().scratch(), "forces": self.made.forces}

    def function(self, name: str) -> Function:
        """A kernel for `kernel.call`."""
        made = self.made
        return self.engine.twin(name, entries.ENTRIES[name], made.arrays, made.work, made.forces)

    def run(self, progress: bool | None) -> int:
        """Integrate; returns the status."""
        self.memory.forward, self.memory.close = self.function("forward"), self.function("close")
        return self.integrate(self.engine.loop(self.loop), progress)

    def result(self) -> Run:
        """Labelled results for as many outputs as were reached."""
        from madi.results.label import label

        made, system, work = self.made, self.system, self.made.work
        tally = LoopTally({}, work.tally.int_memory.copy(), work.tally.real_memory.copy())
        times, q, v, _ = self.shown()
        nv, nr = system.nv, made.constraints
        width = entries.REPORTED.length(reported_sizes(made))
        recording = Recording(
            self.sizes | {"outputs": len(times), "width": width}, times=times, q=q, v=v, held=np.zeros(0),
            phi=work.phi, rate=work.rate,
            lam=work.lam, pace=np.zeros(max(nr, 1)), tally=work.tally, forward=ABSENT, close=self.function("close"),
            observe=self.function("report"),
        )  # fmt: skip
        recording.last = len(times)
        self.engine.loop(RECORD)(recording)
        rows, n = recording.rows.reshape(len(times), width), len(times)
        bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
        if len(bad):
            self.spoiled, n = float(times[bad[0]]), int(bad[0])
            times, rows = times[:n].copy(), rows[:n]
        found, seen = loop_record(of_loops(recording), n), CartesianObservation(made, rows)
        statistics = self.statistics() | {
            "engine": self.engine_name, "formulation": "cartesian", "loops": "projection", **loop_statistics(tally),
            "coordinates": made.coordinates, "constraints": made.constraints,
        }  # fmt: skip
        if self.jumps:
            statistics["jumps"] = [jump.time for jump in self.jumps]
        driven = [c for c in range(nv) if system.layout.arrays.drive[c] >= 0]
        joints = list(dict.fromkeys([*self.reactions, *(system.speeds[c].split(".")[0] for c in driven)]))
        loads = self._loads(seen, rows, found.multipliers, joints) if joints else None
        run = label(system, times, seen, self.reactions, joints, loads, driven, statistics)  # type: ignore[arg-type]
        run.arrays["violation"] = ("time", found.residual, {"units": "m or rad", "of": "largest residual of a constraint"})
        run.arrays["violation_rate"] = ("time", found.residual_rate, {"units": "m/s or rad/s"})
        self.add_history(run)
        return run

    def _loads(self, seen: Any, rows: np.ndarray, multipliers: np.ndarray, joints: list[str]) -> np.ndarray:
        """As the tree's loads: force and moment on the child, at the joint; then driving forces of the joints' columns."""
        made, arrays, system = self.made, self.made.arrays, self.system
        n = len(rows)
        seen_rows = entries.REPORTED.views(rows, reported_sizes(made))
        gradient, tau = seen_rows.gradient, seen_rows.tau
        rest = np.tile(np.eye(3), (n, int(arrays.n) + 1 - seen.R.shape[1], 1, 1))  # rotors, and the ground
        R = np.concatenate([seen.R, rest], axis=1)
        six = np.zeros((n, len(joints), 6))
        driving: list[np.ndarray] = []
        for k, name in enumerate(joints):
            coupler = made.row_owner.index(name) if name not in made.links else -1
            link = made.links[name] if coupler < 0 else int(arrays.row_link[coupler])
            a, b = int(arrays.link_a[link]), int(arrays.link_b[link])
            wrench, coupled = np.zeros((n, 6)), np.zeros((n, 6))
            for r, owner in enumerate(made.row_owner):
                if coupler >= 0:
                    coupled -= (gradient[:, r, 0] * multipliers[:, [r]]) if r == coupler else 0.0
                elif int(arrays.row_kind[r]) == COUPLER:
                    for side, other in ((0, arrays.row_link[r]), (1, arrays.row_other[r])):
                        coupled -= (gradient[:, r, side] * multipliers[:, [r]]) if other == link else 0.0
                elif owner == name:
                    wrench -= gradient[:, r].sum(axis=1) * multipliers[:, [r]]
            lever = np.einsum("tij,j->ti", R[:, b], arrays.link_s[2 * link + 1])
            for load in (wrench, coupled):
                load[:, 3:] -= np.cross(lever, load[:, :3])
            total = wrench + coupled
            if name in system._joint_of:
                axes_a, axes_b = R[:, a] @ arrays.link_C[2 * link], R[:, b] @ arrays.link_C[2 * link + 1]
                joint = system.frozen.joints[system._joint(name) - 1]
                columns = system.v_slice(name)
                own = np.zeros((columns.stop - columns.start, n))
                for part, _, c in parts(KINDS[joint.kind]):
                    if part in (SHIFT, BALL):
                        continue
                    e = axes_b[..., X] if part == SECOND else axes_a[..., Z if part == TURN else part]
                    loaded = slice(3, 6) if part in (TURN, SECOND) else slice(0, 3)
                    own[c] = np.einsum("ti,ti->t", e, wrench[:, loaded])
                    if part == TURN:
                        own[c] += float(joint.pitch) / (2 * np.pi) * np.einsum("ti,ti->t", e, wrench[:, :3])
                    # what the joint's own springs transmit is part of its load
                    total[:, loaded] += e * tau[:, [columns.start + c]]
                driving += list(own)
            six[:, k] = total
        return np.hstack([six.reshape(n, -1), np.array(driving).T.reshape(n, -1)])

    def explain(self, status: int) -> str:
        """Why the run stopped."""
        for callback, _, _ in self.system.frozen.signals.callbacks:
            if callback.error is not None:
                error, callback.error = callback.error, None
                told = f"the function of {callback.name} raised {type(error).__name__}: {error}"
                return f"model {self.system.name!r} stopped at t = {float(self.memory.t):.6g} s: {told}. {KEPT}"
        t, failed = float(self.memory.t), self.made.work.tally.failed
        what = (
            "the constraints cannot be met" if failed else "the state left the finite numbers, or the step fell to nothing"
        )
        return (
            f"model {self.system.name!r} (formulation='cartesian') stopped at t = {t:.6g} s: {what}. The default "
            f"formulation names the element. {KEPT}"
        )

    def explain_spoiled(self) -> str:
        """An output that is not finite."""
        return f"model {self.system.name!r}: the state is not finite at t = {self.spoiled:.6g} s (formulation='cartesian')."


def reported_sizes(made: Cartesian) -> dict[str, int]:
    """Sizes of what `report` gives."""
    system = made.system
    own = {"bodies": int(made.arrays.n), "rows": made.constraints}
    return {"nq": system.nq, "nv": system.nv, "ne": len(system.forces), **own}


class CartesianObservation:
    """Rows of the report as the named arrays results are made of, bodies in the order of the tree."""

    def __init__(self, made: Cartesian, rows: np.ndarray):
        system = made.system
        seen = entries.REPORTED.views(rows, reported_sizes(made))
        self.q, self.v, self.a, self.force = seen.q, seen.v, seen.a, seen.force
        body = entries.BODY.views(seen.body, {})
        self.R, com, u, w, acceleration, spin = (getattr(body, name)[:, :, 0] for name in entries.BODY.named)
        mass, J = np.array(made.arrays.mass), np.array(made.arrays.J)
        local = np.einsum("tnji,tnj->tni", self.R, w)
        turning = np.einsum("nij,tnj->tni", J, local)
        self.kinetic = 0.5 * (np.einsum("n,tni,tni->t", mass, u, u) + np.einsum("tni,tni->t", local, turning))
        drawn = len(made.names)  # rotors have energy, and that is all
        self.R, com, u, w = self.R[:, :drawn], com[:, :drawn] + made.origins, u[:, :drawn], w[:, :drawn]
        mass, turning, acceleration, spin = mass[:drawn], turning[:, :drawn], acceleration[:, :drawn], spin[:, :drawn]
        gravity = np.array(made.arrays.gravity)
        self.potential = -np.einsum("n,tni,i->t", mass, com, gravity) + self.force[..., 1].sum(axis=1)
        self.dissipated = self.force[..., 3].sum(axis=1)
        linear = np.einsum("n,tni->ti", mass, u)
        angular = np.einsum("tnij,tnj->ti", self.R, turning) + np.einsum("n,tni->ti", mass, np.cross(com, u))
        self.momentum = np.hstack([linear, angular])
        lever = -np.einsum("tnij,nj->tni", self.R, made.coms)
        order = [made.names.index(name) for name in system.bodies]
        self.position = (com + lever)[:, order]
        self.rotation = self.R[:, order]
        self.velocity = (u + np.cross(w, lever))[:, order]
        self.angular_velocity, self.angular_acceleration = w[:, order], spin[:, order]
        self.acceleration = (acceleration + np.cross(spin, lever) + np.cross(w, np.cross(w, lever)))[:, order]
