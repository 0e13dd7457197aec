// What the buttons of the playground paste.
export const examples = {
  page: {
    url: "http://www.example.org/news/2024/index.html",
    document: `<!doctype html>
<html>
<head>
<base href="/archive/">
<title>A page with a base of its own</title>
<link rel="stylesheet" href="../style.css">
</head>
<body style="background: url(paper.png)">
<a href="may/first.html">the first of May</a>
<a href="?page=2">the next page</a>
<a href="#top">to the top</a>
<a href="http://elsewhere.example/">elsewhere</a>
<img src="a.png" srcset="a-2x.png 2x, //images.example/a-3x.png 3x">
</body>
</html>
`,
  },
  message: {
    url: "",
    document: `From: a@example.org
Subject: bases at three levels
MIME-Version: 1.0
Content-Base: http://message.example/
Content-Type: multipart/mixed; boundary="outer"

--outer
Content-Type: text/html

<p><a href="x">on the base of the message</a></p>
--outer
Content-Base: http://multipart.example/m/
Content-Type: multipart/alternative; boundary="inner"

--inner
Content-Type: text/html

<p><a href="x">on the base of the multipart</a></p>
--inner
Content-Type: text/html
Content-Location: http://part.example/p/page.html

<p><a href="x">on the location of the part</a></p>
--inner--
--outer
Content-Type: text/html

<base href="http://document.example/"><a href="x">on the base of the document</a>
--outer--
`,
  },
  refused: {
    url: "http://www.example.org/a/page.html",
    document: `<!doctype html>
<base href="data:text/html,x">
<title>A base that does not count</title>
<a href="b.html">b</a>
<img src="../c.png">
`,
  },
  feed: {
    url: "http://www.example.org/feed.xml",
    document: `<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xml:base="http://www.example.org/blog/">
  <title>A feed</title>
  <link href="./"/>
  <entry xml:base="2024/">
    <title>An entry</title>
    <link href="first.html"/>
    <content type="html">&lt;p>&lt;a href="picture.png">a picture&lt;/a>&lt;/p></content>
  </entry>
</feed>
`,
  },
};
