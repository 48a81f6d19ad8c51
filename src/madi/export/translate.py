"""Kernels as C: the step of an integrator, translated from its own source; no formula of a method exists twice.

The subset is what kernels of integrators are written in: numbers, arrays, loops over ranges, conditions, calls of other
kernels. Named memory (kernel/fields.py) becomes two flat arrays, of reals and of integers, and a macro for each
field; parts that never change (the model, the plan of the factorisation) become constants. What is mechanics is not
translated but traced (`pieces`): the caller says which kernels are replaced by which C functions. Branches that a constant
decides are left out, so a method's C has no trace of what its model lacks.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import itertools
import operator
import textwrap
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from madi.kernel import Kernel, call, present, view1
from madi.kernel.fields import Fields, Function
from madi.symbolic.codegen import literal

OPERATORS = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=",
    ast.Gt: ">", ast.GtE: ">=", ast.Mod: "%",
}  # fmt: skip
PYTHON: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.Eq: operator.eq,
    ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Mod: operator.mod, ast.Pow: operator.pow,
}  # fmt: skip
INT, REAL, REALS, INTS, NOTHING = "int", "double", "const double *", "const int *", "void"


@dataclass(frozen=True)
class Known:
    """A value of Python that is known when C is written: a number, named memory, a constant array, a function."""

    value: Any
    name: str = ""


@dataclass(frozen=True)
class Text:
    """An expression of C and its type; `inner`: of an array, the lengths of its further dimensions."""

    code: str
    kind: str
    inner: tuple[int, ...] = ()


@dataclass
class Translator:
    """Translates kernels of one memory. `replaced`: kernels that are C functions already, (translator, arguments) -> C."""

    memory: Fields
    replaced: dict[Kernel, Callable[[Translator, list[Any]], Text]]
    called: Callable[[str], None]  # told the names of system functions that are called
    constants: dict[int, tuple[str, str, Any]] = field(default_factory=dict)  # by array: C name, its line, the array itself
    functions: dict[Any, tuple[str, str]] = field(default_factory=dict)  # kernel -> (name, return type)
    written: list[str] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)  # names of functions and tables

    def translate(self, kernel: Kernel, name: str) -> None:
        """A kernel (m, numbers ...) as a C function of the memory's two arrays, the parameters, and the numbers."""
        self._function(
            kernel, name, [Known(self.memory, "m"), *[Text("", REAL)] * (len(inspect.signature(kernel).parameters) - 1)]
        )

    def source(self) -> str:
        """Tables, then functions."""
        return "\n".join([self.macros(), *(line for _, line, _ in self.constants.values()), *self.written])

    def macros(self) -> str:
        """Where each field is in the flat arrays."""
        lines = []
        for name, about in self.memory.fields.items():
            if about.part is None and not about.is_size and not about.given:
                flat = self.memory.real_memory if about.real else self.memory.int_memory
                letter = "M_reals" if about.real else "M_counts"
                if about.array:
                    place = (getattr(self.memory, name).ctypes.data - flat.ctypes.data) // 8
                    lines.append(f"#define M_{name} ({letter} + {place})")
                else:
                    lines.append(f"#define M_{name} ({letter}[{self.memory.places[name]}])")
        return "\n".join(lines) + "\n"

    def table(self, name: str, values: np.ndarray) -> Text:
        """A constant array."""
        real, inner = values.dtype.kind == "f", values.shape[1:]
        if id(values) not in self.constants:  # two tables may have one name, A of one method and A of another
            name = self._free(name)
            flat = values.reshape(-1)
            numbers = ", ".join(literal(x) if real else str(int(x)) for x in flat) or "0"
            line = f"static const {'double' if real else 'int'} {name}[{max(len(flat), 1)}] = {{{numbers}}};"
            self.constants[id(values)] = (name, line, values)
        return Text(self.constants[id(values)][0], REALS if real else INTS, inner)

    def _free(self, name: str) -> str:
        """That name, numbered if it is taken."""
        free = (f"{name}{k or ''}" for k in itertools.count())
        name = next(one for one in free if one not in self.taken)
        self.taken.add(name)
        return name

    def _function(self, kernel: Kernel, name: str, arguments: list[Any]) -> tuple[str, str]:
        """Write a kernel for arguments of these kinds, once; its C name and return type."""
        key = (kernel, tuple(a.kind if isinstance(a, Text) else id(a.value) for a in arguments))
        if key not in self.functions:
            name = self._free(name)
            body = Body(self, kernel, arguments)
            self.functions[key] = (name, body.returns)
            self.written.append(body.source(name))
        return self.functions[key]


