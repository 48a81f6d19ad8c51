"""docs/theory/joints.md and coordinates.md: tables of columns, biases, rows and weights, in NumPy, beside the kernels."""

import re
from pathlib import Path

import numpy as np
import pytest

import madi
from madi.joints import KINDS
from madi.joints.ladder import drawn_subspace, local_bias, local_pose
from madi.spatial.rotation import as_rotation
from madi.topology.frames import joint_frame
from tests.mechanisms import add_joint, moved, random_inertia, random_state, rotation
from tests.spatial.test_theory import cross, cross_dual, skew

DOCS = Path(__file__).parents[2] / "docs"
JOINTS = [name for name in KINDS if name != "modal"]
X, Y, Z = np.eye(3)


def turn(axis, angle):
    w = skew(axis)
    return np.eye(3) + np.sin(angle) * w + (1 - np.cos(angle)) * w @ w


def quaternion(q):
    return as_rotation(q, "")


def printed(kind, q, v, zeta):
    """(E, p, S, S° v) as the page's table has them."""
    none, two = np.zeros(3), lambda u, e: np.concatenate([u, e])
    bias = np.zeros(6)
    if kind == "revolute":
        return turn(Z, q[0]), none, [two(none, Z)], bias
    if kind == "prismatic":
        return np.eye(3), q[0] * Z, [two(Z, none)], bias
    if kind == "screw":
        return turn(Z, q[0]), zeta * q[0] * Z, [two(zeta * Z, Z)], bias
    if kind == "cylindrical":
        return turn(Z, q[1]), q[0] * Z, [two(Z, none), two(none, Z)], bias
    if kind == "universal":
        x1 = turn(Z, q[0]) @ X
        return turn(Z, q[0]) @ turn(X, q[1]), none, [two(none, Z), two(none, x1)], two(none, np.cross(Z, x1)) * v[0] * v[1]
    if kind == "spherical":
        E = quaternion(q)
        return E, none, [two(none, e) for e in E.T], bias
    if kind == "planar":
        p, rate = q[0] * X + q[1] * Y, v[0] * X + v[1] * Y
        columns = [two(X, none), two(Y, none), two(np.cross(p, Z), Z)]
        return turn(Z, q[2]), p, columns, two(np.cross(rate, Z), none) * v[2]
    if kind == "free":
        E, p = quaternion(q[3:]), q[:3]
        return E, p, [two(e, none) for e in E.T] + [two(np.cross(p, e), e) for e in E.T], bias
    return np.eye(3), none, [], bias


def one_state(kind, rng):
    q, v = rng.normal(size=KINDS[kind].nq), rng.normal(size=KINDS[kind].nv)
    if KINDS[kind].quaternion is not None:
        q[KINDS[kind].quaternion :] /= np.linalg.norm(q[KINDS[kind].quaternion :])
    return q, v


@pytest.mark.parametrize("kind", JOINTS)
def test_table_of_columns(kind):
    rng = np.random.default_rng(4)
    for _ in range(5):
        q, v = one_state(kind, rng)
        zeta = 0.37
        E, p, columns, bias = printed(kind, q, v, zeta)
        S, R, r, b = np.zeros((6, 6)), np.zeros((3, 3)), np.zeros(3), np.zeros(6)
        drawn_subspace(KINDS[kind].code, zeta, q, R, r, S)
        local_bias(KINDS[kind].code, q, 0, v, 0, b)
        assert len(columns) == KINDS[kind].nv
        np.testing.assert_allclose(S[: len(columns)], np.reshape(columns, (-1, 6)), atol=1e-14)
        np.testing.assert_allclose(b, bias, atol=1e-14)
        if KINDS[kind].code > KINDS["screw"].code:
            local_pose(KINDS[kind].code, q, 0, R, r)
            np.testing.assert_allclose(R, E, atol=1e-14)
            np.testing.assert_allclose(r, p, atol=1e-14)


