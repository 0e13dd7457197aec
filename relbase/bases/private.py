"""The schemes of bases that nobody outside of one program can use (rule 5).

Programs leave such a base in what they save, send or paste. In any other program links against it
lead nowhere, so that it does not count.
"""

from typing import Final

# Each scheme, whose it is, and where that is written.
PRIVATE: Final = {
    # the base of a message in Apple Mail, which copies of its HTML contain
    "x-msg": "Apple Mail",
    "applewebdata": "Apple's WebKit",  # WebKit, loadHTMLString: a document without a URL
    "webkit-fake-url": "Apple's WebKit",  # WebKit, Editor: pasted pictures
    "safari-reader": "Safari",  # the URL of a page in Reader
    "safari-web-extension": "Safari",  # Apple, Safari web extensions
    "outbind": "Outlook",  # the base of a message in Outlook's windows
    "wysiwyg": "Netscape",  # Netscape 4, JavaScript Guide: pages that scripts have written
    "notes": "Lotus Notes",  # IANA's registry of URI schemes, Notes URLs
    "mailbox": "Mozilla's mail",  # comm-central, mailnews/local/src/nsMailboxUrl
    "mailbox-message": "Mozilla's mail",  # the same, nsMailboxService
    "imap-message": "Mozilla's mail",  # comm-central, mailnews/imap/src/nsImapService
    "imap": "mail programs",  # RFC 5092: a message on a server that asks for a password
    "imaps": "mail programs",  # the same over TLS
    "res": "Internet Explorer",  # IANA's registry: a resource in a program file of Windows
    "chrome-extension": "Chrome",  # Chrome Extensions, Manifest: chrome.runtime.getURL
    "moz-extension": "Firefox",  # MDN, runtime.getURL
    "ms-appx": "an app of Windows",  # Microsoft, URI schemes of UWP
    "ms-appx-web": "an app of Windows",
    "about": "a browser",  # RFC 6694
}


def owner(url: str, around: str, *, is_base_element: bool) -> str:
    """Return which program alone can use a base; "" if others can.

    Files are private in a `<base>`, unless the document is itself a file, or nothing states its
    URL. In a Content-Location they name the parts of Word's messages (rule 18).
    """
    scheme = url.partition(":")[0].lower()
    if scheme == "file":
        is_file = around[:5].lower() == "file:"
        return "one computer" if is_base_element and around and not is_file else ""
    return PRIVATE.get(scheme, "")
