"""A CasADi function as a list of instructions, each register written once: what the tape and the C writer read."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca

from madi.errors import TraceError
from madi.kernel.lookup import ORDERS


class Instruction(NamedTuple):
    """`op` by name; a, b are earlier instructions, or (input, element) and (output, element). Of a look-up (LOOKUPS, by its
    order) `value` is the place of its block and `array` the number of the array it is in (kernel/lookup.py)."""

    op: str
    a: int = -1
    b: int = -1
    value: float = 0.0
    array: int = -1


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
LOOKUPS = [f"lookup{order}" for order in range(ORDERS)]
ARITHMETIC = set(_UNARY.values()) | set(_BINARY.values()) | set(LOOKUPS)


class _Slots(dict[int, int]):
    """Where the numbers of CasADi's work slots are among the instructions; a constant becomes one when it is first used:
    those that only tell look-ups apart never do."""

    def __init__(self, result: list[Instruction]):
        super().__init__()
        self.result, self.constants = result, dict[int, float]()

    def __getitem__(self, key: int) -> int:
        if key in self.constants and key not in self:
            self.result.append(Instruction("const", value=self.constants[key]))
            super().__setitem__(key, len(self.result) - 1)
        return super().__getitem__(key)

    def __setitem__(self, key: int, value: int) -> None:
        self.constants.pop(key, None)
        super().__setitem__(key, value)

    def constant(self, key: int, value: float) -> None:
        """The slot holds a constant from here on."""
        self.pop(key, None)
        self.constants[key] = value


def instructions(function: ca.Function) -> list[Instruction]:
    """The instructions of an SX function in order; CasADi's reused work slots are given fresh numbers."""
    result: list[Instruction] = []
    slot = _Slots(result)
    for k in range(function.n_instructions()):
        op, o, i = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        if op == ca.OP_OUTPUT:
            result.append(Instruction("output", slot[i[0]], o[0], float(o[1])))
            continue
        if op == ca.OP_CONST:
            slot.constant(o[0], function.instruction_constant(k))
            continue
        if op == ca.OP_INPUT:
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
        elif op == ca.OP_CALL and len(i) == 4:
            array, place, order = (int(slot.constants[j]) for j in i[1:])
            made = Instruction(LOOKUPS[order], slot[i[0]], value=float(place), array=array)
        else:
            raise TraceError(f"CasADi operation {op} has no translation into a tape or C")
        result.append(made)
        slot[o[0]] = len(result) - 1
    return result
