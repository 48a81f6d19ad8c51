"""Explanation, doctor and page of large models: what they say, and how much (times are `madi bench large`)."""

import base64
import json
import re

import numpy as np
import pytest

import madi
from madi.bench.large import MODELS, measure, windows
from madi.bench.models import chain
from madi.view import page as pages
from madi.view.page import page

MANY = 300


@pytest.fixture(scope="module")
def run():
    return madi.simulate(chain(MANY), 0.02, step=1e-3)


def data_of(text):
    return json.loads(re.search(r'id="run">(.*?)</script>', text, re.S).group(1))


def test_a_large_model_is_summed_up():
    s = chain(MANY).build()
    text = s.explain()
    assert f"{MANY} bodies, {MANY} coordinates" in text
    assert f"joints of the tree: {MANY} revolute" in text
    assert f"depth of the tree: {MANY}, to 'link{MANY - 1}'; bodies on the ground: 1" in text
    assert f"degrees of freedom: {MANY}" in text
    assert len(text.splitlines()) < 10
    assert all(f"link{k} " in s.explain(full=True) for k in range(MANY))


def test_loops_are_summed_up():
    """N windows: N + 1 rockers, N couplers, N cuts of five rows, of which three each are redundant; one freedom."""
    text = windows(200).build().explain()
    assert "201 bodies" in text
    assert "cut joints: 100 revolute" in text
    assert "Grübler: 201 - 500 = -299 degree(s) of freedom; true at the start: 1, 300 redundant" in text


def test_branches_and_groups_are_summed_up():
    m = madi.Model("branches")
    hub = m.body("hub", 1.0, inertia=(1, 1, 1))
    for name, count in (("short", 2), ("long", 7)):
        before = hub
        for k in range(count):
            link = m.body(f"{name}{k}", 1.0, inertia=(1, 1, 1))
            m.spherical(f"{name}_{k}", before, link, at=(k, 0, 0))
            before = link
    m.lock("short_0")
    text = m.build().explain(full=False)
    assert "floating groups (a free joint was added): 1: hub" in text
    assert "depth of the tree: 8, to 'long6'" in text
    assert "bodies of the largest branches, from 'hub': long0 7, short0 2" in text
    assert "joints driven or locked: 1: short_0" in text
    assert "long3" in m.build().explain()


@pytest.mark.parametrize("name", MODELS)
def test_the_doctor_sees_large_models(name):
    found = madi.check(MODELS[name](MANY))
    assert found.ok
    stiffness = [f.problem for f in found if f.element == "stiffness"]
    assert len(stiffness) == 1
    assert "not looked at" in stiffness[0]
    assert any(f.element == "mobility" for f in found)


def test_what_is_told_of_very_many_bodies_is_told_once():
    m = chain(50)
    for body in m.bodies:
        body.inertia = (0.0, 0.0, 0.0)
    found = [f for f in madi.check(m) if "no inertia" in f.problem]
    assert [f.element for f in found] == ["body 'link0', body 'link1', body 'link2' and 47 more"]


def test_the_doctor_still_looks_at_small_ones():
    assert "fastest small motion" in next(f.problem for f in madi.check(chain(3)) if f.element == "stiffness")


def test_the_page_of_a_large_model(run):
    data = data_of(page(run))
    assert len(data["bodies"]) == len(data["joints"]) == MANY
    assert len(data["graph"]["nodes"]) == MANY + 1
    assert any(f["element"] == "stiffness" for f in data["findings"])
    everything = len(run.signals)
    assert len(data["signals"]) == pages.MOST_LISTED < everything
    assert data["statistics"]["signals here"].startswith(f"{pages.MOST_LISTED} of {everything}")
    assert data_of(page(run, signals=["link299.az"]))["signals"][0]["name"] == "link299.az"


def test_many_bodies_are_shown_in_fewer_frames(run, monkeypatch):
    monkeypatch.setattr(pages, "MOST_MOTION", 4 * 7 * MANY * 5)
    data = data_of(page(run))
    poses = np.frombuffer(base64.b64decode(data["poses"]), dtype="<f4")
    assert poses.size == 5 * MANY * 7


def test_signals_of_a_large_run(run):
    names = run.signals
    assert len(names) == len(set(names))
    assert run["link250.z"][0] == pytest.approx(250.0)
    assert list(run.table("j299", "link0.vx").columns) == ["time", "j299", "link0.vx"]


def test_derivatives_of_what_cannot_be_traced():
    """A chain too long to be traced: by qdd they are M, and by q what differences of inverse dynamics say."""
    s = chain(201).build()
    assert s.traced_blocks is None
    q, v = 0.01 * np.sin(np.arange(s.nq)), np.zeros(s.nv)
    a = s.forward_dynamics(q, v)
    found = s.system_jacobian(q, v, a)
    assert found.exact
    M = s.mass_matrix(q)
    np.testing.assert_allclose(found.by_qdd, M, atol=1e-12 * np.abs(M).max())
    h = 1e-5 * np.random.default_rng(0).normal(size=s.nv)
    along = (s.inverse_dynamics(q + h, v, a) - s.inverse_dynamics(q - h, v, a)) / 2
    np.testing.assert_allclose(found.by_q @ h, along, atol=1e-8 * np.abs(along).max())


def test_the_benchmark_measures_what_it_says():
    found = measure(windows(12))
    assert found["loops"] == 6
    assert set(found) == {"loops", "build, s", "check, s", "explain, s", "page, s", "page, MB"}
