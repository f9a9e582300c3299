"""Writes the example logs that no engine printed, from rounds flipped by the simulator.

python docs/examples/write_logs.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import simulator as sim
from real_runs.engines.vllm.writing import vllm_request_json


def answers(p: float, *, seed: int) -> str:
    """Sixty requests as vLLM answers them with --per-request-spec-decode-metrics, a line each.

    The same seed makes the same requests easy, whatever the draft: they stand for the same prompts.
    """
    strategy = sim.draft_model(acceptance=sim.BetaMixture(p=p, concentration=8.0), gamma=4)
    run = sim.simulate_requests(strategy, requests=60, tokens=200, rng=seed)
    return "".join(f"{vllm_request_json(unit)}\n" for unit in run.units())


def counters(table: sim.AcceptanceTable) -> str:
    """Counters as a vLLM server has them under /metrics."""
    labels = 'engine="0",model_name="m"'
    totals = {
        "num_drafts": table.rounds,
        "num_draft_tokens": table.drafted,
        "num_accepted_tokens": sum(table.accepted),
    }
    rows = [f"vllm:spec_decode_{name}_total{{{labels}}} {n}.0" for name, n in totals.items()]
    rows += [
        f'vllm:spec_decode_num_accepted_tokens_per_pos_total{{{labels},position="{depth}"}} {kept}.0'
        for depth, kept in enumerate(table.accepted)
    ]
    return "".join(f"{row}\n" for row in rows)


def main(folder: Path) -> None:
    """All of them, the same each time."""
    morning = sim.simulate(sim.draft_model(p=0.8, gamma=3), rounds=4_000, rng=1)
    later = morning + sim.simulate(sim.draft_model(p=0.6, gamma=3), rounds=6_000, rng=2)
    texts = {
        "old_draft.jsonl": answers(0.70, seed=0),
        "new_draft.jsonl": answers(0.76, seed=0),
        "other_prompts.jsonl": answers(0.76, seed=1),
        "then.prom": counters(morning),
        "now.prom": counters(later),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
