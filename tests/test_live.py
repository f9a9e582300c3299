"""The very expressions of the live charts, computed by Vega, against the closed forms."""

import dataclasses
import itertools
import json
import math
import subprocess
import sys
from functools import cache

import numpy as np
import pytest
import vl_convert

import analysis as an
import simulator as sim
from analysis.live import signals
from analysis.live.pictures import Picture, live_picture, with_sliders
from analysis.live.setting import INPUTS, MAX_GAMMA, LiveSetting
from analysis.verdict import verdict

ARTICLE = LiveSetting(p=0.7, gamma=4, cost_ratio=0.1)
NEAR_ONE = (1 - 1e-9, 1 - 1e-12, 1 - 2**-53)
RNG = np.random.default_rng(20221130)
LATTICE = [
    LiveSetting(p=p, gamma=gamma, cost_ratio=c, verify_cost=v, overhead=o)
    for (p, c, (v, o)), gamma in zip(
        itertools.product(
            (0.0, 1e-9, 0.15, 0.7, 0.95, *NEAR_ONE, 1.0),
            (0.0, 0.013, 0.1, 1.0),
            ((1.0, 0.0), (1.37, 0.21), (5.0, 0.0)),
        ),
        itertools.cycle((4, 1, 16, 7)),
        strict=False,
    )
]
SCATTERED = [
    LiveSetting(p=p, gamma=gamma, cost_ratio=c, verify_cost=v, overhead=o)
    for p, gamma, c, v, o in zip(
        RNG.random(40),
        RNG.integers(1, MAX_GAMMA, 40, endpoint=True).tolist(),
        RNG.random(40) ** 2,
        RNG.uniform(0.5, 3.0, 40),
        RNG.uniform(0.0, 1.0, 40),
        strict=True,
    )
]
SETTINGS = [ARTICLE, *LATTICE, *SCATTERED]


def computed(settings, derived, read):
    """What Vega computes of each setting: the signals of a chart, in one group per setting.

    Numbers leave as the shortest text that gives them back, so nothing is rounded on the way.
    """
    names = [item.name for item in INPUTS]
    rows = [{name: getattr(setting, name) for name in names} for setting in settings]
    text = " + '|' + ".join(read)  # an array becomes its values with commas
    group = {
        "type": "group",
        "from": {"data": "settings"},
        "signals": [
            *({"name": name, "update": f"parent.{name}"} for name in names),
            *derived,
        ],
        "marks": [
            {"type": "text", "encode": {"update": {"text": {"signal": f"'' + ({text})"}}}},
        ],
    }
    scene = vl_convert.vega_to_scenegraph(
        {"data": [{"name": "settings", "values": rows}], "marks": [group]}
    )
    return [dict(zip(read, found.split("|"), strict=True)) for found in texts(scene)]


def texts(node):
    if isinstance(node, dict):
        if isinstance(node.get("text"), str):
            yield node["text"]
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            yield from texts(part)


@cache
def curve_of(setting):
    return an.over_gamma(
        setting.p,
        setting.cost_ratio,
        max_gamma=MAX_GAMMA,
        verify_cost=setting.verify_cost,
        overhead=setting.overhead,
    )


@cache
def printed(p, gamma):
    return an.round_law(sim.draft_model(p=p, gamma=gamma)).accepted_fraction


def of_chart(picture=Picture.SPEEDUP):
    """The derived signals as Vega-Lite hands them on, from the specification that a page gets."""
    inputs = {item.name for item in INPUTS}
    vega = vl_convert.vegalite_to_vega(json.dumps(live_picture(picture, ARTICLE)))
    ours = {item.name for item in signals.DERIVED}
    found = [
        {"name": signal["name"], "update": signal["update"]}
        for signal in vega["signals"]
        if signal["name"] in ours
    ]
    assert {signal["name"] for signal in found} == ours
    assert inputs <= {signal["name"] for signal in vega["signals"]}
    return found


READ = (
    *("tokens", "round_costs", "speedups", "accepted_fractions", "survival", "best_gamma"),
    *("at_limit", "break_even_cost_ratio", "mistaken_tokens", "verdict"),
)


