"""The README says what the code does."""

import re
import shlex

import pytest
import typer

from theorysim.cli import app
from theorysim.engine import registry
from validation.readme import README, with_generated

COMMANDS = [
    shlex.split(line, comments=True)[1:]
    for block in re.findall(r"^```\n(.*?)^```", README.read_text(), re.DOTALL | re.MULTILINE)
    for line in block.splitlines()
    if line.startswith("theorysim ")
]


def test_generated_parts_are_up_to_date():
    text = README.read_text()
    assert with_generated(text) == text, "run python -m validation.readme"


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_commands_exist_with_their_options_and_statements(words):
    verb, *rest = words
    command = typer.main.get_command(app).commands[verb]
    with command.make_context(verb, rest) as context:
        named = context.params.get("id") or ""
    if named and not named.endswith(".py"):
        registry.find(named)


def test_its_links_lead_somewhere():
    targets = re.findall(r"\]\(([^)#:]+)\)", README.read_text())
    assert targets
    assert [target for target in targets if not (README.parent / target).exists()] == []
