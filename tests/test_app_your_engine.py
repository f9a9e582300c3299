"""The page for one's own numbers through AppTest: every state, and the same answers as the commands."""

import json
import re
import shlex
from pathlib import Path

import pytest
from app_scripts import metric, press, said, show
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from analysis.cli import app as specdec
from analysis.diagnosis.finding import KINDS
from analysis.output import to_csv, to_json
from app_pages.plain_text import plain
from app_pages.state import Settings
from app_pages.your_engine import doctor, results, sources, take_away
from app_pages.your_engine.inputs import MAX_LENGTH
from app_pages.your_engine.sources import Facts, Given
from simulator import AcceptanceTable, CountedUnit, Observation

PAGE = "your_engine.page"
EXAMPLE = "Show me an example"
ARTICLE = Settings(p=0.7, gamma=4, cost_ratio=0.1, verify_cost=1.0, overhead=0.0)
LOGS = sorted((Path(__file__).parent / "logs").glob("*.log"))
CLOCKED = "vLLM: fixed overhead dominates (vllm 39680)"
SERVER = "vLLM: acceptance changed (club-3090 105)"
MEAN = "SGLang: acceptance changed (sglang 4716)"
REFUSED = "TensorRT-LLM: not enough data (TensorRT-LLM 2506)"
SEVERAL = "llama.cpp: healthy (llama.cpp 24536)"


def opened():
    app = show(PAGE).run()
    assert not app.exception
    return app


def paste(app, text):
    app.text_area(key="log_text").set_value(text).run()
    assert not app.exception
    return app


def report(name):
    app = opened()
    app.selectbox(key="log_example").set_value(name).run()
    assert not app.exception
    return app


def chart(app, title):
    specs = [json.loads(item.proto.spec) for item in app.get("vega_lite_chart")]
    return next(spec for spec in specs if spec["title"].startswith(title))


def data(spec, field):
    return next(rows for rows in spec["datasets"].values() if field in rows[0])


def downloads(app):
    return {item.proto.label for item in app.get("download_button")}


def test_without_a_log_the_page_says_what_to_do():
    app = opened()
    assert "Nothing to read yet" in app.info[0].value
    assert not app.metric


def test_the_example_shows_p_beside_the_printed_rate():
    app = press(opened(), EXAMPLE)
    assert not app.exception
    assert metric(app, "p").value == "0.788 to 0.795"
    assert metric(app, "accepted / drafted").value == "0.645"
    assert metric(app, "Tokens per round").value == "2.92"
    assert metric(app, "Speedup").value == "2.25×"
    assert any("lowest p (0.788)" in item.label for item in app.button)
    assert [item.value for item in app.header] == [
        *("llama\\.cpp, acceptance per request", "What the doctor says", "Which draft length"),
        "Take it along",
    ]


def test_every_sample_log_is_shown():
    app = opened()
    for path in LOGS:
        paste(app, path.read_text(encoding="utf-8"))
        assert not app.error, path.name
        assert metric(app, "p").value


def test_every_public_report_is_read_with_its_source_and_no_error():
    app = opened()
    for name, case in sources.examples().items():
        app.selectbox(key="log_example").set_value(name).run()
        assert not app.exception, name
        assert case.url in said(app), name
        errors = [box.value for box in app.error if "Best is no speculation" not in box.value]
        assert errors == [], name
        assert "What the doctor says" in [item.value for item in app.header], name
        assert app.text_area(key="log_text").value == case.log


def test_the_doctor_has_a_card_per_finding_in_its_order_with_evidence_reason_and_advice():
    app = report(CLOCKED)
    given = sources.pasted(sources.examples()[CLOCKED].log)
    facts = sources.facts_of(sources.examples()[CLOCKED])
    findings = results.diagnosis(given, 0, facts).findings
    assert findings[0].code == "fixed_overhead_dominates"
    cards = [item.value for item in app.markdown if "-badge[" in item.value]
    assert [card.partition("**")[2].rstrip("*") for card in cards] == [
        found.code.replace("_", " ").capitalize() for found in findings
    ]
    assert cards[0].startswith(":orange-badge[:material/error: problem]")
    text = said(app)
    for found in findings:
        for sentence in (found.evidence, found.reason, found.advice):
            assert sentence[1:] in text


@pytest.mark.parametrize("kind", sorted(set(KINDS.values())))
def test_every_kind_of_finding_has_a_look_of_its_own(kind):
    looks = doctor.LOOKS
    assert kind in looks
    assert len({look[1:] for look in looks.values()}) == len(looks)


