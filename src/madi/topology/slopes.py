"""Where the derivatives of the residual are: their entries by rows and columns, in the order equations/slopes.py makes them.

Six blocks: R by qdd, by qd, by q, by lam; Phi_q, which is Phi' by qd, and Phi' by q. R by qdd has the sparsity of the
tree; R by qd and by q that and what forces and loops add: couplings of columns on different branches. Of deep trees, whose
elements couple no joints, the values of equations/articulated_slopes.py instead, O(n)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from madi.equations.articulated_slopes import OF_BODY, OF_COLUMN, OF_LOAD
from madi.equations.fields import SlopePlan
from madi.joints.columns import FREE_COLUMN
from madi.joints.kind import AGAINST
from madi.joints.ladder import quaternion_at
from madi.joints.modal import KIND
from madi.kernel.fields import ABSENT

MODAL = KIND.code
BY_PAIR, BY_TRIPLE, BY_COLUMN = 30, 0.5, 380  # multiplications: of entries, of their elimination; without them (`deep`)
KEPT_DEPTH = 20  # columns on a path from which solutions are quicker without entries
BLOCKS = ("qdd", "qd", "q", "lam", "phi", "rate")


@dataclass(frozen=True)
class Blocks:
    """Where the entries of the six blocks are; `rows`, `columns` count columns of the tree and constraint rows apart."""

    rows: list[np.ndarray]
    columns: list[np.ndarray]
    _known: dict[tuple[int, int], Any] = field(default_factory=dict, repr=False, compare=False)  # by nv and nr: _scattered

    @property
    def sizes(self) -> list[int]:
        """Entries of each block."""
        return [len(rows) for rows in self.rows]

    def matrices(self, values: np.ndarray, nv: int, nr: int) -> dict[str, np.ndarray]:
        """The blocks as full matrices."""
        places, shapes = self._scattered(nv, nr)
        lead = values.shape[:-1]
        full = np.zeros((*lead, sum(high * wide for high, wide in shapes)))
        full[..., places] = values
        found, at = {}, 0
        for name, (high, wide) in zip(BLOCKS, shapes, strict=True):
            found[name] = full[..., at : at + high * wide].reshape(*lead, high, wide)
            at += high * wide
        return found

    def _scattered(self, nv: int, nr: int) -> tuple[np.ndarray, list[tuple[int, int]]]:
        """Where each entry is among those of all six matrices, one after the other, and their shapes."""
        if (nv, nr) not in self._known:
            shapes = [(nv, nv), (nv, nv), (nv, nv), (nv, nr), (nr, nv), (nr, nv)]
            parts, first = [], 0
            for rows, columns, (high, wide) in zip(self.rows, self.columns, shapes, strict=True):
                parts.append(first + rows * wide + columns)
                first += high * wide
            self._known[nv, nr] = np.concatenate(parts).astype(np.int64), shapes
        return self._known[nv, nr]


def full_blocks(nv: int, nr: int) -> Blocks:
    """Every entry: where the pattern is not known."""
    square, wide = np.indices((nv, nv)).reshape(2, -1), np.indices((nr, nv)).reshape(2, -1)
    return Blocks([*[square[0]] * 3, wide[1], wide[0], wide[0]], [*[square[1]] * 3, wide[0], wide[1], wide[1]])


@dataclass
class Group:
    """A force element as its derivatives see it: the bodies it sees and acts on, columns it acts on directly (`taus`) or
    depends on beside the bodies (`by_q`, `by_v`). `relative`: only on how its bodies lie and move to each other."""

    bodies: list[int]
    taus: list[int] = field(default_factory=list)
    by_q: list[int] = field(default_factory=list)
    by_v: list[int] = field(default_factory=list)
    relative: bool = False

    @property
    def is_load(self) -> bool:
        """Whether it acts on one body from the ground, and on nothing else."""
        return len(self.bodies) == 1 and not (self.taus or self.by_q or self.by_v)


@dataclass(frozen=True)
class TreeValues:
    """The numbers of equations/articulated_slopes.py: of the squares of all joints' own columns, of loads from the ground;
    the load of each body, -1: none."""

    n_own: int
    n_loads: int
    load: list[int]
    nv: int

    @property
    def count(self) -> int:
        """All of them."""
        return 3 * self.n_own + OF_BODY * len(self.load) + OF_COLUMN * self.nv + OF_LOAD * self.n_loads


class _Tree:
    """Paths, and which columns carry which."""

    def __init__(self, model: Any):
        self.model = model
        self.parent = np.asarray(model.parent).tolist()
        self.first, self.end = np.asarray(model.v_at).tolist(), np.asarray(model.v_end).tolist()
        self.body = np.asarray(model.column_body).tolist()
        self.is_free = (np.asarray(model.drive) == FREE_COLUMN).tolist()
        self.inboard = np.asarray(model.free_motion_parent).tolist()
        self.column, self.tip = np.asarray(model.motion_column).tolist(), np.asarray(model.tip_motion).tolist()
        codes, reverse = np.asarray(model.code).tolist(), np.asarray(model.reverse).tolist()
        self.turns = [quaternion_at(code) >= 0 for code in codes]
        self.modal = [code == MODAL for code in codes]
        self.against = [way == AGAINST for way in reverse]

    def free(self, i: int) -> list[int]:
        """The free columns of a joint."""
        return [c for c in range(self.first[i], self.end[i]) if self.is_free[c]]

    def carries(self, j: int, c: int) -> bool:
        """Whether column j carries column c, both on one path (dynamics/slopes.py)."""
        i = self.body[c]
        if self.body[j] != i:
            return j < c
        if self.modal[i]:
            return False
        return not self.against[i] if self.turns[i] else c != j and (c < j) == self.against[i]

    def path(self, i: int) -> list[int]:
        """Unit motions of free columns that move a body, outboard first."""
        found, x = [], self.tip[i]
        while x >= 0:
            if self.is_free[self.column[x]]:
                found.append(x)
            x = self.inboard[x]
        return found

    def entries(self) -> list[tuple[int, int]]:
        """Of M, in the order of dynamics/slopes.py `tree_slopes`."""
        found = []
        for i in range(1, len(self.parent)):
            own = self.free(i)
            found += [(c, j) for c in own for j in own]
            for c in own:
                x = self.inboard[self.first[i]]
                while x >= 0:
                    found += [(c, self.column[x]), (self.column[x], c)]
                    x = self.inboard[x]
        return found


class _Places:
    """Entries of R by q as they are met: those of the tree, then what is added."""

    def __init__(self, tree: list[tuple[int, int]]):
        self.known = {pair: k for k, pair in enumerate(tree)}
        self.listed = list(tree)

    def __call__(self, c: int, j: int) -> int:
        """Where entry (c, j) is."""
        if (c, j) not in self.known:
            self.known[c, j] = len(self.listed)
            self.listed.append((c, j))
        return self.known[c, j]


class _CoupledError(Exception):
    """Columns of different joints meet in an element."""


class _OwnPlaces:
    """Entries of the squares of all joints' own columns, by bodies."""

    def __init__(self, tree: _Tree):
        self.tree = tree
        wide = [end - first for first, end in zip(tree.first, tree.end, strict=True)]
        self.first = np.cumsum([0, *(count * count for count in wide)]).tolist()

    def __call__(self, c: int, j: int) -> int:
        """Where entry (c, j) is."""
        i = self.tree.body[c]
        if self.tree.body[j] != i:
            raise _CoupledError
        l = self.tree.first[i]
        return int(self.first[i] + (c - l) * (self.tree.end[i] - l) + j - l)