@pytest.fixture(scope="module")
def found():
    return computed(SETTINGS, of_chart(), READ)


def numbers(text):
    return [float(part) for part in text.split(",") if part]  # nothing is accepted at gamma = 0


def wrong(settings, found):
    """The settings where a computed number is further than 1e-9 from its closed form."""
    bad = []
    for setting, got in zip(settings, found, strict=True):
        extra = {"verify_cost": setting.verify_cost, "overhead": setting.overhead}
        curve = curve_of(setting)
        fractions = [printed(setting.p, point.gamma) for point in curve.points[1:]]
        exact = {
            "tokens": [point.tokens_per_round for point in curve.points],
            "round_costs": [point.round_cost for point in curve.points],
            "speedups": [point.speedup for point in curve.points],
            "accepted_fractions": fractions,
            "survival": [1.0, *an.survival(setting.p, MAX_GAMMA)],
            "break_even_cost_ratio": [an.break_even_cost_ratio(setting.p, setting.gamma, **extra)],
            "mistaken_tokens": [an.expected_tokens(fractions[setting.gamma - 1], setting.gamma)],
        }
        for name, values in exact.items():
            if not close(numbers(got[name]), values):
                bad.append((setting, name))
    return bad


def close(got, exact):
    return len(got) == len(exact) and all(
        math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)
        for one, other in zip(got, exact, strict=True)
    )


def test_every_number_is_the_closed_form_s(found):
    assert len(found) == len(SETTINGS)
    assert wrong(SETTINGS, found) == []


@pytest.mark.parametrize(
    ("name", "right", "mutated"),
    [
        ("tokens", "1 + p * (1 + p * (1))", "1 + p * (1 + p * (1 + p))"),
        ("round_costs", "4 * cost_ratio", "5 * cost_ratio"),
        ("accepted_fractions", "tokens[3] / 4", "tokens[3] / 5"),
        ("break_even_cost_ratio", "- overhead", "+ overhead"),
    ],
)
def test_a_wrong_expression_is_seen(name, right, mutated):
    derived = of_chart()
    signal = next(signal for signal in derived if signal["name"] == name)
    assert right in signal["update"]
    signal["update"] = signal["update"].replace(right, mutated)
    settings = [*SCATTERED[:5], ARTICLE]
    assert wrong(settings, computed(settings, derived, READ))


def test_the_quotient_would_not_be_sound_near_one():
    derived = of_chart()
    tokens = next(signal for signal in derived if signal["name"] == "tokens")
    quotients = ", ".join(f"(1 - pow(p, {n + 1})) / (1 - p)" for n in range(MAX_GAMMA + 1))
    tokens["update"] = f"[{quotients}]"
    settings = [LiveSetting(p=p, gamma=4, cost_ratio=0.1) for p in NEAR_ONE]
    assert wrong(settings, computed(settings, derived, READ))


def test_words_do_not_round_an_input_to_one():
    start = LiveSetting(p=0.999999, gamma=4, cost_ratio=0.1)
    (words,) = computed([start], of_chart(Picture.TRAP), ["trap_text", "tokens_text"])
    assert words["trap_text"].startswith("p is 0.999999. At γ = 4 ")
    assert words["tokens_text"] == "E = (1 − 0.999999^5) / (1 − 0.999999) = 5"


def test_verdict_and_best_length_are_those_of_the_pages(found):
    kinds = set()
    for setting, got in zip(SETTINGS, found, strict=True):
        curve = curve_of(setting)
        said = verdict(setting.gamma, curve.points[setting.gamma].speedup, curve.best)
        assert (int(got["best_gamma"]), got["at_limit"]) == (
            curve.best.gamma,
            str(curve.best.at_limit).lower(),
        ), setting
        assert got["verdict"] in {said, *nudged(setting, curve)}, setting
        kinds.add("".join(letter for letter in said if letter.isalpha()))
    assert len(kinds) >= 9  # every branch of the sentence was met


def nudged(setting, curve):
    """The sentence where a speedup lies on the edge between two roundings: either is right."""
    for here, best in itertools.product((1 - 1e-12, 1 + 1e-12), repeat=2):
        moved = dataclasses.replace(curve.best, speedup=curve.best.speedup * best)
        yield verdict(setting.gamma, curve.points[setting.gamma].speedup * here, moved)