def test_a_clock_shows_what_a_round_takes_and_puts_the_rest_into_the_overhead():
    app = report(CLOCKED)
    assert metric(app, "Time of a round").value == "15.3 ms"
    assert metric(app, "Cost of a round").value == "5.24"
    assert metric(app, "Speedup, by the clock").value == "0.37×"
    assert "are not those of this machine" in said(app)
    press(app, "Take the rest as overhead (4.14)")
    assert app.number_input(key="overhead").value == 4.14
    assert "they agree" in said(app)


def test_the_best_length_is_the_fit_s_and_moves_with_the_costs():
    app = press(opened(), EXAMPLE)
    given = sources.pasted(app.text_area(key="log_text").value)
    fitted = results.fitted(given, 0, Facts())
    for cost in (0.1, 0.4):
        app.slider(key="c").set_value(cost).run()
        settings = Settings(p=0.7, gamma=4, cost_ratio=cost, verify_cost=1.0, overhead=0.0)
        best = fitted.best_gamma(results.costs_of(settings), results.GAMMAS)
        assert best.sentence in said(app)
        assert best.sentence in chart(app, "Speedup over draft length")["description"]
        rows = data(results.prediction_spec(given, 0, Facts(), settings), "low")
        assert [row["gamma"] for row in rows] == list(results.GAMMAS)
        assert rows[2]["value"] == pytest.approx(
            fitted.speedup(3, results.costs_of(settings)).value
        )
    assert results.fitted(given, 0, Facts()) is fitted  # fitted once


def test_measured_depths_are_filled_and_others_hollow():
    spec = results.prediction_spec(given_and_facts(None)[0], 0, Facts(), None)
    rows = data(spec, "basis")
    assert [row["gamma"] for row in rows if row["basis"] == "within the measured depth"] == [
        1,
        2,
        3,
    ]
    points = next(layer for layer in spec["layer"] if layer["mark"]["type"] == "point")
    scale = points["encoding"]["fill"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True))["extrapolated"] == "transparent"


def test_candidates_say_why_they_were_not_chosen():
    app = report(SERVER)
    given = sources.pasted(sources.examples()[SERVER].log)
    fitted = results.fitted(given, 0, sources.facts_of(sources.examples()[SERVER]))
    assert len(fitted.candidates) > 3
    text = said(app)
    assert all(each.reason in text for each in fitted.candidates)


def test_intervals_of_a_log_are_compared_over_time():
    app = report(SERVER)
    assert "By kind, and over time" in [item.value for item in app.header]
    description = chart(app, "Tokens per round by intervals")["description"]
    assert re.findall(r"–\d: (\d\.\d\d)", description) == ["2.86", "4.76"]


def test_requests_with_labels_are_compared_by_them():
    lines = []
    for i in range(40):
        kept = 2 if i % 2 else 0
        record = {"accept_lengths": [1 + kept] * 10, "category": "code" if i % 2 else "chat"}
        lines.append(
            json.dumps({"question_id": i, "choices": [{**record, "turns": ["x"]}], **record})
        )
    given = sources.pasted("\n".join(lines))
    reading = results.reading_at(given, 0)
    assert results.labels_of(reading.observation)["category"] is None
    app = paste(opened(), "\n".join(lines))
    app.selectbox(key="log_by").set_value("category").run()
    assert not app.exception
    assert "The groups differ in tokens per round" in said(app)
    assert "--by category" in app.code[0].value


def test_numbers_with_many_values_are_cut_at_quartiles():
    table = AcceptanceTable(rounds=10, drafted=10, tested=(10,), accepted=(5,))
    units = tuple(
        CountedUnit(
            counts=table,
            labels=(("context", str(value)), ("time", str(value)), ("name", f"n{value}")),
        )
        for value in range(100)
    )
    assert results.labels_of(Observation(units=units)) == {"context": (25.0, 50.0, 74.0)}


def test_a_refused_fit_says_why():
    app = report(REFUSED)
    assert "Not fitted: There is no round" in said(app)
    assert "The prediction, CSV" not in downloads(app)
    assert "No speculation_profile.json" in said(app)


def test_one_mean_is_fitted_with_the_error_of_its_method():
    app = report(MEAN)
    assert "There is one mean only" in said(app)
    assert metric(app, "Tokens per round").value == "5.88"


def test_of_several_readings_one_is_chosen_the_one_that_says_most_first():
    app = report(SEVERAL)
    box = app.selectbox(key="log_reading")
    assert box.options == [
        "llama.cpp, acceptance per request",
        "llama.cpp, statistics of draft-eagle3",
    ]
    assert box.value == box.options[0]
    box.set_value(box.options[1]).run()
    assert not app.exception
    assert plain(box.options[1]) in [item.value for item in app.header]
    assert shlex.quote("statistics of draft-eagle3") in app.code[0].value


