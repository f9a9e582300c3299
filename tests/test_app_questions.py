"""Guided questions: answers are computed when they are opened, from what is set, by the analysis."""

import pytest
from app_page_list import ALL, name_of, opened
from app_scripts import show

import analysis as an
import simulator as sim
from app_pages.deployment import results as deploy_results
from app_pages.deployment.choice import Choice as Deployment
from app_pages.deployment.results import Setup
from app_pages.one_token.choice import Choice as Token
from app_pages.questions import asking, deployment, formula, systems, token
from app_pages.questions.asking import Question
from app_pages.state import Settings
from app_pages.systems.choice import Choice as System

ARTICLE = Settings(p=0.7, gamma=4, cost_ratio=0.1, verify_cost=1.0, overhead=0.0)
DEAR = Settings(p=0.4, gamma=8, cost_ratio=0.3, verify_cost=1.5, overhead=0.2)


def toggles(app):
    return [each for each in app.toggle if each.label.startswith("Show answer")]


@pytest.mark.parametrize("page", ALL, ids=name_of)
def test_every_page_asks_and_every_answer_comes_when_it_is_opened(page, monkeypatch):
    answered = []
    real = Question.answered

    def counted(self, now):
        answered.append(self.text)
        return real(self, now)

    monkeypatch.setattr(asking.Question, "answered", counted)
    app = opened(page)
    switches = toggles(app)
    assert len(switches) >= 2
    assert answered == []
    before, wrong = len(app.success), [error.value for error in app.error]
    for switch in switches:
        switch.set_value(True)
    app.run()
    assert not app.exception
    assert [error.value for error in app.error] == wrong
    assert len(answered) == len(switches) == len(set(answered))
    told = [item.value for item in app.success]
    assert len(told) == before + len(switches)
    assert all(any(letter.isdigit() for letter in text) for text in told[before:])


def test_an_answer_follows_the_setting():
    app = show("one_round")
    app.query_params["p"] = "0.5"
    app.run()
    toggles(app)[0].set_value(True).run()
    assert f"**{0.5**4:.1%}**" in app.success[0].value
    app.slider(key="gamma").set_value(2).run()
    assert f"**{0.5**2:.1%}**" in app.success[0].value


@pytest.mark.parametrize("now", [ARTICLE, DEAR])
def test_where_it_stops_paying_is_the_break_even(now):
    extra = {"verify_cost": now.verify_cost, "overhead": now.overhead}
    p = an.break_even_p(now.gamma, now.cost_ratio, **extra)
    assert f"**{p:.3f}**" in formula.stops_paying(now)
    assert an.speedup(p, now.gamma, now.cost_ratio, **extra) == pytest.approx(1.0)
    said = formula.nothing_pays(now)
    lowest = float(said.split("p = **")[1].split("**")[0])
    below, above = (
        max(an.speedup(q, g, now.cost_ratio, **extra) for g in range(1, 17))
        for q in (lowest - 2e-3, lowest + 2e-3)
    )
    assert below < 1.0 < above
    assert f"γ = **{1}**" in formula.nothing_pays(ARTICLE)


def test_the_article_s_example_in_words():
    assert formula.stops_paying(ARTICLE) == "At γ = 4 and c = 0.1: below p = **0.287**."
    assert "above c = **0.443**" in formula.too_expensive(ARTICLE)
    fraction = an.round_law(sim.draft_model(p=0.7, gamma=16)).accepted_fraction
    assert f"**{fraction:.3f}** at γ = 16" in formula.printed_rate(ARTICLE)
    assert "stay below 1 / (1 − p)" in formula.free_draft(ARTICLE)
    assert "**3.333×**" in formula.free_draft(ARTICLE)


@pytest.mark.parametrize("p", [0.0, 1.0])
@pytest.mark.parametrize("gamma", [1, 16])
@pytest.mark.parametrize("cost_ratio", [0.0, 1.0])
@pytest.mark.parametrize("verify_cost", [0.1, 20.0])
def test_every_corner_has_an_answer(p, gamma, cost_ratio, verify_cost):
    now = Settings(p=p, gamma=gamma, cost_ratio=cost_ratio, verify_cost=verify_cost, overhead=0.0)
    for question in (*formula.EXPLORE, *formula.ONE_ROUND):
        assert "nan" not in question.answer(now)


def test_losing_rounds_are_counted_by_the_law():
    law = an.round_law(sim.draft_model(p=0.7, gamma=4))
    assert f"**{law.pmf[0]:.1%}**" in formula.losing_rounds(ARTICLE)  # one token in 1.4 steps
    slow = Settings(p=0.7, gamma=4, cost_ratio=0.3, verify_cost=1.0, overhead=0.0)
    assert f"**{law.pmf[0] + law.pmf[1]:.1%}**" in formula.losing_rounds(slow)  # two in 2.2


def test_what_cannot_be_answered_is_said():
    refusing = Question(text="?", answer=lambda _: an.break_even_p(0, 0.1) or "")
    assert "gamma must be" in refusing.answered(None).replace("\\", "")
    assert "straight line" in systems.SYSTEMS[2].answered(System(passes="slope"))


def test_rules_are_ordered_by_what_they_keep():
    lines = token.every_rule(Token()).splitlines()
    kept = [float(line.split("p = **")[1].split("**")[0]) for line in lines]
    assert kept == sorted(kept, reverse=True)
    assert len(lines) == 7


def test_a_deployment_breaks_even_where_the_page_says():
    setup = deploy_results.with_room(Setup(choice=Deployment()))
    p = float(deployment.too_bad(setup).split("p = **")[1].split("**")[0])
    at = Setup(choice=Deployment(p=p))
    assert deploy_results.parts_of(at).speedup.value == pytest.approx(1.0, abs=2e-3)
    worst = deploy_results.parts_of(Setup(choice=Deployment(p=0.0))).speedup.value
    assert f"**{worst:.2f}×**" in deployment.always_wrong(setup)
