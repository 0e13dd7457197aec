"""The grammars inside one value: URLs, lists, srcset, refresh, JSON, header fields."""
