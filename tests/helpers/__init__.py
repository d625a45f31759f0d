"""Helpers of the tests: whole crawls, hostile tasks, operation counts."""
