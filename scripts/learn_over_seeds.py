"""Train the toy language's layers with all seeds."""

import environment

if __name__ == "__main__":
    environment.start("learning_over_seeds")
