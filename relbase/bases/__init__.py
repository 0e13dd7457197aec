"""RFC 1808 §3: what states a base URL, and which of them wins."""
