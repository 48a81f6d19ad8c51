"""`System`: a model frozen into a tree, arrays and names, ready to be evaluated."""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.bodies import without_slopes
from madi.equations.observe import OBSERVED
from madi.equations.residual import TERMS
from madi.equations.row import with_bodies
from madi.errors import InputError
from madi.forces import BY_CODE
from madi.given import File, Numbers, Start, States, Vector
from madi.joints.columns import LOCKED
from madi.model.elements import BodyLike
from madi.system.derivatives import derivatives
from madi.system.evaluate import Evaluation, Light, side_by_side
from madi.system.loads import reactions
from madi.system.observation import Observation, Reaction, SystemJacobian
from madi.topology.layout import Layout, model_views, repack
from madi.topology.parameters import Parameters
from madi.topology.slopes import Blocks, Slopes, articulated_plan, deep, full_blocks, slope_plan

if TYPE_CHECKING:
    from madi.assembly.assemble import Assembly
    from madi.assembly.redundancy import Mobility
    from madi.assembly.rows import Rows
    from madi.show.figure import Picture
    from madi.symbolic.equations import Equations


# wheels for each column, from which on a trace of the whole is the smaller one: a wheel's law is long, and seen from its
# vehicle it depends on less than from the ground
ROADS_PER_COLUMN = 0.5
ORIGIN = (0.0, 0.0, 0.0)
MOST_LISTED = 7  # coordinates of a joint that are named in a table: all of a free one


def _plain(values: Any) -> Any:
    """A number as such; arrays as they are."""
    return float(values) if isinstance(values, float) or np.ndim(values) == 0 else np.array(values)


