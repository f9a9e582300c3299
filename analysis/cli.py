"""The command line `specdec`: arguments in, reports out.

Exit codes: 0 fine, 1 a check failed, 2 usage, 3 bad data, 130 interrupted. Modules that compute are
imported inside the commands, so that `specdec --help` stays quick.
"""

from __future__ import annotations

import io
import os
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from analysis import (
    cli_compare,
    cli_embed,
    cli_explain,
    cli_load,
    cli_logs,
    cli_pass_cost,
    cli_plan,
    cli_runs,
    cli_serving,
    cli_strategies,
    cli_train_heads,
)
from analysis.options import (
    AcceptedFraction,
    Address,
    AtOnce,
    ByDepth,
    CostRatio,
    Gamma,
    MaxGamma,
    MeasuredGamma,
    OutputFormat,
    Overhead,
    P,
    Port,
    PrefillShare,
    Rounds,
    Seed,
    TableFile,
    TokensPerRound,
    VerifyCostText,
    acceptance,
    numbers,
    required_gamma,
    verify_costs,
)
from analysis.output import KEPT, Format, emit
from analysis.progress import shown_progress

if TYPE_CHECKING:
    from simulator import AcceptanceTable, Strategy

EXIT_CHECK_FAILED, EXIT_USAGE, EXIT_BAD_DATA = 1, 2, 3

app = typer.Typer(
    name="specdec",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Speculative decoding: does it pay, here? Data goes to stdout, everything else to stderr. "
    "Exit codes: 0 fine, 1 a check failed, 2 usage, 3 bad data, 130 interrupted.",
)


def _print_version(wanted: bool) -> None:  # noqa: FBT001 — the shape of a typer callback
    if wanted:
        from importlib.metadata import version  # noqa: PLC0415

        print(f"specdec {version('specdec')}")  # noqa: T201
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[  # noqa: FBT002 — an option, never passed by position
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version."),
    ] = False,
) -> None:
    """Options of `specdec` itself."""


@app.command()
def article(rounds: Rounds = 200_000, seed: Seed = 0, output: OutputFormat = Format.TABLE) -> None:
    """The article's numbers, in closed form and from flipped tokens, and its claims judged."""
    from analysis import article as source  # noqa: PLC0415
    from analysis.reports import article_report  # noqa: PLC0415
    from simulator import draft_model  # noqa: PLC0415

    strategy = draft_model(p=source.P, gamma=source.GAMMA)
    emit(article_report(_sample(strategy, rounds, seed, counts=False), seed), output)


@app.command(name="simulate")
def simulate_command(
    p: P = None,
    gamma: Gamma = None,
    by_depth: ByDepth = None,
    rounds: Rounds = 200_000,
    seed: Seed = 0,
    counts: AtOnce = False,  # noqa: FBT002
    output: OutputFormat = Format.TABLE,
) -> None:
    """Flip the tested tokens of many rounds; sampled quantities beside the exact ones."""
    _simulation("simulate", p, gamma, by_depth, rounds, seed, counts, None, output)


