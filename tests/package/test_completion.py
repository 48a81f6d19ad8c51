"""What an editor or a notebook offers while one types: jedi, as IPython uses it."""

import jedi

HEAD = """import madi
m = madi.Model("pendulum")
bob = m.body("bob", mass=1.0)
run = madi.simulate(m, 1.0)
s = m.build()
"""


def offered(line):
    script = jedi.Script(HEAD + line)
    return {one.name for one in script.complete(HEAD.count("\n") + 1, len(line))}


def test_names_are_completed():
    assert "simulate" in offered("madi.sim")
    assert "simulate_many" in offered("madi.sim")
    assert "revolute" in offered("m.rev")
    assert {"plot", "data", "view", "signals", "save", "table"} <= offered("run.")
    assert {"forward_dynamics", "mass_matrix", "equations"} <= offered("s.")
    assert {"eigenvalues", "modes", "A"} <= offered("madi.linearize(m).")
    assert {"ok", "as_dicts"} <= offered("madi.check(m).")
    assert "position" in offered("bob.pos")


def test_completion_of_live_objects():
    """In a running notebook: names of objects that are there."""
    import madi

    m = madi.Model("pendulum")
    found = jedi.Interpreter("madi.sim", [{"madi": madi}]).complete()
    assert "simulate" in {one.name for one in found}
    assert "revolute" in {one.name for one in jedi.Interpreter("m.rev", [{"m": m}]).complete()}


def test_signatures_are_shown():
    line = "madi.simulate("
    (found,) = jedi.Script(HEAD + line).get_signatures(HEAD.count("\n") + 1, len(line))
    assert found.name == "simulate"
    names = [parameter.name for parameter in found.params]
    assert names[:2] == ["model", "duration"]
    assert {"step", "rtol", "method", "reactions"} <= set(names)
    assert "Simulate a model for `duration` seconds" in found.docstring()
    line = "m.revolute("
    (found,) = jedi.Script(HEAD + line).get_signatures(HEAD.count("\n") + 1, len(line))
    assert "parent: BodyLike" in found.to_string()
