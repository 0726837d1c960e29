"""The README says what the code does."""

import re

from theorysim.engine import registry
from validation.readme import README, with_papers


def test_the_list_of_papers_is_up_to_date():
    text = README.read_text()
    assert with_papers(text) == text, "run python -m validation.readme"


def test_the_ids_that_it_names_exist():
    commands = re.findall(r"theorysim (?:verify|show|falsify|sweep) (\S+)", README.read_text())
    assert commands
    for id in commands:
        if id not in ("mine", "--resume"):
            registry.find(id)
