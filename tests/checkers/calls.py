"""Right and wrong calls, as type checkers see them; never run.

What follows `# wrong` on a line must be an error there, and nothing else may be one.
"""

import re
from typing import assert_type

import httpx
import requests
import yarl

import relbase
from relbase import Base, Kind, Link, Policy, Profile, Resolver, Result
from relbase.trees import TreeLink, iterlinks, make_links_absolute, tree_links

assert_type(relbase.rewrite(b""), Result)
assert_type(relbase.rewrite(b"").data, bytes)
assert_type(relbase.base(b""), Base)
assert_type([*relbase.links(b"")], list[Link])
assert_type(relbase.rewrite_text("", url="http://h/"), str)
assert_type(relbase.resolve("http://h/", "x"), str)
assert_type(Resolver("http://h/").resolve("x"), str)
assert_type(relbase.__version__, str)

relbase.rewrite(b"", url="http://h/", kind="html", profile="rfc3986", charset="utf-8")
relbase.rewrite(b"", url=yarl.URL("http://h/"), kind=Kind.MAIL, profile=Profile.WHATWG)
relbase.rewrite(b"", url=httpx.URL("http://h/"), redirects=["/x", yarl.URL("y")])
relbase.rewrite(b"", headers={"Base": "x"}, policy=Policy(keep=re.compile("x")))
relbase.rewrite(b"", headers=[("Base", "x")], policy=Policy(keep=re.compile("^x$")))
relbase.links(b"", url=None, kind=None, detect=False)
relbase.rewrite_response(requests.get("http://h/"), profile="whatwg")
assert_type(relbase.rewrite_response(httpx.get("http://h/")), Result)
relbase.rewrite_text("", url=yarl.URL("http://h/"), kind="css")
relbase.rewrite_text("", base="http://h/", kind="json")
relbase.grammar.violations("a", grammar="rfc1738")
assert_type(make_links_absolute(object(), "http://h/", drop_base=True), list[TreeLink])
tree_links(object(), yarl.URL("http://h/"), profile="rfc1808")
assert_type([link for _, _, link, _ in iterlinks(object())], list[str])
make_links_absolute(object(), "http://h/", True, "discard")
assert_type(relbase.trees.resolve_base_href(object(), "ignore"), list[TreeLink])
relbase.trees.rewrite_links(object(), lambda link: link or None, True, "http://h/")
assert_type([*relbase.links("<p>", url="")], list[Link])
relbase.rewrite_text("", url=None)
relbase.rewrite(b"", replace=lambda link: link.url)
assert_type(relbase.rewrite_value("img", "srcset", "x", url="http://h/", attrs={"a": "b"}), str)
assert_type([*relbase.links(b"", texts=True)], list[Link])
assert_type(next(relbase.Rewriter().links("", texts=True)).text, str)
assert_type(relbase.value_links("a", "ping", "x y", base="http://h/"), list[Link])
relbase.Rewriter("http://h/", base="http://b/", replace=lambda link: link.url)
relbase.trees.make_links_absolute(object(), handle_failures=None)

relbase.rewrite("")  # wrong
relbase.rewrite(b"", "http://h/")  # wrong
relbase.rewrite(b"", url=b"http://h/")  # wrong
relbase.rewrite(b"", url=5)  # wrong
relbase.rewrite(b"", kind="htm")  # wrong
relbase.rewrite(b"", kind="HTML")  # wrong
relbase.rewrite(b"", profile="rfc2396")  # wrong
relbase.rewrite(b"", profil="rfc1808")  # wrong
relbase.rewrite(b"", headers="Base: x")  # wrong
relbase.rewrite(b"", headers={b"Base": b"x"})  # wrong
relbase.rewrite(b"", policy={"extended": True})  # wrong
relbase.rewrite(b"", policy=Policy(keep="x"))  # wrong
relbase.rewrite(b"", policy=Policy(keep=str.isspace))  # wrong
relbase.rewrite(b"", policy=Policy(keep=re.compile(b"x")))  # wrong
relbase.rewrite(b"", policy=Policy(extend=True))  # wrong
relbase.rewrite(b"", charset=b"utf-8")  # wrong
relbase.links(b"", profile="typo")  # wrong
relbase.links(b"", replace=str)  # wrong
relbase.links(b"", texts="yes")  # wrong
relbase.rewrite(b"", texts=True)  # wrong
relbase.rewrite(b"", replace=lambda link: link.line)  # wrong
relbase.rewrite_value("img", "srcset", b"x")  # wrong
relbase.rewrite_value("img", "srcset")  # wrong
relbase.base(b"", kind="typo")  # wrong
relbase.entities("")  # wrong
relbase.rewrite_text(b"", url="http://h/")  # wrong
relbase.rewrite_text("", url="http://h/", kind="mail")  # wrong
relbase.rewrite_text("", url="http://h/", kind=Kind.MBOX)  # wrong
relbase.rewrite_response("x")  # wrong
relbase.rewrite_response(b"x")  # wrong
relbase.rewrite_response(requests.get("http://h/"), profile="typo")  # wrong
relbase.resolve("http://h/", "x", profile="typo")  # wrong
relbase.resolve(b"http://h/", "x")  # wrong
Resolver("http://h/", "typo")  # wrong
relbase.grammar.violations("a", grammar="typo")  # wrong
make_links_absolute(object(), profile="typo")  # wrong
make_links_absolute(object(), 5)  # wrong
make_links_absolute(object(), handle_failures="raise")  # wrong
iterlinks(object(), "http://h/")  # wrong
relbase.trees.rewrite_links(object(), lambda _: 5)  # wrong
make_links_absolute(object(), "http://h/", drop_base="yes")  # wrong
relbase.rewrite(b"").data = b""  # wrong
Policy(True)  # wrong
relbase.Edit(0, 1, b"").start = 5  # wrong
Policy().extended = True  # wrong
