"""Runs that go to a file while they are computed: that of `run.save`, in little memory, and never half of it."""

import os
import signal
import subprocess
import sys
import time
import tracemalloc

import numpy as np
import pytest

import madi
from madi.results import recorded, writing
from madi.results.run import Run
from madi.results.store import Mapped
from madi.run.checkpoint import Keeper
from madi.run.simulate import keep, prepare, run_solver
from madi.run.stream import Stream, store_of
from madi.verify import dry_friction
from tests.mechanisms import double_pendulum, far_four_bar
from tests.run.test_grid import driven, jumping, satellite

HERE = (0.0, 0.0, 0.0)
TIMES = np.linspace(0, 0.2, 401)
CASES = {
    "rk4": (double_pendulum, {"step": 1e-3, "times": None}),
    "rk4, plain": (double_pendulum, {"step": 1e-2, "engine": "plain"}),
    "rk4, compiled": (double_pendulum, {"step": 1e-3, "engine": "compiled"}),
    "dopri": (satellite, {"reactions": ["shoulder", "spin"]}),
    "abm": (satellite, {"method": "abm"}),
    "loop": (far_four_bar, {"reactions": {"A": "child"}, "history": True}),
    "loop, svd": (far_four_bar, {"step": 1e-3, "loops": "svd"}),
    "loop, compiled": (far_four_bar, {"engine": "compiled"}),
    "newmark on a loop": (far_four_bar, {"step": 1e-3, "method": "newmark"}),
    "driven loop": (driven, {"method": "radau"}),
    "jump": (jumping, {}),
    "cartesian": (far_four_bar, {"formulation": "cartesian"}),
    "friction": (lambda at: dry_friction.incline(0.3), {"method": "dopri"}),
    "sundials": (far_four_bar, {"method": "ida"}),
}


def in_python(at):
    """Its function stays in Python, and remembers."""
    asked = []

    def push(t, q, v):
        asked.append(t)
        return -0.1 * q["A"] if t > 0.1 else 0.001 * min(len(asked), 100)

    m = double_pendulum(at)
    m.joint_torque("push", "B", madi.in_python(push))
    return m


@pytest.fixture
def small_pieces(monkeypatch):
    """Stretches of few outputs, so that short runs have many."""
    monkeypatch.setattr(Mapped, "at_once", 300)
    monkeypatch.setattr(recorded, "ROOM", 2000)
    monkeypatch.setattr(recorded, "FEWEST", 7)
    monkeypatch.setattr(writing, "AT_ONCE", 500)
    monkeypatch.setattr(writing, "LARGE", 100)


def agree(a, b):
    """Two runs, all their numbers, names, units; times of computing apart."""
    first, second = (
        run.data.drop_attrs(deep=False).assign_attrs(
            {k: v for k, v in run.data.attrs.items() if not k.endswith(("wall_time", "cpu_time"))}
        )
        for run in (a, b)
    )
    assert first.identical(second), [n for n in first.variables if not first[n].identical(second[n])]
    assert a.signals == b.signals


@pytest.mark.parametrize("case", [*CASES, "in Python"])
def test_the_file_is_the_one_that_save_writes(case, tmp_path, small_pieces):
    drawn, options = CASES.get(case, (in_python, {"engine": "jit"}))
    options = {"engine": "jit", "times": TIMES, **options}
    saved = madi.simulate(drawn(HERE), 0.2, **options).save(tmp_path / "saved.nc")
    run = madi.simulate(drawn(HERE), 0.2, **options, out=tmp_path / "run.nc")
    agree(madi.load_run(saved), madi.load_run(tmp_path / "run.nc"))
    whole = madi.load_run(saved)
    assert len(whole["time"]) == (201 if case == "rk4" else 401)
    assert run.incomplete is None
    assert run.model.name == whole.model.name
    for name in whole.signals:
        assert np.array_equal(run[name], whole[name], equal_nan=True), name
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.nc", "saved.nc"]


def test_numbers_are_read_from_the_file_when_they_are_asked_for(tmp_path):
    run = madi.simulate(satellite(HERE), 0.2, out=tmp_path / "run.nc", engine="jit")
    for name in ("q", "position", "energy"):
        assert not run.data[name].variable._in_memory
        assert len(run.data[name].values) == 1001
        assert not run.data[name].variable._in_memory
    again = run.save(tmp_path / "run.nc")  # over itself
    agree(madi.load_run(again), run)


