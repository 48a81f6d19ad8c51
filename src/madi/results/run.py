"""`Run`: the labelled results of a simulation."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from madi.errors import InputError, MadiError, MadiWarning
from madi.files import whole_file
from madi.given import File
from madi.results.events import Event, events_of
from madi.results.files import look_through, refuse_misfits, seal
from madi.results.labelled import Labelled
from madi.results.meshes import MESH, give_meshes, mesh_variables
from madi.results.signals import AXES, names, panels, signal
from madi.results.writing import checked_type, parted, write

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

    from madi.model.model import Model
    from madi.show.figure import Picture
    from madi.view import Shown

MOST_PLOTTED = 8  # coordinates, where none are named
MOST_SHOWN = 12  # coordinates in a notebook's table


class Run:
    """Results of a run: `run.data` is an xarray Dataset with names and units; `run.statistics` counts the work done. The
    states are there; what follows from them is computed when it is first asked for."""

    def __init__(self, data: xr.Dataset | Labelled, statistics: dict[str, Any], model: Model | None = None):
        self.arrays: Any = data  # plain arrays with names, until someone asks for the Dataset; then that
        self.statistics = statistics
        self._model = model
        self._meshes: list[Any] = []  # looks that came with a run's file

    @property
    def data(self) -> xr.Dataset:
        """All results, with names and units. It is the run's data: signals by name follow what is written into it."""
        if isinstance(self.arrays, Labelled):
            self.arrays = self.arrays.dataset()
        made: xr.Dataset = self.arrays
        return made

    @property
    def model(self) -> Model | None:
        """The model it is a run of; of a run from a file, as it was saved with it."""
        if self._model is None and "model_file" in self.arrays.attrs:
            from madi.schema.read import loads

            self._model = loads(str(self.arrays.attrs["model_file"]), "the model in the run's file")
            give_meshes(self._model, self._meshes)
        return self._model

    def __repr__(self) -> str:
        time = self.arrays["time"].values
        span = f"{time[0]:g} to {time[-1]:g} s" if len(time) else "nothing"
        return f"<Run of {self.arrays.attrs.get('model')!r}: {span}, {len(time)} outputs, {self.statistics}>"

    def _repr_html_(self) -> str:
        from madi.show.html import heading, listed, remark, table, whole

        time = self.arrays["time"].values
        facts = [f"{time[0]:g} to {time[-1]:g} s, {len(time)} outputs"] if len(time) else ["nothing"]
        facts += [f"{self.statistics[name]} {name}" for name in ("steps", "evaluations") if name in self.statistics]
        facts += [str(self.statistics[name]) for name in ("method", "engine") if name in self.statistics]
        known = [str(name) for name in self.arrays["coordinate"].values]
        rows = []
        for name in known[:MOST_SHOWN] if len(time) else ():
            values, unit = signal(self.arrays, f"{name}.q")
            rows.append((name, unit or "", *map(float, (values[0], values[-1], np.min(values), np.max(values)))))
        more = len(known) - MOST_SHOWN
        return whole(
            heading(f"Run of {self.arrays.attrs.get('model', '')}", *facts),
            table(("coordinate", "unit", "start", "end", "least", "greatest"), rows),
            remark(f"and {more} more coordinates" if more > 0 else ""),
            remark(f"{len(self.signals)} signals: {listed(self.signals)}"),
        )

    def __getitem__(self, name: str) -> np.ndarray:
        """A signal by name: a coordinate ("A", also "A.q"; of a cut joint too), a speed ("A.v"), an acceleration ("A.a"); a
        body's position "arm.x" (its name comes first: a coordinate of a joint of the same name is "arm.x.q"), "arm.vz",
        "arm.az", "arm.wx" in ground axes, "arm.ax_body" and so on along its own, "arm.roll", "arm.pitch", "arm.yaw",
        "arm.slip" as ISO 8855 has them, its Bryant angles "arm.rx", "arm.ry", "arm.rz"; a joint load "A.fx", "A.mz", its
        driving force "A.drive", its whole load "A.force", "A.moment"; of a force element "s.force", "s.power",
        "s.potential", "s.dissipated"; a first-order state "z", its rate "z.rate"; or "kinetic", "potential",
        "energy". `run.signals` lists them."""
        return signal(self.arrays, name)[0]

    @property
    def events(self) -> list[Event]:
        """What happened: impacts, sticking and sliding, `m.event`s; in their order."""
        return events_of(self.arrays)

    @property
    def incomplete(self) -> str | None:
        """Why it did not come to its end; None: it did."""
        found = self.arrays.attrs.get("incomplete")
        return None if found is None else str(found)

    @property
    def signals(self) -> list[str]:
        """Names of all signals."""
        return names(self.arrays)

    def plot(self, *names: str, path: File | None = None, title: str | None = None) -> Picture:
        """Plot signals over time, one panel for each unit and size; saved to `path` if given. Returns the figure. Without
        names: the joint coordinates, of a large model the first ones. In a notebook it shows itself at the end of a cell."""
        from madi.show.figure import Picture

        known = [str(name) for name in self.arrays["coordinate"].values]
        chosen = names or tuple(known[:MOST_PLOTTED])
        groups = panels([(name, *signal(self.arrays, name)) for name in chosen])
        figure = Picture(figsize=(8, 1.2 + 1.7 * len(groups)), layout="constrained")
        axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
        for axis, lines in zip(axes, groups, strict=True):
            for name, values, _ in lines:
                axis.plot(self.arrays["time"], values, label=name, linewidth=1.4)
            axis.set_ylabel(lines[0][2] or "-")
            axis.grid(alpha=0.3)
            axis.legend(loc="upper right", fontsize=8)
        axes[-1].set_xlabel("time, s")
        told = "" if names or len(known) <= MOST_PLOTTED else f" ({MOST_PLOTTED} of {len(known)} coordinates; name others)"
        figure.suptitle(title or f"{self.arrays.attrs.get('model', '')}{told}")
        if path is not None:
            try:
                figure.savefig(path, dpi=140)
            except ValueError as error:
                raise InputError(f"{path}: cannot be drawn there ({error})") from None
        return figure

    @overload
    def view(self, path: File, **options: Any) -> Path: ...

    @overload
    def view(self, path: None = None, **options: Any) -> Path | Shown: ...

    def view(self, path: File | None = None, **options: Any) -> Path | Shown:
        """One HTML page with animation and plots: written to `path`; without one, shown in a notebook, or in a browser."""
        from madi.view import view

        return view(self, path, **options)

    def table(self, *names: str) -> pd.DataFrame:
        """Signals as a pandas DataFrame over time; default: coordinates, velocities, positions of bodies, energies,
        loads."""
        import pandas as pd

        chosen = list(names) or default_columns(self.arrays)
        columns = {name: signal(self.arrays, name) for name in chosen}
        frame = pd.DataFrame({name: values for name, (values, _) in columns.items()})
        frame.insert(0, "time", self.arrays["time"].values)
        frame.attrs["units"] = {"time": "s", **{name: unit for name, (_, unit) in columns.items()}}
        return frame

    def save(self, path: File, *names: str, dtype: Any = None, compression: bool = False) -> Path:
        """Write the run: netCDF (.nc, everything), or a table of signals as .csv or .parquet (default as in `table`). The
        file appears under its name only when it is whole. What nobody has asked for yet is computed on the way to the file,
        piece by piece. `dtype="float32"`, `compression=True`: of a .nc file, half as large, and smaller still."""
        target = Path(path)
        if target.suffix.lower() != ".nc" and (dtype is not None or compression):
            raise InputError(f"{target}: dtype and compression are for .nc files")
        checked_type(dtype)
        if target.suffix.lower() not in (".nc", ".csv", ".parquet"):
            raise InputError(f"{target}: runs are saved as .nc, .csv or .parquet")
        if target.suffix.lower() in (".csv", ".parquet"):
            frame = self.table(*names)
            units = frame.attrs["units"]
            frame.columns = [harmless(f"{name} [{units[name]}]" if units[name] else name) for name in frame.columns]
            with whole_file(target) as part:
                if target.suffix.lower() == ".csv":
                    frame.to_csv(part, index=False, float_format="%.17g")
                else:
                    _parquet(frame, part)
            return target
        data, waiting = parted(self.arrays)
        data = data.assign_attrs({f"statistics_{name}": value for name, value in self.statistics.items()})
        if self._model is not None:
            from madi.schema.write import portable

            try:
                data.attrs["model_file"] = portable(self._model)
                data = data.assign(mesh_variables(self._model))
            except MadiError as error:  # the run itself must not be lost for it
                warnings.warn(MadiWarning(f"the run is saved without its model, so it has no page: {error}"), stacklevel=2)
        with whole_file(target) as part:
            write(part, data, waiting, self.arrays, dtype, compression)
            seal(part)
        return target


