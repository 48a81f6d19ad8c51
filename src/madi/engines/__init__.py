"""The three lives behind one contract: plain, jit, compiled."""
