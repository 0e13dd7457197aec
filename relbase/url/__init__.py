"""What a reference means: three URL algorithms, the schemes, and the grammar; no documents."""
