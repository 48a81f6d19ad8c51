"""The exported C: builds clean, repeats the Python run, takes parameters, allocates nothing; parameters by name."""

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import madi
from madi.integrate.march import fixed_steps
from madi.integrate.method import Method
from madi.integrate.runge_kutta import CLASSICAL, ClassicalMemory, stages_of, step_of
from madi.kernel import kernel
from madi.papers import six_by_six
from madi.topology.parameters import changed, parameters, read
from madi.verify import andrews
from tests.bodies.beams import flexible_pendulum
from tests.mechanisms import pendulum

CLEAN = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
LIBM = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "pow", "sqrt", "sinh", "cosh", "tanh", "fmin",
        "fmax", "fabs", "floor", "ceil", "fmod", "copysign", "asinh", "acosh", "atanh", "sincos", "memcpy",
        "memset"}  # fmt: skip


def build(folder, *flags, main="main.c"):
    sources = [str(path) for path in folder.glob("*.c") if path.name != "main.c"]
    program = folder / ("run" + "".join(flags).replace("-", "_").replace("=", "_").replace(",", "_"))
    subprocess.run(["cc", *CLEAN, *flags, str(folder / main), *sources, "-lm", "-o", str(program)], check=True)
    return program


def printed(program, *arguments):
    text = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, check=True).stdout
    return np.array([[float(x) for x in line.split(",")] for line in text.split()])


def states(run):
    return np.hstack([run.data["q"].values, run.data["v"].values])


def shaken_pendulum():
    """A driven slide, a hinge with a spring and a loose ball: drives, springs, a quaternion, a first-order state."""
    m = madi.Model("shaken */ pendulum")  # a name that would end a comment
    m.body("slide", 1.0, inertia=(0.1, 0.1, 0.1))
    m.body("rod", 1.5, inertia=(0.2, 0.2, 0.02), position=(0, 0, -0.5))
    m.body("bob", 0.7, inertia=(0.05, 0.06, 0.07), position=(0.1, 0, -1.2))
    m.prismatic("x", m.ground, "slide", at=(0, 0, 0), axis=(1, 0, 0))
    m.revolute("pin", "slide", "rod", at=(0, 0, 0), axis=(0, 1, 0), q0=0.4)
    m.spherical("ball", "rod", "bob", at=(0, 0, -1.0), v0=(0.5, 1.0, 2.0))
    m.drive("x", lambda t: 0.1 * madi.sin(6 * t))
    m.joint_spring("spring", "pin", stiffness=8.0, damping=0.1)
    m.state("lag", lambda t, q, v: (madi.cos(4 * t) - q["pin"] - v["lag"]) / 0.1, start=0.3)
    m.joint_torque("motor", "pin", lambda t, q, v: 2 * v["lag"])
    return m


@pytest.mark.parametrize("method", [
    "newmark", "generalized-alpha", "rk4", "ab3", "newmark-explicit", "newmark-explicit-full", madi.Newmark(gamma=0.6),
    {"newmark": {"iterations": 2, "jacobian": "once"}}, madi.GeneralizedAlpha(spectral_radius=0.5, iterations=3),
], ids=str)  # fmt: skip
def test_exported_c_repeats_the_run(method, tmp_path):
    m = shaken_pendulum()
    files = madi.export_c(m, tmp_path, step=2e-3, method=method, duration=0.5)
    assert [path.name for path in files] == ["shaken_pendulum.h", "shaken_pendulum.c", "main.c"]
    ours = states(madi.simulate(m, 0.5, step=2e-3, method=method, engine="jit"))
    runs = [printed(build(tmp_path, flag))[:, 1:] for flag in ("-O0", "-O2")]
    np.testing.assert_allclose(runs[0], runs[1], atol=1e-13)
    np.testing.assert_allclose(runs[1], ours, atol=1e-10)


def test_a_method_of_two_tableaux_keeps_both_in_c(tmp_path):
    """Their arrays have the same names in the source: the classical method at the start, then Heun's."""
    heun = stages_of(np.array([[0, 0], [1, 0]]), np.array([0, 1]), np.array([0.5, 0.5]))
    first, others = step_of(CLASSICAL), step_of(heun)

    @kernel
    def step(m, t, h):
        if m.accepted < 20:
            return first(m, t, h)
        return others(m, t, h)

    @dataclass(frozen=True)
    class Mixed(Method):
        name = "mixed"
        order = 2
        exported = True
        fixed = fixed_steps("mixed", ClassicalMemory, step)

    m = shaken_pendulum()
    madi.export_c(m, tmp_path, step=4e-3, method=Mixed(), duration=0.2)
    ours = states(madi.simulate(m, 0.2, step=4e-3, method=Mixed(), engine="plain"))
    np.testing.assert_allclose(printed(build(tmp_path, "-O2"))[:, 1:], ours, atol=1e-10)
    assert np.max(np.abs(ours - states(madi.simulate(m, 0.2, step=4e-3, method="rk4", engine="plain")))) > 1e-6


