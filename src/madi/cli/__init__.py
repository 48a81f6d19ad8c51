"""The command line: `madi ...`. Exit codes: 0 good, 1 the model or run failed, 2 the call was wrong."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from madi.cli import session  # noqa: F401 - its commands
from madi.cli.app import MODEL, Json, app, print_json, ready_file, ready_folder, show
from madi.cli.books import machine, table, today, write_book
from madi.errors import MadiWarning


@app.command()
def papers(
    names: Annotated[
        list[str], typer.Argument(help="Which experiments: tracked, rssr, five-dof, rrc, lane-change, ralf, 6x6; or all.")
    ],
    out: Annotated[Path, typer.Option(help="Folder for figures and pages.")] = Path("out"),
    book: Annotated[bool, typer.Option("--book", help="Also write the book: papers.md and its pictures.")] = False,
    docs: Annotated[Path, typer.Option(help="Folder for the book.")] = Path("docs"),
    as_json: Json = False,
) -> None:
    """Run papers' experiments: tables and verdicts on the screen, figures in a folder.

    Example: madi papers rssr rrc --out figures
    """
    from madi.papers import EXPERIMENTS, experiment

    chosen = list(EXPERIMENTS) if "all" in names else list(dict.fromkeys(names))
    known = {name: functools.partial(_in_folder, experiment, name) for name in EXPERIMENTS}
    _refuse_unknown(chosen, known, "experiment", ["all"])
    if book and set(chosen) != set(EXPERIMENTS):
        raise typer.BadParameter("--book writes the whole book: say `madi papers all --book`")
    ready_folder(out)
    if book:
        ready_folder(docs)
    found = _report(chosen, known, "experiment", out, as_json)
    if book:
        from madi.papers.book import write

        made = write(docs, dict(zip(chosen, found, strict=True)), f"On {today()}. {machine()}", table)
        print(f"book: {made}", file=sys.stderr)


def _in_folder(experiment: Callable[[str], Callable[[Path], Any]], name: str, out: Path) -> Any:
    return experiment(name)(out)


@app.command()
def bench(
    names: Annotated[
        list[str], typer.Argument(help="Which benchmarks: start, trees, loops, methods, realtime, flexible, large, growth")
    ],
    quick: Annotated[bool, typer.Option(help="Fewer repetitions and no 300-link chain.")] = False,
    book: Annotated[Path | None, typer.Option(help="Also write the results as a page (Markdown).")] = None,
    as_json: Json = False,
) -> None:
    """Measure speed against peers in one run, after checking that all agree.

    Example: madi bench trees --quick
    """
    from madi.bench import BENCHMARKS

    _refuse_unknown(names, BENCHMARKS, "benchmark")
    if book is not None:
        ready_file(book)
    found = _report(names, BENCHMARKS, "benchmark", quick, as_json)
    if book is not None:
        write_book(book, "The speed book", f"madi bench {' '.join(names)}{' --quick' if quick else ''}", found)


@app.command()
def verify(
    names: Annotated[list[str] | None, typer.Argument(help="Which cases; default all.")] = None,
    tolerances: Annotated[
        bool, typer.Option("--tolerances", help="Errors at rtol 1e-6 ... 1e-12, every loop method.")
    ] = False,
    book: Annotated[Path | None, typer.Option(help="Also write the results as a page (Markdown).")] = None,
    as_json: Json = False,
) -> None:
    """Run problems with known answers: closed forms, published digits. Exit code 1 if one misses its bar.

    Example: madi verify andrews bricard
    """
    from madi.verify.cases import CASES, report

    if tolerances:
        from madi.verify.tolerances import report as table

        found = table()
        show(found, as_json)
        raise typer.Exit(1 if found["bad"] else 0)
    chosen = names or list(CASES)
    _refuse_unknown(chosen, CASES, "case")
    if book is not None:
        ready_file(book)
    found = report(chosen)
    show(found, as_json)
    if book is not None:
        write_book(book, "The verification book", "madi verify", [found])
    if found["bad"]:
        raise typer.Exit(1)


@app.command()
def info(
    model: Annotated[str | None, typer.Argument(help=MODEL)] = None,
    equations: Annotated[
        bool, typer.Option("--equations", help="Mass matrix, forces, constraints, operation counts.")
    ] = False,
    letter: Annotated[list[str] | None, typer.Option(help="A number that stays a letter: chassis.mass, gravity.z")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the equations as an HTML page there.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Every body by name, of large models too.")] = False,
    as_json: Json = False,
) -> None:
    """Say what a model is: tree, cuts, coordinates (of a large one a summary); with --equations, its equations of motion.

    Example: madi info rssr --equations --out rssr.html
    """
    from madi.cli.models import find_model

    if out is not None:
        ready_file(out)
    system = find_model(model).build()
    if as_json:
        tree = [{"body": body, "parent": parent, "joint": joint} for body, parent, joint in system.tree]
        told = {"model": system.name, "tree": tree, "cut_joints": system.cut_joints, "coordinates": system.coordinates,
                "speeds": system.speeds, "constraints": system.constraint_names}  # fmt: skip
        print_json(told)
        return
    if not equations and out is None:
        print(system.explain(full or None))
        return
    found = system.equations(letter or system.model.adjustables)
    if out is not None:
        out.write_text(found.page())
        print(f"page: {out}")
    else:
        print(found.text())


@app.command()
def compare(
    model: Annotated[str | None, typer.Argument(help=MODEL)] = None,
    methods: Annotated[
        str, typer.Option(help="Ways to close the loops, by commas; the first is what others are held against.")
    ] = "projection,pseudo-inverse,svd,qr,partition,cartesian",
    duration: Annotated[str, typer.Option(help="Simulated time.")] = "1s",
    method: Annotated[str, typer.Option(help="Integrator: dopri, abm, rk4 ...")] = "dopri",
    rtol: Annotated[float, typer.Option(help="Relative tolerance of adaptive integrators.")] = 1e-8,
    step: Annotated[str | None, typer.Option(help="Length of a step, for rk4, ab3 ...: 1ms")] = None,
    max_step: Annotated[str | None, typer.Option(help="Longest step: 5ms")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the figure (violation, steps) there.")] = None,
    as_json: Json = False,
) -> None:
    """Run one model with several ways of closing its loops: time, violation, drift, agreement.

    Example: madi compare andrews --duration 30ms --out andrews.png
    """
    from madi.analysis.compare import compare as run
    from madi.cli.models import find_model, seconds

    options: dict[str, Any] = {"step": seconds(step)} if step else {}
    if max_step:
        options["max_step"] = seconds(max_step)
    words = [word.strip() for word in methods.split(",")]
    if out is not None:
        ready_file(out)
    found = run(find_model(model), seconds(duration), words, method=method, rtol=rtol, **options)
    if out is not None:
        found.plot(out)
    if as_json:
        print_json({"model": found.model, "table": found.table, "failed": found.failed})
    else:
        print(found)
        if out is not None:
            print(f"figure: {out}")
    if found.failed:
        raise typer.Exit(1)


def with_newton(word: str, iterations: int | None, jacobian: str | None) -> Any:
    """A method by its word, implicit ones with these iterations and this Jacobian."""
    from madi.integrate import METHODS
    from madi.integrate.structural import Structural

    found = METHODS.get(word)
    if found is None or not issubclass(found, Structural):
        return word
    return found(iterations=None if jacobian == "slow" else iterations, jacobian=jacobian)


@app.command()
def realtime(
    model: Annotated[str, typer.Argument(help=MODEL)],
    step: Annotated[str, typer.Option(help="Length of a step: 1ms, 0.01 ...")] = "1ms",
    duration: Annotated[str, typer.Option(help="Simulated time.")] = "5s",
    method: Annotated[str, typer.Option(help="newmark, generalized-alpha, newmark-explicit, rk4, ab3 ...")] = "newmark",
    iterations: Annotated[int, typer.Option(help="Newton iterations in a step; 0: until they converge.")] = 2,
    jacobian: Annotated[str | None, typer.Option(help="When its matrix is made: step, once, slow, iteration.")] = None,
    engine: Annotated[str, typer.Option(help="auto, jit, compiled.")] = "auto",
    paced: Annotated[bool, typer.Option("--paced", help="Wait for the clock at every step.")] = False,
    as_json: Json = False,
) -> None:
    """Time every step of a run: mean, 99.9 percentile, maximum, overruns, real-time factor.

    Example: madi realtime 6x6 --step 10ms --jacobian once --engine compiled
    """
    from madi.cli.models import find_model, seconds
    from madi.run.pace import realtime as measure

    found = measure(find_model(model), step=seconds(step), duration=seconds(duration), paced=paced, engine=engine,
                    method=with_newton(method, iterations or None, jacobian))  # fmt: skip
    if as_json:
        print_json(found)
        return
    times = {"mean": found["mean"], "99.9 %": found["p99.9"], "largest": found["max"]}
    how = f"{found['method']}, engine {found['engine']}{', paced' if paced else ''}"
    print(f"{found['model']}: {found['steps']} steps of {1e3 * found['step']:g} ms, {how}")
    print("step time, µs: " + ", ".join(f"{name} {1e6 * value:.1f}" for name, value in times.items()))
    print(f"overruns: {found['overruns']}    real-time factor: {found['factor']:.0f}")


export = typer.Typer(help="Write a model as code for elsewhere.", no_args_is_help=True)
app.add_typer(export, name="export")


@export.command("c")
def export_c(
    model: Annotated[str, typer.Argument(help=MODEL)],
    out: Annotated[Path, typer.Option(help="Folder for the files.")],
    method: Annotated[str, typer.Option(help="newmark, generalized-alpha; trees: rk4, newmark-explicit.")] = "newmark",
    step: Annotated[str, typer.Option(help="Length of a step: 1ms, 0.01 ...")] = "1ms",
    duration: Annotated[str, typer.Option(help="Length of the run that main.c repeats.")] = "1s",
    iterations: Annotated[int, typer.Option(help="Newton iterations in a step; 0: until they converge.")] = 0,
    jacobian: Annotated[str | None, typer.Option(help="When its matrix is made: step, once, slow, iteration.")] = None,
    parameter: Annotated[list[str] | None, typer.Option(help="A number that stays adjustable: spring.stiffness ...")] = None,
) -> None:
    """Write self-contained C99: a header, the step, and a main that repeats a run. No allocation, only libm.

    Example: madi export c 6x6 --method newmark --step 10ms --out target/
    """
    from madi.cli.models import find_model, seconds
    from madi.run.export import export_c as write

    drawn = find_model(model)
    ready_folder(out)
    files = write(drawn, out, step=seconds(step), method=with_newton(method, iterations or None, jacobian),
                  duration=seconds(duration), parameters=parameter)  # fmt: skip
    for path in files:
        print(path)
    sources = " ".join(path.name for path in files if path.suffix == ".c")
    print(f"build there with: cc -std=c99 -O2 {sources} -lm -o run")


@app.command()
def version() -> None:
    """Print the version."""
    from madi import __version__

    print(__version__)


def _refuse_unknown(names: list[str], known: Iterable[str], what: str, more: Iterable[str] = ()) -> None:
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"there is no {what} {name!r}; there are: {', '.join([*known, *more])}")


def _report(names: list[str], known: Mapping[str, Callable[[Any], Any]], what: str, option: Any, as_json: bool) -> list[Any]:
    """Run what was asked for and show each report when it is there."""
    _refuse_unknown(names, known, what)
    reports = {}
    for name in names:
        reports[name] = known[name](option)
        if not as_json:
            show(reports[name])
    if as_json:
        print_json(reports)
    return list(reports.values())


@app.command()
def cache(what: Annotated[str, typer.Argument(help="show, or clear")] = "show", as_json: Json = False) -> None:
    """Show what compiled code is kept on this machine, and where; or remove it (it is made anew when it is needed).

    Example: madi cache clear
    """
    from madi.engines.cache import cache_folder, clear, limit, pieces

    if what not in ("show", "clear"):
        raise typer.BadParameter(f"{what!r}: say show or clear")
    if what == "clear":
        print(f"{cache_folder()}: {clear() / 1e6:.1f} MB removed")
        return
    kept, folder = pieces(), str(cache_folder())
    size = sum(one for _, one, _ in kept)
    if as_json:
        print_json({"folder": folder, "pieces": len(kept), "bytes": size, "limit": limit()})
    else:
        print(f"{folder}: {len(kept)} pieces, {size / 1e6:.1f} of at most {limit() / 1e6:.0f} MB")
        print("MADI_CACHE_DIR puts it elsewhere, MADI_CACHE_MB limits it, `madi cache clear` removes it")


def _speak_plainly() -> None:
    """Warnings as one line; and on a terminal that knows ASCII only, what it cannot show is replaced, not an error."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    usual = warnings.showwarning

    def show_warning(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        if issubclass(category, MadiWarning):
            print(f"madi: warning: {message}", file=sys.stderr)
        else:
            usual(message, category, filename, lineno, file, line)

    warnings.showwarning = show_warning


def main() -> None:
    """Entry point: madi's own errors become one clear message and exit code 1."""
    from madi.errors import InputError, MadiError

    _speak_plainly()
    words = sys.argv
    if words[1:] == ["--version"]:
        words[1] = "version"
    if "--checkpoint" in words[:-2] and words[words.index("--checkpoint") + 1] == "every":  # as people say it
        del words[words.index("--checkpoint") + 1]
    try:
        app()
    except InputError as error:  # the call was wrong
        print(f"madi: {error}", file=sys.stderr)
        raise SystemExit(2) from None
    except MadiError as error:
        print(f"madi: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except OSError as error:
        print(f"madi: {error}", file=sys.stderr)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        print("madi: stopped", file=sys.stderr)
        raise SystemExit(1) from None
