"""What is wrong in a model file is told with its place."""

from __future__ import annotations

import pytest

import madi
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


def test_tables_have_a_limit_that_is_looked_at_first():
    points = ", ".join(f"[{k}, 0]" for k in range(300_000))
    with pytest.raises(madi.FileError, match="300000 points are given; a table has at most 2000"):
        loads(SMALL + f"tables: {{lift: {{points: [{points}]}}}}\n")


def test_two_mistakes_in_one_joint_are_both_told():
    with pytest.raises(madi.FileError) as caught:
        loads("bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
              "joints: {A: {type: revolute, parent: ground, child: b, at: [0, 0], axis: [0, x, 0]}}\n")  # fmt: skip
    assert "joints.A.at" in str(caught.value)
    assert "joints.A.axis" in str(caught.value)
