"""Where the costs and the acceptance of a command's drafts come from, and what is said of both."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import specdec

from analysis.cli_costs import Words
from analysis.cli_deployments import default_batches, deployments_of
from analysis.predicted_pass import predict_pass
from simulator import HitMiss

HERE = Path(__file__).parent
RUN, LOGS = HERE / "runs" / "tiny_pair", HERE / "logs"
SERVED = {"target": "llama-3.1-8b", "hardware": "h100"}
WEIGHTS, COMPUTE = 0.004, 2e-5


@pytest.fixture
def steps(tmp_path):
    """Times of a pass that is known: 4 ms, 20 µs per token, 10 ns per token of context."""
    rows = [
        f"{b},{n},{s},{WEIGHTS + COMPUTE * b * n + 1e-8 * b * s}"
        for b in (1, 4, 16)
        for n in (1, 2, 4, 8)
        for s in (128, 1024)
    ]
    file = tmp_path / "steps.csv"
    file.write_text("\n".join(["batch,tokens,context,seconds", *rows]))
    return file


def built(*drafts, **options):
    found, costs = deployments_of(Words(drafts=drafts, **options))
    return found, costs


def refused(*drafts, **options):
    with pytest.raises(ValueError, match=r"\.$") as error:
        built(*drafts, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_predicted_passes_are_those_of_the_machine():
    (found,), costs = built("eagle p=0.7", **SERVED, weight_bits=8.0, kv_bits=8.0)
    assert costs.architecture is not None
    assert found.target == predict_pass(
        costs.architecture, costs.machine, weight_bits=8.0, kv_bits=8.0
    )
    assert found.memory.target_bytes == costs.architecture.parameters
    assert "80% of the bandwidth and 60% of the arithmetic of H100 SXM" in costs.notes[0]
    how = "reading and computing one after the other (k = 1), 20 µs per layer and 0.2 ms per pass."
    assert how in costs.notes[0]
    for overlap, words in (("inf", "at once (k = inf)"), ("3", "partly at once (k = 3)")):
        _, costs = built("eagle p=0.7", **{**SERVED, "hardware": f"h100 overlap={overlap}"})
        assert f"reading and computing {words}" in costs.notes[0]
    assert costs.outside((1, 256), 1024, 16) == ()


def test_measured_steps_alone_price_ratios_and_lookups(steps):
    (chain, lookup), costs = built("chain cost_ratio=0.1 p=0.7 round_s=0.001", "lookup p=0.4",
                                   steps=steps)  # fmt: skip
    plain = WEIGHTS + COMPUTE * 4 + 1e-8 * 4 * 1024
    assert float(chain.target.seconds(4, 1, 1024)) == pytest.approx(plain, rel=1e-6)
    assert chain.drafting.seconds(3, 4, 1024) == pytest.approx(0.3 * plain + 0.001, rel=1e-6)
    assert lookup.drafting.seconds(3, 4, 1024) == 0.0
    assert chain.memory is lookup.memory is None
    assert default_batches((chain, lookup), costs, 1024) == (1, 2, 4, 8, 16)  # as far as measured
    assert costs.outside((1, 16), 1024, 7) == ()
    for beyond in (((1, 32), 1024, 7), ((1, 16), 2048, 7), ((1, 16), 1024, 8)):
        (note,) = costs.outside(*beyond)
        assert "measured at batch 1 to 16, tokens 1 to 8, context 128 to 1024" in note


def test_a_draft_whose_pass_does_not_follow_is_refused(steps):
    said = refused("eagle p=0.7", steps=steps)
    assert said.startswith("what a pass of 'eagle' takes does not follow from --steps alone")


def test_steps_with_a_model_and_a_machine_fit_what_is_reached_of_it(steps):
    (found,), costs = built("eagle p=0.7", steps=steps, **SERVED)
    assert costs.fitted is not None
    assert costs.machine == costs.fitted.machine
    assert found.target == costs.fitted.cost
    assert default_batches((found,), costs, 1024) == tuple(2**n for n in range(9))
    assert costs.outside((1, 256), 1024, 4)


def test_measured_draft_steps_belong_to_the_only_draft_that_has_passes():
    (draft, lookup), costs = built("tiny-draft p=0.7", "lookup p=0.3", steps=RUN)
    assert draft.drafting.step == costs.fitted.draft_step
    assert lookup.drafting.step is None
    assert any(note.startswith("tiny-draft: its steps take what the") for note in costs.notes)
    (same,), _ = built("tiny-draft p=0.7", steps=RUN, target="tiny", hardware="cpu")
    assert same.drafting.shape == "chain"
    assert same.memory.draft_bytes > 0
    assert "does not follow" in refused("tiny-draft p=0.7", "mtp p=0.3", steps=RUN)
    two, costs = built("tiny-draft p=0.7", "mtp p=0.3", steps=RUN, target="tiny", hardware="cpu")
    assert not any("its steps take" in note for note in costs.notes)
    assert all(each.drafting.step != costs.fitted.draft_step for each in two)


def test_a_ratio_beside_a_machine_keeps_the_targets_memory():
    (chain, free), costs = built("chain cost_ratio=0.1 p=0.7", "lookup p=0.1", **SERVED)
    assert chain.memory == free.memory
    assert chain.memory.draft_bytes == 0.0
    assert chain.drafting.step == costs.target.scaled(0.1)
    assert chain.method == "draft_model"
    most = chain.most_requests(4000, drafting=False)
    assert default_batches((chain,), costs, 4000)[-1] <= most < 2 * 64
    with pytest.raises(ValueError, match="not even one request of 90,000,000 tokens fits"):
        default_batches((chain,), costs, 90_000_000)


def test_names_repeat_with_numbers_and_drafts_keep_their_order():
    found, costs = built("eagle p=0.7 path=a/b", "eagle p=0.6", "eagle p=0.5", **SERVED)
    assert [each.name for each in found] == ["eagle", "eagle (2)", "eagle (3)"]
    assert [draft.path for draft in costs.drafts] == ["a/b", None, None]


def test_a_draft_of_another_vocabulary_is_told():
    (_,), costs = built("qwen3-0.6b p=0.7", **SERVED)
    assert any("151,936 tokens and the target's 128,256" in note for note in costs.notes)
    (_,), costs = built("llama-3.2-1b p=0.7", **SERVED)
    assert not any("vocabulary" in note for note in costs.notes)


def test_what_a_draft_says_of_its_acceptance_wins_over_what_is_said_for_all():
    (own, all_), _ = built("eagle p=0.9", "mtp", p=0.5, **SERVED)
    assert own.acceptance.process.p == 0.9
    assert all_.acceptance.process.p == 0.5
    (depths,), _ = built("eagle", by_depth="0.8,0.6", **SERVED)
    assert depths.acceptance.tokens_per_round(2).value == pytest.approx(1 + 0.8 + 0.8 * 0.6)
    (own,), _ = built("eagle by_depth=0.8,0.6", **SERVED)
    assert own.acceptance.tokens_per_round(2).value == pytest.approx(1 + 0.8 + 0.8 * 0.6)


def test_a_share_of_rounds_with_a_draft():
    (found,), _ = built("lookup p=0.5 coverage=0.4", **SERVED)
    assert found.acceptance.process == HitMiss(coverage=0.4, right=1.0, p_right=0.5, p_wrong=0.5)
    assert found.acceptance.tokens_per_round(2).value == pytest.approx(1 + 0.4 * (0.5 + 0.25))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("tokens_per_round=2.5", 2.5), ("accepted_fraction=0.5", 1 + 0.5 * 3)],
)
def test_a_mean_and_its_draft_length(text, tokens):
    (found,), costs = built(f"eagle {text} measured_gamma=3", **SERVED)
    assert found.acceptance.tokens_per_round(3).value == pytest.approx(tokens)
    assert any(note.startswith("eagle: There is one mean only") for note in costs.notes)


@pytest.mark.parametrize(
    ("drafts", "options", "sentence"),
    [
        ((), {}, "--draft must be given at least once"),
        (("eagle",), {}, "the acceptance of 'eagle' must be given once"),
        (
            ("eagle",),
            {},
            "'eagle p=0.7', or 'accepted_fraction=0.24 measured_gamma=5' for the rate",
        ),
        (("eagle",), {"p": 0.7, "by_depth": "0.5"}, "got 2 of them"),
        (("eagle p=0.7 by_depth=0.5",), {}, "got 2 of them"),
        (("eagle p=0.7",), {"p": 0.5}, "--p is for drafts that say no acceptance of their own"),
        (("eagle p=0.7",), {"log": RUN}, "--log is for drafts that say no acceptance"),
        (("eagle p=0.7",), {"log_gamma": 3}, "--log-gamma belongs to --log FILE; got it alone."),
        (("eagle", "mtp"), {"log": Path("-")}, "stdin (-) must be the log of one draft only"),
        (("eagle p=0.7 engine=vllm",), {}, "--draft: engine belongs to log; got it alone."),
        (("eagle p=0.7 measured_gamma=3",), {}, "--draft: measured_gamma belongs to tokens_per"),
        (("eagle coverage=0.3 by_depth=0.5",), {}, "--draft: coverage belongs to p"),
        (("eagle tokens_per_round=2",), {}, "--draft: measured_gamma must be given with a mean"),
        (("eagle tokens_per_round=9 measured_gamma=3",), {}, "--draft: tokens_per_round"),
        (("eagle p=1.5",), {}, "--draft: p must be a number in [0, 1]; got 1.5."),
        (("eagle",), {"p": 1.5}, "--p: p must be a number in [0, 1]; got 1.5."),
        (("eagle",), {"by_depth": "1.5"}, "--by-depth: "),
        (("lookup p=0.5 coverage=2",), {}, "--draft: coverage"),
    ],
)
def test_acceptance_is_given_once_and_what_belongs_to_nothing_is_refused(drafts, options, sentence):
    assert sentence in refused(*drafts, **options, **SERVED)


@pytest.mark.parametrize(
    ("given", "missing"),
    [({"target": "tiny"}, "--hardware"), ({"hardware": "cpu"}, "--target")],
)
def test_target_and_hardware_come_together(given, missing):
    said = refused("lookup p=0.1", **given)
    assert said == f"--target and --hardware must be given together; {missing} is missing."


def test_nothing_to_price_with():
    assert refused("lookup p=0.1").startswith("give --target and --hardware, or measured step")


def test_a_log_is_fitted_and_its_notes_are_told():
    (own,), costs = built(f"eagle log={LOGS / 'vllm_v1.log'} engine=vllm", **SERVED)
    (shared,), _ = built("eagle", log=LOGS / "vllm_v1.log", **SERVED)
    assert own.acceptance.process == shared.acceptance.process
    assert own.acceptance.rounds == shared.acceptance.rounds > 0
    assert any(
        note.startswith("eagle: acceptance fitted to ") and "408 rounds" in note
        for note in costs.notes
    )
    (run,), costs = built("tiny-draft", log=RUN, target="tiny", hardware="cpu")
    assert run.acceptance.unit == "requests"
    assert any("nly 8 requests" in note for note in costs.notes)


def test_the_seed_draws_the_prompts_behind_the_intervals():
    def low(seed):
        (found,), _ = built("eagle", log=RUN, seed=seed, **SERVED)
        return found.acceptance.tokens_per_round(4).interval[0]

    assert low(0) == low(0)
    assert low(0) != low(1)


def test_a_log_with_several_readings_and_no_draft_length(tmp_path):
    log, alone = LOGS / "llamacpp_server.log", tmp_path / "statistics.log"
    text = log.read_text(encoding="utf-8")
    alone.write_text(text[text.rindex("statistics") :], encoding="utf-8")
    layout = "layout='statistics of draft-eagle3'"
    (usual,), costs = built(f"eagle log={log}", **SERVED)
    (same,), _ = built(f"eagle log={log} {layout}", **SERVED)  # its requests say the draft length
    (other,), _ = built(f"eagle log={alone}", **SERVED)
    (told,), _ = built(f"eagle log={alone} log_gamma=5", **SERVED)
    assert [each.acceptance.measured for each in (usual, same, other, told)] == [3, 3, 0, 5]
    assert any("holds several readings" in note for note in costs.notes)


def test_a_log_from_stdin_and_logs_that_are_none(tmp_path):
    plan = ("plan", "--target", "llama-3.1-8b", "--hardware", "h100", "--draft", "eagle")
    text = (LOGS / "vllm_v1.log").read_bytes()
    piped = specdec(*plan, "--log", "-", "--format", "csv", stdin=text)
    read = specdec(*plan, "--log", str(LOGS / "vllm_v1.log"), "--format", "csv")
    assert piped.returncode == 0, piped.stderr
    assert piped.stdout == read.stdout
    for name, content, code in (("empty.log", b"", 3), ("noise.log", bytes(range(256)) * 50, 3)):
        file = tmp_path / name
        file.write_bytes(content)
        result = specdec(*plan, "--log", str(file))
        assert (result.returncode, result.stdout) == (code, "")
        assert result.stderr.startswith("Error: ")
        assert result.stderr.count("\n") == 1
    missing = specdec(*plan, "--log", str(tmp_path / "none.log"))
    assert missing.returncode == 2
    assert missing.stderr.endswith("none.log: No such file or directory.\n")
    broken = tmp_path / "steps.csv"
    broken.write_text("batch,tokens,context,seconds\n1,1,1,-3\n")
    wrong = specdec("plan", "--steps", str(broken), "--draft", "lookup p=0.5")
    assert (wrong.returncode, wrong.stdout) == (3, "")
    assert "line 2: seconds must be" in wrong.stderr


@pytest.fixture
def rounds(tmp_path):
    """Rounds of SGLang's sweep at batch 1: 6 ms, 20 µs per token verified, 0.6 ms per draft step."""
    rows = [
        {
            "batch_size": 1, "steps": k, "topk": 1, "num_draft_tokens": k + 1, "acc_length": 1.9,
            "step_time": 0.006 + COMPUTE * (k + 1) + 0.0006 * k, "completion_tokens": 1000,
        }
        for k in (1, 2, 3, 5, 7)
    ]  # fmt: skip
    file = tmp_path / "rounds.jsonl"
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def test_drafting_within_the_measured_passes_is_counted_once(rounds):
    (found,), costs = built("eagle p=0.7", steps=rounds)
    by_hand = (0.006 + COMPUTE) * 2.7731 / (0.006 + 5 * COMPUTE + 4 * 0.0006)
    assert found.parts(4).speedup.value == pytest.approx(by_hand, rel=1e-3)
    assert "eagle: its drafting is within the passes" in costs.notes[-1]


@pytest.mark.parametrize(
    "drafts", [("chain cost_ratio=0.1",), ("eagle", "mtp"), ("eagle", "lookup")]
)
def test_it_is_refused_for_any_other_draft(rounds, drafts):
    assert "price the one draft that was measured" in refused(*drafts, steps=rounds, p=0.7)


def test_the_context_of_a_file_that_has_none_is_the_one_that_is_asked_for(rounds):
    _, costs = built("eagle p=0.7", steps=rounds, context=2000)
    assert costs.fitted.ranges.context == (2000, 2000)
    assert any("2000 are taken" in note for note in costs.notes)