def harmless(head: str) -> str:
    """A column's head that no spreadsheet takes for a formula."""
    return f"'{head}" if head[:1] in ("=", "+", "-", "@", "\t", "\r") else head


def _parquet(frame: Any, path: Path) -> None:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        raise InputError("Parquet needs pyarrow: pip install 'madi[parquet]'; or write .csv or .nc") from None
    frame.attrs = {}
    frame.to_parquet(path, index=False)


def default_columns(data: Any) -> list[str]:
    """Signals a table has where none are named."""
    found = [name for name in ("energy", "kinetic", "potential", "violation") if name in data]
    bodies = set(map(str, data["body"].values))
    coordinates = [str(name) for name in data["coordinate"].values]
    taken = [name for name in coordinates if name.rpartition(".")[0] in bodies and name[-1] in AXES]
    found += [f"{name}.q" if name in taken else name for name in coordinates] + [
        f"{name}.v" for name in data["speed"].values
    ]
    found += [f"{body}.{axis}" for body in data["body"].values for axis in AXES]
    for dim, endings in (("driven", ("drive",)), ("force", ("force",)), ("joint", ("fx", "fy", "fz", "mx", "my", "mz"))):
        if dim in data.coords:
            found += [f"{name}.{ending}" for name in data[dim].values for ending in endings]
    return found