def test_loops_and_no_memory_errors(tmp_path):
    """A closed mechanism in C, under the address and undefined-behaviour checkers; no allocation, nothing but libm."""
    m = andrews.model()
    madi.export_c(m, tmp_path, step=2e-5, method="generalized-alpha", duration=0.004)
    found = printed(build(tmp_path, "-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"))
    run = madi.simulate(m, 0.004, step=2e-5, method="generalized-alpha", engine="jit")
    np.testing.assert_allclose(found[:, 1:8], run.data["q"].values, atol=1e-10)
    np.testing.assert_allclose(found[:, 8:], run.data["v"].values, atol=1e-8 * np.max(np.abs(found[:, 8:])))
    object_file = tmp_path / "step.o"
    subprocess.run(["cc", *CLEAN, "-O2", "-c", str(tmp_path / "andrews_squeezer.c"), "-o", str(object_file)], check=True)
    listed = subprocess.run(["nm", "-u", str(object_file)], capture_output=True, text=True, check=True).stdout.split("\n")
    needed = {line.split()[-1] for line in listed if line.strip()}
    moves = {"memcpy", "memmove", "memset"}  # what compilers make of loops that copy, on bare machines too
    assert needed <= LIBM | moves | {"_GLOBAL_OFFSET_TABLE_", "__stack_chk_fail"}, needed


@pytest.mark.slow
def test_the_6x6_in_c_for_the_whole_run(tmp_path):
    """P4's run, 5.5 s, two iterations a step, the Jacobian once: C and Python to 1e-10; valgrind, where there is one."""
    m = six_by_six.experiment()
    options = {"step": 0.01, "method": madi.Newmark(iterations=2, jacobian="once")}
    madi.export_c(m, tmp_path, duration=5.5, parameters=["spring_left1.stiffness"], **options)
    program = build(tmp_path, "-O2")
    run = madi.simulate(m, 5.5, engine="jit", **options)
    np.testing.assert_allclose(printed(program)[:, 1:], states(run), atol=1e-10)
    if shutil.which("valgrind"):
        told = subprocess.run(["valgrind", "--error-exitcode=9", str(program), "50", "0"], capture_output=True, text=True)
        assert told.returncode == 0, told.stderr
        assert "0 errors from 0 contexts" in told.stderr


def test_parameters_are_adjustable_at_run_time(tmp_path):
    """Masses, stiffnesses and hard points as arguments: the same as drawing the model so."""
    m = shaken_pendulum()
    names = ["rod.mass", "spring.stiffness", "pin.at.z", "bob.com.x", "gravity.z"]
    m.adjustable(*names)
    madi.export_c(m, tmp_path, step=2e-3, method="newmark", duration=0.3)
    values = [2.1, 3.0, 0.1, 0.05, -3.7]
    main = (tmp_path / "main.c").read_text()
    assert "SHAKEN_PENDULUM_PARAMETERS" in main
    (tmp_path / "other.c").write_text(main.replace("= SHAKEN_PENDULUM_PARAMETERS;", f"= {{{', '.join(map(str, values))}}};"))
    (tmp_path / "main.c").unlink()
    subprocess.run(
        ["cc", *CLEAN, "-O1", *(str(p) for p in tmp_path.glob("*.c")), "-lm", "-o", str(tmp_path / "run")], check=True
    )
    drawn = changed(m, dict(zip(names, values, strict=True)))
    run = madi.simulate(drawn, 0.3, step=2e-3, method="newmark", engine="jit")
    np.testing.assert_allclose(printed(tmp_path / "run")[:, 1:], states(run), atol=1e-10)


def test_poses_in_c(tmp_path):
    m = shaken_pendulum()
    madi.export_c(m, tmp_path, step=2e-3, method="newmark", duration=0.1, parameters=["pin.at.z"])
    (tmp_path / "main.c").write_text(
        '#include "shaken_pendulum.h"\n#include <stdio.h>\nint main(void) {\n  shaken_pendulum_state s;\n'
        "  double p[1] = {0.2}, out[36];\n  int i;\n  shaken_pendulum_start(&s, p);\n"
        "  for (i = 0; i < 20; i++) shaken_pendulum_step(&s, p);\n"
        '  shaken_pendulum_poses(&s, p, out);\n  for (i = 0; i < 36; i++) printf("%.17g%s", out[i], i < 35 ? "," : "\\n");\n'
        "  return 0;\n}\n"
    )
    found = printed(build(tmp_path, "-O1"))[0].reshape(3, 12)
    drawn = changed(m, {"pin.at.z": 0.2})
    run = madi.simulate(drawn, 0.04, step=2e-3, method="newmark", engine="jit")
    s, q = drawn.build(), run.data["q"].values[-1]
    for k, name in enumerate(s.bodies):
        position, R = s.body_pose(q, name)
        np.testing.assert_allclose(found[k], [*position, *R.reshape(-1)], atol=1e-10)


