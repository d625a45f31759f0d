"""Tests of middlewares."""
