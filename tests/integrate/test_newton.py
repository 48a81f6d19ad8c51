"""Newton's iterations of implicit methods: rate of convergence, old matrices, failures."""

import numpy as np
import pytest

import madi
from madi.integrate.newton_full import factorise_full, solve_full
from madi.verify import four_bars
from tests.mechanisms import four_bar_in_space


def corrections(iterations):
    """The last correction of the first step after so many full Newton iterations, the step being long."""
    from madi.run.simulate import prepare

    m = four_bar_in_space()
    solver = prepare(m, 0.05, step=0.05, method=madi.Newmark(iterations=iterations, jacobian="iteration"), engine="plain")
    assert solver.run(False) == 0
    return solver.memory.history[-1, 3]  # t, step, iterations, correction


def test_newton_converges_quadratically():
    """With the Jacobian of every iteration each correction is of the size of the square of the last."""
    sizes = np.array([corrections(k) for k in range(1, 6)])
    assert sizes[0] > 1e-3
    done = np.flatnonzero(sizes < 1e-12)[0]
    assert done <= 4
    assert done >= 2
    assert np.all(sizes[1:done] < 3 * sizes[: done - 1] ** 1.7), sizes


def test_with_an_old_matrix_it_converges_linearly():
    """The same step with the matrix of its first iteration: slower, so the exact Jacobian is what makes the difference."""
    from madi.run.simulate import prepare

    sizes = []
    for k in (2, 3, 4):
        solver = prepare(
            four_bar_in_space(), 0.05, step=0.05, method=madi.Newmark(iterations=k, jacobian="step"), engine="plain"
        )
        solver.run(False)
        sizes.append(solver.memory.history[-1, 3])
    rates = np.diff(np.log(sizes))
    assert abs(rates[1] - rates[0]) < 0.6 * abs(rates[0])  # about the same factor each time


def test_newton_that_fails_halves_the_step_and_then_explains():
    """A torque that jumps back as soon as it has an effect: no matrix helps. The message names joint and steps."""
    m = madi.Model("jumpy", gravity=(0, 0, 0))
    m.body("wheel", 1.0, inertia=(1, 1, 1))
    m.revolute("axle", m.ground, "wheel", at=(0, 0, 0), axis=(0, 0, 1), v0=1.0)
    m.joint_torque("relay", "axle", lambda t, q, v: madi.where(v[0] > 1.0, -1e6, 1e6))  # no state balances it
    with pytest.raises(madi.RunError, match=r"Newton's iterations do not converge.*'axle'.*Last steps: t = ") as error:
        madi.simulate(m, 1.0, step=0.1, method="newmark", engine="jit")
    assert error.value.run.data.sizes["time"] >= 1
    m.forces.clear()
    m.joint_spring("stop", "axle", stiffness=100.0)
    m.joint_torque("edge", "axle", lambda t, q, v: madi.where(q[0] > 0.5, -300.0 * (q[0] - 0.5), 0.0))
    assert madi.simulate(m, 1.0, step=0.1, method="newmark", engine="jit").statistics["steps"] == 10


@pytest.mark.parametrize("n", [*range(1, 10), 13, 22])
def test_a_full_matrix_is_solved_with(n):
    """Rows by fours, rows that are left, single ones: against NumPy."""
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)) + n * np.eye(n), rng.normal(size=n)
    D, x = A.reshape(-1).copy(), b.copy()
    factorise_full(D, n)
    solve_full(D, n, x)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), rtol=0, atol=1e-13)


def test_loops_that_newton_has_closed_are_not_looked_at_again():
    """Two residuals a step where Newton takes two iterations; Phi and Phi' at rounding all the same."""
    s = four_bars.model(3).build()
    span, step = 0.3, 1e-3
    run = madi.simulate(s, span, step=step, method=madi.Newmark(jacobian="step"), times=[span], engine="jit")
    counted = run.statistics
    assert counted["evaluations"] <= counted["newton_iterations"] + 0.1 * counted["steps"]
    phi, rate, _, _ = s.constraint_terms(run.data["q"].values[-1], run.data["v"].values[-1], span)
    assert np.max(np.abs(phi)) < 3e-13
    assert np.max(np.abs(rate)) < 3e-12
