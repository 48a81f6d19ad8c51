"""What the commands share: the app, JSON, tables."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from madi.errors import InputError

app = typer.Typer(help="Multibody dynamics: bodies, joints, springs, loops.", no_args_is_help=True, add_completion=True,
                  pretty_exceptions_enable=False)  # fmt: skip

Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
MODEL = "A model file (.yaml, .urdf, MuJoCo's .xml), a Python file that defines `model`, or a name (6x6, car ...)."


def no_nan(value: Any) -> Any:
    """JSON has no NaN: what was not measured is null."""
    if isinstance(value, dict):
        return {key: no_nan(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [no_nan(entry) for entry in value]
    return None if isinstance(value, float) and value != value else value


def print_json(value: Any) -> None:
    """What `--json` prints."""
    print(json.dumps(no_nan(value), indent=2))


def ready_folder(folder: Path) -> Path:
    """A folder that may be written to, made if it is not there: found out before anything is computed for it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to ({error.strerror}); name another folder") from None
    return folder


def ready_file(path: Path) -> Path:
    """A file that may be written, its folder made."""
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    ready_folder(path.parent)
    return path


def _cell(value: Any) -> str:
    """Of a table; a dash where nothing was measured."""
    if isinstance(value, float):
        return f"{value:.4g}" if value == value else "–"
    return str(value)


def show(report: dict[str, Any], as_json: bool = False) -> None:
    """A report as text: values, tables, where the figures are; or as JSON."""
    if as_json:
        print_json(report)
        return
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(f"\n[bold]{report['title']}[/bold]")
    for name, value in report.get("values", {}).items():
        console.print(f"  {name}: [cyan]{value:.6g}[/cyan]" if isinstance(value, float) else f"  {name}: {value}")
    for title, rows in report.get("tables", {}).items():
        table = Table(title=title, title_justify="left")
        for column in rows[0]:
            table.add_column(column, justify="left" if isinstance(rows[0][column], str) else "right")
        for row in rows:
            table.add_row(*map(_cell, row.values()))
        console.print(table)
    for entry in report.get("claims", []):
        console.print(f"  [bold]{entry['verdict']}[/bold]: {entry['claim']} ({entry['numbers']})", highlight=False)
    for note in report.get("notes", []):
        console.print(f"  {note}")
    for path in report.get("figures", []):
        console.print(f"  figure: {path}", soft_wrap=True)
    for path in report.get("pages", []):
        console.print(f"  page: {path}", soft_wrap=True)
