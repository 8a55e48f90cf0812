"""Check the sources without executing anything."""

import environment

if __name__ == "__main__":
    environment.start("checking")
