"""Model files that several tests use, and whether two models are the same system."""

from __future__ import annotations

import numpy as np

import madi
from madi.schema.read import loads
from madi.schema.write import document, to_yaml


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
    m.run = {"duration": 2.0, "step": 1e-3, "reactions": ["spin"], "history": True,
             "method": {"rk4": {}}, "loops": {"baumgarte": {"alpha": 20.0}}}  # fmt: skip
    return m


PENDULUM = """
madi: 1
model: pendulum
parameters: {L: 50 cm, m1: 2 lb}
bodies:
  bob: {mass: m1, inertia: ["m1 * L**2 / 200", 0.001, 0.001], position: [0, 0, -L]}
joints:
  pin: {type: revolute, parent: ground, child: bob, at: [0, 0, 0], axis: [0, 1, 0], q0: 30 deg}
"""
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
# methods and loop methods as a file has them, in YAML's two ways
GOOD_RUNS = (
    "{method: newmark, step: 1 ms}", "{method: {newmark: {iterations: 2, jacobian: step}}, step: 1 ms}",
    "{method: {newmark: {}}}", "{method: {generalized-alpha: {spectral_radius: 0.5}}}", "{method: {abm: {order: 3}}}",
    "{method: {dopri: {first_step: 1 ms}}}", "{method: {cvode: {feedback: [5 Hz, 6]}}}", "{loops: qr}",
    "{loops: {baumgarte: {alpha: 20, beta: 30}}}", "{loops: {projection: {closing: 1 um}}}",
    "{loops: {pseudo-inverse: {weighting: none}}}", "{loops: {augmented: {alpha: 5, closing: 1e-6}}}",
    "\n  method:\n    newmark:\n      gamma: 0.6\n      beta: 0.4\n  loops:\n    svd: {}",
)  # fmt: skip
SMALL = "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\njoints: {f: {type: free, parent: ground, child: b}}\n"
