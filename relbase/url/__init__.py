"""Resolving references: three URL algorithms, the schemes and the grammar, but no documents."""
