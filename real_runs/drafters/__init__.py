"""Ways to propose tokens to a target, one file each."""

from real_runs.drafters.draft_model import DraftModel
from real_runs.drafters.prompt_lookup import PromptLookup

__all__ = ["DraftModel", "PromptLookup"]