def test_two_engines_in_one_text_are_both_offered():
    vllm = sources.examples()[SERVER].log
    app = paste(opened(), f"{sources.examples()[SEVERAL].log}\n{vllm}")
    assert {title.partition(",")[0] for title in app.selectbox(key="log_reading").options} == {
        *("llama.cpp", "vLLM"),
    }


def snapshot(drafts, drafted, accepted, by_depth):
    names = ("drafts", "draft_tokens", "accepted_tokens")
    lines = [
        f'vllm:spec_decode_num_{name}_total{{model_name="m"}} {value}.0'
        for name, value in zip(names, (drafts, drafted, accepted), strict=True)
    ]
    lines += [
        f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{model_name="m",position="{i}"}} {n}.0'
        for i, n in enumerate(by_depth)
    ]
    return "\n".join(lines).encode()


def test_two_pages_of_prometheus_are_subtracted():
    app = opened()
    app.file_uploader(key="log_file").set_value(
        ("after.prom", snapshot(1100, 2200, 1300, (800, 500)), "text/plain")
    ).run()
    assert not app.exception
    alone = metric(app, "p").value
    app.file_uploader(key="log_before").set_value(
        ("before.prom", snapshot(100, 200, 20, (15, 5)), "text/plain")
    ).run()
    assert not app.exception
    assert metric(app, "Tokens per round").value == "2.28"
    assert metric(app, "p").value != alone
    assert "--before before.prom" in app.code[0].value
    assert "specdec fit" not in app.code[0].value  # it reads one file


def test_a_file_goes_before_pasted_lines_and_hostile_bytes_get_a_sentence():
    app = press(opened(), EXAMPLE)
    for content, sentence in (
        (b"PK\x03\x04" + b"\0" * 100, "zip archive"),
        (b"\x80\x04\x95" + b"x" * 100, "pickle"),
        (b"", "the file"),
        (b"[" * 100_000, "the file"),
    ):
        app.file_uploader(key="log_file").set_value(("![x](y).log", content, "text/plain")).run()
        assert not app.exception
        assert sentence in app.error[0].value


def test_a_log_that_is_none_gets_a_sentence():
    app = opened()
    for text in ("hello", "![x](http://example.org/x.png) $x$", "{" * 100, "\x00"):
        paste(app, text)
        assert "the pasted lines" in app.error[0].value


def test_text_from_a_log_is_never_markdown():
    hostile = "![x](http://example.org/x.png) **b** :red[c] $d$ <script>"
    line = (
        "draft acceptance = 0.64479 (  167 accepted /   259 generated), mean acceptance length = "
        " 2.92, acceptance rate per position = (0.805, 0.632, 0.483)"
    )
    statistics = (
        f"statistics {hostile}: #calls(b,g,a) = 1 87 87, #gen drafts = 87, #acc drafts = 70, "
        "#gen tokens = 259, #acc tokens = 167"
    )
    app = paste(opened(), f"{line}\n{statistics}\ndraft acceptance = {hostile}")
    for part in (app.markdown, app.caption, app.header, app.error, app.info, app.warning):
        assert all("![x](" not in item.value and "<script>" not in item.value for item in part)


def test_a_line_without_counts_is_shown_as_printed():
    line = (
        "SpecDecoding metrics: Mean acceptance length: 1.37, Per-position acceptance rate: 0.166, "
        "0.093, 0.067, 0.045, Avg Draft acceptance rate: 9.3%"
    )
    app = paste(opened(), line)
    assert metric(app, "p").value == "0.279 to 0.281"
    assert metric(app, "Tokens per round").value == "1.37"
    assert metric(app, "Speedup").value == "0.98×"


def test_a_configured_length_that_contradicts_the_log_gets_a_sentence():
    app = press(opened(), EXAMPLE)
    app.number_input(key="log_gamma").set_value(9).run()
    assert not app.exception
    assert "gamma must be the 3 positions" in app.error[0].value


def test_an_impossible_draft_length_gets_a_sentence_and_the_old_one_stays():
    app = press(opened(), EXAMPLE)
    app.number_input(key="log_gamma").set_value(3.0).run()
    for length in (0.0, -2.0, 2.5, 1e9, MAX_LENGTH + 1.0):
        app.number_input(key="log_gamma").set_value(length).run()
        assert not app.exception
        assert f"got {length:.12g}. It stays at 3." in app.warning[0].value
        assert app.number_input(key="log_gamma").value == 3


FAST, PLAIN = "Tokens per second with speculation", "Tokens per second without it"


def number(app, label):
    return next(item for item in app.number_input if item.label == label)


