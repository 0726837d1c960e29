"""The command `theorysim errata`: of one theorem or paper, by hand, searched, cited."""

import io
import json
import re

import pytest
from rich.console import Console

from theorysim.engine.registry.ledger import is_inference
from theorysim.report.errata import render_list


def test_errata_of_one_theorem_or_paper(run):
    briefly, one = run("errata")[1], run("errata", "lemma-a.28")[1]
    assert len(briefly) < 30_000 and "overtraining/lemma-a.28  Lemma A.28, f of Eq. 18: " in briefly
    papers = re.findall(r"^([a-z]\S+)/\S+  ", run("errata", "low-rank")[1], re.MULTILINE)
    assert set(papers) == {"low-rank"}
    words = " ".join(one.split())
    assert "printed Lemma A.28, f of Appendix A.6: |f^(k)(sigma_0) - sigma*| <=" in words
    assert "instead sigma* = sqrt((sigma^2 + lam sigma_0^2) / (1 + lam)) (holds)" in words
    assert "no printed reading" in run("errata", "overtraining/eq-1")[1]
    assert run("errata", "nosuch-99")[0] == 2


def test_the_counterexample_of_an_erratum_can_be_checked_by_hand(run):
    """Descent on a mode with a pull-back ends beside what is printed for its limit."""
    words = " ".join(run("errata", "lemma-a.28")[1].split())
    found = re.search(
        r"“rate” gives ([\d.]+), which must be at most [^,]*, at (steps = [^;]*);", words
    )
    assert found is not None
    x = {name: float(value) for name, value in re.findall(r"(\w+) = ([\d.]+)", found[2])}
    assert x["lam"] not in (0, 1)  # at which nobody sees that two letters are swapped
    learnt, start = x["sigma"] ** 2, x["sigma_0"] ** 2
    # The printed condition is 2 (lam + 2) eta max <= 1.
    eta = x["step_share"] / (2 * (x["lam"] + 2) * max(learnt, start))
    w = x["sigma_0"]
    for _ in range(int(x["steps"])):
        w += 2 * eta * w * (learnt - w**2) + 2 * eta * x["lam"] * w * (start - w**2)
    swapped = ((start + x["lam"] * learnt) / (1 + x["lam"])) ** 0.5
    assert float(found[1]) == pytest.approx(abs(w - swapped), rel=1e-2)


def test_errata_are_searched_filtered_and_cited(run):
    assert "W_2 has V in place of its" in " ".join(
        run("errata", "--search", "transpose")[1].split()
    )
    every, certified = (json.loads(run("errata", "--json", *o)[1]) for o in ((), ("--certified",)))
    assert 0 < len(certified) < len(every)
    assert {line["certificate"] for line in certified} == {"certified"}
    code, text, _ = run("errata", "low-rank", "--bibtex")
    assert code == 0 and text.startswith("@misc{low-rank,\n  title = {{Gradient dynamics")


def test_inferences_are_named_and_counted_apart(run):
    """A step of a proof that does not follow refutes no line: the list says which ones they are."""
    lines = json.loads(run("errata", "transferability", "--json")[1])
    places = {(line["theorem"], line["reading"]) for line in lines}
    steps = {place for place in places if is_inference(place[1])}
    briefly = " ".join(run("errata", "transferability")[1].split())
    assert f"{len(places)} refuted readings, {len(steps)} of them inferences (" in briefly
    assert briefly.count(", an inference:") == len(steps)
    assert ("transferability/theorem-2-root", "inference: Eq. 5 from Eq. 48") in steps


@pytest.mark.parametrize(
    ("readings", "told"),
    [
        (["as printed", "proof"], "2 refuted readings; theorysim errata ID"),
        (["as printed", "inference: a"], "2 refuted readings, 1 of them an inference (that a step"),
        (["as printed", "inference: a", "inference: b"], "readings, 2 of them inferences (that"),
        (["inference: a", "inference: b"], "2 refuted readings, all of them inferences (that a"),
        (["inference: a"], "1 refuted reading, an inference (that a step fails does not refute"),
    ],
)
def test_the_last_line_counts_inferences_in_words(readings, told):
    ledger = [{"theorem": "p/t", "reading": r, "place": "here", "wrong": "it"} for r in readings]
    console = Console(record=True, width=200, file=io.StringIO())
    render_list(ledger, console)
    assert told in console.export_text()


def test_citations_are_not_asked_for_as_json(run):
    """They used to give way without a word."""
    code, out, err = run("errata", "low-rank", "--json", "--bibtex")
    assert code == 2 and not out
    assert "ask for one of --json and --bibtex" in " ".join(err.split())
