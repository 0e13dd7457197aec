"""How a reference is resolved, step by step: what each algorithm does, in the order of its text.

`rfc1808`, `rfc3986` and `whatwg` each write down their own algorithm and share nothing but `Step`.
They are for people, and slower than the resolvers; a test asks both, and their results are equal.
"""
