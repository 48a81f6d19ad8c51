"""Code for elsewhere: whole steps in C, and models as self-contained C99."""
