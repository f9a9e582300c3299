"""Whether a target and a draft speak of the same tokens."""

from __future__ import annotations

import pytest
from small_models import save_model

from real_runs.models.text import TextTokenizer, check_same_tokenizer
from real_runs.target import load_target
from real_runs.tiny.architecture import build_tokenizer


@pytest.fixture(scope="module")
def target(small_target_folder):
    return load_target(str(small_target_folder), dtype="float64")


@pytest.fixture(scope="module")
def draft(small_draft_folder):
    return load_target(str(small_draft_folder), dtype="float64")


def test_tokenizers_must_agree(target, draft):
    check_same_tokenizer(target.tokenizer, draft.tokenizer)
    bigger = build_tokenizer()
    bigger.add_tokens(["<|more|>", "<|yet|>"])
    with pytest.raises(
        ValueError,
        match=r"2 ids differ, first id 257: nothing for the target, '<\|more\|>' for the draft\.",
    ):
        check_same_tokenizer(target.tokenizer, TextTokenizer(bigger))


def test_swapped_tokens_are_seen(tmp_path, target):
    save_model(tmp_path)
    path = tmp_path / "tokenizer.json"
    content = path.read_text()
    assert '"A": 65' in content
    path.write_text(
        content.replace('"A": 65', '"A": -1').replace('"B": 66', '"B": 65').replace("-1", "66")
    )
    swapped = load_target(str(tmp_path))
    with pytest.raises(ValueError, match=r"2 ids differ, first id 65: 'A' .*, 'B' for the draft"):
        check_same_tokenizer(target.tokenizer, swapped.tokenizer)


def test_a_base_model_may_draft_for_its_chat_model(target):
    tokenizer = build_tokenizer()
    other_end = TextTokenizer(tokenizer, stop_tokens=[10])
    assert other_end.stop_tokens != target.tokenizer.stop_tokens
    check_same_tokenizer(target.tokenizer, other_end)
