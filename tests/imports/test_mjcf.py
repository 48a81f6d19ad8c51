"""MJCF against MuJoCo's compiler: the same accelerations at random states; what is wrong is told."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import madi
from madi.imports.mjcf import mjcf_text
from tests.imports.robots import LOOP, random_mjcf


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


@pytest.mark.parametrize("size", ["1e308", "1e200", "nan", "inf"])
def test_sizes_no_mechanism_has(size):
    with pytest.raises(madi.FileError, match="finite number"):
        mjcf_text(f'<mujoco><worldbody><body><freejoint/><geom type="sphere" size="{size}"/></body></worldbody></mujoco>')
