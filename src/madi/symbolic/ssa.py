"""A CasADi function as a list of instructions, each register written once: what the tape and the C writer read."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from madi.errors import TraceError


class Instruction(NamedTuple):
    """`op` by name; a, b are earlier instructions, or (input, element) and (output, element)."""

    op: str
    a: int = -1
    b: int = -1
    value: float = 0.0


_UNARY = {
    ca.OP_NEG: "neg", ca.OP_EXP: "exp", ca.OP_LOG: "log", ca.OP_SQRT: "sqrt", ca.OP_SIN: "sin", ca.OP_COS: "cos",
    ca.OP_TAN: "tan", ca.OP_ASIN: "asin", ca.OP_ACOS: "acos", ca.OP_ATAN: "atan", ca.OP_SINH: "sinh",
    ca.OP_COSH: "cosh", ca.OP_TANH: "tanh", ca.OP_ASINH: "asinh", ca.OP_ACOSH: "acosh", ca.OP_ATANH: "atanh",
    ca.OP_FABS: "fabs", ca.OP_FLOOR: "floor", ca.OP_CEIL: "ceil", ca.OP_NOT: "not", ca.OP_SIGN: "sign",
    ca.OP_INV: "inv",
}  # fmt: skip
_BINARY = {
    ca.OP_ADD: "add", ca.OP_SUB: "sub", ca.OP_MUL: "mul", ca.OP_DIV: "div", ca.OP_POW: "pow", ca.OP_CONSTPOW: "pow",
    ca.OP_ATAN2: "atan2", ca.OP_LT: "lt", ca.OP_LE: "le", ca.OP_EQ: "eq", ca.OP_NE: "ne", ca.OP_AND: "and",
    ca.OP_OR: "or", ca.OP_IF_ELSE_ZERO: "if_else_zero", ca.OP_FMIN: "fmin", ca.OP_FMAX: "fmax",
    ca.OP_COPYSIGN: "copysign", ca.OP_FMOD: "fmod",
}  # fmt: skip
_TWICE_THE_SAME = {ca.OP_SQ: "mul", ca.OP_TWICE: "add"}
ARITHMETIC = set(_UNARY.values()) | set(_BINARY.values())


def instructions(function: ca.Function) -> list[Instruction]:
    """The instructions of an SX function in order; CasADi's reused work slots are given fresh numbers."""
    result: list[Instruction] = []
    slot: dict[int, int] = {}
    for k in range(function.n_instructions()):
        op, o, i = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        if op == ca.OP_OUTPUT:
            result.append(Instruction("output", slot[i[0]], o[0], float(o[1])))
            continue
        if op == ca.OP_CONST:
            made = Instruction("const", value=function.instruction_constant(k))
        elif op == ca.OP_INPUT:
            made = Instruction("input", i[0], i[1])
        elif op == ca.OP_ASSIGN:
            slot[o[0]] = slot[i[0]]
            continue
        elif op in _TWICE_THE_SAME:
            made = Instruction(_TWICE_THE_SAME[op], slot[i[0]], slot[i[0]])
        elif op in _UNARY:
            made = Instruction(_UNARY[op], slot[i[0]])
        elif op in _BINARY:
            made = Instruction(_BINARY[op], slot[i[0]], slot[i[1]])
        else:
            raise TraceError(f"CasADi operation {op} has no translation into a tape or C")
        result.append(made)
        slot[o[0]] = len(result) - 1
    return result
