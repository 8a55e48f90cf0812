"""The command ``python -m mha.practice.worksheets``."""

from mha.practice.worksheets.command import main

main()
