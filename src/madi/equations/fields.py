"""All that kernels read of a model, and all that an evaluation writes (see joints/fields.py)."""

from __future__ import annotations

from typing import Any

from madi.kernel.fields import Fields, Ints, Reals, function, integer, ints, part, reals, size
from madi.loops.fields import Arrays
from madi.loops.fields import Work as LoopWork

__all__ = ["Arrays", "SlopePlan", "Work"]


class SlopePlan(Fields):
    """Where derivatives of the residual go (topology/slopes.py lists them, slopes.py makes them); empty, all zero, in a
    scratch that nobody asks for them. Groups: force elements with the bodies they see and act on; of group g its bodies
    are body[group_body[g]] and on, and so with the unit motions these hang on and all else it has a list of."""

    n_tree: int = size()  # entries of R by qdd
    n_all: int = size()  # of R by qd, and by q: the first are those of the tree
    n_row_entries: int = size()  # of R by lam, of Phi_q, of Phi' by q
    n_alone: int = size()
    n_pair: int = size()
    n_groups: int = size()
    n_bodies: int = size()
    n_motions: int = size()
    n_taus: int = size()
    n_by_q: int = size()
    n_by_v: int = size()
    n_place: int = size()
    n_answer: int = size()
    n_values: int = size()
    n_state: int = size()
    n_swing: int = size()
    n_loads: int = size()  # bodies that elements tie to the ground (articulated_slopes.py)
    alone: Ints = ints("n_alone")  # columns that meet nothing: first-order states, and those that are prescribed
    pair_place: Ints = ints("n_pair")  # of each pair of frames, columns by columns: the entry
    pair_carried: Ints = ints("n_pair")  # the one carries the other 1: on the way to b, 2: to a
    group_body: Ints = ints("n_groups+1")
    group_motion: Ints = ints("n_groups+1")
    group_tau: Ints = ints("n_groups+1")
    group_by_q: Ints = ints("n_groups+1")
    group_by_v: Ints = ints("n_groups+1")
    group_load: Ints = ints("n_groups")  # the load it adds to instead, -1: none (articulated_slopes.py)
    body: Ints = ints("n_bodies")
    motion: Ints = ints("n_motions")  # unit motions, on the ways to its bodies
    moves: Ints = ints("n_motions")  # which of the group's bodies it moves, a bit for each
    tau: Ints = ints("n_taus")  # columns the group acts on
    by_q: Ints = ints("n_by_q")  # columns it depends on beside its bodies
    by_v: Ints = ints("n_by_v")
    place: Ints = ints("n_place")  # of each group, by what it answers to, all it acts on: the entry
    carried: Ints = ints("n_place")
    elements: Any = function()  # (t, q, v, state) -> element_values
    state: Reals = reals("n_state")
    element_values: Reals = reals("n_values")
    answer_q: Reals = reals("n_answer")  # to one column, by its coordinate and by its speed
    answer_v: Reals = reals("n_answer")
    swing: Reals = reals("n_swing", 6)  # of the columns of the pair at hand: how the multipliers' load changes


class Work(LoopWork):
    """An evaluation's; what a time-stepping method meets in a step (impulses.py)."""

    items: int = integer()  # how many
    feels: int = integer()  # columns of them so far
    filled: int = integer()  # numbers of rows so far
    item: Reals = reals("n_hard", 19)
    item_kind: Ints = ints("n_hard")
    item_of: Ints = ints("n_hard")  # element
    item_held: Ints = ints("n_hard")  # first of its held values
    item_point: Ints = ints("n_hard")
    item_first: Ints = ints("n_hard")  # first of its columns
    item_columns: Ints = ints("n_hard")
    item_value: Ints = ints("n_hard")  # first number of its rows
    feel: Ints = ints("n_feel")
    feel_value: Reals = reals("n_value")
    answer_value: Reals = reals("n_value")
    u: Reals = reals("nv")  # speeds, in impulse space
    before: Reals = reals("nv")  # speeds before the step
    row_now: Reals = reals("nv")  # a row, zero between two

    moved: Reals = reals("nq")  # coordinates of a trial state of an implicit step
    slopes: SlopePlan = part(SlopePlan)
