"""Train the model of names."""

import environment

if __name__ == "__main__":
    environment.enter()

    import model_training

    model_training.main()
