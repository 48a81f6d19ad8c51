"""The page: loaded in a real browser it shows no error, plays, its cursor moves, and it is not blank."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import re
import time
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service

import madi
from madi.cli.models import find_model
from madi.model.mesh import read_mesh
from madi.papers import ralf
from madi.view.page import page
from madi.view.scene import Scene
from tests.mechanisms import pendulum

ROOT = Path(__file__).parents[2]
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--enable-unsafe-swiftshader", "--window-size=1280,800",
)  # fmt: skip


@pytest.fixture(scope="module")
def browser():
    options = Options()
    for flag in FLAGS:
        options.add_argument(flag)
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service("/usr/bin/chromedriver"))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def vehicle():
    """P4's vehicle, ten seconds."""
    return madi.simulate(find_model("6x6"), 10.0, method="newmark", step=0.01, engine="jit")


def opened(browser, path):
    browser.get(path.resolve().as_uri())
    deadline = time.monotonic() + 30
    while not browser.execute_script("return window.madi !== undefined") and time.monotonic() < deadline:
        time.sleep(0.1)
    severe = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert severe == []


def data_of(text):
    return json.loads(re.search(r'id="run">(.*?)</script>', text, re.S).group(1))


def test_the_page_of_ten_seconds_plays(browser, vehicle, tmp_path):
    path = vehicle.view(tmp_path / "6x6.html")
    size = path.stat().st_size
    assert size < 5e6
    text = path.read_text()
    assert not re.search(r'(?:src|href)=["\']?https?:', text), "it needs no network"
    opened(browser, path)
    time.sleep(4.0)  # the page finds the sharpness that this machine can draw
    browser.execute_script("madi.play(true); madi.clock.times.length = 0")
    before = browser.execute_script("return [madi.clock.t, document.querySelector('.now').style.transform]")
    time.sleep(4.0)
    after = browser.execute_script("return [madi.clock.t, document.querySelector('.now').style.transform]")
    assert after[0] != before[0], "it plays"
    assert after[1] != before[1], "the cursor of the plots goes along"
    frames = sorted(browser.execute_script("return madi.clock.times"))
    rate = len(frames) / sum(frames)
    print(
        f"page of the 6x6: {size / 1e6:.2f} MB, {rate:.0f} frames a second, median {1e3 * frames[len(frames) // 2]:.0f} ms"
    )
    assert len(frames) > 2, "several frames (alone 49 a second; no timed test: others share the two cores)"


def test_the_picture_is_not_blank_and_moves(browser, vehicle, tmp_path):
    opened(browser, vehicle.view(tmp_path / "6x6.html"))
    pictures = []
    for part in (0.1, 0.2):
        browser.execute_script(f"madi.play(false); madi.seek({part} * madi.run.end)")
        time.sleep(0.4)
        raw = browser.find_element("id", "stage").screenshot_as_png
        pictures.append(np.asarray(Image.open(io.BytesIO(raw)).convert("RGB"), dtype=float))
    assert len(np.unique(pictures[0].reshape(-1, 3), axis=0)) > 200, "many colours"
    assert np.mean(np.abs(pictures[0] - pictures[1]).max(axis=2) > 20) > 0.002, "something has moved"


def test_tools_of_the_page_work(browser, tmp_path):
    run = madi.simulate(find_model("rssr"), 1.0, step=1e-3, reactions=["S1"], engine="jit")
    opened(browser, run.view(tmp_path / "rssr.html", signals=[["R1", "R3"], "body1.az"], trace="body2"))
    js = browser.execute_script
    assert js("return madi.plots.panels.length") == 2
    js("const add = document.getElementById('add'); add.value = 3; add.onchange()")
    assert js("return madi.plots.panels.length") == 3
    js("document.querySelector('.close').click()")
    assert js("return madi.plots.panels.length") == 2
    js("document.querySelectorAll('.tab')[1].click()")
    shown = browser.find_element("id", "model").text
    assert "S2" in js("return document.querySelector('#graph').textContent"), "cut joints are in the drawing of the tree"
    assert "freedom" in shown, "the doctor's findings"
    js("madi.play(false); madi.seek(0.5)")
    assert js("return document.getElementById('slider').value") == "0.5"
    assert js("return madi.stage.trail.geometry.drawRange.count") > 10, "the trace grows with time"
    js("document.getElementById('play').click()")
    assert js("return madi.clock.playing")
    assert [e for e in browser.get_log("browser") if e["level"] == "SEVERE"] == []


