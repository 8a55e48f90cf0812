"""Build the book."""

import environment

if __name__ == "__main__":
    environment.start("building")