def slope_plan(model: Any, groups: list[Group], values: int = 0) -> tuple[Blocks, dict[str, Any]]:
    """(the blocks, fields of the SlopePlan) of a model. `values`: how many numbers the groups' program gives."""
    tree = _Tree(model)
    nv = int(model.nv)
    alone = [c for c in range(nv) if tree.body[c] == 0 or not tree.is_free[c]]  # first-order states, and what is prescribed
    entries = [*tree.entries(), *((c, c) for c in alone)]
    place = _Places(entries)
    pair_place, pair_carried, row_entries = _of_rows(model, tree, place)
    lists = _of_groups(tree, groups, place)
    square, more = (_columns(pairs) for pairs in (entries, place.listed))
    r, c = _columns(row_entries)
    blocks = Blocks([square[0], more[0], more[0], c, r, r], [square[1], more[1], more[1], r, c, c])
    lists |= {"alone": alone, "pair_place": pair_place, "pair_carried": pair_carried, "group_load": [-1] * len(groups)}
    fields = {name: np.array(values, dtype=np.int64) for name, values in lists.items()}
    sizes = _sizes(model, groups, lists, values) | {
        "n_tree": len(entries), "n_all": len(place.listed), "n_row_entries": len(row_entries), "n_alone": len(alone),
        "n_pair": len(pair_place), "n_swing": nv,
    }  # fmt: skip
    return blocks, {"sizes": sizes, **fields}


