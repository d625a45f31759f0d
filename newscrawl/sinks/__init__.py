"""Delivery of segments to S3-compatible storage, PostgreSQL and OpenSearch.

A sink itself records the segments that it holds, so that a delivery may be repeated or killed at
any moment, and continue on another machine.
"""
