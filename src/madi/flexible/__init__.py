"""Flexible links: mode shapes of beams, sections, bodies from finite elements, and the integrals their dynamics need."""

from madi.flexible.beam import Beam
from madi.flexible.field import Field, Flexible, Station, frame_station
from madi.flexible.modes import (
    Shape,
    clamped_clamped,
    clamped_free,
    clamped_loaded,
    clamped_pinned,
    clamped_rod,
    clamped_tip,
    free_free,
    loaded_rod,
    pinned_pinned,
    polynomials,
    user,
)
from madi.flexible.nodes import Nodes, craig_bampton
from madi.flexible.section import Section, rectangle, round_bar, tube

__all__ = [
    "Beam",
    "Field",
    "Flexible",
    "Nodes",
    "Section",
    "Shape",
    "Station",
    "clamped_clamped",
    "clamped_free",
    "clamped_loaded",
    "clamped_pinned",
    "clamped_rod",
    "clamped_tip",
    "craig_bampton",
    "frame_station",
    "free_free",
    "loaded_rod",
    "pinned_pinned",
    "polynomials",
    "rectangle",
    "round_bar",
    "tube",
    "user",
]
