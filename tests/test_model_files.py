"""Model files: read as meant, written and read back to the bit; what is wrong is told with its place."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import madi
from madi.cli.models import NAMED, find_model
from madi.papers import ralf
from madi.schema.document import parse_document
from madi.schema.expression import Scope
from madi.schema.kinds import GROUPS, RUN, kind
from madi.schema.read import loads
from madi.schema.reference import json_schema, reference_page
from madi.schema.write import document, to_yaml
from madi.verify import slider_crank, spin_up
from tests.mechanisms import close_loops, random_tree

TIRE = sorted((Path(__file__).parent / "data" / "tires").glob("*.tir"))[0]
NOTHING = Scope({}, {}, {})


def same_arrays(a, b):
    """Whether two models are one and the same system, to the last bit."""
    one, two = a.build(), b.build()
    assert one.bodies == two.bodies
    assert one.coordinates == two.coordinates
    assert one.forces == two.forces
    assert list(one.cut_joints) == list(two.cut_joints)
    np.testing.assert_array_equal(one.layout.ints, two.layout.ints)
    np.testing.assert_array_equal(one.layout.reals, two.layout.reals)
    np.testing.assert_array_equal(one.q0, two.q0)
    np.testing.assert_array_equal(one.v0, two.v0)


def again(model):
    return loads(to_yaml(document(model)))


# ---- expressions and units -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "wanted"), [
    ("450 in/s", 450 * 0.0254), ("12 deg", np.pi / 15), ("25 lb", 25 * 0.45359237),
    ("300 lbf/in", 300 * 4.4482216152605 / 0.0254),
    ("3000 rpm", 100 * np.pi), ("120 km/h", 120 / 3.6), ("5 kg mm^2", 5e-6), ("5 kg*mm²", 5e-6), ("2 N/(m s)", 2.0),
    ("1 l", 1e-3),
    ("5 s^-1", 5.0), ("9.81 m s^-2", 9.81), ("5 N mm^-1", 5000.0), ("10 s**-1", 10.0), ("3/s", 3.0), ("1/s", 1.0),
    ("4 Nm", 4.0), ("7 \u03bcm", 7e-6), ("1/(2 s)", 0.5), ("1 or 0 and 0", 1.0), ("(3 m)**2", 9.0), ("5 min", 300.0),
    ("-2 deg", -np.pi / 90),
    ("2 + 3 * 4", 14.0), ("2 ** 3 ** 2", 512.0), ("-2 ** 2", -4.0), ("(1 + 2) * -3", -9.0), ("a = 3; b = a * a; b - a", 6.0),
    ("where(1 < 2, 10, 20)", 10.0), ("min(3, max(1, 2))", 2.0), ("mod(7.5, 2)", 1.5), ("atan2(1, 1)", np.pi / 4),
    ("sqrt(16 m2)", 4.0), ("1 < 2 and not 3 < 2", 1.0), ("2 * g0", 19.6133), ("sin(90 deg)", 1.0), ("50 %", 0.5),
])  # fmt: skip
def test_an_expression_has_its_value(text, wanted):
    assert NOTHING.number(text, None) == pytest.approx(wanted, rel=1e-14)


@pytest.mark.parametrize(("text", "told"), [
    ("3 kg + 2 m", "kg and m meet"), ("2 +", "at its end"), ("2 * (3", "')' is expected"), ("sin(1, 2)", "takes 1 argument"),
    ("foo(1)", "no function 'foo'"), ("L", "no parameter 'L'"), ("1 / 0", "division by zero"), ("1e308 * 10", "finite"),
    ("9 ** 9 ** 9", "too large"), ("log(-1)", "finite"), ("(-8) ** 0.5", "no real value"), ("t", "t is time"),
    ("3 mm kg/s m", "below"),
    ("__import__(1)", "no function"), ("open('x')", "expected before"), ("1 if 2 else 3", "there is no unit"),
    ("sin(3 m)", "sin() of a quantity in m"),
    ("mm", "needs a number before it"), ("", "empty"), ("2 $ 3", "no meaning"),
    ("(" * 40 + "1" + ")" * 40, "too many parentheses"),
    ("+".join(["1"] * 500), "more than 100 terms"), ("2 ** " * 50 + "1", "powers of powers"), ("exp(2 s)", "exp() of"),
    ("1/2 deg", "what is divided"), ("2 m^0.5", "a power of what"), ("2 ** (3 m)", "exponent in m"),
])  # fmt: skip
def test_a_wrong_expression_is_told(text, told):
    with pytest.raises(madi.InputError) as error:
        NOTHING.number(text, None)
    assert told in str(error.value)


def test_parameters_win_over_powers_of_units():
    """m2 and l2 are masses and lengths in every mechanism, and would be squares of metres and litres."""
    scope = Scope({"l2": 0.4, "m2": 3.0}, {"l2": (1, 0, 0), "m2": (0, 1, 0)}, {})
    assert scope.number("50 N * l2", None) == 20.0
    assert scope.number("2 * m2", (0, 1, 0)) == 6.0
    assert scope.number("a2 = 3; 2 m * a2", (1, 0, 0)) == 6.0
    assert NOTHING.number("2 m2", (2, 0, 0)) == 2.0


def test_a_parameter_without_unit_may_be_anything():
    text = PENDULUM.replace("L: 50 cm", "L: 0.5")
    same_arrays(loads(text), loads(PENDULUM))
    with pytest.raises(madi.FileError, match="kg and m meet"):
        loads(PENDULUM.replace("mass: m1", "mass: m1 + L"))
    with pytest.raises(madi.FileError, match="is in kg; m is needed"):
        loads(PENDULUM, parameters={"L": "3 kg"})


def test_units_must_fit_the_entry_and_a_pound_is_not_its_weight():
    with pytest.raises(madi.InputError, match="is in m; kg is needed"):
        NOTHING.number("3 m", (0, 1, 0))
    with pytest.raises(madi.InputError, match="a pound's force is lbf"):
        NOTHING.number("300 lb/in", (0, 1, -2))


@given(st.recursive(
    st.sampled_from(["t", "2.5", "0.25", "L"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*"), inner).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        inner.map(lambda x: f"sin({x})"), inner.map(lambda x: f"-{x}"),
        st.tuples(inner, inner).map(lambda p: f"where({p[0]} < {p[1]}, {p[0]}, {p[1]})"),
    ), max_leaves=8,
))  # fmt: skip
def test_an_expression_means_what_python_means(text):
    scope = Scope({"L": 0.75}, {"L": None}, {})
    found = scope.function(text, None)(1.3)
    wanted = eval(text, {"t": 1.3, "L": 0.75, "sin": np.sin, "where": np.where})  # the test's own text
    assert float(found) == pytest.approx(float(wanted), rel=1e-14, abs=1e-300)


# ---- round trips -----------------------------------------------------------------------------------------------------

EXAMPLES = {
    **{name: lambda name=name: find_model(name) for name in NAMED},
    "ralf driven": lambda: ralf.model(actuators="driven"), "slider-crank": slider_crank.model, "spin-up": spin_up.model,
}  # fmt: skip


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_example_comes_back_to_the_last_bit(name):
    model = EXAMPLES[name]()
    back = again(model)
    same_arrays(model, back)
    assert to_yaml(document(back)) == to_yaml(document(model)), "writing again writes the same"


@pytest.mark.parametrize("seed", range(100))
def test_random_models_come_back_to_the_last_bit(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, int(rng.integers(2, 9)), moving=bool(seed % 3 == 0), reverse=0.3, forces=True)
    if seed % 2:
        close_loops(model, rng, 1)
    same_arrays(model, again(model))


def every_element():
    """A model with every element the schema knows."""
    m = madi.Model("everything", gravity=(0.1, 0, -9.7))
    way = (
        madi.flat(0.1)
        .half_round(5, 0.1)
        .sine(0.05, 2, start=8, end=12)
        .polyline([(20, 0), (21, 0.2), (22, 0)])
        .two_sided(0.4)
    )
    heavy = {"mass": 2.0, "inertia": (0.1, 0.11, 0.12)}
    base = m.body("base", **heavy, com=(0.1, 0, 0), orientation=(0.9, 0.1, 0.2, 0.3))
    m.free("base", m.ground, base, q0=(0, 0, 1, 1, 0, 0, 0), v0=(1, 0, 0, 0, 0.2, 0))
    last = base
    for k, (joint, more) in enumerate({
        "revolute": {"axis": (0, 1, 0), "q0": 0.2}, "prismatic": {"axis": (0, 0, 1)}, "cylindrical": {"axis": (1, 0, 0)},
        "screw": {"axis": (0, 0, 1), "pitch": 0.01}, "universal": {"axes": ((1, 0, 0), (0, 1, 0))}, "spherical": {},
        "planar": {"axis": (0, 0, 1), "x_axis": (1, 1, 0)}, "fixed": {},
    }.items()):  # fmt: skip
        body = m.body(f"b{k}", **heavy, position=(k, 0, 1))
        getattr(m, joint)(joint, last, body, at=(k - 0.5, 0, 1), **more)
        last = body
    spun = m.body("spun", **heavy, position=(0, 2, 1))
    m.revolute("spin", base, spun, at=(0, 2, 1), axis=(0, 1, 0))
    other = m.body("other", **heavy, position=(0, 3, 1))
    m.revolute("spin2", base, other, at=(0, 3, 1), axis=(0, 1, 0))
    line = ((0, 0, 2), (0, 2, 1))
    m.spring_damper("spring", base, spun, at=line, stiffness=100, damping=3)
    m.hydropneumatic("hsu", base, spun, at=line, pressure=1e5, area=1e-3, volume=1e-3, compression=10, rebound=20)
    m.bump_stop("stop", base, spun, at=line, clearance=0.1, stiffness=1e5)
    m.characteristic(
        "curve",
        base,
        spun,
        at=line,
        spring=[(0, 0), (0.1, 100)],
        damper=[(-1, -10), (0, 0), (1, 30)],
        between="cubic",
    )
    m.two_point_force("ram", base, spun, line, lambda length, rate: 3.0 * length * length - rate)
    m.joint_characteristic("table", "revolute", [(-1, -3), (0, 0), (1, 5)], between="cubic")
    m.torsion_bar("bar", base, spun, axis=(0, 1, 0), stiffness=10, rest=0.1)
    m.bushing("bush", base, spun, at=(0, 2, 1), stiffness=(1, 2, 3, 4, 5, 6), axis=(0, 1, 1))
    m.joint_spring("turn", "revolute", stiffness=5, rest=0.1)
    m.wheel("wheel", base, at=(0, 0, 0.5), radius=0.4, stiffness=1e5, road=way, places=9)
    for law in ("smooth", "fiala", "brush"):
        m.tire(f"tire {law}", spun, at=(0, 2, 1), axis=(0, 1, 0), radius=0.9, stiffness=1e4, cornering_stiffness=1e4,
               law=law, road=way)  # fmt: skip
    m.track("track", base, m.ground, at=line, radii=(0.3, 0.2), tension=100, stiffness=1e3, support=10, road=madi.flat(0.2))
    m.force("push", spun, (lambda t: (madi.sin(t), 2.0, madi.where(t < 1, t * t, 1.0))))
    m.force("still", spun, (1, 2, 3), at=(0, 2, 1))
    m.torque("twist", spun, lambda t, q, v: (-0.1 * v[0], 0.0, q[2] * q[2]))
    m.joint_torque("motor", "spin", lambda t, q, v: 3 * np.cos(2 * t) - v[-1])
    m.distance("rod", base, last, at=((0, 0, 2), (7, 0, 1)))
    m.coupler("pair", "cylindrical.z", "cylindrical.angle", 0.1, 0.2)
    m.gear("gear", "spin", "spin2", (0.2, 0.3), internal=True)
    m.point_on_plane("plane", m.ground, last, at=(7, 0, 1), normal=(0, 0, 1))
    m.drive("prismatic", madi.table([(0, 0), (1, 0.2), (3, 0.1)]))
    m.lock("screw")
    m.adjustable("spring.stiffness", "base.mass")
    m.run = {"duration": 2.0, "step": 1e-3, "reactions": ["spin"], "history": True}
    return m


def test_every_element_comes_back_to_the_last_bit():
    model = every_element()
    back = again(model)
    same_arrays(model, back)
    assert back.run == model.run
    assert back.adjustables == model.adjustables


def test_a_relaxed_magic_tire_keeps_its_states():
    m = madi.Model("wheel")
    wheel = m.body("wheel", 20.0, inertia=(0.5, 1, 0.5), position=(0, 0, 0.3))
    m.free("wheel", m.ground, wheel, v0=(10, 0, 0, 0, 33, 0))
    m.magic_tire("tire", wheel, at=(0, 0, 0.3), axis=(0, 1, 0), tir=TIRE, relaxation=True)
    m.body("last", 1.0, inertia=(1, 1, 1))
    m.revolute("last", m.ground, "last", at=(0, 0, 0), axis=(0, 1, 0))
    same_arrays(m, again(m))


def test_the_schema_knows_every_element_of_the_model_and_its_arguments():
    """A new method of Model is a line of the schema: else it could not be written to a file."""
    import inspect

    for group, kinds in GROUPS.items():
        for name in kinds:
            known = set(inspect.signature(getattr(madi.Model, name)).parameters) - {"self", "name"}
            assert set(kind(group, name).entries) == known, name
    elements = {n for kinds in GROUPS.values() for n in kinds}
    others = {"save", "simulate", "check", "build", "drive", "lock", "adjustable", "visual", "snapshot", "remove", "replace"}
    methods = {n for n, f in vars(madi.Model).items() if callable(f) and not n.startswith("_")}
    assert methods == elements | others
    run = set(inspect.signature(madi.simulate).parameters) - {
        "model",
        "times",
        "q0",
        "v0",
        "progress",
        "checkpoint",
        "checkpoint_every",
        "resume",
    }
    assert set(RUN) - {"every"} == run


# ---- what files can say ----------------------------------------------------------------------------------------------

PENDULUM = """
madi: 1
model: pendulum
parameters: {L: 50 cm, m1: 2 lb}
bodies:
  bob: {mass: m1, inertia: ["m1 * L**2 / 200", 0.001, 0.001], position: [0, 0, -L]}