def along(kind, q, v, t):
    """Coordinates after t at constant generalised velocities, to second order."""
    at = KINDS[kind].quaternion
    if at is None:
        return q + t * v
    w = v[at:] if at == 0 else v[3:]
    angle = np.linalg.norm(w)
    half = 0.5 * t * angle
    e = np.concatenate([[np.cos(half)], np.sin(half) * w / angle])
    a, b = q[at:], e
    turned = np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])
    if at == 0:
        return turned
    E = quaternion(q[3:])
    return np.concatenate([q[:3] + E @ (t * v[:3] + 0.5 * t * t * np.cross(w, v[:3])), turned])


@pytest.mark.parametrize("kind", [kind for kind in JOINTS if kind != "fixed"])
def test_columns_and_bias_are_rates(kind):
    """(u, e) = (p' + p x e, e) with E' E^T = e~, and S° v is the rate of S v, by differences of the printed pose."""
    rng = np.random.default_rng(5)
    q, v = one_state(kind, rng)
    h, zeta = 1e-5, 0.37
    E, p, columns, bias = printed(kind, q, v, zeta)
    (E1, p1, S1, _), (E0, p0, S0, _) = (printed(kind, along(kind, q, v, t), v, zeta) for t in (h, -h))
    W, rate = (E1 - E0) / (2 * h) @ E.T, (p1 - p0) / (2 * h)
    e = np.array([W[2, 1], W[0, 2], W[1, 0]])
    np.testing.assert_allclose(np.concatenate([rate + np.cross(p, e), e]), np.array(columns).T @ v, atol=1e-8)
    np.testing.assert_allclose((np.array(S1).T @ v - np.array(S0).T @ v) / (2 * h), bias, atol=1e-8)


@pytest.mark.parametrize("kind", JOINTS)
@pytest.mark.parametrize("backwards", [False, True])
def test_columns_in_the_tree(kind, backwards):
    """B = ± X_F S and D = Y_parent x (B v) ± X_F S° v, F as the drawing has it, whichever way the tree walks."""
    rng = np.random.default_rng(6 + backwards)
    m = madi.Model(kind, gravity=(0, 0, 0))
    m.body("carrier", mass=1, inertia=(1, 1, 1), position=rng.normal(size=3), orientation=rotation(rng))
    m.body("child", mass=1, inertia=(1, 1, 1), position=rng.normal(size=3), orientation=rotation(rng))
    m.revolute("turn", m.ground, "carrier", at=rng.normal(size=3), axis=rng.normal(size=3))
    ends = ("child", "carrier") if backwards else ("carrier", "child")
    add_joint(m, rng, kind, "J", *ends, at=rng.normal(size=3))
    s = m.build(frame="ground")
    q, v, _ = random_state(rng, s)
    s.observe(q, v, engine="plain")
    work, model = s.engine("plain").work, s.layout.arrays
    state, bias_of = work.Y.copy(), work.A.copy()  # body_pose below starts afresh
    joint, bodies = m.joints[1], {body.name: body for body in m.bodies}
    drawn = joint_frame(joint, bodies[ends[1]], False)
    parent = bodies[ends[0]]
    r, R = s.body_pose(q, ends[0], engine="plain")
    carried = R @ as_rotation(parent.orientation, "").T  # from the drawing to now
    E_F = carried @ drawn.R
    o_F = r + carried @ (drawn.r - np.asarray(parent.position)) - work.frame_r[model.frame[1]]

    def shifted(x):
        return np.concatenate([E_F @ x[:3] + np.cross(o_F, E_F @ x[3:]), E_F @ x[3:]])

    sign = -1 if backwards else 1
    columns, bias = printed(kind, q[s.q_slice("J")], v[s.v_slice("J")], float(joint.pitch) / (2 * np.pi))[2:]
    B = np.reshape([sign * shifted(column) for column in columns], (-1, 6))
    np.testing.assert_allclose(work.B[s.v_slice("J")], B, atol=1e-12)
    relative = B.T @ v[s.v_slice("J")]
    D = cross(state[1], relative) + sign * shifted(bias)
    np.testing.assert_allclose(state[2] - state[1], relative, atol=1e-12)
    np.testing.assert_allclose(bias_of[2] - bias_of[1], D, atol=1e-11)


