"""Harness Memory: plain-file memory for Claude Code across sessions."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    __version__: str


def __getattr__(name: str) -> str:
    """`__version__`, from the plugin's manifest: the one place that holds it."""
    if name != "__version__":
        raise AttributeError(name)
    import json
    import os

    tree = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(tree, ".claude-plugin", "plugin.json"), encoding="utf-8") as file:
        return str(json.load(file)["version"])