joints:
  pin: {type: revolute, parent: ground, child: bob, at: [0, 0, 0], axis: [0, 1, 0], q0: 30 deg}
"""


def test_a_file_is_the_model_drawn_in_python():
    m = madi.Model("pendulum")
    mass = 2 * 0.45359237
    bob = m.body("bob", mass, inertia=(mass * 0.25 / 200, 0.001, 0.001), position=(0, 0, -0.5))
    m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), q0=np.pi / 6)
    same_arrays(m, loads(PENDULUM))


def test_drives_tables_and_forces_of_time_and_state(tmp_path):
    (tmp_path / "lift.csv").write_text("time,height,other\n0,0,5\n1,0.2,6\n2,0,7\n")
    text = (
        PENDULUM
        + """
tables: {lift: {points: {csv: lift.csv, columns: [time, height]}, between: linear}}
forces:
  wind: {type: force, body: bob, value: ["10 N * sin(2 * pi * 0.5 Hz * t)", 0, 0]}
  brake: {type: joint_torque, joint: pin, value: "-0.3 * v(pin) - 2 N m * lift(t) * q(pin)"}
run: {duration: 1 s, step: 1 ms, method: rk4, every: 50 ms}
"""
    )
    m = loads(text, folder=tmp_path)
    s = m.build()
    a = s.forward_dynamics([0.4], [0.7], t=0.5)
    mass = 2 * 0.45359237
    inertia = 0.001 + mass * 0.25
    push = 10 * np.sin(np.pi * 0.5) * -0.5 * np.cos(0.4)  # about +y, the bob hanging at -z
    brake = -0.3 * 0.7 - 2 * 0.1 * 0.4
    assert float(a[0]) == pytest.approx((push + brake - mass * 9.81 * 0.5 * np.sin(0.4)) / inertia, rel=1e-12)
    run = m.simulate()
    np.testing.assert_allclose(run.data["time"].values, np.linspace(0, 1, 21), atol=1e-12)
    again(m)  # parameters and tables are written out


def test_an_included_file_is_drawn_twice_with_other_names(tmp_path):
    (tmp_path / "leg.yaml").write_text("""
