"""URDF against Pinocchio's own reader, MJCF against MuJoCo's compiler: the same accelerations at random states."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin
import pytest

import madi
from madi.imports.mjcf import mjcf_text
from madi.imports.urdf import urdf_text
from tests.mechanisms import random_inertia

# ---- URDF ------------------------------------------------------------------------------------------------------------


def random_urdf(rng, n):
    """A random tree of links with revolute, continuous, prismatic and fixed joints."""

    def triple(scale=1.0):
        return " ".join(f"{x:.6f}" for x in scale * rng.normal(size=3))

    parts = ['<robot name="random"><link name="l0"/>']
    for k in range(1, n + 1):
        mass = rng.uniform(0.5, 3)
        J = random_inertia(rng, mass)
        parts.append(
            f'<link name="l{k}"><inertial><origin xyz="{triple(0.3)}" rpy="{triple()}"/><mass value="{mass:.6f}"/>'
            f'<inertia ixx="{J[0, 0]:.9f}" ixy="{J[0, 1]:.9f}" ixz="{J[0, 2]:.9f}" iyy="{J[1, 1]:.9f}" iyz="{J[1, 2]:.9f}" '
            f'izz="{J[2, 2]:.9f}"/></inertial><collision><geometry><sphere radius="1"/></geometry></collision></link>'
        )
        kind = rng.choice(["revolute", "continuous", "prismatic", "fixed"]) if k > 1 else "revolute"
        limit = '<limit lower="-1" upper="1" effort="9" velocity="9"/>' if kind in ("revolute", "prismatic") else ""
        parts.append(
            f'<joint name="j{k}" type="{kind}"><origin xyz="{triple()}" rpy="{triple()}"/><parent link="l{rng.integers(0, k)}"/>'
            f'<child link="l{k}"/><axis xyz="{triple()}"/>{limit}</joint>'
        )
    return "".join(parts) + "</robot>"


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


ARM = """
<robot name="arm">
  <material name="steel"><color rgba="0.2 0.4 0.6 1"/></material>
  <link name="base"><visual><geometry><box size="0.2 0.2 0.1"/></geometry><material name="steel"/></visual></link>
  <link name="upper"><inertial><origin xyz="0 0 0.25"/><mass value="2"/><inertia ixx="0.04" iyy="0.04" izz="0.001"/></inertial>
    <visual><origin xyz="0 0 0.25"/><geometry><cylinder radius="0.03" length="0.5"/></geometry></visual></link>
  <link name="finger"><inertial><origin xyz="0 0 0.1"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.001"/></inertial></link>
  <link name="thumb"><inertial><origin xyz="0 0 0.1"/><mass value="1"/><inertia ixx="0.01" iyy="0.01" izz="0.001"/></inertial>
    <visual><geometry><mesh filename="package://hand/thumb.dae"/></geometry></visual></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 1 0"/>
    <limit lower="-0.5" upper="0.5" effort="10" velocity="3"/><dynamics damping="0.3" friction="0.1"/></joint>
  <joint name="a" type="continuous"><origin xyz="0 0 0.5"/><parent link="upper"/><child link="finger"/><axis xyz="0 1 0"/></joint>
  <joint name="b" type="continuous"><origin xyz="0 0 0.5"/><parent link="upper"/><child link="thumb"/><axis xyz="0 1 0"/>
    <mimic joint="a" multiplier="-2" offset="0.1"/></joint>
  <transmission name="t"/><gazebo reference="upper"/>
