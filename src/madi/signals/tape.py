"""The tape: a short list of scalar instructions that computes all signals of a model.

Instruction k writes register k from registers a and b (a look-up: from register a and the block at its constant). The tape
is data, so a new drive or force needs no compilation, in any engine; when a model is traced, the tape is unrolled into the
trace like every other kernel.
"""

from __future__ import annotations

from madi import kernel as k
from madi.forces.dispatch import apply_elements, measure_lines
from madi.kernel import kernel
from madi.kernel.lookup import lookup
from madi.signals.fields import Arrays, Work

_NAMES = (
    "const time q v measure output add sub mul div neg sqrt sin cos tan asin acos atan atan2 exp log pow sinh cosh tanh "
    "asinh acosh atanh fabs floor ceil lt le eq ne not and or if_else_zero fmin fmax sign copysign fmod inv "
    "lookup0 lookup1 lookup2 lookup3 lookup4"
)
NAMES = _NAMES.split()
OPS: dict[str, int] = {name: code for code, name in enumerate(NAMES)}

(
    CONST,
    TIME,
    COORDINATE,
    SPEED,
    MEASURE,
    OUTPUT,
    ADD,
    SUB,
    MUL,
    DIV,
    NEG,
    SQRT,
    SIN,
    COS,
    TAN,
    ASIN,
    ACOS,
    ATAN,
    ATAN2,
    EXP,
    LOG,
    POW,
    SINH,
    COSH,
    TANH,
    ASINH,
    ACOSH,
    ATANH,
    FABS,
    FLOOR,
    CEIL,
    LT,
    LE,
    EQ,
    NE,
    NOT,
    AND,
    OR,
    IF_ELSE_ZERO,
    FMIN,
    FMAX,
    SIGN,
    COPYSIGN,
    FMOD,
    INV,
    LOOKUP,
    _,
    _,
    _,
    _,
) = range(len(NAMES))


@kernel
def arithmetic(op, x, y):
    """Two arguments: sums, products, powers."""
    if op == ADD:
        return x + y
    if op == SUB:
        return x - y
    if op == MUL:
        return x * y
    if op == DIV:
        return x / y
    if op == POW:
        return x**y
    if op == ATAN2:
        return k.atan2(x, y)
    if op == FMIN:
        return k.where(x < y, x, y)
    if op == FMAX:
        return k.where(x < y, y, x)
    if op == COPYSIGN:
        return k.copysign(x, y)
    quotient = x / y  # fmod, as in C: the sign of x
    return x - y * k.where(quotient < 0.0, k.ceil(quotient), k.floor(quotient))


@kernel
def function(op, x):
    """One argument."""
    if op == NEG:
        return -x
    if op == INV:
        return 1.0 / x
    if op == SQRT:
        return k.sqrt(x)
    if op == SIN:
        return k.sin(x)
    if op == COS:
        return k.cos(x)
    if op == TAN:
        return k.tan(x)
    if op == ASIN:
        return k.asin(x)
    if op == ACOS:
        return k.acos(x)
    if op == ATAN:
        return k.atan(x)
    if op == EXP:
        return k.exp(x)
    if op == LOG:
        return k.log(x)
    if op == SINH:
        return k.sinh(x)
    if op == COSH:
        return k.cosh(x)
    if op == TANH:
        return k.tanh(x)
    if op == ASINH:
        return k.asinh(x)
    if op == ACOSH:
        return k.acosh(x)
    if op == ATANH:
        return k.atanh(x)
    if op == FABS:
        return k.fabs(x)
    if op == FLOOR:
        return 1.0 * k.floor(x)
    if op == CEIL:
        return 1.0 * k.ceil(x)
    if op == NOT:
        return k.where(x == 0.0, 1.0, 0.0)
    return k.where(x > 0.0, 1.0, k.where(x < 0.0, -1.0, 0.0))  # sign


@kernel
def comparison(op, x, y):
    """Conditions, 1 or 0, and what depends on them."""
    if op == LT:
        return k.where(x < y, 1.0, 0.0)
    if op == LE:
        return k.where(x <= y, 1.0, 0.0)
    if op == EQ:
        return k.where(x == y, 1.0, 0.0)
    if op == NE:
        return k.where(x == y, 0.0, 1.0)
    if op == AND:
        return k.where(x == 0.0, 0.0, k.where(y == 0.0, 0.0, 1.0))
    if op == OR:
        return k.where(x == 0.0, k.where(y == 0.0, 0.0, 1.0), 1.0)
    return k.where(x == 0.0, 0.0, y)  # if_else_zero


@kernel
def run_tape(model: Arrays, work: Work, t, q, v, first, last):
    """Instructions first..last - 1: signals from time and state into work.signal."""
    r = work.tape
    for n in range(first, last):
        op, a, b = model.tape_op[n], model.tape_a[n], model.tape_b[n]
        if op == CONST:
            r[n] = model.tape_constant[n]
        elif op == TIME:
            r[n] = t
        elif op == COORDINATE:
            r[n] = q[a]
        elif op == SPEED:
            r[n] = v[a]
        elif op == MEASURE:
            r[n] = work.measure[a]
        elif op == OUTPUT:
            work.signal[b] = r[a]
        elif op >= LOOKUP:
            r[n] = lookup(model.curve, int(model.tape_constant[n]), r[a], op - LOOKUP)
        elif op <= DIV or op in (POW, ATAN2, FMIN, FMAX) or (op >= COPYSIGN and op < INV):
            r[n] = arithmetic(op, r[a], r[b])
        elif op >= LT and op <= IF_ELSE_ZERO and op != NOT:
            r[n] = comparison(op, r[a], r[b])
        else:
            r[n] = function(op, r[a])


def call_user(function, t, q, v, measure, out, at):
    """Call a user's function that stays in Python, by its C address; it writes from out[at] on."""
    from madi.signals.callback import call_address

    call_address(function, t, q, v, measure, out, at)


@kernel
def drive_signals(model: Arrays, work: Work, t, q, v):
    """The part of the tape that prescribes motion; it depends on time alone."""
    run_tape(model, work, t, q, v, 0, model.nd)


@kernel
def force_signals(model: Arrays, work: Work, t, q, v):
    """The rest of the tape, then the functions that stay in Python; work.measure is known."""
    run_tape(model, work, t, q, v, model.nd, model.nt)
    for c in range(model.nc):
        call_user(model.callback[c, 0], t, q, v, work.measure, work.signal, model.callback[c, 1])


@kernel
def apply_forces(model: Arrays, work: Work, t, tau):
    """work.Q, work.tau: all forces, those handed in and those of the elements, after the signals these are made of.
    Positions and velocities are known, work.q and work.v the state as driven."""
    work.now = t
    measure_lines(model, work)
    force_signals(model, work, t, work.q, work.v)
    apply_elements(model, work, tau)
