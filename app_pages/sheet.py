"""The exam sheet in words: what the student wrote, what the professor made of it."""

from __future__ import annotations

from app_pages.state import Settings
from app_pages.story import Step, word


def student(settings: Settings, step: Step) -> str:
    """The student's line: drafted words, and what became of each."""
    tokens = [_drafted(step, i) for i in range(step.drafted)]
    tokens += [":gray-badge[ … ]"] * (settings.gamma - step.drafted)
    if step.phase == "reject" and step.judged < step.drafted:
        tokens.append(":gray[unread]")
    return "**Student** " + " ".join(tokens)


def professor(step: Step) -> str:
    """The professor's line: reading, ticking, or writing the next word."""
    if step.phase in {"start", "draft"}:
        return "**Professor** :gray[waits]"
    if step.phase == "check":
        return f"**Professor** :blue[reads all {step.drafted} at once]"
    if step.phase == "accept":
        return f"**Professor** :green[✓ × {step.judged}]"
    written = word(step.before + step.kept)
    role = "the bonus word" if step.phase == "bonus" else "the correction"
    ticks = f":green[✓ × {step.kept}] " if step.kept else ""
    return f"**Professor** {ticks}:blue-badge[✎ {written}] :gray[{role}]"


def narration(settings: Settings, step: Step) -> str:
    """One sentence on what just happened."""
    if step.phase == "start":
        return "A blank sheet. Press **Next**: the student begins to write."
    if step.phase == "draft":
        return (
            f"The student writes word {step.drafted} of {settings.gamma}: "
            f"“{_written(step, step.drafted - 1)}”. That costs {_steps(settings.cost_ratio)}."
        )
    if step.phase == "check":
        return (
            f"The professor reads all {step.drafted} words in one pass. It costs "
            f"{_steps(settings.verify_cost)}, however many words turn out right."
        )
    if step.phase == "accept":
        return f"“{_written(step, step.judged - 1)}” stands: the coin said keep (chance {settings.p:g})."
    if step.phase == "bonus":
        return (
            f"All {step.kept} words stand, and the same pass already holds the next one: "
            f"“{word(step.before + step.kept)}”. The round gave {step.judged} tokens."
        )
    unread = step.drafted - step.judged
    rest = f" The {unread} behind it {'goes' if unread == 1 else 'go'} unread." if unread else ""
    return (
        f"“{_written(step, step.kept)}” is struck out; the professor writes "
        f"“{word(step.before + step.kept)}”.{rest} The round gave {step.judged} "
        f"token{'s' if step.judged > 1 else ''}."
    )


def _steps(cost: float) -> str:
    if cost in {0.0, 1.0}:
        return "one step" if cost else "nothing"
    return f"{cost:.4g} of a step" if cost < 1.0 else f"{cost:.4g} steps"


def _written(step: Step, i: int) -> str:
    """What the student wrote at place i of the round; from the first slip on, nonsense."""
    return word(step.before + i, slip=i >= step.kept)


def _drafted(step: Step, i: int) -> str:
    shown = _written(step, i)
    if i < min(step.judged, step.kept):
        return f":green-badge[✓ {shown}]"
    if step.phase == "reject":
        if i == step.kept:
            return f":red-badge[✗ ~~{shown}~~]"
        return f":gray-badge[{shown}]"
    return f":orange-badge[{shown}]"