</robot>"""


def test_mimic_joints_damping_looks_and_a_report():
    m = urdf_text(ARM)
    assert [c.kind for c in m.constraints] == ["coupler"]
    start = m.build().start
    at = dict(zip(m.build().coordinates, start.q, strict=True))
    assert at["a"] == pytest.approx(0.0, abs=1e-12)
    assert at["b"] == pytest.approx(0.1, abs=1e-12), "the follower starts where its rule has it"
    run = madi.simulate(m, 0.5, step=1e-3, q0={"shoulder": 0.2, "a": 0.3}, engine="jit")
    np.testing.assert_allclose(run["b"], -2 * run["a"] + 0.1, atol=1e-10)
    assert m.ground.visuals[0].color == "#336699"
    assert [v.kind for v in m.bodies[0].visuals] == ["cylinder"]
    report = "\n".join(m.notes)
    for told in ("dry friction of joints: shoulder", "limits of joints", "effort limits", "transmissions: t", "Gazebo",
                 "meshes that were not found"):  # fmt: skip
        assert told in report


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
    run = madi.simulate(m, 3.0, rtol=1e-6, q0={"shoulder": 0.4}, v0={"shoulder": 1.0}, engine="jit")
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


# ---- MJCF ------------------------------------------------------------------------------------------------------------

POSES = ('quat="{}"', 'euler="{}"', 'axisangle="{}"', 'xyaxes="{}"', 'zaxis="{}"')


def random_mjcf(rng, n, free):
    """Nested bodies with hinges, slides, balls, several joints in one body; masses of geoms or given."""

    def some(count, scale=1.0):
        return " ".join(f"{x:.6f}" for x in scale * rng.normal(size=count))

    def pose():
        text = POSES[rng.integers(0, 5)]
        count = {"q": 4, "e": 3, "a": 4, "x": 6, "z": 3}[text[0]]
        return f'pos="{some(3, 0.5)}" ' + text.format(some(count, 40.0 if text[0] == "e" else 1.0))

    def geom(k):
        kind = ("box", "sphere", "capsule", "cylinder", "ellipsoid")[rng.integers(0, 5)]
        size = " ".join(f"{x:.4f}" for x in rng.uniform(0.05, 0.2, 3))
        if kind == "capsule" and rng.random() < 0.5:
            return f'<geom type="capsule" fromto="{some(6, 0.3)}" size="0.05"/>'
        return f'<geom type="{kind}" size="{size}" {pose()} density="{rng.uniform(500, 2000):.2f}"/>'

    def body(k, left):
        joints = []
        for j in range(rng.integers(1, 3)):
            kind = ("hinge", "slide", "ball")[rng.integers(0, 3)] if j == 0 else "hinge"
            if joints and 'type="ball"' in joints[0]:  # MuJoCo has no rotation after a ball
                break
            spring = f'stiffness="{rng.uniform(0, 9):.3f}" springref="20"' if kind == "hinge" else ""
            damped = f'damping="{rng.uniform(0, 2):.3f}"' if kind != "ball" else ""
            joints.append(f'<joint name="j{k}_{j}" type="{kind}" pos="{some(3, 0.2)}" axis="{some(3)}" {damped} {spring}/>')
        if free and k == 0:
            joints = ['<freejoint name="root"/>']
        mass = ""
        if rng.random() < 0.3:
            mass = f'<inertial pos="{some(3, 0.1)}" mass="{rng.uniform(1, 3):.3f}" diaginertia="0.1 0.12 0.15" quat="{some(4)}"/>'
        inner = body(k + 1, left - 1) if left > 1 else ""
        return f'<body name="b{k}" {pose()}>{"".join(joints)}{mass}{geom(k)}{geom(k)}{inner}</body>'

    return f'<mujoco model="random"><option gravity="1 2 -9"/><worldbody>{body(0, n)}</worldbody></mujoco>'


def compared(text, rng, closed=False):
    """Accelerations of both at one state: by joint, ours and MuJoCo's."""
    s = mjcf_text(text).build()
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_LIMIT
    data = mujoco.MjData(model)
    q, v = s.q0.copy(), np.zeros(s.nv)
    for k in range(model.njnt):
        name, kind = model.joint(k).name, int(model.jnt_type[k])
        a, l = model.jnt_qposadr[k], model.jnt_dofadr[k]
        if kind == int(mujoco.mjtJoint.mjJNT_FREE):
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, data.qpos[3:7])
            R = R.reshape(3, 3)
            speed = rng.normal(size=6)
            v[s.v_slice(name)] = speed
            data.qvel[l : l + 3], data.qvel[l + 3 : l + 6] = R @ speed[:3], speed[3:]
        elif kind == int(mujoco.mjtJoint.mjJNT_BALL):
            turn = rng.normal(size=4)
            turn /= np.linalg.norm(turn)
            rate = rng.normal(size=3)
            q[s.q_slice(name)], v[s.v_slice(name)] = turn, rate
            data.qpos[a : a + 4], data.qvel[l : l + 3] = turn, rate
        else:
            x, rate = rng.uniform(-1, 1, 2)
            q[s.q_slice(name)], v[s.v_slice(name)] = x, rate
            data.qpos[a] = model.qpos0[a] + x
            data.qvel[l] = rate
    mujoco.mj_forward(model, data)
    ours = s.forward_dynamics(q, v, engine="plain")
    pairs = []
    for k in range(model.njnt):
        name, l = model.joint(k).name, model.jnt_dofadr[k]
        width = {0: 6, 1: 3}.get(int(model.jnt_type[k]), 1)  # free, ball
        theirs, mine = data.qacc[l : l + width].copy(), ours[s.v_slice(name)].copy()
        if width == 6:  # ours: rate of the velocity in body axes; theirs: acceleration in the ground's
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, data.qpos[3:7])
            R = R.reshape(3, 3)
            u, w = v[s.v_slice(name)][:3], v[s.v_slice(name)][3:]
            mine[:3] = R @ (mine[:3] + np.cross(w, u))
        pairs.append((name, mine, theirs))
    return pairs


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("free", [False, True])
def test_an_mjcf_model_moves_as_in_mujoco(seed, free):
    rng = np.random.default_rng(seed)
    for name, mine, theirs in compared(random_mjcf(rng, 4, free), rng):
        np.testing.assert_allclose(mine, theirs, rtol=2e-6, atol=2e-6 * np.max(np.abs(theirs)), err_msg=name)


