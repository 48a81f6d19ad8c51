"""What Numba must know, once per process: the kernels, their mathematics, and calls by address.

Importing this module imports Numba: `pieces.py` does where no library serves, `ahead/` to make one.

    int32 entry(double t, const double *q, const double *v, const double *x, double *out, const int64 *context)
    context = addresses of the tables of the model and of the scratch (Named, below)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba
from llvmlite import ir
from llvmlite.binding import Linkage
from numba import float64, int64, types
from numba.core import cgutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.imputils import lower_setattr_generic
from numba.core.registry import cpu_target
from numba.core.typing.templates import AbstractTemplate, AttributeTemplate, infer_getattr, infer_global
from numba.extending import (
    intrinsic,
    lower_builtin,
    lower_getattr_generic,
    models,
    overload,
    register_jitable,
    register_model,
)

from madi import kernel as k
from madi.engines.pieces import ELEMENT, ENTRY, INTERPRETER, LOOP, TWIN, Piece
from madi.equations.fields import Arrays, Work
from madi.forces import dispatch as forces
from madi.kernel import lookup
from madi.kernel.fields import SEEN, Function, seen
from madi.signals import tape

# No 'nnan' and 'ninf': with them LLVM assumes there are no NaNs, and the checks for them vanish.
OPTIONS: dict[str, Any] = {"fastmath": {"reassoc", "nsz", "arcp", "contract", "afn"}, "error_model": "numpy"}
TINY, HUGE, TAN_PI_8 = 1e-280, 1e300, 0.41421356237309503  # sizes that fast_atan2 takes; where it turns by pi/4
FAR_OUT = 1e5  # rad: beyond, the parts of pi/2 in fast_sincos no longer hold enough digits
TWO_OVER_PI = 0.6366197723675814
# pi/2 in parts: n times the first two is exact for the whole numbers n below FAR_OUT, the last is what they leave
PI_2_FIRST, PI_2_SECOND, PI_2_REST = 1.5707963267341256, 6.07710050630396597660e-11, 2.02226624879595063154e-21
INNER = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # nobody calls a kernel from Python


class PieceLibrary(JITCodeLibrary):
    """The code of a piece, with its kernels for itself alone.

    As Numba links a piece, each kernel in it is a symbol that any other piece may define as well, and a process runs the
    copy that it met first: not the one beside it, and in the process that compiles another than in those that load. The
    copies differ in the last bits, since each was optimised with what surrounds it; and two processes may have given two
    kernels one name.
    """

    def _optimize_final_module(self) -> None:
        super()._optimize_final_module()
        for function in self._final_module.functions:
            if function.linkage == Linkage.linkonce_odr and not function.name.startswith("NRT_"):
                function.linkage = "internal"


class PieceCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, for a `PieceLibrary`."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any):
        library = PieceLibrary(targetctx.codegen(), "madi")
        library.enable_object_caching()
        super().__init__(typingctx, targetctx, library, *rest)


class KernelLibrary(JITCodeLibrary):
    """The code of a kernel inside a piece. It never runs by itself: it is optimised with the piece, once, and no machine
    code is made of it alone. Numba does both at every level of calls, a third of all compilation."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """No machine code."""
        return 0

    @property
    def codegen(self) -> Any:
        """What Numba asks to keep an environment for calls from Python: there are none."""
        return NoEnvironment


class NoEnvironment:
    """Of a `KernelLibrary`."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Keep nothing."""


class PartCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler, for a `KernelLibrary`."""

    def __init__(self, typingctx: Any, targetctx: Any, library: Any, *rest: Any):
        super().__init__(typingctx, targetctx, KernelLibrary(targetctx.codegen(), "madi"), *rest)


PIECE = {**OPTIONS, "cache": True, "pipeline_class": PieceCompiler}


def use_folder(folder: Path | None) -> None:
    """Let Numba keep what it makes next there (None: where it did before). Its index is read and written without a lock: two
    processes must not share one."""
    numba.config.CACHE_DIR = USUAL_FOLDER if folder is None else str(folder)  # type: ignore[attr-defined]


USUAL_FOLDER = numba.config.CACHE_DIR  # type: ignore[attr-defined]


class View(types.Type):
    """A bare pointer with a fixed inner shape: what an array looks like inside a compiled kernel.

    A Numba array is a structure of some nine fields. A view is one pointer, its strides are constants, and negative
    indices do not exist.
    """

    def __init__(self, dtype: Any, inner: tuple[int, ...] = ()):
        self.dtype = dtype
        self.inner = inner
        super().__init__(f"View({dtype}, {inner})")


@register_model(View)
class _ViewModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: View):
        super().__init__(dmm, fe_type, dmm[fe_type.dtype].get_data_type().as_pointer())


def _element(context: Any, builder: Any, view: View, pointer: Any, index_type: Any, index: Any) -> Any:
    """Pointer to an element: ((i m) + j) k + l."""
    if isinstance(index_type, types.BaseTuple):
        parts = list(zip(index_type.types, cgutils.unpack_tuple(builder, index), strict=True))
    else:
        parts = [(index_type, index)]
    numbers = [context.cast(builder, value, kind, types.intp) for kind, value in parts]
    place = numbers[0]
    for size, number in zip(view.inner, numbers[1:], strict=True):
        place = builder.add(builder.mul(place, place.type(size)), number)
    return builder.gep(pointer, [place], inbounds=True)


def _index_fits(view: Any, index: Any) -> bool:
    dimensions = len(index.types) if isinstance(index, types.BaseTuple) else 1
    return isinstance(view, View) and dimensions == 1 + len(view.inner)


@infer_global(operator.getitem)
class _GetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        view, index = args
        return view.dtype(view, index) if _index_fits(view, index) else None


@infer_global(operator.setitem)
class _SetItem(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        view, index, _ = args
        return types.none(view, index, view.dtype) if _index_fits(view, index) else None


@lower_builtin(operator.getitem, View, types.BaseTuple)
@lower_builtin(operator.getitem, View, types.Integer)
def _get_item(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    view, index_type = signature.args
    return builder.load(_element(context, builder, view, args[0], index_type, args[1]))


@lower_builtin(operator.setitem, View, types.BaseTuple, types.Any)
@lower_builtin(operator.setitem, View, types.Integer, types.Any)
def _set_item(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    view, index_type, _ = signature.args
    builder.store(args[2], _element(context, builder, view, args[0], index_type, args[1]))
    return context.get_dummy_value()


def builtin(function: Any, typer: Callable[..., Any], lower: Callable[..., Any]) -> None:
    """Teach Numba a function as a builtin: `typer(*types)` gives the result's type or None, `lower` the code.

    An overload would be compiled as a function of its own for every signature; a builtin costs nothing.
    """

    class Template(AbstractTemplate):
        key = function

        def generic(self, args: Any, kws: Any) -> Any:
            return typer(*args)

    infer_global(function, types.Function(Template))
    lower_builtin(function, types.VarArg(types.Any))(lower)


def _data(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    return value if isinstance(kind, View) else context.make_array(kind)(context, builder, value).data


def _make_view(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    return builder.gep(_data(context, builder, signature.args[0], args[0]), [args[1]], inbounds=True)


builtin(k.view1, lambda buffer, start, n: View(buffer.dtype)(buffer, types.intp, types.intp), _make_view)


class Named(types.Type):
    """Named memory (kernel/fields.py) inside a compiled kernel: one pointer to its table of sizes and addresses.

    Handing the sixty views themselves from kernel to kernel made most of the compile time. The table never changes while
    machine code runs, and its loads say so: the optimiser may take them out of loops and past stores.
    """

    def __init__(self, cls: Any):
        self.place = {name: (index, field, _kind(field)) for index, (name, field) in enumerate(cls.fields.items())}
        super().__init__(f"Named({cls.__module__}.{cls.__qualname__})")


def _kind(field: Any) -> Any:
    """What reading a field gives."""
    if field.part is Function:
        return SYSTEM_FUNCTION
    if field.part is not None:
        return named(field.part)
    dtype = types.float64 if field.real else types.int64
    return View(dtype, field.inner) if field.array else dtype


class SystemFunction(types.Type):
    """A system function in named memory: a pointer to its address and its context."""


SYSTEM_FUNCTION = SystemFunction("SystemFunction")
named = cache(Named)


@register_model(Named)
@register_model(SystemFunction)
class _NamedModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any):
        super().__init__(dmm, fe_type, ir.IntType(64).as_pointer())


@infer_getattr
class _FieldTypes(AttributeTemplate):
    key = Named

    def generic_resolve(self, typ: Any, attr: str) -> Any:
        return typ.place[attr][2] if attr in typ.place else None


def _entry(context: Any, builder: Any, value: Any, index: int, kind: Any) -> Any:
    """What the table has for a field: a size, or a pointer to numbers of this kind."""
    loaded = builder.load(builder.gep(value, [ir.IntType(64)(index)], inbounds=True))
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded if kind is None else builder.inttoptr(loaded, kind)


@lower_getattr_generic(Named)
def _get_field(context: Any, builder: Any, typ: Any, value: Any, attr: str) -> Any:
    index, field, kind = typ.place[attr]
    if field.is_size:
        return _entry(context, builder, value, index, None)
    pointer = context.get_value_type(kind)
    if field.array or field.part is not None:
        return _entry(context, builder, value, index, pointer)
    return builder.load(_entry(context, builder, value, index, pointer.as_pointer()))


@lower_setattr_generic(Named)
def _set_field(context: Any, builder: Any, signature: Any, args: Any, attr: str) -> Any:
    index, _, kind = signature.args[0].place[attr]
    builder.store(args[1], _entry(context, builder, args[0], index, context.get_value_type(kind).as_pointer()))


def view_at(address, dtype):  # type: ignore[no-untyped-def]
    """A one-dimensional view of what is at an address (in jitted code only)."""
    raise RuntimeError("inside jitted code only")


def address(array: Any) -> int:
    """Where the numbers of an array or view are."""
    return int(array.ctypes.data)


builtin(
    view_at,
    lambda place, dtype: View(dtype.dtype)(types.intp, dtype),
    lambda context, builder, signature, args: builder.inttoptr(args[0], context.get_value_type(signature.return_type)),
)
builtin(
    address,
    lambda array: types.intp(array),
    lambda context, builder, signature, args: builder.ptrtoint(
        _data(context, builder, signature.args[0], args[0]), ir.IntType(64)
    ),
)


def _call_address(builder: Any, returns: Any, args: Any) -> Any:
    """Call the C function at args[0] with a double and pointers, given as integers."""
    kind = ir.FunctionType(returns, [ir.DoubleType()] + [ir.IntType(64)] * (len(args) - 2))
    return builder.call(builder.inttoptr(args[0], kind.as_pointer()), args[1:])


@intrinsic
def call_callback(typingctx, address, t, q, v, measure, out):  # type: ignore[no-untyped-def]
    """Call a user's function that stayed in Python."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        _call_address(builder, ir.VoidType(), args)
        return context.get_dummy_value()

    return types.void(types.intp, types.float64, *[types.intp] * 4), generate


