"""URDF against Pinocchio's own reader: the same accelerations at random states; what is wrong is told."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import madi
from madi.imports.mjcf import mjcf_text
from madi.imports.urdf import urdf_text
from tests.imports.robots import ARM, random_urdf


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("base", ["fixed", "free"])
def test_a_urdf_robot_moves_as_in_pinocchio(seed, base):
    rng = np.random.default_rng(seed)
    text = random_urdf(rng, 7)
    if base == "free":  # a root that has mass
        text = text.replace('<link name="l0"/>', '<link name="l0"><inertial><mass value="5"/><inertia ixx="1" iyy="1.2" izz="0.9"'
                            ' ixy="0.1" ixz="0" iyz="0"/></inertial></link>')  # fmt: skip
    s = urdf_text(text, base=base).build()
    model = pin.buildModelFromXML(text, pin.JointModelFreeFlyer()) if base == "free" else pin.buildModelFromXML(text)
    data = model.createData()
    q, v = s.q0.copy(), np.zeros(s.nv)
    pq, pv = pin.neutral(model), np.zeros(model.nv)
    for name in model.names[1:]:
        joint = model.joints[model.getJointId(name)]
        if name == "root_joint":
            speed = rng.normal(size=6)
            pv[:6], v[s.v_slice("root")] = speed, speed
            continue
        angle, rate = rng.uniform(-1, 1, 2)
        q[s.q_slice(name)], v[s.v_slice(name)] = angle, rate
        pv[joint.idx_v] = rate
        if joint.nq == 2:  # continuous joints are (cos, sin) there
            pq[joint.idx_q : joint.idx_q + 2] = np.cos(angle), np.sin(angle)
        else:
            pq[joint.idx_q] = angle
    theirs = pin.aba(model, data, pq, pv, np.zeros(model.nv))
    ours = s.forward_dynamics(q, v, engine="plain")
    for name in model.names[1:]:
        joint = model.joints[model.getJointId(name)]
        mine = ours[s.v_slice("root" if name == "root_joint" else name)]
        np.testing.assert_allclose(mine, theirs[joint.idx_v : joint.idx_v + joint.nv], rtol=1e-8, atol=1e-8)


def test_mimic_joints_damping_looks_and_a_report():
    m = urdf_text(ARM)
    assert [c.kind for c in m.constraints] == ["coupler"]
    start = m.build().start
    at = dict(zip(m.build().coordinates, start.q, strict=True))
    assert at["a"] == pytest.approx(0.0, abs=1e-12)
    assert at["b"] == pytest.approx(0.1, abs=1e-12), "the follower starts where its rule has it"
    run = madi.simulate(m, 0.5, step=1e-3, start=({"shoulder": 0.2, "a": 0.3}, None), engine="jit")
    np.testing.assert_allclose(run["b"], -2 * run["a"] + 0.1, atol=1e-10)
    assert m.ground.visuals[0].color == "#336699"
    assert [v.kind for v in m.bodies[0].visuals] == ["cylinder"]
    report = "\n".join(m.notes)
    for told in ("dry friction of joints (friction=True, --friction, carries it over): shoulder", "limits of joints", "effort limits", "transmissions: t", "Gazebo",
                 "meshes that were not found"):  # fmt: skip
        assert told in report


def test_friction_is_carried_over_on_request():
    m = urdf_text(ARM, friction=True)
    assert m["shoulder_friction"].parameters["coulomb"] == 0.1
    assert "dry friction" not in "\n".join(m.notes)


def test_limits_become_stops_on_request():
    m = urdf_text(ARM, limits=True)
    s = m.build()
    q = s.q0.copy()
    q[s.q_slice("shoulder")] = 0.6
    free = urdf_text(ARM).build()
    pushed = s.inverse_dynamics(q, np.zeros(s.nv), np.zeros(s.nv), engine="plain")
    alone = free.inverse_dynamics(q, np.zeros(s.nv), np.zeros(s.nv), engine="plain")
    k = s.v_slice("shoulder").start
    inertia = free.mass_matrix(free.q0, engine="plain")[k, k]
    assert (pushed - alone)[k] == pytest.approx(inertia / 0.01**2 * 0.1, rel=1e-9)
    run = madi.simulate(m, 3.0, rtol=1e-6, start=({"shoulder": 0.4}, {"shoulder": 1.0}), engine="jit")
    assert np.max(np.abs(run["shoulder"])) < 0.56


@pytest.mark.parametrize(("text", "told"), [
    ("<!DOCTYPE robot [<!ENTITY a 'aaaa'>]><robot>&a;</robot>", "DOCTYPE"), ("<robot>", "is not XML"), ("<car/>", "no URDF file"),
    ("<robot><link name='a'/><link name='a'/></robot>", "used twice"), ("<robot/>", "exactly one link"),
    ("<robot><link name='a'/><link name='b'/></robot>", "exactly one link"),
    ("<robot><link name='a'/><link name='b'/><joint name='j' type='bend'><parent link='a'/><child link='b'/></joint></robot>", "type 'bend'"),
    ("<robot><link name='a'/><joint name='j' type='fixed'><parent link='a'/><child link='c'/></joint></robot>", "no link 'c'"),
    ("<robot><link name='a'><inertial><mass value='x'/><inertia/></inertial></link></robot>", "are not numbers"),
])  # fmt: skip
def test_a_wrong_urdf_is_told_with_its_line(text, told):
    with pytest.raises(madi.FileError) as error:
        urdf_text(text)
    assert told in str(error.value)


def test_files_are_read_from_their_folder_only(tmp_path):
    (tmp_path / "out.stl").write_text("solid a\nendsolid a\n")
    inner = tmp_path / "robot"
    inner.mkdir()
    (inner / "in.stl").write_text("solid a\nendsolid a\n")
    text = ARM.replace("package://hand/thumb.dae", "{}")
    (inner / "r.urdf").write_text(text.format("../out.stl"))
    assert "meshes that were not found: ../out.stl" in madi.load_urdf(inner / "r.urdf").notes
    (inner / "r.urdf").write_text(text.format("package://any/in.stl"))
    assert madi.load_urdf(inner / "r.urdf").bodies[2].visuals[0].file == (inner / "in.stl").resolve()
    with pytest.raises(madi.FileError, match="cannot be read"):
        madi.load_urdf(tmp_path / "none.urdf")


def test_odd_names_of_urdf_do_not_collide():
    link = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
    text = (f"<robot><link name='ground'/><link name='a@b'>{link}<visual><geometry><box size='0 0 0'/></geometry></visual></link>"
            f"<link name='c'>{link}</link><joint name='k.1' type='continuous'><parent link='ground'/><child link='a@b'/></joint>"
            "<joint name='k_1' type='continuous'><parent link='a@b'/><child link='c'/></joint></robot>")  # fmt: skip
    m = urdf_text(text)
    assert m.build().nv == 2
    assert "looks without size" in "\n".join(m.notes)


def test_an_imported_robot_becomes_a_model_file(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    model = madi.load_urdf(tmp_path / "arm.urdf", limits=True)
    back = madi.load(model.save(tmp_path / "arm.yaml"))
    one, two = model.build(), back.build()
    np.testing.assert_array_equal(one.layout.reals, two.layout.reals)
    np.testing.assert_array_equal(one.layout.ints, two.layout.ints)


def test_legal_files_are_not_refused():
    """A fixed joint needs no axis; a link may have inertia without mass; a name with a dot is changed, and that is said."""
    m = urdf_text("""<robot name="r"><link name="a"/>
      <link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
      <link name="c"><inertial><mass value="0"/><inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
      <joint name="joint_0.0" type="fixed"><parent link="a"/><child link="b"/><axis xyz="0 0 0"/></joint>
      <joint name="turn" type="continuous"><parent link="b"/><child link="c"/><axis xyz="0 0 1"/></joint></robot>""")
    assert "joint_0.0 is joint_0_0" in " ".join(m.notes)
    assert m.build().forward_dynamics([0.0], [0.0], [1.0]) == pytest.approx([10.0])
    m = mjcf_text('<mujoco><worldbody><body name="x"><joint name="j.0"/><geom size="1"/><body name="y"><joint name="j_0"/>'
                  '<geom size="1"/></body></body></worldbody></mujoco>')  # fmt: skip
    assert {joint.name for joint in m.joints} == {"j_0", "j_0_"}
    assert m["j_0"].child.name == "y"
    assert "j.0 is j_0_" in " ".join(m.notes)