@pytest.mark.parametrize("picture", Picture)
def test_every_picture_carries_the_same_signals_and_says_what_it_shows(picture):
    assert of_chart(picture) == of_chart()
    spec = live_picture(picture, ARTICLE)
    assert len(spec["description"]) > 80
    assert "http" not in json.dumps(spec)
    assert "tooltip" in json.dumps(spec)


@pytest.mark.parametrize("picture", Picture)
def test_colour_is_never_the_only_channel(picture):
    written = json.dumps(live_picture(picture, ARTICLE))
    assert '"shape"' in written or '"strokeDash"' in written


@pytest.mark.parametrize("picture", Picture)
def test_sliders_start_at_the_setting_and_reach_it(picture):
    start = LiveSetting(p=0.31, gamma=9, cost_ratio=0.4, verify_cost=7.5, overhead=3.0)
    params = {param["name"]: param for param in with_sliders(picture, start)["params"]}
    bound = {name: param for name, param in params.items() if "bind" in param}
    assert set(bound) >= {"p", "gamma"}
    for name, param in bound.items():
        assert (
            param["bind"]["min"] <= param["value"] == getattr(start, name) <= param["bind"]["max"]
        )


def ends(setting, *names):
    return [numbers(computed([setting], of_chart(), names)[0][name])[0] for name in names]


@pytest.mark.parametrize("setting", [ARTICLE, LATTICE[0], LATTICE[-1], *SCATTERED[:5]])
def test_the_axes_hold_the_curves(setting):
    curve = curve_of(setting)
    speedup_end, tokens_end = ends(setting, "speedup_end", "tokens_end")
    assert max(point.speedup for point in curve.points) <= speedup_end
    assert (
        max(max(point.tokens_per_round, point.round_cost) for point in curve.points) <= tokens_end
    )


def drawn(picture, start):
    """Texts, and points as (x, y) in shares of the plot, as Vega draws the picture."""
    spec = live_picture(picture, start) | {"width": 400}
    return vl_convert.vegalite_to_scenegraph(json.dumps(spec))


def symbols(node, size):
    if isinstance(node, dict):
        if node.get("size") == size and "x" in node and "y" in node:
            yield node["x"], node["y"]
        node = list(node.values())
    if isinstance(node, list):
        for part in node:
            yield from symbols(part, size)


def test_the_circle_is_drawn_at_your_length_and_the_diamond_at_the_best():
    start = LiveSetting(p=0.9, gamma=3, cost_ratio=0.1)
    scene = drawn(Picture.SPEEDUP, start)
    best = an.best_gamma(0.9, 0.1, max_gamma=MAX_GAMMA)
    for size, gamma in ((330, 3), (120, best.gamma)):
        ((x, y),) = symbols(scene, size)
        assert x / 400 * MAX_GAMMA == pytest.approx(gamma)
        assert (1 - y / 320) * 4 == pytest.approx(an.speedup(0.9, gamma, 0.1))


def test_your_dot_on_the_map_is_at_p_and_c():
    ((x, y),) = symbols(drawn(Picture.MAP, LiveSetting(p=0.6, gamma=2, cost_ratio=0.25)), 170)
    assert (x / 400, 1 - y / 360) == pytest.approx((0.6, 0.25))


def test_a_number_out_of_range_gets_its_sentence():
    with pytest.raises(ValueError, match=r"p must be a number in \[0, 1\]; got 1.5."):
        LiveSetting(p=1.5, gamma=4, cost_ratio=0.1)
    with pytest.raises(ValueError, match=r"gamma must be a whole number in \[1, 16\]; got 2.5."):
        LiveSetting(p=0.5, gamma=2.5, cost_ratio=0.1)
    with pytest.raises(ValueError, match=r"verify_cost must be a number in \[0.1, 20\]; got nan."):
        LiveSetting(p=0.5, gamma=2, cost_ratio=0.1, verify_cost=math.nan)


def test_nothing_loads_altair_before_a_chart_is_asked_for():
    script = "import analysis, analysis.live.setting, sys; print('altair' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"