def test_what_cannot_be_exported_says_why(tmp_path):
    with pytest.raises(madi.InputError, match="has loops; export it with 'newmark'"):
        madi.export_c(andrews.model(), tmp_path, step=1e-5, method="rk4")
    with pytest.raises(madi.InputError, match="cannot be exported: choose one of rk4"):
        madi.export_c(shaken_pendulum(), tmp_path, step=1e-3, method="abm")
    m = shaken_pendulum()
    m.joint_torque("user", "pin", lambda t, q, v: float(np.sin(float(q[0]))))
    with pytest.raises(madi.TraceError, match=r"'user'.*cannot become C"):
        madi.export_c(m, tmp_path, step=1e-3)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.mass", "name an element and its field"),
        ("rod.colour", "it has mass, com, inertia, position"),
        ("rod.com", "Say for example 'rod.com.x'"),
        ("rod.com.w", "not one of x, y, z"),
        ("rod.mass.x", "is one number"),
        ("spring.rest.y", "is one number"),
    ],
)
def test_parameter_names_that_are_wrong(name, message):
    with pytest.raises(madi.InputError, match=message):
        parameters(shaken_pendulum(), [name])


def test_parameters_that_bend_or_are_shared_are_refused():
    m = shaken_pendulum()
    m.spring_damper("rope", "bob", m.ground, at=((0.1, 0, -1.2), (1, 0, 0)), stiffness=3.0)
    with pytest.raises(madi.InputError, match="curved way"):
        parameters(m, ["rope.at.1.x"])  # its free length as drawn depends on it
    m.body("pin", 1.0)
    m.spring_damper("slide", "bob", m.ground, at=((0.1, 0, -1.2), (1, 0, 0)), stiffness=3.0, free_length=1.0)
    assert read(m, "slide.mass") == 1.0
    m.prismatic("rope", m.ground, "pin", at=(0, 0, 3), axis=(1, 0, 0))
    with pytest.raises(madi.InputError, match="share this name"):
        read(m, "rope.at.x")


def test_command_line(tmp_path):
    """madi export, realtime, info: from a Python file, and what they say when the call is wrong."""
    file = tmp_path / "mine.py"
    file.write_text("import madi\nmodel = madi.Model('mine')\nmodel.body('b', 1.0, inertia=(1, 1, 1))\n"
                    "model.revolute('pin', model.ground, 'b', at=(0, 0, 1), axis=(0, 1, 0), q0=0.3)\n")  # fmt: skip

    def madi_(*words):
        command = Path(sys.executable).parent / "madi"
        return subprocess.run([str(command), *map(str, words)], capture_output=True, text=True)

    done = madi_("export", "c", file, "--step", "1ms", "--out", tmp_path / "c", "--parameter", "b.mass")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "c" / "mine.h").read_text().count("b.mass") == 1
    told = madi_("realtime", file, "--step", "1ms", "--duration", "0.2s", "--engine", "jit", "--json")
    assert told.returncode == 0, told.stderr
    assert '"steps": 200' in told.stdout
    page = madi_("info", file, "--equations", "--letter", "b.mass", "--out", tmp_path / "page.html")
    assert page.returncode == 0, page.stderr
    assert "<math" in (tmp_path / "page.html").read_text()
    assert "revolute" in madi_("info", file).stdout
    loops = ("export", "c", "andrews", "--method", "rk4", "--out", tmp_path / "x")
    for words in (("realtime", "nothing"), ("realtime", file, "--step", "soon"), loops):
        wrong = madi_(*words)
        assert wrong.returncode == 2
        assert wrong.stderr.startswith("madi: ")
        assert "Traceback" not in wrong.stderr


def test_export_of_an_adaptive_method_is_told_as_such(tmp_path):
    with pytest.raises(madi.InputError, match=r"chooses its steps; exported code takes fixed ones"):
        madi.export_c(pendulum(), tmp_path, step=0.01, method="dopri")


def test_exported_c_bends_too(tmp_path):
    import subprocess

    m = flexible_pendulum(E=2e9)
    madi.export_c(m, tmp_path, step=1e-3, method="rk4", duration=0.2)
    source = sorted(tmp_path.glob("*.c"))
    subprocess.run(["cc", "-O1", "-std=c99", "-o", tmp_path / "run", *source, "-lm"], check=True)
    last = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True).stdout.strip().split("\n")[-1]
    run = madi.simulate(m, 0.2, step=1e-3, method="rk4")
    values = [float(x) for x in last.replace(",", " ").split()]
    np.testing.assert_allclose(values[1 : 1 + len(run.data["coordinate"])], run.data["q"].values[-1], rtol=1e-9, atol=1e-12)
