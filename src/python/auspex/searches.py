"""Searches for layouts. Fields are the keys of docs/json-output.md, with their units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ._result import Result
from .campaigns import Quantiles
from .results import Interval, PublishedSpread

Plan = dict[str, Any]
"""The members of a plan file: what predict(plan=…) takes."""


@dataclass(frozen=True, kw_only=True)
class PlanCampaign:
    """A plan as a whole run, played from failure to failure."""

    finish_by: Quantiles
    node_hours: Quantiles
    goodput: float
    interruptions: float
    nodes: int
    spares: int | None
    checkpoint_every_steps: int
    checkpoint_interval_s: float
    checkpoint_bytes: int
    checkpoint_stall_s: float
    notes: list[str]


@dataclass(frozen=True, kw_only=True)
class Finishes:
    """What was played of a search: tokens of a run, under which terms, how many plans; whether any other could be over before."""

    tokens: float
    terms: str
    samples: int
    seed: int
    played: int
    least_of_others_s: float | None = None
    certain: bool | None = None


@dataclass(frozen=True, kw_only=True)
class RankedPlan:
    """One of the best, beside the best of all."""

    plan: Plan
    step_time_s: float
    step_time_interval_s: Interval
    bound_s: float
    tokens_per_s: float
    mfu: float
    memory_peak_bytes: int
    memory_headroom_bytes: int
    losses: dict[str, float]
    behind_best: float
    behind_best_interval: Interval
    probability_faster: float
    within_uncertainty: bool
    more_of_s: dict[str, float]
    differs_from_best: dict[str, Any]
    probability_best: float
    notes: list[str]
    run_time_s: float | None = None
    node_hours: float | None = None
    campaign: PlanCampaign | None = None


@dataclass(frozen=True, kw_only=True)
class DecidingConstant:
    """A constant with another value of which another plan would lead."""

    path: str
    factor: float
    deviations: float
    leads_then: int


@dataclass(frozen=True, kw_only=True)
class MemoryRoom:
    """What the best plan leaves of a tile's memory, and the first plan that leaves enough."""

    free_share: float
    tight: bool
    wanted_share: float
    roomier: int | None
    roomier_behind_best: float | None


@dataclass(frozen=True, kw_only=True)
class PlanPoint:
    """A plan that no other beats in both step and memory."""

    plan: Plan
    step_time_s: float
    memory_peak_bytes: int


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Of what the search was."""

    machine: str
    stack: str
    workload: str
    version: str
    global_batch: int


@dataclass(frozen=True, kw_only=True, repr=False)
class PlanSearch(Result, Asked):
    """Of plan(): the best plans, a row each, fastest first."""

    _table: ClassVar = "best"
    _headline: ClassVar = ("tiles", "global_batch", "space", "evaluated", "elapsed_s")

    tiles: int
    objective: str
    space: int
    rejected: dict[str, int]
    pruned_memory: int
    pruned_bound: int
    evaluated: int
    untried: int
    checked: int
    cut: bool
    least_bound_left_s: float
    plans_per_s: float
    elapsed_s: float
    binds_s: dict[str, float]
    best: list[RankedPlan]
    published_spread: PublishedSpread | None = None
    deciding_constants: list[DecidingConstant]
    memory_room: MemoryRoom
    shut_out_by_memory: dict[str, Any]
    pareto: list[PlanPoint]
    notes: list[str]
    given: dict[str, Any] | None = None
    finish: Finishes | None = None


@dataclass(frozen=True, kw_only=True)
class SizedPlan:
    """The best plan of a size; without one, why."""

    tiles: int
    space: int
    nodes: int | None = None
    step_time_s: float | None = None
    tokens_per_s: float | None = None
    mfu: float | None = None
    memory_peak_bytes: int | None = None
    tokens_per_node_hour: float | None = None
    marginal_speedup: float | None = None
    run_time_s: float | None = None
    node_hours: float | None = None
    plan: Plan | None = None
    campaign: PlanCampaign | None = None
    why_no_plan: str | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class PlanSizes(Result, Asked):
    """Of plan_sizes(): the best plan of each number of tiles."""

    _table: ClassVar = "sizes"
    _headline: ClassVar = ("global_batch", "objective", "picked_tiles", "pays_up_to_tiles")

    run_tokens: float
    objective: str
    cut: bool
    picked_tiles: int
    cheapest_tiles: int | None = None
    front_tiles: list[int] | None = None
    played: int | None = None
    sizes: list[SizedPlan]
    speedup_that_pays: float
    pays_up_to_tiles: int
    stops_paying: bool


@dataclass(frozen=True, kw_only=True)
class VariedPlan:
    """The best plan with one value of what varies."""

    value: str
    space: int
    step_time_s: float | None = None
    tokens_per_s: float | None = None
    mfu: float | None = None
    memory_peak_bytes: int | None = None
    plan: Plan | None = None
    differs_from_last: dict[str, Any] | None = None
    first_plan_step_time_s: float | None = None
    first_plan_fits: bool | None = None


@dataclass(frozen=True, kw_only=True, repr=False)
class PlanVariation(Result, Asked):
    """Of plan_vary(): a search for each value of a field."""

    _table: ClassVar = "values"
    _headline: ClassVar = ("tiles", "global_batch", "varied")

    tiles: int
    varied: str
    cut: bool
    values: list[VariedPlan]


@dataclass(frozen=True, kw_only=True, repr=False)
class PlanDeadline(Result, Asked):
    """Of plan_deadline(): the smallest size that is done in time."""

    _table: ClassVar = "smallest"
    _headline: ClassVar = ("global_batch", "run_tokens", "deadline_s")

    run_tokens: float
    deadline_s: float
    sizes_with_plans: int
    smallest: SizedPlan
