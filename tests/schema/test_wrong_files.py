"""What is wrong in a model file is told with its place."""

from __future__ import annotations

import pytest

import madi
from madi.schema.read import loads
from tests.schema.files import WRONG


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
