"""What a reference means: three URL algorithms, the schemes, and the grammar.

Nothing here knows of documents. `resolver` chooses among the three algorithms: `rfc1808`, `rfc3986`
and `whatwg`, which share no step.
"""
