"""A page that shows why each reference of a document means what it means: `relbase.explain`.

A hostile document must stay inert in the page: every text goes through `markup.text` or
`markup.attribute`, and a Content-Security-Policy forbids everything but the page's style sheet.
"""
