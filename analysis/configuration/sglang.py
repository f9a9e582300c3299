"""SGLang: flags, and a JSON file of steps by batch size where it adapts them."""

from __future__ import annotations

import json

from analysis.configuration.asked import Asked, Written
from analysis.configuration.forced import comparison, mean_length, opening
from analysis.configuration.result import ConfigFile
from analysis.configuration.rounds import independent, pmf_of_length
from analysis.configuration.wording import command, comment, exports, number

SERVE, LOAD, ADAPTIVE = "sglang_serve.sh", "sglang_load_test.sh", "sglang_adaptive.json"
_CHAINS = ("EAGLE", "EAGLE3", "STANDALONE")
_WINDOWS = ("DFLASH", "DSPARK", "NGRAM")

Options = list[tuple[str, str | None]]


def write_sglang(asked: Asked) -> Written:
    """The command that serves, its table of steps, and the command for load tests."""
    adaptive = asked.method.by_batch and not asked.constant
    gamma = asked.schedule.longest if adaptive else asked.gamma
    notes = (*asked.name_notes, *_notes(asked, adaptive=adaptive))
    options: Options = [] if gamma == 0 else _flags(asked, gamma)
    files: list[ConfigFile] = []
    if adaptive:
        options += [("--speculative-adaptive", None), ("--speculative-adaptive-config", ADAPTIVE)]
        files.append(ConfigFile(name=ADAPTIVE, text=_table(asked), kind="json"))
    text = comment(*asked.introduction, *notes) + _command(asked, options)
    files.append(ConfigFile(name=SERVE, text=text, kind="shell"))
    if asked.gamma:
        load = _load_test(asked)
        files.append(ConfigFile(name=LOAD, text=load, kind="shell", purpose="load test"))
    return tuple(files), notes


def _command(asked: Asked, options: Options) -> str:
    return command(
        ["python3", "-m", "sglang.launch_server"],
        [("--model-path", asked.target_name), *asked.parallel("--tp"), *options],
    )


def _flags(asked: Asked, gamma: int) -> Options:
    """The flags of one draft length: a chain of `gamma` is a window of gamma + 1 with its root."""
    word = asked.method.word
    options: Options = [("--speculative-algorithm", word)]
    if asked.draft_name is not None:
        options.append(("--speculative-draft-model-path", asked.draft_name))
    if word in _CHAINS:
        options += [("--speculative-num-steps", str(gamma)), ("--speculative-eagle-topk", "1")]
    if word == "NGRAM":
        options.append(("--speculative-ngram-max-bfs-breadth", "1"))
    options.append(("--speculative-num-draft-tokens", str(gamma + 1)))
    return options


def _table(asked: Asked) -> str:
    """One entry per span, by its first batch size, with the one step count that the plan wants."""
    entries = {
        str(first): {
            "candidate_steps": [gamma],
            "up_hysteresis": 0.0,
            "down_hysteresis": 0.0,
            "ceiling_coeff": 0,
        }
        for first, _, gamma in asked.spans
    }
    rows = [f"  {json.dumps(key)}: {json.dumps(entry)}" for key, entry in entries.items()]
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _notes(asked: Asked, *, adaptive: bool) -> tuple[str, ...]:
    notes: list[str] = []
    word = asked.method.word
    if not asked.off:
        notes.append(
            "--speculative-num-draft-tokens counts the verified window with its root: draft length "
            "+ 1 for a chain."
        )
    if adaptive:
        notes.append(
            f"{ADAPTIVE}: the keys are the first batch sizes of tiers (SGLang pull request 24055, "
            "2026), each with one step count, so that acceptance moves nothing within a tier. The "
            "batch is rounded up to a CUDA graph's size before the tier is looked up. It needs "
            "--speculative-eagle-topk 1 and no attention data parallelism, no two-batch overlap and "
            "no multi-layer EAGLE; otherwise SGLang stays at the steps of the flags."
        )
        if any(gamma == 0 for _, _, gamma in asked.spans):
            notes.append(
                "Steps of 0 (off) need a version whose built-in table has them, as its entry for "
                "batch 64 does; before, 1 was the least."
            )
    elif not asked.constant:
        notes += asked.one_length_note(
            f"SGLang adapts the steps of EAGLE and EAGLE3 only, not of {word}"
        )
    if word in _WINDOWS[:2] and not asked.off:
        notes.append(
            f"{word} must have been trained for a block at least as long as the draft; the window "
            "is taken for its block."
        )
    return tuple(notes)


def _load_test(asked: Asked) -> str:
    gamma, fit = asked.gamma, asked.acceptance
    length = mean_length(fit, gamma)
    told = independent(pmf_of_length(length, gamma))
    lines = [
        opening(),
        (
            f"For batch {asked.batch} with {gamma} alone: one forced length holds for every batch size, "
            "and at a shorter draft it is cut at the draft's end, so the steps are not adapted here."
        ),
        (
            "SGLANG_SIMULATE_ACC_LEN counts the bonus token. match-expected draws the whole number below "
            "or above it; multinomial is a rounded, cut normal that misses the mean. TOKEN_MODE (pull "
            "request 29645, 2026) real-draft-token keeps the drafted tokens, fixed puts one token id."
        ),
        *comparison(asked, gamma, told, together=True),
    ]
    lines += [
        f"For a test at {g}: SGLANG_SIMULATE_ACC_LEN={number(mean_length(fit, g))} with the steps "
        "and the window of that length."
        for g in asked.gammas
        if g != gamma
    ]
    variables = [
        ("SGLANG_SIMULATE_ACC_LEN", number(length)),
        ("SGLANG_SIMULATE_ACC_METHOD", "match-expected"),
        ("SGLANG_SIMULATE_ACC_TOKEN_MODE", "real-draft-token"),
    ]
    return comment(*lines) + exports(variables) + _command(asked, _flags(asked, gamma))
