"""Named memory: what kernels call `model`, `work`, `memory`, each a class that declares its fields once.

    class Memory(Fields):
        t: float = real()               # one number, read and written by its name
        accepted: int = integer()
        q: Reals = reals("nq")          # an array; sizes are sums and products of names and numbers
        C: Reals = reals("n", 3, 3)     # with an inner shape
        tally: Tally = part(Tally)      # other named memory

A subclass has the fields of its bases, then its own, and no name has two meanings. All numbers of an instance lie in two
flat arrays, one of integers and one of reals: they can be kept, compared, hashed, handed to C. In machine code an instance
is one pointer, to a table of sizes and addresses (engines/numba_support.py); `seen(cls)` gives the function by which a
loop turns what it was handed into the instance, `Fields.table` what it is handed."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, ClassVar, TypeAlias

import numpy as np

Reals: TypeAlias = Any
Ints: TypeAlias = Any


@dataclass(frozen=True)
class Field:
    """A declared field. A size is known when memory is made and never changes."""

    real: bool = True
    array: bool = False
    size: str = ""
    inner: tuple[int, ...] = ()
    part: Any = None  # class of other named memory, or Function
    over: str = ""  # the array it begins with
    given: bool = False  # an array that is not of this memory but handed in

    @property
    def is_size(self) -> bool:
        """Whether it is a number of the header."""
        return not (self.real or self.array or self.size)


def real() -> Any:
    """One real."""
    return Field(size="1")


def integer() -> Any:
    """One integer."""
    return Field(real=False, size="1")


def reals(size: str, *inner: int) -> Any:
    """An array of reals."""
    return Field(True, True, size, inner)


def ints(size: str, *inner: int) -> Any:
    """An array of integers."""
    return Field(False, True, size, inner)


def over(first: str, size: str) -> Any:
    """Reals that begin where the array `first` does, and go on over those declared after it."""
    return Field(True, True, size, over=first)


def given_reals() -> Any:
    """An array of reals that lies elsewhere, handed in when this is made."""
    return Field(True, True, given=True)


def size() -> Any:
    """One of the sizes that arrays are declared with, by its own name."""
    return Field(real=False)


def part(of: Any) -> Any:
    """Other named memory, handed in when this is made."""
    return Field(part=of)


class Function:
    """A system function in named memory (kernel.call): a Python callable, or the address of a C function and its context."""

    def __init__(self, call: Callable[..., int] | None = None, address: int = 0, context: Any = None):
        self.call, self.address = call, address
        self.context = np.zeros(2, dtype=np.int64) if context is None else context
        self.table = np.array([address, self.context.ctypes.data], dtype=np.int64)
        self.table_address = int(self.table.ctypes.data)


ABSENT = Function()


def function() -> Any:
    """A system function, handed in when the memory is made; may be ABSENT."""
    return Field(part=Function)


@cache
def evaluator(text: str) -> Callable[[dict[str, int]], int]:
    """A size such as "2*nk+1" as a function of the sizes by name."""
    terms = [term.split("*") for term in text.split("+")]
    return lambda sizes: sum(math.prod(int(word) if word.isdigit() else sizes[word] for word in words) for words in terms)


class Number:
    """A single number of an instance, in its flat memory."""

    def __init__(self, name: str, real: bool):
        self.name, self.real = name, real

    def __get__(self, instance: Any, owner: Any) -> Any:
        """The number."""
        if instance is None:
            return self
        return (instance.real_memory if self.real else instance.int_memory)[owner.places[self.name]]

    def __set__(self, instance: Any, value: Any) -> None:
        (instance.real_memory if self.real else instance.int_memory)[type(instance).places[self.name]] = value


class HandedIn:
    """A part, function or array of an instance that lies elsewhere: one that is exchanged is exchanged in the table too. It
    is read from the instance itself, as fast as any attribute (there is no __get__)."""

    def __init__(self, name: str):
        self.name = name

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self.name] = value
        if "table" in instance.__dict__:
            instance.table[list(instance.fields).index(self.name)] = instance._entry(self.name, instance.fields[self.name])


class Fields:
    """Base of all named memory: see the head of this file."""

    fields: ClassVar[dict[str, Field]] = {}
    places: ClassVar[dict[str, int]] = {}  # of single numbers, in the integers or the reals: before all arrays

    def __init_subclass__(cls) -> None:
        own = {name: value for name, value in vars(cls).items() if isinstance(value, Field)}
        found: dict[str, Field] = {}
        for base in reversed(cls.__mro__[1:]):
            found |= {name: field for name, field in vars(base).get("declared_here", {}).items()}
        twice = {
            name
            for name in own
            if name in found or hasattr(Fields, name) or name in ("sizes", "int_memory", "real_memory", "starts", "bases")
        }
        assert not twice, f"{cls.__name__}: {twice} have a meaning already"
        cls.declared_here, cls.fields, cls.places = own, found | own, {}  # type: ignore[attr-defined]
        for kind in (True, False):
            single = [name for name, field in cls.fields.items() if field.size and not field.array and field.real == kind]
            cls.places |= {name: place for place, name in enumerate(single)}
        for name, field in own.items():
            if field.size and not field.array:
                setattr(cls, name, Number(name, field.real))
            elif field.part is not None or field.given:
                setattr(cls, name, HandedIn(name))
            else:
                delattr(cls, name)

    def __init__(self, sizes: dict[str, int], int_memory: Any = None, real_memory: Any = None, **parts: Any):
        """Views of the memory given, or of fresh memory, zero."""
        self.int_memory = np.zeros(self.length(sizes, False), dtype=np.int64) if int_memory is None else int_memory
        self.real_memory = np.zeros(self.length(sizes, True)) if real_memory is None else real_memory
        self.sizes = sizes
        single = [field.real for field in self.fields.values() if field.size and not field.array]
        at, starts = {kind: single.count(kind) for kind in (True, False)}, dict[str, int]()
        self.starts = starts  # of arrays, in the integers or the reals
        for name, field in self.fields.items():
            if field.part is not None or field.given:
                setattr(self, name, parts[name])
            elif field.is_size:
                setattr(self, name, sizes[name])
            elif field.array:
                memory, count = self.real_memory if field.real else self.int_memory, evaluator(field.size)(sizes)
                begin = starts[field.over] if field.over else at[field.real]
                end = begin + count * math.prod(field.inner)
                starts[name] = begin
                at[field.real] = max(at[field.real], end)
                setattr(self, name, memory[begin:end].reshape(count, *field.inner) if field.inner else memory[begin:end])

    @classmethod
    def length(cls, sizes: dict[str, int], real: bool) -> int:
        """How many reals (else integers) an instance has."""
        mine = [field for field in cls.fields.values() if field.size and field.real == real and not field.over]
        return sum(evaluator(field.size)(sizes) * math.prod(field.inner) for field in mine)

    @classmethod
    def arrays(cls) -> dict[str, Field]:
        """Its arrays, in order."""
        return {name: field for name, field in cls.fields.items() if field.array and not field.given}

    def parts(self) -> dict[str, Any]:
        """What was handed in: other memory, functions, arrays."""
        return {name: getattr(self, name) for name, field in self.fields.items() if field.part is not None or field.given}

    def values(self) -> dict[str, Any]:
        """All fields by name."""
        return {name: getattr(self, name) for name in self.fields}

    @cached_property
    def table(self) -> np.ndarray:
        """Of every field its value (a size), the address of its number or numbers, or that of its part's table. Valid as
        long as the instance lives: the instance keeps it. (Asked for at every call of a loop, and made in every run: an
        array's own `.ctypes` takes a microsecond.)"""
        self.bases = int(self.int_memory.ctypes.data), int(self.real_memory.ctypes.data)
        return np.array([self._entry(name, field) for name, field in self.fields.items()], dtype=np.int64)

    @property
    def table_address(self) -> int:
        """Of its table. (No cached_property: up to Python 3.11 each has a lock, and a table asks its parts for theirs: two
        threads could wait for each other.)"""
        found = self.__dict__.get("_table_address")
        if found is None:
            found = self.__dict__["_table_address"] = int(self.table.ctypes.data)
        return found

    def _entry(self, name: str, field: Field) -> int:
        if field.part is not None:
            return int(getattr(self, name).table_address)
        if field.is_size:
            return int(getattr(self, name))
        if field.given:
            return int(getattr(self, name).ctypes.data)
        return self.bases[field.real] + 8 * (self.starts if field.array else self.places)[name]


SEEN: dict[Any, Any] = {}  # functions of `seen`, and the classes they are for


@cache
def seen(cls: Any) -> Callable[[Any], Any]:
    """The function by which kernels see what they were handed as an instance of `cls`: plain and traced, the instance
    itself; in machine code, its table."""

    def instance(handed: Any) -> Any:
        return handed

    SEEN[instance] = cls
    return instance