LOOP = """
<mujoco model="four-bar">
  <compiler angle="radian"/>
  <default><default class="bar"><geom type="capsule" size="0.02" density="2000"/><joint axis="0 1 0" damping="0.01"/></default></default>
  <worldbody>
    <body name="a" childclass="bar"><joint name="A"/><geom fromto="0 0 0 0 0 0.5"/>
      <body name="b" pos="0 0 0.5"><joint name="B"/><geom fromto="0 0 0 0.8 0 0.1"/></body></body>
    <body name="c" pos="1 0 0" childclass="bar"><joint name="C" range="-1 1"/><geom fromto="0 0 0 -0.2 0 0.6"/></body>
  </worldbody>
  <equality><connect name="close" body1="b" body2="c" anchor="0.8 0 0.1"/></equality>
  <actuator><motor joint="A"/></actuator>
</mujoco>"""


def test_equality_connect_closes_a_loop_as_mujoco_does():
    """MuJoCo's constraint is soft; made very stiff, its motion over a short time is ours."""
    m = mjcf_text(LOOP)
    assert m.build().cut_joints == ["close"]
    run = madi.simulate(m, 0.3, rtol=1e-8, times=[0.0, 0.15, 0.3], engine="jit")
    hard = LOOP.replace('anchor="0.8 0 0.1"', 'anchor="0.8 0 0.1" solref="0.0004 1" solimp="0.9999 0.9999 0.001"')
    model = mujoco.MjModel.from_xml_string(hard)
    model.opt.timestep, model.opt.integrator = 1e-4, mujoco.mjtIntegrator.mjINT_RK4
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    data = mujoco.MjData(model)
    for _ in range(3000):
        mujoco.mj_step(model, data)
    for name in "ABC":
        assert run[name][-1] == pytest.approx(data.joint(name).qpos[0], abs=2e-4)
    assert run.data["violation"].max() < 1e-9
    assert "<actuator>" in "\n".join(m.notes)


