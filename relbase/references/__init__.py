"""Where the references of a document are: HTML, CSS, data blocks, and the values inside."""
