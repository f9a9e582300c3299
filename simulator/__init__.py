"""The vocabulary of speculative decoding, and what happens in a round, by sampling.

A server under load is `simulator.serving`, imported by that name.
"""

from simulator._counting import LengthRule
from simulator.acceptance import AcceptanceTable
from simulator.costs import MeasuredRequest, PassTimes, StepTimes
from simulator.decoding import decode
from simulator.drafts import Chain
from simulator.dynamic_tree import DynamicTree
from simulator.engine import simulate, simulate_counts, simulate_lengths, simulate_nodes
from simulator.estimate import Estimate
from simulator.generation import Generation, Round, replay
from simulator.mixtures import BetaMixture, EasyHardChain, HitMiss, Process, TextProcess
from simulator.models import Draft, Drafter, PassReader, Target, TreeTarget
from simulator.observation import METHODS, Clock, CountedUnit, Method, Observation
from simulator.observed import observation_of_requests
from simulator.parallel_candidates import ParallelCandidates
from simulator.processes import (
    AcceptanceByDepth,
    AcceptanceProcess,
    ConfidentAcceptance,
    ConstantAcceptance,
    calibrated_acceptance,
)
from simulator.request_counts import RoundsInOrder, SimulatedRequests
from simulator.requests import simulate_requests
from simulator.rules import (
    RULES,
    TREE_RULES,
    Picked,
    Rule,
    block_verification,
    greedy,
    lenience,
    one_hot,
    sample_and_match,
    speculative_sampling,
    typical_acceptance,
    without_replacement,
)
from simulator.sampling import Sampling
from simulator.step_samples import StepSample
from simulator.stopping import ConfidenceThreshold, FixedLength, Heuristic, Oracle, Stop
from simulator.strategies import Strategy, draft_model
from simulator.systems import block, eagle, lookahead, medusa, mtp, prompt_lookup
from simulator.totals import AcceptanceTotals, Counts, ReportedRatio
from simulator.toy import IndependentContexts, MarkovChain, ToyDrafter
from simulator.toy_trees import ToyTreeDrafter
from simulator.trace import TraceReplay
from simulator.trace_walk import replay_texts
from simulator.tree_acceptance import (
    Context,
    ContextMixture,
    RankAcceptance,
    RoundKind,
    TreeAcceptance,
)
from simulator.tree_verification import TreeVerdict, verify_tree
from simulator.trees import Tree
from simulator.verification import Verdict, draw, verify, verify_logits

__all__ = [
    "METHODS",
    "RULES",
    "TREE_RULES",
    "AcceptanceByDepth",
    "AcceptanceProcess",
    "AcceptanceTable",
    "AcceptanceTotals",
    "BetaMixture",
    "Chain",
    "Clock",
    "ConfidenceThreshold",
    "ConfidentAcceptance",
    "ConstantAcceptance",
    "Context",
    "ContextMixture",
    "CountedUnit",
    "Counts",
    "Draft",
    "Drafter",
    "DynamicTree",
    "EasyHardChain",
    "Estimate",
    "FixedLength",
    "Generation",
    "Heuristic",
    "HitMiss",
    "IndependentContexts",
    "LengthRule",
    "MarkovChain",
    "MeasuredRequest",
    "Method",
    "Observation",
    "Oracle",
    "ParallelCandidates",
    "PassReader",
    "PassTimes",
    "Picked",
    "Process",
    "RankAcceptance",
    "ReportedRatio",
    "Round",
    "RoundKind",
    "RoundsInOrder",
    "Rule",
    "Sampling",
    "SimulatedRequests",
    "StepSample",
    "StepTimes",
    "Stop",
    "Strategy",
    "Target",
    "TextProcess",
    "ToyDrafter",
    "ToyTreeDrafter",
    "TraceReplay",
    "Tree",
    "TreeAcceptance",
    "TreeTarget",
    "TreeVerdict",
    "Verdict",
    "block",
    "block_verification",
    "calibrated_acceptance",
    "decode",
    "draft_model",
    "draw",
    "eagle",
    "greedy",
    "lenience",
    "lookahead",
    "medusa",
    "mtp",
    "observation_of_requests",
    "one_hot",
    "prompt_lookup",
    "replay",
    "replay_texts",
    "sample_and_match",
    "simulate",
    "simulate_counts",
    "simulate_lengths",
    "simulate_nodes",
    "simulate_requests",
    "speculative_sampling",
    "typical_acceptance",
    "verify",
    "verify_logits",
    "verify_tree",
    "without_replacement",
]
