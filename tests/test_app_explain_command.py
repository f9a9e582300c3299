"""What the page of explanations lets one take along: commands that say the same, and files."""

import json
import shlex

import pytest
from app_scripts import said
from test_app_deployment import opened
from test_app_explain import CHOICES, PAGE
from typer.testing import CliRunner

from analysis.cli import app as specdec
from analysis.explaining.predicted import explain
from analysis.output import to_csv, to_json
from app_pages.deployment import command
from app_pages.deployment.choice import Choice, assumed, built
from app_pages.deployment.log import LastLog
from app_pages.deployment.results import Setup
from app_pages.explain_page import command as explain_command
from app_pages.explain_page import results as explain_results
from app_pages.explain_page.results import observation_of
from app_pages.your_engine.sources import Facts


@pytest.mark.parametrize("choice", CHOICES[:2])
def test_the_command_says_the_same(choice):
    setup = Setup(choice=choice)
    line = [
        "explain", "--format", "json", *command.options(choice), "--gamma", str(choice.gamma),
        "--batch", str(choice.batch),
    ]  # fmt: skip
    ran = CliRunner().invoke(specdec, line)
    assert ran.exit_code == 0, ran.output
    mine = json.loads(to_json(explain_results.report_of(setup, None)))
    theirs = json.loads(ran.stdout)
    for name in ("waterfall", "attack", "break_even"):
        assert mine[name] == theirs[name]


@pytest.mark.parametrize(
    "more", [{}, {"pass_cost": 1.1}, {"pass_cost": 1.1, "step_cost": 0.1}, {"batch": 8}]
)
def test_typed_numbers_have_a_command_that_says_the_same(more):
    choice = Choice(source="numbers", gamma=3, tau=2.92, speed=88.0, plain_speed=52.5, **more)
    setup = Setup(choice=choice)
    piped, said = explain_command.piped(setup), explain_command.arguments(setup, None)
    echo, text, pipe = shlex.split(piped)
    assert (echo, pipe) == ("echo", "|")
    ran = CliRunner().invoke(specdec, [*said, "--format", "json"], input=text)
    assert ran.exit_code == 0, ran.output
    mine, theirs = (
        json.loads(each) for each in (to_json(explain_results.report_of(setup, None)), ran.stdout)
    )
    for name in ("waterfall", "attack", "break_even"):
        assert mine[name] == theirs[name]


def test_numbers_that_the_command_does_not_take_have_none():
    share = Setup(choice=Choice(source="numbers", tau=2.0, share=0.2))
    nothing = Setup(choice=Choice(source="numbers"))
    assert explain_command.arguments(share, None) == explain_command.arguments(nothing, None) == ()
    assert explain_command.SHARE in said(opened(PAGE, source="numbers", tau="2", share="0.2"))


def test_the_command_of_a_log_has_what_was_known_beside_it():
    facts = Facts(gamma=3, method="eagle", tokens_per_s=80.0, plain_tokens_per_s=40.0)
    seen = observation_of(Choice(tau=2.4))
    log = LastLog(
        key="x", title="x", observation=seen, facts=facts, engine="vllm", layout="interval lines"
    )
    setup = Setup(choice=Choice(source="log", plain_speed=44.0, pass_cost=1.1))
    assert explain_command.arguments(setup, log) == (
        "explain", "engine.log", "--gamma", "3", "--method", "eagle", "--engine", "vllm",
        "--layout", "interval lines", "--tps", "80", "--plain-tps", "44", "--verify-cost", "1.1",
    )  # fmt: skip


def test_files_come_down():
    assert explain_results.waterfall_png(Setup(choice=Choice()), None).startswith(b"\x89PNG")
    report = explain_results.report_of(Setup(choice=Choice()), None)
    assert to_csv(report).startswith("part,gives_or_takes,")
    found = explain(built(Choice(), assumed(Choice())).parts(4, 1, Choice().context))
    rows = json.loads(to_json(report))["waterfall"]
    assert rows[-1]["speed_after"] == found.net.number
