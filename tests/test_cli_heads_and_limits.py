"""What a command says of the heads, limits and presets behind its numbers."""

from __future__ import annotations

import pytest
from commands import specdec

from analysis.cli_costs import Words
from analysis.cli_deployments import check_batches, deployments_of, limits
from analysis.predicted_pass import predict_pass

SERVED = {"target": "llama-3.1-8b", "hardware": "h100"}


def built(*drafts, **options):
    return deployments_of(Words(drafts=drafts, **options))


def test_a_head_is_what_its_word_says_and_a_note_says_what_is_assumed():
    (first, third), costs = built("eagle p=0.7", "eagle3 p=0.7", **SERVED)
    target = costs.architecture
    for found, words in ((first, target.vocabulary), (third, 32_000)):
        head = target.draft_head(vocabulary=words)
        assert found.drafting.step == predict_pass(head, costs.machine)
        assert found.memory.draft_bytes == 2 * head.parameters
        assert any(
            note.startswith(f"{found.name}: one layer, {words:,} words") for note in costs.notes
        )
    (_,), costs = built("eagle3 p=0.7 layers=1 vocabulary=32000", **SERVED)
    assert not any("assumed;" in note for note in costs.notes)
    (small,), _ = built("eagle3 p=0.7", target="tiny", hardware="cpu")
    (same,), _ = built("eagle p=0.7", target="tiny", hardware="cpu")
    assert small.memory == same.memory, "no more words than the target has"


def test_limits_name_the_memory_with_and_without_each_draft():
    found, _ = built("eagle p=0.7", "llama-3.2-1b p=0.7", **SERVED)
    plain = found[0].most_requests(1024, drafting=False)
    beside = [each.most_requests(1024) for each in found]
    (said,) = limits(found, 1024)
    assert said.endswith(
        f"{plain:.0f} without a draft, {beside[0]:.0f} with eagle, {beside[1]:.0f} with llama-3.2-1b."
    )
    assert plain > beside[0] > beside[1]
    check_batches(found, (1, int(plain)), 1024)
    with pytest.raises(ValueError, match=f"--batch must be at most {plain:.0f} .*with eagle"):
        check_batches(found, (1, int(plain) + 1), 1024)


def test_times_of_one_batch_without_arithmetic_do_not_tell_of_others(tmp_path):
    file = tmp_path / "flat.csv"
    rows = [f"1,{n},100,0.004" for n in (1, 2, 4, 8)] * 2
    file.write_text("\n".join(["batch,tokens,context,seconds", *rows]))
    _, costs = built("chain cost_ratio=0.1 p=0.7", steps=file, context=100)
    assert costs.target.compute_s == pytest.approx(0.0, abs=1e-12)  # BLAS decides how exactly
    (said,) = costs.outside((1, 64), 100, 7)
    assert said.startswith("V = 1 at every batch follows from times of batch 1 alone")
    assert costs.outside((1,), 100, 7) == ()
    rows = [f"1,{n},100,{0.004 + 1e-4 * n}" for n in (1, 2, 4, 8)] * 2
    file.write_text("\n".join(["batch,tokens,context,seconds", *rows]))
    _, costs = built("chain cost_ratio=0.1 p=0.7", steps=file, context=100)
    (said,) = costs.outside((1, 64), 100, 7)
    assert said.startswith("Passes were measured at batch 1, ")


@pytest.mark.parametrize(
    ("option", "line"),
    [("--hardware", "H100 SXM"), ("--target", "Llama 3.1 8B")],
)
def test_presets_are_listed(option, line):
    result = specdec("plan", option, "list")
    assert (result.returncode, result.stderr) == (0, "")
    lines = result.stdout.splitlines()
    assert any(each.startswith(line) for each in lines)
    assert lines[-1].startswith("or ")
    assert len({len(each) for each in lines[:-1]}) == 1


def test_the_help_shows_numbers_of_a_machine():
    shown = " ".join(specdec("plan", "--help").stdout.replace("│", " ").split())
    assert "operations_per_s=200TFLOP/s memory_bytes=24GB" in shown
