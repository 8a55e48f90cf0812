"""Train the model of names."""

import environment

if __name__ == "__main__":
    environment.start("model_training")
