"""The command that explains the same: a prediction, the log, or the numbers that were typed."""

from __future__ import annotations

from app_pages.deployment import command
from app_pages.deployment.log import LastLog
from app_pages.deployment.results import Setup
from app_pages.your_engine.results import LOG_FILE

SHARE = "No option of the command takes the share of drafting: give c instead."


def arguments(setup: Setup, log: LastLog | None) -> tuple[str, ...]:
    """Arguments of `specdec`; none where it cannot say the same. Raises ValueError as a deployment does."""
    choice = setup.choice
    if choice.source == "deployment":
        more = ("--gamma", str(setup.gamma), "--batch", str(setup.batch))
        return ("explain", *command.options(choice, setup.log), *more)
    beside = {
        "--tps": choice.speed, "--plain-tps": choice.plain_speed,
        "--verify-cost": choice.pass_cost, "--cost-ratio": choice.step_cost,
    }  # fmt: skip
    if choice.source == "numbers":
        if choice.tau is None or choice.share is not None:
            return ()
        return ("explain", "-", "--running", str(choice.batch), *_said(beside))
    if log is None:
        return ()
    facts = log.facts
    known = {
        "--gamma": facts.gamma, "--method": facts.method, "--running": facts.running,
        "--engine": log.engine or None, "--layout": log.layout or None,
        "--tps": facts.tokens_per_s, "--plain-tps": facts.plain_tokens_per_s,
    }  # fmt: skip
    typed = {option: value for option, value in beside.items() if value is not None}
    return ("explain", LOG_FILE, *_said(known | typed))


def piped(setup: Setup) -> str:
    """What goes into the command: typed numbers, as an engine would print them."""
    choice = setup.choice
    if choice.source != "numbers" or choice.tau is None:
        return ""
    said = f"mean_acceptance_length={choice.tau:.10g} num_speculative_tokens={choice.gamma}"
    return f"echo '{said}' | "


def _said(options: dict[str, float | int | str | None]) -> tuple[str, ...]:
    return tuple(
        word
        for option, value in options.items()
        if value is not None
        for word in (option, value if isinstance(value, str) else f"{value:.10g}")
    )
