"""TensorRT-LLM (PyTorch backend): a YAML file with the schedule, and the command that reads it."""

from __future__ import annotations

from analysis.configuration.asked import Asked, Written
from analysis.configuration.forced import comparison, mean_length, opening
from analysis.configuration.result import ConfigFile
from analysis.configuration.rounds import independent, pmf_of_length
from analysis.configuration.wording import command, comment, exports, number, yaml_text

SERVE, SETTINGS = "trtllm_serve.sh", "trtllm.yaml"
LOAD, LOAD_SETTINGS = "trtllm_load_test.sh", "trtllm_load_test.yaml"
_FORCE = "TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS"
_LOOKUP = 4


def write_tensorrt_llm(asked: Asked) -> Written:
    """The settings and the command that serves with them, and both for load tests.

    Raises ValueError for a schedule whose first span is not its longest draft.
    """
    if asked.off:
        text = comment(*asked.introduction, *asked.name_notes) + _command(asked, None)
        return (ConfigFile(name=SERVE, text=text, kind="shell"),), ()
    if asked.spans[0][2] != asked.schedule.longest:
        raise ValueError(
            "schedule must begin with its longest draft for TensorRT-LLM, which takes max_draft_len "
            f"for the smallest batches; got {asked.schedule.text}."
        )
    notes = (*asked.name_notes, *_notes(asked))
    settings = comment(*asked.introduction, *notes) + _settings(asked, _by_batch(asked))
    files = [
        ConfigFile(name=SETTINGS, text=settings, kind="yaml"),
        ConfigFile(name=SERVE, text=_command(asked, SETTINGS), kind="shell"),
    ]
    if asked.gamma:
        files += _load_test(asked)
    return tuple(files), notes


def _command(asked: Asked, settings: str | None) -> str:
    options = asked.parallel("--tp_size")
    if settings is not None:
        options.append(("--config", settings))
    return command(["trtllm-serve", asked.target_name], options)


def _settings(asked: Asked, by_batch: list[str], gamma: int | None = None) -> str:
    lines = [
        "speculative_config:",
        f"  decoding_type: {asked.method.word}",
        f"  max_draft_len: {asked.schedule.longest if gamma is None else gamma}",
    ]
    if asked.draft_name is not None:
        lines.append(f"  speculative_model: {yaml_text(asked.draft_name)}")
    if asked.method.method == "ngram":
        lines.append(f"  max_matching_ngram_size: {_LOOKUP}")
    lines += by_batch
    if asked.stop_window is not None and asked.stop_below is not None and gamma is None:
        lines += [
            f"  acceptance_rate_window_size: {asked.stop_window}",
            f"  acceptance_rate_threshold: {number(asked.stop_below)}",
        ]
    return "".join(f"{line}\n" for line in lines)


def _by_batch(asked: Asked) -> list[str]:
    """A cut-off where that is all, otherwise {last batch: length}; what is beyond has none."""
    spans = asked.spans
    if asked.constant and asked.schedule.spans[-1].last is None:
        return []
    drafting = spans[:-1] if spans[-1][2] == 0 else spans
    if len(drafting) == 1 and drafting != spans:
        return [f"  max_concurrency: {drafting[0][1]}"]
    inner = ", ".join(f"{last}: {gamma}" for _, last, gamma in drafting)
    return [f"  draft_len_schedule: {{{inner}}}"]


def _notes(asked: Asked) -> tuple[str, ...]:
    notes: list[str] = []
    last = asked.schedule.spans[-1]
    by_batch = "".join(_by_batch(asked))
    if by_batch:
        notes.append(
            "Beyond the last batch size that is named, nothing is drafted, but one-engine modes of "
            "later versions draft one token there, so that the draft's cache does not fall behind."
        )
    if "draft_len_schedule" in by_batch:
        notes.append(
            "draft_len_schedule holds {last batch size: length} (TensorRT-LLM pull request 10860, "
            "March 2026); before, the keys were the first batch sizes and had to begin with 1: the "
            "same text means something else there. It and max_concurrency exclude one another."
        )
        if last.last is None and last.gamma:
            notes.append(
                f"The open end of the schedule is closed at batch {asked.spans[-1][1]}: set "
                "max_batch_size no higher."
            )
    if asked.method.method == "mtp":
        notes.append(
            "Older versions say num_nextn_predict_layers for max_draft_len. With one layer per "
            "drafted token (vanilla MTP), later versions keep max_draft_len at every batch size."
        )
    if asked.method.method == "ngram":
        notes.append(
            f"max_matching_ngram_size {_LOOKUP} is a choice, not a result; acceptance was fitted "
            "for the drafter that you measured."
        )
    if asked.stop_below is not None:
        gamma = asked.schedule.longest
        fraction = (asked.acceptance.tokens_per_round(gamma).value - 1.0) / gamma
        notes.append(
            "acceptance_rate_threshold is accepted / drafted over the last drafting passes "
            "(acceptance_rate_window_size); below it, drafting ends for good. The fit says "
            f"{number(fraction, 3)} at {gamma}. Older versions: acceptance_window and "
            "acceptance_length_threshold."
        )
    return tuple(notes)


def _load_test(asked: Asked) -> list[ConfigFile]:
    gamma, fit = asked.gamma, asked.acceptance
    length = mean_length(fit, gamma)
    settings = ConfigFile(
        name=LOAD_SETTINGS, kind="yaml", purpose="load test",
        text=comment(f"For a load test at batch {asked.batch}: drafts of {gamma} at every batch size.")
        + _settings(asked, [], gamma),
    )  # fmt: skip
    lines = [
        opening(),
        (
            f"For batch {asked.batch} with {gamma} alone: one number holds for every batch size, and at "
            "a shorter draft it is cut at the draft's end."
        ),
        (
            f"{_FORCE} counts drafted tokens only, without the bonus: {number(length)} tokens per round "
            f"less 1. Its fraction is the chance of one more, drawn per request (pull request 13569, "
            "2026); before, only whole numbers were understood and others turned it off. Accepted tokens "
            "of a round are therefore one of two whole numbers."
        ),
    ]
    variables: list[tuple[str, str]] = []
    if length > 1.0:
        lines += comparison(asked, gamma, independent(pmf_of_length(length, gamma)))
        variables = [(_FORCE, number(length - 1.0))]
    else:
        lines.append("The fit accepts nothing, and 0 means not forced: nothing is set.")
    text = comment(*lines) + exports(variables) + _command(asked, LOAD_SETTINGS)
    return [settings, ConfigFile(name=LOAD, text=text, kind="shell", purpose="load test")]