parameters: {y: 0.0, kg1: 1 kg}
bodies: {leg: {mass: kg1, inertia: [1, 1, 1], position: [0, y, -1]}}
joints: {hip: {type: revolute, parent: trunk, child: leg, at: [0, y, 0], axis: [0, 1, 0]}}
forces: {motor: {type: joint_torque, joint: hip, value: "-v(hip)"}}
""")
    (tmp_path / "walker.yaml").write_text("""
include: [{file: leg.yaml, prefix: left_, parameters: {y: 20 cm}}, {file: leg.yaml, prefix: right_, parameters: {y: -20 cm}}]
bodies: {trunk: {mass: 10, inertia: [1, 1, 1]}}
joints: {free: {type: free, parent: ground, child: trunk}}
""")
    m = madi.load(tmp_path / "walker.yaml")
    assert [b.name for b in m.bodies] == ["left_leg", "right_leg", "trunk"]
    s = m.build()
    assert float(s.body_pose(s.q0, "right_leg")[0][1]) == pytest.approx(-0.2)
    a = s.forward_dynamics(s.q0, np.eye(s.nv)[s.v_slice("left_hip")][0] * 2.0)
    assert a[s.v_slice("left_hip")][0] < 0, "the prefix reaches v(hip) too"
    same_arrays(m, again(m))


def test_files_of_a_run_give_the_run_of_python():
    m = loads(PENDULUM + "run: {duration: 0.5 s, step: 1 ms}\n")
    a, b = m.simulate(), madi.simulate(m, 0.5, step=1e-3)
    np.testing.assert_array_equal(a.data["q"].values, b.data["q"].values)


# ---- what is wrong ---------------------------------------------------------------------------------------------------

WRONG = {
    "unknown part": ("bodyes: {}", "did you mean bodies?"),
    "unknown entry": ("bodies: {a: {mas: 3}}", "line 1, bodies.a.mas: there is no entry 'mas' here; did you mean mass?"),
    "unit": ("bodies:\n  a: {mass: 3 m}", "line 2, bodies.a.mass: '3 m' is in m; kg is needed"),
    "twice": ("bodies:\n  a: {mass: 3}\n  a: {mass: 4}", "line 3, bodies: 'a' is given twice; the first is in line 2"),
    "body": (
        "bodies: {arm: {mass: 1}}\njoints:\n  p: {type: fixed, parent: ground, child: amr}",
        "line 3, joints.p: there is no body 'amr'; did you mean 'arm'?",
    ),
    "type": ("joints: {p: {type: hinge, parent: ground, child: a}}", "choose one of revolute"),
    "no type": ("joints: {p: {parent: ground}}", "type is missing"),
    "missing": ("joints: {p: {type: revolute, parent: ground, child: a}}", "at, axis are missing"),
    "count": ("bodies: {a: {com: [1, 2]}}", "3 numbers, m are expected, 2 are given"),
    "alias": ("a: &x 1\nb: *x", "aliases"),
    "tag": ("model: !!python/object:os.system [ls]", "the tag"),
    "yaml": ("bodies: {a: ]", "is not YAML"),
    "version": ("madi: 7", "reads format 1"),
    "outside": ("include: ../other.yaml", "outside the model's folder"),
    "absolute": ("include: /etc/passwd", "outside the model's folder"),
    "no file": ("include: other.yaml", "no file 'other.yaml'"),
    "itself": ("include: wrong.yaml", "includes itself"),
    "parameter": ("parameters: {m: 3}", "meaning of its own"),
    "nan": ("bodies: {a: {mass: .nan}}", "expected"),
    "two documents": ("model: a\n---\nmodel: b", "second document"),
    "road": ("forces: {w: {type: wheel, body: a, at: [0, 0, 0], radius: 1, stiffness: 1, road: main}}", "no road 'main'"),
    "drive of state": ("drives: {A: q(A)}", "t alone"),
    "empty": ("", "is empty"),
    "list": ("- 1", "mapping"),
    "scalar": ("hello", "mapping"),
    "deep": ("model: " + "[" * 60 + "]" * 60, "nested too deeply"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_a_file_is_told_with_its_place(name, tmp_path):
    text, told = WRONG[name]
    (tmp_path / "wrong.yaml").write_text(text)
    with pytest.raises(madi.FileError) as error:
        madi.load(tmp_path / "wrong.yaml")
    assert told in str(error.value)
    assert "wrong.yaml" in str(error.value)


def test_a_defect_found_later_still_names_the_line(tmp_path):
    (tmp_path / "m.yaml").write_text("bodies:\n  a: {mass: -1}\njoints:\n  p: {type: free, parent: ground, child: a}\n")
    (finding,) = madi.load(tmp_path / "m.yaml").check()
    assert "line 2" in finding.element


def test_a_function_that_is_no_expression_is_told_when_saving(tmp_path):
    m = loads(PENDULUM)
    m.force("f", "bob", lambda t: (1.0 if t > 1 else 0.0, 0, 0))
    with pytest.raises(madi.InputError, match="force 'f': its function cannot be written as an expression"):
        m.save(tmp_path / "m.yaml")
    assert not list(tmp_path.iterdir()), "nothing half-written"


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "secret.yaml").write_text("bodies: {a: {mass: 1}}")
    inner = tmp_path / "models"
    inner.mkdir()
    (inner / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (inner / "m.yaml").write_text("include: link.yaml")
    with pytest.raises(madi.FileError, match="outside"):
        madi.load(inner / "m.yaml")


def test_looks_are_kept_and_meshes_stay_in_the_folder(tmp_path):
    m = loads(PENDULUM)
    m.visual("bob", "box", size=(0.1, 0.2, 0.3), color="#336699")
    m.visual(m.ground, "cylinder", size=(0.05, 0.4))
    (tmp_path / "bob.stl").write_text("solid bob\nendsolid bob\n")
    m.visual("bob", "mesh", file=tmp_path / "bob.stl", scale=0.001)
    back = madi.load(m.save(tmp_path / "m.yaml"))
    assert [v.kind for v in back.bodies[0].visuals] == ["box", "mesh"]
    assert [v.kind for v in back.ground.visuals] == ["cylinder"]
    assert back.bodies[0].visuals[0].color == "#336699"
    assert back.bodies[0].visuals[1].scale == 0.001
    (tmp_path / "elsewhere").mkdir()
    with pytest.raises(madi.InputError, match="copy it there"):
        m.save(tmp_path / "elsewhere" / "m.yaml")
    with pytest.raises(madi.InputError, match="a sphere needs size: 1 number"):
        m.visual("bob", "sphere", size=(1, 2))


# ---- schema and reference --------------------------------------------------------------------------------------------


def plain_data(node):
    """A document as JSON has it."""
    if isinstance(node.value, dict):
        return {key: plain_data(part) for key, part in node.value.items()}
    if isinstance(node.value, list):
        return [plain_data(part) for part in node.value]
    return {"number": float, "flag": lambda x: x == "true", "nothing": lambda x: None}.get(node.kind, str)(node.value)


def test_the_json_schema_takes_what_the_reader_takes_and_no_more():
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    for model in (every_element(), ralf.model(actuators="driven"), find_model("car")):
        check.validate(plain_data(parse_document(to_yaml(document(model)))))
    check.validate(plain_data(parse_document(PENDULUM)))
    for name in ("unknown part", "unknown entry", "no type", "missing", "version"):
        assert not check.is_valid(plain_data(parse_document(WRONG[name][0]))), name
    json.dumps(schema)


def test_the_reference_page_in_the_docs_is_the_schema_s():
    assert (Path(__file__).parents[1] / "docs/reference/model-files.md").read_text() == reference_page()
    for kinds in GROUPS.values():
        for name in kinds:
            assert f"### {name}" in reference_page()


# ---- what a reviewer broke -------------------------------------------------------------------------------------------


def spring_model():
    m = madi.Model("m")
    body = m.body("b", 1.0, inertia=(1, 1, 1), position=(0, 0, -1))
    m.revolute("A", m.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    return m


def test_functions_with_conditions_and_remainders_come_back():
    m = spring_model()
    m.force("F", "b", lambda t: ((t > 1) * 100.0, t % 2.0, 100.0 * madi.atan2(t, 2.0)))
    same_arrays(m, again(m))


@pytest.mark.parametrize("name", ['a"b', "A²", "x y", "12", "é", "it's", "q(1)", "null", "1e5", "-", "# no", "a: b"])
def test_names_that_look_like_something_else_come_back(name):
    m = madi.Model(name)
    body = m.body(name, 1.0, inertia=(1, 1, 1), position=(0, 0, -1))
    m.revolute(name, m.ground, body, at=(0, 0, 0), axis=(0, 1, 0), q0=[0.2])
    m.joint_torque(f"torque of {name}", name, lambda t, q, v: -q[0] * v[0])
    m.lock(name)
    back = again(m)
    same_arrays(m, back)
    assert back.name == name
    assert back.bodies[0].name == name


def test_elements_changed_after_drawing_are_written_as_they_are():
    m = spring_model()
    two = m.body("c", 1.0, inertia=(1, 1, 1), position=(0, 1, -1))
    m.revolute("B", m.ground, two, at=(0, 1, 0), axis=(0, 1, 0))
    gear = m.gear("g", "A", "B", (1.0, 3.0))
    same_arrays(m, again(m))
    gear.parameters["offset"] = 0.25
    same_arrays(m, again(m))
    gear.parameters["offset"], gear.parameters["ratio"] = 0.0, 1.7
    same_arrays(m, again(m))
    beam = spin_up.model()
    beam.bodies[0].position = (0.0, 0.0, 0.5)
    beam.joints[0].at = (0.0, 0.0, 0.5)
    same_arrays(beam, again(beam))


def test_files_are_named_from_the_file_that_names_them(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "b.yaml").write_text(
        "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\nroads: {bump: [{half_round: {at: 3, radius: 0.1}}]}"
    )
    (tmp_path / "parts" / "a.yaml").write_text("include: b.yaml\nadjustable: [spring.stiffness]")
    (tmp_path / "m.yaml").write_text("""
