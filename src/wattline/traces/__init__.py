"""Job logs in and out: SWF, sacct, columnar tables, synthetic workloads."""

from wattline.traces.frames import trace_of
from wattline.traces.generators import MODELS, generate
from wattline.traces.reader import is_log, read
from wattline.traces.trace import CleaningReport, RuleCount, Trace
from wattline.traces.writer import write

__all__ = ["MODELS", "CleaningReport", "RuleCount", "Trace", "generate", "is_log", "read",
           "trace_of", "write"]
