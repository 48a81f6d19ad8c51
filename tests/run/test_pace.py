"""Times of single steps."""

import pytest

import madi
from tests.mechanisms import sprung_double_pendulum


@pytest.mark.parametrize("method", ["newmark", "rk4"])
def test_realtime_counts_and_times_every_step(method):
    found = madi.realtime(sprung_double_pendulum(), step=1e-3, duration=0.5, method=method, engine="jit")
    assert found["steps"] == 500
    assert 0 < found["mean"] <= found["p99.9"] <= found["max"]
    assert found["factor"] == pytest.approx(1e-3 / found["mean"], rel=1e-9)
    paced = madi.realtime(sprung_double_pendulum(), step=0.01, duration=0.2, method=method, paced=True, engine="jit")
    assert paced["steps"] == 20
    assert paced["paced"]
