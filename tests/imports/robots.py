"""Robots in URDF and MJCF that several tests use."""

from __future__ import annotations

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
