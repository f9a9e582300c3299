"""llama.cpp's lines about an adaptive draft depth."""

import pytest

from real_runs.engines import MetricsFormatError, read_text
from simulator import AcceptanceTable, AcceptanceTotals

ADAPTIVE = """\
2.07.530.515 I spec       accept: adaptive draft depth seq 0: 7 -> 6 (n_draft=7, n_accepted=4, n_cur=6, n_climb=0, n_drop=0, cur_accepted=8096, cur_generated=11029, cur_drop=-2933)
2.08.078.865 I spec       accept: adaptive draft depth seq 0: 6 -> 7 (n_draft=6, n_accepted=6, n_cur=7, n_climb=0, n_drop=0, cur_accepted=8134, cur_generated=11083, cur_drop=-2949)
2.12.079.450 I spec       accept: adaptive draft depth seq 0: 5 -> 6 (n_draft=5, n_accepted=5, n_cur=6, n_climb=0, n_drop=0, cur_accepted=8381, cur_generated=11488, cur_drop=-3107)"""  # noqa: E501 — as printed


def test_adaptive_lines_give_counters_and_a_sample_of_rounds():
    counters, sample = read_text(ADAPTIVE)  # llama.cpp pull request 27210

    assert counters.counts == AcceptanceTotals(
        drafted=11488, accepted=8381, length_rule="scheduled"
    )
    assert any("the depth looks back at what was kept" in note for note in counters.notes)
    assert counters.counts.accepted_fraction == pytest.approx(0.7295, abs=5e-5)
    assert counters.gamma is None
    assert sample.counts == AcceptanceTable(
        rounds=3,
        drafted=18,
        tested=(3, 3, 3, 3, 3, 1, 0),
        accepted=(3, 3, 3, 3, 2, 1, 0),
        length_rule="unknown",
    )
    assert sample.units[0].steps == ((7, 4), (6, 6), (5, 5))
    assert any("no fair sample" in note for note in sample.notes)


def test_adaptive_counters_with_a_draft_that_was_cut_have_no_known_length_rule():
    first, second, _ = ADAPTIVE.splitlines()
    counters, _ = read_text(
        f"{first}\n{second.replace('n_draft=6', 'n_draft=5').replace('n_accepted=6', 'n_accepted=5')}"
    )
    assert counters.counts.length_rule == "unknown"
    assert any(note.startswith("1 draft told is shorter than") for note in counters.notes)

    counters, _ = read_text(first.replace("7 -> 6 ", ""))
    assert counters.counts.length_rule == "unknown"


def test_counters_of_several_sequences_are_summed():
    first, second, _ = ADAPTIVE.splitlines()
    counters, _ = read_text(f"{first}\n{second.replace('seq 0', 'seq 1')}")

    assert (counters.counts.drafted, counters.counts.accepted) == (11029 + 11083, 8096 + 8134)
    assert [unit.name for unit in counters.units] == ["seq 0", "seq 1"]


def test_counters_that_fall_are_told():
    first, _, last = ADAPTIVE.splitlines()
    counters, _ = read_text(f"{last}\n{first}")

    assert counters.counts.drafted == 11029
    assert any("The counters fell once" in note for note in counters.notes)


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("n_accepted=4", "n_accepted=8", r"accepted \(8\) is above drafted \(7\)"),
        ("cur_accepted=8096, ", "", "the line has no 'cur_accepted'"),
        ("n_draft=7", "n_draft=700", "a draft of more than 256 tokens"),
    ],
)
def test_adaptive_lines_that_cannot_be_are_told(old, new, reason):
    line = ADAPTIVE.splitlines()[0]
    assert old in line
    with pytest.raises(MetricsFormatError, match=reason):
        read_text(line.replace(old, new), engine="llama.cpp")
