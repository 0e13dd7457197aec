"""Finding the references of a document: in HTML, CSS, XML, data blocks, and their values."""
