"""Progress and waits on a terminal, and in logs: whole lines, few of them."""

import io
import sys
import time

import pytest

from madi.results import progress
from madi.results.progress import Progress
from madi.show import place as where
from madi.show import waiting
from madi.show.waiting import explain_wait


class Stream(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


@pytest.fixture
def clock(monkeypatch):
    """Time that passes when it is told to."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "perf_counter", lambda: now[0])
    return now


def followed(clock, wanted, seconds, every=0.1):
    """A run of so many seconds of computing that reports its progress."""
    with Progress("arm", 10.0, wanted) as bar:
        for k in range(int(seconds / every)):
            clock[0] += every
            bar.show(10.0 * (k + 1) * every / seconds)


def test_a_log_has_a_few_lines(monkeypatch, clock):
    log = Stream(terminal=False)
    monkeypatch.setattr(sys, "stderr", log)
    followed(clock, None, 600.0)
    lines = log.getvalue().splitlines()
    assert "\r" not in log.getvalue()
    assert 10 < len(lines) < 16  # 5, 10, 20, 40, 80 s, then every minute
    assert lines[0] == "arm:   1 %, 595 s left"
    assert lines[-1] == "arm: ended after 600.0 s"


def test_short_runs_and_quiet_ones_say_nothing(monkeypatch, clock):
    log = Stream(terminal=False)
    monkeypatch.setattr(sys, "stderr", log)
    followed(clock, None, 4.0)
    followed(clock, False, 600.0)
    assert log.getvalue() == ""
    followed(clock, True, 4.0)
    assert [line[:10] for line in log.getvalue().splitlines()] == ["arm:   2 %", "arm: ended"]


def test_a_terminal_has_one_line(monkeypatch, clock):
    terminal = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    followed(clock, None, 5.0)
    assert "\n" not in terminal.getvalue()
    assert terminal.getvalue().count("\r") > 30
    assert terminal.getvalue().endswith("\r" + " " * 79 + "\r")


@pytest.mark.parametrize("stream", [None, "closed"])
def test_without_a_console_nothing_happens(monkeypatch, clock, stream):
    given = None if stream is None else Stream(False)
    if given is not None:
        given.close()
    monkeypatch.setattr(sys, "stderr", given)
    followed(clock, True, 100.0)
    assert explain_wait("it", lambda: 3) == 3
    assert where.place() == where.NOWHERE


def test_waits_in_logs(monkeypatch):
    log = Stream(terminal=False)
    monkeypatch.setattr(sys, "stderr", log)
    assert explain_wait("it", lambda: 7) == 7
    assert log.getvalue() == ""
    monkeypatch.setattr(waiting, "PATIENCE", 0.05)
    explain_wait("it", lambda: time.sleep(0.3))
    first, last = log.getvalue().splitlines()
    assert first == "madi: preparing it (once; kept for later runs) ..."
    assert last.startswith("madi: prepared it in 0.")


def test_waits_on_a_terminal(monkeypatch):
    terminal = Stream(terminal=True)
    monkeypatch.setattr(sys, "stderr", terminal)
    explain_wait("it", lambda: None)
    assert "preparing it" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")
    monkeypatch.setattr(waiting, "WORTH_TELLING", 0.0)
    explain_wait("it", lambda: time.sleep(0.01))
    assert terminal.getvalue().rstrip(" \n").endswith("0.0 s")


def test_a_failed_wait_is_not_left_open(monkeypatch):
    log = Stream(terminal=False)
    monkeypatch.setattr(sys, "stderr", log)
    with pytest.raises(ZeroDivisionError):
        explain_wait("it", lambda: 1 / 0)
    assert log.getvalue() == ""
