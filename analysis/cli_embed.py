"""The command that writes the explorer as one HTML file. Registered by `analysis.cli`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

_STDOUT = Path("-")

Output = Annotated[
    Path,
    typer.Option(metavar="FILE", help="The HTML file to write; - for stdout.", allow_dash=True),
]
StartP = Annotated[float, typer.Option(help="P(accepted | tested) at the start, in [0, 1].")]
StartGamma = Annotated[int, typer.Option(help="Tokens drafted per round at the start, 1 to 16.")]
StartCostRatio = Annotated[
    float, typer.Option(help="One draft step / one plain target step at the start, 0 to 1.")
]
StartVerifyCost = Annotated[
    float, typer.Option(help="Target pass over gamma + 1 tokens / over 1 at the start, 0.1 to 20.")
]
StartOverhead = Annotated[
    float, typer.Option(help="Other cost of a round at the start, in target steps, 0 to 10.")
]
Title = Annotated[str | None, typer.Option(help="Heading of the page.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that is there.")]


def register(app: typer.Typer) -> None:
    """Add the command to `specdec`."""
    app.command(name="embed")(embed_command)


def embed_command(
    output: Output,
    p: StartP = 0.7,
    gamma: StartGamma = 4,
    cost_ratio: StartCostRatio = 0.1,
    verify_cost: StartVerifyCost = 1.0,
    overhead: StartOverhead = 0.0,
    title: Title = None,
    force: Force = False,  # noqa: FBT002
) -> None:
    """Write the explorer as one HTML file for an article: sliders, charts and table, no network."""
    from analysis.embed.document import TITLE, embedded_page  # noqa: PLC0415
    from analysis.live.setting import LiveSetting  # noqa: PLC0415

    start = LiveSetting(
        p=p, gamma=gamma, cost_ratio=cost_ratio, verify_cost=verify_cost, overhead=overhead
    )
    if output != _STDOUT and output.is_dir():
        raise ValueError(f"{output} is a folder; give the name of a file.")
    if output != _STDOUT and output.exists() and not force:
        raise ValueError(f"{output} is there already; --force overwrites it.")
    page = embedded_page(start, title=TITLE if title is None else title).encode()
    if output == _STDOUT:
        if sys.stdout is None:
            raise ValueError("stdout is closed; there is nowhere to print to.")
        sys.stdout.write(page.decode())
        return
    output.write_bytes(page)
    _say(f"{output}: {len(page) / 1000:,.0f} kB, one file that needs no network.")
    _say(
        f'In an article: <iframe src="{output.name}" title="Speculative decoding explorer" width="100%" '
        'height="900"></iframe>'
    )
    _say(f"A link can set the numbers: {output.name}#p=0.8&gamma=5&c=0.05")


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)  # noqa: T201 — about the file, beside the data
