"""The experiment on families: a small run of it end to end, and what is kept of the real one."""

from __future__ import annotations

import csv
import sys
from dataclasses import replace
from importlib.resources import files

import pytest
import torch

from real_runs.runs.errors import RunFolderError
from real_runs.tiny import families, families_judging
from real_runs.tiny.architecture import CONTEXT, build_model
from real_runs.tiny.corpus import CorpusFile
from real_runs.tiny.families_results import (
    DRAFTS,
    PROMPTS,
    FamilyRecipe,
    read_results,
    write_results,
    write_tables,
)
from real_runs.tiny.families_training import choose_windows, teach, train_draft, write_behind
from real_runs.tiny.train import held_out_loss

KINDS = ["own", "own, short", "mixture", "written", "taught", "python", "python, taught", "prose"]
SMALL = FamilyRecipe(
    steps=3, short_steps=1, batch=1, windows=2, seeds=(1, 2), opening=500, prompt_tokens=9, places=6
)


@pytest.fixture
def small_world(monkeypatch):
    """A target with random weights and texts of a few kilobytes in place of Python's."""
    torch.manual_seed(0)
    target = build_model("draft").eval()
    held_out = b"abc = 1  # one line of many\n" * 200
    file = CorpusFile(path="held.py", size=len(held_out), sha256="", held_out=True)
    monkeypatch.setattr(families, "load", lambda _: target)
    for module in (families, families_judging):
        monkeypatch.setattr(module, "read_manifest", lambda: (file,))
        monkeypatch.setattr(module, "read_file", lambda _: held_out)
    monkeypatch.setattr(families, "own_texts", lambda **_: [b"def own(): pass\n" * 100])
    monkeypatch.setattr(families, "strange_texts", lambda kind, **_: [f"{kind} ".encode() * 300])
    return target


@pytest.mark.usefixtures("small_world")
def test_a_small_run_from_texts_to_tables(tmp_path, monkeypatch):
    out = tmp_path / "results.json"
    monkeypatch.setattr(sys, "argv", ["families", "--out", str(out)])
    monkeypatch.setattr(families, "FamilyRecipe", lambda: SMALL)
    families.main()
    results = read_results(out)
    assert [text.kind for text in results.texts] == KINDS
    assert len({text.sha256 for text in results.texts}) == 5  # own, mixture, written, python, prose
    assert [(d.kind, d.seed) for d in results.drafts] == [(k, s) for k in KINDS for s in (1, 2)]
    assert {d.steps for d in results.drafts if d.kind != "own, short"} == {3}
    for draft in results.drafts:
        assert len(draft.prompts) == 3
        for row in draft.prompts:
            assert row.places == row.greedy_places == 6
            assert 0.0 < row.overlap < 6.0
            assert 0 <= row.agreed <= 6
            assert row.rounds <= row.tokens <= 5 * row.rounds
            assert row.greedy_rounds <= row.greedy_tokens <= 5 * row.greedy_rounds
    by_kind = {d.kind: d.prompts for d in results.drafts if d.seed == 1}
    assert len({tuple(row.overlap for row in rows) for rows in by_kind.values()}) == 8

    monkeypatch.setattr(sys, "argv", ["families", "--out", str(out), "--tables", str(tmp_path)])
    families.main()
    with (tmp_path / PROMPTS).open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 8 * 2 * 3
    assert float(rows[0]["overlap"]) == results.drafts[0].prompts[0].overlap


@pytest.mark.usefixtures("small_world")
def test_the_same_seeds_give_the_same_run():
    one, again, other = (
        families.run_families(replace(SMALL, seeds=(seed,))).drafts for seed in (1, 1, 2)
    )
    assert one == again
    assert {draft.held_out_loss for draft in one}.isdisjoint(d.held_out_loss for d in other)


def test_the_target_keeps_all_that_it_drafts_itself(small_world):
    pairs = zip(
        *(families_judging.judged_texts(small_world, SMALL, greedy=each) for each in (False, True)),
        strict=True,
    )
    for sampled, greedy in pairs:
        row = families_judging.judge(small_world, sampled, greedy, SMALL)
        assert row.overlap == pytest.approx(row.places, abs=1e-4)
        assert row.agreed == row.greedy_places
        assert row.tokens / row.rounds == pytest.approx(5.0, abs=1e-4)
        assert row.greedy_tokens == 5 * row.greedy_rounds


