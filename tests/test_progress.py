"""Progress is shown to a terminal, after a while, and to nobody else."""

from __future__ import annotations

import io

from analysis import progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


def run(monkeypatch, stream, patience_s):
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(progress, "_PATIENCE_S", patience_s)
    with progress.shown_progress("flipping tokens") as report:
        if report is not None:
            report(0.25)
            report(1.0)
    return stream.getvalue()


def test_a_long_run_shows_a_bar(monkeypatch):
    assert "flipping tokens" in run(monkeypatch, Terminal(), patience_s=-1.0)


def test_a_short_run_shows_none(monkeypatch):
    assert not run(monkeypatch, Terminal(), patience_s=1e6).strip()


def test_a_pipe_gets_none(monkeypatch):
    monkeypatch.setattr("sys.stderr", io.StringIO())
    with progress.shown_progress("flipping tokens") as report:
        assert report is None
