"""Elements of a model: found, changed, removed and replaced."""

import numpy as np
import pytest

import madi
from tests.mechanisms import pendulum


def test_what_is_set_on_an_element_counts():
    m = pendulum()
    spring = m.joint_spring("s", "A", stiffness=10.0)
    spring.stiffness = 20.0
    assert spring.stiffness == 20.0
    assert m.build().inverse_dynamics([0.5], [0], [0])[0] == pytest.approx(20 * 0.5 + 9.81 * 0.3 * np.sin(0.5), rel=1e-9)
    with pytest.raises(madi.InputError, match=r"force 's' has no 'stifness'.*stiffness, damping, rest"):
        spring.stifness = 3.0
    spring.stiffness = "soft"
    with pytest.raises(madi.ModelError, match="stiffness 'soft'"):
        m.build()
    spring.kind = "rubber"
    with pytest.raises(madi.ModelError, match="there is no kind 'rubber' of force"):
        m.build()
    for element, field in ((m["bob"], "weight"), (m["A"], "angle")):
        with pytest.raises(madi.InputError, match=f"has no '{field}'"):
            setattr(element, field, 1.0)


def test_elements_are_found_removed_and_replaced():
    m = pendulum()
    m.joint_spring("s", "A", stiffness=10.0)
    m.drive("A", lambda t: t)
    assert m["A"].kind == "revolute"
    assert m["body bob"] is m["bob"]
    with pytest.raises(madi.InputError, match=r"in use by drive of 'A', force 's'"):
        m.remove("A")
    with pytest.raises(madi.InputError, match=r"in use by joint 'A'"):
        m.remove("bob")
    m.remove("drive A")
    m.replace("s", stiffness=20.0, rest=0.1)
    assert (m["s"].stiffness, m["s"].rest) == (20.0, 0.1)
    with pytest.raises(madi.InputError, match="has no 'k'"):
        m.replace("s", rest=0.7, k=1.0)
    assert m["s"].rest == 0.1
    m.remove("s")
    with pytest.raises(madi.InputError, match="there is no element 's'"):
        m["s"]
    m.force("bob", "bob", (0, 0, 1))
    with pytest.raises(madi.InputError, match=r"2 elements are called 'bob'.*body bob.*force bob"):
        m["bob"]
