"""The page of systems: heads, trees and look-ups beside the draft model, on one pair of axes."""
