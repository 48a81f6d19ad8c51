"""`System`: a model frozen into a tree, arrays and names, ready to be evaluated."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.engines.entries import ENTRIES, FORMULATIONS
from madi.errors import InputError, ModelError
from madi.joints import KINDS
from madi.model.check import check
from madi.topology.freeze import freeze, path_matrix
from madi.topology.graph import spanning_tree

if TYPE_CHECKING:
    from madi.model.model import Model

ENGINES = ("auto", "plain", "jit", "compiled")


class System:
    """The equations of a model. `q`, `v`: joint coordinates and speeds, in the order of `coordinates` and `speeds`."""

    def __init__(self, model: Model, frame: str = "base"):
        if frame not in ("base", "ground"):
            raise InputError(f"frame={frame!r}: choose 'base' or 'ground'")
        findings = check(model)
        if findings:
            raise ModelError(model.name, findings)
        self.name = model.name
        self.frame = frame
        self.spanning_tree = spanning_tree(model)
        self.frozen = freeze(model, self.spanning_tree, frame)
        self.layout = self.frozen.layout
        self.forces = [force.name for force in model.forces]
        self._engines: dict[str, Any] = {}
        self._joint_of = {joint.name: k + 1 for k, joint in enumerate(self.frozen.joints)}
        self._body_of = {name: k + 1 for k, name in enumerate(self.frozen.bodies)}

    # ---- names and counts -------------------------------------------------------------------------------------------

    @property
    def nq(self) -> int:
        """Number of joint coordinates."""
        return self.layout.header("nq")

    @property
    def nv(self) -> int:
        """Number of speeds (degrees of freedom of the tree)."""
        return self.layout.header("nv")

    @property
    def bodies(self) -> list[str]:
        """Names of the bodies in tree order, without the ground."""
        return list(self.frozen.bodies)

    @property
    def joint_names(self) -> list[str]:
        """Joints of the tree, each at the place of its body."""
        return [joint.name for joint in self.frozen.joints]

    @property
    def cut_joints(self) -> list[str]:
        """Joints that close loops: they are constraints, not coordinates."""
        return [joint.name for joint in self.spanning_tree.cuts]

    @property
    def coordinates(self) -> list[str]:
        """Names of the entries of q."""
        return list(self.frozen.coordinates)

    @property
    def speeds(self) -> list[str]:
        """Names of the entries of v."""
        return list(self.frozen.speeds)

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
        """Scalar constraints of all cut joints."""
        return sum(6 - KINDS[joint.kind].nv for joint in self.spanning_tree.cuts)

    @property
    def q0(self) -> np.ndarray:
        """Coordinates at the start."""
        return self.frozen.q0.copy()

    @property
    def v0(self) -> np.ndarray:
        """Speeds at the start."""
        return self.frozen.v0.copy()

    def _joint(self, name: str) -> int:
        if name in self.cut_joints:
            raise InputError(f"joint {name!r} is a cut joint: it has no coordinates; see s.explain()")
        if name not in self._joint_of:
            raise InputError(f"there is no joint {name!r}; joints are: {', '.join(self.joint_names)}")
        return self._joint_of[name]

    def _body(self, name: Any) -> int:
        name = getattr(name, "name", name)
        if name == "ground":
            return 0
        if name not in self._body_of:
            raise InputError(f"there is no body {name!r}; bodies are: {', '.join(self.bodies)}")
        return self._body_of[name]

    def q_slice(self, joint: str) -> slice:
        """Where the joint's coordinates are in q."""
        i = self._joint(joint)
        start = int(self.layout.arrays.q_at[i])
        return slice(start, start + KINDS[self.frozen.joints[i - 1].kind].nq)

    def v_slice(self, joint: str) -> slice:
        """Where the joint's speeds are in v."""
        i = self._joint(joint)
        return slice(int(self.layout.arrays.v_at[i]), int(self.layout.arrays.v_end[i]))

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
            if name == "plain":
                from madi.engines.plain import PlainEngine as Engine
            elif name == "jit":
                from madi.engines.jit import JitEngine as Engine  # type: ignore[assignment]
            else:
                from madi.engines.compiled import CompiledEngine as Engine  # type: ignore[assignment]
            self._engines[name] = Engine(self.layout)
        return self._engines[name]

    def formulation(self, name: str | None = None) -> str:
        """The formulation asked for, or the fastest for this size."""
        if name is None or name == "auto":
            return "recursive" if self.nv <= 6 else "articulated"
        if name not in FORMULATIONS:
            raise InputError(f"formulation={name!r}: choose one of {', '.join(FORMULATIONS)}")
        return name

    def _vector(self, value: Any, count: int, what: str) -> np.ndarray:
        array = np.ascontiguousarray(np.atleast_1d(np.asarray(0.0 if value is None else value, dtype=float)))
        if value is None:
            array = np.zeros(count)
        if array.shape != (count,):
            raise InputError(f"{what}: {count} numbers are needed, {array.shape} given (see s.coordinates, s.speeds)")
        return array

    def _evaluate(self, entry: str, q: Any, v: Any, x: Any, t: float, engine: str, size: int | None = None) -> np.ndarray:
        q, v = self._vector(q, self.nq, "q"), self._vector(v, self.nv, "v")
        if size is None:
            size = ENTRIES[entry].out(self.nq, self.nv, self.layout.header("n"), self.layout.header("ne"))
        return self.engine(engine).evaluate(entry, float(t), q, v, np.asarray(x, dtype=float), size)

    def forward_dynamics(self, q: Any, v: Any, tau: Any = None, t: float = 0.0, *, formulation: str | None = None,
                         engine: str = "auto") -> np.ndarray:  # fmt: skip
        """Accelerations for generalised forces `tau` beside the model's own forces. Driven joints move as driven at t."""
        tau = self._vector(tau, self.nv, "tau")
        return self._evaluate(self.formulation(formulation), q, v, tau, t, engine)

    def inverse_dynamics(self, q: Any, v: Any, a: Any, t: float = 0.0, *, engine: str = "auto") -> np.ndarray:
        """Generalised forces, beside the model's own forces, that give the accelerations `a`."""
        return self._evaluate("inverse", q, v, self._vector(a, self.nv, "a"), t, engine)

    def mass_matrix(self, q: Any, *, engine: str = "auto") -> np.ndarray:
        """The joint-space mass matrix, full."""
        return self._evaluate("mass-matrix", q, None, np.zeros(0), 0.0, engine).reshape(self.nv, self.nv)
