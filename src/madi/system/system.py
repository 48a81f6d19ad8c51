"""`System`: a model frozen into a tree, arrays and names, ready to be evaluated."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.equations.observe import FRAME, POSES
from madi.equations.residual import TERMS
from madi.equations.row import with_bodies
from madi.joints.columns import LOCKED
from madi.system.evaluate import Evaluation
from madi.system.loads import reactions
from madi.system.observation import Observation, Reaction, SystemJacobian
from madi.topology.layout import Layout, model_views, repack
from madi.topology.parameters import Parameters

if TYPE_CHECKING:
    from madi.assembly.assemble import Assembly
    from madi.assembly.redundancy import Mobility
    from madi.symbolic.equations import Equations


class System(Evaluation):
    """The equations of a model. `q`, `v`: joint coordinates and velocities, in the order of `coordinates` and `speeds`."""

    def adjustable(self, parameters: Parameters) -> System:
        """A copy whose `parameters` can be changed (`adjust`) without freezing or compiling anew; not to be shared between
        threads."""
        other = self._with(Layout(self.drawn.ints, self.drawn.reals.copy()))
        other.parameters, other.values = parameters, parameters.values.copy()
        other.frozen = copy.copy(self.frozen)
        return other

    def still(self) -> System:
        """The same with its drives holding their joints where q has them: what is at rest stays at rest."""
        drive = self.layout.arrays.drive
        if not np.any(drive >= 0):
            return self
        other = self._with(repack(self.layout, {}, {"drive": np.where(drive >= 0, LOCKED, drive)}))
        other.drawn, other._traces = other.layout, {}
        return other

    def _with(self, layout: Layout) -> System:
        """A copy with other arrays, without what was made from these."""
        other = copy.copy(self)
        other.layout, other._engines = layout, {}
        for name in ("start", "residual_blocks", "_whole_blocks"):
            other.__dict__.pop(name, None)
        return other

    def adjust(self, values: np.ndarray) -> None:
        """Set the values of the parameters."""
        assert self.parameters is not None
        assert self.values is not None
        self.values[:] = values
        self.layout.reals[:] = self.parameters.reals(self.drawn.reals, self.values)
        self.frozen.body_r = self.parameters.body_r(self._drawn_body_r, self.values)
        self.__dict__.pop("start", None)

    @property
    def digest(self) -> str:
        """A hash of the model's arrays. Functions that stay in Python are not part of it: their addresses mean nothing."""
        ints = self.layout.ints.copy()
        calls = model_views(ints, self.layout.reals).callback
        if calls.size:
            calls[:, 0] = 0
        return hashlib.sha256(ints.tobytes() + self.layout.reals.tobytes()).hexdigest()[:16]

    def __repr__(self) -> str:
        cuts = len(self.cut_joints)
        return f"<System {self.name!r}: {len(self.bodies)} bodies, {self.nv} generalised velocities, {cuts} cut joints>"

    def picture(self, path: Any = None) -> Any:
        """A drawing of tree and cuts; saved to `path` if given. Returns the figure."""
        from madi.topology.explain import picture

        return picture(self, path)

    def explain(self) -> str:
        """Tree, cuts, coordinates and constraint counts, by name."""
        from madi.topology.explain import explain

        return explain(self)

    # ---- dynamics ---------------------------------------------------------------------------------------------------

    def forward_dynamics(self, q: Any, v: Any, tau: Any = None, t: float = 0.0, *, formulation: str | None = None,
                         engine: str = "auto") -> np.ndarray:  # fmt: skip
        """Accelerations for generalised forces `tau` beside the model's own forces. Driven joints move as driven at t."""
        tau = self.checked_vector(tau, self.nv, "tau")
        return self._evaluate(self.entry(formulation), q, v, tau, t, engine)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, t: float = 0.0, *, engine: str = "auto") -> np.ndarray:
        """Generalised forces, beside the model's own forces, that give the accelerations `a`. With loops: of the tree as
        if its cuts were open (constraint forces are not counted)."""
        return self._evaluate("inverse", q, v, self.checked_vector(a, self.nv, "a"), t, engine)

    def mass_matrix(self, q: Any, *, engine: str = "auto") -> np.ndarray:
        """The joint-space mass matrix, full."""
        return self._evaluate("mass-matrix", q, None, np.zeros(0), 0.0, engine).reshape(self.nv, self.nv)

    def derivatives(self, q: Any, v: Any, tau: Any = None, t: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Exact d(acceleration)/d(q, v, tau) from the trace, each nv × nv.

        The first is by the coordinates of the chart at q: q moves as the speeds would move it (for joints without a
        quaternion, simply by q).
        """
        self._refuse_callbacks("exact derivatives")
        key = ("derivatives", self.entry())
        if key not in self._traces:
            from madi.symbolic.trace import derivative_function

            self._traces[key] = derivative_function(self.layout, self.entry())
        q, v, tau = (
            self.checked_coordinates(q),
            self.checked_vector(v, self.nv, "v"),
            self.checked_vector(tau, self.nv, "tau"),
        )
        by_q, by_v, by_tau = self._traces[key](t, q, v, tau)
        return np.array(by_q), np.array(by_v), np.array(by_tau)

    @cached_property
    def residual_blocks(self) -> tuple[Any, Any]:
        """(where the entries of the system Jacobian are, its trace). Without a trace, where the model is very large, all
        entries, by differences."""
        from madi.symbolic.jacobian import full_blocks, jacobian_function

        found = jacobian_function(self.drawn, self.parameters, self.outside)
        return found or (full_blocks(self.nv, self.n_constraints), None)

    @cached_property
    def _whole_blocks(self) -> tuple[Any, Any]:
        """As `residual_blocks`, for derivatives that must be right at any one state: by all that functions in Python get."""
        from madi.symbolic.jacobian import jacobian_function

        if self.outside is None:
            return self.residual_blocks
        return jacobian_function(self.drawn, self.parameters, self._outside(whole=True)) or self.residual_blocks

    def residual(self, q: Any, v: Any, a: Any, lam: Any = None, t: float = 0.0, *, engine: str = "auto") -> np.ndarray:
        """R = M a + Phi_q^T lam - P: zero where the motion is right. Of a driven joint, how far `a` is from the drive's."""
        x = self._trial(a, lam)
        return self._evaluate("residual", q, v, x, t, engine)[: self.nv]

    def _trial(self, a: Any, lam: Any) -> np.ndarray:
        """x of the entry `residual`: theta = 0, accelerations, multipliers."""
        parts = [
            np.zeros(self.nv),
            self.checked_vector(a, self.nv, "a"),
            self.checked_vector(lam, self.n_constraints, "lam"),
        ]
        return np.concatenate(parts)

    def system_jacobian(self, q: Any, v: Any, a: Any, lam: Any = None, t: float = 0.0) -> SystemJacobian:
        """Derivatives of the residual R = M a + Phi_q^T lam - P, and Phi_q; exact from the trace.

        By q means along the generalised velocities (see `derivatives`). Of functions that stay in Python, the derivatives of
        their own values are by central differences (P4's R_num); `.exact` is False with them, and where the model is too
        large to trace: then all is by differences.
        """
        q, v, x = self.checked_coordinates(q), self.checked_vector(v, self.nv, "v").copy(), self._trial(a, lam)
        found = self._blocks(t, q, v, x)
        self._raise_from_functions()
        exact = self.residual_blocks[1] is not None and self.outside is None
        return SystemJacobian(found["qdd"], found["qd"], found["q"], found["phi"], exact)

    def _blocks(self, t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray) -> dict[str, np.ndarray]:
        """The blocks of the system Jacobian as full matrices, by name (symbolic/jacobian.py)."""
        from madi.integrate.newton import BlockMemory, differences
        from madi.kernel.fields import ABSENT

        blocks, trace = self._whole_blocks
        values = np.zeros(sum(blocks.sizes))
        if trace is not None:
            values[:] = trace(t, q, v, x, self.values)
        else:
            sizes = {"nv": self.nv, "nr": self.n_constraints, "n_entries": len(values)}
            residual = self.engine("plain").function("residual")
            memory = BlockMemory(sizes, model=self.layout.arrays, residual=residual, blocks=ABSENT)
            memory.trial[:] = x
            differences(memory, t, q, v)
            values[:] = memory.entries
        return blocks.matrices(values, self.nv, self.n_constraints)

    def equations(self, parameters: Sequence[str] = ()) -> Equations:
        """The equations as expressions a person can read: M, P, Phi, operation counts, LaTeX (symbolic/equations.py).

        `parameters`: numbers that stay letters, by name: "bob.mass", "spring.stiffness", "gravity.z".
        """
        from madi.symbolic.equations import Equations
        from madi.topology.parameters import parameters as locate

        self._refuse_callbacks("readable equations")
        return Equations(self, locate(self.model, list(parameters), self.frame) if parameters else None)

    def operation_count(self, entry: str | None = None, share: bool = True) -> dict[str, int]:
        """Arithmetic operations of one evaluation in code made for this model: "mul", "add", ... and "total".

        `entry`: a formulation, "inverse" or "mass-matrix"; default the formulation in use. `share=False`: before common
        terms are shared.
        """
        from madi.symbolic.trace import count_operations, trace

        self._refuse_callbacks("an operation count")
        name = entry if entry in ("inverse", "mass-matrix") else self.entry(entry)
        key = ("count", name, share)
        if key not in self._traces:
            self._traces[key] = count_operations(trace(self.layout, name, share))
        return {**self._traces[key], "total": sum(self._traces[key].values())}

    # ---- loops ------------------------------------------------------------------------------------------------------

    def constraint_terms(self, q: Any, v: Any = None, t: float = 0.0, *, engine: str = "auto") -> tuple[np.ndarray, ...]:
        """(Phi, Phi', gamma, Phi_q) of all scalar constraints, at the state as given; Phi_q a = gamma keeps them."""
        rows, nv = self.n_constraints, self.nv
        out = self._evaluate("constraints", q, v, np.zeros(nv), t, engine)
        terms = TERMS.views(out, self.layout.sizes)
        return terms.phi, terms.rate, terms.gamma, terms.jacobian.reshape(rows, nv)

    def constraints(self, q: Any, t: float = 0.0, *, engine: str = "auto") -> np.ndarray:
        """Residuals of all scalar constraints (m or rad), in the order of `constraint_names`."""
        return self.constraint_terms(q, None, t, engine=engine)[0]

    def constraint_jacobian(self, q: Any, t: float = 0.0, *, engine: str = "auto") -> np.ndarray:
        """Phi_q: rates of the residuals per unit of each speed."""
        return self.constraint_terms(q, None, t, engine=engine)[3]

    def assemble(self, q0: Any = None, v0: Any = None, *, pin: Any = None, assembly_mode: int = 0, t: float = 0.0,
                 branch: Any = None) -> Assembly:  # fmt: skip
        """The closed state nearest to (q0, v0): see `madi.assemble`."""
        from madi.assembly.assemble import assemble

        return assemble(self, q0, v0, pin=pin, assembly_mode=assembly_mode, t=t, branch=branch)

    @cached_property
    def start(self) -> Assembly:
        """The closed state the model starts from."""
        return self.assemble()

    def mobility(self, q: Any = None, t: float = 0.0) -> Mobility:
        """Freedoms, Grübler's count, redundant constraints by name, at q (default: the assembled start)."""
        from madi.assembly.redundancy import mobility

        q = self.start.q if q is None else q
        return mobility(self, self.constraint_jacobian(q, t, engine="plain"))

    # ---- what bodies and joints do ----------------------------------------------------------------------------------

    def observe(self, q: Any, v: Any = None, t: float = 0.0, a: Any = None, *, engine: str = "auto") -> Observation:
        """Poses, velocities, energies and forces at one state."""
        row = self._evaluate("observe", q, v, self.checked_vector(a, self.nv, "a"), t, engine)
        return Observation(self, row[None, :])

    def body_pose(self, q: Any, body: Any, *, engine: str = "auto") -> tuple[np.ndarray, np.ndarray]:
        """(position, rotation matrix) of the body's frame in the ground. Joint coordinates are taken as given."""
        i = self._body(body)
        if i == 0:
            return np.zeros(3), np.eye(3)
        row = self._evaluate("poses", q, None, np.zeros(0), 0.0, engine)
        frame = FRAME.views(POSES.views(row, with_bodies(self.layout.sizes)).body[i - 1], {})
        R, r = frame.R[0], frame.r[0]
        return r + R @ self.frozen.body_r[i - 1], R @ self.frozen.body_R[i - 1]

    def point_jacobian(self, q: Any, body: Any, point: Any = (0.0, 0.0, 0.0), *, engine: str = "auto") -> np.ndarray:
        """6 × nv: velocity of a point of a body (given in the body's frame) and the body's angular velocity, ground axes."""
        i = self._body(body)
        if i == 0:
            return np.zeros((6, self.nv))
        inside = self.frozen.body_r[i - 1] + self.frozen.body_R[i - 1] @ self.checked_vector(point, 3, "point")
        return self._evaluate("point-jacobian", q, None, np.array([i, *inside]), 0.0, self.general(engine)).reshape(
            6, self.nv
        )

    def velocity_transformation(self, q: Any, v: Any, *, engine: str = "auto") -> tuple[np.ndarray, np.ndarray]:
        """P0's B and Bdot v: (velocity of the centre of mass, angular velocity) of all bodies, in the order of `bodies`,
        is B v, and their accelerations are B a + Bdot v. Ground axes, 6 n × nv and 6 n."""
        rows, bias = [], []
        model, seen = self.layout.arrays, self.observe(q, v, engine=engine)
        for k, name in enumerate(self.bodies):
            lever = model.com[k + 1] - self.frozen.body_r[k]  # from the body frame's origin, internal axes
            rows.append(self.point_jacobian(q, name, self.frozen.body_R[k].T @ lever, engine=engine))
            arm = seen.rotation[0, k] @ self.frozen.body_R[k].T @ lever
            w = seen.angular_velocity[0, k]
            com = seen.acceleration[0, k] + np.cross(seen.angular_acceleration[0, k], arm) + np.cross(w, np.cross(w, arm))
            bias.append(np.concatenate([com, seen.angular_acceleration[0, k]]))
        return np.vstack(rows), np.concatenate(bias)

    def energy(self, q: Any, v: Any, t: float = 0.0, *, engine: str = "auto") -> dict[str, float]:
        """Kinetic, potential (gravity and springs) and total energy, J."""
        seen = self.observe(q, v, t, engine=engine)
        kinetic, potential = float(seen.kinetic[0]), float(seen.potential[0])
        return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}

    def powers(self, q: Any, v: Any, t: float = 0.0, *, engine: str = "auto") -> dict[str, dict[str, float]]:
        """Of every force element: its value, potential energy, power delivered to the system, power dissipated."""
        table = self.observe(q, v, t, engine=engine).force[0]
        return {
            name: dict(zip(("value", "potential", "power", "dissipated"), map(float, row), strict=True))
            for name, row in zip(self.forces, table, strict=True)
        }

    def momentum(self, q: Any, v: Any, *, engine: str = "auto") -> np.ndarray:
        """Linear momentum and angular momentum about the ground's origin, ground axes (six numbers)."""
        return self.observe(q, v, engine=engine).momentum[0]

    def reactions(self, q: Any = None, v: Any = None, joints: Any = None, tau: Any = None, t: float = 0.0, *,
                  axes: Any = "ground", a: Any = None, way: str = "selected",
                  engine: str = "auto") -> dict[str, Reaction]:  # fmt: skip
        """Force and moment on the child of each joint, at the joint (P1), incl. what springs and drives transmit there.

        q, v: default the start (with loops, the closed one: `s.start`); with loops they must be closed. `joints`: names of
        joints and of constraints between bodies (default all); `axes`: "ground", or a body in whose axes they are wanted;
        `a`: accelerations if they are known already; `way`: "selected" (P1's non-recursive formula) or "newton-euler" (over
        all outboard bodies).
        """
        return reactions(self, q, v, joints, tau, t, axes, a, way, engine)
