"""Mode shapes and sections of beams."""

import numpy as np
import pytest

import madi
from madi import flexible
from madi.flexible import rectangle

# roots b L as printed in texts on vibration
KNOWN = {
    "clamped_free": (1.87510407, 4.69409113, 7.85475744, 10.99554073),
    "clamped_pinned": (3.92660231, 7.06858275, 10.21017612, 13.35176878),
    "free_free": (4.73004074, 7.85320462, 10.99560784, 14.13716549),
    "clamped_clamped": (4.73004074, 7.85320462, 10.99560784, 14.13716549),
    "pinned_pinned": (np.pi, 2 * np.pi, 3 * np.pi, 4 * np.pi),
}


@pytest.mark.parametrize("kind", KNOWN)
def test_roots_and_orthogonality(kind):
    shapes = getattr(flexible, kind)(2.5, 4)
    np.testing.assert_allclose([shape.root for shape in shapes], KNOWN[kind], rtol=1e-8)
    x, w = np.polynomial.legendre.leggauss(80)
    x, w = 1.25 * (x + 1), 1.25 * w
    mass = np.array([[w @ (a(x) * b(x)) for b in shapes] for a in shapes])
    stiff = np.array([[w @ (a(x, 2) * b(x, 2)) for b in shapes] for a in shapes])
    for matrix in (mass, stiff):
        scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
        np.testing.assert_allclose(matrix / scale, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(np.diag(stiff) / np.diag(mass), (np.array(KNOWN[kind]) / 2.5) ** 4, rtol=1e-7)


def test_a_body_at_the_tip():
    """Mass equal to the beam's: 1.24792, 4.03114; no mass: a cantilever; a very heavy one: clamped-pinned from then on."""
    np.testing.assert_allclose([s.root for s in flexible.clamped_tip(2.0, 1.0)], (1.24791741, 4.03113944), rtol=1e-7)
    np.testing.assert_allclose([s.root for s in flexible.clamped_tip(2.0, 0.0)], KNOWN["clamped_free"][:2], rtol=1e-8)
    assert flexible.clamped_tip(2.0, 1e4, 0.0, 2)[1].root == pytest.approx(KNOWN["clamped_pinned"][0], rel=1e-4)
    # Rayleigh's quotient with the tip body's kinetic energy gives the same frequency
    mass, inertia, L = 0.7, 0.05, 1.5
    for shape in flexible.clamped_tip(L, mass, inertia, 3):
        x, w = np.polynomial.legendre.leggauss(60)
        x, w = 0.5 * L * (x + 1), 0.5 * L * w
        moving = w @ shape(x) ** 2 + mass * L * shape(L) ** 2 + inertia * L**3 * shape(L, 1) ** 2
        assert w @ shape(x, 2) ** 2 / moving == pytest.approx((shape.root / L) ** 4, rel=1e-9)


@pytest.mark.parametrize(("kind", "order"), [("clamped_loaded", 2), ("loaded_rod", 1)])
def test_shapes_for_any_end(kind, order):
    """The first coordinate is the end's deflection; no work is done by one shape on another; loads on the end are followed
    exactly: L³ / 3 EI and L² / 2 EI of a force, L / EI of a moment; L / GJ of a rod."""
    L, (x, w) = 2.5, np.polynomial.legendre.leggauss(60)
    shapes, x, w = getattr(flexible, kind)(L, 5), 0.5 * L * (x + 1), 0.5 * L * w
    np.testing.assert_allclose([s(L) for s in shapes], [1, 0, 0, 0, 0], atol=1e-12)
    assert all(np.max(np.abs(s(x))) == pytest.approx(1.0, abs=0.01) for s in shapes)
    stiff = np.array([[w @ (a(x, order) * b(x, order)) for b in shapes] for a in shapes])
    np.testing.assert_allclose(stiff / np.diag(stiff), np.eye(5), atol=1e-9)
    ends = np.array([[s(L, k) for k in range(order)] for s in shapes])
    wanted = [[L**3 / 3, L**2 / 2], [L**2 / 2, L]] if order == 2 else [[L]]
    np.testing.assert_allclose(ends.T @ np.linalg.solve(stiff, ends), wanted, rtol=1e-12)


@pytest.mark.parametrize("shape", [
    *flexible.clamped_free(1.3, 2), *flexible.clamped_tip(1.3, 0.5, 0.1), *flexible.polynomials(1.3, 3),
    *flexible.clamped_loaded(1.3, 3), *flexible.loaded_rod(1.3, 2),
    *flexible.free_free(1.3, 1), flexible.user(lambda x: madi.sin(x) * x**2, 1.3),
])  # fmt: skip
def test_derivatives(shape):
    x, h = np.linspace(0.1, 1.2, 7), 1e-5
    for order in range(3):
        np.testing.assert_allclose(
            (shape(x + h, order) - shape(x - h, order)) / (2 * h), shape(x, order + 1), rtol=1e-6, atol=1e-6
        )
    assert isinstance(shape(0.3), float)


def test_sections():
    tube = flexible.tube(0.1, 0.08)
    assert tube.area == pytest.approx(np.pi * (0.05**2 - 0.04**2))
    assert tube.torsion == pytest.approx(tube.polar)
    bar = flexible.rectangle(0.02, 0.1)
    assert bar.iy == pytest.approx(0.02 * 0.1**3 / 12)
    assert flexible.rectangle(0.1, 0.1).torsion == pytest.approx(0.1406 * 0.1**4, rel=3e-3)


@pytest.mark.parametrize("call, told", [
    (lambda: flexible.clamped_free(-1.0), "length"), (lambda: flexible.clamped_free(1.0, 0), "count"),
    (lambda: flexible.clamped_tip(1.0, -2.0), "mass_ratio"), (lambda: flexible.tube(0.1, 0.2), "less than outer"),
    (lambda: flexible.rectangle(0.0, 1.0), "width"), (lambda: flexible.polynomials(1.0, 2, 5), "start"),
    (lambda: flexible.user(lambda x: x / 0.0, 1.0), "shape 'user'"),
])  # fmt: skip
def test_wrong_numbers_are_told(call, told):
    with pytest.raises(madi.InputError, match=told):
        call()


def test_sections_resist_being_tilted_where_that_matters():
    """Rayleigh's correction of a stocky beam is on by itself, of a slender one it is not."""

    def field(height, rotary=None):
        m = madi.Model("beam")
        link = m.beam(
            "link", (0, 0, 0), (1, 0, 0), rectangle(0.02, height), E=7e10, rho=2700.0, modes={"z": 2}, rotary=rotary
        )
        return link.flexible.field

    assert np.array_equal(field(0.2).modal_mass, field(0.2, True).modal_mass)
    assert not np.array_equal(field(0.2).modal_mass, field(0.2, False).modal_mass)
    assert np.array_equal(field(0.005).modal_mass, field(0.005, False).modal_mass)
    thick, thin = (np.diag(field(h, True).modal_mass) / np.diag(field(h, False).modal_mass) for h in (0.2, 0.005))
    assert np.max(thick) > 1.002 > np.max(thin)