@pytest.mark.parametrize("label", [FAST, PLAIN, "Requests that run at a time"])
def test_an_impossible_speed_gets_a_sentence_and_the_old_one_stays(label):
    app = press(opened(), EXAMPLE)
    number(app, label).set_value(5.0).run()
    for value in (0.0, -1.0, 1e300):
        number(app, label).set_value(value).run()
        assert not app.exception
        told = app.warning[0].value.replace("\\", "")
        assert "must be a number" in told
        assert f"got {value:.12g}. It stays at 5." in told
        assert number(app, label).value == 5.0


def test_speeds_that_the_reader_knows_give_the_cost_of_a_round():
    app = press(opened(), EXAMPLE)
    assert "Cost of a round" not in [item.label for item in app.metric]
    number(app, FAST).set_value(100.0).run()
    number(app, PLAIN).set_value(80.0).run()
    assert metric(app, "Speedup, by the clock").value == "1.25×"
    assert metric(app, "Cost of a round").value == "2.34"


def test_every_input_has_help():
    app = report(SERVER)
    inputs = [*app.slider, *app.number_input, *app.selectbox, *app.text_area, *app.file_uploader]
    assert [item.label for item in inputs if not item.help and "typed" not in item.label] == []


def test_every_chart_describes_itself():
    app = report(SERVER)
    specs = [json.loads(item.proto.spec) for item in app.get("vega_lite_chart")]
    assert len(specs) == 4
    assert all(len(spec["description"]) > 40 for spec in specs)


def given_and_facts(name):
    if name is None:
        text = (Path(__file__).parent / "logs" / "llamacpp_server.log").read_text(encoding="utf-8")
        return sources.pasted(text), Facts()
    case = sources.examples()[name]
    return sources.pasted(case.log), sources.facts_of(case)


@pytest.mark.parametrize("name", [None, CLOCKED, SERVER, MEAN, SEVERAL])
def test_files_and_commands_say_the_same(tmp_path, monkeypatch, name):
    given, facts = given_and_facts(name)
    monkeypatch.chdir(tmp_path)
    (tmp_path / results.LOG_FILE).write_bytes(given.content)
    settings = Settings(p=0.7, gamma=4, cost_ratio=0.2, verify_cost=1.3, overhead=0.1)
    reading = results.reading_at(given, 0)
    alone = len(sources.readings(given)) == 1
    lines = take_away.commands(given, facts, settings, reading, alone=alone, by=None)
    reports = (
        results.import_of(given, facts, settings),
        results.prediction(given, 0, facts, settings),
    )
    for line, shown in zip(lines.splitlines(), reports, strict=True):
        program, *arguments = shlex.split(line)
        assert program == "specdec"
        ran = CliRunner().invoke(specdec, [*arguments, "--format", "json"])
        assert ran.exit_code == 0, ran.output
        assert json.loads(to_json(shown)) == json.loads(ran.stdout)


def test_the_csv_and_the_figure_and_the_profile():
    given, facts = given_and_facts(SERVER)
    csv = to_csv(results.prediction(given, 0, facts, ARTICLE)).splitlines()
    assert csv[0].startswith("gamma,tokens_per_round,low,high,speedup")
    assert len(csv) == len(results.GAMMAS) + 1
    assert take_away.figure_png(given, 0, facts, ARTICLE).startswith(b"\x89PNG")
    observed = sources.observation(results.reading_at(given, 0), facts)
    profile, why = take_away.profile_of(observed)
    assert not why
    (reading,) = sources.readings(sources.pasted(profile.decode()))
    assert reading.counts == observed.counts


def test_a_log_is_read_once_and_a_slider_does_not_fit_again(monkeypatch):
    app = report(SERVER)
    monkeypatch.setattr(sources, "read_log", lambda *_, **__: pytest.fail("read again"))
    monkeypatch.setattr(results, "fit", lambda *_, **__: pytest.fail("fitted again"))
    monkeypatch.setattr(
        results.imported, "diagnosis_of", lambda *_, **__: pytest.fail("diagnosed again")
    )
    app.slider(key="c").set_value(0.37).run()
    assert not app.exception
    assert "c = 0.37" in said(app)


def test_the_navigation_has_the_page_and_not_its_old_address():
    app = AppTest.from_file(str(Path(__file__).resolve().parents[1] / "app.py"), default_timeout=60)
    app.run()
    assert "Import" in [link.proto.label for link in app.get("page_link")]
    assert "Read a log" not in [link.proto.label for link in app.get("page_link")]


def test_equal_logs_have_equal_keys_and_others_do_not():
    first, again, other = (sources.pasted(text) for text in ("a b", "a b", "a c"))
    assert first == again
    assert first != other
    assert sources.pasted(" \n") is None
    assert Given(name="x", key="k", content=b"1") == Given(name="x", key="k", content=b"2")