def test_welds_ratios_and_frames():
    text = """<mujoco><compiler angle="radian"/><worldbody>
      <body name="a"><joint name="p" axis="0 0 1"/><geom type="box" size="0.1 0.2 0.3"/></body>
      <frame pos="1 0 0" euler="0 0 0.5"><body name="b"><joint name="q" axis="0 0 1" ref="0.3"/><geom type="sphere" size="0.2"/>
      </body></frame><body name="c" pos="0 1 0"><freejoint/><geom type="sphere" size="0.1"/></body></worldbody>
      <equality><joint joint1="p" joint2="q" polycoef="0.2 -3 0 0 0"/><weld body1="a" body2="c"/></equality></mujoco>"""
    m = mjcf_text(text)
    s = m.build()
    assert s.mobility().degrees_of_freedom == 1
    (rule,) = m.constraints
    assert (rule.parameters["ratio"], rule.parameters["offset"]) == (-3.0, 0.2)
    np.testing.assert_allclose(np.asarray(m.bodies[1].position), [1, 0, 0])


BOX = '<geom type="box" size="0.1 0.2 0.3" density="1000"/>'
SETTINGS = {
    "joint in a frame": f'<worldbody><body><frame pos="0.1 0.2 0" euler="30 0 0"><joint name="j" axis="0 1 0" pos="0 0 0.1"/></frame>{BOX}</body></worldbody>',
    "inertial in a frame": f'<worldbody><body><joint name="j"/><frame pos="0.3 0 0" euler="0 0 40"><inertial pos="0 0.1 0" mass="2" diaginertia="1 2 2.5"/></frame>{BOX}</body></worldbody>',
    "two sections of defaults": '<default><geom density="500"/></default><default><joint damping="3"/></default><worldbody><body><joint name="j" axis="0 1 0"/><geom type="box" size="0.1 0.2 0.3" pos="0.4 0 0"/></body></worldbody>',
    "box from a line": '<worldbody><body><joint name="j" axis="0 1 0"/><geom type="box" size="0.1 0.2" fromto="0 0 0 0.3 0.2 0.5"/></body></worldbody>',
    "ellipsoid from a line": '<worldbody><body><joint name="j" axis="0 1 0"/><geom type="ellipsoid" size="0.1 0.2" fromto="0 0 0 0.3 0.2 0.5"/></body></worldbody>',
    "total mass": '<compiler settotalmass="5"/><worldbody><body><joint name="j" axis="0 1 0" damping="2"/><geom type="box" size="0.1 0.2 0.3" pos="0.5 0 0"/></body></worldbody>',
    "bounds": '<compiler boundmass="500" boundinertia="50"/><worldbody><body><joint name="j" axis="0 1 0" damping="2"/><geom type="box" size="0.1 0.2 0.3" pos="0.5 0 0"/></body></worldbody>',
    "groups": '<compiler inertiagrouprange="0 1"/><worldbody><body><joint name="j" axis="0 1 0"/><geom type="box" size="0.1 0.2 0.3" pos="0.5 0 0"/><geom group="3" size="0.3"/></body></worldbody>',
    "balance": '<compiler balanceinertia="true"/><worldbody><body><joint name="j" axis="0 1 0"/><inertial pos="0.2 0 0" mass="1" diaginertia="1 1 3"/></body></worldbody>',
    "no gravity": '<option><flag gravity="disable"/></option><worldbody><body><joint name="j" axis="0 1 0" stiffness="5" springref="20"/><geom size="0.2" pos="0.5 0 0"/></body></worldbody>',
    "two sections of options": '<option timestep="0.001"/><option gravity="1 0 -3"/><worldbody><body><joint name="j" axis="0 1 0"/><geom size="0.2" pos="0.5 0 0"/></body></worldbody>',
    "own turn before the class's": '<default><geom quat="0.7 0.7 0 0"/></default><worldbody><body><joint name="j" axis="0 1 0"/><geom type="box" size="0.1 0.2 0.3" pos="0.5 0 0" euler="0 30 20"/></body></worldbody>',
}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_of_mjcf_that_change_masses_and_motion_are_followed(name):
    text = f"<mujoco>{SETTINGS[name]}</mujoco>"
    for joint, mine, theirs in compared(text, np.random.default_rng(1)):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-9, err_msg=joint)


