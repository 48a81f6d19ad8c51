"""What is wrong in a model file is told with its place."""

from __future__ import annotations

import pytest

import madi
from madi.schema.kinds import MOVED
from madi.schema.read import loads
from tests.schema.files import SMALL, WRONG


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_a_file_is_told_with_its_place(name, tmp_path):
    text, told = WRONG[name]
    (tmp_path / "wrong.yaml").write_text(text)
    with pytest.raises(madi.FileError) as error:
        madi.load(tmp_path / "wrong.yaml")
    assert told in str(error.value)
    assert "wrong.yaml" in str(error.value)


def test_a_defect_found_later_still_names_the_line(tmp_path):
    (tmp_path / "m.yaml").write_text("bodies:\n  a: {mass: -1}\njoints:\n  p: {type: free, parent: ground, child: a}\n")
    (finding,) = madi.load(tmp_path / "m.yaml").check()
    assert "line 2" in finding.element


def test_a_link_out_of_the_folder_is_not_followed(tmp_path):
    (tmp_path / "secret.yaml").write_text("bodies: {a: {mass: 1}}")
    inner = tmp_path / "models"
    inner.mkdir()
    (inner / "link.yaml").symlink_to(tmp_path / "secret.yaml")
    (inner / "m.yaml").write_text("include: link.yaml")
    with pytest.raises(madi.FileError, match="outside"):
        madi.load(inner / "m.yaml")


def test_all_mistakes_of_a_file_are_told_at_once():
    with pytest.raises(madi.FileError) as error:
        loads("bodies:\n  a: {mass: 3 N}\n  b: {mass: 0.4 kgs}\njoints:\n  A: {type: revolute, parent: ground, child: a}\n")
    lines = str(error.value).splitlines()
    assert len(lines) == 3
    assert "line 2" in lines[0]
    assert "there is no unit 'kgs'; near it: kg" in lines[1]
    assert "at, axis are missing" in lines[2]


def test_tabs_and_indentation_are_called_by_their_names():
    with pytest.raises(madi.FileError, match="a tab in the line"):
        loads("bodies:\n\ta: {mass: 3}\n")
    with pytest.raises(madi.FileError, match="begin in one column"):
        loads("bodies:\n  a: {mass: 3}\n b: {mass: 2}\n")


def test_many_mistakes_are_told_together():
    bodies = "\n".join(f"  body_number_{k}: {{mass: 1, inertia: [1, 1, 1]}}" for k in range(2000))
    joints = "\n".join(f"  j{k}: {{type: free, parent: ground, child: bodi_number_{k}}}" for k in range(200))
    with pytest.raises(
        madi.FileError, match=r"(?s)did you mean 'body_number_0'.*did you mean 'body_number_19'.*and 180 more"
    ):
        loads(f"bodies:\n{bodies}\njoints:\n{joints}\n")


def test_long_tables_are_read_and_wrong_ones_told():
    points = ", ".join(f"[{k}, 0]" for k in range(30_000))
    loads(SMALL + f"tables: {{lift: {{points: [{points}]}}}}\n")
    with pytest.raises(madi.FileError, match="x must increase; 29999 is followed by 5"):
        loads(SMALL + f"tables: {{lift: {{points: [{points}, [5, 0]]}}}}\n")
    with pytest.raises(madi.FileError, match="not what madi packed"):
        loads(SMALL + "tables: {lift: {points: {packed: fAAAA}}}\n")


def test_two_mistakes_in_one_joint_are_both_told():
    with pytest.raises(madi.FileError) as caught:
        loads("bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
              "joints: {A: {type: revolute, parent: ground, child: b, at: [0, 0], axis: [0, x, 0]}}\n")  # fmt: skip
    assert "joints.A.at" in str(caught.value)
    assert "joints.A.axis" in str(caught.value)


OLD = {
    "gamma": "method: {newmark: {gamma: ...}}", "beta": "method: {newmark: {beta: ...}}",
    "spectral_radius": "method: {generalized-alpha: {spectral_radius: ...}}",
    "alpha": "method: {generalized-alpha: {alpha: ...}}", "iterations": "method: {newmark: {iterations: ...}}",
    "jacobian": "method: {newmark: {jacobian: ...}}", "order": "method: {abm: {order: ...}}",
    "first_step": "method: {dopri: {first_step: ...}}", "feedback": "loops: {baumgarte: {alpha: ..., beta: ...}}",
    "closing": "loops: {projection: {closing: ...}}", "weighting": "loops: {pseudo-inverse: {weighting: ...}}",
}  # fmt: skip


@pytest.mark.parametrize("name", OLD)
def test_an_old_entry_of_a_run_is_answered_with_the_new_spelling(name):
    with pytest.raises(madi.FileError) as caught:
        loads(f"{SMALL}run:\n  step: 1 ms\n  {name}: 2\n")
    assert f"line 5, run.{name}: {name!r} is now an option of what it belongs to: {OLD[name]}" in str(caught.value)
    assert set(OLD) == set(MOVED)


@pytest.mark.parametrize("run, told", [
    ("{method: {newmark: {rho: 0.5}}}", "run.method.newmark.rho: there is no entry 'rho' here"),
    ("{method: {newmark: {gama: 0.5}}}", "did you mean gamma?"),
    ("{method: {rk4: {order: 3}}}", "there is no entry 'order'"),
    ("{loops: {baumgarte: {closing: 1e-6}}}", "run.loops.baumgarte.closing: there is no entry 'closing' here"),
    ("{loops: {projection: {weighting: none}}}", "there is no entry 'weighting'"), ("{method: euler}", "choose one of rk4"),
    ("{method: {euler: {}}}", "'euler': choose one of rk4"), ("{loops: {newmark: {}}}", "choose one of projection"),
    ("{method: {rk4: {}, ab3: {}}}", "one word and its options are expected, not 2"),
    ("{method: {newmark: {gamma: 0.3}}}", "from 0.5 to 1"), ("{method: {newmark: {iterations: 0}}}", "from 1 to 100"),
    ("{method: {newmark: {iterations: 1.5}}}", "iterations"), ("{method: {newmark: {jacobian: never}}}", "choose one of"),
    ("{method: {newmark: {jacobian: slow, iterations: 2}}}", "'slow' judges"),
    ("{method: {newmark: 2}}", "run.method.newmark"),
    ("{method: {abm: {order: 9}}}", "2 to 5"), ("{method: {cvode: {feedback: 5}}}", "run.method.cvode.feedback"),
    ("{loops: {baumgarte: {alpha: -1}}}", "two numbers >= 0"), ("{loops: {qr: {weighting: heavy}}}", "'mass' or 'none'"),
    ("{method: {dopri: {first_step: 1 m}}}", "run.method.dopri.first_step: '1 m' is in m; s is needed"),
    ("{loops: {projection: {closing: 1 s}}}", "'1 s' is in s; m is needed"),
    ("{loops: {projection: {closing: 1}}}", "from 1e-13 to 0.1"), ("{q0: [1]}", "there is no entry 'q0'"),
])  # fmt: skip
def test_wrong_methods_and_options_of_a_run_are_told_with_their_place(run, told):
    with pytest.raises(madi.FileError) as caught:
        loads(f"{SMALL}run: {run}\n")
    assert told in str(caught.value)
    assert "line 3" in str(caught.value)
