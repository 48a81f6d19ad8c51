"""Front end: a piece as LLVM's code, of no processor in particular.

    python -m madi.ahead.front FOLDER PIECE ...      writes FOLDER/PIECE.bc

It is a process of its own, because Numba must be told before it is imported that nothing of this machine may get in. A
piece in Numba's own convention returns a status and writes its result through a pointer; a wrapper makes it plain C. All but
the wrapper is internal: names of pieces made separately may coincide, and a linker would take either.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

GENERIC = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": "", "NUMBA_LOOP_VECTORIZE": "0", "NUMBA_SLP_VECTORIZE": "0"}
C_TYPES = {"float64": "double", "int64": "i64", "int32": "i32", "none": "void"}


def wrapper(name: str, native: str, signature: Any) -> str:
    """The C function `name` in LLVM's words; it calls `native`."""
    kinds, returns = [C_TYPES[str(kind)] for kind in signature.args], C_TYPES[str(signature.return_type)]
    given = ", ".join(f"{kind} %a{k}" for k, kind in enumerate(kinds))
    result = "ptr" if returns == "void" else returns
    answer = "ret void" if returns == "void" else f"%answer = load {returns}, ptr %result\n  ret {returns} %answer"
    return (
        f"define {returns} @{name}({given}) {{\n"
        f"  %result = alloca {result}\n  %error = alloca ptr\n"
        f'  %status = call i32 @"{native}"(ptr %result, ptr %error, {given})\n  {answer}\n}}\n'
    )


def bitcode(piece: Any) -> bytes:
    """The code of a piece."""
    import numba
    from llvmlite import binding

    from madi.engines import numba_support
    from madi.engines.library import symbol

    function, signature = numba_support.defined(piece)
    options = {
        **numba_support.OPTIONS,
        "pipeline_class": numba_support.PieceCompiler,
        "no_cpython_wrapper": True,
        "no_cfunc_wrapper": True,
    }
    made = numba.njit(signature, **options)(function).overloads[signature.args]
    text = made.library.get_llvm_str() + wrapper(symbol(piece.name), made.fndesc.llvm_func_name, signature)
    module = binding.parse_assembly(text)
    for defined in module.functions:
        if not defined.is_declaration and defined.name != symbol(piece.name):
            defined.linkage = "internal"
    for variable in module.global_variables:
        if not variable.is_declaration:
            variable.linkage = "internal"
    module.verify()
    return bytes(module.as_bitcode())


def main(folder: Path, names: list[str]) -> None:
    """Write the code of these pieces."""
    from madi.ahead import pieces

    listed = {piece.name: piece for piece in pieces()}
    for name in names:
        (folder / f"{name}.bc").write_bytes(bitcode(listed[name]))


if __name__ == "__main__":
    os.environ |= GENERIC
    main(Path(sys.argv[1]), sys.argv[2:])
