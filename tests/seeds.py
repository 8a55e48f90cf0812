"""The seed of all random numbers in the tests."""

SEED = 20170612
