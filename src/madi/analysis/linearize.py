"""Linearisation about an equilibrium or a steady motion: x' = A x + B u, y = C x + D u, eigenvalues and mode shapes.

With theta the small displacements along the generalised velocities, R(theta, v, qdd, lam) = 0 and Phi = 0 give

    M da + D dv + K theta + Phi_q^T dlam = B u,   Phi_q theta = 0,   Phi_q dv + (dPhi'/dq) theta = 0,

all from the system Jacobian (exact). States are displacements z and speeds w of independent coordinates, chosen by pivoting:
theta = N z, dv = N w + X z, where X is what moving constraints add. theta' = dv - ad theta where a rotation turns on
steadily (its axes turn along). Then N^T (...) leaves the multipliers out. First-order states have no displacement.

docs/references.md: [Negrut, Ortiz 2006].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from madi.assembly.redundancy import DEPENDENT
from madi.assembly.statics import Equilibrium, statics
from madi.errors import InputError
from madi.given import Vector
from madi.integrate.newton_matrix import DIFFERENCE
from madi.joints import KINDS
from madi.joints.chart import exponential
from madi.joints.columns import FREE_COLUMN
from madi.kernel import LEAST_SIZE
from madi.kernel.cores import one_core
from madi.model.model import Model
from madi.results.label import label
from madi.results.run import Run
from madi.system import System
from madi.system.loads import refuse_open_loops
from madi.system.observation import Observation

STEADY = 1e-6  # accelerations, against gravity or the largest speed squared: below, the motion is steady


@dataclass(frozen=True)
class Linear:
    """A, B, C, D; names of states ("A", "A.v"), inputs and outputs; the state it was made at."""

    system: System
    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    q: np.ndarray
    v: np.ndarray
    t: float
    acceleration: float  # largest acceleration that is left: zero in a steady state
    N: np.ndarray  # all displacements from the independent ones
    X: np.ndarray
    masses: np.ndarray  # on the diagonal of M: what displacements weigh

    def __str__(self) -> str:
        lines = [f"{self.system.name}: {len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"]
        if not self.steady:
            lines.append(f"not a steady state: an acceleration of {self.acceleration:.3g} is left")
        lines += [f"{'eigenvalue, 1/s':>24}  {'frequency, Hz':>14}  {'damping':>8}  moves most"]
        for k, mode in enumerate(self.modes):
            value, movers = _complex(mode["eigenvalue"]), ", ".join(self.movers(k))
            lines.append(f"{value:>24}  {mode['frequency']:14.5g}  {mode['damping']:8.4g}  {movers}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        from madi.show.html import heading, remark, table, whole

        facts = [f"{len(names)} {what}" for names, what in ((self.states, "states"), (self.inputs, "inputs"),
                                                           (self.outputs, "outputs"))]  # fmt: skip
        rows = [(_complex(mode["eigenvalue"]), mode["frequency"], mode["damping"], ", ".join(self.movers(k)))
                for k, mode in enumerate(self.modes)]  # fmt: skip
        left = "" if self.steady else f"not a steady state: an acceleration of {self.acceleration:.3g} is left"
        heads = ("eigenvalue, 1/s", "frequency, Hz", "damping", "moves most")
        return whole(heading(f"Linear model of {self.system.name}", *facts), remark(left), table(heads, rows))

    @property
    def steady(self) -> bool:
        """Whether nothing accelerates where it was made: else eigenvalues describe no motion that lasts."""
        return self.acceleration < STEADY

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """All of A, by size."""
        return self._decomposed[0]

    @cached_property
    def _decomposed(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues by size, and eigenvectors, of A."""
        with one_core(len(self.A)):
            values, vectors = np.linalg.eig(self.A)
        order = np.argsort(np.abs(values), kind="stable")
        return values[order], vectors[:, order]

    @cached_property
    def modes(self) -> list[dict[str, Any]]:
        """One for each real eigenvalue or pair: eigenvalue (imaginary part >= 0), undamped frequency (Hz), damped frequency,
        damping ratio, state vector."""
        values, vectors = self._decomposed
        found = []
        for k in np.flatnonzero(np.imag(values) >= 0):
            size = float(np.abs(values[k]))
            vector = vectors[:, k] / vectors[np.argmax(np.abs(vectors[:, k])), k]
            found.append({
                "eigenvalue": complex(values[k]), "frequency": size / (2 * np.pi),
                "damped_frequency": float(values[k].imag) / (2 * np.pi),
                "damping": float(-values[k].real / size) if size > 0 else 0.0, "vector": vector,
            })  # fmt: skip
        return found

    def shape(self, k: int) -> dict[str, complex]:
        """Displacements along all generalised velocities in mode k, the largest one 1."""
        n = self.N.shape[1]
        vector = self._mode(k)["vector"]
        theta = self.N @ vector[:n]
        for name in self.system.states:
            if name in self.states:
                theta[self.system.speeds.index(name)] = vector[self.states.index(name)]
        largest = theta[np.argmax(np.abs(theta))] if np.any(np.abs(theta) > 0) else 1.0
        return {name: complex(x / largest) for name, x in zip(self.system.speeds, theta, strict=True)}

    def movers(self, k: int, most: int = 3) -> list[str]:
        """What moves most in mode k, by energy."""
        shape = self.shape(k)
        weight = {name: abs(x) ** 2 * mass for (name, x), mass in zip(shape.items(), self.masses, strict=True)}
        largest = max(weight.values(), default=0.0)
        return [name for name, x in sorted(weight.items(), key=lambda item: -item[1])[:most] if x > 0.04 * largest]

    def _mode(self, k: int) -> dict[str, Any]:
        if not -len(self.modes) <= k < len(self.modes):
            raise InputError(f"there is no mode {k}; there are {len(self.modes)}, from 0")
        return self.modes[k]

    def motion(self, k: int, amplitude: float = 0.1, frames: int = 61, periods: float = 1.0) -> Run:
        """Mode k as a run of its own, to look at: its largest displacement is `amplitude`; undamped, one period (an
        overdamped mode: out and back)."""
        shape = amplitude * np.array(list(self.shape(k).values()))
        rate = abs(self._mode(k)["eigenvalue"].imag) or abs(self._mode(k)["eigenvalue"]) or 2 * np.pi
        times = np.linspace(0.0, periods * 2 * np.pi / rate, frames)
        turned = np.exp(1j * rate * times)[:, None] * shape
        q = np.empty((frames, self.system.nq))
        for place, theta in zip(q, np.real(turned), strict=True):
            exponential(self.system.layout.arrays, self.q, np.ascontiguousarray(theta), place)
        speeds = np.ascontiguousarray(np.real(1j * rate * turned))
        seen = self.system.observe(q, speeds, self.t)
        return label(self.system, times, seen, {}, [], None, [], {"method": f"mode {k}"})


