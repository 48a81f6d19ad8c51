"""CVODE and IDA of SUNDIALS (through scikit-sundae, extra `sundials`): variable order, for comparison and for stiff models.

The unknowns are theta and v in the chart (joints/chart.py) at the last starting point; where rotations have no coordinates
of their own, the solver is started afresh before theta comes near a full turn. "cvode" integrates v' = accelerations (BDF);
with loops Baumgarte's feedback keeps them near, and outputs are closed. "ida" solves  theta' = v - Phi_q^T mu,
R(q, v, v', lam) = 0, Phi' = 0, Phi = 0  (stabilised index 2: both levels hold), over independent rows. Jacobians come from
the system Jacobian, exact but for the chart's curvature. Each evaluation is called from Python: these methods are accurate,
not fast.

docs/references.md: [Hindmarsh et al. 2005], [Gear, Leimkuhler, Gupta 1985].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from madi.errors import EngineError
from madi.integrate.memory import DONE, NOT_FINITE, Loop
from madi.integrate.memory import STEP_TOO_SMALL as GAVE_UP
from madi.integrate.method import Adaptive
from madi.integrate.newton_matrix import ImplicitMemory
from madi.joints.chart import chart_rate, retract
from madi.joints.ladder import quaternion_at
from madi.kernel import LEAST_SIZE
from madi.loops.methods import two_rates

TURN = 1.5  # rad in one chart
DEPENDENT = 1e-9  # pivot of a row, against the largest, below which it adds nothing
AT_REST = 1e-9  # rad/s, added to the largest: what stands still stays in its chart for long
ANY_ERROR = 1e12  # absolute tolerance of what no error is asked of
MOST_STEPS = 100_000  # of the solver between two outputs


def _package(name: str) -> Any:
    try:
        from sksundae import cvode, ida
    except ImportError:
        raise EngineError(
            f'method="{name}" needs scikit-sundae: pip install "madi[sundials]"; method="radau" is for stiff models too'
        ) from None
    return cvode.CVODE if name == "cvode" else ida.IDA


class Outside:
    """One run by a solver that is not ours: state in a chart, functions, outputs."""

    def __init__(self, run: Any):
        self.run, self.system = run, run.system
        self.nv, self.nr = self.system.nv, self.system.n_constraints
        self.model = self.system.layout.arrays
        turning = [
            c
            for i in range(1, int(self.model.n))
            if (at := quaternion_at(int(self.model.code[i]))) >= 0
            for c in range(int(self.model.v_at[i]) + at, int(self.model.v_end[i]))
        ]
        self.turning = np.array(turning, dtype=np.int64)  # columns of rotations without coordinates of their own
        self.blocks = self.system.residual_blocks[0]
        self.off = self.model.row_place < 0  # rows that are left out: their multipliers are held at zero
        self.q, self.v = run.memory.q.copy(), run.memory.v.copy()
        self.lam = np.zeros(self.nr)

    def moved(self, theta: np.ndarray) -> np.ndarray:
        """q of the chart's point theta."""
        q = np.empty(self.system.nq)
        retract(self.model, self.q, theta, q)
        return q

    def rate(self, theta: np.ndarray, v: np.ndarray) -> np.ndarray:
        """theta'."""
        rate = np.empty(self.nv)
        chart_rate(self.model, theta, v, rate)
        return rate

    def acceleration(self, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """v'; with loops from the general kernel, which has the feedback."""
        self.run.memory.evaluations += 1
        engine = self.run.closing_engine if self.nr else self.run.engine
        return engine.evaluate(self.run.entry, t, q, v, np.zeros(self.nv), self.nv)

    def residual(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray, lam: np.ndarray) -> np.ndarray:
        """(R, Phi, Phi')."""
        self.run.memory.evaluations += 1
        x = np.concatenate([np.zeros(self.nv), a, lam])
        return self.run.engine.evaluate("residual", t, q, v, x, self.nv + 2 * self.nr)

    def jacobian(self, t: float, q: np.ndarray, v: np.ndarray, a: np.ndarray, lam: np.ndarray) -> dict[str, np.ndarray]:
        """The blocks as matrices, nothing in rows that are left out."""
        self.run.memory.jacobians += 1
        found = self.system._blocks(t, q, v.copy(), np.concatenate([np.zeros(self.nv), a, lam]))
        found["phi"][self.off], found["rate"][self.off], found["lam"][:, self.off] = 0.0, 0.0, 0.0
        return found

    def multipliers(self, t: float, a: np.ndarray) -> np.ndarray:
        """Multipliers at the starting point, from what R lacks; rows that depend on others are left out from here on."""
        from scipy.linalg import qr

        none = np.zeros(self.nr)
        found = self.jacobian(t, self.q, self.v, a, none)
        _, R, order = qr(found["phi"].T, mode="economic", pivoting=True)
        size = np.abs(np.diag(R))
        self.off[order[: len(size)][size < DEPENDENT * np.max(size, initial=LEAST_SIZE)]] = True
        self.off[order[len(size) :]] = True
        found["lam"][:, self.off] = 0.0
        lack = -self.residual(t, self.q, self.v, a, none)[: self.nv]
        return np.linalg.lstsq(found["lam"], lack, rcond=None)[0]

    def outputs(self, begin: Callable[[float], Any], take: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]) -> int:
        """Go from output to output; `begin` starts the solver at (t, self.q, self.v), `take` reads (theta, v)."""
        run, m, t = self.run, self.run.memory, 0.0
        m.started = 1
        solver, theta, v = begin(t), np.zeros(self.nv), self.v.copy()
        while m.next < len(run.times):
            k = int(m.next)
            goal = float(run.times[k])
            while t < goal:
                stop = goal
                if len(self.turning):
                    stop = min(goal, t + TURN / (float(np.max(np.abs(v[self.turning]))) + AT_REST))
                    if np.max(np.abs(theta[self.turning])) > 0.5:
                        self.q, self.v = self.moved(theta), v.copy()
                        solver, theta = begin(t), np.zeros(self.nv)
                found = solver.step(stop, tstop=m.end if stop < m.end else stop)
                if not found.success:
                    return GAVE_UP
                theta, v = take(np.asarray(found.y))
                t = float(found.t)
                m.t = t
                m.accepted += 1
                if not (np.isfinite(theta).all() and np.isfinite(v).all()):
                    return NOT_FINITE
            m.outputs.q_out[k * self.system.nq : (k + 1) * self.system.nq] = self.moved(theta)
            m.outputs.v_out[k * self.nv : (k + 1) * self.nv] = v
            m.next = k + 1
        return DONE