def test_bodies_are_where_the_run_has_them(browser, tmp_path):
    run = madi.simulate(find_model("rssr"), 1.0, step=1e-3, engine="jit")
    opened(browser, run.view(tmp_path / "rssr.html"))
    browser.execute_script("madi.play(false); madi.seek(0.75)")
    found = browser.execute_script("return madi.stage.frames.map((f) => f.position.toArray())")
    names = browser.execute_script("return madi.run.bodies.map((b) => b.name)")
    k = int(np.argmin(np.abs(run.data["time"].values - 0.75)))
    for name, place in zip(names, found, strict=True):
        np.testing.assert_allclose(place, run.data["position"].sel(body=name).values[k], atol=2e-3)


def test_a_flexible_arm_bends_on_the_page(browser, tmp_path):
    run = madi.simulate(ralf.model(actuators="driven"), 0.5, rtol=1e-5, engine="jit")
    data = data_of(page(run, trace="upper@tip"))
    opened(browser, run.view(tmp_path / "ralf.html", trace="upper@tip"))
    drawn = browser.execute_script("return Array.from(madi.stage.trail.geometry.getAttribute('position').array)")
    way = run.data["position"].sel(body="upper@tip").values
    np.testing.assert_allclose(drawn[:3], way[0], atol=1e-5)
    np.testing.assert_allclose(drawn[-3:], way[-1], atol=1e-5)
    assert {line["body"] for line in data["flexible"]} == {0, 1, 4}
    assert all(line["count"] == 25 for line in data["flexible"])


def test_names_from_strangers_are_only_text(browser, tmp_path):
    m = madi.Model("</script><script>window.hacked = 1</script>")
    bob = m.body("<img src=x onerror='window.hacked = 1'>", 1.0, inertia=(1, 1, 1), position=(0, 0, -1))
    m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), q0=1.0)
    opened(browser, madi.simulate(m, 0.2, step=1e-2, engine="plain").view(tmp_path / "x.html"))
    assert browser.execute_script("return window.hacked") is None
    assert browser.execute_script("return document.title") == m.name


def test_a_saved_run_can_be_viewed_without_its_model(tmp_path):
    m = find_model("rssr")
    m.force("push", "body1", lambda t: (1.0 if t > 0.1 else 0.0, 0, 0))  # no expression: shown without its arrow
    run = madi.simulate(m, 0.2, step=1e-3, engine="jit")
    again = madi.load_run(run.save(tmp_path / "run.nc"))
    one, two = data_of(page(run)), data_of(page(again))
    assert one["poses"] == two["poses"]
    assert one["bodies"] == two["bodies"]
    assert one["graph"] == two["graph"]


def test_default_shapes_come_from_joints_tires_and_inertia():
    m = find_model("6x6")
    scene = Scene(m, [body.name for body in m.bodies])
    kinds = {body.name: [shape["kind"] for shape in scene.shapes(body)] for body in m.bodies}
    assert kinds["wheel_left1"][0] == "wheel"
    assert "rod" in kinds["arm_left1"]
    assert "box" in kinds["chassis"]
    box = madi.Model("box")
    body = box.body("b", 12.0, inertia=(4.0 + 9.0, 1.0 + 9.0, 1.0 + 4.0))  # a box of 1 x 2 x 3 m
    box.free("f", box.ground, body)
    (shape,) = Scene(box, ["b"])._box(body, np.zeros(3), [], False)
    size = Scene(box, ["b"]).size
    np.testing.assert_allclose(sorted(shape["size"]), np.clip([1.0, 2.0, 3.0], 0.015 * size, 1.2 * size), rtol=1e-12)


