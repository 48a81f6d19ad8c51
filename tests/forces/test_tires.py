"""Magic Formula tires: the formula against an independent evaluation and its own limits, .tir files, the element."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import madi
from madi.forces.magic_formula import at_load, fold, relaxation_lengths
from madi.forces.tir import parse_tir
from tests.forces.test_tire_laws import on_tire
from tests.mechanisms import moved

FILES = sorted((Path(__file__).parents[1] / "data" / "tires").glob("*.tir"))
BOOK = next(path for path in FILES if path.name.startswith("book"))
REFERENCE = json.loads((Path(__file__).parents[1] / "reference" / "magic_formula.json").read_text())
PARTS = ("fx", "fy", "mx", "my", "mz")
SHIFTS = ("PHX1", "PHX2", "PVX1", "PVX2", "PHY1", "PHY2", "PVY1", "PVY2", "RHX1", "RHY1", "RHY2", "RVY1", "RVY2", "RVY3")


# ---- the formula ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_formula_against_an_independent_evaluation(path):
    tir, known = madi.read_tir(path), REFERENCE["files"][path.name]
    for fz, kappa, alpha, gamma, vx, pressure, *expected in known["rows"]:
        if tir["PKX1"] + tir.get("PKX2") * (fz / (tir["FNOMIN"] * tir.get("LFZO", 1.0)) - 1) < 0.1 * tir["PKX1"]:
            continue  # one file's line in the load turns the stiffness round: held at a tenth here
        found = tir.forces(fz, kappa, alpha, gamma, vx, pressure if tir.version > 6 else None)
        np.testing.assert_allclose([found[part] for part in PARTS], expected, rtol=1e-9, atol=1e-8)
    for row in known["relaxation"]:
        p = fold(tir, row["pressure"] if tir.version > 6 else None)
        found = relaxation_lengths(p, 0, at_load(p, 0, row["fz"]), row["gamma"])
        np.testing.assert_allclose(found, (row["sigma_kappa"], row["sigma_alpha"]), rtol=1e-10)


def test_formula_against_a_published_package():
    """Combined slip with camber by commonroad-vehicle-models, a 5.2 subset at its nominal load."""
    numbers = REFERENCE["commonroad"]["numbers"] | {"VERTICAL_STIFFNESS": 2e5}
    tir = parse_tir("FITTYP = 6\n" + "\n".join(f"{key} = {value!r}" for key, value in numbers.items()))
    for fz, kappa, alpha, gamma, fx, fy in REFERENCE["commonroad"]["rows"]:
        found = tir.forces(fz, kappa, alpha, gamma)
        assert found["fx"] == pytest.approx(fx, abs=1e-8)
        assert found["fy"] == pytest.approx(fy, abs=1e-8)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_limits_of_the_formula(path):
    """Nothing at no slip once shifts are zero; slope K there; the peak is D; D over the load falls with the load."""
    tir = madi.read_tir(path)
    plain = tir.scaled(**dict.fromkeys(SHIFTS, 0.0))
    N = tir["FNOMIN"] * tir.get("LFZO", 1.0)
    nothing = plain.forces(N)
    assert abs(nothing["fx"]) < 1e-9
    assert abs(nothing["fy"]) < 1e-9
    h = 1e-6
    dfz_free = plain.scaled(PHX2=0.0)
    assert (dfz_free.forces(N, kappa=h)["fx"] - dfz_free.forces(N, kappa=-h)["fx"]) / (2 * h) == pytest.approx(
        N * tir["PKX1"] * tir.get("LKX", 1.0), rel=1e-6
    )
    knee = (
        np.sin(tir.get("PKY4", 2.0) * np.arctan(1 / tir["PKY2"]))
        if tir.version > 6
        else np.sin(2 * np.arctan(1 / tir["PKY2"]))
    )
    slope = (plain.forces(N, alpha=h)["fy"] - plain.forces(N, alpha=-h)["fy"]) / (2 * h)
    assert slope == pytest.approx(tir["PKY1"] * N * knee, rel=1e-6)
    assert slope < 0  # to the left: pushed to the right
    kappas, alphas = np.linspace(-3, 3, 2001), np.linspace(-1.2, 1.2, 2001)
    assert plain.forces(N, kappa=kappas)["fx"].max() == pytest.approx(tir["PDX1"] * N, rel=1e-3)
    assert plain.forces(N, alpha=alphas)["fy"].max() == pytest.approx(tir["PDY1"] * N, rel=1e-3)
    peaks = [plain.forces(f * N, alpha=alphas[::5])["fy"].max() / (f * N) for f in (0.5, 1.0, 1.5)]
    assert np.all(np.sign(np.diff(peaks)) == np.sign(tir.get("PDY2")))
    assert peaks[0] > peaks[1] > peaks[2]


def test_scaling_and_pressure():
    tir = madi.read_tir(BOOK)
    assert tir.scaled(LMUY=0.5, LKY=0.5).forces(4000, alpha=0.1)["fy"] == pytest.approx(
        0.5 * tir.forces(4000, alpha=0.1)["fy"], rel=1e-9
    )
    soft, hard = (tir.forces(4000, alpha=0.02, pressure=p)["fy"] for p in (190e3, 250e3))
    assert soft != hard
    with pytest.raises(madi.InputError, match="pressure"):
        tir.forces(4000, pressure=-1.0)
    with pytest.raises(madi.InputError, match="PDY1"):
        tir.scaled(PDY1=0.0)


@given(
    fz=st.floats(-1e4, 1e6), kappa=st.floats(-100, 100), alpha=st.floats(-1.57, 1.57), gamma=st.floats(-1.5, 1.5),
    speed=st.floats(-100, 100), which=st.integers(0, len(FILES) - 1),
)  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_finite_whatever_the_state(fz, kappa, alpha, gamma, speed, which):
    found = madi.read_tir(FILES[which]).forces(fz, kappa, alpha, gamma, speed)
    assert np.isfinite(list(found.values())).all()
    if fz <= 0:
        assert all(value == 0 for value in found.values())
        return
    tir = madi.read_tir(FILES[which]).scaled(**dict.fromkeys(SHIFTS, 0.0))
    upright = tir.forces(fz, kappa, alpha, 0.0, abs(speed))
    assert upright["fx"] * kappa >= -1e-6 * fz  # friction never pushes along the sliding
    assert upright["fy"] * alpha <= 1e-6 * fz
    assert np.hypot(upright["fx"], upright["fy"]) < 2.5 * fz


# ---- files ----------------------------------------------------------------------------------------------------------


def test_units_are_obeyed():
    text = BOOK.read_text()
    plain = parse_tir(text)
    other = text.replace("'meter'", "'mm'").replace("'newton'", "'kN'").replace("'radians'", "'degrees'")
    for key, factor in (("UNLOADED_RADIUS", 1e3), ("WIDTH", 1e3), ("RIM_RADIUS", 1e3), ("RIM_WIDTH", 1e3), ("FNOMIN", 1e-3),
                        ("VERTICAL_STIFFNESS", 1e-6), ("LONGITUDINAL_STIFFNESS", 1e-6), ("LATERAL_STIFFNESS", 1e-6),
                        ("VERTICAL_DAMPING", 1e-6), ("INFLPRES", 1e-9), ("NOMPRES", 1e-9), ("LONGVL", 1e3), ("VXLOW", 1e3),
                        ("FZMIN", 1e-3), ("FZMAX", 1e-3), ("PRESMIN", 1e-9), ("PRESMAX", 1e-9), ("BOTTOM_OFFST", 1e3),
                        ("ALPMIN", 180 / np.pi), ("ALPMAX", 180 / np.pi),
                        ("CAMMIN", 180 / np.pi), ("CAMMAX", 180 / np.pi)):  # fmt: skip
        if key in plain.values:
            lines = other.splitlines()
            k = next(k for k, line in enumerate(lines) if line.split("=")[0].strip() == key)
            lines[k] = f"{key} = {plain[key] * factor!r}"
            other = "\n".join(lines)
    found = parse_tir(other)
    for state in ((4000, 0.02, 0.05, 0.02), (2000, -0.1, 0.0, 0.0)):
        np.testing.assert_allclose(list(found.forces(*state).values()), list(plain.forces(*state).values()), rtol=1e-9)
    assert found.radius == pytest.approx(plain.radius)


def test_oddities_of_real_files():
    """Comments of both kinds, blank values, Fortran exponents, lower case, tables, the same key in units and inertia."""
    text = BOOK.read_text()
    odd = (
        text.replace("PCX1 ", "pcx1 ").replace("209651", "2.09651D+05 ! comment")
        + "\n[SHAPE]\n{radial width}\n 1.0 0.0\nREX3 =\n"
    )
    assert parse_tir(odd).forces(4000, 0.05) == parse_tir(text).forces(4000, 0.05)


BAD = [
    (lambda t: t.replace("FITTYP          = 61", "FITTYP = 51"), r"line \d+: FITTYP 51 is a motorcycle"),
    (lambda t: t.replace("FITTYP          = 61", ""), "FITTYP missing"),
    (lambda t: "\n".join(line for line in t.splitlines() if not line.startswith("PKY1")), "PKY1 missing"),
    (lambda t: t + "\nPDY1 = 0.5\n", r"line \d+: PDY1 = 0.5, but line \d+ says"),
    (lambda t: t.replace("'meter'", "'parsec'"), r"line \d+: LENGTH 'parsec' is not a unit"),
    (lambda t: t.replace("'meter'", "'mm'"), r"line \d+: a radius of"),
    (lambda t: t.replace("209651", "abc"), r"line \d+: VERTICAL_STIFFNESS = 'abc' is not a number"),
    (lambda t: t.replace("209651", "nan"), "not a finite number"),
    (lambda t: t.replace("209651", "9"), r"press"),
    (lambda t: t.replace("RIM_RADIUS      = 0.1905", "RIM_RADIUS = 0.5"), r"RIM_RADIUS = 0.5 is not below UNLOADED_RADIUS"),
    (lambda t: t.replace("FNOMIN          = 4000", "FNOMIN = -4000"), r"line \d+: FNOMIN = -4000 must be > 0"),
    (lambda t: "", "FITTYP missing"),
    (lambda t: t.replace("PKY1            = -", "PKY1 = "), "pushes further left"),
    (lambda t: t.replace("VERTICAL_DAMPING = 50", "VERTICAL_DAMPING = -50"), "VERTICAL_DAMPING = -50 must be >= 0"),
    (lambda t: t + "\nLKX = -1\n", "LKX"),
    (lambda t: t.replace("FITTYP          = 61", "PROPERTY_FILE_FORMAT = 'FTIRE'"), "'FTIRE' is not read"),
]  # fmt: skip


@pytest.mark.parametrize("spoil, told", BAD)
def test_bad_files_are_told_with_line_and_cause(spoil, told, tmp_path):
    path = tmp_path / "bad.tir"
    path.write_text(spoil(BOOK.read_text()))
    with pytest.raises(madi.InputError, match=told) as error:
        madi.read_tir(path)
    assert "bad.tir" in str(error.value)


def test_no_file(tmp_path):
    with pytest.raises(madi.InputError, match="cannot be read"):
        madi.read_tir(tmp_path / "none.tir")
    with pytest.raises(madi.InputError, match="cannot be read"):
        madi.read_tir(tmp_path)
    (tmp_path / "long.tir").write_text("$" * 1_100_000)
    with pytest.raises(madi.InputError, match="longer"):
        madi.read_tir(tmp_path / "long.tir")


@given(st.integers(0, 10**9))
@settings(max_examples=200, deadline=None)
def test_mutated_files_load_or_are_told(seed):
    rng = np.random.default_rng(seed)
    text = list(FILES[seed % len(FILES)].read_text())
    for _ in range(int(rng.integers(1, 30))):
        k = int(rng.integers(len(text)))
        text[k] = str(rng.choice(list("0123456789-+.eE='[]$!\n\x00 ABCÜ")))
    try:
        tir = parse_tir("".join(text))
        assert np.isfinite(list(tir.forces(tir["FNOMIN"], 0.1, 0.1).values())).all()
    except madi.InputError:
        pass


# ---- the element ----------------------------------------------------------------------------------------------------


def wheel(relaxation=False, path=BOOK, road=None, **numbers):
    """A hub of 400 kg on one tire; LOW presses it 20 mm into the road."""
    m = madi.Model("wheel")
    m.body("hub", 400.0, inertia=(2, 1, 2), position=(0, 0, 0.3135))
    m.free("base", m.ground, "hub")
    m.magic_tire("tire", "hub", (0, 0, 0.3135), (0, 1, 0), path, road=road, relaxation=relaxation, **numbers)
    return m


LOW = np.array([0, 0, -0.02, 1, 0, 0, 0.0])


@pytest.mark.parametrize("lean", [0.0, 0.05, -0.05])
@pytest.mark.parametrize("kappa, alpha", [(0.0, 0.0), (0.05, 0.0), (-0.1, 0.04), (0.02, -0.1)])
def test_element_is_the_formula(kappa, alpha, lean):
    """Force at the contact and moment about the hub, for slips made of speeds; a camber by leaning the whole wheel."""
    m, tir, V = wheel(low_speed=1e-6), madi.read_tir(BOOK), 16.7
    q = LOW.copy()
    q[3:] = np.cos(lean / 2), np.sin(lean / 2), 0, 0
    height = tir.radius - 0.02
    depth = tir.radius - height / np.cos(lean)  # in the wheel's plane
    N = tir["VERTICAL_STIFFNESS"] * depth / np.cos(lean)
    p = fold(tir)
    from madi.forces.magic_formula import rolling_radius

    spin = V * (1 + kappa) / rolling_radius(p, 0, N)
    turn = np.array([[1, 0, 0], [0, np.cos(lean), -np.sin(lean)], [0, np.sin(lean), np.cos(lean)]])
    v = np.concatenate([turn.T @ [V, V * np.tan(alpha), 0], [0, spin, 0]])
    force, moment = on_tire(m, q, v)
    force, moment = turn @ force, turn @ moment  # to ground axes
    found = tir.forces(N, kappa, alpha, lean, V)
    np.testing.assert_allclose(force, [found["fx"], found["fy"], N], rtol=1e-6, atol=1e-3)
    arm = np.array([0, height * np.tan(lean), -height])  # where the wheel's plane meets the road
    np.testing.assert_allclose(moment, np.cross(arm, force) + [found["mx"], found["my"], found["mz"]], rtol=1e-5, atol=2e-2)


def test_other_side_is_mirrored():
    left, right = wheel(side="left"), wheel(side="right")
    v = np.array([16.0, 0.8, 0, 0, 16 / 0.3, 0])
    (f, n), (g, k) = on_tire(left, LOW, v), on_tire(right, LOW, v * [1, -1, 1, 1, 1, 1])
    np.testing.assert_allclose(f * [1, -1, 1], g, rtol=1e-9)
    np.testing.assert_allclose(n * [-1, 1, -1], k, rtol=1e-9)
    with pytest.raises(madi.InputError, match="side"):
        wheel(side="up")


@pytest.mark.parametrize("path", ["standstill", "reverse", "lift-off", "touch-down", "on its side"])
def test_continuous_where_a_tire_is_delicate(path):
    m, forces = wheel(), []
    for x in np.linspace(-1, 1, 401):
        q, v = LOW.copy(), np.array([2.0, 0.1, 0, 0, 6.5, 0])
        if path in ("lift-off", "touch-down"):
            q[2] = 1e-3 * x
            v[2] = 0.0 if path == "lift-off" else -0.3
        elif path == "on its side":
            angle = np.pi / 2 + 0.2 * x
            q[2], q[3:] = 0.04 - 0.3135, (np.cos(angle / 2), np.sin(angle / 2), 0, 0)
        else:
            v = np.array([0.1 * x, 0.01, 0, 0, 0.1 * x / 0.3 if path == "reverse" else 0.1, 0])
        force, moment = on_tire(m, q, v)
        forces.append([*force, *moment])
    forces = np.array(forces)
    assert np.isfinite(forces).all()
    assert np.max(np.abs(np.diff(forces, axis=0))) < 0.02 * np.max(np.abs(forces))


@pytest.mark.parametrize("relaxation", [False, True])
def test_three_lives_and_cartesian(relaxation):
    m = wheel(relaxation)
    s = m.build()
    rng = np.random.default_rng(2)
    for _ in range(4):
        q = moved(s, s.q0, np.concatenate([[0, 0, -0.02, 0.1, 0.1, 0.2], np.zeros(s.nv - 6)]) * rng.normal(size=s.nv))
        v = np.concatenate([[10, 0.5, 0.1, 0.1, 33, 0.1], np.full(s.nv - 6, 0.02)]) * (1 + 0.2 * rng.normal(size=s.nv))
        plain = s.forward_dynamics(q, v, engine="plain")
        assert np.max(np.abs(plain)) > 1
        for engine in ("jit", "compiled"):
            np.testing.assert_allclose(s.forward_dynamics(q, v, engine=engine), plain, rtol=1e-9, atol=1e-9)
    start = (np.concatenate([LOW, s.q0[7:]]), [10, 0.5, 0, 0, 33, 0, *np.zeros(s.nv - 6)])
    runs = [
        madi.simulate(m, 0.3, start=start, rtol=1e-9, times=np.linspace(0, 0.3, 31), formulation=how)
        for how in (None, "cartesian")
    ]
    a, b = (run.data["position"].sel(body="hub").values for run in runs)
    assert np.max(np.abs(a - b)) < 1e-6 * np.max(np.abs(a))


def test_relaxation_is_a_lag_of_first_order():
    """A wheel held at a small slip angle from the start: the side force rises as 1 - exp(-V t / sigma)."""
    tir, V = madi.read_tir(BOOK), 10.0
    m = madi.Model("rig", gravity=(0, 0, 0))
    m.body("hub", 10.0, inertia=(1, 1, 1), position=(0, 0, tir.radius - 0.02))
    m.body("rim", 10.0, inertia=(1, 1, 1), position=(0, 0, tir.radius - 0.02))
    m.prismatic("way", m.ground, "hub", at=(0, 0, 0), axis=(np.cos(0.01), np.sin(0.01), 0))
    m.revolute("spin", "hub", "rim", at=(0, 0, tir.radius - 0.02), axis=(0, 1, 0))
    m.drive("way", lambda t: V * t)
    m.magic_tire(
        "tire", "rim", (0, 0, tir.radius - 0.02), (0, 1, 0), tir.scaled(**dict.fromkeys(SHIFTS, 0.0)), relaxation=True
    )
    N = tir["VERTICAL_STIFFNESS"] * 0.02
    times = np.linspace(0, 0.5, 101)
    run = madi.simulate(m, 0.5, start=(None, {"spin": V / 0.305}), reactions=["spin"], rtol=1e-9, times=times)
    side = -run["spin.fy"]
    _, length = relaxation_lengths(fold(tir), 0, at_load(fold(tir), 0, N), 0.0)
    w = run.data["v"].sel(speed="tire.lag_across").values
    np.testing.assert_allclose(
        w, np.tan(0.01) * length * (1 - np.exp(-V * np.cos(0.01) * times / length)), rtol=1e-6, atol=1e-12
    )
    np.testing.assert_allclose(side / side[-1], 1 - np.exp(-V * times / length), atol=0.02)


@pytest.mark.parametrize("relaxation", [False, True])
def test_it_stands_still_and_falls_and_tumbles(relaxation):
    """Dropped, upside down and spinning: finite numbers to the end, and nothing falls through the road."""
    m = wheel(relaxation, damping=3e3)
    n = m.build().nv
    upside_down = {"base.z": 0.5, "base.qw": 0.0, "base.qx": 1.0}
    run = madi.simulate(m, 2.0, start=(upside_down, [5, 2, 0, 3, -50, 1, *np.zeros(n - 6)]),
                        method="radau", rtol=1e-5)  # fmt: skip
    assert np.isfinite(run.data["position"].values).all()
    assert run["hub.z"].min() > 0.0


@pytest.mark.parametrize("relaxation", [False, True])
def test_at_rest_it_stays_at_rest(relaxation):
    """Upright, on the deflection that carries its weight, free to slide and steer; no shifts that would push it aside."""
    tir = madi.read_tir(BOOK).scaled(**dict.fromkeys(SHIFTS, 0.0))
    m = madi.Model("wheel")
    m.body("carrier")
    m.body("hub", 400.0, inertia=(2, 1, 2), position=(0, 0, 0.3135))
    m.planar("way", m.ground, "carrier", at=(0, 0, 0.3135), axis=(0, 0, 1))
    m.prismatic("up", "carrier", "hub", at=(0, 0, 0.3135), axis=(0, 0, 1))
    m.magic_tire("tire", "hub", (0, 0, 0.3135), (0, 1, 0), tir, relaxation=relaxation, damping=3e3)
    sunk = 400.0 * 9.81 / tir["VERTICAL_STIFFNESS"]
    run = madi.simulate(m, 2.0, start=({"up": -sunk}, None), method="radau", rtol=1e-7)
    still = run.data["position"].sel(body="hub").values
    np.testing.assert_allclose(still, np.broadcast_to([0, 0, 0.3135 - sunk], still.shape), atol=1e-6)


def test_a_locked_stop_with_relaxation_does_not_spring_back():
    """When a sliding wheel comes to rest, no more is stored in the tire than friction holds."""
    m = wheel(True, damping=3e3)
    m.bodies[0].mass = 5.0
    m.body("rim", 400.0, inertia=(0.5, 0.8, 0.5), position=(0, 0, 0.3135))
    m.joints = [joint for joint in m.joints if joint.name != "base"]
    m.prismatic("way", m.ground, "hub", at=(0, 0, 0.3135), axis=(1, 0, 0), v0=5.0)
    m.prismatic("up", "hub", "rim", at=(0, 0, 0.3135), axis=(0, 0, 1), q0=-0.02)
    m.forces[0].a = "rim"
    run = madi.simulate(m, 3.0, rtol=1e-7, method="radau")
    x = run["hub.x"]
    assert x.max() > 1.0
    assert x.max() - x[-1] < 0.03
    assert abs(run["way.v"][-1]) < 0.05


def test_a_file_without_combined_slip_stays_within_friction():
    numbers = {"FITTYP": 6, "UNLOADED_RADIUS": 0.3, "FNOMIN": 4000, "VERTICAL_STIFFNESS": 2e5, "PCX1": 1.6, "PDX1": 1.0,
               "PKX1": 20, "PCY1": 1.3, "PDY1": 1.0, "PKY1": -15, "PKY2": 1.5}  # fmt: skip
    tir = parse_tir("\n".join(f"{key} = {value}" for key, value in numbers.items()))
    both = tir.forces(4000.0, kappa=-0.2, alpha=0.15)
    assert np.hypot(both["fx"], both["fy"]) <= 4000.0 * (1 + 1e-9)
    assert tir.forces(4000.0, kappa=-0.02)["fx"] == pytest.approx(
        tir.forces(4000.0, kappa=-0.02, alpha=1e-6)["fx"], rel=1e-3
    )


def test_what_a_tire_needs(tmp_path):
    text = "\n".join(line for line in BOOK.read_text().splitlines() if not line.startswith("LATERAL_STIFFNESS"))
    path = tmp_path / "stiff.tir"
    path.write_text(text)
    with pytest.raises(madi.InputError, match="LATERAL_STIFFNESS"):
        wheel(True, path)
    assert wheel(False, path).build().nv == 6
    with pytest.raises(madi.ModelError, match="low_speed"):
        wheel(low_speed=0.0).build()
