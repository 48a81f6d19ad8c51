"""What a model is like: small motions, loop methods side by side, what is worth saying of it."""
