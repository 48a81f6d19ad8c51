"""Flexible links: mode shapes of beams, sections, and the integrals of shapes that their dynamics need."""

from madi.flexible.modes import Shape, clamped_free, clamped_pinned, clamped_tip, free_free, pinned_pinned, polynomials, user
from madi.flexible.section import Section, rectangle, round_bar, tube

__all__ = [
    "Section",
    "Shape",
    "clamped_free",
    "clamped_pinned",
    "clamped_tip",
    "free_free",
    "pinned_pinned",
    "polynomials",
    "rectangle",
    "round_bar",
    "tube",
    "user",
]
