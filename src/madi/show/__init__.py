"""How things show themselves: as HTML in a notebook, as pictures, and what is said while somebody waits."""
