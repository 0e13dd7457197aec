"""The style sheet of the page: light, dark, narrow, and on paper."""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--page:#fbfaf8;--sheet:#fff;--ink:#1d1f22;--quiet:#55595f;
--line:#d9d6cf;--link:#0b4f9e;
--embedded:#0a6b3c;--embedded-soft:#dff3e6;--entity:#5f2fa8;--entity-soft:#eee5fb;
--retrieval:#0b4f9e;--retrieval-soft:#e0ecfb;--none:#a3200f;--none-soft:#fdeae6;
--kept:#7a5200;--del:#a3200f;--ins:#0a6b3c}
@media screen and (prefers-color-scheme:dark){:root{--page:#14161a;--sheet:#1b1e23;--ink:#e8e6e1;
--quiet:#a9adb4;--line:#3a3f47;--link:#8fbcff;
--embedded:#7ad7a2;--embedded-soft:#12351f;--entity:#c8a8ff;--entity-soft:#2d1f49;
--retrieval:#8fbcff;--retrieval-soft:#132b4d;--none:#ff9d8c;--none-soft:#471b13;
--kept:#f0c26a;--del:#ff9d8c;--ins:#7ad7a2}}
*{box-sizing:border-box}
html{scroll-behavior:smooth;scroll-padding:5rem}
@media (prefers-reduced-motion:reduce){html{scroll-behavior:auto}}
body{margin:0;background:var(--page);color:var(--ink);
font:1rem/1.55 system-ui,-apple-system,"Segoe UI","Noto Sans",sans-serif}
header,main,footer{max-width:76rem;margin:0 auto;padding:0 1.25rem}
header{padding-top:2.25rem}
h1{font-size:1.75rem;line-height:1.2;margin:0 0 .35rem;overflow-wrap:anywhere;letter-spacing:-.01em}
h2{font-size:1.2rem;margin:2.75rem 0 .75rem}
p{margin:.25rem 0}
code{font:0.92em/1.5 ui-monospace,"SFMono-Regular","DejaVu Sans Mono",Menlo,Consolas,monospace;
overflow-wrap:anywhere}
small,.quiet,.where{color:var(--quiet)}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:2px}
.lead{font-size:1.1rem;max-width:60rem;overflow-wrap:anywhere}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;background:var(--sheet);padding:.5rem}
.u{background:var(--none-soft);color:var(--none);border-radius:2px;font-size:.85em}
.scroll{overflow-x:auto}
table{border-collapse:collapse;background:var(--sheet);border:1px solid var(--line);
border-radius:.5rem;font-variant-numeric:tabular-nums}
th,td{padding:.4rem .8rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child{text-align:left;font-weight:500}
thead th{color:var(--quiet);font-weight:500;font-size:.9rem}
tbody tr:last-child>*{border-bottom:0;font-weight:700}
.index th:first-child,.index .base{text-align:left;white-space:normal;overflow-wrap:anywhere;
min-width:11em}
.box{border:2px solid var(--c);border-radius:.75rem;padding:.75rem;background:var(--sheet)}
.box>.about{padding:.5rem .25rem 0;overflow-wrap:anywhere}
.box .about p{margin:.1rem 0}
.box.missing{border-style:dashed;border-width:1.5px}
.box.decides{border-width:4px}
.box.decides>.about{background:var(--s);border-radius:.4rem;padding:.5rem .6rem;margin-top:.6rem}
.embedded{--c:var(--embedded);--s:var(--embedded-soft)}
.entity{--c:var(--entity);--s:var(--entity-soft)}
.retrieval{--c:var(--retrieval);--s:var(--retrieval-soft)}
.none{--c:var(--none);--s:var(--none-soft)}
.label{font-weight:600;color:var(--c)}
.section,.badge{display:inline-block;padding:0 .45em;border-radius:1em;background:var(--c);
color:var(--sheet);font-size:.85em;font-weight:700;line-height:1.6}
.verdict{display:inline-block;font-weight:700;color:var(--c)}
.verdict::before{content:"\\2605\\00a0"}
.refused{color:var(--none);overflow-wrap:anywhere}
.refused::before{content:"\\2715\\00a0"}
.leaf{padding:.6rem .8rem;border:1px solid var(--line);border-radius:.5rem;background:var(--page)}
.part{border:1px solid var(--line);border-radius:.75rem;padding:.75rem;margin:.6rem 0;
background:var(--sheet)}
.part>.name{font-weight:600;margin:0 0 .5rem;overflow-wrap:anywhere}
.part>.name small{font-weight:400;margin-left:.4rem}
.box>.part:first-child{margin-top:0}
fieldset{border:0;padding:0;margin:0 0 .75rem;min-width:0}
legend{float:left;margin-right:1.25rem;padding:0;color:var(--quiet)}
label{cursor:pointer;margin-right:1.25rem;white-space:nowrap;display:inline-block}
input{accent-color:var(--link);width:1.05em;height:1.05em;vertical-align:-.12em}
.key{list-style:none;display:flex;flex-wrap:wrap;gap:.35rem 1.25rem;padding:0;margin:0 0 .75rem}
.source{background:var(--sheet);border:1px solid var(--line);border-radius:.75rem;padding:1rem;
font:0.86rem/1.65 ui-monospace,"SFMono-Regular","DejaVu Sans Mono",Menlo,Consolas,monospace;
white-space:pre-wrap;overflow-wrap:anywhere;tab-size:4;max-height:42rem;overflow-y:auto}
.far .chunk{content-visibility:auto;contain-intrinsic-size:auto 60rem}
.decoded{border:1px solid var(--line);border-left:.3rem solid var(--quiet);border-radius:.4rem;
background:var(--page);padding:.6rem .75rem;margin:.4rem 0}
.decoded>p{margin:0 0 .5rem;color:var(--quiet);font:.95em system-ui,sans-serif;white-space:normal}
.source a,.key b{color:inherit;font-weight:inherit;text-decoration:none;border-radius:3px;
padding:.05em .15em;-webkit-box-decoration-break:clone;box-decoration-break:clone}
.source a:target,li:target{outline:3px solid var(--link);outline-offset:1px}
.source .rewritten,.key .rewritten{background:var(--s);border-bottom:2px solid var(--c)}
.source .kept,.key .kept{border:1.5px dashed var(--c,var(--kept))}
.source .unresolved,.key .unresolved{background:var(--none-soft);
border-bottom:3px double var(--none)}
.source .absolute,.key .absolute{border-bottom:1.5px dotted var(--quiet)}
.source a.embedded::before,.key .embedded::before{content:"\\00b9"}
.source a.entity::before,.key .entity::before{content:"\\00b2"}
.source a.retrieval::before,.key .retrieval::before{content:"\\00b3"}
.source a.none::before,.key .none::before{content:"\\2074"}
.source a::before,.key b::before{color:var(--c);font-weight:700}
del{color:var(--del);text-decoration:line-through}
ins{color:var(--ins);text-decoration:underline;text-underline-offset:.15em;font-weight:600}
main:has(#before:checked) ins,main:has(#after:checked) del{display:none}
main:has(#before:checked) del,main:has(#after:checked) ins{color:inherit;text-decoration:none;
font-weight:inherit}
.links{list-style:none;padding:0;margin:0}
.links:not(:only-of-type){content-visibility:auto;contain-intrinsic-size:auto 700rem}
.links>li{display:grid;grid-template-columns:3.2em minmax(0,1fr);background:var(--sheet);
border:1px solid var(--line);border-radius:.5rem;padding:.65rem .9rem .65rem .4rem;margin:0 0 .5rem}
.links>li>*{grid-column:2;overflow-wrap:anywhere}
.links .number{grid-column:1;grid-row:1;color:var(--quiet);font-size:.85em;text-align:right;
padding:.15rem .9rem 0 0;font-variant-numeric:tabular-nums}
.links p{margin:0}
.status{float:right;margin-left:1rem;font-size:.8em;padding:0 .6em;border-radius:1em;
border:1.5px solid var(--quiet);color:var(--quiet)}
.rewritten .status{border-color:var(--ins);color:var(--ins)}
.kept .status{border-style:dashed;border-color:var(--kept);color:var(--kept)}
.unresolved .status{border-style:double;border-width:3px;border-color:var(--none);color:var(--none)}
.absolute .status{border-style:dotted}
.to span{color:var(--quiet)}.to code{font-weight:600}
.why{margin:.15rem 0}.why,.where{font-size:.9em}
summary{cursor:pointer;color:var(--link);padding:.1rem 0}
details ol{margin:.4rem 0 .2rem;padding-left:1rem;list-style:none;border-left:2px solid var(--line)}
details li{margin:.15rem 0;overflow-wrap:anywhere}
.notes{padding-left:1.2rem}.notes li{margin:.2rem 0;overflow-wrap:anywhere}
footer{padding-top:2rem;padding-bottom:3rem;color:var(--quiet);font-size:.9rem}
@media (max-width:40rem){header,main,footer{padding-left:.75rem;padding-right:.75rem}
header{padding-top:1.25rem}h1{font-size:1.35rem}.lead{font-size:1rem}
.box{padding:.4rem;border-radius:.5rem}.part{padding:.5rem}.box>.about{padding:.35rem .1rem 0}
.source{padding:.6rem;font-size:.78rem}table{font-size:.75rem}
th,td{padding:.3rem .22rem}thead th{font-size:.72rem}
.links>li{grid-template-columns:minmax(0,1fr);padding:.6rem .7rem}.links>li>*{grid-column:1}
.links .number{grid-row:auto;text-align:left}}
@media print{:root{color-scheme:light;--page:#fff;--sheet:#fff;--ink:#000;--quiet:#444;--line:#999}
body{font-size:10pt}header,main,footer{max-width:none;padding:0}.skip,fieldset{display:none}
.source{max-height:none;overflow:visible;font-size:8pt}
.far .chunk,.links:not(:only-of-type){content-visibility:visible}
.links>li,.box .about,tr{break-inside:avoid}h2{break-after:avoid}
*{-webkit-print-color-adjust:exact;print-color-adjust:exact}}
"""
