"""`specdec measure --peer` as a user calls it, on small untrained models, and what its report computes."""

from __future__ import annotations

import json

import pytest
from commands import specdec

from analysis.runs.peer_report import peer_report
from analysis.runs.peer_summary import summarize_peer
from real_runs.peers import comparing
from real_runs.peers.result import PEER_FILE, Counts, PeerRequest, Stage, Turn, read_peer
from real_runs.runs.reading import HEADER
from simulator import AcceptanceTable


@pytest.fixture
def arguments(measure_small, tmp_path):
    peer = ("--peer", "transformers", "--dtype", "float64")
    return [*measure_small, *peer, "--out", str(tmp_path / "both")]


def test_both_loops_are_measured_and_agree(arguments, tmp_path):
    result = specdec(*arguments, "--format", "json")
    assert result.returncode == 0, result.stderr
    document = json.loads(result.stdout)
    assert [row["gamma"] for row in document["speed"]] == [1, 3]
    assert all(row["same text"] == row["requests"] == 2 for row in document["speed"])
    assert [row["unexplained rounds"] for row in document["loops"]] == [None, 0, None, 0]
    *_, last, peer = (row for row in document["from_ours_to_the_peer"] if row["gamma"] == 3)
    assert last["counted"] == "with its end of drafts"
    assert {**last, "counted": ""} == {**peer, "counted": ""}
    for row in document["time"]:
        parts = row["target_s"] + row["draft_s"] + row["outside_s"]
        assert parts == pytest.approx(row["total_s"])
        assert 0.0 < row["prompt_s"] < row["total_s"]
    assert "0 of the peer's" in document["headline"]
    names = [row["counted"].removeprefix("with ") for row in document["from_ours_to_the_peer"][1:3]]
    assert all(any(note.startswith(f"{n}: ") for note in document["notes"]) for n in names)
    folder = tmp_path / "both"
    assert [entry.name for entry in folder.iterdir()] == [PEER_FILE]
    assert str(tmp_path) not in (folder / PEER_FILE).read_text()
    found = read_peer(folder)
    assert (found.peer, len(found.requests), found.settings.threads) == ("transformers", 4, 1)

    again = specdec(*arguments)
    assert again.returncode == 2
    assert "holds a peer.json already" in again.stderr

    printed = specdec("report", str(folder), "--format", "json")
    assert printed.returncode == 0, printed.stderr
    assert json.loads(printed.stdout) == {**document, "command": "report"}
    for more in ([str(folder)], ["--figure", str(tmp_path / "figure.png")]):
        refused = specdec("report", str(folder), *more)
        assert refused.returncode == 2
        assert "holds a comparison of `measure --peer`: give it alone" in refused.stderr
    (folder / PEER_FILE).write_text("{}")
    damaged = specdec("report", str(folder))
    assert damaged.returncode == 3
    assert "carries no checksum" in damaged.stderr


def test_prompt_lookup_sampled_has_no_rounds_to_agree_in(small_target_folder, two_texts, tmp_path):
    result = specdec(
        *("measure", "--peer", "transformers", "--target", str(small_target_folder)),
        *("--drafter", "prompt_lookup", "--gamma", "2", "--prompts", str(two_texts)),
        *("--max-tokens", "6", "--temperature", "1", "--threads", "1"),
        *("--out", str(tmp_path / "sampled")),
    )
    assert result.returncode == 0, result.stderr
    assert "agree in law only" in result.stderr
    assert "with its search" in result.stdout


def test_a_peer_that_drafts_otherwise_ends_the_command_with_1(arguments, monkeypatch, tmp_path):
    from real_runs.peers.generating import Generating  # noqa: PLC0415 — needs torch

    turn = Generating.turn
    monkeypatch.setattr(
        Generating,
        "turn",
        lambda self, prompt, *, gamma, **rest: turn(self, prompt, gamma=gamma - 1, **rest),
    )
    result = specdec(*arguments, "--gamma", "3")
    assert result.returncode == 1
    assert "are left unexplained" in result.stderr
    assert " 0 of the peer's" not in result.stderr
    assert "--dtype float64" not in result.stderr  # it was given

    again = ("--gamma", "3", "--dtype", "float32", "--out", str(tmp_path / "again"))
    result = specdec(*arguments, *again)
    assert result.returncode == 1
    assert "rounding can change a draft, too: --dtype float64 shows" in result.stderr


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--drafter", "medusa"), "drafter must be draft_model or prompt_lookup"),
        (("--drafter", "lookahead"), "drafter must be draft_model or prompt_lookup"),
        (("--tree", "nodes:8"), "got tree nodes:8"),
        (("--stop", "confidence:0.4"), "stop must be fixed"),
        (("--rule", "sample_and_match"), "rule must be greedy"),
        (("--temperature", "1", "--top-p", "0.9"), "top_k, top_p and min_p"),
        (("--order", "vllm"), "order must be transformers"),
        (("--allow-lossy",), "allow_lossy must be off"),
        (("--resume",), "--resume must be left out"),
        (("--peer", "vllm"), "--peer must be one of transformers; got 'vllm'"),
        (("--drafter", "prompt_lookup"), "draft must not be given"),
        (("--gamma", "0"), "gamma must be"),
    ],
)
def test_what_the_peer_cannot_do_is_refused_in_one_sentence(arguments, options, said, tmp_path):
    result = specdec(*arguments, *options)
    assert result.returncode == 2
    assert said in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "both").exists()


