"""Ways to propose tokens to a target, one file each; those with trained heads need torch to import."""

from real_runs.drafters.draft_model import DraftModel
from real_runs.drafters.lookahead import Lookahead
from real_runs.drafters.prompt_lookup import PromptLookup

__all__ = ["DraftModel", "Lookahead", "PromptLookup"]
