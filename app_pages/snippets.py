"""The same numbers without the app: Python and the command line."""

from __future__ import annotations

from app_pages.state import MOST_FLIPPED, Settings


def python(settings: Settings, rounds: int, seed: int) -> str:
    """A script that prints what the page shows."""
    run = "simulate" if rounds <= MOST_FLIPPED else "simulate_counts"
    where = f"p={settings.p}, gamma={settings.gamma}"
    cost = f", cost_ratio={settings.cost_ratio}"
    extra = _extra_python(settings)
    return "\n".join(
        [
            "import analysis as an",
            "import simulator as sim",
            "",
            f"strategy = sim.draft_model({where})",
            f"table = sim.{run}(strategy, rounds={rounds:_}, rng={seed})",
            "print(table.tokens_per_round)",
            f"print(an.expected_tokens({where}))",
            f"print(an.speedup({where}{cost}{extra}))",
            f"print(an.best_gamma(p={settings.p}{cost}, max_gamma=16{extra}))",
            "print(an.check(strategy, table).passed)",
        ]
    )


def command_line(settings: Settings, rounds: int, seed: int) -> str:
    """Two commands that print what the page shows."""
    where = f"--p {settings.p} --gamma {settings.gamma}"
    extra = (
        ""
        if settings.at_article
        else (f" --verify-cost {settings.verify_cost} --overhead {settings.overhead}")
    )
    method = "" if rounds <= MOST_FLIPPED else " --counts"
    return (
        f"specdec predict {where} --cost-ratio {settings.cost_ratio}{extra}\n"
        f"specdec simulate {where} --rounds {rounds} --seed {seed}{method}"
    )


def _extra_python(settings: Settings) -> str:
    if settings.at_article:
        return ""
    return f", verify_cost={settings.verify_cost}, overhead={settings.overhead}"
