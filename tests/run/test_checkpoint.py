"""A run that was cut and taken up again equals the whole run, bit for bit."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import madi
from madi.cli.models import find_model
from madi.run.checkpoint import Keeper
from madi.run.simulate import keep, prepare, run_solver

CASES = {
    "rk4 on a loop": ("rssr", 0.5, {"step": 1e-3}),
    "ab3": ("six", 0.5, {"step": 1e-3, "method": "ab3"}),
    "dopri": ("rssr", 0.5, {"rtol": 1e-9}),
    "abm, history": ("rssr", 0.5, {"method": "abm", "history": True, "rtol": 1e-9}),
    "newmark": ("6x6", 1.0, {"step": 5e-3, "method": "newmark"}),
    "generalized-alpha on a loop": ("rssr", 0.3, {"step": 1e-3, "method": "generalized-alpha"}),
    "radau": ("rssr", 0.5, {"method": "radau", "rtol": 1e-8}),
    "svd": ("rssr", 0.3, {"step": 1e-3, "loops": "svd"}),
    "cartesian, adaptive": ("rssr", 2.5, {"max_step": 5e-3, "method": "dopri", "formulation": "cartesian"}),
    "cartesian": ("rssr", 0.3, {"step": 1e-3, "formulation": "cartesian"}),
}


def model(name):
    return find_model("6x6" if name == "six" else name)


class CutError(Exception):
    pass


@pytest.mark.parametrize("case", CASES)
def test_a_run_cut_anywhere_and_taken_up_equals_the_whole(case, tmp_path, monkeypatch):
    name, duration, options = CASES[case]
    whole = madi.simulate(model(name), duration, engine="jit", reactions=[], **options)
    path = tmp_path / "run.checkpoint"
    cuts = []

    def note(self, run):  # written at every pause; the third time the power fails
        self.write(run)
        cuts.append(float(run.memory.t))
        if len(cuts) in (3, 70 if duration > 2 else 7):
            raise CutError

    monkeypatch.setattr(Keeper, "note", note)
    for _ in range(3):
        solver = prepare(model(name), duration, engine="jit", **options)
        keep(solver, madi.Checkpoint(path, every=1.0, resume=True))
        integrate = solver.integrate

        def short(loop, progress, integrate=integrate):
            def three_steps(memory):
                memory.limit = min(int(memory.limit), 3)
                return loop(memory)

            return integrate(three_steps, progress)

        monkeypatch.setattr(solver, "integrate", short)
        try:
            run = run_solver(solver, False)
            break
        except CutError:
            continue
    assert len(cuts) > 7, "it was cut twice"
    assert set(run.data) == set(whole.data)
    for variable in whole.data:
        np.testing.assert_array_equal(run.data[variable].values, whole.data[variable].values, err_msg=variable)
    for what in ("steps", "evaluations", "rejected"):
        assert run.statistics[what] == whole.statistics[what]


def test_a_checkpoint_of_another_run_is_refused(tmp_path):
    path = tmp_path / "run.checkpoint"
    resumed = madi.Checkpoint(path, resume=True)
    solver = prepare(find_model("rssr"), 0.1, step=1e-3, engine="jit")
    keep(solver, madi.Checkpoint(path, every=1.0))
    solver.keeper.write(solver)
    with pytest.raises(madi.InputError, match="differs in its options"):
        madi.simulate(find_model("rssr"), 0.1, step=1e-4, times=solver.times, checkpoint=resumed, engine="jit")
    with pytest.raises(madi.InputError, match="differs in its model"):
        madi.simulate(find_model("andrews"), 0.1, step=1e-3, checkpoint=resumed, engine="jit")
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(madi.InputError, match="delete it to begin anew"):
        madi.simulate(find_model("rssr"), 0.1, step=1e-3, checkpoint=resumed, engine="jit")
    with pytest.raises(madi.InputError, match=r"checkpoint=True: give the name of a file, or madi\.Checkpoint"):
        madi.simulate(find_model("rssr"), 0.1, step=1e-3, checkpoint=True)
    with pytest.raises(madi.InputError, match="its folder must exist"):
        madi.simulate(find_model("rssr"), 0.1, step=1e-3, checkpoint=tmp_path / "none" / "x")


def test_kill_9_in_the_middle_and_resume(tmp_path):
    """The bar itself: the process is killed without warning, another takes the run up; the file is that of a whole run."""
    whole = tmp_path / "whole.nc"
    command = [sys.executable, "-m", "madi", "run", "rssr", "--duration", "20s", "--step", "50us", "--every", "10ms",
               "--engine", "jit"]  # fmt: skip
    subprocess.run([*command, "--out", str(whole)], check=True, capture_output=True, timeout=300)
    cut = tmp_path / "cut.nc"
    kept = tmp_path / "cut.nc.checkpoint"
    process = subprocess.Popen([*command, "--out", str(cut), "--checkpoint", "0.2s"], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL)  # fmt: skip
    deadline = time.monotonic() + 120
    while not kept.exists() and time.monotonic() < deadline and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert kept.exists(), "it was killed before it was done"
    assert not cut.exists()
    done = subprocess.run([*command, "--out", str(cut), "--checkpoint", "every", "0.2s", "--resume"], check=True, text=True,
                          capture_output=True, timeout=300)  # fmt: skip
    assert "taken up at" in done.stdout
    assert not kept.exists(), "the file is saved: nothing is left to take up"
    a, b = madi.load_run(whole), madi.load_run(cut)
    assert set(a.data) == set(b.data)
    for variable in a.data:
        np.testing.assert_array_equal(a.data[variable].values, b.data[variable].values, err_msg=variable)


def test_another_start_or_feedback_is_another_run(tmp_path):
    path = tmp_path / "run.checkpoint"
    solver = prepare(find_model("rssr"), 0.1, step=1e-3, engine="jit", loops=madi.Baumgarte(5.0, 5.0))
    keep(solver, madi.Checkpoint(path, every=1.0))
    solver.keeper.write(solver)
    same = {"step": 1e-3, "engine": "jit", "checkpoint": madi.Checkpoint(path, resume=True)}
    madi.simulate(find_model("rssr"), 0.1, loops=madi.Baumgarte(5.0, 5.0), **same)
    with pytest.raises(madi.InputError, match="differs in its way"):
        madi.simulate(find_model("rssr"), 0.1, loops=madi.Baumgarte(50.0, 50.0), **same)
    with pytest.raises(madi.InputError, match="differs in its start"):
        madi.simulate(find_model("rssr"), 0.1, loops=madi.Baumgarte(5.0, 5.0), start=({"R1": 0.2}, None), **same)
    path.write_bytes(b"")
    with pytest.raises(madi.InputError, match="is no checkpoint"):
        madi.simulate(find_model("rssr"), 0.1, loops=madi.Baumgarte(5.0, 5.0), **same)


def test_a_model_with_a_function_in_python_can_be_taken_up(tmp_path):
    """The function's address differs from model to model; the model is the same."""

    def drawn():
        m = find_model("rssr")
        m.torque("push", "body1", lambda t: (1.0 if t > 0.01 else 0.0, 0.0, 0.0))
        return m

    path = tmp_path / "run.checkpoint"
    solver = prepare(drawn(), 0.1, step=1e-3, engine="jit")
    keep(solver, madi.Checkpoint(path, every=1.0))
    solver.keeper.write(solver)
    run = madi.simulate(drawn(), 0.1, step=1e-3, engine="jit", checkpoint=madi.Checkpoint(path, resume=True))
    assert run.data.attrs["model_hash"] == madi.simulate(drawn(), 0.1, step=1e-3, engine="jit").data.attrs["model_hash"]
