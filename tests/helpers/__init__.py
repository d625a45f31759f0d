"""Helpers of the tests: complete crawls, hostile tasks, operation counts."""
