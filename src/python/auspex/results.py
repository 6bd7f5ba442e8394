"""Predictions and what is made of several of them. Fields are the keys of docs/json-output.md, with their units."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from ._result import Result

Interval = tuple[float, float]
"""About 90 %: low, high."""


@dataclass(frozen=True, kw_only=True)
class StageMemory:
    """A tile of one pipeline stage, at its peak."""

    stage: int
    peak_bytes: int
    peak_operation: str
    by_label: dict[str, int]
    peak_by_label: dict[str, int]
    reserved_bytes: int | None = None
    allocated_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What a tile needs, the heaviest stage's."""

    peak_bytes: int
    capacity_bytes: int
    fits: bool
    heaviest_stage: int
    verdict: str
    by_label: dict[str, int]
    by_stage: list[StageMemory]
    reserved_bytes: int | None = None
    allocated_bytes: int | None = None


@dataclass(frozen=True, kw_only=True)
class Cause:
    """A bar of the waterfall from the peak to MFU."""

    cause: str
    seconds: float
    mfu: float


@dataclass(frozen=True, kw_only=True)
class ConstantLeanedOn:
    """A constant, and the percent of step time for a percent of it."""

    path: str
    kind: str
    elasticity: float


@dataclass(frozen=True, kw_only=True)
class OperationTime:
    """An operation of the step: mean over tiles."""

    name: str
    seconds: float
    count: float
    bound_by: str


@dataclass(frozen=True, kw_only=True)
class BoundTime:
    """Time of operations that one limit binds, on all streams."""

    what: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class PlanChange:
    """What a change of the plan would give; `set` as predict() takes it."""

    field: str
    set: list[str]
    step_time_s: float
    mfu: float
    gain: float
    memory_peak_bytes: int
    fits: bool
    stack_lacks: str
    emit_refuses: str
    changes_results: bool


@dataclass(frozen=True, kw_only=True)
class BetterConstant:
    """What a constant `factor` times as large would give."""

    path: str
    value: float
    factor: float
    step_time_s: float
    mfu: float
    gain: float


@dataclass(frozen=True, kw_only=True)
class Advice:
    """What would help, the best first: docs/why.md."""

    tried: int
    elapsed_s: float
    plan: list[PlanChange]
    one_after_another: list[PlanChange]
    without_gain: list[str]
    not_tried: str
    constants: list[BetterConstant]


@dataclass(frozen=True, kw_only=True)
class LinkUse:
    """How full the links of a kind are over the step."""

    kind: str
    busiest: str
    busiest_share: float
    mean_share: float
    bytes: float


@dataclass(frozen=True, kw_only=True)
class PublishedSpread:
    """How far predictions of published runs are off beyond what their constants explain."""

    of: str
    runs: int
    sources: int
    sigma: float


@dataclass(frozen=True, kw_only=True)
class Step:
    """One step of training, as every prediction has it."""

    tiles: int
    nodes: int
    dp: int
    data_parallel: int
    pp: int
    ep: int
    etp: int
    tp: int
    cp: int
    global_batch: int
    tokens_per_step: int
    lens: str
    step_time_s: float
    step_time_interval_s: Interval | None = None
    step_time_interval_with_spread_s: Interval | None = None
    published_spread: PublishedSpread | None = None
    tokens_per_s: float
    tokens_per_s_per_tile: float
    tflops_per_tile: float
    mfu: float
    hfu: float
    peak_flop_per_s: float
    memory: Memory
    losses: dict[str, float]
    waterfall: list[Cause]
    forward_backward_s: float
    optimizer_s: float
    executor_proven: bool
    operations: int
    events: int
    elapsed_s: float
    sensitivity_elapsed_s: float
    top_constants: list[ConstantLeanedOn]
    operations_by_time: list[OperationTime]
    bound_by: list[BoundTime]
    link_use: list[LinkUse]
    notes: list[str]
    step_node_hours: float
    run_tokens: float | None = None
    run_time_s: float | None = None
    node_hours: float | None = None


@dataclass(frozen=True, kw_only=True)
class Named:
    """Names of the four inputs, what was set in them, and the version that answered."""

    machine: str
    stack: str
    release: str
    communication: str
    workload: str
    plan: str
    overrides: list[str]
    version: str


