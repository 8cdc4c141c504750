"""Answers to what people ask: which cap can I bear, who was hurt, which frequency is good."""
