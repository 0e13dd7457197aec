"""The version: the build, `relbase.__version__` and what relbase writes into archives read it."""

__version__ = "1.0.0rc2"
