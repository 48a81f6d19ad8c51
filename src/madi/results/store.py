"""Where the numbers of a run lie: in the process's own memory, or in files, so that a run of very many outputs needs no more
memory than a stretch of them.

Such a file has no name and is gone with the process, however it ends; that of the outputs of a run with a checkpoint has
one: the run goes on from it. Its room on the disk is taken when it is made: a full disk is told before anything is computed.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from madi.errors import InputError

BLOCK = 2**20  # bytes that are written at a time where a system cannot set room aside


class Heap:
    """The process's own memory."""

    at_once: int | None = None  # numbers of a stretch; None: all outputs are recorded together

    def reals(self, shape: tuple[int, ...]) -> np.ndarray:
        """Numbers, zero."""
        return np.zeros(shape)

    def outputs(self, count: int) -> np.ndarray:
        """The same for states at the outputs, which a checkpoint keeps."""
        return self.reals((count,))

    def chosen(self, rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """Some rows."""
        return np.ascontiguousarray(rows[wanted])

    def release(self) -> None:
        """What was touched need not stay in memory."""

    def flush(self) -> None:
        """What is in files is on the disk."""


HEAP = Heap()


class Mapped(Heap):
    """Numbers in files of a folder."""

    at_once: int = 1_000_000

    def __init__(self, folder: Path, name: Path | None = None, again: bool = False):
        """`name`: of the file of the outputs. `again`: what is there is gone on with, if it is as long."""
        self.folder, self.name, self.again = folder, name, again
        self.maps: list[mmap.mmap] = []

    def reals(self, shape: tuple[int, ...]) -> np.ndarray:
        """See Heap."""
        return self._mapped(None, int(np.prod(shape, dtype=np.int64))).reshape(shape)

    def outputs(self, count: int) -> np.ndarray:
        """See Heap."""
        return self._mapped(self.name, count)

    def chosen(self, rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """See Heap; all of them as they are, unless somebody goes on from them (recording closes loops where they lie)."""
        if self.name is None and wanted.all():
            return rows
        where = np.flatnonzero(wanted)
        found = self.reals((len(where), *rows.shape[1:]))
        step = max(self.at_once // max(rows.shape[1], 1), 1)
        for first in range(0, len(where), step):
            found[first : first + step] = rows[where[first : first + step]]
            self.release()
        return found

    def release(self) -> None:
        """See Heap: the system has the pages, and writes them when it likes."""
        if hasattr(mmap, "MADV_DONTNEED"):
            for one in self.maps:
                one.madvise(mmap.MADV_DONTNEED)

    def flush(self) -> None:
        """See Heap."""
        for one in self.maps:
            one.flush()

    def _mapped(self, name: Path | None, count: int) -> np.ndarray:
        if count == 0:
            return np.zeros(0)
        try:
            with self._file(name, 8 * count) as file:
                made = mmap.mmap(file.fileno(), 8 * count)
        except OSError as error:
            place = self.folder if name is None else name
            raise InputError(f"{place}: there is no room for {8 * count} bytes of outputs ({error.strerror})") from None
        self.maps.append(made)
        return np.frombuffer(made, dtype=float)

    def _file(self, name: Path | None, size: int) -> IO[bytes]:
        if name is not None and self.again and name.is_file() and name.stat().st_size == size:
            return name.open("r+b")
        if name is None or self.again:  # (whoever wants to go on with what is not there is told, and nothing is lost)
            file: Any = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115
        else:
            name.unlink(missing_ok=True)  # another run may still read it
            file = name.open("w+b")
        try:
            _take_room(file, size)
        except OSError:
            file.close()
            if name is not None and not self.again:
                name.unlink()
            raise
        return file  # type: ignore[no-any-return]


def _take_room(file: Any, size: int) -> None:
    """Without it, a page for which the full disk has no place ends the process."""
    if hasattr(os, "posix_fallocate"):
        with suppress(InterruptedError):
            os.posix_fallocate(file.fileno(), 0, size)
            return
    for first in range(0, size, BLOCK):
        file.write(bytes(min(BLOCK, size - first)))
    file.flush()
