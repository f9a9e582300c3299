"""vLLM: one JSON of the speculative config, with the schedule in it."""

from __future__ import annotations

from analysis.configuration.asked import Asked, Written
from analysis.configuration.forced import comparison, mean_length, opening, rates
from analysis.configuration.result import ConfigFile
from analysis.configuration.rounds import (
    RoundKinds,
    independent,
    pmf_of_length,
    pmf_of_survival,
)
from analysis.configuration.wording import command, comment, json_text, number
from analysis.deployment.undrafted import drafted_share
from analysis.fitting.result import Fit

SERVE, LOAD = "vllm_serve.sh", "vllm_load_test.sh"
_LOOKUP = 4
_TESTED = ("eagle", "eagle3", "dflash")


def write_vllm(asked: Asked) -> Written:
    """The command that serves, and the one for load tests under forced acceptance."""
    if asked.off:
        text = comment(*asked.introduction, *asked.name_notes)
        return (_shell(SERVE, text + _command(asked, None)),), ()
    notes = (*asked.name_notes, *_notes(asked))
    settings = _settings(asked)
    served = comment(*asked.introduction, *notes) + _command(asked, settings)
    load = _load_test(asked, settings)
    return (_shell(SERVE, served), _shell(LOAD, load, load_test=True)), notes


def _settings(asked: Asked) -> dict[str, object]:
    settings: dict[str, object] = {"method": asked.method.word}
    if asked.draft_name is not None:
        settings["model"] = asked.draft_name
    settings["num_speculative_tokens"] = asked.schedule.longest
    if asked.method.method == "ngram":
        settings["prompt_lookup_max"] = _LOOKUP
        settings["prompt_lookup_min"] = 2
    if not asked.constant:
        settings["num_speculative_tokens_per_batch_size"] = [list(span) for span in asked.spans]
    return settings


def _command(asked: Asked, settings: dict[str, object] | None) -> str:
    options = asked.parallel("--tensor-parallel-size")
    if settings is not None:
        options.append(("--speculative-config", json_text(settings)))
    return command(["vllm", "serve", asked.target_name], options)


def _notes(asked: Asked) -> tuple[str, ...]:
    notes: list[str] = []
    if not asked.constant:
        notes.append(
            "num_speculative_tokens_per_batch_size holds [first, last, length], both ends included "
            '(vLLM pull request 32374, 2026; its first form was a mapping such as {"1-16": 3}). '
            "Beyond the last end vLLM keeps the last length. It ignores the schedule where "
            "--data-parallel-size is above 1."
        )
        if asked.method.word not in _TESTED:
            notes.append(
                f"vLLM says that it tested such schedules with {', '.join(_TESTED)}; "
                f"{asked.method.word} may not follow it."
            )
    if asked.method.method == "ngram":
        notes.append(
            f"prompt_lookup_max {_LOOKUP} is the longest n-gram that is looked up: a choice, not a "
            "result; acceptance was fitted for the drafter that you measured."
        )
    return tuple(notes)


def _load_test(asked: Asked, settings: dict[str, object]) -> str:
    gamma, fit = asked.schedule.longest, asked.acceptance
    share = drafted_share(fit)
    forced = {"rejection_sample_method": "synthetic"}
    kept = rates(fit, gamma)
    length = mean_length(fit, gamma, drafted_only=True)
    lines = [
        opening(" (vLLM pull requests 38045 and 40662, 2026)"),
    ]
    told: RoundKinds
    if kept is None:
        told = independent(_mixed(pmf_of_length(length, gamma), share))
        lines.append(
            "synthetic_acceptance_length, tokens per round with the bonus: the fit has no rates by "
            "position. Every round then emits the whole number below or above it."
        )
        settings = {**settings, **forced, "synthetic_acceptance_length": length}
    else:
        told = independent(pmf_of_survival(kept, share))
        short = independent(_mixed(pmf_of_length(length, gamma), share)).spread(asked.tokens)
        lines.append(
            "synthetic_acceptance_rates: P(the first i drafted tokens are all kept), not given the "
            f"ones before. synthetic_acceptance_length {number(length)} has the same mean, but "
            f"every round emits the whole number below or above it (sd {number(short.sd, 2)})."
        )
        settings = {**settings, **forced, "synthetic_acceptance_rates": list(kept)}
    lines += comparison(asked, gamma, told)
    if kept is not None and asked.gammas[1:]:
        shorter = ", ".join(_at(fit, g, 1.0 + share * sum(kept[:g])) for g in asked.gammas[1:])
        lines.append(f"Where the schedule drafts less, the first of these rates give {shorter}.")
    if share < 1.0:
        lines.append(
            f"A draft is there in {share:.1%} of the rounds of the fit; the test needs prompts in "
            "which it is found as often, for without a draft nothing is forced."
        )
    return comment(*lines) + _command(asked, settings)


def _at(fit: Fit, gamma: int, forced: float) -> str:
    """Forced tokens per round, and those of the fit where rates by position depend on the length."""
    fitted = fit.tokens_per_round(gamma).value
    apart = "as in the fit" if abs(forced / fitted - 1.0) < 5e-4 else f"{number(fitted)} in the fit"
    return f"{number(forced)} at {gamma} ({apart})"


def _mixed(pmf: tuple[float, ...], share: float) -> tuple[float, ...]:
    """Rounds of which a share has a draft and the others emit one token."""
    return tuple(share * p + (1.0 - share if k == 0 else 0.0) for k, p in enumerate(pmf))


def _shell(name: str, text: str, *, load_test: bool = False) -> ConfigFile:
    return ConfigFile(
        name=name, text=text, kind="shell", purpose="load test" if load_test else "serve"
    )
