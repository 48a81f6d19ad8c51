"""What shows itself in a notebook: small, whole HTML in which names are text."""

from html.parser import HTMLParser

import pytest

import madi
from madi.errors import Finding, Findings
from madi.show.html import MOST_ROWS, table
from tests.mechanisms import four_bar

EVIL = "<script>alert(1)</script>&\"'"
ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;&amp;"
LONGEST = 20_000  # characters that are still small


def pendulum(name=EVIL):
    m = madi.Model(name)
    bob = m.body(f"bob{name}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    m.revolute(f"pin{name}".replace(".", ""), m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), q0=0.3)
    m.force(f"push{name}", bob, (0.0, 0.0, 0.0))
    return m


def compared():
    return madi.compare(four_bar(q0=0.4, v0=2.0), 0.1, ["projection", "qr"], repeats=1)


THINGS = {
    "model": pendulum,
    "system": lambda: pendulum().build(),
    "run": lambda: pendulum().simulate(0.1),
    "linear": lambda: madi.linearize(pendulum()),
    "equilibrium": lambda: madi.statics(pendulum()),
    "findings": lambda: Findings([Finding(f"body '{EVIL}'", f"is {EVIL}", "No")]),
    "finding": lambda: Finding(f"body '{EVIL}'", f"is {EVIL}", "No"),
    "assembly": lambda: pendulum().build().start,
}
PLAIN = {
    "doctor": lambda: madi.check(four_bar()),
    "defects": lambda: madi.Model("empty").check(),
    "nothing": lambda: four_bar().check(),
    "table": lambda: madi.table([(0, 0), (1, 2.5)]),
    "mobility": lambda: four_bar().build().mobility(),
    "comparison": compared,
    "loops": lambda: four_bar().build(),
    "assembled": lambda: four_bar().build().start,
}


class Balance(HTMLParser):
    """Every tag is closed; none fetches or runs anything."""

    def __init__(self):
        super().__init__()
        self.open, self.text = [], ""

    def handle_starttag(self, tag, attrs):
        assert tag in ("div", "b", "table", "thead", "tbody", "tr", "th", "td"), tag
        assert {name for name, _ in attrs} <= {"style", "colspan"}
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def text_of(thing):
    page = thing._repr_html_()
    assert len(page) < LONGEST
    reader = Balance()
    reader.feed(page)
    reader.close()
    assert not reader.open
    return reader.text


@pytest.mark.parametrize("name", THINGS)
def test_names_are_text(name):
    thing = THINGS[name]()
    assert EVIL in text_of(thing)
    assert "<script" not in thing._repr_html_()
    assert ESCAPED in thing._repr_html_()


@pytest.mark.parametrize("name", PLAIN)
def test_html_is_whole(name):
    assert text_of(PLAIN[name]())


def test_what_is_told():
    assert "2.5" in text_of(madi.table([(0, 0), (1, 2.5)]))
    told = text_of(madi.linearize(pendulum("p")))
    assert "0.4753" in told  # Hz: sqrt(m g l / (I + m l^2)) / 2 pi
    run = pendulum("p").simulate(0.5)
    assert all(word in text_of(run) for word in ("0 to 0.5 s", "pinp", "rad", f"{run['pinp'].min():.4g}"))
    assert "loops are closed by" in text_of(four_bar().build())
    assert "1 error" in text_of(madi.Model("empty").check())
    assert "nothing to remark" in text_of(four_bar().check())


def test_long_tables_are_cut():
    assert f"and {1000 - MOST_ROWS} more" in table(("a", "b"), [(k, "x") for k in range(1000)])
    m = madi.Model("chain")
    last = m.ground
    for k in range(300):
        body = m.body(f"b{k}", 1.0, inertia=(1, 1, 1))
        m.revolute(f"j{k}", last, body, at=(k, 0, 0), axis=(0, 1, 0))
        last = body
    for thing in (m, m.build()):
        assert text_of(thing)


def test_equations_are_formulas_or_a_table():
    readable = pendulum("p").build().equations()
    formula = readable._repr_latex_()
    assert formula.startswith("$$\\begin{aligned}")
    assert formula.endswith("\\end{aligned}$$")
    assert readable._repr_html_() is None  # a notebook would take it before the formulas
    m = madi.Model("chain")
    last = m.ground
    for k in range(7):
        body = m.body(f"b{k}", 1.0, inertia=(1, 1, 1), position=(k, 0, 0))
        m.revolute(f"j{k}", last, body, at=(k, 0, 0), axis=(0, 1, 0) if k % 2 else (0, 0, 1))
        last = body
    long = m.build().equations()
    assert not long.readable
    assert long._repr_latex_() is None
    assert "j6" in text_of(long)


def test_names_do_not_break_formulas():
    formula = pendulum("a_b$#%&<x>{y}").build().equations()._repr_latex_()
    inside = formula.removeprefix("$$").removesuffix("$$")
    for sign in "$#%":
        assert inside.count(sign) == inside.count(f"\\{sign}")
    assert "<" not in inside
    assert inside.replace("\\{", "").count("{") == inside.replace("\\}", "").count("}")