def _complex(value: complex) -> str:
    """A real eigenvalue, or a pair."""
    return f"{value.real:.5g} ± {value.imag:.5g}i" if value.imag else f"{value.real:.5g}"


def linearize(
    model: Model | System | Equilibrium, q: Vector | None = None, v: Vector | None = None, *, inputs: Sequence[str] = (),
    outputs: Sequence[str] = (), t: float = 0.0,
) -> Linear:  # fmt: skip
    """Linearise a model about a state: default its equilibrium (`madi.statics`), else (q, v), closed, steady.

    `inputs`: joint coordinates on which a force or torque acts. `outputs`: signals as `run[...]` has them: "A", "A.v",
    "A.a", "arm.x", "arm.vz", "arm.ax", "arm.wy", force elements. Loops are reduced away; driven joints go their way.

    >>> import madi
    >>> m = madi.Model("pendulum")
    >>> bob = m.body("bob", mass=1.0, inertia=(0, 0, 0), position=(0, 0, -1), unphysical=True)
    >>> _ = m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0))
    >>> round(madi.linearize(m).modes[0]["frequency"] * 2 * 3.141592653589793, 6)
    3.132092
    """
    if isinstance(model, Equilibrium):
        system, q, v = model.system, model.q if q is None else q, model.v if v is None else v
    elif isinstance(model, Model | System):
        system = model if isinstance(model, System) else model.build()
    else:
        raise InputError(f"linearize: give a Model, a System or an Equilibrium, not {type(model).__name__}")
    if q is None:
        if v is not None:
            raise InputError("linearize: with v give q too (a steady motion); without both, the equilibrium is taken")
        rest = statics(system, t=t)  # drives hold their joints there
        system, q = rest.system, rest.q
    here, speed = system.checked_coordinates(q), system.checked_vector(v, system.nv, "v")
    seen = system.observe(here.copy(), speed.copy(), t)
    with one_core(system.nv):
        return _Point(system, seen.q[0], seen.v[0], t).linear(list(inputs), list(outputs))


