"""Motions with closed forms: pendulum, free asymmetric top, heavy symmetric top, and a chain that keeps its energy."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import ellipj

import madi


def test_simple_pendulum_iftomm_a01():
    """IFToMM benchmark library A01: point mass 1 kg on a massless bar of 1 m, from rest at (-1, 0), gravity -y.

    Digits: x = -sin phi, y = -cos phi, sin(phi/2) = k sn(K - w t), k^2 = 1/2, w = sqrt(g).
    """
    m = madi.Model("A01", gravity=(0, -9.81, 0))
    bob = m.body("bob", mass=1.0, position=(-1, 0, 0))
    m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 0, 1))
    run = madi.simulate(m, 20.0, method="dopri", rtol=1e-11, atol=1e-12, times=[0.5, 1, 2, 5, 10, 20])
    digits = {
        0: (-0.391048791550546388, -0.920369948785192204), 1: (0.986291751131875319, -0.165010853125541169),
        2: (-0.793566195343321747, -0.608483930443791515), 3: (-0.942305435043757335, -0.334754338414000581),
        4: (-0.27508746257611686, -0.961419205099125064), 5: (0.996907173990991815, -0.078588080809333751),
    }  # fmt: skip
    for k, (x, y) in digits.items():
        np.testing.assert_allclose(run.data["position"].values[k, 0, :2], (x, y), atol=1e-8)


@pytest.mark.parametrize("frame", ["base", "ground"])
@pytest.mark.parametrize("method", ["dopri", "abm"])
def test_free_asymmetric_top(frame, method):
    """Euler's equations solved by elliptic functions (Landau & Lifshitz, Mechanics, section 37)."""
    I1, I2, I3 = 1.0, 1.7, 2.4
    w1, w3 = 0.9, 1.6
    E2, M2 = I1 * w1**2 + I3 * w3**2, (I1 * w1) ** 2 + (I3 * w3) ** 2  # 2E, M^2; M^2 > 2 E I2
    assert M2 > E2 * I2
    m = madi.Model("top", gravity=(0, 0, 0))
    body = m.body("body", mass=1.3, inertia=(I1, I2, I3))
    m.free("F", m.ground, body, v0=(0.2, 0, 0, w1, 0, w3))
    times = np.linspace(0, 12, 25)
    run = madi.simulate(m, 12.0, method=method, rtol=1e-11, atol=1e-12, times=times, frame=frame)
    tau = times * np.sqrt((I3 - I2) * (M2 - E2 * I1) / (I1 * I2 * I3))
    k2 = (I2 - I1) * (E2 * I3 - M2) / ((I3 - I2) * (M2 - E2 * I1))
    sn, cn, dn, _ = ellipj(tau, k2)
    expected = np.column_stack([
        np.sqrt((E2 * I3 - M2) / (I1 * (I3 - I1))) * cn,
        np.sqrt((E2 * I3 - M2) / (I2 * (I3 - I2))) * sn,
        np.sqrt((M2 - E2 * I1) / (I3 * (I3 - I1))) * dn,
    ])  # fmt: skip
    np.testing.assert_allclose(run.data["v"].values[:, 3:], expected, atol=1e-8)
    # attitude: the angular momentum and the velocity stay where they are in the ground
    np.testing.assert_allclose(run.data["momentum"].values, run.data["momentum"].values[:1] + np.zeros((25, 1)), atol=1e-8)
    np.testing.assert_allclose(run.data["position"].values[:, 0], np.outer(times, (0.2, 0, 0)), atol=1e-8)


def heavy_top(theta, precession, spin, I1=0.08, I3=0.03, mass=1.2, length=0.25, nutation=0.0):
    """A symmetric top on a ball joint, tilted by theta about y, drawn upright; rates in its own axes."""
    m = madi.Model("heavy top", gravity=(0, 0, -9.81))
    central = I1 - mass * length**2
    body = m.body("top", mass=mass, inertia=(central, central, I3), com=(0, 0, length), unphysical=True)
    w = precession * np.array([-np.sin(theta), 0, np.cos(theta)]) + np.array([0, nutation, spin])
    m.spherical("tip", m.ground, body, at=(0, 0, 0), q0=(np.cos(theta / 2), 0, np.sin(theta / 2), 0), v0=w)
    return m