# ---- rows ------------------------------------------------------------------------------------------------------------


def two_bodies(kind, rng, drive=None):
    m = madi.Model("pair", gravity=rng.normal(size=3))
    for name in "ab":
        m.body(name, 1.3, com=rng.normal(size=3) * 0.2, inertia=random_inertia(rng, 1.3), position=rng.normal(size=3),
               orientation=rotation(rng))  # fmt: skip
        m.free(name, m.ground, name)
    if kind == "distance":
        m.distance("C", "a", "b", at=(rng.normal(size=3), rng.normal(size=3)))
        return m
    add_joint(m, rng, kind, "C", "a", "b", rng.normal(size=3))
    m.joints[-1].cut = True
    if drive is not None:
        m.drive("C", drive)
    return m


def state_of(s, q, v, name):
    """Motion vector about the ground's origin and its rate for qdd = 0, as observed: v' = r'' - w' x r - w x r'."""
    seen, k = s.observe(q, v, engine="plain"), s.bodies.index(name)
    r, u, w = seen.position[0, k], seen.velocity[0, k], seen.angular_velocity[0, k]
    e = seen.angular_acceleration[0, k]
    rate = seen.acceleration[0, k] - np.cross(e, r) - np.cross(w, u)
    return np.concatenate([u - np.cross(w, r), w]), np.concatenate([rate, e])


def rows_printed(s, m, kind, q, v, drive=(0.0, 0.0, 0.0)):
    """Phi, psi, extra of every row, as printed, and dY, A_b - A_a - Y_a x dY."""
    Ya, Aa = state_of(s, q, v, "a")
    Yb, Ab = state_of(s, q, v, "b")
    E, o = [], []
    constraint = m.constraints[0] if kind == "distance" else m.joints[-1]
    bodies = {body.name: body for body in m.bodies}
    drawn = None if kind == "distance" else joint_frame(constraint, bodies["b"], False)
    for k, name in enumerate("ab"):
        r, R = s.body_pose(q, name, engine="plain")
        carried = R @ as_rotation(bodies[name].orientation, "").T
        point = np.asarray(constraint.at[k] if kind == "distance" else drawn.r)
        E.append(carried @ (np.eye(3) if drawn is None else drawn.R))
        o.append(r + carried @ (point - np.asarray(bodies[name].position)))
    dY = Yb - Ya
    oab, w = o[1] - o[0], dY[3:]
    u = dY[:3] + np.cross(w, o[1])
    (xa, ya, za), (xb, _, zb) = E[0].T, E[1].T
    none = np.zeros(3)
    angle = np.arctan2(ya @ xb, xa @ xb)

    def force(f, n):
        return np.concatenate([f, n])

    def perpendicular(g, s):
        return g @ s, force(none, np.cross(g, s)), np.cross(np.cross(w, g), s) @ w

    def one(name):
        if name in ("tx", "ty", "tz"):
            e = E[0][:, "xyz".index(name[1])]
            return e @ oab, force(e, np.cross(o[1], e)), np.cross(u, e) @ w
        pairs = {"rx": (-zb, ya), "ry": (zb, xa), "rz": (xb, ya), "cross": (xb, za)}
        if name in pairs:
            return perpendicular(*pairs[name])
        if name == "angle":
            return angle - drive[0], force(none, za), 0.0
        if name == "screw":
            zeta = float(constraint.pitch) / (2 * np.pi)
            advance = za @ oab - zeta * angle
            advance -= 2 * np.pi * zeta * np.round(advance / (2 * np.pi * zeta))
            return advance, force(za, np.cross(o[1], za) - zeta * za), np.cross(u, za) @ w
        length = np.linalg.norm(np.subtract(*constraint.at))
        e = oab / length
        phi = (oab @ oab - length**2) / (2 * length)
        return phi, force(e, np.cross(o[1], e)), u @ u / length + np.cross(u, e) @ w

    names = ["distance"] if kind == "distance" else KINDS[kind].cut.split() + (["angle"] if drive[0] else [])
    phi, psi, extra = (np.array(x) for x in zip(*[one(name) for name in names], strict=True))
    return phi, psi, extra, dY, Ab - Aa - cross(Ya, dY), Ya


