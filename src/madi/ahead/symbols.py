"""What a library hands out and what it asks for, read from its bytes: ELF, PE and Mach-O of 64 bits, of any machine.

So a library is looked at on the machine that linked it, which cannot load one made for another system.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

ELF, MACH_O, PE = b"\x7fELF", b"\xcf\xfa\xed\xfe", b"MZ"
ELF_DYNSYM, ELF_SYMBOL = 11, 24  # type of the section, bytes of a symbol
ELF_DYNAMIC, ELF_NEEDED = 6, 1  # type of the section, tag of a library that must be there
MACH_SYMTAB, MACH_DYLIB, MACH_SIGNATURE, MACH_SYMBOL, MACH_HEADER = 0x2, 0xC, 0x1D, 16, 32
MACH_STAB, MACH_TYPE, MACH_EXTERNAL = 0xE0, 0x0E, 0x01
PE_SECTION, PE_IMPORT, PE_ORDINAL = 40, 20, 1 << 63  # bytes of a section's and of an import's entry; "by number" instead
PE_DIRECTORIES = 112  # bytes of the optional header before the directories (exports, imports, ...)


@dataclass(frozen=True)
class Symbols:
    """What is exported and needed, names as C has them; the libraries that must be there; whether it is signed (which macOS
    asks for)."""

    exported: frozenset[str]
    needed: frozenset[str]
    libraries: frozenset[str]
    signed: bool = False


def symbols(data: bytes) -> Symbols:
    """Of a library's bytes."""
    for magic, read in ((ELF, _elf), (MACH_O, _mach_o), (PE, _pe)):
        if data.startswith(magic):
            return read(data)
    raise ValueError("neither ELF nor PE nor Mach-O of 64 bits")


def _text(data: bytes, place: int) -> str:
    return data[place : data.index(b"\0", place)].decode()


def _elf(data: bytes) -> Symbols:
    start, size, count = (*struct.unpack_from("<Q", data, 0x28), *struct.unpack_from("<HH", data, 0x3A))
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, start + k * size) for k in range(count)]
    exported, needed, libraries = set(), set(), set()
    for _, kind, _, _, place, length, link, *_ in sections:
        for at in range(place, place + length, 16) if kind == ELF_DYNAMIC else ():
            tag, value = struct.unpack_from("<QQ", data, at)
            if tag == ELF_NEEDED:
                libraries.add(_text(data, sections[link][4] + value))
        for at in range(place + ELF_SYMBOL, place + length, ELF_SYMBOL) if kind == ELF_DYNSYM else ():
            name, info, _, section = struct.unpack_from("<IBBH", data, at)
            found = _text(data, sections[link][4] + name)
            if section and info >> 4:  # defined, and not local
                exported.add(found)
            elif not section and info >> 4 == 1:  # (weak ones may be missing)
                needed.add(found)
    return Symbols(frozenset(exported), frozenset(needed), frozenset(libraries))


def _mach_o(data: bytes) -> Symbols:
    exported: set[str] = set()
    needed: set[str] = set()
    libraries, signed, at = set(), False, MACH_HEADER
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, at)
        signed |= command == MACH_SIGNATURE
        if command == MACH_DYLIB:
            libraries.add(_text(data, at + struct.unpack_from("<I", data, at + 8)[0]))
        if command == MACH_SYMTAB:
            first, count, strings, _ = struct.unpack_from("<IIII", data, at + 8)
            for k in range(count):
                name, kind = struct.unpack_from("<IB", data, first + k * MACH_SYMBOL)
                if kind & MACH_STAB or not kind & MACH_EXTERNAL:
                    continue
                (exported if kind & MACH_TYPE else needed).add(_text(data, strings + name).removeprefix("_"))
        at += size
    return Symbols(frozenset(exported), frozenset(needed), frozenset(libraries), signed)


def _pe(data: bytes) -> Symbols:
    head = struct.unpack_from("<I", data, 0x3C)[0] + 4
    count, optional = struct.unpack_from("<H", data, head + 2)[0], struct.unpack_from("<H", data, head + 16)[0]
    first = head + 20 + optional
    # size in memory, address, size and place in the file
    sections = [struct.unpack_from("<IIII", data, first + k * PE_SECTION + 8) for k in range(count)]

    def place(address: int) -> int:
        start, at = next((start, at) for size, start, _, at in sections if start <= address < start + size)
        return address - start + at

    exports, imports = (struct.unpack_from("<I", data, head + 20 + PE_DIRECTORIES + 8 * k)[0] for k in (0, 1))
    exported, needed, libraries = set(), set(), set()
    if exports:
        (number,), (names,) = (struct.unpack_from("<I", data, place(exports) + k) for k in (24, 32))
        places = struct.unpack_from(f"<{number}I", data, place(names))
        exported = {_text(data, place(name)) for name in places}
    at = place(imports) if imports else len(data)
    while imports and (entry := struct.unpack_from("<IIIII", data, at))[3]:
        libraries.add(_text(data, place(entry[3])))
        thunk = place(entry[0] or entry[4])
        while (what := struct.unpack_from("<Q", data, thunk)[0]) != 0:
            needed.add(f"#{what & 0xFFFF}" if what & PE_ORDINAL else _text(data, place(what) + 2))
            thunk += 8
        at += PE_IMPORT
    return Symbols(frozenset(exported), frozenset(needed), frozenset(libraries))