def test_roads_are_drawn_as_high_as_wheels_feel_them():
    m = find_model("6x6")
    strips = Scene(m, [body.name for body in m.bodies]).roads(np.array([[0.0, 0, 0], [20.0, 0, 0]]))
    road = next(force.parameters["road"] for force in m.forces if force.kind == "tire")
    for points, _ in strips:
        middle = points.mean(axis=1)
        side = float(np.sign(-middle[0] @ np.cross(*road.axes()))) or 1.0
        np.testing.assert_allclose(middle[:, 1], road.height(middle[:, 0], side), atol=1e-6)
        assert middle[:, 1].max() > -0.11, "the bump is there"


def test_small_models_are_drawn_at_their_own_size():
    """A pendulum whose frame is at its pivot, a mass on a slide, a single free body: no points but one."""
    pendulum = madi.Model("p")
    bob = pendulum.body("bob", 1.0, com=(0, 0, -1), inertia=(0.01, 0.01, 0.01))
    pendulum.revolute("pin", pendulum.ground, bob, at=(0, 0, 0), axis=(0, 1, 0))
    assert Scene(pendulum, ["bob"]).size == pytest.approx(1.0)
    slide = madi.Model("s")
    slide.prismatic("s", slide.ground, slide.body("b", 2.0, inertia=(0.02, 0.02, 0.02)), at=(0, 0, 0), axis=(0, 0, 1))
    assert Scene(slide, ["b"]).size == pytest.approx(0.3)


def test_a_body_with_four_wheels_shows_four_and_itself():
    m = madi.Model("cart")
    cart = m.body("cart", 100.0, inertia=(10, 20, 25), position=(0, 0, 0.5))
    m.free("cart", m.ground, cart)
    for k, (x, y) in enumerate([(1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5)]):
        m.wheel(f"w{k}", cart, at=(x, y, 0.3), radius=0.3, stiffness=1e4)
    kinds = [shape["kind"] for shape in Scene(m, ["cart"]).shapes(cart)]
    assert kinds.count("wheel") == 4
    assert "box" in kinds


# ---- meshes ----------------------------------------------------------------------------------------------------------

CORNERS = np.array([[[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 0, 0], [0, 1, 0], [0, 0, 1]]], dtype=float)


def stl_binary(corners):
    kind = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    rows = np.zeros(len(corners), dtype=kind)
    rows["corners"] = corners
    return b"x" * 80 + len(corners).to_bytes(4, "little") + rows.tobytes()


def stl_text(corners):
    loops = ["\n".join(f"vertex {x:g} {y:g} {z:g}" for x, y, z in triangle) for triangle in corners]
    facets = "\n".join(f"facet\nouter loop\n{loop}\nendloop\nendfacet" for loop in loops)
    return f"solid a\n{facets}\nendsolid a\n".encode()


@pytest.mark.parametrize(("name", "raw"), [
    ("a.stl", stl_binary(CORNERS)), ("b.stl", stl_text(CORNERS)),
    ("c.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1/1 3/2 -1\n"),
])  # fmt: skip
def test_meshes_are_read(name, raw, tmp_path):
    (tmp_path / name).write_bytes(raw)
    np.testing.assert_allclose(read_mesh(tmp_path / name), CORNERS)