def test_a_comparison_is_not_written_beside_a_run(arguments, tmp_path):
    (tmp_path / "both").mkdir()
    (tmp_path / "both" / HEADER).write_text("{}")
    result = specdec(*arguments)
    assert result.returncode == 2
    assert "holds a run; choose another folder" in result.stderr


def test_an_interrupted_comparison_leaves_nothing(arguments, monkeypatch, tmp_path):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(comparing, "compare_loaded", interrupt)
    result = specdec(*arguments)
    assert result.returncode == 130
    assert "nothing is kept" in result.stderr
    assert not (tmp_path / "both").exists()


def turn(tokens, first_tokens, first_ns, total_ns, accepted):
    rounds = len(accepted)
    table = AcceptanceTable(
        rounds=rounds, drafted=rounds, tested=(rounds,), accepted=(sum(accepted),)
    )
    return Turn(
        tokens=tuple(range(tokens)),
        first_tokens=first_tokens,
        first_ns=first_ns,
        total_ns=total_ns,
        target_passes=rounds,
        target_ns=total_ns // 2,
        draft_passes=rounds,
        draft_ns=total_ns // 4,
        counts=Counts(
            drafted=(1,) * rounds,
            accepted=tuple(accepted),
            emitted=tuple(1 + each for each in accepted),
            table=table,
        ),
    )


def request(prompt, ours, peer):
    return PeerRequest(
        prompt=prompt,
        gamma=1,
        repeat=0,
        prompt_tokens=3,
        ours_first=True,
        ours=ours,
        peer=peer,
        stages=(Stage(name="all", counts=ours.counts),),
    )


def test_ratios_are_of_sums_and_their_intervals_over_prompts():
    # ours: 4 + 6 tokens in 2 s + 2 s; the peer's: 5 + 5 in 4 s + 6 s
    requests = [
        request("a", turn(4, 1, 10**9, 2 * 10**9, (1, 0)), turn(5, 2, 10**9, 4 * 10**9, (1, 1))),
        request("b", turn(6, 1, 10**9, 2 * 10**9, (1, 1)), turn(5, 2, 10**9, 6 * 10**9, (0, 0))),
    ]
    (summary,) = summarize_peer(requests, rng=0)
    assert summary.ratio.value == pytest.approx((10 / 4) / (10 / 10))
    assert summary.decode_ratio.value == pytest.approx((8 / 2) / (6 / 8))
    assert (summary.ours.tokens_per_s, summary.peer.tokens_per_s) == (2.5, 1.0)
    assert (summary.ours.p.value, summary.peer.p.value) == (0.75, 0.5)
    assert (summary.ours.tokens_per_round.value, summary.peer.tokens_per_round.value) == (1.75, 1.5)
    assert summary.ours.rest_s == pytest.approx(1.0)
    low, high = summary.ratio.interval
    assert low == pytest.approx((4 / 2) / (5 / 4))  # both draws are of the one prompt
    assert high == pytest.approx((6 / 2) / (5 / 6))
    assert (summary.same_text, summary.unexplained) == (0, 0)
    with pytest.raises(ValueError, match="got none"):
        summarize_peer([])

    report = peer_report((summary,), peer="other", greedy=True)
    assert "2.50×" in report.headline
    assert "with other a token takes +600,000 µs" in report.notes[0]
    assert (
        "in the target +300,000, in the draft +150,000, outside of the models +150,000"
        in (report.notes[0])
    )


def test_one_prompt_has_no_interval():
    one = turn(4, 1, 10**9, 2 * 10**9, (1, 0))
    (summary,) = summarize_peer([request("a", one, one)])
    assert (summary.ratio.value, summary.ratio.interval) == (1.0, None)
    assert (summary.same_text, summary.unexplained) == (1, 0)
    assert "1.00× the tokens" in peer_report((summary,), peer="other", greedy=True).headline
