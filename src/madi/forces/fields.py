"""What force elements read of a model and write of an evaluation (see joints/fields.py)."""

from __future__ import annotations

from madi.dynamics.fields import Arrays as DynamicsArrays
from madi.dynamics.fields import Work as DynamicsWork
from madi.kernel.fields import Ints, Reals, given_reals, ints, reals, size


class Arrays(DynamicsArrays):
    """The elements: what they are, where they act, their parameters."""

    ne: int = size()  # force elements
    np: int = size()  # parameters of force elements
    ns: int = size()  # signals
    na: int = size()  # force elements whose law sees their line
    force_kind: Ints = ints("ne")
    force_a: Ints = ints("ne")  # body or column
    force_b: Ints = ints("ne")
    force_at: Ints = ints("ne")  # first parameter
    force_signal: Ints = ints("ne")  # first signal, -1 if none
    force_state: Ints = ints("ne")  # first of its first-order states, a column; -1 if it has none
    force_call: Ints = ints("ne")  # address of its compiled kernel, 0 where the forward kernel has it built in
    measured: Ints = ints("na")  # elements whose length and rate functions see
    parameter: Reals = reals("np")
    curve: Reals = given_reals()  # blocks of measured curves (kernel/lookup.py)


class Work(DynamicsWork):
    """What the elements do, and the signals they follow."""

    signal: Reals = reals("ns")  # values of users' functions (signals/tape.py)
    force: Reals = reals("ne", 4)  # of every element: value, potential energy, power delivered, power dissipated
    measure: Reals = reals("2*na")  # length and rate of each measured element
    tire_contact: Reals = reals("38")  # a tire's geometry (tire_contact.py)
