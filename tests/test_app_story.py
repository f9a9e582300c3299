"""The second page: the story's clock and counts, and stepping through it."""

import pytest
from app_scripts import metric, show
from test_app import open_app

import analysis as an
import simulator as sim
from app_pages import lanes, sheet, story
from app_pages.state import Settings


def settings(p=0.7, gamma=4, c=0.1, v=1.0, overhead=0.0):
    return Settings(p=p, gamma=gamma, cost_ratio=c, verify_cost=v, overhead=overhead)


@pytest.mark.parametrize("gamma", [1, 4, 16])
@pytest.mark.parametrize("p", [0.0, 0.7, 1.0])
def test_the_story_ends_where_the_round_costs_say(p, gamma):
    now = settings(p=p, gamma=gamma, v=1.3, overhead=0.2)
    lengths = story.draw_lengths(now, 3)
    steps = story.tell(now, lengths)
    cost = an.round_cost(gamma, 0.1, verify_cost=1.3, overhead=0.2)
    assert steps[-1].now == pytest.approx(len(lengths) * cost)
    assert steps[-1].arrived == sum(lengths) + len(lengths)
    assert [step.now for step in steps] == sorted(step.now for step in steps)


def test_the_lengths_are_the_simulator_s():
    drawn = sim.simulate_lengths(sim.draft_model(p=0.7, gamma=4), rounds=story.ROUNDS, rng=5)
    assert story.draw_lengths(settings(), 5) == tuple(drawn)


@pytest.mark.parametrize("overhead", [0.0, 0.3])
def test_blocks_fill_each_lane_without_gap_or_overlap(overhead):
    now = settings(overhead=overhead)
    lengths = (2, 4, 0, 1)
    steps = story.tell(now, lengths)
    for step in steps:
        blocks = story.blocks(now, steps, step)
        for lane in (lanes.PLAIN_LANE, lanes.SPECULATIVE_LANE):
            mine = [block for block in blocks if block.lane == lane]
            edges = [0.0, *(block.end for block in mine)]
            assert [block.start for block in mine] == pytest.approx(edges[:-1])
            assert edges[-1] == pytest.approx(step.now)
        spoken = sum(block.tokens for block in blocks if block.lane == lanes.SPECULATIVE_LANE)
        assert spoken == step.arrived
        plain = sum(block.tokens for block in blocks if block.lane == lanes.PLAIN_LANE)
        assert plain == step.plain_arrived


def test_a_rejected_round_strikes_corrects_and_leaves_the_rest_unread():
    now = settings()
    last = [step for step in story.tell(now, (1, 4)) if step.round == 0][-1]
    line = sheet.student(now, last)
    assert line.count("✓") == 1
    assert line.count("✗") == 1
    assert line.endswith(":gray[unread]")
    assert "correction" in sheet.professor(last)
    assert "The round gave 2 tokens." in sheet.narration(now, last)


def test_a_full_round_gets_the_bonus_word():
    now = settings()
    last = story.tell(now, (4,))[-1]
    assert last.phase == "bonus"
    assert "bonus" in sheet.professor(last)
    assert "The round gave 5 tokens." in sheet.narration(now, last)


def test_the_text_is_the_target_s_whatever_the_draft_wrote():
    assert story.text(3) == "Late in the"
    assert all(len(pair) == 2 for pair in story.WORDS)
    assert all(right != slip for right, slip in story.WORDS)


def test_stepping():
    app = show("one_round").run()
    assert not app.exception
    assert "blank sheet" in app.info[0].value
    press(app, "Next")
    assert "word 1 of 4" in app.info[0].value
    press(app, "To the end of the round")
    assert "The round gave" in app.info[0].value
    assert metric(app, "Clock").value == "1.40"
    press(app, "Back")
    assert "The round gave" not in app.info[0].value
    press(app, "New rounds")
    assert "blank sheet" in app.info[0].value
    assert app.number_input(key="seed").value == 1


def test_a_shorter_draft_does_not_leave_the_step_beyond_the_end():
    app = show("one_round").run()
    app.slider(key="gamma").set_value(16).run()
    app.slider(key="step").set_value(60).run()
    app.slider(key="gamma").set_value(1).run()
    assert not app.exception
    assert "The round gave" in app.info[0].value


def test_every_step_of_a_long_story_can_be_drawn():
    app = show("one_round").run()
    app.slider(key="p").set_value(1.0).run()
    for step in range(0, int(app.slider(key="step").max) + 1, 3):
        app.slider(key="step").set_value(step).run()
        assert not app.exception


@pytest.mark.parametrize("step", ["9999", "-1", "abc", "1e3", "9" * 50, "²"])
def test_a_foreign_step_in_the_link_is_survived(step):
    app = show("one_round")
    app.query_params["step"] = step
    app.run()
    assert not app.exception
    assert app.info[0].value


def test_the_first_page_survives_a_foreign_step_in_the_link():
    assert open_app(step="9999")


def press(app, label):
    next(button for button in app.button if button.label == label).click().run()
    assert not app.exception