def test_heavy_top_precesses_steadily():
    """m g l = I3 w3 W - I1 W^2 cos(theta): then theta stays, and the axis turns about the vertical at W."""
    I1, I3, mass, length, theta, W = 0.08, 0.03, 1.2, 0.25, 0.6, 1.9
    w3 = (mass * 9.81 * length + I1 * W**2 * np.cos(theta)) / (I3 * W)
    m = heavy_top(theta, W, w3 - W * np.cos(theta), I1, I3, mass, length)
    times = np.linspace(0, 5, 51)
    run = madi.simulate(m, 5.0, rtol=1e-11, atol=1e-12, times=times)
    q = run.data["orientation"].values[:, 0]
    axis = np.column_stack([2 * (q[:, 1] * q[:, 3] + q[:, 0] * q[:, 2]), 2 * (q[:, 2] * q[:, 3] - q[:, 0] * q[:, 1]),
                            1 - 2 * (q[:, 1] ** 2 + q[:, 2] ** 2)])  # fmt: skip
    expected = np.column_stack([np.sin(theta) * np.cos(W * times), np.sin(theta) * np.sin(W * times),
                                np.full(51, np.cos(theta))])  # fmt: skip
    np.testing.assert_allclose(axis, expected, atol=1e-7)


def test_heavy_top_nutates_with_the_period_of_its_quadrature():
    """Half a nutation is the integral of du / sqrt(f(u)), u = cos(theta), between the roots of f."""
    I1, I3, mass, length, theta = 0.08, 0.03, 1.2, 0.25, 0.5
    w3 = 60.0
    m = heavy_top(theta, 0.0, w3, I1, I3, mass, length)  # let go: the axis at rest
    g = 9.81
    u0 = np.cos(theta)
    b, a, beta = I3 * w3 / I1, I3 * w3 * u0 / I1, 2 * mass * g * length / I1
    alpha = beta * u0  # energy: at rest at u0

    def f(u):
        return (1 - u * u) * (alpha - beta * u) - (a - b * u) ** 2

    # f = (u0 - u) (beta (1 - u^2) - b^2 (u0 - u)): the other root
    roots = np.roots([-beta, b * b, beta - b * b * u0])
    u1 = float(next(r for r in roots.real if -1 < r < u0))
    middle, half = (u0 + u1) / 2, (u0 - u1) / 2
    # u = middle + half sin(x) takes the roots' square-root ends away
    period, _ = quad(lambda x: half * np.cos(x) / np.sqrt(f(middle + half * np.sin(x))), -np.pi / 2, np.pi / 2,
                     epsabs=1e-13, points=[0.0])  # fmt: skip
    run = madi.simulate(m, 2 * period, rtol=1e-11, atol=1e-12, times=[period, 2 * period])
    q = run.data["orientation"].values[:, 0]
    u = 1 - 2 * (q[:, 1] ** 2 + q[:, 2] ** 2)
    np.testing.assert_allclose(u, [u1, u0], atol=1e-7)


def test_five_link_pendulum_keeps_its_energy():
    m = madi.Model("five links")
    parent = m.ground
    for k in range(5):
        link = m.body(f"link{k}", mass=1.0, inertia=(1 / 12, 1 / 12, 1e-3), position=(0, 0, -k - 0.5))
        m.revolute(f"j{k}", parent, link, at=(0, 0, -k), axis=(0, 1, 0), q0=1.2 if k == 0 else 0.3)
        parent = link
    run = madi.simulate(m, 10.0, method="dopri", rtol=1e-10)
    energy = run.data["energy"].values
    # relative to the energy the motion exchanges: the zero of the potential is arbitrary
    exchanged = np.max(run.data["kinetic"].values)
    assert exchanged > 50
    assert np.max(np.abs(energy - energy[0])) < 1e-9 * exchanged


def test_drive_is_exact_and_its_torque_is_that_of_the_pendulum():
    """A driven pendulum: coordinate and torque in closed form at every output."""
    m = madi.Model("driven")
    bob = m.body("bob", mass=2.0, inertia=(0.2, 0.3, 0.2), position=(0, 0, -1.5))
    m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0))
    m.drive("pin", lambda t: 0.4 * madi.sin(3 * t) + 0.1 * t**2)
    run = madi.simulate(m, 2.0, step=0.01, reactions=["pin"])
    t = run.data["time"].values
    q, a = 0.4 * np.sin(3 * t) + 0.1 * t**2, -3.6 * np.sin(3 * t) + 0.2
    np.testing.assert_allclose(run["pin"], q, atol=1e-14)
    np.testing.assert_allclose(run["pin.a"], a, atol=1e-13)
    torque = (0.3 + 2 * 1.5**2) * a + 2 * 9.81 * 1.5 * np.sin(q)
    np.testing.assert_allclose(run["pin.drive"], torque, rtol=1e-12, atol=1e-10)
    np.testing.assert_allclose(run["pin.my"], torque, rtol=1e-12, atol=1e-10)
