"""transformers' assisted generation, recorded: what it drafted, tested and kept."""

from __future__ import annotations

import torch

import analysis as an
from real_runs.engines.assisted.hook import record_assisted
from real_runs.target import load_target


def main() -> None:
    """Generate with the bundled pair, and read the counts that `generate` does not return."""
    target, assistant = load_target("tiny"), load_target("tiny-draft").model
    assistant.generation_config.num_assistant_tokens = 4
    assistant.generation_config.num_assistant_tokens_schedule = "constant"
    assistant.generation_config.assistant_confidence_threshold = 0.0
    prompt = torch.tensor([list(target.tokenizer.encode("class Reader:\n    def "))])
    with record_assisted(target.model) as recorder:
        target.model.generate(
            prompt,
            attention_mask=torch.ones_like(prompt),
            assistant_model=assistant,
            do_sample=False,
            max_new_tokens=64,
        )
    seen = recorder.observation()
    print("rounds, drafted, accepted:", seen.rounds, seen.drafted, seen.accepted)
    print("p:", an.estimate_p(seen.counts))


if __name__ == "__main__":
    main()
