"""Job logs in and out: SWF, sacct, columnar tables, synthetic workloads."""

from wattline.traces.generators import MODELS, generate
from wattline.traces.reader import read
from wattline.traces.trace import CleaningReport, RuleCount, Trace
from wattline.traces.writer import write

__all__ = ["MODELS", "CleaningReport", "RuleCount", "Trace", "generate", "read", "write"]
