"""The stages of `gpu.py`, most important first; one that does not fit the time is skipped and recorded."""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import torch
from gpu_clock import FEWEST_REPEATS, Budget, Clock, attempted, free, measured_rates
from gpu_derived import derived
from gpu_device import device_facts
from gpu_groups import Group, expected_s, group_s, time_group, unmeasured
from gpu_loop import Plan, time_loops
from gpu_records import SCHEMA, LoopTime, Model, PassTime, Rates, Report, Stage, write_report
from gpu_settings import Settings
from gpu_stack import Shape, Stack

BUILD_S = 5.0  # a guess of the time to make both stacks on a GPU
LOOP_SHARE = 0.4  # of the time left when the loops begin


def has_device(settings: Settings) -> bool:
    return settings.device == "cpu" or torch.cuda.is_available()


def measure(settings: Settings, *, minutes: float, seed: int, out: Path | None) -> Report:
    """All stages that fit, written after each."""
    torch.manual_seed(seed)
    if settings.device == "cpu":
        torch.set_num_threads(1)  # tiny products only wait for a second thread
    if settings.device == "cuda":
        # cuDNN's attention plans anew for every length, which a growing cache has many of.
        torch.backends.cuda.enable_cudnn_sdp(enabled=False)
    run = Run(settings, minutes=minutes, seed=seed, out=out)
    with torch.inference_mode():
        run.measure()
    return run.report()


class Run:
    """A run under way: what it has measured so far."""

    def __init__(self, settings: Settings, *, minutes: float, seed: int, out: Path | None) -> None:
        self.settings, self.minutes, self.seed, self.out = settings, minutes, seed, out
        self.budget, self.clock = Budget(minutes), Clock(settings.device)
        self.shapes = {"target": settings.target, "draft": settings.draft}
        self.stacks: dict[str, Stack] = {}
        self.rates: Rates | None = None
        self.stages: list[Stage] = []
        self.passes: list[PassTime] = []
        self.loops: tuple[LoopTime, ...] = ()

    def measure(self) -> None:
        settings = self.settings
        self.stage("rates", self.measure_rates)
        self.stage("models", self.build)
        for mode in settings.modes:
            self.group(mode, 1, settings.context, settings.widths, (1, 2))
        self.stage("loops", self.measure_loops)
        for mode in settings.modes:
            for batch in settings.batches:
                self.group(mode, batch, settings.context, settings.batch_widths, (1,))
        for mode in settings.modes:
            self.group(mode, 1, settings.long_context, settings.batch_widths, (1,))

    def stage(self, name: str, work: Callable[[], str | None]) -> None:
        """Run a stage; what it returns is why it was skipped."""
        print(f"{name} ...", file=sys.stderr, flush=True)
        begin = time.monotonic()
        reason, failure = attempted(work)
        if failure is not None and name == "models":
            self.stacks.clear()
            free()
        status = failure or ("done" if reason is None else "skipped")
        self.stages.append(
            Stage(name=name, status=status, seconds=time.monotonic() - begin, reason=reason)
        )
        if self.out is not None:
            write_report(self.report(), self.out)

    def measure_rates(self) -> str | None:
        settings = self.settings
        reason = self.budget.lacks(0.0)
        if reason is None:
            self.rates = measured_rates(
                self.clock,
                copied=settings.copied_bytes,
                side=settings.product_side,
                dtype=settings.dtype,
                repeats=settings.repeats,
                budget=self.budget,
            )
        return reason

    def build(self) -> str | None:
        settings = self.settings
        if self.rates is None:
            return "no rates were measured to tell what fits"
        reason = self.budget.lacks(0.0 if settings.small else BUILD_S)
        if reason is None:
            for place, (model, shape) in enumerate(self.shapes.items()):
                self.stacks[model] = Stack(
                    shape, device=settings.device, dtype=settings.dtype, seed=self.seed + place
                )
        return reason

    def lacking(self, seconds: Callable[[], float]) -> str | None:
        """Why a stage that needs the models is skipped; None if it can run."""
        if len(self.stacks) < len(self.shapes):
            return "there are no models to time"
        return self.budget.lacks(seconds())

    def group(
        self,
        mode: str,
        batch: int,
        context: int,
        widths: tuple[int, ...],
        draft_widths: tuple[int, ...],
    ) -> None:
        """A stage of its own: passes at one batch and context."""
        settings = self.settings
        element = settings.dtype.itemsize
        repeats = settings.repeats if batch == 1 else settings.batch_repeats
        group = Group(
            mode=mode,
            batch=batch,
            context=context,
            target_widths=widths,
            draft_widths=draft_widths,
        )

        def work() -> str | None:
            reason = self.lacking(
                lambda: group_s(
                    self.shapes, group, rates=self.rates, element=element, repeats=repeats
                )
            )
            if reason is None:
                self.passes += time_group(
                    self.stacks, group, repeats=repeats, clock=self.clock, budget=self.budget
                )
            else:
                self.passes += [
                    unmeasured(self.shapes[model], group, model, count, "skipped", element)
                    for model, count in group.cases()
                ]
            return reason

        self.stage(f"passes, {mode}, batch {batch}, context {context}", work)

    def measure_loops(self) -> str | None:
        settings = self.settings
        cells = len(settings.gammas) * len(settings.chances)

        def once_s() -> float:
            """A guess: every loop takes about as long as decoding plainly."""
            return 1.25 * (cells + 1) * settings.loop_tokens * self.step_s()

        reason = self.lacking(lambda: (1 + FEWEST_REPEATS) * once_s())
        if reason is None:
            fit = int(LOOP_SHARE * self.budget.left_s / once_s()) - 1
            plan = Plan(
                mode=settings.loop_mode,
                context=settings.context,
                tokens=settings.loop_tokens,
                gammas=settings.gammas,
                chances=settings.chances,
                repeats=min(max(fit, FEWEST_REPEATS), settings.loop_repeats),
                seed=self.seed,
            )
            self.loops = time_loops(
                self.stacks["target"], self.stacks["draft"], plan, self.clock, self.budget
            )
        return reason

    def step_s(self) -> float:
        """Time of a plain step in the loops' mode: measured, or else a guess."""
        settings = self.settings
        for entry in self.passes:
            key = (entry.model, entry.mode, entry.batch, entry.tokens)
            if key == ("target", settings.loop_mode, 1, 1) and entry.pass_s is not None:
                return entry.pass_s.median
        group = Group(
            mode=settings.loop_mode,
            batch=1,
            context=settings.context,
            target_widths=(1,),
            draft_widths=(),
        )
        return expected_s(settings.target, group, 1, self.rates, settings.dtype.itemsize)

    def report(self) -> Report:
        """What has been measured up to now, with what follows from it."""
        settings = self.settings
        measured = Report(
            schema=SCHEMA,
            small=settings.small,
            date=datetime.now(tz=UTC).date().isoformat(),
            seed=self.seed,
            minutes=self.minutes,
            dtype=str(settings.dtype).removeprefix("torch."),
            context=settings.context,
            device=device_facts(settings.device, settings.dtype, settings.target),
            target=model_of(settings.target),
            draft=model_of(settings.draft),
            stages=tuple(self.stages),
            rates=self.rates,
            passes=tuple(self.passes),
            costs=(),
            loops=self.loops,
            break_even=(),
        )
        return derived(measured, gammas=settings.gammas, chances=settings.chances)


def model_of(shape: Shape) -> Model:
    return Model(
        **dataclasses.asdict(shape), weights=shape.weights, read_weights=shape.read_weights
    )
