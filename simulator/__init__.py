"""The vocabulary of speculative decoding, and what happens in a round, by sampling."""

from simulator._counting import LengthRule
from simulator.acceptance import AcceptanceTable
from simulator.costs import MeasuredRequest, PassTimes, StepTimes
from simulator.decoding import decode
from simulator.drafts import Chain
from simulator.engine import simulate, simulate_counts, simulate_lengths
from simulator.estimate import Estimate
from simulator.generation import Generation, Round, replay
from simulator.mixtures import BetaMixture, EasyHardChain, HitMiss, Process, TextProcess
from simulator.models import Draft, Drafter, Target
from simulator.observation import METHODS, Clock, CountedUnit, Method, Observation
from simulator.observed import observation_of_requests
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
    Picked,
    Rule,
    block_verification,
    greedy,
    lenience,
    one_hot,
    sample_and_match,
    speculative_sampling,
    typical_acceptance,
)
from simulator.sampling import Sampling
from simulator.step_samples import StepSample
from simulator.stopping import ConfidenceThreshold, FixedLength, Heuristic, Oracle, Stop
from simulator.strategies import Strategy, draft_model
from simulator.totals import AcceptanceTotals, Counts, ReportedRatio
from simulator.toy import IndependentContexts, MarkovChain, ToyDrafter
from simulator.trace import TraceReplay
from simulator.trace_walk import replay_texts
from simulator.verification import Verdict, draw, verify, verify_logits

__all__ = [
    "METHODS",
    "RULES",
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
    "CountedUnit",
    "Counts",
    "Draft",
    "Drafter",
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
    "PassTimes",
    "Picked",
    "Process",
    "ReportedRatio",
    "Round",
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
    "TraceReplay",
    "Verdict",
    "block_verification",
    "calibrated_acceptance",
    "decode",
    "draft_model",
    "draw",
    "greedy",
    "lenience",
    "observation_of_requests",
    "one_hot",
    "replay",
    "replay_texts",
    "sample_and_match",
    "simulate",
    "simulate_counts",
    "simulate_lengths",
    "simulate_requests",
    "speculative_sampling",
    "typical_acceptance",
    "verify",
    "verify_logits",
]