def test_smaller_files(tmp_path, small_pieces):
    kinds = {"dtype": "float32", "compression": True}
    whole = madi.simulate(satellite(HERE), 0.2, engine="jit", times=TIMES)
    run = madi.simulate(satellite(HERE), 0.2, engine="jit", times=TIMES, out=madi.Stream(str(tmp_path / "a.nc"), **kinds))
    agree(madi.load_run(whole.save(tmp_path / "b.nc", **kinds)), madi.load_run(tmp_path / "a.nc"))
    assert run.data["position"].dtype == np.float32
    assert np.allclose(run["hull.x"], whole["hull.x"], rtol=1e-6, atol=1e-7)


def until(t_end, error):
    m = double_pendulum(HERE)

    def push(t, q, v):
        if t > t_end:
            raise error
        return 0.0

    m.joint_torque("push", "B", madi.in_python(push))
    return m


@pytest.mark.parametrize("checkpoint", [False, True])
def test_a_run_that_was_stopped_has_what_was_computed(checkpoint, tmp_path, small_pieces):
    options = {"step": 1e-3, "times": TIMES, "engine": "jit", "out": tmp_path / "run.nc"}
    if checkpoint:
        options["checkpoint"] = tmp_path / "cp"
    with pytest.raises(KeyboardInterrupt) as stopped:
        madi.simulate(until(0.1, KeyboardInterrupt()), 0.2, **options)
    with pytest.raises(madi.RunError, match="raised ValueError: no more") as failed:
        madi.simulate(until(0.1, ValueError("no more")), 0.2, **options)
    for error, why in ((stopped.value, "stopped"), (failed.value, "raised ValueError: no more")):
        assert 190 <= len(error.run["time"]) <= 201
        assert why in error.run.incomplete
    assert madi.load_run(tmp_path / "run.nc").incomplete == "stopped"
    found = madi.load_run(tmp_path / "run.failed.nc")  # what is there already may be a whole run
    assert "raised ValueError: no more" in found.incomplete
    assert "raised ValueError: no more" in str(failed.value)
    whole = madi.simulate(until(1.0, ValueError()), 0.2, **options | {"out": None, "checkpoint": None})
    n = len(found["time"])
    assert np.array_equal(found["A"], whole["A"][:n])
    assert whole.incomplete is None


def test_a_run_that_ctrl_c_stopped_goes_on(tmp_path, monkeypatch):
    """Machine code is between two steps then; what was computed is in the file, and the whole run when it was taken up."""
    options = {"step": 1e-3, "times": TIMES, "out": tmp_path / "run.nc", "engine": "jit"}
    whole = madi.simulate(far_four_bar(HERE), 0.2, **options | {"out": None})

    def stop(self, run):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Keeper, "note", stop)
        patch.setattr("madi.run.solver.FIRST_STEPS", 90)
        with pytest.raises(KeyboardInterrupt) as stopped:
            madi.simulate(far_four_bar(HERE), 0.2, **options, checkpoint=tmp_path / "cp")
    assert len(stopped.value.run["time"]) == 181
    assert madi.load_run(tmp_path / "run.nc").incomplete == "stopped"
    run = madi.simulate(far_four_bar(HERE), 0.2, **options, checkpoint=madi.Checkpoint(tmp_path / "cp", resume=True))
    assert run.incomplete is None
    assert run.statistics["evaluations"] == whole.statistics["evaluations"]
    for name in whole.data.data_vars:
        assert np.array_equal(run.data[name].values, whole.data[name].values, equal_nan=True), name


def test_a_run_without_outputs_has_no_file(tmp_path):
    with pytest.raises(madi.RunError) as failed:
        madi.simulate(
            until(0.05, ValueError("soon")), 0.2, step=1e-3, times=[0.1, 0.2], engine="jit", out=tmp_path / "run.nc"
        )
    assert len(failed.value.run["time"]) == 0
    assert list(tmp_path.iterdir()) == []


