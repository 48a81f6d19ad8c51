"""Equations a person can read: M(q) a + Phi_q^T lam = P(q, v, t), Phi(q, t) = 0, as expressions of the model's own names.

P holds the forces and velocity terms of all columns; what drives a driven joint is on top of it, in that joint's row.
They come from the trace of the same kernels that are run. Numbers may stay letters (parameters). SymPy prints small systems;
of large ones there is still the pattern (what is zero, what is constant) and the count of operations.
"""

from __future__ import annotations

import html
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from madi.errors import InputError
from madi.joints.chart import retract
from madi.kernel import LEAST_SIZE
from madi.symbolic.ssa import LOOKUPS, instructions
from madi.symbolic.trace import adjusted, count_operations, expressions
from madi.topology.settle import column_amounts

if TYPE_CHECKING:
    from madi.system import System
    from madi.topology.parameters import Parameters

CONSTANT, ZERO = 1e-12, 1e-13  # of its row and column: changes, and sizes, of an entry that are rounding
ROUNDING = 1e-13  # of the largest coefficient of a sum
WHOLE, DECIMAL = 1e9, 1e12  # numbers below are read as whole; as decimals
READABLE = 8000  # operations, written out, that SymPy still makes readable


class Equations:
    """The equations of one system; made by `s.equations()`.

    `pattern`: of the mass matrix, "0" zero, "c" constant, "x" changes with q. `operations`: arithmetic operations before and
    after sharing of common terms. `mass_matrix`, `right_side`, `constraints`, `constraint_jacobian`: SymPy matrices (small
    systems). `christoffel(q)`: numbers; `christoffel_symbols()`: SymPy.
    """

    def __init__(self, system: System, parameters: Parameters | None = None):
        self.system, self.parameters = system, parameters
        layout, nv, nr = system.drawn, system.nv, system.n_constraints
        p, reals = adjusted(layout, parameters)
        self.p = p[0] if p else ca.SX(0, 1)
        (_, q, _, _), M = expressions(layout, "mass-matrix", reals=reals)
        (t1, q1, v1, a1), R = expressions(layout, "inverse", reals=reals)
        self.inputs, rows = expressions(layout, "constraints", reals=reals)
        t, here, v, _ = self.inputs
        given, wanted = ca.vertcat(t1, q1, v1), ca.vertcat(t, here, v)
        self._M = ca.sparsify(ca.substitute(ca.reshape(M, nv, nv), q, here))
        self._P = ca.simplify(-ca.substitute(ca.substitute(R, a1, ca.SX.zeros(nv)), given, wanted))
        self._phi = rows[:nr]
        self._phi_q = ca.sparsify(ca.reshape(rows[3 * nr :], nv, nr).T)
        self.active = np.flatnonzero(system.layout.arrays.row_place >= 0)

    # ---- counts and patterns: any size -------------------------------------------------------------------------------

    @cached_property
    def pattern(self) -> np.ndarray:
        """nv × nv characters: "0" zero, "c" constant, "x" variable; sin^2 + cos^2 = 1 is seen, at a few random places."""
        system, rng = self.system, np.random.default_rng(1)
        q, some, amounts = np.empty(system.nq), [], column_amounts(system.drawn)
        for _ in range(4):
            retract(system.drawn.arrays, system.q0, amounts * rng.uniform(-1.0, 1.0, system.nv), q)
            some.append(system.mass_matrix(q))
        size = np.sqrt(np.outer(np.diag(some[0]), np.diag(some[0]))) + LEAST_SIZE
        found = np.where(np.max(np.ptp(some, axis=0) / size[None], axis=0) < CONSTANT, "c", "x")
        return np.where(np.max(np.abs(some), axis=0) / size < ZERO, "0", found)

    @cached_property
    def operations(self) -> dict[str, dict[str, int]]:
        """Of M, P and (with loops) Phi and Phi_q: operations "written_out" entry by entry, as the kernels compute them
        ("before"), and with all common terms shared ("after")."""
        parts = {"mass_matrix": self._M, "right_side": self._P}
        if self.system.n_constraints:
            parts |= {"constraints": self._phi, "constraint_jacobian": self._phi_q}
        everything = ca.vertcat(*(ca.densify(ca.vec(part)) for part in parts.values()))
        parts["all"] = everything
        found = {}
        for name, part in parts.items():
            found[name] = {
                "written_out": self._written_out(part), "before": self._count(part), "after": self._count(ca.cse(part)),
            }  # fmt: skip
        return found

    def _count(self, part: ca.SX) -> int:
        return sum(count_operations(ca.Function("f", [*self.inputs, self.p], [part])).values())

    def _written_out(self, part: ca.SX) -> int:
        """Operations when every entry is written out by itself, as a person would: nothing shared."""
        listed = instructions(ca.Function("f", [*self.inputs, self.p], [part]))
        cost: list[int] = []
        total = 0
        for made in listed:
            if made.op == "output":
                total += cost[made.a]
                cost.append(0)
            elif made.op in ("const", "input"):
                cost.append(0)
            else:
                cost.append(1 + cost[made.a] + (cost[made.b] if made.b >= 0 else 0))
        return total

    def christoffel(self, q: Any) -> np.ndarray:
        """c[i, j, k] = (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) / 2 at q, exact; sum_jk c_ijk v_j v_k: the velocity forces."""
        self._refuse_quaternions()
        nv = self.system.nv
        values = self.parameters.values if self.parameters else np.zeros(0)
        D = np.array(self._slopes(self.system.checked_coordinates(q), values).full())
        D = D.reshape(nv, nv, nv, order="F")  # dM_ij / dq_k
        return 0.5 * (D + D.transpose(0, 2, 1) - D.transpose(2, 0, 1))

    @cached_property
    def _slopes(self) -> ca.Function:
        """dM / dq, column by column."""
        q = self.inputs[1]
        return ca.Function("slopes", [q, self.p], [ca.jacobian(ca.vec(ca.densify(self._M)), q)])

    def _refuse_quaternions(self) -> None:
        if self.system.nq != self.system.nv:
            raise InputError(
                f"model {self.system.name!r} has speeds that are no rates of coordinates (ball or free joints): Christoffel "
                "coefficients belong to coordinates"
            )

    # ---- letters: small systems ----------------------------------------------------------------------------------------

    @property
    def readable(self) -> bool:
        """Whether SymPy can print them in a sensible time."""
        return self.operations["all"]["written_out"] <= READABLE

    def _require_readable(self) -> None:
        if not self.readable:
            raise InputError(
                f"model {self.system.name!r}: {self.operations['all']['written_out']:.4g} operations are too many to read; "
                "`operations` and `pattern` tell what there is, `madi export c` writes them out"
            )

    @cached_property
    def _letters(self) -> list[list[Any]]:
        """SymPy symbols for t, q, v, x, p."""
        import sympy

        system = self.system

        q = [sympy.Symbol(f"q_{{{_tex(word)}}}", real=True) for word in system.coordinates]
        v = [sympy.Symbol(f"z_{{{_tex(word)}}}" if word in system.states else rf"\dot q_{{{_tex(word)}}}", real=True)
             for word in system.speeds]  # fmt: skip
        p = [_parameter_symbol(word) for word in (self.parameters.names if self.parameters else [])]
        x = [sympy.Symbol(f"x_{k}") for k in range(system.nv)]
        return [[sympy.Symbol("t", real=True)], q, v, x, p]

    def _sympy(self, part: ca.SX) -> Any:
        """An expression matrix in SymPy."""
        import sympy

        self._require_readable()
        function = ca.Function("f", [*self.inputs, self.p], [ca.densify(part)])
        entries = [sympy.Integer(0)] * (part.shape[0] * part.shape[1])
        made: list[Any] = []
        for one in instructions(function):
            if one.op == "output":
                entries[int(one.value)] = made[one.a]
                made.append(None)
            elif one.op == "const":
                made.append(_number(one.value))
            elif one.op == "input":
                made.append(self._letters[one.a][one.b])
            else:
                made.append(_operation(one.op, made[one.a], made[one.b] if one.b >= 0 else None))
        matrix = sympy.Matrix(part.shape[1], part.shape[0], entries).T
        return matrix.applyfunc(_tidy)

    @cached_property
    def mass_matrix(self) -> Any:
        """M(q)."""
        return self._sympy(self._M)

    @cached_property
    def right_side(self) -> Any:
        """P(q, v, t): all forces less velocity terms."""
        return self._sympy(self._P)

    @cached_property
    def constraints(self) -> Any:
        """Phi(q, t) of the rows that do not vanish."""
        return self._sympy(self._phi[list(map(int, self.active))])

    @cached_property
    def constraint_jacobian(self) -> Any:
        """Phi_q of the same rows."""
        return self._sympy(self._phi_q[list(map(int, self.active)), :])

    def christoffel_symbols(self) -> dict[tuple[int, int, int], Any]:
        """{(i, j, k): c_ijk} of those that are not zero, j <= k, as SymPy expressions."""
        import sympy

        self._refuse_quaternions()
        M, q, n = self.mass_matrix, self._letters[1], self.system.nv
        found = {}
        for i in range(n):
            for j in range(n):
                for k in range(j, n):
                    c = (sympy.diff(M[i, j], q[k]) + sympy.diff(M[i, k], q[j]) - sympy.diff(M[j, k], q[i])) / 2
                    c = _tidy(c)
                    if c != 0:
                        found[i, j, k] = c
        return found

    def latex(self) -> str:
        """All of it in LaTeX, ready for an align environment."""
        import sympy

        marks = [r"\dot z" if word in self.system.states else r"\ddot q" for word in self.system.speeds]
        words = [_tex(word) for word in self.system.speeds]
        speeds = sympy.Matrix([sympy.Symbol(f"{mark}_{{{word}}}") for mark, word in zip(marks, words, strict=True)])
        lines = [rf"M &= {sympy.latex(self.mass_matrix)} \\", rf"P &= {sympy.latex(self.right_side)} \\"]
        if len(self.active):
            lines += [
                rf"\Phi &= {sympy.latex(self.constraints)} \\",
                rf"\Phi_q &= {sympy.latex(self.constraint_jacobian)} \\",
            ]
            lines.append(rf"M\,{sympy.latex(speeds)} &+ \Phi_q^T \lambda = P, \qquad \Phi = 0")
        else:
            lines.append(rf"M\,{sympy.latex(speeds)} &= P")
        return "\n".join(lines)

    def _repr_latex_(self) -> str | None:
        return f"$$\\begin{{aligned}}\n{self.latex()}\n\\end{{aligned}}$$" if self.readable else None

    def _repr_html_(self) -> str | None:
        """Where there are formulas, they are shown: a notebook takes HTML before LaTeX."""
        from madi.show.html import remark, table, whole

        if self.readable:
            return None
        told = (*self._facts(), "mass matrix (0 zero, c constant, x changes with q):")
        rows = ((name, "".join(row)) for name, row in zip(self.system.speeds, self.pattern, strict=True))
        return whole(*map(remark, told), table(("speed", "row"), rows))

    def text(self) -> str:
        """A page for the terminal."""
        import sympy

        lines = [*self._facts(), "", "mass matrix (0 zero, c constant, x changes with q):"]
        width = max((len(name) for name in self.system.speeds), default=0)
        lines += [f"  {name:<{width}}  {' '.join(row)}" for name, row in zip(self.system.speeds, self.pattern, strict=True)]
        if self.readable:
            for name, what in self._parts():
                lines += ["", f"{name} =", sympy.pretty(_plain(what), use_unicode=True, wrap_line=False)]
        else:
            lines += ["", "The expressions are too long to read; `madi export c` writes them out."]
        return "\n".join(lines)

    def page(self) -> str:
        """The same as one HTML page, formulas in MathML: no script, no network."""
        from sympy import mathml

        rows = "".join(
            f"<tr><th>{html.escape(name)}</th>{''.join(CELL.format(c) for c in row)}</tr>"
            for name, row in zip(self.system.speeds, self.pattern, strict=True)
        )
        parts = ""
        if self.readable:
            for name, what in self._parts():
                formula = mathml(_plain(what), printer="presentation")
                for bracket in "[]":  # as tall as the matrix
                    formula = formula.replace(f"<mo>{bracket}</mo>", f'<mo fence="true" stretchy="true">{bracket}</mo>')
                parts += f'<h2>{name}</h2><math display="block">{formula}</math>'
        else:
            parts = "<p>The expressions are too long to read; <code>madi export c</code> writes them out.</p>"
        facts = "".join(f"<p>{html.escape(line)}</p>" for line in self._facts())
        return PAGE.format(title=html.escape(self.system.name), facts=facts, rows=rows, parts=parts)

    def _parts(self) -> list[tuple[str, Any]]:
        found = [("M(q)", self.mass_matrix), ("P(q, v, t)", self.right_side)]
        if len(self.active):
            found += [("Phi(q, t)", self.constraints), ("Phi_q(q)", self.constraint_jacobian)]
        return found

    def _facts(self) -> list[str]:
        s, flat = self.system, self.pattern.reshape(-1)
        lines = [
            f"{s.name}: {len(s.bodies)} bodies, {s.nv} speeds, {s.n_constraints} constraints",
            "M a + Phi_q^T lam = P,  Phi = 0" if s.n_constraints else "M a = P",
            f"entries of M: {np.sum(flat == '0')} zero, {np.sum(flat == 'c')} constant, {np.sum(flat == 'x')} variable",
        ]
        for name, count in self.operations.items():
            lines.append(
                f"operations, {name.replace('_', ' ')}: {count['written_out']:.4g} written out, {count['before']} in the "
                f"kernels, {count['after']} with common terms shared"
            )
        return lines


