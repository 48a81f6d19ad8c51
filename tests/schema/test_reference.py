"""The schema, its JSON form and its reference page."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema

import madi
from madi.cli.models import find_model
from madi.papers import ralf
from madi.schema.document import parse_document
from madi.schema.kinds import GROUPS, RUN, kind
from madi.schema.reference import json_schema, reference_page
from madi.schema.write import document, to_yaml
from tests.schema.files import GOOD_RUNS, PENDULUM, WRONG, every_element


def test_the_schema_knows_every_element_of_the_model_and_its_arguments():
    """A new method of Model is a line of the schema: else it could not be written to a file."""
    import inspect

    for group, kinds in GROUPS.items():
        for name in kinds:
            known = set(inspect.signature(getattr(madi.Model, name)).parameters) - {"self", "name"}
            assert set(kind(group, name).entries) == known, name
    elements = {n for kinds in GROUPS.values() for n in kinds}
    others = {"save", "simulate", "check", "build", "drive", "lock", "adjustable", "visual", "snapshot", "remove", "replace"}
    methods = {n for n, f in vars(madi.Model).items() if callable(f) and not n.startswith("_")}
    assert methods == elements | others
    run = set(inspect.signature(madi.simulate).parameters) - {
        "model",
        "times",
        "start",
        "progress",
        "checkpoint",
        "out",
        "old",
    }
    assert set(RUN) - {"every"} == run


def plain_data(node):
    """A document as JSON has it."""
    if isinstance(node.value, dict):
        return {key: plain_data(part) for key, part in node.value.items()}
    if isinstance(node.value, list):
        return [plain_data(part) for part in node.value]
    return {"number": float, "flag": lambda x: x == "true", "nothing": lambda x: None}.get(node.kind, str)(node.value)


def test_the_json_schema_takes_what_the_reader_takes_and_no_more():
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    check = jsonschema.Draft202012Validator(schema)
    for model in (every_element(), ralf.model(actuators="driven"), find_model("car")):
        check.validate(plain_data(parse_document(to_yaml(document(model)))))
    check.validate(plain_data(parse_document(PENDULUM)))
    for run in GOOD_RUNS:
        check.validate(plain_data(parse_document(f"{PENDULUM}run: {run}\n")))
    for run in (
        "{method: {newmark: {rho: 0.5}}}",
        "{method: {rk4: {}, ab3: {}}}",
        "{loops: {qr: {heavy: 1}}}",
        "{gamma: 0.6}",
    ):
        assert not check.is_valid(plain_data(parse_document(f"{PENDULUM}run: {run}\n"))), run
    for name in ("unknown part", "unknown entry", "no type", "missing", "version"):
        assert not check.is_valid(plain_data(parse_document(WRONG[name][0]))), name
    json.dumps(schema)


def test_the_reference_page_in_the_docs_is_the_schema_s():
    assert (Path(__file__).parents[2] / "docs/reference/model-files.md").read_text() == reference_page()
    for kinds in GROUPS.values():
        for name in kinds:
            assert f"### {name}" in reference_page()
