"""A schedule as an engine's own configuration, and forced acceptance for load tests of it."""

from analysis.configuration.checking import check_configuration
from analysis.configuration.methods import EngineMethod, Variant, engine_method, engines_of
from analysis.configuration.result import ENGINES, ConfigFile, Configuration, Engine
from analysis.configuration.writing import write_configuration, write_configurations

__all__ = [
    "ENGINES",
    "ConfigFile",
    "Configuration",
    "Engine",
    "EngineMethod",
    "Variant",
    "check_configuration",
    "engine_method",
    "engines_of",
    "write_configuration",
    "write_configurations",
]
