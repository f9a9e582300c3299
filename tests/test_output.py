"""Reports in their three forms."""

from __future__ import annotations

import json

import pytest

from analysis.output import Format, Report, Section, as_text, emit, to_csv, to_json
from simulator import AcceptanceTable

TABLE = AcceptanceTable(rounds=10, drafted=20, tested=(10, 7), accepted=(7, 5))


def report(**changes):
    fields = {
        "command": "predict",
        "parameters": (("p", 0.7), ("seed", 0), ("gamma", None)),
        "sections": (
            Section(
                name="by_gamma", columns=("gamma", "speedup"), rows=((1, 1.5), (2, float("nan")))
            ),
            Section(name="more", columns=("x",), rows=(("a",),)),
        ),
        "headline": "Pays.",
        "notes": ("an equivalent",),
        "table": TABLE,
    }
    return Report(**{**fields, **changes})


def test_json_is_strict_and_complete():
    document = json.loads(to_json(report()), parse_constant=pytest.fail)

    assert document["schema_version"] == 1
    assert document["by_gamma"][1] == {"gamma": 2, "speedup": None}
    assert document["more"] == [{"x": "a"}]
    assert document["table"]["tested"] == [10, 7]
    assert document["notes"] == ["an equivalent"]


def test_csv_holds_the_first_section():
    assert to_csv(report()) == "gamma,speedup\n1,1.5\n2,\n"


@pytest.mark.parametrize("output", list(Format))
def test_data_goes_to_stdout_and_remarks_to_stderr(output, capsys):
    emit(report(), output)

    captured = capsys.readouterr()
    assert "1.5" in captured.out
    if output is Format.JSON:
        assert not captured.err
    else:
        assert "Pays." not in captured.out
        assert "Pays." in captured.err
        assert "note: an equivalent" in captured.err
        assert "[p 0.7, seed 0]" in captured.err


def test_columns_too_wide_for_a_terminal_stay_in_json(capsys):
    section = Section(name="s", columns=("a", "b"), rows=(("kept", "left out"),), too_wide=("b",))

    emit(report(sections=(section,)), Format.TABLE)

    assert "left out" not in capsys.readouterr().out
    assert "left out" in to_json(report(sections=(section,)))


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (True, "yes"),
        (1_234_567, "1,234,567"),
        (0.0, "0.0000"),
        (2.77310, "2.7731"),
        (3.2e-7, "3.2e-07"),
        (float("nan"), ""),
        (None, ""),
        ("as it is", "as it is"),
    ],
)
def test_cells_as_people_read_them(cell, text):
    assert as_text(cell) == text


@pytest.mark.parametrize("output", list(Format))
def test_what_a_log_holds_cannot_steer_a_terminal(output, capsys):
    evil = "m\x1b]0;title\x07\x9b2J\u202e"
    said = report(
        parameters=(("target", evil),),
        sections=(Section(name="one", columns=("name", "x"), rows=((evil, 1),)),),
        headline=f"{evil}\nsecond line",
        notes=(evil,),
        table=None,
    )

    emit(said, output)

    printed = "".join(capsys.readouterr())
    assert not set(printed) & set("\x1b\x07\x9b\u202e")
    assert "second line" in printed
    assert printed.count("\ufffd") >= 4
