"""`System`: a model frozen into a tree, arrays and names, ready to be evaluated."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.dynamics import articulated, recursive
from madi.dynamics.kinematics import positions, velocities
from madi.equations import ENTRIES, FORMULATIONS
from madi.equations.motion import take_motion
from madi.equations.observe import FRAME, POSES
from madi.equations.residual import TERMS
from madi.equations.row import with_bodies
from madi.errors import Finding, InputError, ModelError, RunError, TraceError, warn
from madi.flexible.nodes import Nodes
from madi.forces.line import line
from madi.joints import KINDS
from madi.joints.columns import FREE_COLUMN, LOCKED
from madi.model.check import check
from madi.model.elements import body_name
from madi.system.observation import Observation, Reaction, SystemJacobian
from madi.topology.freeze import freeze, path_matrix
from madi.topology.graph import spanning_tree
from madi.topology.layout import Layout, model_views, repack
from madi.topology.lower import lower
from madi.topology.parameters import Parameters

if TYPE_CHECKING:
    from madi.assembly.assemble import Assembly
    from madi.assembly.redundancy import Mobility
    from madi.model.model import Model
    from madi.symbolic.equations import Equations

ENGINES = ("auto", "plain", "jit", "compiled")


LIGHT = Finding(
    "mass matrix", "near the start some degree of freedom has (almost) nothing to accelerate",
    "Look for bodies whose mass, or inertia about a joint's axis, is zero or tiny",
)  # fmt: skip


class System:
    """The equations of a model. `q`, `v`: joint coordinates and velocities, in the order of `coordinates` and `speeds`."""

    def __init__(self, model: Model, frame: str = "base"):
        if frame not in ("base", "ground"):
            raise InputError(f"frame={frame!r}: choose 'base' or 'ground'")
        findings = check(model)
        if findings:
            raise ModelError(model.name, findings)
        self.model, self.name = model, model.name
        self.frame = frame
        self.lowered = lower(model)  # flexible bodies as a frame and points
        self.spanning_tree = spanning_tree(self.lowered)
        self.frozen = freeze(self.lowered, self.spanning_tree, frame)
        if self.frozen.signals.findings:
            raise ModelError(model.name, self.frozen.signals.findings)
        for text in self.frozen.signals.remarks:
            warn(text)
        self.layout = self.frozen.layout
        self.active_rows = np.zeros(0, dtype=bool)
        self.parameters: Parameters | None = None  # numbers that may change from run to run (see `adjustable`)
        self.values: np.ndarray | None = None
        self.forces = [force.name for force in self.lowered.forces]
        self.roads = [(body_name(f.a), f.parameters["road"]) for f in self.lowered.forces if "road" in f.parameters]
        self._engines: dict[str, Any] = {}
        self._traces: dict[Any, Any] = {}
        self._joint_of = {joint.name: k + 1 for k, joint in enumerate(self.frozen.joints)}
        self._body_of = {name: k + 1 for k, name in enumerate(self.frozen.bodies)}
        self._refuse_singular_mass()
        if self.frozen.rows:
            from madi.topology.settle import settle

            try:
                self.layout, self.active_rows = settle(self.layout, self.frozen.rows, self.frozen.q0)
            except np.linalg.LinAlgError:
                raise ModelError(self.name, [LIGHT]) from None
            self._engines.clear()
        self.drawn = self.layout  # as drawn, whatever `adjust` does

    def adjustable(self, parameters: Parameters) -> System:
        """A copy whose `parameters` can be changed (`adjust`) without freezing or compiling anew; not to be shared between
        threads."""
        other = copy.copy(self)
        other.parameters, other.values = parameters, parameters.values.copy()
        other.layout = Layout(self.drawn.ints, self.drawn.reals.copy())
        other.frozen = copy.copy(self.frozen)
        other._engines = {}
        for name in ("residual_blocks", "_whole_blocks", "start"):
            other.__dict__.pop(name, None)
        return other

    def still(self) -> System:
        """The same with its drives holding their joints where q has them: what is at rest stays at rest."""
        drive = self.layout.arrays.drive
        if not np.any(drive >= 0):
            return self
        other = copy.copy(self)
        other.layout = other.drawn = repack(self.layout, {}, {"drive": np.where(drive >= 0, LOCKED, drive)})
        other._engines, other._traces = {}, {}
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
    def _drawn_body_r(self) -> np.ndarray:
        return self.__dict__.setdefault("_body_r", self.frozen.body_r)

    def _refuse_singular_mass(self) -> None:
        """A degree of freedom without inertia, at the start, has no acceleration: a point mass turning about itself, say."""
        work, model, rest = self.engine("plain").work, self.layout.arrays, np.zeros(self.nv)
        with np.errstate(all="ignore"):
            take_motion(model, work, 0.0, self.q0, rest)  # without forces: users' functions are not called for this
            positions(model, work, work.q)
            velocities(model, work, work.q, rest)
            work.Q[:], work.tau[:] = 0.0, 0.0
            articulated.forward(model, work)
            left = 1.0 / work.d_inverse[: self.nv]  # inertia of a column with all others free, against all others held
            recursive.mass_matrix(model, work)
            held = np.diag(work.M.reshape(self.nv, self.nv))
            turns = np.array([unit.startswith("rad") for unit in self.frozen.speed_units], dtype=bool)
            whole = work.K[model.column_body]  # what rounding may leave of a zero: by the subtree's inertia about the origin
            noise = 1e-15 * np.where(turns, whole[:, 4] + whole[:, 7] + whole[:, 9], 0.0)
            nothing = (model.drive == FREE_COLUMN) & ((held <= noise) | (left <= 1e-13 * held))
        without = [name for name, empty in zip(self.speeds, nothing, strict=True) if empty]
        if without:
            raise ModelError(
                self.name,
                [
                    self._without_inertia(name, without) for name in without
                ],
            )  # fmt: skip

    def _without_inertia(self, name: str, all_of_them: list[str]) -> Finding:
        """What to say of a degree of freedom that moves nothing."""
        flexible = {body.name for body in self.model.bodies if body.flexible is not None}
        for body in self.model.bodies:
            lacking = body.flexible.lacking() if isinstance(body.flexible, Nodes) else ""
            if lacking:
                cure = "Give masses and inertias that belong to modal_mass, or leave modal_mass out"
                return Finding(f"body {body.name!r}", lacking, cure)
        if any(other.split(".")[0] in flexible for other in all_of_them):
            return Finding(
                f"coordinate {name!r}",
                "it does what another one does: a mode is a rigid motion that the joint does too",
                "Leave out shapes that do not bend the body, or hold it by a joint without this degree of freedom",
            )
        return Finding(f"joint coordinate {name!r}", "nothing with inertia moves with it at the start",
                       "Give the body an inertia, lock the joint, or use a joint that does not have it")  # fmt: skip

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

    # ---- names and counts -------------------------------------------------------------------------------------------

    @cached_property
    def nq(self) -> int:
        """Number of joint coordinates."""
        return self.layout.header("nq")

    @cached_property
    def nv(self) -> int:
        """Number of entries of v: generalised velocities (degrees of freedom of the tree) and first-order states."""
        return self.layout.header("nv")

    @cached_property
    def _quaternions(self) -> list[tuple[str, int]]:
        """(joint, first entry in q) of every unit quaternion."""
        kinds = [(joint.name, KINDS[joint.kind].quaternion) for joint in self.frozen.joints]
        return [(name, self.q_slice(name).start + at) for name, at in kinds if at is not None]

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies in tree order, without the ground."""
        return list(self.frozen.bodies)

    @property
    def joint_names(self) -> list[str]:
        """Joints of the tree, each at the place of its body."""
        return [joint.name for joint in self.frozen.joints]

    @cached_property
    def drawn_joints(self) -> set[str]:
        """Joints of the tree as drawn (and free ones that were added): not the modal ones of flexible bodies."""
        return {joint.name for joint in self.frozen.joints if joint.station is None}

    @property
    def cut_joints(self) -> list[str]:
        """Joints that close loops: they are constraints, not coordinates."""
        return [joint.name for joint in self.spanning_tree.cuts if KINDS[joint.kind].cut]

    @property
    def coordinates(self) -> list[str]:
        """Names of the entries of q."""
        return list(self.frozen.coordinates)

    @property
    def speeds(self) -> list[str]:
        """Names of the entries of v: generalised velocities, then first-order states."""
        return list(self.frozen.speeds)

    @property
    def states(self) -> list[str]:
        """Names of the first-order states: the last entries of v."""
        return self.frozen.speeds[int(self.layout.arrays.v_at[0]) :]

    @property
    def tree(self) -> list[tuple[str, str, str]]:
        """(body, its parent, the joint between them) in tree order."""
        return [(edge.body, edge.parent, edge.joint.name) for edge in self.spanning_tree.edges]

    @cached_property
    def path_matrix(self) -> np.ndarray:
        """P0's path matrix in the order of `bodies`."""
        return path_matrix(self.spanning_tree.edges)

    @property
    def n_constraints(self) -> int:
        """Scalar constraints: of cut joints, constraints beside the joints, and drives of cut joints."""
        return len(self.frozen.rows)

    @property
    def constraint_names(self) -> list[str]:
        """Of every scalar constraint: what it forbids, and where."""
        return [row.name for row in self.frozen.rows]

    @property
    def q0(self) -> np.ndarray:
        """Coordinates at the start."""
        return self.frozen.q0.copy()

    @property
    def v0(self) -> np.ndarray:
        """Generalised velocities at the start."""
        return self.frozen.v0.copy()

    def _joint(self, name: str) -> int:
        if name in self.cut_joints:
            raise InputError(f"joint {name!r} is a cut joint: it has no coordinates; see s.explain()")
        if name not in self._joint_of:
            known = ", ".join([*self.joint_names, *self.cut_joints])
            raise InputError(f"there is no joint {name!r}; joints are: {known}")
        return self._joint_of[name]

    def _body(self, name: Any) -> int:
        name = getattr(name, "name", name)
        if name == "ground":
            return 0
        if name not in self._body_of:
            raise InputError(f"there is no body {name!r}; bodies are: {', '.join(self.bodies)}")
        return self._body_of[name]

    def _column_flags(self, of_coordinates: np.ndarray) -> np.ndarray:
        """A flag of every coordinate as one of every column: of joints with a quaternion, one for all."""
        flags = np.zeros(self.nv, dtype=bool)
        for name in self.joint_names:
            part = of_coordinates[self.q_slice(name)]
            flags[self.v_slice(name)] = bool(part.any())
        return flags

    def q_slice(self, joint: str) -> slice:
        """Where the joint's coordinates are in q."""
        i = self._joint(joint)
        start = int(self.layout.arrays.q_at[i])
        kind = KINDS[self.frozen.joints[i - 1].kind]
        return slice(start, start + (kind.nq if kind.name != "modal" else len(range(*self.v_slice(joint).indices(self.nv)))))

    def v_slice(self, joint: str) -> slice:
        """Where the joint's speeds are in v."""
        i = self._joint(joint)
        return slice(int(self.layout.arrays.v_at[i]), int(self.layout.arrays.v_end[i]))

    def picture(self, path: Any = None) -> Any:
        """A drawing of tree and cuts; saved to `path` if given. Returns the figure."""
        from madi.topology.explain import picture

        return picture(self, path)

    def explain(self) -> str:
        """Tree, cuts, coordinates and constraint counts, by name."""
        from madi.topology.explain import explain

        return explain(self)

    # ---- evaluation -------------------------------------------------------------------------------------------------

    def engine(self, name: str = "auto") -> Any:
        """The engine of that name for this system. "auto" here is "jit"."""
        if name not in ENGINES:
            raise InputError(f"engine={name!r}: choose one of {', '.join(ENGINES)}")
        name = "jit" if name == "auto" else name
        if name not in self._engines:
            self._engines[name] = self._make_engine(name)
        return self._engines[name]

    def _make_engine(self, name: str) -> Any:
        if name == "plain":
            from madi.engines.plain import PlainEngine

            return PlainEngine(self.layout, self.values)
        if name == "jit":
            from madi.engines.jit import JitEngine

            return JitEngine(self.layout, self.values)
        from madi.engines.compiled import CompiledEngine

        return CompiledEngine(self.drawn, self.outside, self.parameters, self.values)

    @cached_property
    def outside(self) -> Any:
        """The functions that stay in Python (signals/outside.py); None: there are none."""
        if not self.frozen.signals.callbacks:
            return None
        return self._outside(whole=False)

    def _outside(self, whole: bool) -> Any:
        from madi.signals.outside import Outside

        model, work = self.layout.arrays, self.engine("plain").work
        positions(model, work, self.q0)
        velocities(model, work, self.q0, self.v0)
        lines = [line(model, work, model.force_a[e], model.force_b[e], model.force_at[e])[:2] for e in model.measured]
        measures = np.array(lines, dtype=float).reshape(-1)
        return Outside(self.frozen.signals.callbacks, self.q0, self.v0, measures, whole)

    @cached_property
    def _whole_blocks(self) -> tuple[Any, Any]:
        """As `residual_blocks`, for derivatives that must be right at any one state: by all that functions in Python get."""
        from madi.symbolic.jacobian import jacobian_function

        if self.outside is None:
            return self.residual_blocks
        return jacobian_function(self.drawn, self.parameters, self._outside(whole=True)) or self.residual_blocks

    def formulation(self, name: str | None = None) -> str:
        """The formulation asked for, or the fastest for this size."""
        if name is None or name == "auto":
            return "recursive" if self.frozen.rows else self._fastest_formulation
        if name not in FORMULATIONS:
            raise InputError(f"formulation={name!r}: choose one of {', '.join(FORMULATIONS)}")
        if self.frozen.rows and name == "articulated":
            raise InputError(
                f"formulation='articulated' serves trees; model {self.name!r} has loops: choose 'recursive' or "
                "'velocity-transform'"
            )
        return name

    def entry(self, formulation: str | None = None) -> str:
        """The entry kernel (equations/) that gives this system's accelerations."""
        name = self.formulation(formulation)
        if not self.frozen.rows:
            return name
        return "loops" if name == "recursive" else f"loops-{name}"

    @cached_property
    def _fastest_formulation(self) -> str:
        """By the multiplications beyond what both do: M and its factorisation, against the articulated inertias."""
        depth = np.zeros(self.nv)
        for c, parent in enumerate(self.layout.arrays.column_parent):
            depth[c] = 1 if parent < 0 else depth[parent] + 1
        return "recursive" if np.sum(6 * depth + depth**2 / 2) < 60 * self.nv else "articulated"

    def _vector(self, value: Any, count: int, what: str) -> np.ndarray:
        if value is None:
            return np.zeros(count)
        try:
            array = np.ascontiguousarray(np.atleast_1d(np.asarray(value, dtype=float)))
        except (TypeError, ValueError):
            raise InputError(f"{what}={value!r}: {count} numbers are needed") from None
        if array.shape != (count,):
            raise InputError(f"{what}: {count} numbers are needed, shape {array.shape} given (see s.coordinates, s.speeds)")
        if not np.isfinite(array).all():
            raise InputError(f"{what}: number {int(np.argmin(np.isfinite(array)))} is not finite")
        return array

    def _coordinates(self, value: Any, what: str = "q") -> np.ndarray:
        """Coordinates, checked: finite, quaternions of unit length."""
        if value is None:
            raise InputError(f"{what}: {self.nq} coordinates are needed (s.q0 is where the model starts)")
        q = self._vector(value, self.nq, what)
        for name, at in self._quaternions:
            norm = float(np.linalg.norm(q[at : at + 4]))
            if abs(norm - 1) > 1e-6:
                raise InputError(f"{what}: the quaternion of joint {name!r} has length {norm:.6g}, not 1; normalise it")
        return q

    def _evaluate(self, entry: str, q: Any, v: Any, x: Any, t: float, engine: str, size: int | None = None) -> np.ndarray:
        q, v = self._coordinates(q), self._vector(v, self.nv, "v")
        if size is None:
            size = ENTRIES[entry].out(self.layout.sizes)
        if not isinstance(t, int | float) or not np.isfinite(t):
            raise InputError(f"t={t!r}: give a finite number of seconds")
        out = self.engine(engine).evaluate(entry, float(t), q, v, np.asarray(x, dtype=float), size)
        self._raise_from_functions()
        return out

    def _raise_from_functions(self) -> None:
        """What a user's function raised could not pass through machine code: it goes on from here."""
        for callback, _, _ in self.frozen.signals.callbacks:
            if callback.error is not None:
                error, callback.error = callback.error, None
                raise RunError(f"the function of {callback.name} raised {type(error).__name__}: {error}") from error

    def forward_dynamics(self, q: Any, v: Any, tau: Any = None, t: float = 0.0, *, formulation: str | None = None,
                         engine: str = "auto") -> np.ndarray:  # fmt: skip
        """Accelerations for generalised forces `tau` beside the model's own forces. Driven joints move as driven at t."""
        tau = self._vector(tau, self.nv, "tau")
        return self._evaluate(self.entry(formulation), q, v, tau, t, engine)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, t: float = 0.0, *, engine: str = "auto") -> np.ndarray:
        """Generalised forces, beside the model's own forces, that give the accelerations `a`. With loops: of the tree as
        if its cuts were open (constraint forces are not counted)."""
        return self._evaluate("inverse", q, v, self._vector(a, self.nv, "a"), t, engine)

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
        q, v, tau = self._coordinates(q), self._vector(v, self.nv, "v"), self._vector(tau, self.nv, "tau")
        by_q, by_v, by_tau = self._traces[key](t, q, v, tau)
        return np.array(by_q), np.array(by_v), np.array(by_tau)

    @cached_property
    def residual_blocks(self) -> tuple[Any, Any]:
        """(where the entries of the system Jacobian are, its trace). Without a trace, where the model is very large, all
        entries, by differences."""
        from madi.symbolic.jacobian import full_blocks, jacobian_function

        found = jacobian_function(self.drawn, self.parameters, self.outside)
        return found or (full_blocks(self.nv, self.n_constraints), None)

    def residual(self, q: Any, v: Any, a: Any, lam: Any = None, t: float = 0.0, *, engine: str = "auto") -> np.ndarray:
        """R = M a + Phi_q^T lam - P: zero where the motion is right. Of a driven joint, how far `a` is from the drive's."""
        x = self._trial(a, lam)
        return self._evaluate("residual", q, v, x, t, engine)[: self.nv]

    def _trial(self, a: Any, lam: Any) -> np.ndarray:
        """x of the entry `residual`: theta = 0, accelerations, multipliers."""
        parts = [np.zeros(self.nv), self._vector(a, self.nv, "a"), self._vector(lam, self.n_constraints, "lam")]
        return np.concatenate(parts)

    def system_jacobian(self, q: Any, v: Any, a: Any, lam: Any = None, t: float = 0.0) -> SystemJacobian:
        """Derivatives of the residual R = M a + Phi_q^T lam - P, and Phi_q; exact from the trace.

        By q means along the generalised velocities (see `derivatives`). Of functions that stay in Python, the derivatives of
        their own values are by central differences (P4's R_num); `.exact` is False with them, and where the model is too
        large to trace: then all is by differences.
        """
        q, v, x = self._coordinates(q), self._vector(v, self.nv, "v").copy(), self._trial(a, lam)
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
            sizes = {"nv": self.nv, "nr": self.n_constraints, "ns": len(values)}
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

    def _refuse_callbacks(self, what: str) -> None:
        names = [callback.name for callback, _, _ in self.frozen.signals.callbacks]
        if names:
            raise TraceError(f"{what} needs functions that can be traced; {', '.join(names)} stays in Python")

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
        row = self._evaluate("observe", q, v, self._vector(a, self.nv, "a"), t, engine)
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
        engine = "jit" if engine == "compiled" else engine  # a body and a point are data: not worth code of their own
        inside = self.frozen.body_r[i - 1] + self.frozen.body_R[i - 1] @ self._vector(point, 3, "point")
        return self._evaluate("point-jacobian", q, None, np.array([i, *inside]), 0.0, engine).reshape(6, self.nv)

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
        if way not in ("selected", "newton-euler"):
            raise InputError(f"way={way!r}: choose 'selected' or 'newton-euler'")
        names = self.loaded_names if joints is None else [joints] if isinstance(joints, str) else list(joints)
        if q is None:
            q, v = self.start.q, self.start.v if v is None else v
        self._refuse_open_loops(q, v, t)
        numbers = [self._loaded(name) for name in names]
        multipliers = np.zeros(0)
        if self.frozen.rows:
            engine = "jit" if engine in ("auto", "compiled") else engine
            out = self._evaluate("multipliers", q, v, self._vector(tau, self.nv, "tau"), t, engine)
            a, multipliers = out[: self.nv] if a is None else a, out[self.nv :]
        elif a is None:
            a = self.forward_dynamics(q, v, tau, t, engine=engine)
        x = np.concatenate([self._vector(a, self.nv, "a"), [len(numbers)], numbers, multipliers])
        driving = self._driving_columns(numbers)
        entry = "loads" if way == "selected" else "loads-newton-euler"
        row = self._evaluate(entry, q, v, x, t, engine, size=6 * len(numbers) + len(driving))
        turn = np.eye(3)
        if axes != "ground":
            turn = (
                np.eye(3)
                if self._body(axes) == 0
                else self.observe(q, v, t, engine=engine).rotation[0, self._body(axes) - 1].T
            )
        found = {}
        sure = self._determined(q, t, turn, numbers)
        for k, name in enumerate(names):
            own = {self.speeds[c]: float(row[6 * len(numbers) + j]) for j, (i, c) in enumerate(driving) if i == numbers[k]}
            force, moment = turn @ row[6 * k : 6 * k + 3], turn @ row[6 * k + 3 : 6 * k + 6]
            found[name] = Reaction(force, moment, own, bool(sure[k].all()), sure[k])
        return found

    def _driving_columns(self, numbers: list[int]) -> list[tuple[int, int]]:
        """(body, column) in the order in which the loads entry lists B^T R."""
        model = self.layout.arrays
        trees = [i for i in numbers if i < int(model.n)]
        return [(i, c) for i in trees for c in range(int(model.v_at[i]), int(model.v_end[i]))]

    @property
    def loaded_names(self) -> list[str]:
        """All that carries a load: joints of the tree, cut joints, constraints (of couplers, gears and racks: what they do
        to the child of their first joint)."""
        rows = [row.element for row in self.frozen.rows]
        return list(dict.fromkeys([*(name for name in self.joint_names if name in self.drawn_joints), *rows]))

    def _refuse_open_loops(self, q: Any, v: Any, t: float) -> None:
        """Loads of a mechanism that is torn open mean nothing."""
        if not self.frozen.rows:
            return
        from madi.assembly.assemble import by_element

        seen = self.observe(q, v, t, engine="plain")  # drives put in
        phi, rate, _, _ = self.constraint_terms(seen.q[0], seen.v[0], t, engine="plain")
        speed = 1.0 + float(np.max(np.abs(seen.v[0]), initial=0.0))
        for values, what, most in ((phi, "positions", 1e-6), (rate, "speeds", 1e-6 * speed)):
            if np.max(np.abs(values), initial=0.0) > most:
                worst = max(by_element(self, values).items(), key=lambda item: item[1])
                raise InputError(
                    f"the loops are open at these {what} ({worst[0]!r}: {worst[1]:.3g}): loads there mean nothing. Use "
                    "s.start.q and s.start.v, a state of a run, or s.assemble(q, v)"
                )

    def _loaded(self, name: str) -> int:
        """What carries a load, as the loads entry counts them: a body for its joint, n + k for pair k of a loop, behind the
        pairs for row r of a coupler."""
        pairs: dict[str, int] = {}
        behind = len(self.bodies) + 1
        for r, (row, pair) in enumerate(zip(self.frozen.rows, self.layout.arrays.row_pair, strict=True)):
            pairs.setdefault(row.element, behind + (int(pair) if pair >= 0 else int(self.layout.arrays.nk) + r))
        if name not in pairs and name not in self._joint_of:
            raise InputError(f"nothing that carries a load is called {name!r}; there are: {', '.join(self.loaded_names)}")
        return pairs[name] if name in pairs else self._joint(name)

    def _determined(self, q: Any, t: float, turn: np.ndarray, numbers: list[int]) -> np.ndarray:
        """Which of the six components of each load the mechanics of rigid bodies determines: those that no multipliers
        without motion (redundancy.py) change."""
        sure = np.ones((len(numbers), 6), dtype=bool)
        null = self.mobility(q, t).null if self.frozen.rows else np.zeros((0, 0))
        if not null.shape[1]:
            return sure
        rest = np.concatenate([np.zeros(self.nv), [len(numbers)], numbers])
        size = 6 * len(numbers) + len(self._driving_columns(numbers))

        def loads(multipliers: np.ndarray) -> np.ndarray:
            x = np.concatenate([rest, multipliers])
            row = self._evaluate("loads", q, np.zeros(self.nv), x, t, "plain", size=size)[: 6 * len(numbers)]
            return row.reshape(-1, 2, 3) @ turn.T

        none = loads(np.zeros(len(null)))
        for k in range(null.shape[1]):
            change = np.abs(loads(null[:, k]) - none).reshape(-1, 6)
            sure &= change < 1e-9 * max(1.0, float(np.max(change)))
        return sure