def _lower_element(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    kind = ir.FunctionType(ir.VoidType(), [ir.IntType(64)] * 3)
    tables = [builder.ptrtoint(pointer, ir.IntType(64)) for pointer in args[1:3]]
    builder.call(builder.inttoptr(args[0], kind.as_pointer()), [*tables, args[3]])
    return context.get_dummy_value()


builtin(
    forces.call_element,
    lambda address, model, work, e: types.none(types.intp, model, work, types.intp),
    _lower_element,
)
builtin(
    k.call_separate,
    lambda address, code, model, work, i: types.none(types.intp, types.intp, model, work, types.intp),
    lambda context, builder, signature, args: _lower_element(context, builder, signature, [args[0], *args[2:]]),
)


def _lower_call(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Call the system function whose address and context are in a table of two."""
    address, last = (builder.load(builder.gep(args[0], [ir.IntType(64)(k)], inbounds=True)) for k in range(2))
    arrays = zip(signature.args[2:], args[2:], strict=True)
    pointers = [builder.ptrtoint(_data(context, builder, kind, value), ir.IntType(64)) for kind, value in arrays]
    return _call_address(builder, ir.IntType(32), [address, args[1], *pointers, last])


def _lower_call_loop(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    """Call the loop whose address and memory are in a table of two."""
    address, memory = (builder.load(builder.gep(args[0], [ir.IntType(64)(k)], inbounds=True)) for k in range(2))
    kind = ir.FunctionType(ir.IntType(64), [ir.IntType(64)])
    return builder.call(builder.inttoptr(address, kind.as_pointer()), [memory])


def _lower_present(context: Any, builder: Any, signature: Any, args: Any) -> Any:
    address = builder.load(builder.gep(args[0], [ir.IntType(64)(0)], inbounds=True))
    return builder.icmp_signed("!=", address, ir.IntType(64)(0))


builtin(k.call, lambda function, t, q, v, x, out: types.int32(function, types.float64, q, v, x, out), _lower_call)
builtin(k.call_loop, lambda function: types.int64(function), _lower_call_loop)
builtin(k.present, lambda function: types.boolean(function), _lower_present)


@overload(tape.call_user, jit_options=INNER)
def _call_user(function, t, q, v, measure, out, at):  # type: ignore[no-untyped-def]
    return lambda function, t, q, v, measure, out, at: call_callback(
        function, t, address(q), address(v), address(measure), address(out) + 8 * at
    )


def fast_sincos(x):  # type: ignore[no-untyped-def]
    """sin and cos together, inlined, to one unit in the last place of 1.

    Reduction by pi/2 in three parts, then the minimax polynomials of the FreeBSD mathematical library on |r| <= pi/4;
    far out, where the reduction would lose digits, the library's own functions.
    """
    if not abs(x) < FAR_OUT:
        return math.sin(x), math.cos(x)
    n = math.floor(x * TWO_OVER_PI + 0.5)
    y = x - n * PI_2_FIRST
    z = n * PI_2_SECOND
    r = y - z
    r = r + (((y - r) - z) - n * PI_2_REST)
    z = r * r
    s = r + r * z * (
        -1.66666666666666324348e-01
        + z * (8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * (
            2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))))
    )  # fmt: skip
    c = 1.0 - 0.5 * z + z * z * (
        4.16666666666666019037e-02
        + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * (
            -2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 - z * 1.13596475577881948265e-11))))
    )  # fmt: skip
    k = int(n)
    a, b = (c, s) if k & 1 else (s, c)
    return -a if k & 2 else a, -b if (k + 1) & 2 else b


def fast_atan2(y, x):  # type: ignore[no-untyped-def]
    """atan2, inlined, to two units in the last place: the smaller size by the larger, beyond tan(pi/8) its difference from 1
    by its sum with it, so that one division leaves |r| < tan(pi/8); then the polynomial of the FreeBSD mathematical library.
    What is zero, not finite or near the ends of the exponents goes to the library's own function."""
    u, v = abs(x), abs(y)
    large, small = (u, v) if u > v else (v, u)
    if not TINY < large < HUGE:
        return math.atan2(y, x)
    near = small > TAN_PI_8 * large
    r = (small - large if near else small) / (small + large if near else large)
    z = r * r
    w = z * z
    even = z * (
        3.33333333333329318027e-01
        + w * (1.42857142725034663711e-01 + w * (9.09088713343650656196e-02 + w * (
            6.66107313738753120669e-02 + w * (4.97687799461593236017e-02 + w * 1.62858201153657823623e-02))))
    )  # fmt: skip
    odd = w * (
        -1.99999999998764832476e-01
        + w * (-1.11111104054623557880e-01 + w * (-7.69187620504482999495e-02 + w * (
            -5.83357013379057348645e-02 - w * 3.65315727442169155270e-02)))
    )  # fmt: skip
    angle = r - r * (even + odd)
    angle = angle + 0.25 * math.pi if near else angle
    angle = 0.5 * math.pi - angle if v > u else angle
    angle = math.pi - angle if x < 0.0 else angle
    return -angle if y < 0.0 else angle


def fast_atan(x):  # type: ignore[no-untyped-def]
    """atan by `fast_atan2`."""
    return fast_atan2(x, 1.0)


def _same_piece(curve, s, x, y):  # type: ignore[no-untyped-def]
    return lookup.piece(curve, s, x) == lookup.piece(curve, s, y)


# No 'reassoc' here: the order of the subtractions in the reduction is what keeps the digits.
_EXACT = {**INNER, "fastmath": {"nsz", "contract"}}
overload(k.sincos, jit_options=_EXACT)(lambda x: fast_sincos)
fast_atan2 = register_jitable(**_EXACT)(fast_atan2)
overload(k.atan2, jit_options=_EXACT)(lambda y, x: fast_atan2)
overload(k.atan, jit_options=_EXACT)(lambda x: fast_atan)
overload(lookup.lookup, jit_options=INNER)(lambda curve, s, x, order: lookup.evaluated)
overload(lookup.lookup2, jit_options=INNER)(lambda curve, s, x, order: lookup.evaluated_twice)
overload(lookup.lookup3, jit_options=INNER)(lambda curve, s, x: lookup.evaluated_thrice)
overload(lookup.same_piece, jit_options=INNER)(lambda curve, s, x, y: _same_piece)
overload(k.apart, jit_options=_EXACT)(lambda a, b: lambda a, b: a - b)


def _library_call(plain: Any, n: int) -> Callable[..., Any]:
    real = types.float64

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return context.get_function(plain, real(*[real] * n))(builder, args)

    return lower


def _rounding(name: str) -> Callable[..., Any]:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.call(builder.module.declare_intrinsic(f"llvm.{name}", [ir.DoubleType()]), args)

    return lower


for _name, _plain in k.UNARY.items():
    if _name == "atan":  # above
        continue
    _lower = _rounding(_name) if _name in ("floor", "ceil") else _library_call(_plain, 1)
    builtin(getattr(k, _name), lambda x: types.float64(types.float64), _lower)
builtin(k.copysign, lambda a, b: types.float64(*[types.float64] * 2), _library_call(math.copysign, 2))
builtin(
    k.where,
    lambda condition, a, b: types.float64(types.boolean, types.float64, types.float64),
    lambda context, builder, signature, args: builder.select(*args),
)
builtin(
    k.needed,
    lambda condition: types.boolean(types.boolean),
    lambda context, builder, signature, args: args[0],
)
_known: set[Any] = set()


def _register_memory(function: Any, kind: Any) -> None:
    """Teach Numba how a table is seen as named memory."""
    builtin(
        function,
        lambda table: kind(table),
        lambda context, builder, signature, args: _data(context, builder, signature.args[0], args[0]),
    )


def register_kernels() -> None:
    """All kernels and named memory there are by now; modules that are imported later bring more."""
    for kernel in k.KERNELS:
        if kernel not in _known:
            _known.add(kernel)
            register_jitable(**INNER, pipeline_class=PartCompiler, forceinline=kernel in k.INLINE)(kernel)
    for function, cls in SEEN.items():
        if function not in _known:
            _known.add(function)
            _register_memory(function, named(cls))
    for context in (cpu_target.typing_context, cpu_target.target_context):
        context.refresh()


as_model, as_work = seen(Arrays), seen(Work)
SIGNATURES = {  # of the C functions, by kind (pieces.py)
    ENTRY: types.int32(types.float64, *[types.intp] * 5),
    ELEMENT: types.void(*[types.intp] * 3),
    LOOP: types.int64(types.intp),
}


def define_entry(function: Callable[..., Any]) -> Callable[..., Any]:
    """An entry kernel."""

    def entry(t, q, v, x, out, context):  # type: ignore[no-untyped-def]
        c = view_at(context, int64)
        model, work = as_model(view_at(c[0], int64)), as_work(view_at(c[1], int64))
        function(model, work, t, view_at(q, float64), view_at(v, float64), view_at(x, float64), view_at(out, float64))
        return 0

    return entry


def define_element(apply: Callable[..., Any]) -> Callable[..., Any]:
    """A force element, or a kernel few models need."""

    def element(model_table, work_table, e):  # type: ignore[no-untyped-def]
        apply(as_model(view_at(model_table, int64)), as_work(view_at(work_table, int64)), e)

    return element


def define_twin(function: Callable[..., Any], arrays: Any, work: Any) -> Callable[..., Any]:
    """An entry with a model and scratch of its own classes (the Cartesian formulation); context: their tables, then those
    of the forces, which it shares with the tree."""
    own_model, own_work = seen(arrays), seen(work)

    def entry(t, q, v, x, out, context):  # type: ignore[no-untyped-def]
        c = view_at(context, int64)
        model, work = own_model(view_at(c[0], int64)), own_work(view_at(c[1], int64))
        element, forces = as_model(view_at(c[2], int64)), as_work(view_at(c[3], int64))
        reals = view_at(q, float64), view_at(v, float64), view_at(x, float64), view_at(out, float64)
        function(model, work, element, forces, t, reals[0], reals[1], reals[2], reals[3])
        return 0

    return entry


def define_interpreter(interpret: Callable[..., Any]) -> Callable[..., Any]:
    """What runs a trace as data (interpreter.py); context: addresses of its arrays."""

    def entry(t, q, v, x, out, context):  # type: ignore[no-untyped-def]
        c = view_at(context, int64)
        interpret(
            view_at(c[0], int64), view_at(c[1], int64), view_at(c[2], int64), view_at(c[3], int64), view_at(c[4], int64),
            view_at(c[5], int64), view_at(c[6], float64), view_at(c[7], float64), view_at(c[8], float64), t,
            view_at(q, float64), view_at(v, float64), view_at(x, float64), view_at(out, float64),
        )  # fmt: skip
        return 0

    return entry


def define_loop(kernel: Callable[..., Any], memory: Any) -> Callable[..., Any]:
    """A loop around system functions: a kernel of one named memory, whose table's address it is handed."""
    instance = seen(memory)

    def loop(table):  # type: ignore[no-untyped-def]
        return kernel(instance(view_at(table, int64)))

    return loop


DEFINED: dict[str, Callable[..., Callable[..., Any]]] = {
    ENTRY: define_entry,
    ELEMENT: define_element,
    TWIN: define_twin,
    INTERPRETER: define_interpreter,
    LOOP: define_loop,
}


def defined(piece: Piece) -> tuple[Callable[..., Any], Any]:
    """The function of a piece as Numba compiles it, and its signature."""
    function = DEFINED[piece.kind](*piece.of)
    register_kernels()
    return function, SIGNATURES.get(piece.kind, SIGNATURES[ENTRY])


def compile_piece(folder: Path | None, piece: Piece) -> Any:
    """The C function of a piece (a Numba cfunc), from the disk cache if it was made before; None: without one."""
    use_folder(folder)
    function, signature = defined(piece)
    return numba.cfunc(signature, **PIECE | {"cache": folder is not None})(function)