def _sizes(model: Any, groups: list[Group], lists: dict[str, list[int]], values: int) -> dict[str, int]:
    """Sizes of the groups' lists in a SlopePlan; of all else, none."""
    rows = [6 * len(group.bodies) + len(group.taus) for group in groups]
    state = int(model.nv) + 12 * (int(model.nf) - 1) + 18 * (int(model.n) - 1) + int(model.n_held)
    return dict.fromkeys(("n_row_entries", "n_alone", "n_pair", "n_swing", "n_loads"), 0) | {
        "n_groups": len(groups), "n_bodies": len(lists["body"]), "n_motions": len(lists["motion"]),
        "n_taus": len(lists["tau"]), "n_by_q": len(lists["by_q"]), "n_by_v": len(lists["by_v"]),
        "n_place": len(lists["place"]), "n_answer": max(rows, default=0), "n_values": values,
        "n_state": state if groups else 0,
    }  # fmt: skip


def deep(model: Any, kept: bool) -> bool:
    """Whether a tree is quicker eliminated without its entries: by the multiplications of both, of which those with entries
    go four at a time. `kept`: a matrix serves many solutions."""
    depth, parent = np.zeros(int(model.nv)), np.asarray(model.column_parent).tolist()
    for c, inboard in enumerate(parent):
        depth[c] = 1 if inboard < 0 else depth[inboard] + 1
    if kept:
        return bool(np.sum(depth) > KEPT_DEPTH * len(depth))
    return bool(np.sum(BY_PAIR * depth + BY_TRIPLE * depth**2) > BY_COLUMN * len(depth))


def articulated_plan(model: Any, groups: list[Group], values: int = 0) -> tuple[TreeValues, dict[str, Any]] | None:
    """(what there is, fields of the SlopePlan) of a tree. None: an element couples joints, or a body with more than the
    ground."""
    tree = _Tree(model)
    place = _OwnPlaces(tree)
    loads = sorted({group.bodies[0] for group in groups if group.is_load})
    tied = {i: k for k, i in enumerate(loads)}
    inner = [Group([], [], [], []) if group.is_load else group for group in groups]
    try:
        lists = _of_groups(tree, inner, place)
    except _CoupledError:
        return None
    lists["body"] = [i for group in groups for i in group.bodies]
    lists["group_body"] = np.cumsum([0, *(len(group.bodies) for group in groups)]).tolist()
    lists["group_load"] = [tied[group.bodies[0]] if group.is_load else -1 for group in groups]
    n_own = place.first[-1]
    sizes = _sizes(model, groups, lists, values) | {"n_tree": n_own, "n_all": n_own, "n_loads": len(loads)}
    found = TreeValues(n_own, len(loads), [tied.get(i, -1) for i in range(int(model.n))], int(model.nv))
    return found, {"sizes": sizes, **{name: np.array(values, dtype=np.int64) for name, values in lists.items()}}