class System(Evaluation):
    """The equations of a model. `q`, `v`: joint coordinates and velocities, in the order of `coordinates` and `speeds`; of
    many states at once, with leading axes (N, nq), (N, nv): they are evaluated in one call, on all cores, and answers have
    these axes too. `out`: an array of float64 for the answer."""

    def adjustable(self, parameters: Parameters) -> System:
        """A copy whose `parameters` can be changed (`adjust`) without freezing or compiling anew; not to be shared between
        threads."""
        other = self._with(Layout(self.drawn.ints, self.drawn.reals.copy(), self.drawn.curve))
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
        other = object.__new__(type(self))
        other.__dict__.update(self.__dict__)
        other.layout, other._engines, other._light, other._frames = layout, {}, Light(), {}
        for name in (
            "start",
            "constraint_rows",
            "slopes",
            "articulated_slopes",
            "_row_program",
            "traced_blocks",
            "_whole_blocks",
            "_slope_engine",
        ):
            other.__dict__.pop(name, None)
        return other

    def adjust(self, values: np.ndarray) -> None:
        """Set the values of the parameters."""
        assert self.parameters is not None
        assert self.values is not None
        self.values[:] = values
        self.layout.reals[:] = self.parameters.reals(self.drawn.reals, self.values)
        self.frozen.body_r = self.parameters.body_r(self._drawn_body_r, self.values)
        self._frames = {}
        self.__dict__.pop("start", None)

    @property
    def digest(self) -> str:
        """A hash of the model's arrays. Functions that stay in Python are not part of it: their addresses mean nothing."""
        ints = self.layout.ints.copy()
        calls = model_views(ints, self.layout.reals, self.layout.curve).callback
        if calls.size:
            calls[:, 0] = 0
        key = self.layout.curve_key if len(self.layout.curve) else b""
        return hashlib.sha256(ints.tobytes() + self.layout.reals.tobytes() + key).hexdigest()[:16]

    def __repr__(self) -> str:
        cuts = len(self.cut_joints)
        return f"<System {self.name!r}: {len(self.bodies)} bodies, {self.nv} generalised velocities, {cuts} cut joints>"

    def _repr_html_(self) -> str:
        from madi.show.html import heading, listed, remark, table, whole

        rows = []
        for edge in self.spanning_tree.edges:
            name = edge.body if edge.joint.station is not None else edge.joint.name
            own = [word for word in self.coordinates if word.partition(".")[0] == name]
            rows.append((edge.body, edge.parent, edge.joint.name, edge.joint.kind, listed(own, MOST_LISTED)))
        facts = [f"{len(self.bodies)} bodies", f"{self.nq} coordinates", f"{self.nv} generalised velocities"]
        facts += [f"{self.n_constraints} constraints"] if self.n_constraints else []
        parts = [heading(f"System {self.name}", *facts), table(("body", "parent", "joint", "kind", "coordinates"), rows)]
        closing = list(dict.fromkeys(row.element for row in self.frozen.rows))
        parts += [remark(f"loops are closed by: {listed(closing)}")] if closing else []
        return whole(*parts)

    def picture(self, path: File | None = None) -> Picture:
        """A drawing of tree and cuts; saved to `path` if given. Returns the figure."""
        from madi.topology.explain import picture

        return picture(self, path)

    def explain(self, full: bool | None = None) -> str:
        """Tree, cuts, coordinates and constraint counts, by name; of a large model (more than 100 bodies) a summary, unless
        `full` says otherwise."""
        from madi.topology.explain import explain

        return explain(self, full)

    # ---- dynamics ---------------------------------------------------------------------------------------------------

    def forward_dynamics(self, q: States, v: States, tau: States | None = None, t: Numbers = 0.0, *,
                         formulation: str | None = None, engine: str = "auto",
                         out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
        """Accelerations for generalised forces `tau` beside the model's own forces. Driven joints move as driven at t."""
        entry = self._default_entry if formulation is None else self.entry(formulation)
        return self._evaluate(entry, q, v, tau, t, engine, None, out)

    def inverse_dynamics(self, q: States, v: States, a: States, t: Numbers = 0.0, *, engine: str = "auto",
                         out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
        """Generalised forces, beside the model's own forces, that give the accelerations `a`. With loops: of the tree as
        if its cuts were open (constraint forces are not counted)."""
        return self._evaluate("inverse", q, v, a, t, engine, None, out)

    def mass_matrix(self, q: States, *, engine: str = "auto", out: np.ndarray | None = None) -> np.ndarray:
        """The joint-space mass matrix, full."""
        return self._evaluate("mass-matrix", q, None, None, 0.0, engine, (self.nv, self.nv), out)

    def derivatives(
        self, q: States, v: States, tau: States | None = None, t: Numbers = 0.0
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Exact d(acceleration)/d(q, v, tau), each nv × nv (system/derivatives.py).

        The first is by the coordinates of the chart at q: q moves as the speeds would move it (for joints without a
        quaternion, simply by q).
        """
        self._refuse_callbacks("exact derivatives")
        if self.has_exact_slopes:
            return derivatives(self, q, v, tau, t)
        key = ("derivatives", self.entry(), self.parameters and self.parameters.key())  # (values come in later)
        if key not in self._traces:
            from madi.symbolic.jacobian import derivative_function

            self._traces[key] = derivative_function(self.drawn, self.entry(), self.parameters)
        machine, trace, tau = self.engine("jit"), self._traces[key], self.checked_rows(tau, self.nv, "tau")
        ask = lambda: machine.program("derivatives", trace)  # noqa: E731
        found = self._evaluate_rows(machine, ask, q, v, tau, t, (3, self.nv, self.nv), "tau")
        return found[..., 0, :, :], found[..., 1, :, :], found[..., 2, :, :]

    @cached_property
    def _row_program(self) -> Any:
        """(where the entries are, what gives them) of Phi'' by q and v."""
        from madi.symbolic.rows import row_program

        return row_program(self.drawn, self.parameters)

    def _row_slopes(self, t: Numbers, q: States, v: States, a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Phi'' by q and by v, full."""
        places, program = self._row_program
        machine, count = self.engine("jit"), sum(len(rows) for rows, _ in places)
        ask = lambda: machine.program("rows", program)  # noqa: E731
        values = self._evaluate_rows(machine, ask, q, v, a, t, (count,), "a")
        found, first = np.zeros((2, *values.shape[:-1], self.n_constraints, self.nv)), 0
        for part, (rows, columns) in zip(found, places, strict=True):
            part[..., rows, columns] = values[..., first : first + len(rows)]
            first += len(rows)
        return found[0], found[1]

    @cached_property
    def slopes(self) -> Slopes | None:
        """The derivatives of the residual by recursion (equations/slopes.py). None where there is none."""
        if not self._may_recur:
            return None
        if self.layout.header("ne") == 0:
            return Slopes(*slope_plan(self.layout.arrays, []))
        from madi.symbolic.elements import slopes_of

        return slopes_of(self.drawn, self.parameters)

    @cached_property
    def articulated_slopes(self) -> Slopes | None:
        """What implicit steps of a deep tree of rigid bodies take instead (equations/articulated_slopes.py). None where
        there is none."""
        if not self._may_recur or self.frozen.rows or self.layout.header("n_other"):
            return None
        if self.layout.header("ne") == 0:
            found = articulated_plan(self.layout.arrays, [])
            return found and Slopes(*found)
        from madi.symbolic.elements import articulated_slopes_of

        return articulated_slopes_of(self.drawn, self.parameters)

    @property
    def _may_recur(self) -> bool:
        """Whether there are derivatives by recursion: not with functions that stay in Python, with kinds of bodies that
        give no derivatives, and where a trace of the whole is smaller."""
        if self.outside is not None:
            return False
        if self.layout.header("n_other") and without_slopes(self.layout.arrays, self.layout.header("n")):
            return False
        wheels = sum(BY_CODE[kind].KIND.wheel for kind in self.layout.arrays.force_kind.tolist())
        return wheels <= ROADS_PER_COLUMN * self.nv

    @cached_property
    def traced_blocks(self) -> tuple[Blocks, Any] | None:
        """(where the entries of the system Jacobian are, its trace): what generated C is made of. None: too large."""
        from madi.symbolic.jacobian import jacobian_function

        return jacobian_function(self.drawn, self.parameters, self.outside)

    @property
    def residual_blocks(self) -> tuple[Blocks, Any]:
        """(where the entries of the system Jacobian are, what gives them): the recursion; else its trace; else, where the
        model is too large for one, None: all entries, by differences."""
        if self.slopes is not None:
            return self.slopes.blocks, self.slopes
        return self.traced_blocks or (full_blocks(self.nv, self.n_constraints), None)

    def newton_blocks(self, kept: bool) -> tuple[Any, Any]:
        """The same for what solves with them and looks at no entry; `kept`: many times with each matrix."""
        articulated = self.articulated_slopes if deep(self.layout.arrays, kept) else None
        return self.residual_blocks if articulated is None else (articulated.blocks, articulated)

    @property
    def has_exact_slopes(self) -> bool:
        """Whether there are exact derivatives of the equations: very large models with functions in Python, or of wheels and
        little else, have none."""
        return self.residual_blocks[1] is not None

    @cached_property
    def _whole_blocks(self) -> tuple[Blocks, Any]:
        """As `residual_blocks`, for derivatives that must be right at any one state: by all that functions in Python get."""
        if self.outside is None:
            return self.residual_blocks
        from madi.symbolic.jacobian import jacobian_function

        return jacobian_function(self.drawn, self.parameters, self._outside(whole=True)) or self.residual_blocks

    @cached_property
    def _slope_engine(self) -> Any:
        """The engine of derivatives."""
        machine = self.engine("jit")
        return machine if self.slopes is None else machine.with_slopes(self.slopes)

    def residual(
        self, q: States, v: States, a: States, lam: States | None = None, t: float = 0.0, *, engine: str = "auto"
    ) -> np.ndarray:
        """R = M a + Phi_q^T lam - P: zero where the motion is right. Of a driven joint, how far `a` is from the drive's."""
        x = self._trial(a, lam)
        return self._evaluate("residual", q, v, x, t, engine)[..., : self.nv]

    def _trial(self, a: States, lam: States | None) -> np.ndarray:
        """x of the entry `residual`: theta = 0, accelerations, multipliers."""
        given = self.checked_rows(a, self.nv, "a"), self.checked_rows(lam, self.n_constraints, "lam")
        return side_by_side(np.zeros(self.nv), *given, np.zeros(self.n_held))

    def system_jacobian(self, q: States, v: States, a: States, lam: States | None = None, t: float = 0.0) -> SystemJacobian:
        """Derivatives of the residual R = M a + Phi_q^T lam - P, and Phi_q; exact, for models of any size.

        By q means along the generalised velocities (see `derivatives`). With lam = 0 they are those of inverse dynamics. Of
        functions that stay in Python, the derivatives of their own values are by central differences (P4's R_num); `.exact`
        is False with them; where such a model is too large to be traced, all is by differences.
        """
        found = self._blocks(t, q, v, self._trial(a, lam))
        self._raise_from_functions()
        exact = self.residual_blocks[1] is not None and self.outside is None
        return SystemJacobian(found["qdd"], found["qd"], found["q"], found["phi"], exact)

    def _blocks(self, t: Any, q: States, v: States, x: np.ndarray) -> dict[str, np.ndarray]:
        """The blocks of the system Jacobian as full matrices, by name (symbolic/jacobian.py)."""
        from madi.integrate.newton_matrix import BlockMemory, differences
        from madi.kernel.fields import ABSENT, Function

        blocks, source = self._whole_blocks
        machine, size = self._slope_engine, sum(blocks.sizes)
        if source is not None:
            by_recursion = isinstance(source, Slopes)
            if by_recursion:
                light = self._light.calls.get("slopes") or self._slope_call(machine, size)
                found = light(q, v, x, t, None)
                if found is not None:
                    return blocks.matrices(found, self.nv, self.n_constraints)
            ask = lambda: machine.function("slopes") if by_recursion else machine.program("blocks", source)  # noqa: E731
            values = self._evaluate_rows(machine, ask, q, v, x, t, (size,))
            return blocks.matrices(values, self.nv, self.n_constraints)
        if max(np.ndim(given) for given in (q, v, x)) > 1:
            raise InputError(f"{self.name!r} is too large to be traced: its Jacobians are by differences, state by state")

        def call(t: float, q: np.ndarray, v: np.ndarray, x: np.ndarray, out: np.ndarray) -> int:
            out[:] = machine.evaluate("residual", t, q, v, x, len(out))  # some six evaluations a column: not in Python
            return 0

        sizes = {"nv": self.nv, "nr": self.n_constraints, "n_held": self.n_held, "n_entries": size}
        memory = BlockMemory(sizes, model=self.layout.arrays, residual=Function(call), blocks=ABSENT)
        memory.trial[:] = x
        differences(memory, t, self.checked_coordinates(q), self.checked_vector(v, self.nv, "v").copy())
        return blocks.matrices(memory.entries, self.nv, self.n_constraints)

    def _slope_call(self, machine: Any, size: int) -> Any:
        """The light call of the derivatives."""
        made = self._bound(lambda: machine.function("slopes"), 2 * self.nv + self.n_constraints + self.n_held, (size,))
        self._light.calls["slopes"] = made
        return made

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
        key = ("count", name, share, self.parameters and self.parameters.key())
        if key not in self._traces:
            self._traces[key] = count_operations(trace(self.drawn, name, share, parameters=self.parameters))
        return {**self._traces[key], "total": sum(self._traces[key].values())}

    # ---- loops ------------------------------------------------------------------------------------------------------

    def constraint_terms(
        self, q: States, v: States | None = None, t: float = 0.0, *, engine: str = "auto"
    ) -> tuple[np.ndarray, ...]:
        """(Phi, Phi', gamma, Phi_q) of all scalar constraints, at the state as given; Phi_q a = gamma keeps them."""
        rows, nv = self.n_constraints, self.nv
        out = self._evaluate("constraints", q, v, None, t, engine)
        terms = TERMS.views(out, self.layout.sizes)
        return terms.phi, terms.rate, terms.gamma, terms.jacobian.reshape(*out.shape[:-1], rows, nv)

    def constraints(self, q: States, t: float = 0.0, *, engine: str = "auto") -> np.ndarray:
        """Residuals of all scalar constraints (m or rad), in the order of `constraint_names`."""
        return self.constraint_terms(q, None, t, engine=engine)[0]

    def constraint_jacobian(self, q: States, t: float = 0.0, *, engine: str = "auto") -> np.ndarray:
        """Phi_q: rates of the residuals per unit of each speed."""
        return self.constraint_terms(q, None, t, engine=engine)[3]

    def assemble(self, q0: Start = None, v0: Start = None, *, pin: Iterable[str] | None = None,
                 assembly_mode: int = 0, t: float = 0.0, branch: Any = None) -> Assembly:  # fmt: skip
        """The closed state nearest to (q0, v0): see `madi.assemble`."""
        from madi.assembly.assemble import assemble

        return assemble(self, q0, v0, pin=pin, assembly_mode=assembly_mode, t=t, branch=branch)

    @cached_property
    def start(self) -> Assembly:
        """The closed state the model starts from."""
        return self.assemble()

    @cached_property
    def constraint_rows(self) -> Rows:
        """The constraint rows, to be evaluated sparse."""
        from madi.assembly.rows import Rows

        return Rows(self)

    def mobility(self, q: States | None = None, t: float = 0.0) -> Mobility:
        """Freedoms, Grübler's count, redundant constraints by name, at q (default: the assembled start)."""
        from madi.assembly.redundancy import mobility

        q = self.start.q if q is None else q
        return mobility(self, self.constraint_rows.at(t, self.checked_coordinates(q))[2])

    # ---- what bodies and joints do ----------------------------------------------------------------------------------

    def observe(
        self, q: States, v: States | None = None, t: float = 0.0, a: States | None = None, *, engine: str = "auto"
    ) -> Observation:
        """Poses, velocities, energies and forces at states; of a single one, with a leading axis of 1."""
        row = self._evaluate("observe", q, v, a, t, engine)
        return Observation(self, row[None, :] if row.ndim == 1 else row)

    def body_pose(self, q: States, body: BodyLike, *, engine: str = "auto") -> tuple[np.ndarray, np.ndarray]:
        """(position, rotation matrix) of the body's frame in the ground. Joint coordinates are taken as given."""
        i = self._body(body)
        if i == 0:
            lead = self.checked_states(q).shape[:-1]
            return np.zeros((*lead, 3)), np.broadcast_to(np.eye(3), (*lead, 3, 3)).copy()
        row = self._evaluate("body-pose", q, None, self._frame(i), 0.0, self.general(engine))
        if row.ndim == 1:
            return row[:3], row[3:].reshape(3, 3)
        return row[..., :3], row[..., 3:].reshape(*row.shape[:-1], 3, 3)

    def _frame(self, i: int) -> np.ndarray:
        """x of the entry `body-pose`: the frame of a body as its user gave it."""
        found = self._frames.get(i)
        if found is None:
            found = self._frames[i] = np.array([i, *self.frozen.body_r[i - 1], *self.frozen.body_R[i - 1].ravel()])
        return found

    def point_jacobian(self, q: States, body: BodyLike, point: Vector = ORIGIN, *, engine: str = "auto",
                       out: np.ndarray | None = None) -> np.ndarray:  # fmt: skip
        """6 × nv: velocity of a point of a body (given in the body's frame) and the body's angular velocity, ground axes."""
        i = self._body(body)
        if i == 0:
            lead = self.checked_states(q).shape[:-1]
            return np.zeros((*lead, 6, self.nv))
        x = self._frame(i)[:4]
        if point is not ORIGIN:
            x = x.copy()
            x[1:] += self.frozen.body_R[i - 1] @ self.checked_vector(point, 3, "point")
        return self._evaluate("point-jacobian", q, None, x, 0.0, self.general(engine), (6, self.nv), out)

    def velocity_transformation(self, q: States, v: States, *, engine: str = "auto") -> tuple[np.ndarray, np.ndarray]:
        """P0's B and Bdot v: (velocity of the centre of mass, angular velocity) of all bodies, in the order of `bodies`,
        is B v, and their accelerations are B a + Bdot v. Ground axes, 6 n × nv and 6 n."""
        rows, bias = [], []
        model, seen = self.layout.arrays, self.observe(q, v, engine=engine)
        for k, name in enumerate(self.bodies):
            lever = model.com[k + 1] - self.frozen.body_r[k]  # from the body frame's origin, internal axes
            rows.append(self.point_jacobian(q, name, self.frozen.body_R[k].T @ lever, engine=engine))
            arm = seen.rotation[..., k, :, :] @ (self.frozen.body_R[k].T @ lever)
            w, e = seen.angular_velocity[..., k, :], seen.angular_acceleration[..., k, :]
            bias += [seen.acceleration[..., k, :] + np.cross(e, arm) + np.cross(w, np.cross(w, arm)), e]
        B, rest = np.concatenate(rows, axis=-2), np.concatenate(bias, axis=-1)
        return B, rest if np.ndim(q) > 1 or np.ndim(v) > 1 else rest[0]

    def energy(self, q: States, v: States, t: Numbers = 0.0, *, engine: str = "auto") -> dict[str, Any]:
        """Kinetic, potential (gravity and springs) and total energy, J: numbers, or arrays over states."""
        row = self._evaluate("observe", q, v, None, t, engine)
        kinetic, potential = (_plain(row[..., self._observed[name][0].start]) for name in ("kinetic", "potential"))
        return {"kinetic": kinetic, "potential": potential, "total": kinetic + potential}

    def powers(self, q: States, v: States, t: Numbers = 0.0, *, engine: str = "auto") -> dict[str, dict[str, Any]]:
        """Of every force element: its value, potential energy, power delivered to the system, power dissipated."""
        seen = OBSERVED.views(self._evaluate("observe", q, v, None, t, engine), with_bodies(self.layout.sizes))
        words = ("value", "potential", "power", "dissipated")
        return {
            name: {word: _plain(seen.force[..., e, k]) for k, word in enumerate(words)} for e, name in enumerate(self.forces)
        }

    def momentum(self, q: States, v: States, *, engine: str = "auto") -> np.ndarray:
        """Linear momentum and angular momentum about the ground's origin, ground axes (six numbers)."""
        return self._evaluate("observe", q, v, None, 0.0, engine)[..., self._observed["momentum"][0]]

    @cached_property
    def _observed(self) -> dict[str, tuple[slice, tuple[int, ...]]]:
        """Where the numbers of the entry `observe` are."""
        return OBSERVED.places(with_bodies(self.layout.sizes))

    def reactions(self, q: States | None = None, v: States | None = None, joints: Sequence[str] | None = None,
                  tau: States | None = None, t: float = 0.0, *,
                  axes: BodyLike = "ground", a: States | None = None, way: str = "selected",
                  engine: str = "auto") -> dict[str, Reaction]:  # fmt: skip
        """Force and moment on the child of each joint, at the joint (P1), incl. what springs and drives transmit there.

        q, v: default the start (with loops, the closed one: `s.start`); with loops they must be closed. `joints`: names of
        joints and of constraints between bodies (default all); `axes`: "ground", or a body in whose axes they are wanted;
        `a`: accelerations if they are known already; `way`: "selected" (P1's non-recursive formula) or "newton-euler" (over
        all outboard bodies).
        """
        return reactions(self, q, v, joints, tau, t, axes, a, way, engine)
