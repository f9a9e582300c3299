"""What the wheel holds: the four packages and their data, and it works from the wheel alone."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

PACKAGES = {"simulator", "analysis", "real_runs", "app_pages"}
TINY = {
    f"real_runs/tiny/{model}/{file}"
    for model in ("target", "draft")
    for file in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json")
}
DATA = {"analysis/data/published.csv", "real_runs/tiny/corpus.csv", *TINY}
PROBE = """
import analysis, simulator, real_runs.engines, real_runs.drafters
assert ".whl" in analysis.__file__, analysis.__file__
from analysis.published import leviathan_table_1
assert len(leviathan_table_1()) == 6
"""


def main(folder: str) -> None:
    (wheel,) = Path(folder).resolve().glob("specdec-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    top = {name.split("/")[0] for name in names if ".dist-info" not in name}
    if top != PACKAGES:
        sys.exit(f"the wheel must hold {sorted(PACKAGES)} at its top; it holds {sorted(top)}.")
    if missing := sorted(DATA.difference(names)):
        sys.exit(f"the wheel must hold {', '.join(missing)}.")
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(wheel)!r})\n{PROBE}",
    ]
    with tempfile.TemporaryDirectory() as elsewhere:
        subprocess.run(command, check=True, cwd=elsewhere)
    print(f"{wheel.name}: {len(names)} files, {wheel.stat().st_size / 1024:.0f} KB, works")


if __name__ == "__main__":
    main(sys.argv[1])
