"""Graph, tree, cuts, path matrix; the papers' weights; names and counts."""

import numpy as np

import madi


def body(m, name, **given):
    return m.body(name, mass=1.0, inertia=(1, 1, 1), **given)


def test_weights_decide_the_cut():
    """Of the two ways to a body the lighter path (P0's weights) is in the tree; the heavier joint is cut."""
    m = madi.Model("two ways")
    a, b, c = body(m, "a"), body(m, "b"), body(m, "c")
    m.prismatic("slide", m.ground, a, at=(0, 0, 0), axis=(1, 0, 0))  # 1.0
    m.revolute("turn", m.ground, b, at=(0, 0, 0), axis=(0, 1, 0))  # 1.5
    m.spherical("ball", a, c, at=(0, 0, 0))  # 1.0 + 3.0
    m.universal("cardan", b, c, at=(0, 0, 0), axes=((0, 0, 1), (1, 0, 0)))  # 1.5 + 2.1
    s = m.build()
    assert s.cut_joints == ["ball"]
    assert s.n_constraints == 3
    assert set(s.tree) == {("a", "ground", "slide"), ("b", "ground", "turn"), ("c", "b", "cardan")}


def test_cut_can_be_forced():
    m = madi.Model("forced")
    a, b = body(m, "a"), body(m, "b")
    m.revolute("A", m.ground, a, at=(0, 0, 0), axis=(0, 1, 0), cut=True)
    m.revolute("B", a, b, at=(1, 0, 0), axis=(0, 1, 0))
    m.revolute("C", b, m.ground, at=(2, 0, 0), axis=(0, 1, 0))
    s = m.build()
    assert s.cut_joints == ["A"]
    assert s.tree == [("b", "ground", "C"), ("a", "b", "B")]


def test_path_matrix_and_order():
    """P0: pi[i, j] = 1 if body j is on the path from the base to body i. Parents come first, subtrees are contiguous."""
    m = madi.Model("tree")
    names = {n: body(m, n) for n in ("root", "left", "right", "leaf")}
    m.revolute("3", names["left"], names["leaf"], at=(0, 0, 0), axis=(0, 0, 1))
    m.revolute("2", names["root"], names["right"], at=(0, 0, 0), axis=(0, 0, 1))
    m.revolute("1", names["root"], names["left"], at=(0, 0, 0), axis=(0, 0, 1))
    m.revolute("0", m.ground, names["root"], at=(0, 0, 0), axis=(0, 0, 1))
    s = m.build()
    pi = {(a, b): s.path_matrix[s.bodies.index(a), s.bodies.index(b)] for a in names for b in names}
    ones = {pair for pair, value in pi.items() if value == 1}
    assert ones == {("root", "root"), ("left", "left"), ("right", "right"), ("leaf", "leaf"), ("left", "root"),
                    ("right", "root"), ("leaf", "left"), ("leaf", "root")}  # fmt: skip
    model = s.layout.arrays
    for i in range(1, 5):
        inside = [k + 1 for k in range(4) if s.path_matrix[k, i - 1]]
        assert inside == list(range(i, int(model.last[i]) + 1))


def test_groups_that_float_and_several_trees():
    m = madi.Model("two satellites", gravity=(0, 0, 0))
    for k in "ab":
        hub, wing = body(m, f"hub_{k}"), body(m, f"wing_{k}", position=(1, 0, 0))
        m.revolute(f"hinge_{k}", wing, hub, at=(0.5, 0, 0), axis=(0, 1, 0))  # drawn from the wing
    s = m.build()
    assert s.nv == 2 * 7
    assert "added: nothing ties this group to the ground" in s.explain()
    assert "drawn the other way" in s.explain()
    v = np.random.default_rng(0).normal(size=14)
    a = s.forward_dynamics(s.q0, v)
    # two independent trees: what one does is not felt by the other
    alone = np.concatenate([v[:7], np.zeros(7)])
    np.testing.assert_allclose(s.forward_dynamics(s.q0, alone)[:7], a[:7], atol=1e-12)
    assert len(s.frozen.riding) == 2


def test_names_of_coordinates_and_slices():
    m = madi.Model("names")
    a, b, c = body(m, "a"), body(m, "b"), body(m, "c")
    m.free("F", m.ground, a)
    m.revolute("R", a, b, at=(0, 0, 0), axis=(0, 0, 1))
    m.planar("P", b, c, at=(0, 0, 0), axis=(0, 0, 1))
    s = m.build()
    assert s.coordinates == ["F.x", "F.y", "F.z", "F.qw", "F.qx", "F.qy", "F.qz", "R", "P.x", "P.y", "P.angle"]
    assert s.speeds == ["F.vx", "F.vy", "F.vz", "F.wx", "F.wy", "F.wz", "R", "P.x", "P.y", "P.angle"]
    assert s.q_slice("R") == slice(7, 8)
    assert s.v_slice("P") == slice(7, 10)
    assert s.joint_names == ["F", "R", "P"]


def test_a_joint_drawn_backwards_keeps_the_users_sign():
    """The angle is that of the drawn child about the drawn axis, whichever way the tree walks."""
    angles = []
    for ends in ((0, 1), (1, 0)):
        m = madi.Model("sign", gravity=(0, 0, 0))
        bodies = [m.ground, body(m, "arm")]
        m.revolute("A", bodies[ends[0]], bodies[ends[1]], at=(0, 0, 0), axis=(0, 0, 1))
        _, A = m.build().body_pose([0.3], "arm", engine="plain")
        angles.append(np.arctan2(A[1, 0], A[0, 0]))
    np.testing.assert_allclose(angles, [0.3, -0.3], atol=1e-15)


def test_picture_is_drawn(tmp_path):
    m = madi.Model("picture")
    a, b = body(m, "a"), body(m, "b")
    m.revolute("A", m.ground, a, at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("B", a, b, at=(1, 0, 0), axis=(0, 1, 0))
    m.revolute("C", b, m.ground, at=(2, 0, 0), axis=(0, 1, 0))
    m.build().picture(tmp_path / "tree.png")
    assert (tmp_path / "tree.png").stat().st_size > 5000


def test_an_added_free_joint_gets_a_name_of_its_own():
    m = madi.Model("collision", gravity=(0, 0, 0))
    a, b = body(m, "a"), body(m, "b", position=(1, 0, 0))
    m.revolute("a_free", a, b, at=(0.5, 0, 0), axis=(0, 1, 0))
    s = m.build()
    assert s.joint_names == ["a_free_", "a_free"]
    assert s.v_slice("a_free") == slice(6, 7)
