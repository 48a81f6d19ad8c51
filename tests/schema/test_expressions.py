"""Expressions and units in model files."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import madi
from madi.schema.expression import Scope
from madi.schema.read import loads
from tests.schema.files import PENDULUM, SMALL, same_arrays

NOTHING = Scope({}, {}, {})


@pytest.mark.parametrize(("text", "wanted"), [
    ("450 in/s", 450 * 0.0254), ("12 deg", np.pi / 15), ("25 lb", 25 * 0.45359237),
    ("300 lbf/in", 300 * 4.4482216152605 / 0.0254),
    ("3000 rpm", 100 * np.pi), ("120 km/h", 120 / 3.6), ("5 kg mm^2", 5e-6), ("5 kg*mm²", 5e-6), ("2 N/(m s)", 2.0),
    ("1 l", 1e-3),
    ("5 s^-1", 5.0), ("9.81 m s^-2", 9.81), ("5 N mm^-1", 5000.0), ("10 s**-1", 10.0), ("3/s", 3.0), ("1/s", 1.0),
    ("4 Nm", 4.0), ("7 \u03bcm", 7e-6), ("1/(2 s)", 0.5), ("1 or 0 and 0", 1.0), ("(3 m)**2", 9.0), ("5 min", 300.0),
    ("-2 deg", -np.pi / 90),
    ("2 + 3 * 4", 14.0), ("2 ** 3 ** 2", 512.0), ("-2 ** 2", -4.0), ("(1 + 2) * -3", -9.0), ("a = 3; b = a * a; b - a", 6.0),
    ("where(1 < 2, 10, 20)", 10.0), ("min(3, max(1, 2))", 2.0), ("mod(7.5, 2)", 1.5), ("atan2(1, 1)", np.pi / 4),
    ("sqrt(16 m2)", 4.0), ("1 < 2 and not 3 < 2", 1.0), ("2 * g0", 19.6133), ("sin(90 deg)", 1.0), ("50 %", 0.5),
])  # fmt: skip
def test_an_expression_has_its_value(text, wanted):
    assert NOTHING.number(text, None) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize(("text", "told"), [
    ("3 kg + 2 m", "kg and m meet"), ("2 +", "at its end"), ("2 * (3", "')' is expected"), ("sin(1, 2)", "takes 1 argument"),
    ("foo(1)", "no function 'foo'"), ("L", "no parameter 'L'"), ("1 / 0", "division by zero"), ("1e308 * 10", "finite"),
    ("9 ** 9 ** 9", "too large"), ("log(-1)", "finite"), ("(-8) ** 0.5", "no real value"), ("t", "t is time"),
    ("3 mm kg/s m", "below"),
    ("__import__(1)", "no function"), ("open('x')", "expected before"), ("1 if 2 else 3", "there is no unit"),
    ("sin(3 m)", "sin() of a quantity in m"),
    ("mm", "needs a number before it"), ("", "empty"), ("2 $ 3", "no meaning"),
    ("(" * 40 + "1" + ")" * 40, "too many parentheses"),
    ("+".join(["1"] * 500), "more than 100 terms"), ("2 ** " * 50 + "1", "powers of powers"), ("exp(2 s)", "exp() of"),
    ("1/2 deg", "what is divided"), ("2 m^0.5", "a power of what"), ("2 ** (3 m)", "exponent in m"),
])  # fmt: skip
def test_a_wrong_expression_is_told(text, told):
    with pytest.raises(madi.InputError) as error:
        NOTHING.number(text, None)
    assert told in str(error.value)


def test_parameters_win_over_powers_of_units():
    """m2 and l2 are masses and lengths in every mechanism, and would be squares of metres and litres."""
    scope = Scope({"l2": 0.4, "m2": 3.0}, {"l2": (1, 0, 0), "m2": (0, 1, 0)}, {})
    assert scope.number("50 N * l2", None) == 20.0
    assert scope.number("2 * m2", (0, 1, 0)) == 6.0
    assert scope.number("a2 = 3; 2 m * a2", (1, 0, 0)) == 6.0
    assert NOTHING.number("2 m2", (2, 0, 0)) == 2.0


def test_a_parameter_without_unit_may_be_anything():
    text = PENDULUM.replace("L: 50 cm", "L: 0.5")
    same_arrays(loads(text), loads(PENDULUM))
    with pytest.raises(madi.FileError, match="kg and m meet"):
        loads(PENDULUM.replace("mass: m1", "mass: m1 + L"))
    with pytest.raises(madi.FileError, match="is in kg; m is needed"):
        loads(PENDULUM, parameters={"L": "3 kg"})


def test_units_must_fit_the_entry_and_a_pound_is_not_its_weight():
    with pytest.raises(madi.InputError, match="is in m; kg is needed"):
        NOTHING.number("3 m", (0, 1, 0))
    with pytest.raises(madi.InputError, match="a pound's force is lbf"):
        NOTHING.number("300 lb/in", (0, 1, -2))


@given(st.recursive(
    st.sampled_from(["t", "2.5", "0.25", "L"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        inner.map(lambda x: f"sin({x})"), inner.map(lambda x: f"-{x}"),
        st.tuples(inner, inner).map(lambda p: f"where({p[0]} < {p[1]}, {p[0]}, {p[1]})"),
    ), max_leaves=8,
))  # fmt: skip
def test_an_expression_means_what_python_means(text):
    scope = Scope({"L": 0.75}, {"L": None}, {})
    found = scope.function(text, None)(1.3)
    wanted = eval(text, {"t": 1.3, "L": 0.75, "sin": np.sin, "where": np.where})  # the test's own text
    assert float(found) == pytest.approx(float(wanted), rel=1e-14, abs=1e-300)


@pytest.mark.parametrize(("drive", "told"), [("3000 rpm", "is in 1/s"), ("3 m", "is in m"), ("0.1 * t + 2 kg", "is in kg")])
def test_units_of_drives_are_those_of_the_joint(drive, told):
    with pytest.raises(madi.FileError, match=told):
        loads(PENDULUM + f"drives: {{pin: {drive}}}\n")
    loads(PENDULUM + "drives: {pin: 3000 rpm * t}\n")
    with pytest.raises(madi.FileError, match="is in N/m; N m is needed"):
        loads(PENDULUM + "forces: {s: {type: joint_spring, joint: pin, stiffness: 5 N/m}}\n")


def test_deep_sums_of_sums():
    text = "0.5"
    for _ in range(27):
        text = "(" + " + ".join(["1"] * 99 + [text]) + ")"
    m = loads(f"parameters: {{a: '{text}'}}\nbodies: {{b: {{mass: a, inertia: [1, 1, 1]}}}}\n"
              "joints: {f: {type: free, parent: ground, child: b}}\n")  # fmt: skip
    assert m["b"].mass == 27 * 99 + 0.5
    with pytest.raises(madi.FileError, match="parentheses"):
        loads(SMALL + f"parameters: {{a: '{'(' * 40}1{')' * 40}'}}\n")
