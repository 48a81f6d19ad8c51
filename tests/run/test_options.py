"""Options of a run: wrong ones are refused, and none outlives the run."""

import numpy as np
import pytest

import madi
from tests.mechanisms import four_bar


def test_options_of_a_run_do_not_stay_in_the_system():
    s = four_bar(q0=0.5, v0=1.0).build()
    q, v = s.start.q + [0, 1e-3, 0], s.start.v
    before = s.forward_dynamics(q, v, engine="jit")
    madi.simulate(s, 0.01, step=1e-3, loops="baumgarte", engine="jit")
    np.testing.assert_allclose(s.forward_dynamics(q, v, engine="jit"), before, rtol=1e-12)


@pytest.mark.parametrize("options, told", [
    ({"feedback": 5, "loops": "baumgarte"}, "two numbers"), ({"feedback": (1.0, 1.0)}, "leave it out"),
    ({"loops": "projektion"}, "pseudo-inverse"),
    ({"formulation": "cartesian", "loops": "augmented"}, "has loops='projection'"),
    ({"formulation": "articulated"}, "serves trees"),
])  # fmt: skip
def test_wrong_options_are_told(options, told):
    with pytest.raises(madi.InputError, match=told):
        madi.simulate(four_bar(v0=1.0), 0.1, step=1e-2, **options)
    with pytest.raises(madi.InputError, match="assembly_mode"):
        madi.assemble(four_bar(), assembly_mode=-1)
    with pytest.raises(madi.InputError, match="no coordinate 'nonsense'"):
        madi.assemble(four_bar(), pin=["nonsense"])
