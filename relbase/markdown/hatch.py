"""A metadata hook of hatchling: the project's README, with links that work on PyPI.

In `pyproject.toml` hatchling needs relbase (`requires = ["hatchling", "relbase"]`), the project
`dynamic = ["readme"]`, and the hook a table, which may be empty:

    [tool.hatch.metadata.hooks.relbase]
    path = "README.md"
    url = "https://github.com/you/project/blob/HEAD/"
    images-url = "https://github.com/you/project/raw/HEAD/"

Without `url` and `images-url` they are below the project's Source, Repository or Homepage.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from hatchling.metadata.plugin.interface import MetadataHookInterface
from hatchling.plugin import hookimpl

from relbase.rewriter import rewrite_text

_LABELS: Final = ("source", "repository", "homepage")  # of a project's URLs, the best one first
_BELOW: Final = {"url": "blob/HEAD/", "images-url": "raw/HEAD/"}


class ReadmeHook(MetadataHookInterface):
    """Sets the readme of a project that says `dynamic = ["readme"]`."""

    PLUGIN_NAME = "relbase"

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme.

        Args:
            metadata: the project's table, with its URLs.

        Raises:
            ValueError: if `url` or `images-url` is missing and no URL of the project gives it.
            OSError: if there is no such README.
        """
        path = self.config.get("path", "README.md")
        text = Path(self.root, path).read_text("utf-8")
        links, images = (self._base(name, metadata.get("urls", {})) + path for name in _BELOW)
        text = rewrite_text(text, url=links, images_url=images, kind="markdown")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}

    def _base(self, name: str, urls: dict[str, str]) -> str:
        if given := self.config.get(name):
            return f"{given.removesuffix('/')}/"
        known = {label.lower(): url for label, url in urls.items()}
        home = next((known[label] for label in _LABELS if label in known), None)
        if home is None:
            table = "[tool.hatch.metadata.hooks.relbase]"
            raise ValueError(f"give {table} a {name}, or the project a URL named Source")
        return f"{home.removesuffix('/').removesuffix('.git')}/{_BELOW[name]}"


@hookimpl
def hatch_register_metadata_hook() -> type[MetadataHookInterface]:
    """Return the hook: hatchling asks the entry point."""
    return ReadmeHook
