"""Examples in docstrings (>>> ...) as code blocks of the site's reference."""

import re

import griffe

_EXAMPLE = re.compile(r"((?:^>>> .*\n?(?:^(?!>>>|\s*$).*\n?)*)+)", re.M)


class Doctests(griffe.Extension):
    """Fences around examples."""

    def on_instance(self, *, obj, **_):
        """Called by griffe for every object."""
        if obj.docstring is not None and ">>> " in obj.docstring.value:
            obj.docstring.value = _EXAMPLE.sub(
                lambda found: f"```pycon\n{found.group(1).rstrip()}\n```\n", obj.docstring.value
            )
