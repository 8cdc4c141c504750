"""Answers to what people ask: which cap can I bear, who was hurt, which frequency is good."""

from wattline.advice.cap import CapAdvice, CapChoice, advise_cap
from wattline.advice.limits import Limits

__all__ = ["CapAdvice", "CapChoice", "Limits", "advise_cap"]
