"""The article's claim that drafts of the target's family work best, judged on drafts that vary it alone.

The family is ahead of a stranger if the interval of the difference lies above 0 and every seed's draft
beats the stranger's of the same seed, both in Σ min(P, Q) and in greedy agreement. Size, training and
vocabulary are equal, which the claim does not ask for: ahead of all strangers it holds if they are, ahead
of some it holds against those, ahead of none it is open. A stranger that is ahead refutes it.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from analysis.family_drafts import FamilyRun, Quantity, family_run
from analysis.judgement import Judgement, Verdict
from analysis.published import published_rows

FAMILY, SHORT = "own", "own, short"
STRANGERS = {"python": "Python by other hands", "prose": "English"}
"""Kinds whose texts the target never saw and had no hand in, and what they are."""
MIXTURE, WRITTEN = "mixture", "written"
TAUGHT, STRANGER_TAUGHT = "taught", "python, taught"
_JUDGED: tuple[Quantity, ...] = ("p", "agreement")

Standing: TypeAlias = Literal["ahead of", "level with", "behind"]


def same_family() -> Judgement:
    """Whether drafts of the target's family work best: on one target, with nothing else varied."""
    return family_judgement(family_run())


def family_judgement(run: FamilyRun) -> Judgement:
    """What follows from an experiment, the one that ships with the package or another."""
    shares = ", ".join(
        f"{words} gives {run.value('p', kind)} (the family is {standing(run, FAMILY, kind)} it: "
        f"{_gain(run, FAMILY, kind)})"
        for kind, words in STRANGERS.items()
    )
    tokens = ", ".join(
        f"{run.value('tokens_per_round', kind).value:.2f}" for kind in (FAMILY, *STRANGERS)
    )
    return Judgement(
        claim="same family drafts best",
        says="drafts of the target's family are accepted more",
        verdict=family_verdict(run),
        finding=f"{_condition(run)} Drafts of {run.drafts[0].parameters:,} parameters, trained for the bundled "
        f"tiny target alike but for their text ({len(run.seeds(FAMILY))} seeds each), have p = Σ min(P, Q) of "
        f"{run.value('p', FAMILY)} with text of its corpus; {shares}: {tokens} tokens per round at γ = 4. "
        f"{_what_counts(run)} Byte models of Python cannot tell how far families of large models lie "
        f"apart. {_published()}",
    )


def family_verdict(run: FamilyRun) -> Verdict:
    """The verdict by the rule above."""
    found = {standing(run, FAMILY, kind) for kind in STRANGERS}
    if "behind" in found:
        return "does not hold"
    return "holds if" if "ahead of" in found else "not yet judged"


def standing(run: FamilyRun, kind: str, other: str) -> Standing:
    """Where a kind stands against another: ahead in both quantities, behind in one, or neither."""
    if any(run.is_ahead(quantity, other, kind) for quantity in _JUDGED):
        return "behind"
    ahead = all(run.is_ahead(quantity, kind, other) for quantity in _JUDGED)
    return "ahead of" if ahead else "level with"


def _condition(run: FamilyRun) -> str:
    """What the verdict hangs on, or what is missing."""
    found = {kind: standing(run, FAMILY, kind) for kind in STRANGERS}
    beaten = " or ".join(STRANGERS[kind] for kind, place in found.items() if place == "ahead of")
    level = " or ".join(STRANGERS[kind] for kind, place in found.items() if place == "level with")
    if "behind" in found.values():
        return "a stranger is accepted more where all else is equal."
    if not beaten:
        return "open: strangers and family do not differ beyond chance."
    if level:
        return (
            f"against a draft that learnt from {beaten}, another kind of text; one that learnt from {level}, "
            "the same kind, does as well."
        )
    return "if size, training and vocabulary are equal."


def _what_counts(run: FamilyRun) -> str:
    """What moves p beside the family, each set against what it has to be compared with."""
    value = {kind: f"{run.value('p', kind).value:.3f}" for kind in run.kinds}
    losses = ", ".join(f"{run.loss(kind):.2f}" for kind in (FAMILY, *STRANGERS))
    return (
        f"Their losses on held-out files of the corpus are {losses} nats per byte. Learning from the "
        f"target itself counts too: text that it wrote instead adds "
        f"{_gain(run, WRITTEN, FAMILY)}, its distributions in place of tokens {_gain(run, TAUGHT, FAMILY)} "
        f"({value[STRANGER_TAUGHT]} for other hands' Python), half English {_taken(run)}; "
        f"a quarter of the steps leaves {value[SHORT]}, "
        f"{standing(run, SHORT, 'prose')} the English draft."
    )


def _gain(run: FamilyRun, kind: str, other: str) -> str:
    gain = run.gain("p", kind, other)
    low, high = gain.interval or (float("nan"), float("nan"))
    return f"{gain.value:z.3f} [{low:z.3f}, {high:z.3f}]"


def _taken(run: FamilyRun) -> str:
    """What half a corpus of English takes from p, if anything beyond chance."""
    gain = run.gain("p", FAMILY, MIXTURE)
    sure = gain.interval is not None and gain.interval[0] > 0.0
    return f"{'takes' if sure else 'changes nothing beyond chance:'} {_gain(run, FAMILY, MIXTURE)}"


def _published() -> str:
    """Published tables, where size or method move along with the family."""
    inside = ", ".join(
        f"{row.draft.split()[0]} {row.p:g}"
        for row in published_rows("Leviathan et al. 2023", "Tables 2+4")
        if row.task == "EnDe" and row.temperature == "0" and row.p is not None
    )
    return (
        f"No published table here varies the family alone; within one, p moves with size ({inside}, all "
        "for T5-XXL)."
    )
