"""Answers to what people ask: which cap can I bear, who was hurt, which frequency is good."""

from wattline.advice import advise
from wattline.advice.cap import CapAdvice, CapChoice, advise_cap
from wattline.advice.job import Sources, advise_job
from wattline.advice.job_options import JobAdvice, JobOption
from wattline.advice.limits import Limits
from wattline.advice.per_job import PerJob, compare_jobs

__all__ = [
    "CapAdvice", "CapChoice", "JobAdvice", "JobOption", "Limits", "PerJob", "Sources", "advise",
    "advise_cap", "advise_job", "compare_jobs",
]
