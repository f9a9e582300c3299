"""Whether a line of requests.jsonl follows from its steps and from what was asked for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from real_runs.runs.header import Header
from real_runs.runs.measurement import RequestRecord, StepRecord, hash_tokens
from real_runs.settings import chain_of
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
    short = any(drafted < gamma for drafted in steps.drafted)
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
    always_full = header.settings.stop == "fixed" and header.settings.drafter == "draft_model"
    rows = zip(steps.drafted, steps.tested, steps.accepted, steps.emitted, steps.width, strict=True)
    for number, (drafted, tested, accepted, emitted, width) in enumerate(rows):
        wrong = None
        if width != drafted + 1:
            wrong = f"its pass has {width} tokens"
        elif drafted > record.gamma or (always_full and drafted < record.gamma):
            wrong = f"gamma is {record.gamma}"
        elif not accepted <= tested <= min(accepted + 1, drafted):
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
