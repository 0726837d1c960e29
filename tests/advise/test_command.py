"""The command `theorysim advise`: a user's file, the example, an HTML report, wrong uses."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from drawn import thorough

from theorysim.advise import demo, demo_text, files
from theorysim.data import text
from theorysim.errors import UsageError
from theorysim.report.advice_html import page
from validation import advise as campaign
from validation import advise_landmarks, advise_page
from validation.advise_cases import Case

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "docs" / "guide" / "template_advise.py"

FILE = """
import jax.numpy as jnp
import numpy as np

inputs = np.random.default_rng(0).normal(size=(24, 3))
targets = inputs[:, 0] - inputs[:, 1]
params = {"first": jnp.zeros(2), "last": jnp.zeros(1)}


def model(params, x):
    return x[:2] @ params["first"] + x[2:] @ params["last"]
"""


@pytest.fixture
def run(monkeypatch, capsys):
    """Runs the command: (exit code, standard output, standard error)."""
    import sys

    from theorysim import cli

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["theorysim", "advise", *map(str, arguments)])
        with pytest.raises(SystemExit) as done:
            cli.main()
        output = capsys.readouterr()
        return done.value.code, output.out, output.err

    return run


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(FILE)
    return path


def test_a_file_is_answered_on_the_terminal_and_as_a_page(run, file, tmp_path):
    report, picture = tmp_path / "report.html", tmp_path / "picture.png"
    code, out, err = run("layers", file, "--html", report, "--plot", picture)
    assert code == 0 and out.startswith("Tune first beside last")
    assert "Where the theory applies on this model" in out
    text = report.read_text()
    assert "Tune first beside last" in text and text.count("data:image/png;base64,") == 1
    assert not re.search(r'(src|href)="http', text)
    assert picture.stat().st_size > 0 and "picture written" in err


def test_json_is_one_object_without_nan(run, file):
    code, out, _ = run("strength", file, "--json", "--steps", 20)
    data = json.loads(out)
    assert code == 0 and data["question"] == "strength"
    assert {"choice", "answer", "table", "checks", "notes"} <= set(data)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["layers"], "theorysim advise layers: name one file, or --demo for an example"),
        (["layers", "FILE", "--demo"], "name one file, or --demo alone"),
        (["layers", "nosuch.py"], "cannot read nosuch.py: it is no file"),
        (["layers", "TEXT"], "expected a Python file"),
        (["transfer", "FILE"], "defines no `sources`: theorysim advise transfer needs"),
        (["length", "FILE"], "defines no `checkpoints`"),
        (["layers", "RAISING"], "raised ZeroDivisionError: division by zero"),
        (["layers", "FILE", "--by", "luck"], "by='luck': expected one of linearised"),
        (["layers", "FILE", "--together", "0"], "together=0: at least 1"),
        (["layers", "FILE", "--text"], "theorysim advise layers: --text goes with --demo"),
        (["strength", "FILE", "--pairs", "1"], "pairs=1: expected a whole number from 2 upwards"),
        (["layers", "FILE", "--html", "/nosuch/a.html"], "/nosuch is not a writable folder"),
        (["strength", "FILE", "--plot", "a.xyz"], "a.xyz"),
        (["strength", "FILE", "--steps", "1"], "steps=1: at least 2"),
    ],
)
def test_wrong_uses_are_one_line(run, file, tmp_path, arguments, message):
    (tmp_path / "a.txt").write_text("no python")
    (tmp_path / "raising.py").write_text("1 / 0")
    named = {"FILE": file, "TEXT": tmp_path / "a.txt", "RAISING": tmp_path / "raising.py"}
    code, out, err = run(*(named.get(word, word) for word in arguments))
    assert code == 2 and out == ""
    assert message in err and len(err.strip().splitlines()) == 1, err


def test_the_template_answers_each_question_it_says_it_does():
    for question in files.CONTRACT:
        given = files.request(question, TEMPLATE)
        assert set(files.CONTRACT[question].needs) <= set(given)


@pytest.mark.parametrize("question", [thorough("layers"), thorough("strength"), "transfer"])
def test_the_example_has_what_the_question_takes(question, monkeypatch):
    monkeypatch.setattr(demo, "PRETRAINING", 1)
    given = demo.example(question, 0)
    contract = files.CONTRACT[question]
    assert set(contract.needs) <= set(given) <= {*contract.needs, *contract.takes}
    assert len(given["inputs"]) == len(given["targets"]) == demo.TRAIN


@pytest.mark.parametrize("question", [thorough("layers"), "transfer", "length"])
def test_the_example_on_text_has_what_the_question_takes(question, monkeypatch):
    monkeypatch.setattr(demo_text, "PRETRAINING", 1)
    monkeypatch.setattr(demo_text, "LENGTHS", (1, 2, 3))
    given = files.example(question, 0, text=True)
    contract = files.CONTRACT[question]
    assert set(contract.needs) <= set(given) <= {*contract.needs, *contract.takes}


@pytest.mark.parametrize("task", demo_text.TASKS)
def test_splits_of_text_share_no_window(task):
    old, train, test = demo_text.setting(task, 0)
    assert len(train[0]) == demo.TRAIN and len(test[0]) == demo.TEST
    assert old[0].shape == (demo_text.OLD, demo_text.WINDOW) and old[0].max() <= demo_text.CODES
    assert set(np.unique(old[1])) == set(range(demo.CLASSES))


def test_what_follows_a_window_is_the_kind_of_the_next_character():
    """Read off the text itself."""
    windows, kinds = demo_text._windows("english", np.array([100, 500]))
    whole = text.english().lower()
    for start, window, kind in zip((100, 500), windows, kinds):
        letters = text.vocabulary(text.english(), demo_text.CODES)
        read = whole[start : start + demo_text.WINDOW]
        assert [letters.find(c) if c in letters else demo_text.CODES for c in read] == list(window)
        after = whole[start + demo_text.WINDOW]
        found = [k for k, some in enumerate(demo_text.KINDS) if after in some] or [4]
        assert kind == found[0]


@pytest.mark.parametrize("task", demo.TASKS)
def test_splits_share_no_image(task):
    old, train, test = demo.setting(task, 0)
    if task == "new digits":
        rows = [row.tobytes() for part in (old, train, test) for row in np.asarray(part[0])]
        assert len(set(rows)) == len(rows)
    assert len(train[0]) == demo.TRAIN and len(test[0]) == demo.TEST


def test_the_page_is_that_of_the_record():
    record = json.loads(campaign.RECORD.read_text())
    assert campaign.PAGE.read_text() == campaign.page(record)
    assert set(record) == set(advise_page.ABOUT)
    assert min(part["cases"] + part["chosen"]["cases"] for part in record.values()) >= 12
    assert record == campaign.resummarised(record)


def test_the_page_of_landmarks_is_that_of_its_record_and_the_guide_says_the_same():
    cases = json.loads(advise_landmarks.RECORD.read_text())
    assert advise_landmarks.PAGE.read_text() == advise_landmarks.page(cases)
    assert [tuple(case[name] for name in Case._fields) for case in cases] == advise_landmarks.CASES
    means = [
        np.mean([case[way]["linearised"]["correlation"] for case in cases])
        for way in advise_landmarks.WAYS
    ]
    guide = (advise_landmarks.PAGE.parents[1] / "guide" / "advise.md").read_text()
    assert f"from {means[0]:.2f} to {means[1]:.2f}." in guide


def test_a_page_of_no_cases_or_of_cases_that_differ_is_refused():
    record = json.loads(campaign.RECORD.read_text())
    with pytest.raises(ValueError, match="no case of 'strength' is recorded"):
        campaign.page({"strength": {**record["strength"], "measured": []}})
    first, *others = record["strength"]["measured"]
    short = {name: value for name, value in first.items() if name != "agree"}
    count = len(others) + 1
    with pytest.raises(ValueError, match=f"^{count - 1} of {count} cases tell 'agree'"):
        campaign.page({"strength": {**record["strength"], "measured": [short, *others]}})


def test_the_score_is_chosen_on_other_cases_than_it_is_judged_on():
    for question, parts in campaign.CASES.items():
        assert not set(parts["chosen"]) & set(parts["judged"]), question
    found = campaign.summarised(
        {
            part: [
                {"correlations": {"good": a, "depth": b}, "loss of choice": {"good": 0, "depth": 0}}
            ] * 3
            for part, a, b in (("chosen", 0.2, 0.5), ("judged", 0.9, 0.1))
        },
        ["depth"],
    )  # fmt: skip
    assert found["order"] == ["depth", "good"] and found["scores"]["good"]["mean"] == 0.9
    assert found["chosen"]["scores"]["good"]["mean"] == 0.2


def test_a_summary_is_of_the_cases():
    cases = [
        {"correlations": {"good": a, "depth": b}, "loss of choice": {"good": 0.1, "depth": 0.3}}
        for a, b in ((1.0, 0.0), (0.5, 0.5), (0.6, 0.1))
    ]
    found = campaign.summary(cases, ["depth"])
    assert found["good"]["mean"] == 0.7 and found["depth"]["mean"] == 0.2
    assert found["good"]["ahead"]["mean"] == 0.5 and found["depth"]["ahead"]["high"] == 0
    # Student's 0.975 quantile with two degrees of freedom is 4.303; the variance is 0.07.
    assert found["good"]["high"] - 0.7 == pytest.approx(4.303 * (0.07 / 3) ** 0.5, abs=1e-3)


def stopped_reading(*_):
    raise BrokenPipeError


def test_files_are_written_though_nobody_reads_what_is_printed(tmp_path, monkeypatch):
    from theorysim.advise.answer import Advice
    from theorysim.advise.pictures import Panel, Series
    from theorysim.cli import advise as command

    panel = Panel("t", "x", "y", (Series("s", (1.0, 2.0), (1.0, 2.0)),))
    advice = Advice("length", "a", "Stop.", ({"a": 1},), ("a",), (), (), (panel,))
    html, plot = tmp_path / "a.html", tmp_path / "a.png"
    monkeypatch.setattr(Advice, "render", stopped_reading)
    with pytest.raises(BrokenPipeError):
        command._show(advice, html, plot, as_json=False)
    assert "Stop." in html.read_text() and plot.stat().st_size > 1000


def test_what_cannot_be_written_is_answered_all_the_same(tmp_path, capsys):
    from theorysim.advise.answer import Advice
    from theorysim.cli import advise as command

    advice = Advice("length", "a", "Stop.", ({"a": 1},), ("a",), (), (), ())
    with pytest.raises(UsageError, match="cannot write"):
        command._show(advice, tmp_path / "none" / "a.html", None, as_json=True)
    assert json.loads(capsys.readouterr().out)["answer"] == "Stop."


def test_an_html_report_escapes_what_a_user_names():
    from theorysim.advise.answer import Advice, Check
    from theorysim.advise.pictures import Panel, Series

    series = Series("s", ("<b>",), (1.0,))
    advice = Advice(
        "layers", "<b>", "Tune <b>.", ({"tuned": "<b>"},), ("tuned",), (Check("<i>", None, "x"),),
        ("<u>",), (Panel("t", "x", "y", (series,)),),
    )  # fmt: skip
    text = page(advice)
    assert "&lt;b&gt;" in text and not {"<b>.", "<i>", "<u>"} & set(re.findall(r"<[biu]>\.?", text))
