"""Named memory as machine code sees it: what lies at the addresses of a table is what the names say."""

import ctypes

import numpy as np
import pytest

from madi.kernel.fields import (
    ABSENT,
    Fields,
    Function,
    Ints,
    Reals,
    function,
    given_reals,
    integer,
    ints,
    over,
    part,
    real,
    reals,
    size,
)


class Inner(Fields):
    count: int = integer()
    numbers: Reals = reals("n")


class Outer(Fields):
    n: int = size()
    t: float = real()
    steps: int = integer()
    q: Reals = reals("n", 2)
    v: Reals = reals("2*n+1")
    both: Reals = over("q", "4*n+1")
    order: Ints = ints("n")
    inner: Inner = part(Inner)
    forward: Function = function()
    given: Reals = given_reals()


class Longer(Outer):
    x: float = real()
    more: Reals = reals("n")


def made(kind=Outer, n=3):
    return kind({"n": n}, inner=Inner({"n": n}), forward=ABSENT, given=np.arange(2.0))


def at(memory, name, kind=ctypes.c_double, count=1):
    """Numbers at the address that the table has for a name."""
    address = int(memory.table[list(memory.fields).index(name)])
    return list((kind * count).from_address(address))


@pytest.mark.parametrize("kind", [Outer, Longer])
def test_addresses_are_those_of_the_named_numbers(kind):
    m = made(kind)
    m.real_memory[:], m.int_memory[:] = np.arange(len(m.real_memory)), 100 + np.arange(len(m.int_memory))
    assert m.table[list(m.fields).index("n")] == 3
    assert at(m, "t") == [m.t]
    assert at(m, "steps", ctypes.c_int64) == [m.steps]
    for name in ("v", "q", "both", *(["more"] if kind is Longer else [])):
        assert at(m, name, count=getattr(m, name).size) == getattr(m, name).reshape(-1).tolist()
    assert at(m, "order", ctypes.c_int64, 3) == m.order.tolist()
    assert at(m, "given", count=2) == [0.0, 1.0]


@pytest.mark.parametrize("kind", [Outer, Longer])
def test_what_is_exchanged_is_exchanged_in_the_table(kind):
    """Runs exchange functions and parts after the table was made; the table itself stays where it is."""
    m = made(kind)
    where = m.table.ctypes.data
    other, call = Inner({"n": 3}), Function(address=12345)
    other.count = 77
    m.inner, m.forward, m.given = other, call, np.array([5.0, 6.0])
    assert m.table.ctypes.data == where
    (inner,) = at(m, "inner", ctypes.c_int64)  # the first entry of its table: the address of count
    assert ctypes.c_int64.from_address(inner).value == 77
    assert at(m, "forward", ctypes.c_int64) == [12345]
    assert at(m, "given", count=2) == [5.0, 6.0]
    m.inner.count = 78
    assert ctypes.c_int64.from_address(inner).value == 78


def test_no_name_has_two_meanings():
    with pytest.raises(AssertionError, match="have a meaning already"):

        class Twice(Outer):
            t: float = real()

    with pytest.raises(AssertionError, match="have a meaning already"):

        class Taken(Fields):
            table: Reals = reals("3")
