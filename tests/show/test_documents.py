"""The notebooks of the documentation: they run, check themselves, are kept without outputs, and are linked."""

import nbformat
import pytest

from tests.package.places import ROOT
from tests.show.books import executed, shown, streams

BOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_five():
    assert [book.stem for book in BOOKS] == ["arm", "car", "flexible", "linkage", "sweep"]


@pytest.mark.parametrize("path", BOOKS, ids=lambda p: p.stem)
def test_notebooks_run_and_check_themselves(path, tmp_path):
    book = nbformat.read(path, as_version=4)
    nbformat.validate(book)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code), "clear all outputs before committing"
    assert sum(cell.source.count("assert ") for cell in code) >= 2
    executed(book, tmp_path)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    pictures = [kinds for cell in code for kinds in shown(cell) if "image/png" in kinds]
    assert pictures
    assert not any("stderr" in streams(cell) for cell in code), [streams(cell) for cell in code]
    for cell in code:  # a plot at the end of a cell is shown once
        if ".plot(" in cell.source.splitlines()[-1]:
            assert sum("image/png" in kinds for kinds in shown(cell)) == 1


def test_they_are_linked():
    page = (ROOT / "docs" / "notebooks.md").read_text()
    for book in BOOKS:
        assert f"notebooks/{book.name}" in page
    assert "notebooks.md" in (ROOT / "mkdocs.yml").read_text()
    assert "notebooks.md" in (ROOT / "docs" / "index.md").read_text()
    assert "docs/notebooks.md" in (ROOT / "README.md").read_text()
