"""The command that prints the same of these arrivals, from longer runs."""

from __future__ import annotations

from analysis.serving.length_words import in_words
from app_pages.deployment import command, take_along
from app_pages.deployment.results import Setup
from app_pages.where_it_breaks import arrivals
from app_pages.where_it_breaks.arrivals import Load
from simulator.serving import ServingComparison


def show(setup: Setup, load: Load, point: ServingComparison) -> None:
    """Draw it, to copy."""
    note = "Longer runs than here: its intervals are narrower, its numbers differ within them."
    if setup.choice.accept == "log":
        note = f"{note} Your log is engine.log there."
    take_along.command_line(arguments(setup, load, point.rate_per_s or 0.0), note=note)


def arguments(setup: Setup, load: Load, rate: float) -> list[str]:
    """The command without its program: it finds the context that requests hold by itself."""
    described = command.options(setup.choice, setup.log)
    at = described.index("--context")
    return ["serving", *described[:at], *described[at + 2 :], *options(setup, load, rate)]


def options(setup: Setup, load: Load, rate: float) -> list[str]:
    """The options of `specdec serving` beside those of the deployment.

    >>> from app_pages.deployment.choice import Choice
    >>> options(Setup(choice=Choice()), Load(on=True, seed=3), 9.5)[:6]
    ['--gamma', '4', '--rate', '9.5', '--prompt-tokens', 'lognormal:512,1,most=4096']
    """
    prompt, output = arrivals.lengths(load.kind, setup.choice)
    said = ["--gamma", str(setup.gamma), "--rate", f"{rate:.6g}"]
    said += ["--prompt-tokens", in_words(prompt), "--output-tokens", in_words(output)]
    for option, limit in (("--ttft", load.ttft), ("--tpot", load.tpot / 1e3), ("--e2e", load.e2e)):
        if limit:
            said += [option, f"{limit:.10g}"]
    if load.alone:
        said += ["--token-budget", "0"]
    return [*said, "--seed", str(load.seed)]
