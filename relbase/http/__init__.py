"""Raw HTTP messages as documents: what `wget --save-headers` and `curl -i` write."""
