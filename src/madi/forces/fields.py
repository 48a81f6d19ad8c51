"""What force elements read of a model and write of an evaluation (see joints/fields.py)."""

from __future__ import annotations

from madi.dynamics.fields import Arrays as DynamicsArrays
from madi.dynamics.fields import Work as DynamicsWork
from madi.kernel.fields import Ints, Reals, given_reals, ints, real, reals, size


class Arrays(DynamicsArrays):
    """The elements: what they are, where they act, their parameters."""

    ne: int = size()  # force elements
    np: int = size()  # parameters of force elements
    ns: int = size()  # signals
    na: int = size()  # force elements whose law sees their line
    n_touch: int = size()  # points of contact
    n_hard: int = size()  # most of them, and of stops and frictions, that a time-stepping method meets at once
    n_feel: int = size()  # columns on their paths
    n_value: int = size()  # numbers of their rows
    force_kind: Ints = ints("ne")
    force_a: Ints = ints("ne")  # body or column
    force_b: Ints = ints("ne")
    force_at: Ints = ints("ne")  # first parameter
    force_signal: Ints = ints("ne")  # first signal, -1 if none
    force_state: Ints = ints("ne")  # first of its first-order states, a column; -1 if it has none
    force_held: Ints = ints("ne")  # first of its held values; -1 if it has none
    force_call: Ints = ints("ne")  # address of its compiled kernel, 0 where the forward kernel has it built in
    force_touch: Ints = ints("ne")  # first of its points of contact; -1 if it has none
    held_of: Ints = ints("n_held")  # the element whose held value it is
    held_kind: Ints = ints("n_held")  # modes.FRICTION ...
    held_column: Ints = ints("n_held")  # the column it may hold, -1: none
    measured: Ints = ints("na")  # elements whose length and rate functions see
    parameter: Reals = reals("np")
    curve: Reals = given_reals()  # blocks of measured curves (kernel/lookup.py)


class Work(DynamicsWork):
    """What the elements do, and the signals they follow."""

    signal: Reals = reals("ns")  # values of users' functions (signals/tape.py)
    force: Reals = reals("ne", 4)  # of every element: value, potential energy, power delivered, power dissipated
    measure: Reals = reals("2*na")  # length and rate of each measured element
    held: Reals = reals("n_held")  # held values: what stays as it is between two events (modes.py)
    margin: Reals = reals("n_held")  # how far each is from the end of its validity: >= 0 as long as it holds
    low: Reals = reals("n_held")  # of one that holds its column: the least and the largest force it can hold it with
    high: Reals = reals("n_held")
    kept: Reals = reals("n_held")  # of memory: what is remembered if the step ends here
    now: float = real()  # the time
    broke: float = real()  # points where friction has given way, which lets a force jump; `keep` counts them
    touch: Reals = reals("n_touch", 14)  # what is told of each point of contact (contact.py)
    lost: Reals = reals("n_held")  # energy, in the impacts of a switch
    fired: Reals = reals("n_held")  # scratch of a switch: where an event has come, which way (equations/modes.py)
    tire_contact: Reals = reals("38")  # a tire's geometry (tire_contact.py)
