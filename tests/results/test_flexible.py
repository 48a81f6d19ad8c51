"""Centre lines of flexible bodies in results."""

import numpy as np

import madi
from tests.bodies.beams import flexible_pendulum


def test_centre_lines_end_where_the_points_are():
    from madi.results.flexible import centre_line

    m = flexible_pendulum(E=2e9, modes={"z": 2, "y": 1}, stiffening=False, v0={"y1": 0.3})
    run = madi.simulate(m, 0.3, rtol=1e-8, times=np.linspace(0, 0.3, 4))
    line = centre_line(m.bodies[0], run)
    tip = np.stack([run[f"link@tip.{axis}"] for axis in "xyz"], axis=1)
    np.testing.assert_allclose(line[:, -1], tip, atol=1e-9)
    np.testing.assert_allclose(line[:, 0], 0.0, atol=1e-12)