class Body:
    """One kernel as a C function."""

    def __init__(self, whole: Translator, kernel: Kernel, arguments: list[Any]):
        self.whole, self.kernel = whole, kernel
        tree = ast.parse(textwrap.dedent(inspect.getsource(kernel))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.tree = tree
        self.globals = {**kernel.__globals__}
        closure = kernel.__closure__ or ()
        self.globals |= {n: cell.cell_contents for n, cell in zip(kernel.__code__.co_freevars, closure, strict=True)}
        self.names: dict[str, Any] = {}
        self.parameters: list[str] = []
        self.arguments: list[Text] = []
        for argument, given in zip(tree.args.args, arguments, strict=True):
            if isinstance(given, Text):
                self.names[argument.arg] = Text(argument.arg, given.kind, given.inner)
                self.arguments.append(self.names[argument.arg])
                self.parameters.append(f"{_declared(given.kind)}{argument.arg}")
            else:
                self.names[argument.arg] = given
        self.assigned = [
            target.id for node in ast.walk(tree) if isinstance(node, ast.Name | ast.Assign | ast.AugAssign | ast.For)
            for target in _targets(node)
        ]  # fmt: skip
        self.locals: dict[str, str] = {}
        self.returns, self.count = NOTHING, 0
        while True:  # an integer that later gets a real is a real
            before = (dict(self.locals), self.returns)
            self.count = 0
            self.lines = self.block(tree.body, 1)
            if (dict(self.locals), self.returns) == before:
                break

    def source(self, name: str) -> str:
        """The C function."""
        parameters = ", ".join(["double *M_reals", "int64_t *M_counts", "const double *M_p", *self.parameters])
        head = f"static {self.returns} {name}({parameters})"
        declared = [f"  {kind} {local};" for local, kind in self.locals.items()]
        given = ["M_reals", "M_counts", "M_p", *(made.code for made in self.arguments if made.code not in self.locals)]
        unused = "  " + " ".join(f"(void){name};" for name in given)
        return "\n".join([head, "{", *declared, unused, *self.lines, "}\n"])

    def cannot(self, node: ast.AST) -> SyntaxError:
        """What is outside the subset, and where it stands."""
        line = self.kernel.__code__.co_firstlineno + getattr(node, "lineno", 1) - 1
        place = f"{self.kernel.__module__}.{self.kernel.__qualname__}, line {line}"
        return SyntaxError(f"{place}: {type(node).__name__} is not part of what is translated to C")

    # ---- statements -------------------------------------------------------------------------------------------------

    def block(self, statements: list[ast.stmt], depth: int) -> list[str]:
        """Statements, indented."""
        lines: list[str] = []
        for statement in self.reached(statements):
            written = self.statement(statement, depth)
            lines += [("  " * depth) + line if not line.startswith(" ") else line for line in written]
        return lines

    def reached(self, statements: list[ast.stmt]) -> Generator[ast.stmt, None, bool]:
        """Statements in turn; of an if whose answer is known, those of its branch. Whether a return ended them."""
        for statement in statements:
            answer = self.expression(statement.test) if isinstance(statement, ast.If) else None
            if isinstance(statement, ast.If) and isinstance(answer, Known):
                ended = yield from self.reached(statement.body if answer.value else statement.orelse)
            else:
                yield statement
                ended = isinstance(statement, ast.Return)
            if ended:
                return True
        return False

    def statement(self, s: ast.stmt, depth: int) -> list[str]:
        """One statement."""
        if isinstance(s, ast.Expr):
            if isinstance(s.value, ast.Constant):
                return []
            made = self.expression(s.value)
            return [f"{made.code};"] if isinstance(made, Text) and made.code else []
        if isinstance(s, ast.Assign):
            return self.assign(s.targets[0], s.value)
        if isinstance(s, ast.AugAssign):
            target = self.expression(s.target)
            if isinstance(target, Known):  # of a part that is not kept in C
                return []
            value = self.text(self.expression(s.value))
            return [f"{target.code} = {target.code} {OPERATORS[type(s.op)]} {value.code};"]
        if isinstance(s, ast.If):
            return self.condition(s, depth)
        if isinstance(s, ast.For):
            return self.loop(s, depth)
        if isinstance(s, ast.While):
            test = self.text(self.expression(s.test)).code
            return [f"while ({test}) {{", *self.block(s.body, depth + 1), "  " * depth + "}"]
        if isinstance(s, ast.Return):
            if s.value is None:
                return ["return;"]
            made = self.text(self.expression(s.value))
            self.returns = REAL if REAL in (self.returns, made.kind) else INT
            return [f"return {made.code};"]
        if isinstance(s, ast.Break | ast.Continue):
            return ["break;" if isinstance(s, ast.Break) else "continue;"]
        raise self.cannot(s)

    def condition(self, s: ast.If, depth: int) -> list[str]:
        """An if whose answer is not known."""
        test = self.expression(s.test)
        lines = [f"if ({test.code}) {{", *self.block(s.body, depth + 1)]
        if s.orelse:
            lines += ["  " * depth + "} else {", *self.block(s.orelse, depth + 1)]
        return [*lines, "  " * depth + "}"]

    def loop(self, s: ast.For, depth: int) -> list[str]:
        """for ... in range(...)."""
        assert isinstance(s.iter, ast.Call)
        assert isinstance(s.target, ast.Name)
        bounds = [self.text(self.expression(a)) for a in s.iter.args]
        first, last = (Text("0", INT), bounds[0]) if len(bounds) == 1 else bounds[:2]
        step = bounds[2].code if len(bounds) == 3 else "1"
        name = s.target.id
        if name == "_":
            self.count += 1
            name = f"count{self.count}"
        self.local(name, INT)
        down = step.strip("()").startswith("-")
        head = f"for ({name} = {first.code}; {name} {'>' if down else '<'} {last.code}; {name} += {step}) {{"
        return [head, *self.block(s.body, depth + 1), "  " * depth + "}"]

    def assign(self, target: ast.expr, value: ast.expr) -> list[str]:
        """target = value; several at once are computed before any is assigned."""
        if not isinstance(target, ast.Tuple):
            return self.put(target, self.expression(value))
        if not isinstance(value, ast.Tuple):  # a kernel that returns several numbers
            raise self.cannot(value)
        made = [self.expression(part) for part in value.elts]
        if all(
            isinstance(x, Known) or (isinstance(t, ast.Name) and x.kind in (REALS, INTS))
            for x, t in zip(made, target.elts, strict=True)
        ):
            return [line for t, x in zip(target.elts, made, strict=True) for line in self.put(t, x)]
        lines, kept = [], []
        for x in made:
            if isinstance(x, Text) and x.kind in (INT, REAL):
                self.count += 1
                lines.append(f"const {x.kind} value{self.count} = {x.code};")
                x = Text(f"value{self.count}", x.kind)
            kept.append(x)
        for t, x in zip(target.elts, kept, strict=True):
            lines += self.put(t, x)
        return ["{", *("  " + line for line in lines), "}"]

    def put(self, target: ast.expr, made: Any) -> list[str]:
        """target = what was made; a name that gets a constant or an array, once, is that."""
        if isinstance(target, ast.Name):
            once = self.assigned.count(target.id) == 1
            if once and (isinstance(made, Known) or made.kind in (REALS, INTS)):
                self.names[target.id] = made
                return []
            value = self.text(made)
            self.local(target.id, value.kind)
            return [f"{target.id} = {value.code};"]
        place = self.expression(target)
        if isinstance(place, Known):  # of a part that is not kept in C
            return []
        return [f"{place.code} = {self.text(made).code};"]

    def local(self, name: str, kind: str) -> None:
        """Declare a variable."""
        self.locals[name] = REAL if REAL in (kind, self.locals.get(name)) else INT
        self.names[name] = Text(name, self.locals[name])

    # ---- expressions ------------------------------------------------------------------------------------------------

    def text(self, made: Any) -> Text:
        """What was made, as C."""
        if isinstance(made, Text):
            return made
        value = made.value
        if isinstance(value, bool | int | np.integer):
            return Text(str(int(value)) if value >= 0 else f"({int(value)})", INT)
        if isinstance(value, float | np.floating):
            number = literal(float(value))
            return Text(f"({number})" if number.startswith("-") else number, REAL)
        if isinstance(value, np.ndarray):
            return self.whole.table(made.name or "table", value)
        raise TypeError(f"{self.kernel.__qualname__}: {made.name} is a {type(value).__name__}, which C has no number for")

    def expression(self, e: ast.expr) -> Any:
        """A Text, or Known."""
        if isinstance(e, ast.Constant):
            return Known(e.value)
        if isinstance(e, ast.Name):
            if e.id in self.names:
                return self.names[e.id]
            return Known(self.globals[e.id] if e.id in self.globals else getattr(builtins, e.id), e.id)
        if isinstance(e, ast.Attribute):
            return self.attribute(self.expression(e.value), e.attr)
        if isinstance(e, ast.Subscript):
            return self.subscript(self.expression(e.value), e.slice)
        if isinstance(e, ast.Call):
            return self.call(e)
        if isinstance(e, ast.IfExp):
            return self.choice(e)
        if isinstance(e, ast.BoolOp):
            return self.both([self.expression(x) for x in e.values], isinstance(e.op, ast.And))
        operands: list[ast.expr]
        if isinstance(e, ast.UnaryOp):
            operands = [e.operand]
        elif isinstance(e, ast.Compare):
            operands = [e.left, *e.comparators]
        else:
            assert isinstance(e, ast.BinOp)
            operands = [e.left, e.right]
        made = [self.expression(x) for x in operands]
        if all(isinstance(x, Known) for x in made):
            return Known(_calculate(e, [x.value for x in made]))
        return self.operation(e, [self.text(x) for x in made])

    def operation(self, e: ast.expr, made: list[Text]) -> Text:
        """Arithmetic and comparisons."""
        real = REAL if any(x.kind == REAL for x in made) else INT
        if isinstance(e, ast.UnaryOp):
            if isinstance(e.op, ast.Not):
                return Text(f"!({made[0].code})", INT)
            return Text(f"(-{made[0].code})", real)
        if isinstance(e, ast.Compare):
            pairs = zip(made, e.ops, made[1:], strict=False)
            tests = [f"{a.code} {OPERATORS[type(op)]} {b.code}" for a, op, b in pairs]
            return Text(f"({' && '.join(tests)})", INT)
        assert isinstance(e, ast.BinOp)
        a, b = made
        if isinstance(e.op, ast.Pow):
            return Text(f"pow({a.code}, {b.code})", REAL)
        if isinstance(e.op, ast.Div):
            return Text(f"({a.code} / {b.code if real == REAL else f'(double){b.code}'})", REAL)
        return Text(f"({a.code} {OPERATORS[type(e.op)]} {b.code})", real)

    def attribute(self, of: Any, name: str) -> Any:
        """A field of named memory, or of a module."""
        assert isinstance(of, Known)
        if of.value is self.whole.memory:
            about = self.whole.memory.fields[name]
            if about.part is not None:
                return Known(getattr(of.value, name), name)
            if not about.is_size:
                kind = (REALS if about.real else INTS) if about.array else (REAL if about.real else INT)
                return Text(f"M_{name}", kind, about.inner)
        value = getattr(of.value, name)
        return Known(value, f"{of.name}_{name}")

    def subscript(self, of: Any, index: ast.expr) -> Any:
        """An element; of a constant array at a constant place, its value."""
        places = [self.expression(x) for x in (index.elts if isinstance(index, ast.Tuple) else [index])]
        if isinstance(of, Known) and all(isinstance(x, Known) for x in places):
            value = of.value[tuple(x.value for x in places)]
            return Known(value.item() if isinstance(value, np.generic) else value)
        array = self.text(of)
        place = self.text(places[0]).code
        for size, more in zip(array.inner, places[1:], strict=True):
            place = f"({place}) * {size} + {self.text(more).code}"
        return Text(f"{array.code}[{place}]", REAL if array.kind == REALS else INT)

    def choice(self, e: ast.IfExp) -> Any:
        """a if test else b."""
        test = self.expression(e.test)
        if isinstance(test, Known):
            return self.expression(e.body if test.value else e.orelse)
        a, b = self.text(self.expression(e.body)), self.text(self.expression(e.orelse))
        return Text(f"({test.code} ? {a.code} : {b.code})", REAL if REAL in (a.kind, b.kind) else INT)

    def both(self, made: list[Any], every: bool) -> Any:
        """and, or: what is known already is left out, or decides."""
        if any(isinstance(x, Known) and bool(x.value) != every for x in made):
            return Known(not every)
        unknown = [x.code for x in made if isinstance(x, Text)]
        return Text(f"({(' && ' if every else ' || ').join(unknown)})", INT) if unknown else Known(every)

    def call(self, e: ast.Call) -> Any:
        """A call: of a number's function, of a system function, of another kernel."""
        function = self.expression(e.func)
        assert isinstance(function, Known), ast.dump(e)
        what, arguments = function.value, [self.expression(a) for a in e.args]
        if what is present:
            return Known(arguments[0].value.address != 0 or arguments[0].value.call is not None)
        if what is view1:
            array, start = self.text(arguments[0]), self.text(arguments[1])
            return Text(f"({array.code} + {start.code})", array.kind)
        if what in (max, min, abs, int, float):
            return self.elementary(what, [self.text(a) for a in arguments])
        if what is call:
            assert isinstance(arguments[0].value, Function)
            self.whole.called(arguments[0].name)
            rest = ", ".join(self.text(a).code for a in arguments[1:5])
            return Text(f"{arguments[0].name}({rest}, M_p, (double *){self.text(arguments[5]).code})", NOTHING)
        if what in self.whole.replaced:
            return self.whole.replaced[what](self.whole, arguments)  # type: ignore[no-any-return]
        named = [a if isinstance(a, Known) and isinstance(a.value, Fields) else self.text(a) for a in arguments]
        name, returns = self.whole._function(what, what.__name__, named)
        given = ", ".join(["M_reals", "M_counts", "M_p", *(a.code for a in named if isinstance(a, Text))])
        return Text(f"{name}({given})", returns)

    def elementary(self, what: Any, made: list[Text]) -> Text:
        """max, min, abs, int, float."""
        if what in (int, float):
            return Text(f"({'int' if what is int else 'double'})({made[0].code})", INT if what is int else REAL)
        if what is abs:
            return Text(f"fabs({made[0].code})", REAL)
        code = made[0].code
        for more in made[1:]:
            if all(x.kind == INT for x in made):
                code = f"({code} {'>' if what is max else '<'} {more.code} ? {code} : {more.code})"
            else:
                code = f"{'fmax' if what is max else 'fmin'}({code}, {more.code})"
        return Text(code, INT if all(x.kind == INT for x in made) else REAL)


def _targets(node: ast.AST) -> list[ast.Name]:
    """Names that a statement assigns."""
    if isinstance(node, ast.Assign):
        parts = [p for t in node.targets for p in (t.elts if isinstance(t, ast.Tuple) else [t])]
    else:
        parts = [node.target] if isinstance(node, ast.AugAssign | ast.For) else []
    return [part for part in parts if isinstance(part, ast.Name)]


def _declared(kind: str) -> str:
    """A parameter's type, with its space; arrays are written to."""
    return {REALS: "double *", INTS: "const int *"}.get(kind, f"{kind} ")


def _calculate(e: ast.expr, values: list[Any]) -> Any:
    """An operation on constants."""
    if isinstance(e, ast.UnaryOp):
        return not values[0] if isinstance(e.op, ast.Not) else -values[0]
    if isinstance(e, ast.Compare):
        return all(PYTHON[type(op)](a, b) for a, op, b in zip(values, e.ops, values[1:], strict=False))
    assert isinstance(e, ast.BinOp)
    return PYTHON[type(e.op)](*values)