class _Point:
    """Everything at one state."""

    def __init__(self, system: System, q: np.ndarray, v: np.ndarray, t: float):
        self.system, self.q, self.v, self.t = system, q, v, t
        refuse_open_loops(system, q, v, t)
        nv, nr = system.nv, system.n_constraints
        if nr:
            out = system._evaluate("multipliers", q, v, np.zeros(nv), t, "auto")
            self.a, self.lam = out[:nv], out[nv:]
        else:
            self.a, self.lam = system.forward_dynamics(q, v, t=t), np.zeros(0)
        blocks = system._blocks(t, q, v.copy(), np.concatenate([np.zeros(nv), self.a, self.lam]))
        system._raise_from_functions()
        self.masses = np.diag(blocks["qdd"]).copy()
        self.free = np.asarray(system.layout.arrays.drive) == FREE_COLUMN
        rows = np.asarray(system.layout.arrays.row_place) >= 0 if nr else np.zeros(0, dtype=bool)
        free = self.free
        self.M, self.damping, self.K = (blocks[name][np.ix_(free, free)] for name in ("qdd", "qd", "q"))
        self.J, self.G = blocks["phi"][rows][:, free], blocks["rate"][rows][:, free]
        self._reduce()

    def _reduce(self) -> None:
        """N and X, by independent coordinates: those a pivoted QR of the null space takes first, by mass."""
        n = int(self.free.sum())
        if not len(self.J):
            self.independent, self.N, self.X = np.arange(n), np.eye(n), np.zeros((n, n))
            return
        from scipy.linalg import qr

        root = np.sqrt(np.diag(self.M))
        _, s, Vt = np.linalg.svd(self.J / root, full_matrices=True)
        rank = int(np.sum(s > DEPENDENT * max(s[0], LEAST_SIZE))) if len(s) else 0
        null = Vt[rank:].T / root[:, None]
        with one_core(n):  # SciPy's own BLAS, just loaded
            *_, order = qr((null * root[:, None]).T, mode="economic", pivoting=True)
        self.independent = np.sort(order[: n - rank])
        self.N = null @ np.linalg.inv(null[self.independent])
        self.X = np.zeros((n, n - rank))
        if rank:
            rest = np.setdiff1d(np.arange(n), self.independent)
            self.X[rest] = np.linalg.lstsq(self.J[:, rest], -self.G @ self.N, rcond=DEPENDENT)[0]

    def _turning(self) -> np.ndarray:
        """theta' = dv + S theta: minus ad of the speeds of joints with a quaternion, whose axes turn along."""
        system, S = self.system, np.zeros((self.system.nv, self.system.nv))
        for joint in system.frozen.joints:
            at = KINDS[joint.kind].quaternion
            if at is None:
                continue
            first = system.v_slice(joint.name).start + at
            w = _skew(self.v[first : first + 3])
            S[first : first + 3, first : first + 3] = -w
            if at == 3:
                lin = slice(first - 3, first)
                S[lin, lin] = -w
                S[lin, first : first + 3] = -_skew(self.v[lin])
        return S[np.ix_(self.free, self.free)]

    def linear(self, inputs: list[str], outputs: list[str]) -> Linear:
        """A, B, C, D."""
        system, N, X = self.system, self.N, self.X
        f = N.shape[1]
        forces = np.zeros((int(self.free.sum()), len(inputs)))
        names = [name for name, free in zip(system.speeds, self.free, strict=True) if free]
        for k, name in enumerate(inputs):
            if name not in names:
                raise InputError(f"linearize: input {name!r} is no free joint coordinate; there are: {', '.join(names)}")
            forces[names.index(name), k] = 1.0
        spin = (self._turning() @ N)[self.independent]
        top = np.hstack([spin, np.eye(f)])
        mass = N.T @ self.M @ N
        by_z = -N.T @ (self.damping @ X + self.K @ N + self.M @ X @ spin)
        by_w = -N.T @ (self.damping @ N + self.M @ X)
        lower = np.linalg.solve(mass, np.hstack([by_z, by_w]))
        A = np.vstack([top, lower])
        B = np.vstack([np.zeros((f, len(inputs))), np.linalg.solve(mass, N.T @ forces)])
        # all accelerations: da = N w' + X z'
        da = np.hstack([N @ A[f:] + X @ A[:f], N @ B[f:]])
        states = [names[k] for k in self.independent]
        C, D = self._outputs(outputs, da)
        full = np.zeros((system.nv, f))
        full[self.free] = N
        rest = np.zeros((system.nv, f))
        rest[self.free] = X
        size = float(np.max(np.abs(self.a), initial=0.0)) / (
            1.0 + float(np.linalg.norm(system.layout.arrays.gravity)) + float(np.max(np.abs(self.v), initial=0.0)) ** 2
        )
        moving = [name not in system.states for name in states]
        both = (*(name for name, yes in zip(states, moving, strict=True) if yes),
                *(f"{name}.v" if yes else name for name, yes in zip(states, moving, strict=True)))  # fmt: skip
        kept = np.flatnonzero([*moving, *[True] * f])
        A, B, C, full, rest = A[np.ix_(kept, kept)], B[kept], C[:, kept], full[:, moving], rest[:, moving]
        return Linear(
            system, A, B, C, D, both, tuple(inputs), tuple(outputs), self.q, self.v, self.t, size, full, rest, self.masses
        )  # fmt: skip

    def _outputs(self, outputs: list[str], da: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By central differences of the signals along every state and input."""
        f, m = self.N.shape[1], da.shape[1] - 2 * self.N.shape[1]
        found = np.zeros((len(outputs), 2 * f + m))
        if not outputs:
            return found[:, : 2 * f], found[:, 2 * f :]
        h = DIFFERENCE
        for k in range(2 * f + m):
            theta, dv = np.zeros(self.system.nv), np.zeros(self.system.nv)
            if k < f:
                theta[self.free], dv[self.free] = self.N[:, k], self.X[:, k]
            elif k < 2 * f:
                dv[self.free] = self.N[:, k - f]
            change = np.zeros(self.system.nv)
            change[self.free] = da[:, k]
            ahead, behind = (self._signals(outputs, s * h, theta, dv, change) for s in (1.0, -1.0))
            found[:, k] = (ahead - behind) / (2 * h)
        return found[:, : 2 * f], found[:, 2 * f :]

    def _signals(self, outputs: list[str], h: float, theta: np.ndarray, dv: np.ndarray, da: np.ndarray) -> np.ndarray:
        system, q = self.system, np.empty(self.system.nq)
        exponential(system.layout.arrays, self.q, h * theta, q)
        row = system._evaluate("observe", q, self.v + h * dv, self.a + h * da, self.t, "auto")
        run = label(system, np.array([self.t]), Observation(system, row[None, :]), {}, [], None, [], {})
        return np.array([float(run[name][0]) for name in outputs])


def _skew(w: np.ndarray) -> np.ndarray:
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])
