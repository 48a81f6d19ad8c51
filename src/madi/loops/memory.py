"""What closing the loops is told, what it keeps from step to step, and what it has to say: all by name."""

from __future__ import annotations

from typing import Any

from madi.kernel.fields import Fields, Reals, integer, real, reals

REMEMBERED = 75  # singular positions whose times are kept


class LoopOptions(Fields):
    """A run's choice (loops/methods.py), read by the kernels."""

    feedback_rate: float = real()  # Baumgarte's 2 alpha, 1/s
    feedback_position: float = real()  # and beta^2, 1/s^2
    softness: float = real()  # augmented Lagrangian: by how much eps is larger, and the proximal steps that take it out
    proximal_steps: int = integer()
    tolerance: float = real()  # on the constraints, m or rad (and per s); 0: rounding
    directions: int = integer()  # how null-space methods choose theirs (loops/null_space.py)
    unweighted: int = integer()  # 1: null-space methods take columns and rows as they are, not measured by mass
    watch: int = integer()  # 1: the error of the null-space identities is measured


class LoopTally(Fields):
    """Counters and verdicts of a run."""

    factorisations: int = integer()
    position_steps: int = integer()
    velocity_steps: int = integer()
    acceleration_steps: int = integer()
    asked: int = integer()  # how often accelerations were asked for (generated C factors each time, and keeps no counts)
    failed: int = integer()  # NOT, AT_POSITIONS, AT_VELOCITIES
    dependent: int = integer()  # rows that depend on others now
    fewest_dependent: int = integer()  # one more than the fewest so far; 0: none yet
    close_stages: int = integer()  # 1: rows are not safely independent: stages of a step are closed too
    leaps: int = integer()  # steps taken in singular positions though they missed their tolerance
    independence: float = real()  # smallest pivot ratio of the rows: how far they are from depending on each other
    lowest: float = real()  # the same since the last step
    violation_before: float = real()  # by how much the last step left the constraints, before it was closed
    good_step: float = real()  # length of the last step in a regular position
    decompositions: int = integer()  # of null-space methods: how often directions were chosen
    condition: float = real()  # condition number now, and the worst
    worst_condition: float = real()
    largest_turn: float = real()  # of a direction from one choice to the next
    identity_error: float = real()
    singular_count: int = integer()  # singular positions passed, and their times
    singular_times: Reals = reals(str(REMEMBERED))
    earlier_time: float = real()  # of the last two steps: when, and the root of `independence`
    earlier_root: float = real()
    last_time: float = real()
    last_root: float = real()


NOT, AT_POSITIONS, AT_VELOCITIES = range(3)  # LoopTally.failed


class LoopMemory(Fields):
    """What a method of closing keeps from one call to the next, beside its matrices."""

    factor_valid: int = integer()  # 1: the factor is one of coefficients not far from here
    basis_chosen: int = integer()  # null-space methods: 1 where directions are chosen


def fresh_tally() -> Any:
    """Counters at zero, nothing near a singular position."""
    tally = LoopTally({})
    tally.independence = tally.lowest = 1.0
    return tally