KILLED = """
import sys, time, madi, numpy as np
sys.path.insert(0, {root!r})
from tests.mechanisms import double_pendulum
m = double_pendulum((0.0, 0.0, 0.0))
options = dict(step=1e-5, times=np.linspace(0, 400, 40_001), engine="jit")
print("begins", flush=True)
madi.simulate(m, 400.0, out="run.nc", **options)
"""


def test_a_run_that_is_killed_leaves_nothing_behind(tmp_path):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    process = subprocess.Popen([sys.executable, "-c", KILLED.format(root=root)], cwd=tmp_path, stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"begins\n"
    time.sleep(1.0)
    assert process.poll() is None
    process.send_signal(signal.SIGKILL if os.name == "posix" else signal.SIGTERM)
    process.wait()
    process.stdout.close()
    assert list(tmp_path.iterdir()) == []


def test_a_run_whose_file_cannot_be_written_is_not_lost(tmp_path, monkeypatch):
    (tmp_path / "run.nc").write_bytes(b"of before")

    def full(*given, **more):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("madi.results.run.write", full)
        with pytest.raises(madi.RunError, match="No space left") as failed:
            madi.simulate(satellite(HERE), 0.2, engine="jit", out=tmp_path / "run.nc")
    assert [path.name for path in tmp_path.iterdir()] == ["run.nc"]
    assert (tmp_path / "run.nc").read_bytes() == b"of before"
    whole = madi.simulate(satellite(HERE), 0.2, engine="jit")
    assert np.array_equal(failed.value.run["hull.x"], whole["hull.x"])
    assert failed.value.run.save(tmp_path / "run.nc").stat().st_size > 10_000


def test_a_full_disk_is_told_at_the_start(tmp_path, monkeypatch):
    if not hasattr(os, "posix_fallocate"):
        pytest.skip("no such call here")

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(madi.InputError, match=r"no room for \d+ bytes of outputs \(No space left"):
        madi.simulate(satellite(HERE), 0.2, engine="jit", out=tmp_path / "run.nc")
    with pytest.raises(madi.InputError, match="no room for"):
        madi.simulate(satellite(HERE), 0.2, engine="jit", out=tmp_path / "run.nc", checkpoint=tmp_path / "cp")
    assert list(tmp_path.iterdir()) == []


def test_room_is_taken_where_a_system_cannot_set_it_aside(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "posix_fallocate", raising=False)
    run = madi.simulate(satellite(HERE), 0.2, engine="jit", out=tmp_path / "run.nc")
    assert np.array_equal(run["hull.x"], madi.simulate(satellite(HERE), 0.2, engine="jit")["hull.x"])


class CutError(Exception):
    pass


@pytest.mark.parametrize("case", ["rk4", "abm", "loop", "driven loop", "jump", "friction", "cartesian"])
def test_a_run_that_was_cut_goes_on_into_its_file(case, tmp_path, monkeypatch):
    drawn, options = CASES[case]
    options = {"times": TIMES, **options}
    whole = madi.simulate(drawn(HERE), 0.2, engine="jit", out=tmp_path / "whole.nc", **options)
    stream, kept, cuts = Stream(tmp_path / "run.nc"), madi.Checkpoint(tmp_path / "cp", every=1.0, resume=True), []

    def note(self, run):
        self.write(run)
        cuts.append(float(run.memory.t))
        if len(cuts) in (1, 3):
            raise CutError

    monkeypatch.setattr(Keeper, "note", note)
    for _ in range(3):
        solver = prepare(drawn(HERE), 0.2, engine="jit", store=store_of(stream, kept), **options)
        keep(solver, kept)
        integrate = solver.integrate

        def short(loop, progress, integrate=integrate):
            def one_step(memory):
                memory.limit = 1
                return loop(memory)

            return integrate(one_step, progress)

        solver.integrate = short
        try:
            found = run_solver(solver, False, None, stream)
            break
        except CutError:
            assert not (tmp_path / "run.nc").exists()
    assert len(cuts) >= 3
    assert (tmp_path / "cp.outputs").exists()
    for name in whole.data.data_vars:
        assert np.array_equal(found.data[name].values, whole.data[name].values, equal_nan=True), name
    monkeypatch.undo()
    for _ in range(2):  # it may be asked again
        again = madi.simulate(drawn(HERE), 0.2, out=tmp_path / "run.nc", checkpoint=kept, **options)
        assert np.array_equal(again.data["q"].values, whole.data["q"].values)


def cut_short(tmp_path, options, out=True):
    """A checkpoint in the middle of a run; what made it."""
    stream = Stream(tmp_path / "run.nc") if out else None
    kept = madi.Checkpoint(tmp_path / "cp")
    solver = prepare(double_pendulum(HERE), 0.2, engine="jit", store=store_of(stream, kept), **options)
    keep(solver, kept)
    loop = solver.connect()
    solver.memory.upto, solver.memory.end = solver.segments()[0]
    solver.memory.limit = 90
    loop(solver.memory)
    solver.keeper.write(solver)


def damaged(path):
    data = bytearray(path.read_bytes())
    data[8 * 401 + 8 * 50] ^= 1  # a coordinate at an early output
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", [damaged, os.unlink, lambda path: path.write_bytes(b"short")])
def test_outputs_that_are_not_those_of_the_checkpoint_are_refused(damage, tmp_path):
    options = {"step": 1e-3, "times": TIMES}
    cut_short(tmp_path, options)
    damage(tmp_path / "cp.outputs")
    before = (tmp_path / "cp.outputs").read_bytes() if (tmp_path / "cp.outputs").exists() else None
    kept = madi.Checkpoint(tmp_path / "cp", resume=True)
    with pytest.raises(madi.InputError, match=r"cp\.outputs\) are not there, or not its own; delete both"):
        madi.simulate(double_pendulum(HERE), 0.2, **options, out=tmp_path / "run.nc", checkpoint=kept)
    assert not (tmp_path / "run.nc").exists()
    if before is not None:
        assert (tmp_path / "cp.outputs").read_bytes() == before
    madi.simulate(double_pendulum(HERE), 0.2, **options, out=tmp_path / "run.nc", checkpoint=tmp_path / "cp", engine="jit")


def test_a_run_with_a_file_is_not_taken_up_without_and_the_other_way_round(tmp_path):
    options, kept = {"step": 1e-3, "times": TIMES}, madi.Checkpoint(tmp_path / "cp", resume=True)
    for out, other in ((True, None), (False, tmp_path / "run.nc")):
        cut_short(tmp_path, options, out)
        with pytest.raises(madi.InputError, match="differs in its to a file"):
            madi.simulate(double_pendulum(HERE), 0.2, **options, out=other, checkpoint=kept)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("run.csv", r"out='run.csv': runs are streamed to \.nc"),
        ("nowhere/run.nc", "its folder must exist"),
        (True, r"out=True: give the name of a file, or madi\.Stream"),
        (5, "out=5"),
    ],
)
def test_what_no_run_can_go_to_is_refused_before_it_begins(given, told, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(madi.InputError, match=told):
        madi.simulate(double_pendulum(HERE), 1e9, step=1e-3, out=given)
    with pytest.raises(madi.InputError, match="float16"):
        madi.Stream("run.nc", dtype="float16")


def chain(n):
    m, last = madi.Model("chain"), "ground"
    for k in range(n):
        m.body(f"b{k}", 1.0, inertia=(0.1, 0.1, 0.1), position=(k + 0.5, 0, 0))
        m.revolute(f"j{k}", last, f"b{k}", at=(k, 0, 0), axis=(0, 1, 0))
        last = f"b{k}"
    return m


def test_memory_does_not_grow_with_the_outputs(tmp_path):
    """What Python and NumPy ask for at once; beside it there are rows of one number for an output, the times first."""
    links, counts, most = 30, (4001, 16001), []
    for count in (501, *counts):  # once before, for what is kept for good
        options = {"step": 1e-3, "times": np.linspace(0, 1e-3 * (count - 1), count), "engine": "jit"}
        tracemalloc.start()
        try:
            run = madi.simulate(chain(links), 1e-3 * (count - 1), out=tmp_path / "run.nc", **options)
            most.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
        assert isinstance(run, Run)
        assert run.data.sizes["time"] == count
    more = counts[1] - counts[0]
    assert most[2] - most[1] < 8 * more * links  # states and accelerations alone are three times that
