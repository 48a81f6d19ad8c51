"""Back end: objects of the pieces for one processor, and the library linked of them.

    python -m madi.ahead.back TRIPLE PROCESSOR SOURCE.bc OBJECT.o [SOURCE OBJECT ...]      makes objects

A linker is the C compiler's, or that of the package ziglang, which needs no compiler on the machine and links for others.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from madi.engines.library import HASH_LENGTH, SOURCES

OPTIMISED = 3


def make_objects(triple: str, processor: str, pairs: list[tuple[Path, Path]]) -> None:
    """An object of each bitcode file, optimised for that processor."""
    from llvmlite import binding

    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    for source, target in pairs:
        machine = binding.Target.from_triple(triple).create_target_machine(
            cpu=processor, features="", opt=OPTIMISED, reloc="pic", codemodel="default"
        )
        module = binding.parse_bitcode(source.read_bytes())
        module.triple, module.data_layout = triple, str(machine.target_data)
        tuning = binding.create_pipeline_tuning_options(speed_level=OPTIMISED)
        tuning.loop_vectorization = tuning.slp_vectorization = tuning.loop_interleaving = tuning.loop_unrolling = True
        builder = binding.create_pass_builder(machine, tuning)
        builder.getModulePassManager().run(module, builder)
        target.write_bytes(machine.emit_object(module))


def hash_object(triple: str, text: str) -> bytes:
    """An object with the hash of the sources."""
    from llvmlite import binding

    assert len(text) == HASH_LENGTH
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    module = binding.parse_assembly(f'@{SOURCES} = constant [{HASH_LENGTH} x i8] c"{text}"')
    machine = binding.Target.from_triple(triple).create_target_machine(reloc="pic", codemodel="default")
    module.triple, module.data_layout = triple, str(machine.target_data)
    return bytes(machine.emit_object(module))


def linker(target: str | None) -> list[str]:
    """The command that links for a target of zig's ("x86_64-linux-gnu.2.17"; None: for this machine); [] without one."""
    if target is None:
        for name in ("cc", "gcc", "clang"):
            if shutil.which(name):
                return [name]
    if find_spec("ziglang"):
        return [sys.executable, "-m", "ziglang", "cc", *(["-target", target] if target else [])]
    return []


def link(objects: list[Path], library: Path, command: list[str], exported: list[str]) -> None:
    """The library: nothing but the pieces and the hash is seen from outside, nothing but the C library is needed."""
    names, folder = [*exported, SOURCES], library.parent
    if library.suffix == ".so":
        script = folder / "exported.map"
        script.write_text("{ global: " + " ".join(f"{name};" for name in names) + " local: *; };\n")
        flags = [f"-Wl,--version-script={script}", "-Wl,-z,defs", "-Wl,--strip-all", "-lm"]
    elif library.suffix == ".dll":
        script = folder / "exported.def"
        script.write_text("EXPORTS\n" + "".join(f"  {name}{' DATA' if name == SOURCES else ''}\n" for name in names))
        flags = [str(script)]
    else:
        flags = [f"-Wl,-install_name,@rpath/{library.name}"]
    listed = folder / "objects.txt"  # a command line has a limit
    listed.write_text("\n".join(path.as_posix() for path in objects))
    subprocess.run([*command, "-shared", "-o", str(library), f"@{listed}", *flags], check=True)


if __name__ == "__main__":
    files = [Path(name) for name in sys.argv[3:]]
    make_objects(sys.argv[1], sys.argv[2], list(zip(files[::2], files[1::2], strict=True)))
