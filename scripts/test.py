"""Run every test."""

import environment

if __name__ == "__main__":
    environment.enter()

    import testing

    testing.main()