def load_run(path: File) -> Run:
    """Read a run that `Run.save` wrote."""
    import xarray as xr

    if not Path(path).is_file():
        raise InputError(f"there is no file {str(path)!r}")
    try:
        look_through(Path(path))
        with xr.open_dataset(path, engine="h5netcdf", decode_times=False) as file:
            data = file.load()
    except InputError:
        raise
    except Exception as error:  # whatever HDF5, h5netcdf and xarray have against it
        raise InputError(f"{path}: not a run that madi can read ({type(error).__name__}: {str(error)[:200]})") from None
    refuse_misfits(Path(path), data)
    return _run_of(data)


def opened(path: Path, model: Model | None) -> Run:
    """The run in a file that was written just now; numbers are read from it when they are asked for, and not kept."""
    import xarray as xr

    run = _run_of(xr.open_dataset(path, engine="h5netcdf", decode_times=False, cache=False))
    run._model = model
    return run


def _run_of(data: xr.Dataset) -> Run:
    """A run from what its file holds."""
    meshes = [data[name] for name in data.data_vars if str(name).startswith(MESH)]
    data = data.drop_vars([mesh.name for mesh in meshes])
    mark = "statistics_"
    given = {key.removeprefix(mark): value for key, value in data.attrs.items() if key.startswith(mark)}
    statistics = {key: value.item() if isinstance(value, np.generic) else value for key, value in given.items()}
    run = Run(data.assign_attrs({k: v for k, v in data.attrs.items() if not k.startswith(mark)}), statistics)
    run._meshes = meshes
    return run