CELL = '<td class="{0}">{0}</td>'
PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}: equations</title>
<style>
body {{ font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem; color: #1b1f24; }}
math {{ overflow-x: auto; font-size: 1.1rem; text-align: left; }}
table {{ border-collapse: collapse; font: 13px monospace; }}
th {{ text-align: left; font-weight: normal; padding-right: 1em; }}
td {{ width: 1.6em; text-align: center; border: 1px solid #d8dee4; }} td[class="x"] {{ background: #cfe3f7; }}
td[class="c"] {{ background: #eef2f5; }} td[class="0"] {{ color: #c2c8ce; }}
</style></head><body>
<h1>{title}</h1>
{facts}
<h2>Mass matrix: zero, constant (c), variable (x)</h2>
<table>{rows}</table>
{parts}
</body></html>
"""


# what LaTeX (and a page that holds it) would take for its own
TEX = str.maketrans({
    "_": " ", "\\": r"\backslash ", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%", "^": r"\hat{}",
    "~": r"\sim ", "<": r"\lt ", ">": r"\gt ",
})  # fmt: skip


def _tex(name: str) -> str:
    """A user's name as part of a formula."""
    return name.translate(TEX)


def _parameter_symbol(name: str) -> Any:
    """A letter as people use it: m for a mass, k for a stiffness, c for a damping, g for gravity."""
    import sympy

    element, _, field = name.partition(".")
    letter = {"mass": "m", "stiffness": "k", "damping": "c", "radius": "r", "length": "l", "free_length": "l_0"}.get(field)
    if element == "gravity":
        return sympy.Symbol(f"g_{field}", real=True)
    if letter is None:
        letter = {"inertia": "I", "com": "s", "at": "r"}.get(field.split(".")[0], field)
        element = f"{element} {field.split('.')[-1]}"
    return sympy.Symbol(f"{letter}_{{{_tex(element)}}}", real=True)


def _number(value: float) -> Any:
    """Whole numbers and short decimals stay so."""
    import sympy

    if float(value).is_integer() and abs(value) < WHOLE:
        return sympy.Integer(int(value))
    return sympy.Float(repr(float(value)), 15) if abs(value) < DECIMAL else sympy.Float(value)


def _operation(op: str, a: Any, b: Any) -> Any:
    import sympy

    two = {
        "add": lambda: a + b, "sub": lambda: a - b, "mul": lambda: a * b, "div": lambda: a / b, "pow": lambda: a**b,
        "atan2": lambda: sympy.atan2(a, b), "fmin": lambda: sympy.Min(a, b), "fmax": lambda: sympy.Max(a, b),
        "lt": lambda: sympy.Piecewise((1, a < b), (0, True)), "le": lambda: sympy.Piecewise((1, a <= b), (0, True)),
        "eq": lambda: sympy.Piecewise((1, sympy.Eq(a, b)), (0, True)),
        "ne": lambda: sympy.Piecewise((0, sympy.Eq(a, b)), (1, True)), "and": lambda: a * b,
        "or": lambda: a + b - a * b, "if_else_zero": lambda: a * b, "copysign": lambda: sympy.Abs(a) * sympy.sign(b),
        "fmod": lambda: sympy.Mod(a, b),
    }  # fmt: skip
    if op in two:
        return two[op]()
    one = {"neg": lambda: -a, "inv": lambda: 1 / a, "fabs": lambda: sympy.Abs(a), "ceil": lambda: sympy.ceiling(a),
           "not": lambda: 1 - a}  # fmt: skip
    if op in LOOKUPS:
        return sympy.Function(op.replace("lookup", "table_"))(a)  # by points: it has no formula
    return one[op]() if op in one else getattr(sympy, op)(a)


def _tidy(expression: Any) -> Any:
    """Shorter, where it does not take long; numbers without rounding's tails."""
    import sympy

    expression = sympy.expand(expression) if sympy.count_ops(expression) < 400 else expression
    if sympy.count_ops(expression) < 400:
        short = sympy.trigsimp(expression)
        expression = short if sympy.count_ops(short) <= sympy.count_ops(expression) else expression
    terms = sympy.Add.make_args(expression)
    sizes = [abs(float(term.as_coeff_Mul()[0])) for term in terms]
    expression = sympy.Add(*(term for term, size in zip(terms, sizes, strict=True) if size > ROUNDING * max(sizes)))
    changes = {number: sympy.Float(f"{float(number):.10g}") for number in expression.atoms(sympy.Float)}
    changes = {old: sympy.Integer(int(new)) if float(new).is_integer() else new for old, new in changes.items()}
    return expression.xreplace(changes)


def _plain(matrix: Any) -> Any:
    """Names without LaTeX, for the terminal."""
    import sympy

    names = {letter: sympy.Symbol(letter.name.replace(r"\dot q_", "v_").replace("{", "").replace("}", ""))
             for letter in matrix.free_symbols}  # fmt: skip
    return matrix.xreplace(names)