@app.command(name="check")
def check_command(
    p: P = None,
    gamma: Gamma = None,
    by_depth: ByDepth = None,
    rounds: Rounds = 200_000,
    seed: Seed = 0,
    counts: AtOnce = False,  # noqa: FBT002
    table: TableFile = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Test counts against the exact law of a strategy; exit 1 if they contradict it."""
    if not _simulation("check", p, gamma, by_depth, rounds, seed, counts, table, output):
        raise typer.Exit(EXIT_CHECK_FAILED)


@app.command()
def predict(
    p: P = None,
    gamma: Gamma = None,
    cost_ratio: CostRatio = 0.1,
    verify_cost: VerifyCostText = "1",
    overhead: Overhead = 0.0,
    prefill_share: PrefillShare = 0.0,
    max_gamma: MaxGamma = 16,
    accepted_fraction: AcceptedFraction = None,
    tokens_per_round: TokensPerRound = None,
    measured_gamma: MeasuredGamma = None,
    output: OutputFormat = Format.TABLE,
) -> None:
    """Tokens per round, cost and speedup for every draft length, and the best one."""
    from analysis.reports import prediction_report  # noqa: PLC0415

    one_p, notes = acceptance(p, accepted_fraction, tokens_per_round, measured_gamma)
    emit(
        prediction_report(
            p=one_p,
            gamma=required_gamma(measured_gamma if gamma is None else gamma),
            cost_ratio=cost_ratio,
            verify_cost=verify_costs(verify_cost),
            overhead=overhead,
            prefill_share=prefill_share,
            max_gamma=max_gamma,
            notes=notes,
        ),
        output,
    )


@app.command(name="app")
def app_command(
    port: Port = 8501,
    address: Address = "127.0.0.1",
) -> None:
    """Start the slider app in the browser (needs the `app` extra)."""
    from importlib.util import find_spec  # noqa: PLC0415

    if find_spec("streamlit") is None or find_spec("altair") is None:
        raise ValueError(
            'the app needs Streamlit and Altair: pip install -e ".[app]" in the checkout.'
        )
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            raise ValueError(f"port {port} is in use; try --port {port % 65_535 + 1}.")
    # A process of its own, for the app is no layer below; it takes over the terminal and Ctrl-C.
    arguments = ["-m", "app_pages", "--port", str(port), "--address", address]
    os.execv(sys.executable, [sys.executable, *arguments])  # noqa: S606


def _simulation(
    name: str,
    p: float | None,
    gamma: int | None,
    by_depth: str | None,
    rounds: int,
    seed: int,
    counts: bool,  # noqa: FBT001
    table_file: Path | None,
    output: Format,
) -> bool:
    from analysis.checking import check  # noqa: PLC0415
    from analysis.reports import simulation_report  # noqa: PLC0415
    from analysis.table_file import read_table  # noqa: PLC0415
    from simulator import draft_model  # noqa: PLC0415

    if (p is None) == (by_depth is None):
        raise ValueError("give --p or --by-depth, one of the two.")
    strategy = draft_model(
        p=p, by_depth=None if by_depth is None else numbers("--by-depth", by_depth), gamma=gamma
    )
    table = read_table(table_file) if table_file else _sample(strategy, rounds, seed, counts=counts)
    result = check(strategy, table)
    parameters = (
        ("p", p),
        ("by_depth", by_depth),
        ("gamma", strategy.draft.gamma),
        ("rounds", table.rounds),
        ("seed", seed if table_file is None else None),
        ("method", _method(counts, table_file)),
    )
    emit(simulation_report(name, strategy, table, result, parameters), output)
    return result.passed


def _sample(strategy: Strategy, rounds: int, seed: int, *, counts: bool) -> AcceptanceTable:
    from simulator import simulate, simulate_counts  # noqa: PLC0415

    if counts:
        return simulate_counts(strategy, rounds=rounds, rng=seed)
    with shown_progress("flipping tokens") as progress:
        return simulate(strategy, rounds=rounds, rng=seed, progress=progress)


def _method(counts: bool, table_file: Path | None) -> str:  # noqa: FBT001
    if table_file is not None:
        return f"table {'of stdin' if str(table_file) == '-' else table_file}"
    return "binomial counts" if counts else "flipped tokens"


COMMANDS = (
    cli_logs,
    cli_compare,
    cli_embed,
    cli_explain,
    cli_pass_cost,
    cli_load,
    cli_plan,
    cli_serving,
    cli_strategies,
    cli_runs,
    cli_train_heads,
)
for commands in COMMANDS:
    commands.register(app)


def main() -> None:
    """Run the command line; errors become one sentence on stderr and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and not stream.isatty():
            stream.reconfigure(encoding="utf-8")  # γ and × survive a redirect on any system
    try:
        app()
    except (ValueError, OSError) as error:
        _fail(error, EXIT_BAD_DATA if _is_bad_data(error) else EXIT_USAGE)


def _is_bad_data(error: Exception) -> bool:
    """Whether the data are wrong, not the call; asked only once something failed."""
    from analysis.table_file import TableFileError  # noqa: PLC0415
    from real_runs.engines.errors import MetricsFormatError  # noqa: PLC0415

    return isinstance(error, (MetricsFormatError, TableFileError))


def _fail(error: Exception, code: int) -> None:
    from simulator._printable import printable  # noqa: PLC0415 — `--help` needs no numpy

    sentence = str(error)
    if isinstance(error, OSError) and error.filename is not None:
        sentence = f"{error.filename}: {error.strerror}."
    print(f"Error: {printable(sentence, keep=KEPT)}", file=sys.stderr)  # noqa: T201
    sys.exit(code)


if __name__ == "__main__":
    main()
