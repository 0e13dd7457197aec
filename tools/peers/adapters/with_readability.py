"""readability-lxml: it calls lxml's methods for links."""

import with_lxml as with_lxml  # noqa: PLC0414
