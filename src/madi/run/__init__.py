"""From a model to results: simulate on one screen, and what it is made of."""
