"""Tests of the testbed itself. They start no guest."""