def test_meshes_travel_with_a_saved_run(tmp_path):
    m = find_model("rssr")
    (tmp_path / "rod.stl").write_bytes(stl_binary(1000 * CORNERS))
    m.visual("body1", "mesh", file=tmp_path / "rod.stl", scale=0.001, position=(0, 0, 0.1), color="#112233")
    run = madi.simulate(m, 0.05, step=1e-2, engine="jit")
    before = data_of(page(run))["bodies"][0]["shapes"]
    path = run.save(tmp_path / "run.nc")
    (tmp_path / "rod.stl").unlink()
    again = madi.load_run(path)
    assert not [name for name in again.data if str(name).startswith("mesh")]
    after = data_of(page(again))["bodies"][0]["shapes"]
    assert after == before
    vertices = np.frombuffer(base64.b64decode(after[0]["vertices"]), dtype="<f4").reshape(-1, 3, 3)
    np.testing.assert_allclose(vertices, CORNERS, rtol=1e-6)
    assert after[0]["position"] == [0, 0, 0.1]
    assert after[0]["color"] == "#112233"


@pytest.mark.parametrize(("name", "raw"), [
    ("a.stl", b""), ("b.stl", b"solid x\nvertex 1 2\n"), ("c.stl", b"x" * 80 + (10**9).to_bytes(4, "little")),
    ("d.obj", b"v 0 0 0\nf 1 2 3\n"), ("e.obj", b"v a b c\n"), ("f.obj", b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"),
])  # fmt: skip
def test_a_wrong_mesh_is_told_and_the_page_does_without(name, raw, tmp_path):
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(madi.FileError, match=name):
        read_mesh(tmp_path / name)
    m = find_model("rssr")
    m.visual("body1", "mesh", file=tmp_path / name)
    run = madi.simulate(m, 0.05, step=1e-2, engine="jit")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        page(run)
    assert any("mesh is not shown" in str(one.message) for one in seen)


def test_the_bundle_is_made_of_the_sources_in_the_repository():
    """`make page` builds it; who changes the sources must build."""
    digest = hashlib.sha256()
    for path in [ROOT / "frontend/package.json", *sorted((ROOT / "frontend/src").iterdir())]:
        digest.update(path.read_bytes())
    head = (ROOT / "src/madi/view/static/page.js").read_text()[:300]
    assert digest.hexdigest()[:16] in head


def test_plots_of_the_page_keep_their_peaks():
    from madi.view.page import MOST_SAMPLES, thinned

    values = np.zeros(20_001)
    values[7_777], values[12_345] = 5.0, -3.0
    kept = thinned(values)
    assert len(kept) <= MOST_SAMPLES
    assert (kept.max(), kept.min()) == (5.0, -3.0)
    run = madi.simulate(find_model("rssr"), 0.04, step=1e-4, engine="jit")
    assert data_of(page(run))["speed"] == 0.02, "a short run is shown slowly"


def test_in_a_notebook_the_page_is_the_output(vehicle, monkeypatch):
    import madi.view

    monkeypatch.setattr(madi.view, "in_notebook", lambda: True)
    text = vehicle.view()._repr_html_()
    assert text.startswith("<iframe srcdoc=")
    assert "&lt;canvas id=&quot;stage&quot;" in text


def test_what_cannot_be_shown_is_told(vehicle):
    with pytest.raises(madi.InputError, match="no such body"):
        page(vehicle, follow="nobody")
    with pytest.raises(madi.InputError, match=r"no signal 'chasis\.z'"):
        page(vehicle, signals=["chasis.z"])
    with pytest.raises(madi.InputError, match="does not know its model"):
        page(madi.Run(vehicle.data, {}))


@pytest.mark.parametrize("name", ["{{run}}", "{{script}}", "</script><script>alert(1)</script>", "{{title}}{{style}}"])
def test_a_page_of_a_name_that_looks_like_a_mark(name):
    from html import escape

    m = pendulum(q0=0.3)
    m.name = name
    page = _page(m)
    assert page.count("<script") == 2
    assert f"<title>{escape(name)}</title>" in page
    start = page.index('id="run">') + len('id="run">')
    assert json.loads(page[start : page.index("</script>", start)])["name"] == name


def _page(model):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        madi.simulate(model, 0.1, step=0.01, engine="plain").view(path)
        return path.read_text()