def test_a_text_ends_behind_its_separator():
    text = torch.tensor([5, 256, 7, 256, 8, 256]).numpy()
    assert families_judging._until_separator(text, 2).tolist() == [5, 256, 7, 256]
    assert families_judging._until_separator(text[:3], 2).tolist() == [5, 256, 7]


def test_windows_do_not_overlap_and_are_not_invented():
    tokens = torch.arange(5 * (CONTEXT + 1) + 7)
    windows = choose_windows(tokens, 5, seed=0)
    assert torch.equal(windows.flatten(), tokens[: windows.numel()])
    assert choose_windows(tokens, 2, seed=0).shape == (2, CONTEXT + 1)
    with pytest.raises(ValueError, match=r"windows must be at most 5.*got 6"):
        choose_windows(tokens, 6, seed=0)


def test_a_draft_learns_what_it_is_taught_or_else_the_text():
    """The text says 9 throughout, the target half 7 and half 8."""
    windows = torch.full((1, CONTEXT + 1), 9)
    taught = torch.zeros(1, CONTEXT, 257, dtype=torch.float16)
    taught[..., 7:9] = 0.5
    for lessons, wanted in ((taught, [0.5, 0.5, 0.0]), (None, [0.0, 0.0, 1.0])):
        draft = train_draft(windows, SMALL, seed=3, steps=60, taught=lessons)
        found = teach(draft, windows)[0, :, 7:10].float().mean(dim=0)
        assert found.tolist() == pytest.approx(wanted, abs=0.2)


def test_a_model_writes_the_same_from_the_same_seed():
    torch.manual_seed(0)
    model = build_model("draft").eval()
    prompts = torch.tensor([[256, 1], [256, 2]])
    texts = [write_behind(model, prompts, 20, seed=seed) for seed in (1, 1, 2, None)]
    assert torch.equal(texts[0], texts[1])
    assert not torch.equal(texts[0], texts[2])
    assert torch.equal(texts[0][:, :2], prompts)
    with torch.inference_mode():
        wanted = model(input_ids=texts[3][:, :-1]).logits[:, 1:].argmax(-1)
    assert torch.equal(texts[3][:, 2:], wanted)


def test_a_text_that_a_draft_learnt_is_less_of_a_surprise():
    text = [b"abcdefgh" * 200]
    windows = torch.frombuffer(bytearray(text[0][: CONTEXT + 1]), dtype=torch.uint8).long()[None]
    learnt = train_draft(windows, SMALL, seed=1, steps=12)
    fresh = train_draft(windows, SMALL, seed=1, steps=1)
    assert held_out_loss(learnt, text) < held_out_loss(fresh, text) - 0.5


def test_the_tables_of_the_analysis_are_those_of_the_kept_results(tmp_path):
    write_tables(read_results(), tmp_path)
    for name in (DRAFTS, PROMPTS):
        kept = (files("analysis") / "data" / name).read_text(encoding="utf-8")
        assert (tmp_path / name).read_text(encoding="utf-8") == kept


def test_the_kept_results_are_those_of_the_recipe():
    results = read_results()
    assert results.recipe == FamilyRecipe()
    assert [text.kind for text in results.texts] == KINDS
    assert {text.tokens for text in results.texts} == {results.recipe.windows * (CONTEXT + 1)}
    assert results.target_sha256 == families.find_source("tiny").sha256()
    assert {d.parameters for d in results.drafts} == {build_model("draft").num_parameters()}
    assert all(results.target_loss < d.held_out_loss for d in results.drafts)
    places = [[(row.path, row.offset, row.places) for row in d.prompts] for d in results.drafts]
    assert all(each == places[0] for each in places)


def test_changed_results_are_refused(tmp_path):
    path = tmp_path / "results.json"
    write_results(read_results(), path)
    content = path.read_bytes()
    path.write_bytes(content.replace(b'"agreed":', b'"agreeb":', 1))
    with pytest.raises(RunFolderError, match="was changed"):
        read_results(path)