@dataclass(frozen=True, kw_only=True, repr=False)
class Prediction(Result, Named, Step):
    """Of predict(). The last fields are those of the unfolded lens."""

    _headline: ClassVar = ("step_time_s", "tokens_per_s", "mfu", "tiles", "nodes", "global_batch")

    advice: Advice | None = None
    seed: int | None = None
    samples: list[float] | None = None
    percentiles: dict[str, float] | None = None
    folded_step_time_s: float | None = None
    folded_error: float | None = None
    slowest_tiles: list[dict[str, Any]] | None = None
    slowest_links: list[dict[str, Any]] | None = None
    slow: list[dict[str, Any]] | None = None
    chakra: dict[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class ScalePoint(Step):
    """One size, beside the first one: tokens a second and tile over its."""

    efficiency: float
    efficiency_without_detour_delay: float
    efficiency_without_background: float
    efficiency_without_both: float
    efficiency_without_stragglers: float


@dataclass(frozen=True, kw_only=True, repr=False)
class Scaling(Result, Named):
    """Of scale(): a row a size."""

    _table: ClassVar = "points"
    _headline: ClassVar = ("mode",)

    mode: str
    points: list[ScalePoint]
    advice_tiles: int | None = None
    advice: Advice | None = None


@dataclass(frozen=True, kw_only=True)
class TimedPass:
    """A pass of a stage; bytes are by label, in the order of MemoryCourse.labels."""

    kind: str = field(metadata={"key": "pass"})
    chunk: int | None = None
    micro_batch: int | None = None
    begin_s: float
    end_s: float
    peak_bytes: list[int]
    end_bytes: list[int]


@dataclass(frozen=True, kw_only=True)
class StageCourse:
    """A stage's memory over the step."""

    stage: int
    activations_at_peak: dict[str, int]
    passes: list[TimedPass]


@dataclass(frozen=True, kw_only=True, repr=False)
class MemoryCourse(Result, Named):
    """Of memory(): a row a stage."""

    _table: ClassVar = "memory.by_stage"
    _headline: ClassVar = ("tiles", "global_batch", "step_time_s")

    tiles: int
    global_batch: int
    step_time_s: float
    memory: Memory
    labels: list[str]
    stages: list[StageCourse]


@dataclass(frozen=True, kw_only=True)
class PlacedStep(Step):
    """A step on one placement."""

    placement: str
    groups_touched: int


@dataclass(frozen=True, kw_only=True, repr=False)
class Placements(Result, Named):
    """Of place(): a row a placement."""

    _table: ClassVar = "placements"
    _headline: ClassVar = ("tiles",)

    tiles: int
    placements: list[PlacedStep]


@dataclass(frozen=True, kw_only=True)
class AblationRow:
    """The plan with other expert kernels or another optimizer, beside the baseline."""

    name: str
    step_time_s: float
    forward_backward_s: float
    optimizer_s: float
    optimizer_share: float
    speedup_forward_backward: float
    speedup_optimizer: float
    speedup_training: float
    fits: bool


@dataclass(frozen=True, kw_only=True, repr=False)
class Ablation(Result, Named):
    """Of ablate(): baseline, fused-experts, ep-aware, both."""

    _table: ClassVar = "rows"
    _headline: ClassVar = ("tiles",)

    tiles: int
    variants: list[AblationRow] = field(metadata={"key": "rows"})


@dataclass(frozen=True, kw_only=True)
class Change:
    """A number of both sides, or the JSON texts of a field."""

    name: str
    before: Any
    after: Any


@dataclass(frozen=True, kw_only=True, repr=False)
class Difference(Result):
    """Of diff(): what differs; a row a total."""

    _table: ClassVar = "totals"
    _headline: ClassVar = ("before", "after", "kind")

    before: str
    after: str
    kind: str
    overrides: list[str]
    inputs: list[Change]
    totals: list[Change]
    losses: list[Change]
    memory: list[Change]
    operations: list[Change]
    version: str


@dataclass(frozen=True, kw_only=True, repr=False)
class RunDifference(Result, Named):
    """Of diff() with a trace: a measured run beside its prediction; a row an operation."""

    _table: ClassVar = "operations"
    _headline: ClassVar = ("trace", "measured_s", "predicted_s", "explained_s")

    trace: str
    device: str
    tiles: int
    measured_s: float
    predicted_s: float
    explained_s: float | None
    ranks: list[dict[str, Any]]
    losses: list[dict[str, Any]]
    operations: list[dict[str, Any]]
    unmatched_kernels: list[dict[str, Any]]
    constants: list[dict[str, Any]]
    notes: list[str]


@dataclass(frozen=True, kw_only=True, repr=False)
class Description(Result):
    """Of describe(): a model in closed form. Rows: parameters, total and active."""

    _headline: ClassVar = ("name", "file")

    name: str
    file: str
    sha256: str
    overrides: list[str]
    version: str
    parameters: dict[str, dict[str, float]]
    flop_per_token: dict[str, float]
    bytes: dict[str, int]
    plan: dict[str, Any] | None = None
