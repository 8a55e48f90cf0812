"""Run every test."""

import environment

if __name__ == "__main__":
    environment.start("testing")
