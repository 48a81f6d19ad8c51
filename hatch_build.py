"""Build hook: a wheel has the machine code of the general engine inside (src/madi/ahead), for one platform and all its
processors; it serves every Python. MADI_WHEEL: a platform of madi.ahead.build.PLATFORMS (default: this machine's); "pure"
for a wheel without (Numba compiles at the first run), which an editable install and a source distribution are anyway; "made"
for one with what `make library` left in the checkout, which is for machines like this one only and says so in its name."""

from __future__ import annotations

import os
import re
import sys
import sysconfig
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NEEDED = ["numba==0.68.*", "ziglang"]  # (the front end uses Numba's internals)
TOOLS = ("llvmlite", "ziglang")
PURE, MADE = "pure", "made"


def _made() -> list[Path]:
    """Libraries in the checkout that are of these sources."""
    from madi.engines.cache import kernel_hash
    from madi.engines.library import FOLDER

    found = [path for path in sorted(FOLDER.glob("*")) if kernel_hash().encode() in path.read_bytes()]
    if not found:
        raise RuntimeError(f"MADI_WHEEL={MADE}: no machine code of these sources in {FOLDER}; `make library` makes it")
    return found


class Libraries(BuildHookInterface):
    """Machine code in the wheel."""

    PLUGIN_NAME = "custom"

    @property
    def wanted(self) -> str:
        """The platform."""
        return os.environ.get("MADI_WHEEL", "")

    def dependencies(self) -> list[str]:
        """What making it needs."""
        return {PURE: [], MADE: ["numpy"]}.get(self.wanted, NEEDED)

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the libraries, put them in."""
        if self.target_name != "wheel" or version == "editable" or self.wanted == PURE:
            return
        source = str(Path(self.root) / "src")
        sys.path.insert(0, source)
        os.environ["PYTHONPATH"] = os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep)
        if self.wanted == MADE:
            self.include(_made(), re.sub(r"\W", "_", sysconfig.get_platform()), build_data)
            return
        from madi.ahead.build import PLATFORMS, build_for, here
        from madi.engines.cache import kernel_hash
        from madi.engines.library import file_name

        name = self.wanted or here()
        if name not in PLATFORMS:
            self.app.display_warning(
                f"no recipe for {name or 'this machine'}: a pure wheel, which compiles at the first run"
            )
            return
        # pip asks for the metadata first, then for the wheel, and this hook runs for both: what the first made is kept
        tools = "-".join(f"{tool}{installed(tool)}" for tool in TOOLS)
        folder = Path(self.root) / "build" / f"libraries-{name}-{kernel_hash()}-{tools}"
        libraries = [folder / file_name(level, PLATFORMS[name].system) for level in PLATFORMS[name].levels]
        if not all(path.exists() for path in libraries):
            folder.mkdir(parents=True, exist_ok=True)
            build_for(PLATFORMS[name], folder)
        self.include(libraries, PLATFORMS[name].tag, build_data)

    @staticmethod
    def include(libraries: list[Path], tag: str, build_data: dict[str, Any]) -> None:
        """Put libraries in; the wheel is for that platform."""
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{tag}"
        build_data["force_include"] |= {str(path): f"madi/libraries/{path.name}" for path in libraries}
