// Every reference of a document as this browser resolves it.
//
// In comes the table of `resolved.py`: namespace, element and attribute to [syntax, property]; and
// whether the documents to read are the frames of this one. Out go, for each document, its URL, its
// base, its charset, whether its body is a frameset, and for each reference, in the order of the
// tree, [element, attribute, reference, url, computed, namespace]. Templates, shadow trees and srcdoc
// documents stand where their element is. Base elements are left out, and bgsound, which stands for
// them in an output (`Case.output`).
//
// A property of the element resolves where there is one and the element lives in the document. What
// has none is resolved by a link made in the document, which does so with the document's base and
// charset. CSS is asked for twice: as it is specified, where the link resolves, and as it is
// computed, where the reference is no longer known.

const [TABLE, isFrames] = arguments;
const NAMESPACES = {
  'http://www.w3.org/1999/xhtml': 'html',
  'http://www.w3.org/2000/svg': 'svg',
  'http://www.w3.org/1998/Math/MathML': 'math',
};
const lower = name => name.replace(/[A-Z]/g, letter => letter.toLowerCase());
// A form has its fields as properties, and a document its images: <input name=action>.
const of = (object, name) => Reflect.get(Object.getPrototypeOf(object), name, object);
const trimmed = text => text.replace(/^[\0-\x20]+|[\0-\x20]+$/g, '');

// --- The syntaxes: an attribute value to its references ---

const items = separator => value => value.split(separator).map(trimmed).filter(Boolean);

// WHATWG HTML "parse a srcset attribute": the URLs alone.
function srcset(value) {
  const urls = [];
  let rest = value;
  while ((rest = rest.replace(/^[\t\n\f\r ,]+/, ''))) {
    const [url] = rest.match(/^[^\t\n\f\r ]+/);
    rest = rest.slice(url.length);
    urls.push(url.replace(/,+$/, ''));
    if (!url.endsWith(',')) rest = rest.slice(descriptors(rest));
  }
  return urls.map(trimmed).filter(Boolean);
}

function descriptors(text) {
  let inParentheses = false;
  for (let at = 0; at < text.length; at++) {
    if (inParentheses) inParentheses = text[at] != ')';
    else if (text[at] == ',') return at + 1;
    else inParentheses = text[at] == '(';
  }
  return text.length;
}

// WHATWG HTML "shared declarative refresh steps".
function refresh(value) {
  const time = value.match(/^[\t\n\f\r ]*(?:\d+|(?=\.))[\d.]*(?:(?=[;,\t\n\f\r ])[\t\n\f\r ]*[;,]?[\t\n\f\r ]*|$)/);
  if (!time) return [];
  let url = value.slice(time[0].length).replace(/^url[\t\n\f\r ]*=[\t\n\f\r ]*/i, '');
  if (url[0] == "'" || url[0] == '"') url = url.slice(1).split(url[0])[0];
  return [trimmed(url)].filter(Boolean);
}

const SYNTAXES = {
  url: value => [trimmed(value)],
  spaces: items(/[\t\n\f\r ]+/),
  commas: items(','),
  semicolons: items(';'),
  srcset,
  refresh,
};

// --- CSS ---

const ESCAPE = /\\(?:([0-9a-f]{1,6})[\t\n\f\r ]?|(.))/gis;
const unescape = text =>
  text.replace(ESCAPE, (_, hex, other) => (hex ? String.fromCodePoint(parseInt(hex, 16)) : other));
// Browsers serialise each url as url("...").
const urls = value =>
  [...value.matchAll(/url\("((?:[^"\\]|\\.)*)"\)/gs)].map(url => trimmed(unescape(url[1])));
