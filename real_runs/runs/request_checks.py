"""Whether a line of requests.jsonl follows from its steps and from what was asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from real_runs.runs.header import Header
from real_runs.runs.measurement import RequestRecord, StepRecord, hash_tokens
from real_runs.settings import HEADED, chain_of
from real_runs.tree_settings import branches, judged_nodes, passengers_of, tree_asked
from simulator.acceptance import AcceptanceTable


def check_request(record: RequestRecord, steps: StepRecord, header: Header) -> Iterator[str]:
    """What does not hold, a sentence each; nothing for a sound request."""
    if steps.task != record.task:
        yield f"its steps are of task {steps.task}, not {record.task}."
        return
    yield from _identity(record, header)
    impossible = list(_rounds(record, steps, header))
    if impossible:
        yield from impossible
        return
    yield from _tokens(record, steps, header)
    yield from _sums(record, steps, header)
    yield from _times(record, steps)


def table_of(steps: StepRecord, header: Header, gamma: int) -> AcceptanceTable:
    """The acceptance table of rounds, counted depth by depth."""
    short = any(longest < gamma for longest in steps.longest)
    rule = chain_of(header.settings, gamma).length_rule if gamma else "fixed"
    return AcceptanceTable(
        rounds=steps.rounds,
        drafted=sum(steps.drafted),
        tested=_reaching(steps.tested, gamma),
        accepted=_reaching(steps.accepted, gamma),
        discarded=sum(steps.accepted) + steps.rounds - sum(steps.emitted),
        length_rule="scheduled" if rule == "fixed" and short else rule,
    )


def _reaching(counts: tuple[int, ...], gamma: int) -> tuple[int, ...]:
    """How many of the counts exceed each depth, shape [gamma]."""
    ended = np.bincount(np.asarray(counts, dtype=np.int64), minlength=gamma + 1)
    return tuple(int(n) for n in ended[::-1].cumsum()[::-1][1 : gamma + 1])


def _identity(record: RequestRecord, header: Header) -> Iterator[str]:
    if record.prompt not in header.prompts.ids:
        yield f"its prompt {record.prompt!r} is none of the run's."
        return
    number = header.prompts.ids.index(record.prompt)
    seed = (header.settings.seed, number, record.gamma, record.repeat)
    if record.seed != seed:
        yield f"its seed must be {list(seed)}; it is {list(record.seed)}."
    if record.prompt_tokens < 1:
        yield f"prompt_tokens must be at least 1; it is {record.prompt_tokens}."


def _rounds(record: RequestRecord, steps: StepRecord, header: Header) -> Iterator[str]:
    last = steps.rounds - 1
    settings, gamma = header.settings, record.gamma
    may = gamma > 0 and settings.drafter in (*HEADED, "lookahead")  # a chain of heads may be a tree
    if (steps.depth and not may) or (
        may and branches(settings) and steps.rounds and not steps.depth
    ):
        yield "the depths of trees must be there where trees are drafted, and nowhere else."
        return
    full = gamma > 0 and settings.stop == "fixed" and settings.drafter in ("draft_model", *HEADED)
    full &= settings.siblings != "distinct"  # there may be no more tokens to draw
    grown = tree_asked(settings.tree).kind == "dynamic"
    most = judged_nodes(settings, gamma) if gamma else 0
    riding = passengers_of(settings) if gamma else 0
    rows = zip(
        *(steps.drafted, steps.longest, steps.tested, steps.accepted, steps.emitted, steps.width),
        strict=True,
    )
    for number, (drafted, longest, tested, accepted, emitted, width) in enumerate(rows):
        wrong = None
        if width != drafted + 1 + riding:
            wrong = f"its pass has {width} tokens"
        elif steps.depth and not min(drafted, 1) <= longest <= min(drafted, gamma):
            wrong = f"its depth is {longest}, gamma is {gamma}"
        elif drafted > most or (full and not grown and drafted < most):
            wrong = f"gamma is {gamma}" if most == gamma else f"{most} may be drafted"
        elif not accepted <= tested <= min(accepted + 1, longest):
            wrong = f"{tested} were tested and {accepted} accepted"
        elif not 1 <= emitted <= accepted + 1 or (emitted <= accepted and number < last):
            wrong = f"{accepted} were accepted and {emitted} emitted"
        if wrong is not None:
            yield f"round {number} of {drafted} drafted tokens is impossible: {wrong}."
            return


def _tokens(record: RequestRecord, steps: StepRecord, header: Header) -> Iterator[str]:
    settings = header.settings
    if not record.tokens:
        yield "there must be at least the token of prefill; there is none."
        return
    if hash_tokens_safely(record.tokens) != record.tokens_sha256:
        yield "tokens_sha256 is not the hash of its tokens."
    outside = [token for token in record.tokens if not 0 <= token < header.target.vocabulary]
    if outside:
        yield f"tokens must lie in [0, {header.target.vocabulary - 1}]; one is {outside[0]}."
    if sum(steps.emitted) != record.emitted:
        yield f"its rounds emitted {sum(steps.emitted)} tokens; {record.emitted} arrived."
    stops = set(settings.stop_tokens)
    if stops.intersection(record.tokens[:-1]):
        yield "no token may follow a stop token."
    length = len(record.tokens)
    if length > settings.max_tokens or (
        length < settings.max_tokens and record.tokens[-1] not in stops
    ):
        yield f"it must end with a stop token or after {settings.max_tokens} tokens; it has {length}."


def _sums(record: RequestRecord, steps: StepRecord, header: Header) -> Iterator[str]:
    try:
        table = table_of(steps, header, record.gamma)
    except ValueError as error:
        yield f"its rounds give no table: {error}"
        return
    if record.table != table:
        yield f"its rounds give {table}; the line says {record.table}."
    if record.passes != steps.passes():
        yield "its passes by width are not those of its steps."
    for name in ("draft_steps", "draft_ns"):
        total, said = sum(getattr(steps, name)), getattr(record, name)
        if total != said:
            yield f"its {name} add up to {total}; the line says {said}."


def _times(record: RequestRecord, steps: StepRecord) -> Iterator[str]:
    if record.prefill_ns < 1:
        yield f"prefill_ns must be at least 1; it is {record.prefill_ns}."
    passes = sum(steps.verify_ns)
    for name in ("draft_ns", "propose_ns"):
        parts = passes + sum(getattr(steps, name))
        if parts > record.decode_ns:
            yield (
                f"verify_ns and {name} add up to {parts}, which is more than its decode_ns "
                f"{record.decode_ns}."
            )


def hash_tokens_safely(tokens: tuple[int, ...]) -> str:
    """`hash_tokens`, or nothing for numbers that no token id can be."""
    try:
        return hash_tokens(tokens)
    except OverflowError:
        return ""
