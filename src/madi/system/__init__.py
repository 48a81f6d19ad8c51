"""The thin object users call: names, and functions of q and v."""

from madi.system.system import System

__all__ = ["System"]