def _columns(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


def _of_rows(model: Any, tree: _Tree, place: _Places) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """Of every pair with active rows the places of its columns' entries, and whether one column carries the other on the
    way to b (1), to a (2), to both (3); then the entries of Phi_q."""
    names = ("row_first", "j_column", "j_sign", "j_other")
    first, column, sign, other = (np.asarray(getattr(model, name)).tolist() for name in names)
    pair_of, active = np.asarray(model.row_pair).tolist(), (np.asarray(model.row_place) >= 0).tolist()
    pair_place, pair_carried, entries = [], [], []
    done = set()
    for r, k in enumerate(pair_of):
        if not active[r]:
            continue
        mine = range(first[r], first[r + 1])
        entries += [(r, column[e]) for e in mine]
        if k < 0 or k in done:
            continue
        done.add(k)
        ends = [(1 if sign[e] > 0 else 2) | (2 if other[e] >= 0 else 0) for e in mine]  # the bodies it moves
        for j, to_j in zip(mine, ends, strict=True):
            for c, to_c in zip(mine, ends, strict=True):
                pair_place.append(place(column[c], column[j]))
                pair_carried.append(to_j & to_c if tree.carries(column[j], column[c]) else 0)
    return pair_place, pair_carried, entries


def _of_groups(tree: _Tree, groups: list[Group], place: Callable[[int, int], int]) -> dict[str, list[int]]:
    """Lists of all groups behind each other, and where each begins."""
    found: dict[str, list[int]] = {
        name: [] for name in ("body", "motion", "moves", "tau", "by_q", "by_v", "place", "carried")
    }
    first: dict[str, list[int]] = {f"group_{name}": [0] for name in ("body", "motion", "tau", "by_q", "by_v")}
    for group in groups:
        paths = [set(tree.path(i)) for i in group.bodies]
        both = set.intersection(*paths) if group.relative else set()
        motions = sorted(set().union(*paths) - both)
        moves = [sum((x in path) << k for k, path in enumerate(paths)) for x in motions]
        columns = [tree.column[x] for x in motions]
        for j, by in [*zip(columns, moves, strict=True), *((j, 0) for j in (*group.by_q, *group.by_v))]:
            for c, acts in zip(columns, moves, strict=True):
                found["place"].append(place(c, j))
                found["carried"].append(int(bool(by & acts) and tree.carries(j, c)))
            found["place"] += [place(c, j) for c in group.taus]
            found["carried"] += [0] * len(group.taus)
        for name, own in (
            ("body", group.bodies), ("motion", motions), ("tau", group.taus), ("by_q", group.by_q), ("by_v", group.by_v)
        ):  # fmt: skip
            found[name] += own
            first[f"group_{name}"].append(len(found[name]))
        found["moves"] += moves
    return found | first


@dataclass(frozen=True)
class Slopes:
    """The derivatives of a model by recursion: what they are, and what they take. `program`: of the force elements
    (symbolic/elements.py), None: there are none."""

    blocks: Any  # Blocks, or TreeValues
    fields: dict[str, Any]
    program: Any = None

    @property
    def entry(self) -> str:
        """What makes them."""
        return "slopes" if isinstance(self.blocks, Blocks) else "articulated-slopes"

    def plan(self, engine: Any) -> SlopePlan:
        """A plan for one scratch of an engine."""
        elements = ABSENT if self.program is None else engine.program("elements", self.program)
        plan = SlopePlan(self.fields["sizes"], elements=elements)
        for name, values in self.fields.items():
            if name != "sizes":
                getattr(plan, name)[:] = values
        return plan