def test_what_mjcf_says_and_madi_does_not_is_noted():
    text = """<mujoco><compiler fitaabb="true"/><default><equality active="false"/></default><worldbody>
      <body name="a"><joint springdamper="0.5 0.7"/><geom size="0.1" shellinertia="true"/></body></worldbody>
      <equality><connect body1="a" anchor="0 0 0"/></equality></mujoco>"""
    m = mjcf_text(text)
    assert m.build().cut_joints == [], "inactive by its class"
    told = "\n".join(m.notes)
    for word in ("compiler settings: fitaabb", "springdamper", "shells"):
        assert word in told


def test_odd_names_of_urdf_do_not_collide():
    link = "<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"
    text = (f"<robot><link name='ground'/><link name='a@b'>{link}<visual><geometry><box size='0 0 0'/></geometry></visual></link>"
            f"<link name='c'>{link}</link><joint name='k.1' type='continuous'><parent link='ground'/><child link='a@b'/></joint>"
            "<joint name='k_1' type='continuous'><parent link='a@b'/><child link='c'/></joint></robot>")  # fmt: skip
    m = urdf_text(text)
    assert m.build().nv == 2
    assert "looks without size" in "\n".join(m.notes)


@pytest.mark.parametrize(("text", "told"), [
    ("<!DOCTYPE m SYSTEM 'http://x'><mujoco/>", "DOCTYPE"), ("<robot/>", "no MJCF"), ("<mujoco/>", "has no bodies"),
    ("<mujoco><worldbody><body><joint type='weird'/></body></worldbody></mujoco>", "type 'weird'"),
    ("<mujoco><worldbody><body><geom type='box' size='1'/></body></worldbody></mujoco>", "needs 3 size"),
    ("<mujoco><worldbody><body childclass='x'><geom size='1'/></body></worldbody></mujoco>", "no default class 'x'"),
    ("<mujoco><include file='other.xml'/></mujoco>", "not read here"),
    ("<mujoco><worldbody><replicate count='99'><body/></replicate></worldbody></mujoco>", "write the bodies out"),
    ("<mujoco><worldbody><body name='a'/></worldbody><equality><connect body1='a' body2='b' anchor='0 0 0'/></equality></mujoco>", "no body 'b'"),
    ("<mujoco><default class='foo'/><worldbody><body/></worldbody></mujoco>", "called main"),
    ("<mujoco><worldbody><body><geom size='1' mass='-1'/></body></worldbody></mujoco>", "mass is negative"),
    ("<mujoco><worldbody><body quat='0 0 0 0'/></worldbody></mujoco>", "quat is zero"),
])  # fmt: skip
def test_a_wrong_mjcf_is_told_with_its_line(text, told):
    with pytest.raises(madi.FileError) as error:
        mjcf_text(text)
    assert told in str(error.value)


def test_an_imported_robot_becomes_a_model_file(tmp_path):
    (tmp_path / "arm.urdf").write_text(ARM)
    model = madi.load_urdf(tmp_path / "arm.urdf", limits=True)
    back = madi.load(model.save(tmp_path / "arm.yaml"))
    one, two = model.build(), back.build()
    np.testing.assert_array_equal(one.layout.reals, two.layout.reals)
    np.testing.assert_array_equal(one.layout.ints, two.layout.ints)


