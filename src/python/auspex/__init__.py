"""Auspex: predicts the training step of a large language model on a supercomputer that nobody has to book.

>>> import auspex
>>> auspex.predict("aurora", "optimus", "mula-7b-a1b", "mula-7b-a1b", tiles=48).mfu
0.05...
"""

from ._call import Count, Input, Overrides
from ._core import __version__
from .campaigns import Campaign, Startup
from .commands import (
    ablate,
    campaign,
    collective,
    collective_sweep,
    describe,
    diff,
    emit,
    fabric,
    import_,
    list_inputs,
    memory,
    place,
    plan,
    plan_deadline,
    plan_sizes,
    plan_vary,
    predict,
    program,
    scale,
    scenario,
    schedule,
    startup,
    version,
)
from .errors import AuspexError, InputError, InternalError
from .exchange import Emission, Imported, Listing, PipelineSchedule, Program, Scenario
from .network import Collective, CollectiveSweep, Fabric
from .results import Ablation, Description, Difference, MemoryCourse, Placements, Prediction, RunDifference, Scaling
from .searches import PlanDeadline, PlanSearch, PlanSizes, PlanVariation

__all__ = [
    "__version__",
    "Ablation",
    "AuspexError",
    "Campaign",
    "Collective",
    "CollectiveSweep",
    "Count",
    "Description",
    "Difference",
    "Emission",
    "Fabric",
    "Imported",
    "Input",
    "InputError",
    "InternalError",
    "Listing",
    "MemoryCourse",
    "Overrides",
    "PipelineSchedule",
    "Placements",
    "PlanDeadline",
    "PlanSearch",
    "PlanSizes",
    "PlanVariation",
    "Prediction",
    "Program",
    "RunDifference",
    "Scaling",
    "Scenario",
    "Startup",
    "ablate",
    "campaign",
    "collective",
    "collective_sweep",
    "describe",
    "diff",
    "emit",
    "fabric",
    "import_",
    "list_inputs",
    "memory",
    "place",
    "plan",
    "plan_deadline",
    "plan_sizes",
    "plan_vary",
    "predict",
    "program",
    "scale",
    "scenario",
    "schedule",
    "startup",
    "version",
]
