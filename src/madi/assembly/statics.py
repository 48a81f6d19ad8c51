"""Equilibrium under load: the position in which nothing moves, found without simulating the settling.

Unknown are theta (how far every free coordinate moves) and lam, with  R(q, 0, 0, lam) = 0  and  Phi(q) = 0.  Newton's steps
with the exact system Jacobian are made robust by a pseudo-transient term: (M / T^2 + dR/dq) dtheta = -R is an
implicit Euler step of length T^2 of the motion M q' = -R, in which everything sinks towards its static equilibrium; T grows
with every step that succeeds, and the steps become Newton's (Kelley and Keyes, SIAM J. Numer. Anal. 35 (1998) 508). So
wheels may start in the air. Directions without stiffness (a wheel that may roll) stay near where they are. First-order
states z are unknowns beside theta, with z' = 0.

Columns are weighed by the roots of their stiffness and mass, rows by what they are then: a gram beside a ton is solved for
like the ton. Each column is in balance when its residual is a small part of the forces that meet there, or what
rounding of positions makes of its stiffness.

docs/references.md: [Kelley, Keyes 1998].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from madi.assembly.assemble import CLOSED, start_vector
from madi.assembly.redundancy import DEPENDENT
from madi.engines.jit import JitEngine
from madi.errors import InputError, RunError
from madi.forces.modes import EVENT
from madi.given import Start
from madi.joints.chart import retract
from madi.joints.columns import FREE_COLUMN
from madi.kernel import LEAST_SIZE
from madi.kernel.cores import one_core
from madi.model.elements import joint_name
from madi.model.model import Model
from madi.system import System
from madi.topology.layout import repack

MOST_STEPS = 400
FAR = 0.1  # m or rad: longest step of a coordinate
TIGHT = 1e-10  # residual of a column against the forces that balance there
ROUNDING = 1e-13  # m or rad: positions are not known better
FORCE_ROUNDING = 1e-15  # of the largest force: what its rounding leaves of a column that bears none
MULTIPLIER_RANK, STEP_RANK = 1e-10, 1e-10  # of the largest singular value, of rows and of the whole matrix: below, redundant
UPHILL = 1e-12  # cosine between force and step: rounding of a step along which no force acts
LEAST_SHIFT = 1e-6  # 1/s2: of the mass on the stiffness, where there was none
LOOSE = 1e-9  # of the largest stiffness: rounding of a direction that has none


@dataclass(frozen=True)
class Equilibrium:
    """Static equilibrium of a model: `q`, `v` (zero but for first-order states), multipliers, number of steps; `residual`:
    the largest remaining force (N, N m); `free`: coordinates that nothing holds; `stable`: whether the symmetric part of the
    reduced stiffness is positive (it says nothing of circulatory forces); None where first-order states would decide, see
    `madi.linearize`."""

    system: System
    q: np.ndarray
    v: np.ndarray
    lam: np.ndarray
    iterations: int
    residual: float
    free: tuple[str, ...]
    stable: bool | None

    def __repr__(self) -> str:
        kind = "static" if self.stable is None else "stable" if self.stable else "unstable"
        loose = f", free: {', '.join(self.free)}" if self.free else ""
        return f"<{kind} equilibrium of {self.system.name!r}: {self.iterations} steps, residual {self.residual:.1e}{loose}>"

    def _repr_html_(self) -> str:
        from madi.show.html import heading, table, whole

        rows = zip(self.system.coordinates, map(float, self.q), strict=True)
        return whole(heading(repr(self).strip("<>")), table(("coordinate", "value"), rows))

    def reactions(self, joints: Any = None) -> Any:
        """Loads of the joints there; see `System.reactions`."""
        return self.system.reactions(self.q, self.v, joints=joints)


class Balance:
    """The equations of rest of one system: drives hold their joints, nothing moves."""

    def __init__(self, system: System, t: float):
        self.system, self.t = system, t
        model = system.layout.arrays
        self.held = np.asarray(model.drive) != FREE_COLUMN
        self.still = system.still()
        if not self.still.has_exact_slopes:
            raise InputError(f"model {system.name!r} is too large to trace; settle it by a damped simulation")
        self.engine = self.still.engine()
        self.weightless = JitEngine(repack(self.still.layout, {}, {"gravity": np.zeros(3)}))
        self.rows = np.asarray(model.row_place) >= 0
        self.states = slice(int(model.v_at[0]), system.nv)
        self.size = system.nv + 2 * system.n_constraints

    def at(self, q: np.ndarray, v: np.ndarray, lam: np.ndarray) -> State:
        """The balance at q (v: zero but for states), with the multipliers that leave the least residual."""
        system, free = self.system, ~self.held
        nv, nr = system.nv, system.n_constraints
        lam = lam.copy()
        for _ in range(2 if nr else 1):
            x = np.concatenate([np.zeros(2 * nv), lam, np.zeros(system.n_held)])
            out = self.engine.evaluate("residual", self.t, q, v, x, self.size)
            found = self.still._blocks(self.t, q, v, x)
            self.still._raise_from_functions()
            if not (all(np.isfinite(block).all() for block in found.values()) and np.isfinite(out).all()):
                raise RunError(f"model {system.name!r}: forces or stiffnesses are not finite where it should rest")
            found["q"][:, self.states] = found["qd"][:, self.states]
            K, M = found["q"][np.ix_(free, free)], found["qdd"][np.ix_(free, free)]
            J, R, phi = found["phi"][np.ix_(self.rows, free)], out[:nv][free], out[nv : nv + nr][self.rows]
            root = np.sqrt(np.abs(np.diag(K)) + np.diag(M) + LEAST_SIZE)  # N/m, N m/rad: stiffness, or mass over 1 s^2
            if nr:
                change = np.linalg.lstsq(J.T / root[:, None], R / root, rcond=MULTIPLIER_RANK)[0]
                lam[self.rows] -= change
                R = R - J.T @ change
        size, gap = float(np.linalg.norm(R / root)), float(np.max(np.abs(phi), initial=0.0))
        return State(R, phi, K, M, J, lam, root, size, gap, np.abs(R) / self._enough(q, v, K, J, lam))

    def _enough(self, q: np.ndarray, v: np.ndarray, K: np.ndarray, J: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """What may be left of each column: a small part of weights, applied forces and loads of loops there."""
        nv, free = self.system.nv, ~self.held
        x = np.zeros(2 * nv + len(lam) + self.system.n_held)
        both, applied = (
            engine.evaluate("residual", self.t, q, v, x, self.size)[:nv][free] for engine in (self.engine, self.weightless)
        )
        force = np.abs(both - applied) + np.abs(applied) + np.abs(J).T @ np.abs(lam[self.rows])
        least = FORCE_ROUNDING * float(np.max(force, initial=0.0)) + LEAST_SIZE
        return TIGHT * force + ROUNDING * np.abs(K).sum(axis=1) + least

    def step(self, state: State, shift: float) -> np.ndarray:
        """(K + shift M) d + Phi_q^T mu = -R,  Phi_q d = -Phi; rows and columns weighed, so that metres and radians count
        alike."""
        m = len(state.phi)
        rows = np.linalg.norm(state.J / state.root, axis=1)
        weights = np.concatenate([1.0 / state.root, 1.0 / np.where(rows > 0, rows, 1.0)])
        M = state.M.copy()
        first = len(M) - (self.states.stop - self.states.start)
        M[first:, first:] = 0.0  # states have no inertia to hold them back
        A = np.block([[state.K + shift * M, state.J.T], [state.J, np.zeros((m, m))]])
        side = np.concatenate([-state.R, -state.phi]) * weights
        found = np.linalg.lstsq(A * weights[:, None] * weights[None, :], side, rcond=STEP_RANK)[0]
        return found[: len(state.R)] / state.root


class State(NamedTuple):
    """The balance at one position: R, Phi, dR/dq, M, Phi_q over free columns, all multipliers, what columns are weighed by,
    the sizes of R (weighed) and Phi, and what is left of each column against what may be."""

    R: np.ndarray
    phi: np.ndarray
    K: np.ndarray
    M: np.ndarray
    J: np.ndarray
    lam: np.ndarray
    root: np.ndarray
    size: float
    gap: float
    out: np.ndarray

    @property
    def settled(self) -> bool:
        """Whether it is in balance, and closed."""
        return bool(np.max(self.out, initial=0.0) <= 1.0) and self.gap <= CLOSED


def statics(model: Model | System, q0: Start = None, t: float = 0.0) -> Equilibrium:
    """The equilibrium of a model under its loads, nearest (by sinking) to where its joints start, or to `q0`.

    Drives hold their joints where they are at time t; of a mechanism that cannot move it gives the loads. If there is none,
    RunError names what is out of balance, and `error.equilibrium` is the nearest that was found.

    >>> import madi
    >>> m = madi.Model("scale")
    >>> pan = m.body("pan", mass=2.0, inertia=(1, 1, 1))
    >>> _ = m.prismatic("z", m.ground, pan, at=(0, 0, 0), axis=(0, 0, 1))
    >>> _ = m.joint_spring("spring", "z", stiffness=1000.0)
    >>> round(float(madi.statics(m).q[0]), 6)
    -0.01962
    """
    if not isinstance(model, Model | System):
        raise InputError(f"statics: give a Model or a System, not {type(model).__name__}")
    system = model if isinstance(model, System) else model.build()
    with one_core(system.nv + system.n_constraints):
        return _settled(system, q0, t)


def _settled(system: System, q0: Start, t: float) -> Equilibrium:
    balance = Balance(system, t)
    q, v, lam = _start(system, q0, t), np.zeros(system.nv), np.zeros(system.n_constraints)
    v[balance.states] = system.v0[balance.states]
    shift = 0.0
    state = balance.at(q, v, lam)
    nearest = q, v, state
    for k in range(MOST_STEPS):
        if state.settled:
            return _found(balance.still, balance, q, v, k, state)
        if k == 0:  # a first step of some centimetres
            ratio = np.abs(state.R) / np.diag(state.M)
            shift = float(np.max(ratio[: len(ratio) - len(system.states)], initial=0.0)) / 0.02
        step = balance.step(state, shift)
        d = np.zeros(system.nv)
        d[~balance.held] = step
        longest = float(np.max(np.abs(d[: balance.states.start]), initial=0.0))
        d *= min(1.0, FAR / max(longest, LEAST_SIZE))
        there, then = _moved(system, q, d), v.copy()
        then[balance.states] += d[balance.states]
        trial = balance.at(there, then, state.lam)
        # downhill, and nearer to balance or still pushed the same way: go there, and trust longer steps
        moving = slice(0, len(step) - len(system.states))  # states take Newton's step whatever their sign
        R, then_R, way = state.R[moving], trial.R[moving], step[moving]
        downhill = R @ way <= UPHILL * np.linalg.norm(state.R) * np.linalg.norm(step)
        if downhill and (trial.size <= 1.0001 * state.size or then_R @ way < 0.0):
            q, v, state, shift = there, then, trial, 0.2 * shift
            if _distance(state) < _distance(nearest[2]):
                nearest = q, v, state
        else:
            shift = max(8.0 * shift, LEAST_SHIFT)
        if not np.isfinite(state.size):
            break
    raise _failure(system, balance, *nearest)


def _distance(state: State) -> float:
    """How far from balance a state is."""
    return max(float(np.max(state.out, initial=0.0)), state.gap / CLOSED)


def _failure(system: System, balance: Balance, q: np.ndarray, v: np.ndarray, state: State) -> RunError:
    """What to say, and the nearest state to look at."""
    names = [name for name, held in zip(system.speeds, balance.held, strict=True) if not held]
    worst = np.argsort(-state.out)[:4]
    told = ", ".join(f"{names[j]} {state.R[j]:.3g}" for j in worst if state.out[j] > 1.0) or "nothing"
    joint = names[int(worst[0])].split(".")[0] if len(worst) else ""
    on_it = [force.name for force in system.lowered.forces if str(joint_name(force.a)).split(".")[0] == joint]
    more = f" (acted on by {', '.join(on_it[:4])})" if on_it else ""
    idle = [system.held_names[k] for k in system.switching if system.layout.arrays.held_kind[k] != EVENT]
    holds = f" {', '.join(idle[:4])}: hard stops and dry friction hold in runs only." if idle else ""
    error = RunError(
        f"model {system.name!r}: no equilibrium found in {MOST_STEPS} steps. Farthest from balance is joint {joint!r}{more}"
        f"; left there (N, N m, by coordinate): {told}; loops open by {state.gap:.1e}. Something may be free to move on: "
        f"hold it with a lock or a spring, or start nearer with q0.{holds} error.equilibrium is the nearest state.",
        None,
    )
    error.equilibrium = _found(balance.still, balance, q, v, MOST_STEPS, state)
    return error


def _start(system: System, q0: Any, t: float) -> np.ndarray:
    """Where the search begins: loops closed, drives where they are at t."""
    if system.frozen.rows:
        found = system.start if q0 is None and t == 0.0 else system.assemble(q0, t=t)
        return found.q.copy()
    q = system.checked_coordinates(start_vector(q0, system.coordinates, system.q0, "q0"), "q0").copy()
    return system.observe(q, None, t).q[0].copy()


def _moved(system: System, q: np.ndarray, d: np.ndarray) -> np.ndarray:
    out = np.empty(system.nq)
    retract(system.layout.arrays, q, d, out)
    return out


def _found(system: System, balance: Balance, q: np.ndarray, v: np.ndarray, k: int, state: State) -> Equilibrium:
    """The equilibrium, and its stiffness along the directions that the loops leave free (states held)."""
    moving = len(state.K) - len(system.states)
    K, J = state.K[:moving, :moving], state.J[:, :moving]
    N = np.eye(len(K))
    if len(J):
        _, s, V = np.linalg.svd(J)
        N = V[int(np.sum(s > DEPENDENT * max(s[0], LEAST_SIZE))) :].T
    names = [name for name, held in zip(system.speeds, balance.held, strict=True) if not held]
    loose: list[str] = []
    stable = True
    if N.shape[1]:
        values, vectors = np.linalg.eigh(N.T @ (0.5 * (K + K.T)) @ N)
        biggest = max(float(np.max(np.abs(values))), LEAST_SIZE)
        stable = bool(values[0] > -LOOSE * biggest)
        for j in np.flatnonzero(np.abs(values) <= LOOSE * biggest):
            direction = np.abs(N @ vectors[:, j])
            loose += [names[c] for c in np.flatnonzero(direction > 0.5 * np.max(direction))]
    left = float(np.max(np.abs(state.R), initial=0.0))
    decided = None if system.states else stable
    return Equilibrium(system, q, v, state.lam, k, left, tuple(dict.fromkeys(loose)), decided)
