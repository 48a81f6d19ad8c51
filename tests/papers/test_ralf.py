"""P3's arm RALF: recursion against symbols, the printed null space, the report."""

import numpy as np
import pytest

from madi.papers import ralf


def test_ralf_recursive_equals_symbolic():
    assert ralf.agreement(3) < 1e-9


@pytest.mark.parametrize("angles", [(20.0, -130.0), (75.0, -60.0), (95.0, -40.0)])
def test_ralf_null_space_as_printed(angles):
    np.testing.assert_allclose(ralf.null_space(angles), ralf.PRINTED, atol=1e-12)


@pytest.mark.slow
def test_ralf_report(tmp_path):
    found = ralf.report(tmp_path)
    assert found["values"]["largest constraint violation, svd, m"] < 1e-12
    assert 10 < found["values"]["largest tip deflection across the upper link, mm"] < 100
    assert all((tmp_path / name).stat().st_size > 10_000 for name in ("ralf.png", "ralf-frequencies.png", "ralf.gif"))
