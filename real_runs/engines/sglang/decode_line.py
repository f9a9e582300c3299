"""One of SGLang's decode lines, its fields in any order: "Decode batch, #running-req: ..."."""

from __future__ import annotations

import re
from dataclasses import dataclass

from real_runs.engines.counts.printed import COUNT, Printed, as_count, as_printed
from real_runs.engines.counts.skips import NoCounts, NothingDrafted

HEAD = "Decode batch"
_RANK = re.compile(r"\b(DP\d{1,5})\b")
_RUNNING = re.compile(rf"#running-req:\s*+{COUNT}")
_THROUGHPUT = re.compile(r"gen throughput(?: \(token/s\))?:\s*+([\w.+-]++)")
_LENGTH = re.compile(r"(?<!block )accept len:\s*+([\w.+-]++)")
_RATE = re.compile(r"accept rate:\s*+([\w.+-]++)")
_CAP = re.compile(r"cap len:\s*+([\w.+-]++)")
# The order of fields in every release so far, and the only one that is read fast.
USUAL = re.compile(
    r"[^#]{0,40}+#running-req: (\d{1,9}),(?>.*?(?<!block )accept len: )(\d{1,3}\.\d\d),"
    r"(?: accept rate: ([01]\.\d\d),)?(?>.*?gen throughput \(token/s\): )(\d{1,9}\.\d\d)(?![\w.])"
)
_BLOCK = re.compile(r"block accept len:\s*+([\w.+-]++)")


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodeLine:
    """One decode line: `length` counts the bonus token, `rate` means what the version means.

    `cap` and `block` are the capped and the block's accept length of some drafts. None where the line
    does not print it.
    """

    length: Printed
    rank: str = ""
    running: int | None = None
    rate: Printed | None = None
    tokens_per_s: float | None = None
    cap: Printed | None = None
    block: Printed | None = None


def read_decode_line(text: str) -> DecodeLine:
    """The numbers of one decode line, its fields in any order; NoCounts if there are none.

    >>> line = read_decode_line("Decode batch, #running-req: 8, gen throughput: 701.2 tok/s, "
    ...     "accept len: 2.84, cuda graph: True")
    >>> line.running, line.length.value, line.tokens_per_s
    (8, 2.84, 701.2)
    """
    head, marker, body = text.partition(HEAD)
    if not marker:
        head, body = "", text
    usual = USUAL.match(body)
    if usual is not None and "cap len" not in body:
        running_text, length_text, rate_text, throughput_text = usual.groups()
        return _checked(
            DecodeLine(
                length=as_printed("accept len", length_text),
                rank=rank_of(head),
                running=int(running_text),
                rate=None if rate_text is None else as_printed("accept rate", rate_text),
                tokens_per_s=float(throughput_text),
            )
        )
    length = _printed(_LENGTH, "accept len", body)
    if length is None:
        raise NothingDrafted("a decode line without an accept len: speculation is off")
    running = _RUNNING.search(body)
    throughput = _printed(_THROUGHPUT, "gen throughput", body)
    return _checked(
        DecodeLine(
            length=length,
            rank=rank_of(head),
            running=None if running is None else as_count("#running-req", running[1]),
            rate=_printed(_RATE, "accept rate", body),
            tokens_per_s=None if throughput is None else throughput.value,
            cap=_printed(_CAP, "cap len", body),
            block=_printed(_BLOCK, "block accept len", body),
        )
    )


def _checked(line: DecodeLine) -> DecodeLine:
    """The line, if its ratios are possible."""
    length, rate = line.length, line.rate
    if length.units == 0:
        raise NothingDrafted("accept len is 0: no round in this interval")
    if length.units < length.scale and length.value + length.half_width < 1.0:
        raise NoCounts(
            f"accept len is {length.value:g}, and a round emits one token at least",
            finding="length_outside_range",
        )
    if rate is not None and rate.units > rate.scale:
        raise NoCounts(f"accept rate is {rate.value:g}, above 1", finding="unit_error")
    return line


def rank_of(head: str) -> str:
    """The data-parallel rank that stands before a decode line; empty if there is none."""
    rank = _RANK.search(head[-160:]) if "DP" in head else None
    return "" if rank is None else rank[1]


def _printed(pattern: re.Pattern[str], name: str, text: str) -> Printed | None:
    match = pattern.search(text)
    return None if match is None else as_printed(name, match[1].rstrip("."))
