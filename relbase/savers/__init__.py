"""The marks that programs leave in the pages that they save."""