@pytest.mark.parametrize("kind", ["distance", *[kind for kind in JOINTS if KINDS[kind].cut]])
def test_table_of_rows(kind):
    """Residuals, psi, rates and gamma of the page, on two free bodies anywhere (open loops included)."""
    rng = np.random.default_rng(11)
    m = two_bodies(kind, rng)
    s = m.build(frame="ground")
    for _ in range(3):
        q, v = moved(s, s.q0, 0.4 * rng.normal(size=s.nv)), rng.normal(size=s.nv)
        phi, rate, gamma, J = s.constraint_terms(q, v, engine="plain")
        found, psi, extra, dY, relative, Ya = rows_printed(s, m, kind, q, v)
        np.testing.assert_allclose(phi, found, atol=1e-12)
        np.testing.assert_allclose(rate, psi @ dY, atol=1e-11)
        np.testing.assert_allclose(gamma, -psi @ relative - extra, atol=1e-10)
        # Phi_q: power of psi on the columns of b, less that on the columns of a
        columns = []
        for c in np.eye(s.nv):
            (Yb, _), (Y_a, _) = state_of(s, q, c, "b"), state_of(s, q, c, "a")
            columns.append(psi @ (Yb - Y_a))
        np.testing.assert_allclose(J, np.array(columns).T, atol=1e-11)
        # psi' = Y_a x* psi + psi°, in the product with dY
        carried = [cross_dual(Ya, row) @ dY for row in psi]
        np.testing.assert_allclose(carried, -psi @ cross(Ya, dY), atol=1e-11)


def test_driven_row():
    """Phi' = psi . dY - chi', gamma has chi''."""
    rng = np.random.default_rng(12)

    def chi(t):
        return 0.3 + 0.2 * t + 0.5 * t * t

    m = two_bodies("revolute", rng, drive=chi)
    s = m.build(frame="ground")
    t = 0.4
    q = s.assemble(moved(s, s.q0, 0.1 * rng.normal(size=s.nv)), t=t).q
    v = rng.normal(size=s.nv)
    phi, rate, gamma, _ = s.constraint_terms(q, v, t, engine="plain")
    found, psi, extra, dY, relative, _ = rows_printed(s, m, "revolute", q, v, (chi(t), 0.2 + t, 1.0))
    wanted = np.array([0, 0, 0, 0, 0, 1.0])
    np.testing.assert_allclose(phi, found, atol=1e-11)
    np.testing.assert_allclose(rate, psi @ dY - wanted * (0.2 + t), atol=1e-11)
    np.testing.assert_allclose(gamma, wanted * 1.0 - psi @ relative - extra, atol=1e-10)


@pytest.mark.parametrize("kind", ["spherical", "revolute", "distance"])
def test_load_of_a_multiplier(kind):
    """-psi lam acts on b: it is what b's acceleration needs beside its weight; a gets the opposite."""
    rng = np.random.default_rng(13)
    m = two_bodies(kind, rng)
    s = m.build(frame="ground")
    start = s.assemble(s.q0, rng.normal(size=s.nv))
    out = s._evaluate("multipliers", start.q, start.v, np.zeros(s.nv), 0.0, "plain")
    a, lam = out[: s.nv], out[s.nv :]
    psi = rows_printed(s, m, kind, start.q, start.v)[1]
    seen = s.observe(start.q, start.v, a=a, engine="plain")
    for name, sign in (("a", 1.0), ("b", -1.0)):
        k = s.bodies.index(name)
        body, R = m.bodies[k], seen.rotation[0, k]
        arm, w, e = R @ np.asarray(body.com), seen.angular_velocity[0, k], seen.angular_acceleration[0, k]
        c = seen.acceleration[0, k] + np.cross(e, arm) + np.cross(w, np.cross(w, arm))
        J = R @ np.asarray(body.inertia) @ R.T
        f = body.mass * (c - np.asarray(m.gravity))
        n = J @ e + np.cross(w, J @ w) + np.cross(seen.position[0, k] + arm, f)
        np.testing.assert_allclose(sign * psi.T @ lam, np.concatenate([f, n]), atol=1e-7)
    load = s.reactions(start.q, start.v, joints="C")["C"]
    np.testing.assert_allclose(load.force, -psi.T[:3] @ lam, atol=1e-7)


