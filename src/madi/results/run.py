"""`Run`: the labelled results of a simulation."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError

if TYPE_CHECKING:
    import xarray as xr

AXES = ["x", "y", "z"]


class Run:
    """Results of a run: `run.data` is an xarray Dataset with names and units; `run.statistics` counts the work done."""

    def __init__(self, data: xr.Dataset, statistics: dict[str, Any]):
        self.data = data
        self.statistics = statistics

    def __repr__(self) -> str:
        time = self.data["time"].values
        span = f"{time[0]:g} to {time[-1]:g} s" if len(time) else "nothing"
        return f"<Run of {self.data.attrs.get('model')!r}: {span}, {len(time)} outputs, {self.statistics}>"

    def __getitem__(self, name: str) -> np.ndarray:
        """A signal by name: a coordinate ("A"), a speed ("A.v"), an acceleration ("A.a"), a body's "arm.x", "arm.vz",
        "arm.az", "arm.wx", its Bryant angles "arm.rx", "arm.ry", "arm.rz", a joint load "A.fx", "A.mz", a driving force
        "A.drive", the value of a force element by its name, or "kinetic", "potential", "energy"."""
        return self._signal(name)[0]

    def _signal(self, name: str) -> tuple[np.ndarray, str]:
        data = self.data
        if not isinstance(name, str):
            raise InputError(
                f"signals have names, such as {str(data['coordinate'].values[0])!r}, not {type(name).__name__}s"
            )
        if name in data and data[name].dims == ("time",):
            return data[name].values, data[name].attrs.get("units", "")
        for variable, dim, ending in (("q", "coordinate", ""), ("v", "speed", ".v"), ("a", "speed", ".a"),
                                      ("driving_force", "driven", ".drive")):  # fmt: skip
            stem = name.removesuffix(ending) if ending else name
            if variable in data and (not ending or name.endswith(ending)) and stem in data[dim].values:
                units = dict(
                    zip(data[dim].values.tolist(), data.attrs.get(f"{variable}_units", "").split("|"), strict=False)
                )
                return data[variable].sel({dim: stem}).values, units.get(stem, "")
        element, _, part = name.rpartition(".")
        parts = {
            **{a: ("position", "body", a) for a in AXES}, **{"v" + a: ("velocity", "body", a) for a in AXES},
            **{"a" + a: ("acceleration", "body", a) for a in AXES},
            **{"w" + a: ("angular_velocity", "body", a) for a in AXES},
            **{"r" + a: ("bryant", "body", a) for a in AXES},
            **{"f" + a: ("reaction_force", "joint", a) for a in AXES},
            **{"m" + a: ("reaction_moment", "joint", a) for a in AXES},
        }  # fmt: skip
        if part in parts:
            variable, dim, axis = parts[part]
            if variable in data and element in data[dim].values:
                return data[variable].sel({dim: element, "axis": axis}).values, data[variable].attrs["units"]
        if "force" in data.coords and name in data["force"].values:
            return data["force_value"].sel(force=name).values, ""
        if (
            part in parts
            and parts[part][1] == "joint"
            and ("force" not in data.coords or element not in data["force"].values)
        ):
            raise InputError(f"the load {name!r} was not recorded; ask for it: madi.simulate(..., reactions=[{element!r}])")
        raise InputError(
            f"there is no signal {name!r}. Coordinates: {', '.join(map(str, data['coordinate'].values[:12]))}; bodies: "
            f"{', '.join(map(str, data['body'].values[:12]))} with .x .vx .wx and so on"
        )

    def plot(self, *names: str, path: str | os.PathLike[str] | None = None, title: str | None = None) -> Any:
        """Plot signals over time, one panel per unit; saved to `path` if given. Returns the figure."""
        from matplotlib.figure import Figure

        chosen = names or tuple(str(name) for name in self.data["coordinate"].values)
        groups: dict[str, list[tuple[str, np.ndarray]]] = {}
        for name in chosen:
            values, unit = self._signal(name)
            groups.setdefault(unit, []).append((name, values))
        figure = Figure(figsize=(8, 1.2 + 1.7 * len(groups)), layout="constrained")
        axes = figure.subplots(len(groups), 1, sharex=True, squeeze=False)[:, 0]
        for axis, (unit, lines) in zip(axes, groups.items(), strict=True):
            for name, values in lines:
                axis.plot(self.data["time"], values, label=name, linewidth=1.4)
            axis.set_ylabel(unit or "-")
            axis.grid(alpha=0.3)
            axis.legend(loc="upper right", fontsize=8)
        axes[-1].set_xlabel("time, s")
        figure.suptitle(title or str(self.data.attrs.get("model", "")))
        if path is not None:
            figure.savefig(path, dpi=140)
        return figure

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write netCDF; the file appears under its name only when it is whole."""
        target = Path(path)
        if not target.parent.is_dir() or target.is_dir():
            raise InputError(f"{target}: cannot be written; its folder must exist, and it must not be one itself")
        data = self.data.assign_attrs({f"statistics_{name}": value for name, value in self.statistics.items()})
        handle, name = tempfile.mkstemp(dir=target.parent, suffix=".part")
        os.close(handle)
        try:
            data.to_netcdf(name, engine="h5netcdf")
            mask = os.umask(0)
            os.umask(mask)
            os.chmod(name, 0o666 & ~mask)  # as any new file of the user's
            os.replace(name, target)
        finally:
            if os.path.exists(name):
                os.unlink(name)
        return target


def load_run(path: str | os.PathLike[str]) -> Run:
    """Read a run that `Run.save` wrote."""
    import xarray as xr

    try:
        with xr.open_dataset(path, engine="h5netcdf") as file:
            data = file.load()
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: not a run that madi can read ({error})") from error
    mark = "statistics_"
    statistics = {key.removeprefix(mark): value for key, value in data.attrs.items() if key.startswith(mark)}
    return Run(data.assign_attrs({k: v for k, v in data.attrs.items() if not k.startswith(mark)}), statistics)
