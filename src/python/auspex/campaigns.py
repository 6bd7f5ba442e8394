"""Whole training runs. Fields are the keys of docs/json-output.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ._result import Result


@dataclass(frozen=True, kw_only=True)
class Quantiles:
    """Of a number over the samples; None: so many were given up."""

    p10: float | None
    p50: float | None
    p90: float | None
    mean: float | None


@dataclass(frozen=True, kw_only=True)
class Interruptions(Quantiles):
    """Of a campaign; by cause their means, and the shares of all time that they cost."""

    by_cause: dict[str, float]
    lost_to: dict[str, float]


@dataclass(frozen=True, kw_only=True)
class ClosedForms:
    """What is known without playing, and why it differs where it does."""

    mtbf_s: float
    restart_s: float
    young_interval_s: float
    daly_interval_s: float
    exact_interval_s: float
    exact_efficiency: float
    expected_finish_s: float | None
    played_finish_s: float | None
    played_error_s: float | None
    agrees: bool
    spare_quantile_p99: int | None
    broken_assumptions: list[str]
    whole_run: dict[str, Any]


@dataclass(frozen=True, kw_only=True, repr=False)
class Campaign(Result):
    """Of campaign(): a training run, played from failure to failure many times."""

    _headline: ClassVar = ("steps", "goodput", "checkpoint_interval_optimum_s", "samples")

    version: str
    steps: int
    step_s: float
    prepare_s: float
    nodes: int
    spares: int | None
    checkpoint_every_steps: int
    checkpoint_interval_s: float
    checkpoint: dict[str, Any]
    recovery: dict[str, float]
    finish_by: Quantiles
    node_hours: Quantiles
    goodput: float
    badput: dict[str, float]
    interruptions: Interruptions
    checkpoint_interval_optimum_s: float | None
    checkpoint_interval_optimum_steps: int | None
    spares_needed_p99: int
    checkpoints: float
    blocks: float
    requeues: float
    lost_steps: float
    given_up: int
    ends_corrupt: float
    samples: int
    seed: int
    notes: list[str]
    elapsed_s: float
    closed_forms: ClosedForms | None = None
    deadline_s: float | None = None
    share_by_deadline: float | None = None
    start: str | None = None
    finish_date: dict[str, str | None] | None = None
    machine: str | None = None
    stack: str | None = None
    workload: str | None = None
    plan: str | None = None
    overrides: list[str] | None = None
    tiles: int | None = None
    tokens_per_step: float | None = None
    tokens: float | None = None
    step_time_interval_s: tuple[float, float] | None = None
    worth: dict[str, dict[str, float | None]] | None = None
    curve: dict[str, Any] | None = None
    optimum: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class StartPhase:
    """A part of a start, and the longest of what it is made of."""

    name: str
    seconds: float
    share: float
    bound_by: str


@dataclass(frozen=True, kw_only=True)
class StartWithout:
    """The same start without what makes it shorter; at least so long, where every server has a part of what all read."""

    phases: list[StartPhase]
    total_s: float
    least_s: float | None


@dataclass(frozen=True, kw_only=True)
class StartPoint:
    """The same job on other nodes: seconds by phase, and what it would take without a feature."""

    nodes: int
    ranks: int
    total_s: float
    phases: dict[str, float]
    without: dict[str, float]
    public_runs: str | None


@dataclass(frozen=True, kw_only=True, repr=False)
class Startup(Result):
    """Of startup(): from a job's submission to its first step."""

    _headline: ClassVar = ("nodes", "ranks", "total_s")

    version: str
    machine: str
    stack: str
    workload: str | None
    plan: str | None
    overrides: list[str]
    nodes: int
    ranks: int
    phases: list[StartPhase]
    total_s: float
    without: dict[str, StartWithout]
    curve: list[StartPoint]
    notes: list[str]
