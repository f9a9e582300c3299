"""`specdec explain` as tests read it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import specdec

ROOT = Path(__file__).parents[1]
CODE, SLOW = (str(ROOT / "docs" / "examples" / name) for name in ("code.log", "slow.log"))
TINY, SMOLLM2 = (str(ROOT / "real_runs" / "data" / "runs" / name) for name in ("tiny", "smollm2"))
LLAMA = ("--target", "Llama 3.1 8B", "--hardware", "H100 SXM")
FORMULA = ("--p", "0.7", "--gamma", "4", "--cost-ratio", "0.1")


def told(*arguments, stdin=b""):
    """The JSON of the command, which must succeed and say nothing on stderr."""
    result = specdec("explain", *arguments, "--format", "json", stdin=stdin)
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout, parse_constant=pytest.fail)


def costs(found):
    """Plain steps by part, members of a lump left out."""
    return {
        row["part"]: row["gives_or_takes"]
        for row in found["waterfall"]
        if row["gives_or_takes"] is not None
    }


def net(found):
    return found["waterfall"][-1]["speed_after"]


def needed(found):
    return {row["what"]: row["needed"] for row in found["break_even"]}


def closed_form(p, gamma):
    return sum(p**n for n in range(gamma + 1))
