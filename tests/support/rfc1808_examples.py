"""The 42 examples of RFC 1808 §5, whole and in order: a reference, and what it is on `BASE`."""

from pathlib import Path

from rows import rows

_TABLES = Path(__file__).with_name("rfc1808.txt")

BASE = "http://a/b/c/d;p?q#f"  # §5
NORMAL = rows(_TABLES, "normal", str, str)
ABNORMAL = rows(_TABLES, "abnormal", str, str)
RECOMMENDED = rows(_TABLES, "recommended", str, str)
