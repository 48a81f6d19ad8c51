"""Notebooks, run as a reader runs them."""

import os
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from tests.package.places import SOURCE


def executed(book, folder: Path, timeout=300):
    """Run all cells in a kernel of their own, in `folder`; the notebook with its outputs."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent), "JUPYTER_PLATFORM_DIRS": "1"}
    client = NotebookClient(book, timeout=timeout, kernel_name="python3", resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment)
    return book


def of_cells(*sources):
    """A notebook of these cells."""
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in sources])


def shown(cell):
    """What a cell shows: MIME types of each output that is one."""
    return [set(output["data"]) for output in cell["outputs"] if output["output_type"] in ("display_data", "execute_result")]


def streams(cell):
    """What it writes, by stream."""
    return {output["name"]: output["text"] for output in cell["outputs"] if output["output_type"] == "stream"}
