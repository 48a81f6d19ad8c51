"""Variables of a Dataset whose numbers are computed, or copied, when they are first read, as xarray does it with those of a
file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import BackendArray
from xarray.core import indexing

from madi.results.later import Waiting


class Unread(BackendArray):  # type: ignore[misc]
    """What is waiting, as xarray sees an array of a file."""

    def __init__(self, waiting: Waiting):
        self.waiting, self.shape, self.dtype = waiting, waiting.shape, np.dtype(float)

    def __getitem__(self, key: Any) -> Any:
        basic = indexing.IndexingSupport.BASIC
        return indexing.explicit_indexing_adapter(key, self.shape, basic, lambda where: self.waiting.get()[where])

    def __reduce__(self) -> Any:  # files and other processes get the numbers
        return indexing.NumpyIndexingAdapter, (self.waiting.get(),)


class Uncopied(BackendArray):  # type: ignore[misc]
    """What others are still computed from: whoever reads it gets a copy."""

    def __init__(self, values: np.ndarray):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __getitem__(self, key: Any) -> Any:
        basic = indexing.IndexingSupport.BASIC
        return indexing.explicit_indexing_adapter(key, self.shape, basic, lambda where: np.array(self.values[where]))

    def __reduce__(self) -> Any:
        return indexing.NumpyIndexingAdapter, (np.array(self.values),)


def unread(dims: Sequence[str], source: Waiting | np.ndarray, attrs: Mapping[str, Any]) -> xr.Variable:
    """The variable of what is waiting, or of an array; one that may be written into is taken as it is."""
    if isinstance(source, np.ndarray) and source.flags.writeable:
        return xr.Variable(dims, source, attrs)
    inner = Unread(source) if isinstance(source, Waiting) else Uncopied(source)
    lazy = indexing.MemoryCachedArray(indexing.LazilyIndexedArray(inner))
    return xr.Variable(dims, lazy, attrs, fastpath=True)


def still_unread(variable: Any) -> Waiting | None:
    """What stands for the numbers of a Dataset's variable as long as nobody has read them."""
    inner = variable.variable._data
    for _ in range(2):
        inner = getattr(inner, "array", None)
    return inner.waiting if isinstance(inner, Unread) and inner.shape == variable.shape else None