include: parts/a.yaml
joints: {f: {type: free, parent: ground, child: b}}
forces: {w: {type: wheel, body: b, at: [0, 0, 0.3], radius: 0.3, stiffness: 1e4, road: bump}}
""")
    m = madi.load(tmp_path / "m.yaml")
    assert m.forces[0].parameters["road"].features
    assert m.adjustables == ["spring.stiffness"]
    (tmp_path / "parts" / "b.yaml").write_text("include: ../../x.yaml")
    with pytest.raises(madi.FileError, match="outside"):
        madi.load(tmp_path / "m.yaml")


def test_parameters_of_any_name_can_be_set(tmp_path):
    (tmp_path / "m.yaml").write_text(PENDULUM.replace("L:", "path:").replace("L", "path"))
    assert madi.load(tmp_path / "m.yaml", path=0.75).bodies[0].position[2] == -0.75
    with pytest.raises(madi.InputError, match="must be a number"):
        madi.load(tmp_path / "m.yaml", path=[1])


# ---- what a new user stumbled over -----------------------------------------------------------------------------------


def test_a_smooth_table_does_not_overshoot():
    """A spline through these points swung to 3216 N between 200 N and 0 N."""
    gas = madi.table([(0, 0), (0.002, 6000), (0.005, 1500), (0.010, 200), (0.040, 0)])
    x = np.linspace(-0.01, 0.05, 6001)
    y = np.array([gas(t) for t in x])
    assert y.min() == 0.0
    assert y.max() == 6000.0
    assert np.all(np.diff(y[x > 0.002]) <= 1e-9)
    dwell = madi.table([(0, 0), (1, 1.0), (3, 1.0), (4, 0)])
    assert all(dwell(t) == pytest.approx(1.0, abs=1e-15) for t in np.linspace(1, 3, 21))
    h = 1e-6  # smooth: slopes go on, and are level at the ends
    for t in (0.0, 1.0, 3.0, 4.0):
        assert (dwell(t) - dwell(t - h)) / h == pytest.approx((dwell(t + h) - dwell(t)) / h, abs=1e-4)


def test_tables_may_have_units():
    m = loads(PENDULUM + "tables: {push: {points: [[0 ms, 0 N], [20 ms, 50 N], [1 s, 0]]}}\n"
              "forces: {f: {type: force, body: bob, value: [push(t), 0, 0]}}\n")  # fmt: skip
    s = m.build()
    assert float(s.observe([0.0], [0.0], 0.02, engine="plain").force[0, 0, 0]) == pytest.approx(50.0)


@pytest.mark.parametrize(("drive", "told"), [("3000 rpm", "is in 1/s"), ("3 m", "is in m"), ("0.1 * t + 2 kg", "is in kg")])
def test_units_of_drives_are_those_of_the_joint(drive, told):
    with pytest.raises(madi.FileError, match=told):
        loads(PENDULUM + f"drives: {{pin: {drive}}}\n")
    loads(PENDULUM + "drives: {pin: 3000 rpm * t}\n")
    with pytest.raises(madi.FileError, match="is in N/m; N m is needed"):
        loads(PENDULUM + "forces: {s: {type: joint_spring, joint: pin, stiffness: 5 N/m}}\n")


def test_all_mistakes_of_a_file_are_told_at_once():
    with pytest.raises(madi.FileError) as error:
        loads("bodies:\n  a: {mass: 3 N}\n  b: {mass: 0.4 kgs}\njoints:\n  A: {type: revolute, parent: ground, child: a}\n")
    lines = str(error.value).splitlines()
    assert len(lines) == 3
    assert "line 2" in lines[0]
    assert "there is no unit 'kgs'; near it: kg" in lines[1]
    assert "at, axis are missing" in lines[2]


def test_tabs_and_indentation_are_called_by_their_names():
    with pytest.raises(madi.FileError, match="a tab in the line"):
        loads("bodies:\n\ta: {mass: 3}\n")
    with pytest.raises(madi.FileError, match="begin in one column"):
        loads("bodies:\n  a: {mass: 3}\n b: {mass: 2}\n")