def _options(run: Any) -> dict[str, Any]:
    m = run.memory
    return {
        "rtol": float(m.rtol), "atol": float(m.atol), "max_num_steps": MOST_STEPS, "max_step": float(m.max_step),
        "first_step": float(m.first_step),
    }  # fmt: skip


def cvode(run: Any) -> int:
    """One run by CVODE."""
    package, out = _package("cvode"), Outside(run)
    nv = out.nv

    def right(t: float, y: np.ndarray, yp: np.ndarray) -> None:
        theta, v = np.array(y[:nv]), np.array(y[nv:])
        yp[:nv] = out.rate(theta, v)
        yp[nv:] = out.acceleration(t, out.moved(theta), v)

    def jacobian(t: float, y: np.ndarray, yp: np.ndarray, J: np.ndarray) -> None:
        theta, v, a = np.array(y[:nv]), np.array(y[nv:]), np.array(yp[nv:])
        q = out.moved(theta)
        b = out.jacobian(t, q, v, a, out.lam)
        K = np.block([[b["qdd"], b["lam"]], [b["phi"], np.diag(1.0 * out.off)]])
        side = -np.vstack([np.hstack([b["q"], b["qd"]]), np.zeros((out.nr, 2 * nv))])
        J[:nv, :nv], J[:nv, nv:] = 0.0, np.eye(nv)
        J[nv:] = np.linalg.solve(K, side)[:nv]

    def begin(t: float) -> Any:
        if out.nr:  # the Jacobian takes the multipliers of the start
            out.lam = out.multipliers(t, out.acceleration(t, out.q, out.v))
        solver = package(right, jacfn=jacobian, method="BDF", **_options(run))
        solver.init_step(t, np.concatenate([np.zeros(nv), out.v]))
        return solver

    return out.outputs(begin, lambda y: (y[:nv].copy(), y[nv:].copy()))


