"""A user's session: new, check, run, plot, view, statics, linearize, schema. Each works on the model or run that is here."""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from madi.cli.app import MODEL, Json, app, print_json, ready_file

Model = Annotated[str | None, typer.Argument(help=f"{MODEL} Default: the model file in this folder.", show_default=False)]
Set = Annotated[list[str] | None, typer.Option("--set", help="Change a parameter of the file: --set 'L=60 cm'.")]
Loads = Annotated[list[str] | None, typer.Option(help="A joint whose load is recorded, A or A:child; again for more.")]
RunFile = Annotated[str | None, typer.Argument(help="A run (.nc). Default: the newest in this folder.", show_default=False)]


def parameters(given: list[str] | None) -> dict[str, str]:
    """Of --set NAME=VALUE."""
    found = {}
    for word in given or []:
        name, equals, value = word.partition("=")
        if not equals or not name.strip() or not value.strip():
            raise typer.BadParameter(f"--set {word!r}: write NAME=VALUE, such as 'L=60 cm'")
        found[name.strip()] = value.strip()
    return found


@app.command()
def new(
    template: Annotated[str | None, typer.Argument(help="Which example; without one, they are listed.")] = None,
    out: Annotated[Path | None, typer.Option(help="The file to write; default TEMPLATE.yaml.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write an example model to start from.

    Example: madi new four-bar
    """
    from madi.cli.models import template as text_of
    from madi.cli.models import templates
    from madi.errors import InputError
    from madi.files import whole_file

    if template is None:
        for name, told in templates().items():
            print(f"{name:14} {told}")
        return
    text = text_of(template)
    target = out or Path(f"{template}.yaml")
    if target.exists() and not force:
        raise InputError(f"{target} is there already; give --out another name, or --force")
    ready_file(target)
    with whole_file(target) as part:
        part.write_text(text, encoding="utf-8")
    print(f"{target}: {templates()[template]}")
    print(f"next: madi check {target} && madi run {target} && madi view")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="A URDF or MJCF file.")],
    out: Annotated[Path | None, typer.Option(help="The model file to write; default: beside FILE, with .yaml.")] = None,
    limits: Annotated[bool, typer.Option("--limits", help="Make stops of the joints' limits.")] = False,
    friction: Annotated[bool, typer.Option("--friction", help="Carry the joints' dry friction over.")] = False,
    free: Annotated[bool, typer.Option("--free", help="Let a URDF robot's base move freely.")] = False,
) -> None:
    """Make a model file of a URDF or MJCF file, and tell what was not carried over.

    Example: madi import robot.urdf --limits --out robot.yaml
    """
    from madi.cli.models import imported

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # told below
        model = imported(file, limits, "free" if free else "fixed", friction)
    target = model.save(ready_file(out or file.with_suffix(".yaml")))
    print(f"{target}: {len(model.bodies)} bodies, {len(model.joints)} joints, {len(model.constraints)} constraints")
    for note in model.notes:
        print(f"  not carried over: {note}")


@app.command()
def check(
    model: Model = None,
    step: Annotated[str | None, typer.Option(help="The step you mean to use; default the file's.")] = None,
    method: Annotated[str | None, typer.Option(help="The integrator you mean to use.")] = None,
    change: Set = None,
    as_json: Json = False,
) -> None:
    """Examine a model: defects, units, mobility, redundancy, stiffness; each finding with its cure. Exit code 1 on errors.

    Example: madi check four-bar.yaml --step 1ms
    """
    from madi.analysis.doctor import examine
    from madi.cli.models import find_model, seconds

    found = examine(find_model(model, parameters(change)), seconds(step) if step else None, method)
    print(json.dumps({"ok": found.ok, "findings": found.as_dicts()}, indent=2) if as_json else found)
    if not found.ok:
        raise typer.Exit(1)


@app.command()
def run(
    model: Model = None,
    duration: Annotated[str | None, typer.Option(help="Simulated time: 10s. Default: the file's.")] = None,
    step: Annotated[str | None, typer.Option(help="Length of a step, for rk4, newmark ...: 1ms")] = None,
    method: Annotated[str | None, typer.Option(help="Integrator: dopri, abm, rk4, newmark, radau ...")] = None,
    loops: Annotated[str | None, typer.Option(help="How loops are closed: projection, svd ...")] = None,
    engine: Annotated[str | None, typer.Option(help="auto, jit, compiled, plain.")] = None,
    formulation: Annotated[str | None, typer.Option(help="recursive, articulated, velocity-transform, cartesian.")] = None,
    every: Annotated[str | None, typer.Option(help="Time between outputs: 10ms")] = None,
    rtol: Annotated[float | None, typer.Option(help="Relative tolerance of adaptive integrators.")] = None,
    max_step: Annotated[str | None, typer.Option(help="Longest step of adaptive integrators.")] = None,
    reaction: Loads = None,
    out: Annotated[Path | None, typer.Option(help="Where the run is saved: .nc, .csv, .parquet. Default MODEL.nc.")] = None,
    checkpoint: Annotated[str | None, typer.Option(help="Keep the run every so often (computing time): 10s")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the checkpoint, if there is one.")] = False,
    change: Set = None,
    quiet: Annotated[bool, typer.Option("--quiet", help="No progress on the terminal.")] = False,
    as_json: Json = False,
) -> None:
    """Simulate a model and save the run (.nc: while it goes on, in little memory). Ctrl-C saves what was computed.

    Example: madi run four-bar.yaml --duration 5s --reaction A --out four-bar.nc
    """
    from madi.cli.models import chosen_model, find_model, seconds
    from madi.errors import InputError
    from madi.run.checkpoint import Checkpoint
    from madi.run.stream import place_of

    model = chosen_model(model)
    drawn = find_model(model, parameters(change))
    target = out or Path(f"{_stem(model)}.nc")
    if target.suffix.lower() not in (".nc", ".csv", ".parquet"):
        raise InputError(f"--out {target}: name a file .nc, .csv or .parquet")
    ready_file(target)
    kept = Path(f"{target}.checkpoint")
    options: dict[str, Any] = {
        "method": method, "loops": loops, "engine": engine, "formulation": formulation, "rtol": rtol,
        "reactions": _loads(reaction),
    }  # fmt: skip
    times = {"duration": duration, "step": step, "every": every, "max_step": max_step}
    options |= {name: seconds(word) for name, word in times.items() if word}
    options = {name: value for name, value in options.items() if value is not None}
    if checkpoint is not None or resume:
        options["checkpoint"] = Checkpoint(kept, seconds(checkpoint or "10s"), resume)
        if resume and not as_json:
            print(_taken_up(kept))
    if target.suffix.lower() == ".nc":
        options["out"] = target
    began, beside = time.perf_counter(), place_of(target, True)
    found, told = _carried_out(drawn, {**options, "progress": False if quiet else None})
    target = beside if told else target
    if "out" not in options:
        found.save(target)
    if not told:
        for path in (kept, Path(f"{kept}.outputs")):
            path.unlink(missing_ok=True)
    if as_json:
        print_json(_summary(found, target, told))
    else:
        _tell(found, target, time.perf_counter() - began)
    if told:
        print(f"madi: {told}", file=sys.stderr)
        raise typer.Exit(1)


def _carried_out(drawn: Any, options: dict[str, Any]) -> tuple[Any, str]:
    """The run as far as it came, and what stopped it, if anything did."""
    from madi.errors import RunError

    found, told, stopped = None, "", None
    try:
        found = drawn.simulate(**options)
    except RunError as error:
        found, told = error.run, str(error).replace("are in error.run", "are saved")
    except KeyboardInterrupt as interrupt:
        found, told, stopped = getattr(interrupt, "run", None), "stopped", interrupt
    if found is None or not len(found.data["time"]):
        raise stopped or RunError(told)
    return found, told


def _loads(words: list[str] | None) -> dict[str, str] | None:
    """Of --reaction A, or A:child: the axes of its signals."""
    if not words:
        return None
    from madi.results.loads import WORDS

    pairs = (word.rpartition(":") for word in words)
    return {(name if axes in WORDS and name else word): (axes if axes in WORDS and name else "ground")
            for word, (name, _, axes) in zip(words, pairs, strict=True)}  # fmt: skip


def _stem(word: str) -> str:
    """The name of what a model gives: that of its file."""
    return Path(word).stem if Path(word).suffix else word.replace("/", "-")


def _taken_up(path: Path) -> str:
    """From where a checkpoint goes on."""
    from madi.run.checkpoint import time_of

    at = time_of(path)
    return "no checkpoint yet: from the beginning" if at is None else f"taken up at t = {at:.6g} s ({path})"


def _summary(found: Any, target: Path, told: str) -> dict[str, Any]:
    data = found.data
    statistics = {name: value for name, value in found.statistics.items() if isinstance(value, int | float | str)}
    most: dict[str, Any] = {"violation": float(data["violation"].max())} if "violation" in data else {}
    most["energy"] = [float(data["energy"][0]), float(data["energy"][-1])]
    return {"model": data.attrs["model"], "file": str(target), "outputs": data.sizes["time"], "end": float(data["time"][-1]),
            "stopped": told, **most, "statistics": statistics}  # fmt: skip


def _tell(found: Any, target: Path, took: float) -> None:
    data, statistics = found.data, found.statistics
    span = float(data["time"][-1])
    wall = float(statistics.get("wall_time", 0.0))
    factor = f", {span / wall:.0f} times faster than real time" if 0 < wall < span else ""
    how = ", ".join(str(statistics[name]) for name in ("method", "loops", "engine") if statistics.get(name))
    print(f"{data.attrs['model']}: {span:g} s in {statistics.get('steps')} steps ({how})")
    print(f"computing time {wall:.3g} s{factor}" + (f"; with set-up {took:.2g} s" if took > wall else ""))
    if "violation" in data:
        print(f"loops closed to {float(data['violation'].max()):.1e} m or rad")
    if "energy" in data:
        energy = data["energy"].values
        print(f"energy {energy[0]:.6g} J at the start, {energy[-1]:.6g} J at the end")
    more = f"    look at it: madi view {target}    plot: madi plot {target} SIGNAL ..." if target.suffix == ".nc" else ""
    print(f"saved: {target}{more}")


@app.command()
def plot(
    run: RunFile = None,
    signals: Annotated[list[str] | None, typer.Argument(help="Signals: A, chassis.z, spring.force ...")] = None,
    out: Annotated[Path | None, typer.Option(help="The picture (.png, .svg, .pdf). Default RUN.png.")] = None,
    names: Annotated[bool, typer.Option("--list", help="List all signals of the run instead.")] = False,
) -> None:
    """Plot signals of a run over time.

    Example: madi plot four-bar.nc A coupler.x --out four-bar.png
    """
    from madi.cli.models import find_run

    if run is not None and Path(run).suffix.lower() != ".nc":  # all words are signals of the run that is here
        signals = [run, *(signals or [])]
        run = None
    found, path = find_run(run)
    if names:
        print("\n".join(found.signals))
        return
    target = ready_file(out or path.with_suffix(".png"))
    found.plot(*(signals or []), path=target)
    print(f"figure: {target}")


@app.command()
def view(
    run: Annotated[
        str | None, typer.Argument(help="A run (.nc), or a model, which is run first.", show_default=False)
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The page. Default RUN.html.")] = None,
    signal: Annotated[list[str] | None, typer.Option(help="A signal to plot; several by commas share a panel.")] = None,
    follow: Annotated[str | None, typer.Option(help="The body the camera follows.")] = None,
    trace: Annotated[str | None, typer.Option(help="A body whose way is drawn.")] = None,
    speed: Annotated[float | None, typer.Option(help="Speed of the animation; default: it lasts some seconds.")] = None,
    browser: Annotated[bool, typer.Option("--open/--no-open", help="Open it in a browser.")] = True,
) -> None:
    """Make one HTML page of a run: animation, plots, tree, findings. It needs no network.

    Example: madi view four-bar.nc --trace coupler --signal A,B
    """
    import webbrowser

    from madi.cli.models import find_model, find_run

    if out is not None:
        ready_file(out)
    if run is not None and Path(run).suffix.lower() != ".nc":
        drawn, path = find_model(run), Path(f"{Path(run).stem}.nc")
        ready_file(out or path.with_suffix(".html"))
        found = drawn.simulate()
    else:
        found, path = find_run(run)
    ready_file(out or path.with_suffix(".html"))
    groups = [[name.strip() for name in word.split(",")] for word in signal or []]
    target = found.view(out or path.with_suffix(".html"), signals=groups, follow=follow, trace=trace, speed=speed)
    print(f"page: {target.resolve()}")
    if browser and sys.stdout.isatty():
        webbrowser.open(target.resolve().as_uri())


@app.command()
def statics(model: Model = None, change: Set = None, as_json: Json = False) -> None:
    """Find the static equilibrium of a model, and the loads of its joints there.

    Example: madi statics car
    """
    from madi.assembly.statics import statics as rest
    from madi.cli.app import show
    from madi.cli.models import find_model

    found = rest(find_model(model, parameters(change)))
    system = found.system
    coordinates = dict(zip(system.coordinates, map(float, found.q), strict=True))
    loads = {name: {"force": load.force.tolist(), "moment": load.moment.tolist(), "unique": load.unique}
             for name, load in found.reactions().items()}  # fmt: skip
    if as_json:
        report = {"model": system.name, "stable": found.stable, "free": list(found.free), "residual": found.residual,
                  "coordinates": coordinates, "loads": loads}  # fmt: skip
        print_json(report)
        return
    units = dict(zip(system.coordinates, system.frozen.units, strict=True))
    rows = [{"coordinate": name, "at rest": f"{value:.6g}", "unit": units[name]} for name, value in coordinates.items()]
    table = [{"joint": name, **{f"f{a}, N": f"{x:.5g}" for a, x in zip("xyz", load["force"], strict=True)},
              **{f"m{a}, N m": f"{x:.5g}" for a, x in zip("xyz", load["moment"], strict=True)},
              "unique": "yes" if load["unique"] else "no"} for name, load in loads.items()]  # fmt: skip
    tables = {"coordinates": rows} | ({"loads on the joints' children, global axes": table} if table else {})
    show({"title": repr(found).strip("<>"), "tables": tables})


@app.command()
def linearize(
    model: Model = None,
    inputs: Annotated[str, typer.Option(help="Coordinates on which forces act, by commas.")] = "",
    outputs: Annotated[str, typer.Option(help="Signals of interest, by commas.")] = "",
    mode: Annotated[int | None, typer.Option(help="Make a page of this mode's motion (numbers as in the table).")] = None,
    out: Annotated[Path | None, typer.Option(help="The mode's page. Default mode.html.")] = None,
    change: Set = None,
    as_json: Json = False,
) -> None:
    """Linearise a model about its equilibrium: eigenvalues, frequencies, damping; with --json also A, B, C, D.

    Example: madi linearize car --inputs rack --outputs chassis.vy
    """
    from madi.analysis.linearize import linearize as make
    from madi.cli.models import find_model

    words = [[word.strip() for word in text.split(",") if word.strip()] for text in (inputs, outputs)]
    page = ready_file(out or Path("mode.html")) if mode is not None else None
    found = make(find_model(model, parameters(change)), inputs=words[0], outputs=words[1])
    if as_json:
        values = [{"real": float(v.real), "imag": float(v.imag)} for v in found.eigenvalues]
        matrices = {name: getattr(found, name).tolist() for name in "ABCD"}
        report = {"model": found.system.name, "states": list(found.states), "inputs": list(found.inputs),
                  "steady": found.steady, "outputs": list(found.outputs), "eigenvalues": values, **matrices}  # fmt: skip
        print_json(report)
    else:
        print(found)
    if mode is not None:
        print(f"page: {found.motion(mode).view(page)}")


@app.command()
def schema(
    reference: Annotated[bool, typer.Option("--reference", help="The reference page (Markdown) instead.")] = False,
) -> None:
    """Print the JSON Schema of model files: editors complete and check with it.

    Example: madi schema > madi.schema.json
    """
    from madi.schema.reference import json_schema, reference_page

    print(reference_page() if reference else json.dumps(json_schema(), indent=2))
