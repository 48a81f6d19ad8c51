"""Comparison of loop methods: table, figure, and what cannot be compared."""

import numpy as np
import pytest

import madi
from tests.mechanisms import four_bar, random_tree


def test_compare_writes_table_and_figure(tmp_path):
    found = madi.compare(four_bar(v0=3.0), 0.5, ["projection", "qr", "baumgarte", "cartesian"], rtol=1e-7, repeats=1)
    text = str(found)
    assert "baumgarte" in text
    assert "violation" in text
    rows = {row["method"]: row for row in found.table}
    assert rows["baumgarte"]["drift"] > 100 * rows["qr"]["drift"]
    assert rows["cartesian"]["motion"] < 1e-4
    found.plot(tmp_path / "compare.png")
    assert (tmp_path / "compare.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    "call, told",
    [
        (lambda m: madi.compare(m, 1.0, ["projektion"]), "projektion"),
        (lambda m: madi.compare(m, 1.0, loops="qr"), "loops"),
        (lambda m: madi.compare(random_tree(np.random.default_rng(1), 2), 1.0), "no loops"),
        (lambda m: madi.simulate(m, 1.0, loops="qr", engine="compiled"), "engine='jit'"),
        (lambda m: madi.simulate(m, 1.0, loops="svd", method="newmark", step=0.01), "newmark"),
        (lambda m: madi.simulate(m, 1.0, loops="svd", formulation="velocity-transform"), "recursive"),
    ],
)
def test_what_cannot_be_compared_or_combined_is_told(call, told):
    with pytest.raises(madi.InputError, match=told):
        call(four_bar())
