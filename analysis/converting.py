"""From a number in the field's words to all that follows, and to the p that would explain a mean."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from simulator._checks import as_count, as_nonnegative, as_probability

if TYPE_CHECKING:
    from analysis.conversion.conversion import Conversion
    from analysis.conversion.values import Given

_LONGEST_GAMMA = 10_000


def convert(
    quantity: str,
    value: Given,
    *,
    gamma: int | None = None,
    window: int | None = None,
    engine: str | None = None,
    version: str | None = None,
    half_width: float | None = None,
    known: Collection[str] = (),
) -> Conversion:
    """All that follows from a number in the words of an engine, and what does not, with the reason.

    `quantity` is a canonical word ("tokens_per_round", "survival", …) or an engine's own ("accept
    rate"), then with `engine`, and `version` where the word changed its meaning. `value` is a number,
    a text as it was printed ("2.92", "64.5%", "0.805, 0.632, 0.483"), or a list: a text carries the
    rounding of its last digit, and so do all results. `gamma` is the longest chain drafted per round
    [tokens]; `window` what a target pass verifies, the root included (SGLang's num_draft_tokens):
    γ + 1 for a chain, the size of a tree. `known` names assumptions that hold ("full_drafts",
    "chain", …), so that what needs only these follows exactly.

    Raises ValueError for an unknown word, engine or assumption, for a word that means several
    quantities, for a number that cannot be what it is called, and for p in the name of an engine
    that prints none.

    >>> result = convert("accept rate", "0.54", engine="sglang", version="0.5.9", window=4)
    >>> result.quantity, result.get("tokens_per_round").value
    ('fraction_with_bonus', 2.16)
    >>> result = convert("acceptance rate", "64.5%", engine="vllm", version="0.9.1", gamma=3)
    >>> round(result.get("tokens_per_round").value, 3), result.get("tokens_per_round").assumptions
    (2.935, ('chain', 'full_drafts'))
    >>> [round(tokens, 4) for tokens in result.get("tokens_per_round").range]
    [2.9335, 2.9365]
    """
    # `import analysis` loads this module; the rest only where something is converted.
    from analysis.conversion.conversion import converted  # noqa: PLC0415
    from analysis.conversion.names import engine_name, find_name  # noqa: PLC0415
    from analysis.conversion.quantities import ASSUMPTIONS  # noqa: PLC0415
    from analysis.conversion.values import Known, read_values  # noqa: PLC0415

    granted = frozenset([known] if isinstance(known, str) else known)
    unknown = sorted(granted.difference(ASSUMPTIONS))
    if unknown:
        raise ValueError(
            f"known must name some of {', '.join(ASSUMPTIONS)}; got {unknown[0]!r:.40}."
        )
    if not isinstance(quantity, str):
        raise ValueError(
            f"quantity must be a word such as 'tokens_per_round'; got {quantity!r:.40}."
        )
    engine = None if engine is None else engine_name(engine)
    name = find_name(quantity, engine, version)
    word = quantity.strip().lower().replace(" ", "_") if name is None else name.quantity
    read = read_values(
        value, half_width=half_width, percent=name is not None and name.unit == "percent"
    )
    beside = {
        key: Known.exact([float(as_count(key, given, least=least, most=_LONGEST_GAMMA))])
        for key, given, least in (("gamma", gamma, 1), ("window", window, 2))
        if given is not None and key != word
    }
    if len(beside) == 2 and beside["window"].values[0] <= beside["gamma"].values[0]:
        raise ValueError(f"window must be at least gamma + 1 ({gamma} + 1); got {window}.")
    if gamma is not None and window == gamma + 1:
        granted |= {"chain"}
    warnings: tuple[str, ...] = ()
    if read.fraction_for_percent and name is not None and read.known.values[0] > 0.0:
        number = f"{read.known.values[0]:g}"
        sentence = f"{number} was read as a fraction; a percent is written {number}%."
        warnings = (f"{name.engine} prints this as a percent or did once; {sentence}",)
    return converted(
        word,
        read.known,
        name=name,
        beside=beside,
        granted=granted,
        engine=engine,
        version=version,
        warnings=warnings,
    )


def equivalent_p(
    *,
    gamma: int,
    tokens_per_round: float | None = None,
    accepted_fraction: float | None = None,
) -> float:
    """The one p that gives the same mean, if every draft had gamma tokens and one p ruled all depths.

    Solves E(p, gamma) = tokens_per_round, or (E(p, gamma) - 1) / gamma = accepted_fraction (what
    engines print as acceptance rate). It fits the mean by construction and says nothing about other
    draft lengths unless acceptance really is one p. Raises ValueError if the value is impossible:
    tokens_per_round outside [1, gamma + 1], accepted_fraction outside [0, 1], both or neither given.

    >>> round(equivalent_p(gamma=5, accepted_fraction=0.537856), 4)
    0.8
    >>> round(equivalent_p(gamma=4, tokens_per_round=2.7731), 4)
    0.7
    """
    from analysis.optimum import p_from_tokens  # noqa: PLC0415 — as above

    gamma = as_count("gamma", gamma, least=1)
    if (tokens_per_round is None) == (accepted_fraction is None):
        raise ValueError(
            "equivalent_p takes either tokens_per_round or accepted_fraction; got both or neither."
        )
    if tokens_per_round is not None:
        tokens_per_round = as_nonnegative("tokens_per_round", tokens_per_round)
        if not 1.0 <= tokens_per_round <= gamma + 1.0:
            raise ValueError(
                f"tokens_per_round must lie in [1, gamma + 1] = [1, {gamma + 1}]; "
                f"got {tokens_per_round!r}."
            )
        return p_from_tokens(tokens_per_round, gamma)
    fraction = as_probability("accepted_fraction", accepted_fraction)
    return p_from_tokens(1.0 + gamma * fraction, gamma)
