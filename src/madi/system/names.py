"""`Names`: a model frozen into a tree and arrays, and what its parts are called there."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.equations.loads import OF_COUPLER, OF_JOINT, OF_PAIR, Load
from madi.errors import InputError, ModelError, warn
from madi.forces import KINDS as FORCES
from madi.forces.modes import MEMORY, TOLD
from madi.joints import KINDS
from madi.model.check import check
from madi.model.elements import body_name
from madi.system.inertia import LIGHT, refuse_singular_mass
from madi.topology.freeze import freeze, path_matrix
from madi.topology.graph import spanning_tree
from madi.topology.lower import lower

if TYPE_CHECKING:
    from madi.model.model import Model


class Names:
    """Where everything is in q, v and the arrays. `q`, `v`: in the order of `coordinates` and `speeds`."""

    def __init__(self, model: Model, frame: str = "base"):
        if frame not in ("base", "ground"):
            raise InputError(f"frame={frame!r}: choose 'base' or 'ground'")
        findings = check(model)
        if findings:
            raise ModelError(model.name, findings)
        self.model, self.name, self.frame = model, model.name, frame
        self.lowered = lower(model)  # flexible bodies as a frame and points
        self.spanning_tree = spanning_tree(self.lowered)
        self.frozen = freeze(self.lowered, self.spanning_tree, frame)
        if self.frozen.signals.findings:
            raise ModelError(model.name, self.frozen.signals.findings)
        for text in self.frozen.signals.remarks:
            warn(text)
        self.layout = self.frozen.layout
        self.active_rows = np.zeros(0, dtype=bool)
        self.forces = [force.name for force in self.lowered.forces]
        self.roads = [(body_name(f.a), f.parameters["road"]) for f in self.lowered.forces if "road" in f.parameters]
        self._joint_of = {joint.name: k + 1 for k, joint in enumerate(self.frozen.joints)}
        self._body_of = {name: k + 1 for k, name in enumerate(self.frozen.bodies)}
        refuse_singular_mass(model, self.frozen)
        if self.frozen.rows:
            from madi.topology.settle import settle

            try:
                self.layout, self.active_rows = settle(self.layout, self.frozen.rows, self.frozen.q0)
            except np.linalg.LinAlgError:
                raise ModelError(self.name, [LIGHT]) from None

    @cached_property
    def n_held(self) -> int:
        """Number of held values: what elements that slide or stick, stop or watch do between two events."""
        return self.layout.header("n_held")

    @cached_property
    def held_names(self) -> list[str]:
        """The element of each held value."""
        return [self.forces[int(e)] for e in self.layout.arrays.held_of]

    @cached_property
    def switching(self) -> list[int]:
        """Held values that are modes: not memory."""
        return [int(k) for k in np.flatnonzero(~np.isin(self.layout.arrays.held_kind, (MEMORY, TOLD)))]

    @cached_property
    def contact_points(self) -> list[str]:
        """Names of the points of contact: the element's, numbered where it has several."""
        found = []
        for force in self.lowered.forces:
            touches = FORCES[force.kind].touches
            count = 0 if touches is None else touches(force)
            found += [force.name] if count == 1 else [f"{force.name}.{k + 1}" for k in range(count)]
        return found

    @cached_property
    def ending_events(self) -> frozenset[int]:
        """Held values whose events end a run."""
        drawn = self.lowered.forces
        return frozenset(k for k, e in enumerate(self.layout.arrays.held_of) if drawn[int(e)].parameters.get("stop") is True)

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
        if name not in self._joint_of and name in self.cut_joints:
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
        return slice(start, start + (kind.nq if not kind.bends else len(range(*self.v_slice(joint).indices(self.nv)))))

    def v_slice(self, joint: str) -> slice:
        """Where the joint's speeds are in v."""
        i = self._joint(joint)
        return slice(int(self.layout.arrays.v_at[i]), int(self.layout.arrays.v_end[i]))

    def driving_columns(self, loads: list[Load]) -> list[tuple[Load, int]]:
        """(joint, column) in the order in which the loads entry lists B^T R."""
        model = self.layout.arrays
        joints = [load for load in loads if load.of == OF_JOINT]
        return [(load, c) for load in joints for c in range(int(model.v_at[load.number]), int(model.v_end[load.number]))]

    @property
    def loaded_names(self) -> list[str]:
        """All that carries a load: joints of the tree, cut joints, constraints (of couplers, gears and racks: what they do
        to the child of their first joint)."""
        rows = [row.element for row in self.frozen.rows]
        return list(dict.fromkeys([*(name for name in self.joint_names if name in self.drawn_joints), *rows]))

    @cached_property
    def _closing(self) -> dict[str, Load]:
        """Loads of what closes loops, by name."""
        closing: dict[str, Load] = {}
        for r, (row, pair) in enumerate(zip(self.frozen.rows, self.layout.arrays.row_pair, strict=True)):
            closing.setdefault(row.element, Load(OF_PAIR, int(pair)) if pair >= 0 else Load(OF_COUPLER, r))
        return closing

    def load_of(self, name: str) -> Load:
        """The load of a joint or constraint."""
        closing = self._closing
        if name not in closing and name not in self._joint_of:
            raise InputError(f"nothing that carries a load is called {name!r}; there are: {', '.join(self.loaded_names)}")
        return closing[name] if name in closing else Load(OF_JOINT, self._joint(name))
