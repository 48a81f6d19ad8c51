"""The cases of `madi verify`: every one meets its bar, and a wrong answer would not."""

import numpy as np
import pytest

from madi.verify import bricard, cases, four_bars, tops


@pytest.mark.parametrize("name", list(cases.CASES))
def test_case(name):
    rows = cases.CASES[name]()
    assert rows
    for row in rows:
        assert row["good"] == "yes", row


def test_a_missed_bar_is_seen(monkeypatch):
    monkeypatch.setattr(bricard, "REFERENCE", {t: (x, y + 1e-5, z) for t, (x, y, z) in bricard.REFERENCE.items()})
    found = cases.report(["bricard"])
    assert found["bad"] == ["A04: P3, m"]


def test_closed_form_of_the_four_bars_against_published_digits():
    """B0 of N = 2 and N = 40 at 1, 2, 5, 10, 20 s (IFToMM A02; Univ. da Coruña's files)."""
    published = {
        2: {1: (-0.1950203019494351, -0.9807992056621738), 2: (0.05781579576801143, 0.9983272678634555),
            5: (-0.8113104610051074, -0.5846155453489755), 10: (0.3284581115408154, 0.944518538178601)},
        40: {1: (-0.1153568806321099, -0.9933241113004502), 10: (0.1805122266867284, 0.9835727405823116),
             20: (0.4109011537629452, 0.9116799009719807)},
    }  # fmt: skip
    for windows, rows in published.items():
        found = four_bars.corner(windows, np.array(list(rows)))
        np.testing.assert_allclose(found, np.array(list(rows.values())), atol=1e-12)
    assert four_bars.energy(40) == pytest.approx(620.3383333, abs=1e-6)


def test_steady_precession_satisfies_eulers_equation():
    p = tops.precession()
    about = tops.ACROSS + tops.MASS * tops.LENGTH**2
    spin = tops.FAST + p * np.cos(tops.TILT)
    moment = tops.MASS * tops.GRAVITY * tops.LENGTH
    assert about * p**2 * np.cos(tops.TILT) - tops.ALONG * spin * p + moment == pytest.approx(0.0, abs=1e-9)