def ida(run: Any) -> int:
    """One run by IDA."""
    package, out = _package("ida"), Outside(run)
    nv, nr = out.nv, out.nr
    theta_, v_, lam_, mu_ = slice(0, nv), slice(nv, 2 * nv), slice(2 * nv, 2 * nv + nr), slice(2 * nv + nr, 2 * nv + 2 * nr)
    kept: dict[str, Any] = {}

    def rows(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Phi_q^T at a state, as the last Jacobian had it, else now."""
        if "lam" not in kept:
            kept["lam"] = out.jacobian(t, q, v, np.zeros(nv), np.zeros(nr))["phi"].T
        return np.asarray(kept["lam"])

    def residual(t: float, y: np.ndarray, yp: np.ndarray, res: np.ndarray) -> None:
        theta, v, lam = np.array(y[theta_]), np.array(y[v_]), np.array(y[lam_])
        q = out.moved(theta)
        found = out.residual(t, q, v, np.array(yp[v_]), lam)
        res[theta_] = yp[theta_] - out.rate(theta, v)
        res[v_] = found[:nv]
        if nr:
            res[theta_] += rows(t, q, v) @ y[mu_]
            res[lam_] = np.where(out.off, lam, found[nv + nr :])
            res[mu_] = np.where(out.off, y[mu_], found[nv : nv + nr])

    def jacobian(t: float, y: np.ndarray, yp: np.ndarray, res: np.ndarray, cj: float, J: np.ndarray) -> None:
        theta, v, lam = np.array(y[theta_]), np.array(y[v_]), np.array(y[lam_])
        b = out.jacobian(t, out.moved(theta), v, np.array(yp[v_]), lam)
        J[:] = 0.0
        J[theta_, theta_], J[theta_, v_] = cj * np.eye(nv), -np.eye(nv)
        J[v_, theta_], J[v_, v_] = b["q"], b["qd"] + cj * b["qdd"]
        if nr:
            kept["lam"] = b["phi"].T
            J[theta_, mu_], J[v_, lam_] = b["phi"].T, b["lam"]
            J[lam_, theta_], J[lam_, v_], J[lam_, lam_] = b["rate"], b["phi"], np.diag(1.0 * out.off)
            J[mu_, theta_], J[mu_, mu_] = b["phi"], np.diag(1.0 * out.off)

    def begin(t: float) -> Any:
        options = _options(run)
        a = out.acceleration(t, out.q, out.v)
        lam = np.zeros(nr)
        if nr:
            lam = out.multipliers(t, a)
            options["algebraic_idx"] = list(range(2 * nv, 2 * nv + 2 * nr))
            # multipliers follow from the rest; their own error must not choose the step
            options["atol"] = np.concatenate([np.full(2 * nv, options["atol"]), np.full(2 * nr, ANY_ERROR)])
        solver = package(residual, jacfn=jacobian, **options)
        y = np.concatenate([np.zeros(nv), out.v, lam, np.zeros(nr)])
        solver.init_step(t, y, np.concatenate([out.v, a, np.zeros(2 * nr)]))
        return solver

    return out.outputs(begin, lambda y: (y[theta_].copy(), y[v_].copy()))


def _no_loop(m: Any) -> int:
    raise AssertionError("its steps are taken outside")


@dataclass(frozen=True)
class CVODE(Adaptive):
    """CVODE (BDF) of SUNDIALS, implicit, adaptive. With loops, `feedback` (Baumgarte's alpha and beta, 1/s) keeps them near
    their constraints, and outputs are closed."""

    feedback: tuple[float, float] = (10.0, 10.0)
    name = "cvode"
    order = 5
    implicit = True
    adaptive = Loop("cvode", _no_loop, ImplicitMemory, outside=True)
    outside = staticmethod(cvode)

    def __post_init__(self) -> None:
        super().__post_init__()
        two_rates(self.feedback)

    def feed_back(self, options: Any) -> None:
        """See Method."""
        alpha, beta = self.feedback
        options.feedback_rate, options.feedback_position = 2 * alpha, beta**2


@dataclass(frozen=True)
class IDA(Adaptive):
    """IDA of SUNDIALS, implicit, adaptive: the equations of motion with both levels of the constraints."""

    name = "ida"
    order = 5
    implicit = True
    closes = True
    adaptive = Loop("ida", _no_loop, ImplicitMemory, outside=True)
    outside = staticmethod(ida)
