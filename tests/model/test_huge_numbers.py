"""Whole numbers beyond all reals (Python has them) are refused like infinity, wherever a number is given."""

import pytest

import madi

HUGE = 10**400


def crank(**body):
    m = madi.Model("crank", gravity=body.pop("gravity", (0, 0, -9.81)))
    m.body("a", **{"mass": 1.0, "inertia": (1, 1, 1), **body})
    m.revolute("j", m.ground, "a", at=(0, 0, 0), axis=(0, 0, 1))
    return m


def with_joint(**values):
    m = crank()
    for name, value in values.items():
        setattr(m["j"], name, value)
    return m


def with_force(draw):
    m = crank()
    draw(m)
    return m


@pytest.mark.parametrize("draw", [
    lambda: crank(mass=HUGE), lambda: crank(inertia=(HUGE, 1, 1)), lambda: crank(com=(0, HUGE, 0)),
    lambda: crank(gravity=(HUGE, 0, 0)), lambda: with_joint(at=(HUGE, 0, 0)), lambda: with_joint(q0=HUGE),
    lambda: with_joint(armature=HUGE), lambda: with_force(lambda m: m.joint_spring("s", "j", stiffness=HUGE)),
    lambda: with_force(lambda m: m.joint_torque("t", "j", HUGE)), lambda: with_force(lambda m: m.drive("j", HUGE)),
])  # fmt: skip
def test_in_a_model(draw):
    with pytest.raises(madi.ModelError, match="0000"):
        draw().build()


@pytest.mark.parametrize("options", [
    {"duration": HUGE}, {"step": HUGE}, {"rtol": HUGE}, {"times": [0, HUGE]}, {"start": ([HUGE], [0])},
    {"method": {"newmark": {"gamma": HUGE}}, "step": 0.01},
])  # fmt: skip
def test_in_a_run(options):
    with pytest.raises(madi.InputError):
        madi.simulate(crank(), **{"duration": 1.0, **options})


def test_in_an_evaluation():
    s = crank().build()
    for given in ({"q": [HUGE]}, {"v": [HUGE]}, {"t": HUGE}):
        with pytest.raises(madi.InputError):
            s.forward_dynamics(**{"q": [0.0], "v": [0.0], **given})


def test_a_name_that_is_no_text_is_a_finding_beside_others():
    m = crank()
    m.body(5, mass=1.0)
    m.revolute("k", m.ground, "b", at=(0, 0, 0), axis=(0, 0, 1))
    m.stop("s", "j", lower=(1, 2), upper=(1, 2, 3))
    with pytest.raises(madi.ModelError) as caught:
        m.build()
    for told in ("the name is empty or not text", "no body 'b'", "lower (1, 2) is not a finite number"):
        assert told in str(caught.value), str(caught.value)