// A shorthand with var() has longhands without a value.
const mayHoldUrl = value => value == '' || /url\(|image-set\(|var\(/i.test(value);

class Page {
  constructor(document) {
    this.document = document;
    this.link = of(document, 'createElement').call(document, 'a');
    this.found = [];
    this.space = '';
  }

  resolved(reference) {
    this.link.setAttribute('href', reference);
    return this.link.href;
  }

  add(element, attribute, reference, url, isComputed = false) {
    this.found.push([element, attribute, reference, url, isComputed, this.space]);
  }

  // A fragment alone stays in its document (rule 8).
  addSpecified(element, attribute, value) {
    for (const url of urls(value))
      this.add(element, attribute, url, url[0] == '#' ? url : this.resolved(url));
  }

  addComputed(element, attribute, property, from, pseudo) {
    const view = of(of(from, 'ownerDocument'), 'defaultView');
    const value = view.getComputedStyle(from, pseudo).getPropertyValue(property);
    for (const url of urls(value).filter(Boolean)) this.add(element, attribute, '', url, true);
  }

  visit(root, isLive) {
    for (const element of of(root, 'querySelectorAll').call(root, '*')) {
      const space = NAMESPACES[of(element, 'namespaceURI')];
      this.space = space ?? '';
      const name = lower(of(element, 'localName'));
      for (const attribute of of(element, 'attributes')) {
        const row = rowOf(space, name, lower(attribute.name));
        if (row && counts(element, name, attribute.name))
          this.addAttribute(element, name, lower(attribute.name), attribute.value, row, isLive);
      }
      if (isLive && name == 'style' && element.sheet) this.addRules(element.sheet.cssRules);
      if (space == 'html' && name == 'script') this.addJson(element);
      if (space == 'html' && name == 'template') this.visit(element.content, false);
      if (of(element, 'shadowRoot')) this.visit(of(element, 'shadowRoot'), isLive);
      if (isLive && name == 'iframe' && element.hasAttribute('srcdoc') && element.contentDocument)
        this.visitWithin(element.contentDocument);
    }
  }

  visitWithin(document) {
    const page = new Page(document);
    page.visit(document, true);
    this.found.push(...page.found);
  }

  addAttribute(element, name, attribute, value, [syntax, property], isLive) {
    if (syntax == 'style') return this.addDeclared(element, name, attribute, of(element, 'style'), isLive);
    if (syntax == 'paint') {
      if (isLive) this.addComputed(name, attribute, attribute, element);
      return;
    }
    // A form is sent there too when formaction is white space [C], though the property says not.
    if (syntax == 'action' && !trimmed(value) && (value || !isLive))
      return this.add(name, attribute, '', of(this.document, 'URL').split('#')[0]);
    const isWhole = property && isLive;
    for (const reference of SYNTAXES[syntax == 'action' ? 'url' : syntax](value))
      this.add(name, attribute, reference, isWhole ? of(element, property) : this.resolved(reference));
  }

  addDeclared(element, name, attribute, style, isLive) {
    for (const property of style) {
      const value = style.getPropertyValue(property);
      if (property.startsWith('--') || !mayHoldUrl(value)) continue;
      this.addSpecified(name, attribute, value);
      if (isLive) this.addComputed(name, attribute, property, element);
    }
  }

  addRules(rules) {
    for (const rule of rules) {
      if (rule.constructor.name == 'CSSImportRule')
        this.add('style', '', trimmed(rule.href), this.resolved(rule.href));
      if (rule.style) this.addRule(rule);
      if (rule.cssRules) this.addRules(rule.cssRules);
    }
  }

  // Of a rule that applies to something, the first such thing tells what the browser makes of it.
  addRule(rule) {
    let element = null;
    const [, selector, pseudo] = (rule.selectorText || '').match(/^(.*?)(::[a-z-]+)?$/s);
    try {
      element = selector && of(this.document, 'querySelector').call(this.document, selector);
    } catch {}
    for (const property of rule.style) {
      const value = rule.style.getPropertyValue(property);
      if (property.startsWith('--') || !mayHoldUrl(value)) continue;
      this.addSpecified('style', '', value);
      if (element) this.addComputed('style', '', property, element, pseudo);
    }
  }

  // Import maps and speculation rules: no script runs, so that their JSON is read here.
  addJson(element) {
    const find = {importmap: importMap, speculationrules: ruleUrls}[lower(trimmed(element.type))];
    let json = null;
    try {
      json = find && JSON.parse(element.text);
    } catch {}
    for (const url of json ? find(json) : [])
      this.add('script', '', url, this.resolved(url));
  }
}

const rowOf = (space, name, attribute) =>
  TABLE[space]?.[name]?.[attribute] ?? TABLE[space]?.['*']?.[attribute];

function counts(element, name, attribute) {
  const is = (other, ...values) => values.includes(lower(of(element, 'getAttribute').call(element, other) || ''));
  if (name == 'base' || name == 'bgsound') return false;
  if (name == 'input' && attribute == 'src') return is('type', 'image');
  if (name == 'meta') return is('http-equiv', 'refresh');
  if (['to', 'from', 'by', 'values'].includes(attribute))
    return is('attributeName', 'href', 'xlink:href');
  return true;
}

const isPathLike = text => /^(\/|\.\/|\.\.\/|[a-z][a-z0-9+.-]*:\/\/)/i.test(text);
const strings = value => Object.entries(value ?? {}).flat().filter(text => typeof text == 'string');
const importMap = map => [
  ...strings(map.imports).filter(isPathLike),
  ...Object.entries(map.scopes ?? {}).flatMap(
    ([scope, imports]) => [scope, ...strings(imports).filter(isPathLike)]),
];
const ruleUrls = rules =>
  Object.values(rules).flatMap(list => (Array.isArray(list) ? list : []))
    .flatMap(rule => rule?.urls ?? []).filter(url => typeof url == 'string');

function read(document) {
  const page = new Page(document);
  page.visit(document, true);
  return {
    url: of(document, 'URL'),
    base: of(document, 'baseURI'),
    charset: of(document, 'characterSet'),
    isFramed: of(document, 'body')?.localName == 'frameset',
    references: page.found,
  };
}

return isFrames
  ? [...document.querySelectorAll('iframe')].map(frame => read(frame.contentDocument))
  : [read(document)];
