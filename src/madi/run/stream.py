"""Runs that go to a file while they are computed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from madi.errors import InputError, RunError
from madi.results.run import Run, opened
from madi.results.store import HEAP, Heap, Mapped
from madi.results.writing import checked_type

if TYPE_CHECKING:
    from madi.run.checkpoint import Checkpoint


@dataclass(frozen=True)
class Stream:
    """The file (.nc) a run goes to while it is computed; its memory does not grow with the number of outputs.

    `dtype="float32"`, `compression=True`: as in `run.save`, and the file is the one `run.save` writes. Until the run ends
    its states are in a file without a name in the same folder, which vanishes with the process (of a run with a checkpoint:
    in FILE.outputs beside the checkpoint's FILE, which stays); then all that follows from them is computed piece by piece,
    and the file appears under its name. One that is there already is replaced then. Of a run that failed, or was stopped by
    Ctrl-C, what was computed is in it: its `run.incomplete` says why there is no more. (It does not take the place of a
    whole run: where there is a file already, it is in FILE.failed.nc.)"""

    file: str | Path
    dtype: Any = None
    compression: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.file, str | Path):
            raise InputError(f"out={self.file!r}: give the name of a file, or madi.Stream(file, dtype=, compression=)")
        if self.path.suffix.lower() != ".nc":
            raise InputError(f"out={str(self.file)!r}: runs are streamed to .nc; run.save(...) writes other files")
        if not self.path.parent.is_dir() or self.path.is_dir():
            raise InputError(f"out={str(self.file)!r}: its folder must exist, and it must not be one itself")
        checked_type(self.dtype)

    @property
    def path(self) -> Path:
        """The file."""
        return Path(self.file)

    def take(self, run: Run) -> Run:
        """The run as its file has it: written now, read when it is asked for."""
        if not len(run.arrays["time"]):
            return run
        target = place_of(self.path, run.incomplete is not None)
        try:
            run.save(target, dtype=self.dtype, compression=self.compression)
        except OSError as error:
            raise RunError(
                f"{target}: the run cannot be written ({error}). It is in error.run: run.save(...)", run
            ) from error
        return opened(target, run._model)


def place_of(target: Path, failed: bool) -> Path:
    """Where a run is saved: one that failed does not take the place of a whole one."""
    return target.with_suffix(f".failed{target.suffix}") if failed and target.exists() else target


def stream_of(out: Stream | str | Path | None) -> Stream | None:
    """What `out` says."""
    return out if isinstance(out, Stream | None) else Stream(out)


def store_of(stream: Stream | None, checkpoint: Checkpoint | None) -> Heap:
    """Where the outputs of a run lie until they are written."""
    if stream is None:
        return HEAP
    if checkpoint is None:
        return Mapped(stream.path.parent)
    again = checkpoint.resume and checkpoint.path.exists()
    return Mapped(stream.path.parent, checkpoint.path.with_name(checkpoint.path.name + ".outputs"), again)