def hand():
    """24 joints, each with a range and some with a rotor: a wrist of four, five fingers of four."""
    fingers = ""
    for f in range(5):
        inner = ""
        for k in reversed(range(4)):
            axis, low, high = ("0 1 0", -20, 90) if k else ("1 0 0", -15, 15)
            at = "0.04 0 0" if k else f"0.05 {0.02 * (f - 2):g} 0"
            inner = (
                f'<body name="f{f}l{k}" pos="{at}"><joint name="f{f}j{k}" axis="{axis}" range="{low} {high}" armature="1e-5" '
                f'damping="0.005"/><geom type="capsule" fromto="0 0 0 0.04 0 0" size="0.008"/>{inner}</body>'
            )
        fingers += inner
    wrist = fingers
    for k, (axis, reach) in enumerate((("0 1 0", 30), ("0 0 1", 30), ("0 1 0", 60), ("1 0 0", 90))):
        wrist = (
            f'<body name="w{k}"><joint name="w{k}" axis="{axis}" range="{-reach} {reach}" armature="1e-4"/>'
            f'<geom type="box" size="0.03 0.03 0.02"/>{wrist}</body>'
        )
    return f"<mujoco><worldbody>{wrist}</worldbody></mujoco>"


def test_a_hand_with_limits_runs():
    """It falls into its stops with explicit and implicit methods, and comes to one place with all of them."""
    s = mjcf_text(hand(), limits=True).build()
    assert s.nv == 24
    ends = []
    for options in ({"rtol": 1e-5}, {"rtol": 1e-4, "method": "radau"}, {"step": 1e-3, "method": "newmark"}):
        run = madi.simulate(s, 1.0, times=[1.0], engine="jit", **options)
        ends.append(run.data["q"].values[-1])
        for f in range(5):
            assert -np.radians(25) < run[f"f{f}j1"][-1] < np.radians(95)
    np.testing.assert_allclose(ends[1], ends[0], atol=2e-3)
    np.testing.assert_allclose(ends[2], ends[0], atol=2e-3)


def test_armature_is_mujoco_s():
    import mujoco

    model = mujoco.MjModel.from_xml_string(hand())
    off = mujoco.mjtDisableBit
    model.opt.disableflags = off.mjDSBL_LIMIT | off.mjDSBL_CONTACT | off.mjDSBL_CONSTRAINT
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    data.qpos[:], data.qvel[:] = 0.1 * rng.normal(size=24), rng.normal(size=24)
    mujoco.mj_forward(model, data)
    s = mjcf_text(hand()).build()
    places = [s.speeds.index(model.joint(k).name) for k in range(24)]
    q, v = np.zeros(24), np.zeros(24)
    q[places], v[places] = data.qpos, data.qvel
    for formulation in ("recursive", "articulated", "velocity-transform"):
        found = s.forward_dynamics(q, v, formulation=formulation)[places]
        np.testing.assert_allclose(found, data.qacc, rtol=1e-9, atol=1e-9 * np.max(np.abs(data.qacc)))


def test_what_a_file_says_and_the_model_does_not_is_told_wherever_it_is_read(tmp_path):
    (tmp_path / "hand.xml").write_text(hand())
    with pytest.warns(madi.MadiWarning, match=r"hand.xml: not carried over: ranges of joints .* \(24\): .* and 16 more"):
        m = madi.load_mjcf(tmp_path / "hand.xml")
    assert len(m.notes) == 1
    assert m.notes[0].count(",") >= 23  # every one is named
    run = madi.simulate(m, 0.01, step=0.01, engine="plain")
    assert run.data.attrs["notes"] == m.notes[0]
    assert madi.load_run(run.save(tmp_path / "run.nc")).data.attrs["notes"] == m.notes[0]
    assert madi.load(m.save(tmp_path / "hand.yaml")).notes == m.notes
    assert "not carried over" in str(madi.check(m))


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
