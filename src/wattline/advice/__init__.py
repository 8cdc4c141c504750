"""Answers to what people ask: which cap can I bear, who was hurt, which frequency is good."""

from wattline.advice.cap import CapAdvice, CapChoice, advise_cap
from wattline.advice.limits import Limits
from wattline.advice.per_job import PerJob, compare_jobs

__all__ = ["CapAdvice", "CapChoice", "Limits", "PerJob", "advise_cap", "compare_jobs"]