# ---- what the pages say of types --------------------------------------------------------------------------------------


def table(page, header):
    """Rows of the table whose header starts so."""
    lines = (DOCS / "theory" / page).read_text().splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith(f"| {header} |")) + 2
    found = []
    while lines[at].startswith("|"):
        found.append([cell.strip() for cell in lines[at].strip("|").split("|")])
        at += 1
    return found


def test_weights_are_those_of_the_page():
    rows = table("coordinates.md", "joint")
    assert {row[0].split()[0] for row in rows} == set(JOINTS)
    for name, weight, dof, cut in rows:
        kind = KINDS[name.split()[0]]
        assert (float(weight), int(dof), int(cut)) == (kind.weight, kind.nv, len(kind.cut.split()))


def test_rows_are_those_of_the_page():
    rows = table("joints.md", "cut joint")
    assert {row[0] for row in rows} == set(JOINTS)
    for name, cut, driven in rows:
        words = " ".join(re.findall(r"`([^`]+)`", cut)).split()
        assert words == KINDS[name].cut.split()
        assert tuple(re.findall(r"`([^`]+)`", driven)) == KINDS[name].measured


def ring(*used, coupled=(), kept=()):
    """Four bodies in a ring of five revolutes A..E; springs on some, a coupler between two, cut=False for others."""
    m = madi.Model("ring")
    corners = [(np.cos(a), np.sin(a), 0.0) for a in np.linspace(0, 2 * np.pi, 6)[:-1]]
    for k in range(4):
        m.body(f"b{k}", mass=1.0, inertia=(1, 1, 1), position=corners[k + 1])
    chain = ["ground", "b0", "b1", "b2", "b3", "ground"]
    for k, name in enumerate("ABCDE"):
        ends = [m.ground if body == "ground" else body for body in chain[k : k + 2]]
        m.revolute(name, *ends, at=corners[k], axis=(0, 0, 1))
        if name in kept:
            m.joints[-1].cut = False
    for name in used:
        m.joint_spring(f"spring {name}", name, stiffness=1.0)
    if coupled:
        m.coupler("coupler", *coupled, ratio=1.0)
    return m


def test_joints_in_use_are_cut_last():
    from madi.topology.graph import spanning_tree

    def cut(m):
        return [joint.name for joint in spanning_tree(m).cuts]

    assert cut(ring()) == ["C"]  # b0 1.5, b3 1.5, b1 3, b2 3: C closes
    for name in "ABCDE":
        assert name not in cut(ring(name))
    assert cut(ring("A", "B", "C", "D")) == ["E"]
    assert cut(ring("A", "C", "D", "E", coupled=("B", "A"))) not in (
        ["A"],
        ["B"],
    )  # a loop of joints in use: sprung before coupled
    assert cut(ring("A", "B", "C", "D", "E", kept=("C",))) != ["C"]
    driven = ring()
    driven.drive("C", lambda t: 0.1 * t)
    assert cut(driven) != ["C"]


def test_units_of_joint_springs():
    """Stiffness on a slide is in N/m, on an angle in N m/rad: the same number, other inertias."""
    for kind, inertia in (("prismatic", 2.0), ("revolute", 0.7)):
        m = madi.Model(kind, gravity=(0, 0, 0))
        m.body("b", mass=2.0, inertia=(0.7, 0.7, 0.7))
        getattr(m, kind)("J", m.ground, "b", at=(0, 0, 0), axis=(0, 0, 1))
        m.joint_spring("k", "J", stiffness=5.0, damping=0.5)
        m.joint_torque("t", "J", 3.0)
        a = m.build().forward_dynamics([0.2], [0.4], engine="plain")
        assert a[0] == pytest.approx((3.0 - 5.0 * 0.2 - 0.5 * 0.4) / inertia)
