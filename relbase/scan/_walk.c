/* The walk of the compiled scanner: it reads what Python does (html/, css/, xml/), but much faster.

   It takes a range of text, and tables that Python makes from the vocabulary: no names of elements,
   attributes or CSS functions are here. It finds plain references, up to the first element or
   statement that needs a closer look: one with a value that is not read here, or one that changes
   what is markup. The exact walk goes on from there, and comes back.

   Rules:
   - This walk reads a token exactly as the exact walk does, or leaves it to that. Whatever is in
     doubt is left to it.
   - Every function gets `p` and the end `e`, and never reads at or beyond `e`.
   - Calls share no state, and allocate only what is found and a decoded text of HTML in XML. */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "_tables.h" /* numbers, limits and classes of bytes, which Python shares */

typedef const unsigned char *Text;

/* ---- Bytes */

#define IS(c, k) ((int)(classes[(unsigned char)(c)] & (k)))
#define LOWER(c) ((unsigned)(((c) | 32) - 'a') < 26 ? (c) | 32 : (c))

static int among(const char *set, int c) { return c && c < 128 && strchr(set, c); }

static Text find(Text p, Text e, int c) { return p < e ? memchr(p, c, (size_t)(e - p)) : NULL; }

/* The same for what is usually near, where a call takes longer than a look. */
static inline Text find_near(Text p, Text e, int c) {
  enum { NEAR = 8 };
  if (e - p < NEAR) return find(p, e, c);
  for (int i = 0; i < NEAR; i++)
    if (p[i] == c) return p + i;
  return find(p + NEAR, e, c);
}

/* Whether `n` bytes equal these, given in lower case, but for their case. */
static int same(Text p, Text lower, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (LOWER(p[i]) != lower[i]) return 0;
  return 1;
}
static int begins(Text p, Text e, const char *text) {
  size_t n = strlen(text);
  return (size_t)(e - p) >= n && !memcmp(p, text, n);
}
static int begins_any_case(Text p, Text e, const char *lower) {
  size_t n = strlen(lower);
  return (size_t)(e - p) >= n && same(p, (Text)lower, n);
}

/* ---- Tables, made once by Python */

enum { SLOTS = 2048 };

typedef struct {
  unsigned char length, kind;
  uint16_t row; /* of an element: where its row of attributes begins; of an attribute: its number */
  unsigned char name[MAX_NAME + 1];
} Name;

typedef struct {
  Name slots[SLOTS];
  uint64_t lengths[128], lasts[128]; /* by first and by last letter, the lengths that occur */
  int count;
} Names;

typedef struct {
  Name *words;
  int count;
} Words;

typedef struct {
  Names elements, svg, math, attributes;
  unsigned char *rows; /* of `width` bytes each */
  size_t width;
  int other, other_svg, other_math; /* rows of the elements that are not in the tables */
  Name prefix;                      /* elements whose names begin with this share a row */
  Words deciding, script_types, style_types, functions, at_rules, head, json_names;
  int type, href, codebase; /* the numbers of these attributes */
  Name local; /* a fragment alone may be local if the attribute of this number has the word */
} Tables;

static unsigned hashed(Text p, size_t n) {
  unsigned h = (unsigned)n * 31 + LOWER(p[0]);
  h = h * 31 + LOWER(p[n / 2]);
  h = h * 31 + LOWER(p[n - 1]);
  return (h ^ (h >> 11)) & (SLOTS - 1);
}

static const Name *look_up(const Names *names, Text p, size_t n) {
  if (n > MAX_NAME || n == 0) return NULL;
  int first = LOWER(p[0]), last = LOWER(p[n - 1]);
  if (first >= 128 || last >= 128 || !((names->lengths[first] & names->lasts[last]) >> n & 1))
    return NULL;
  for (unsigned h = hashed(p, n); names->slots[h].length; h = (h + 1) & (SLOTS - 1)) {
    const Name *found = &names->slots[h];
    if (found->length == n && same(p, found->name, n)) return found;
  }
  return NULL;
}

static const Name *find_word(const Words *words, Text p, size_t n) {
  for (int i = 0; i < words->count; i++)
    if (words->words[i].length == n && same(p, words->words[i].name, n)) return &words->words[i];
  return NULL;
}
static int is_among(const Words *words, Text p, size_t n) { return find_word(words, p, n) != NULL; }

/* ---- A scan */

enum { CONTINUES, STOPS, ENDS }; /* how a token affects a scan */

/* What a reference may hold that, as a flaw in XML, readers disagree on. */
enum Odd { ODD_NAME = 1, ODD_CHARACTER = 2 };

/* A reference, and the part of it that is replaced. */
typedef struct {
  ptrdiff_t at, end, name, name_end, from, to;
  int holds;
  short attribute;
  unsigned char form, odd; /* small: one tag may hold a million of these */
} Found;

/* The prefixes of forms with one base. Each is asked for when its form first occurs. */
typedef struct Prefixes {
  unsigned known, edited; /* bits: forms that were asked for; those with a prefix */
  unsigned char until[FORMS], fits[FORMS]; /* where the replaced part ends; where new text fits */
  int (*learn)(struct Prefixes *, int form);
} Prefixes;

typedef struct {
  const Tables *tables;
  Text text;
  int mode, normalizes, in_css, ascii_stands, own_is_base, past_base, in_base; /* what the caller allows */
  Prefixes *prefixes;
  int in_xml;    /* where an ampersand begins a reference, or is a flaw */
  int in_markup; /* in HTML inside the text of an element of XML */
  int in_noscript, in_comment, in_template, depth;
  int unsure; /* what is found may be in HTML or in MathML */
  int also;   /* classes of bytes that are also plain in the value being read */
  int flaws_told; /* in XML: flaws are told, and no reason to stop */
  int tells_odd;  /* what is odd in a reference (`Odd`) is told, and no reason to stop */
  int odd;       /* what is odd in the reference being read */
  Found *found;
  size_t count, room;
  Text name, name_end; /* of the element being read */
  int attribute, holds; /* of the value being read; -1 and CSS for the text of an element */
} Scan;

/* The most that is found at once. An element with more is left to the exact tokenizer, which yields
   one by one: what is allocated must not grow with a hostile document. */
enum { MOST = 1 << 18, MOST_LISTED = 1 << 14 };

static int push(Scan *s, const Found *found) {
  if (s->count == (s->mode == ALL ? MOST_LISTED : MOST)) return STOPS;
  if (s->count == s->room) {
    size_t room = s->room ? s->room * 2 : 64;
    Found *grown = realloc(s->found, room * sizeof(Found));
    if (!grown) return STOPS; /* the exact tokenizer will report the lack of memory */
    s->found = grown;
    s->room = room;
  }
  s->found[s->count++] = *found;
  return CONTINUES;
}

static int add(Scan *s, Text at, Text end, int form) {
  Found f = {.at = at - s->text, .end = end - s->text, .form = (unsigned char)form};
  f.name = s->name - s->text;
  f.name_end = s->name_end - s->text;
  f.from = f.at;
  f.to = f.at + s->prefixes->until[form];
  f.attribute = (short)s->attribute;
  f.holds = s->holds;
  f.odd = (unsigned char)s->odd;
  return push(s, &f);
}

/* ---- References */

/* Absolute in every profile, whatever follows: a scheme that is not special to the WHATWG parser,
   or that two slashes follow. */
static int absolute(Text p, Text e) {
  static const char *const special[] = {SPECIAL_SCHEMES, NULL};
  Text q = p;
  if (q >= e || !IS(*q, ALPHA)) return 0;
  while (q < e && IS(*q, SCHEME)) q++;
  if (q >= e || *q != ':') return 0;
  for (int i = 0; special[i]; i++)
    if (strlen(special[i]) == (size_t)(q - p) && same(p, (Text)special[i], (size_t)(q - p)))
      return begins(q, e, "://");
  return 1;
}
static int absolute_in_css(Text p, Text e) {
  return BEGINS_ABSOLUTE(begins_any_case, p, e);
}

/* The length of a numeric reference of few digits at `p`, and its number; or 0. */
static size_t number_at(Text p, Text e, int *number) {
  enum { FEW = 7 };
  Text q = p + 2;
  if (!begins(p, e, "&#")) return 0;
  int is_hex = q < e && LOWER(*q) == 'x';
  Text digits = q += is_hex;
  for (*number = 0; q < e && q - digits < FEW && IS(*q, ALNUM); q++) {
    int digit = *q <= '9' ? *q - '0' : LOWER(*q) - 'a' + 10;
    if (digit >= (is_hex ? 16 : 10)) return 0;
    *number = *number * (is_hex ? 16 : 10) + digit;
  }
  return q == digits || q >= e || *q != ';' ? 0 : (size_t)(q + 1 - p);
}

/* The same if references of its first characters hide it from programs. */
static int absolute_numbered(Text p, Text e) {
  unsigned char room[16]; /* for the longest special scheme, and the slashes */
  size_t n = 0;
  int c;
  for (; n < sizeof room && p < e; room[n++] = (unsigned char)c) {
    size_t length = number_at(p, e, &c);
    if (!length) c = *p;
    if (c <= 0x20 || c >= 0x7f || (!length && c == '&')) break;
    p += length ? length : 1;
  }
  return absolute(room, room + n);
}

/* The usual character references in texts of XML; others are left to the exact walk. */
static const struct {
  const char *written;
  unsigned char means;
} REFERENCES[] = {{"&lt;", '<'},   {"&gt;", '>'},   {"&amp;", '&'}, {"&quot;", '"'},
                  {"&apos;", '\''}, {"&#39;", '\''}, {"&#x27;", '\''},
                  {"&#34;", '"'}, {NULL, 0}};

/* The length of the reference at `p`, and what it means; 0 for any other. */
static size_t reference_at(Text p, Text e, unsigned char *means) {
  for (int i = 0; REFERENCES[i].written; i++)
    if (begins(p, e, REFERENCES[i].written)) {
      if (means) *means = REFERENCES[i].means;
      return strlen(REFERENCES[i].written);
    }
  return 0;
}

/* Whether the ampersand at `p` in XML begins no reference: a flaw, but readers agree on it. */
static int is_bare(Text p, Text e) {
  if (++p < e && *p == '#') return 0;
  while (p < e && IS(*p, XML_NAME) && *p != ';' && *p != '#') p++;
  return p == e || *p != ';';
}

/* The length of a numeric reference at `p`, to `least` or more, that is no XML character; or 0. */
static size_t bad_number(Text p, Text e, int least) {
  enum { LONGEST = 6 };
  int number = 0;
  size_t n = number_at(p, e, &number);
  if (!n || n > LONGEST + (p[2] == 'x') || p[2] == 'X' || number < least || number >= 0x20) return 0;
  return among("\t\n\r", (unsigned char)number) ? 0 : n;
}

enum { NO_CHARACTER = 0xff }; /* stands for each byte of XML that is part of no character */
/* Controls that XML does not allow; others make the charset doubtful. */
static int is_odd_character(unsigned char c) {
  return c < 0x20 && c && !among("\t\n\r\x0e\x0f\x1b", c);
}

/* The length of what is odd at `p`; 0 if nothing is, or if it may mean white space or a colon. */
static size_t odd_at(Scan *s, Text p, Text e) {
  size_t n = 1;
  if (!s->tells_odd) return 0;
  if (is_odd_character(*p)) return s->odd |= ODD_CHARACTER, n;
  if (*p != '&') return 0;
  if (!(n = bad_number(p, e, 0))) {
    Text q = p + 1;
    while (q < e && IS(*q, ALNUM)) q++;
    if (q == p + 1 || q >= e || *q != ';') return 0;
    if (begins(p, e, "&Tab;") || begins(p, e, "&NewLine;") || begins(p, e, "&colon;")) return 0;
    n = (size_t)(q + 1 - p);
  }
  s->odd |= ODD_NAME;
  return n;
}

/* The length of the reference of an ampersand at `p`; 0 for any other. */
static size_t ampersand_at(Text p, Text e) {
  return begins(p, e, "&amp;") ? 5 : begins(p, e, "&#038;") ? 6 : begins(p, e, "&#38;") ? 5 : 0;
}

/* Whether the run of letters and digits from `p` to `e` is a name that needs no semicolon. */
static int stands_alone(Text p, Text e) {
  static const char *const names[] = {NAMES_ALONE, NULL};
  size_t n = (size_t)(e - p);
  for (int i = 0; names[i]; i++)
    if (strlen(names[i]) == n && !memcmp(names[i], p, n)) return 1;
  return 0;
}

/* The length of what is plain at `p` since it can belong to no placeholder; 0 if it may. */
static size_t plain_sign(Text begin, Text p, Text e) {
  if (p == begin || e - p < 2) return 0;
  if (*p == '[') return IS(p[-1], ALNUM) && (IS(p[1], ALNUM) || p[1] == ']');
  if (*p == '{') return IS(p[-1], ALNUM) && IS(p[1], ALNUM);
  return *p == '|' && IS(p[-1], ALNUM) && IS(p[1], ALNUM);
}

/* The length of an escape at `p`, but not of a dot that may be a segment, nor of two braces. */
static size_t escape_at(const Scan *s, Text p, Text e) {
  if (e - p < 3 || !IS(p[1], HEX) || !IS(p[2], HEX) || begins_any_case(p, e, "%7b%7b")) return 0;
  return s->normalizes && (begins_any_case(p, e, "%2e") || begins_any_case(p, e, "%7b")) ? 0 : 3;
}

/* Whether a text is plain up to its end, and has no dot segments. */
static int plain_rest(Scan *s, Text p, Text e) {
  size_t n;
  Text begin = p;
  int k = (s->normalizes ? SAFE_REST : REST) | s->also;
  while (p < e) {
    if (IS(*p, k) || *p == '.') {
      p++;
    } else if (*p == '/') {
      p++;
      if (p < e && *p == '.' && (e - p < 2 || !IS(p[1], ALNUM))) return 0;
    } else if (s->in_xml && *p == '&') {
      if (begins(p, e, "&amp;") || is_bare(p, e)) p++;
      else if (reference_at(p, e, NULL) || !(n = odd_at(s, p, e))) return 0;
      else p += n;
    } else if (*p == '&') { /* `&amp;`, or a name that ends without a semicolon: not a delimiter */
      Text q = p + 1;
      while (q < e && IS(*q, ALNUM)) q++;
      int is_whole = q < e && *q == ';';
      int is_assigned = q < e && *q == '='; /* otherwise `&lt` is a reference */
      if (q > p + 1 && !is_whole && (is_assigned || !stands_alone(p + 1, q))) p = q;
      else if ((n = ampersand_at(p, e)) || (n = odd_at(s, p, e))) p += n;
      else return 0;
    } else if ((n = *p == '%' ? escape_at(s, p, e) : odd_at(s, p, e))) {
      p += n;
    } else if (!s->normalizes && !s->in_xml && (n = plain_sign(begin, p, e))) {
      p += n;
    } else {
      return 0;
    }
  }
  return 1;
}

/* Whether a host at `p`, with a slash after it, is one that the WHATWG parser keeps as it is:
   lower case, no number at its end, and no two hyphens together, as in names that IDNA decodes. */
static int plain_host(Text p, Text e) {
  for (;; p++) {
    Text label = p;
    if (p >= e || !IS(*p, HOST)) return 0;
    while (p < e && (IS(*p, HOST) || (*p == '-' && e - p > 1 && IS(p[1], HOST)))) p++;
    if (p >= e) return 0;
    if (*p == '/') return IS(*label, HOST_START);
    if (*p != '.') return 0;
  }
}

/* The form of a reference that is not empty; 0 for none. */
static int form_of(Scan *s, Text p, Text e) {
  if (*p == '/') {
    if (e - p > 1 && p[1] == '/')
      return e - p > 2 && (s->normalizes ? plain_host(p + 2, e) : IS(p[2], ALNUM)) &&
                     plain_rest(s, p + 2, e)
                 ? NETWORK
                 : 0;
    return plain_rest(s, p, e) ? ROOT : 0;
  }
  if (*p == '#') return plain_rest(s, p + 1, e) ? FRAGMENT : 0;
  if (*p == '?') return e - p > 1 && p[1] != '#' && plain_rest(s, p + 1, e) ? QUERY : 0;
  int form = PATH;
  if (*p == '.') {
    if (begins(p, e, "./")) {
      p += 2;
      form = HERE;
    } else if (e - p == 1) {
      return DOT;
    } else {
      for (form = HERE; begins(p, e, "../"); p += 3) form++;
      if (form == HERE || form >= FORMS) return 0;
    }
    if (p == e) return form;
    if (*p == '.') return 0;
  }
  if (*p == ';' || *p == '/' || *p == '?' || *p == '#' || *p == '-') return 0;
  for (Text q = p; q < e; q++) { /* a colon in the first segment ends a scheme, or may */
    if (*q == ':') return 0;
    if (*q == '/' || *q == '?' || *q == '#') break;
  }
  return plain_rest(s, p, e) ? form : 0;
}

/* Whether a form has an edit, and its new text may stand where the reference does. */
static int has_edit(const Scan *s, int form, int where) {
  Prefixes *known = s->prefixes;
  unsigned bit = 1u << form;
  if (!(known->known & bit)) {
    known->known |= bit;
    if (known->learn(known, form)) known->edited |= bit;
  }
  return known->edited & bit && (s->mode == ALL || (known->fits[form] & where) == where);
}

/* Whether a text is printable ASCII, and the only references in it are of ampersands. */
static int is_ascii_text(Text p, Text e) {
  for (; p < e; p++)
    if (*p < 0x20 || *p >= 0x7f || (*p == '&' && !begins(p, e, "&amp;"))) return 0;
  return 1;
}

/* Adds a relative reference, if it has an edit. */
static int relative(Scan *s, Text p, Text e, int where) {
  s->odd = (s->in_xml || s->in_markup) && find(p, e, NO_CHARACTER) ? ODD_CHARACTER : 0;
  if (s->odd && !s->tells_odd) return STOPS;
  int form = s->unsure ? 0 : form_of(s, p, e);
  return form && has_edit(s, form, where) ? add(s, p, e, form) : STOPS;
}

/* Whether a character reference at `p` may mean white space that is dropped, or a control. */
static int may_be_space(Text p, Text e) {
  int c = 0;
  size_t n = number_at(p, e, &c);
  if (begins(p, e, "&#")) return !n || c < 0x20 || c == 0x7f || (c == 0x20 && p + n == e);
  return begins(p, e, "&Tab;") || begins(p, e, "&NewLine;");
}

/* Whether the WHATWG parser serialises an absolute URL as it is written. */
static int is_serialised(Scan *s, Text p, Text e) {
  p += begins(p, e, "http://") ? 7 : begins(p, e, "https://") ? 8 : e - p;
  return p < e && plain_host(p, e) && plain_rest(s, p, e);
}

/* Lists an absolute reference, if it means itself and needs no closer look. */
static int listed(Scan *s, Text p, Text e) {
  if (s->mode != ALL) return CONTINUES;
  if (s->unsure || p[0] <= 0x20 || e[-1] <= 0x20) return STOPS;
  for (Text q = p; q < e; q++)
    if (*q < 0x20 || *q == 0x7f || (*q == '&' && may_be_space(q, e))) return STOPS;
  if (s->normalizes && !is_serialised(s, p, e)) return STOPS;
  return add(s, p, e, ABSOLUTE_FORM);
}

/* ---- CSS */

/* The end of the escape at `p` (a backslash); NULL if it may stand for something that matters. */
static Text escape_end(Text p, Text e) {
  Text q = p + 1;
  if (q >= e) return e;
  int value = 0, digits = 0;
  for (; q < e && digits < 6; q++, digits++) {
    int c = LOWER(*q);
    if (c >= '0' && c <= '9') value = value * 16 + c - '0';
    else if (c >= 'a' && c <= 'f') value = value * 16 + c - 'a' + 10;
    else break;
  }
  if (digits) {
    if (value >= 0x20 && value < 0x80) return NULL;
    if (q < e && *q == '\r' && e - q > 1 && q[1] == '\n') return q + 2;
    return q < e && IS(*q, WS) ? q + 1 : q;
  }
  if (*q == '\n' || *q == '\r' || *q == '\f') return q;
  if (IS(*q, ALNUM) || *q == '-' || *q == '@' || *q == '(') return NULL;
  return q + 1;
}

/* The length of the quote at `p`, as it is or as a character reference; 0 if there is none. */
static size_t quote_at(Text p, Text e, int in_attribute) {
  if (p < e && IS(*p, QUOTE)) return 1;
  if (!in_attribute) return 0;
  return begins(p, e, "&quot;") ? 6 : begins(p, e, "&#39;") ? 5 : 0;
}

/* The end of the CSS comment at `p`. In an attribute it is not read here, and NULL, if it is not
   closed or has a character reference, which may be part of what closes it. */
static Text css_comment_end(Text p, Text e, int in_attribute) {
  Text begin = p, end = e;
  for (p += 2; (p = find(p, e, '*')); p++)
    if (e - p > 1 && p[1] == '/') {
      end = p + 2;
      break;
    }
  return in_attribute && (!p || find(begin, end, '&')) ? NULL : end;
}

/* Whether CSS has no function with references, no at-rule that matters, and no escape that may be
   one, as most sheets and style attributes. `&quot;`, `&amp;` and `&#39;` stand for none. */
static int without_functions(const Scan *s, Text begin, Text e, int in_attribute) {
  Text p;
  for (p = begin; (p = find(p, e, '\\')); p++)
    if (!escape_end(p, e)) return 0;
  for (p = begin; (p = find(p, e, '@')); p++)
    if (e - p > 1 && LOWER(p[1]) == 'i') return 0;
  if (in_attribute)
    for (p = begin; (p = find(p, e, '&')); p++)
      if (!begins(p, e, "&quot;") && !begins(p, e, "&amp;") && !begins(p, e, "&#39;")) return 0;
  for (p = begin; (p = find(p, e, '(')); p++) {
    for (int i = 0; i < s->tables->functions.count; i++) {
      const Name *f = &s->tables->functions.words[i];
      if (p - begin < f->length || !same(p - f->length, f->name, f->length)) continue;
      if (!f->kind || s->mode == ALL) return 0;
      Text q = p + 1;
      if (q < e && *q == '#') continue; /* local */
      if (!absolute_in_css(q + quote_at(q, e, in_attribute), e)) return 0;
    }
  }
  return 1;
}

/* Whether a character reference of anything but `&` stands at `p`. */
static int is_encoded(Text p, Text e) { return *p == '&' && !ampersand_at(p, e); }

static int is_quote(Text p, Text e, Text quote, size_t n) {
  return (size_t)(e - p) >= n && !memcmp(p, quote, n);
}

/* Whether each ASCII byte is a character in any charset, and never part of another. */
static int ascii_stands(Text p, Text e) {
  for (; p < e; p++)
    if (*p >= 0x80 && e - p > 1 && IS(p[1], TRAIL)) return 0;
  return 1;
}

/* Reads the reference in a function that takes a url; *pp is after the bracket. */
static int css_url(Scan *s, Text *pp, Text e, int custom, int in_attribute) {
  Text p = *pp, stop, at_quote;
  while (p < e && IS(*p, WS)) p++;
  size_t n = quote_at(p, e, in_attribute);
  int also = 0;
  if (n) {
    at_quote = p;
    p += n;
    for (stop = p; stop < e && !is_quote(stop, e, at_quote, n); stop++)
      if (*stop == '\\' || *stop == '\n' || *stop == '\r' || *stop == '\f' ||
          (in_attribute && (is_encoded(stop, e) || (n > 1 && IS(*stop, QUOTE)))))
        return STOPS;
    if (stop >= e) return STOPS;
    if (!in_attribute && !s->normalizes) also = QUOTE | BLANK;
    Text q = stop + n;
    while (q < e && IS(*q, WS)) q++;
    if (q >= e || *q != ')') return STOPS;
    *pp = q + 1;
    if (p < stop && (IS(*p, WS) || IS(stop[-1], WS))) return STOPS;
  } else {
    Text close = find(p, e, ')');
    if (!close) return STOPS;
    for (Text q = p; q < close; q++)
      if (*q == '\\' || (in_attribute && is_encoded(q, e))) return STOPS;
    *pp = close + 1;
    stop = close;
    while (stop > p && IS(stop[-1], WS)) stop--;
    for (Text q = p; q < stop; q++)
      if (*q <= 0x20 || *q == 0x7f || *q == '"' || *q == '\'' || *q == '(')
        return *q ? CONTINUES : STOPS; /* a bad url: no reference */
  }
  if (p == stop) return CONTINUES;
  for (Text q = p; q < stop; q++)
    if (!IS(*q, CSS_PLAIN | also)) {
      if (!absolute_in_css(p, stop)) return STOPS;
      if (s->mode != ALL) return CONTINUES;
      if (!is_ascii_text(p, stop) || (!in_attribute && find(p, stop, '&'))) return STOPS;
      return listed(s, p, stop);
    }
  if (*p == '#') return s->mode == ALL ? relative(s, p, stop, IN_CSS) : CONTINUES;
  if (absolute(p, stop)) return listed(s, p, stop);
  if (custom || !s->in_css) return STOPS;
  s->also = also;
  int done = relative(s, p, stop, IN_CSS);
  s->also = 0;
  return done;
}

/* The end of white space and comments; NULL as above. */
static Text css_space(Text p, Text e, int in_attribute) {
  for (;;) {
    while (p < e && IS(*p, WS)) p++;
    if (!begins(p, e, "/*")) return p;
    if (!(p = css_comment_end(p, e, in_attribute))) return NULL;
  }
}

/* Reads what an at-rule imports, whose name ends at *pp: a url() counts, a string stays if it is
   absolute. */
static int css_import(Scan *s, Text *pp, Text e, int custom, int in_attribute) {
  Text p = css_space(*pp, e, in_attribute), stop;
  if (!p) return STOPS;
  if (p < e && IS(*p, QUOTE)) {
    if (in_attribute || s->mode == ALL) return STOPS;
    for (stop = p + 1; stop < e && *stop != *p; stop++)
      if (*stop < 0x20 || *stop == '\\') return STOPS;
    if (stop >= e || !absolute_in_css(p + 1, stop)) return STOPS;
    *pp = stop + 1;
    return CONTINUES;
  }
  for (stop = p; stop < e && IS(*stop, WORD); stop++) continue;
  if (stop >= e || *stop != '(') return STOPS;
  const Name *function = find_word(&s->tables->functions, p, (size_t)(stop - p));
  if (!function || !function->kind) return STOPS;
  *pp = stop + 1;
  return css_url(s, pp, e, custom, in_attribute);
}

/* The open brackets of CSS, by what closes them. The custom property whose value they are in may be
   at the bottom. */
enum { DEEPEST = 32, CUSTOM = 'c' };
typedef struct {
  int depth, level; /* `level`: how many blocks were begun before the statement, and not ended */
  unsigned char closers[DEEPEST];
} Open;

static int is_top(const Open *open, int c) {
  return open->depth && open->closers[open->depth - 1] == c;
}
static int opens(Open *open, int closer) {
  if (open->depth == DEEPEST) return STOPS;
  open->closers[open->depth++] = (unsigned char)closer;
  return CONTINUES;
}

/* Goes past the prelude of an at-rule at *pp, if it is plain and names nothing. */
static int css_unloaded(const Scan *s, Text *pp, Text e) {
  Text p = *pp, word = p;
  int depth = 0;
  for (; p < e && (depth || !among(";{}", *p)); p++) {
    if (among("\"'\\/[]{};<&", *p)) return STOPS;
    if (*p == '(' && find_word(&s->tables->functions, word, (size_t)(p - word))) return STOPS;
    depth += *p == '(' ? 1 : *p == ')' ? -(depth > 0) : 0;
    if (!IS(*p, WORD)) word = p + 1;
  }
  if (depth) return STOPS;
  *pp = p;
  return CONTINUES;
}

/* Goes past what begins a statement at *pp and changes how the rest is read. */
static int css_statement(Scan *s, Text *pp, Text e, Open *open, int in_attribute) {
  Text p = *pp, q;
  for (;;) {
    if (!(p = css_space(p, e, in_attribute))) return STOPS;
    if (begins(p, e, "<!--")) p += 4;
    else if (begins(p, e, "-->")) p += 3;
    else break;
  }
  *pp = p;
  if (p >= e || (*p != '@' && *p != '-')) return CONTINUES;
  for (q = p + 1; q < e && IS(*q, WORD); q++) continue;
  if (q < e && *q == '\\') return STOPS;
  if (*p == '-') {
    if (q - p < 2 || p[1] != '-') return CONTINUES;
    if (!(q = css_space(q, e, in_attribute))) return STOPS;
    if (q >= e || *q != ':') return CONTINUES;
    if (!in_attribute && !open->level) return STOPS; /* perhaps a rule, which is dropped */
    *pp = q + 1;
    return opens(open, CUSTOM);
  }
  if (q - p == 1) return CONTINUES;
  *pp = q;
  const Name *rule = find_word(&s->tables->at_rules, p + 1, (size_t)(q - p - 1));
  if (!rule) return CONTINUES;
  switch (rule->kind) {
    case UNREAD:
      return STOPS;
    case IMPORTS:
      if (css_import(s, pp, e, 0, in_attribute) != CONTINUES) return STOPS;
      break;
    case UNLOADED:
      break;
  }
  return css_unloaded(s, pp, e);
}

/* The end of the CSS string at `p`; NULL if it is not read here: in an attribute, if it is not
   closed or has a character reference. */
static Text css_string(Text p, Text e, int in_attribute) {
  int quote = *p;
  for (p++; p < e && *p != quote; p++) {
    if (*p == '\n' || *p == '\r' || *p == '\f' || (in_attribute && *p == '&')) return NULL;
    if (*p != '\\') continue;
    if (e - p < 2 || (in_attribute && p[1] == '&')) return NULL;
    if (p[1] == '\r' && e - p > 2 && p[2] == '\n') p++;
    p++;
  }
  return p < e ? p + 1 : in_attribute ? NULL : e;
}

/* The end of a string whose quotes are character references, or of an `&amp;`; NULL as above. */
static Text css_encoded(Text p, Text e) {
  size_t n = quote_at(p, e, 1);
  if (!n) return begins(p, e, "&amp;") ? p + 5 : NULL;
  Text quote = p;
  for (p += n; p < e && !is_quote(p, e, quote, n); p++)
    if (*p < 0x20 || *p == '\\' || *p == '&' || IS(*p, QUOTE)) return NULL;
  return p < e ? p + n : NULL;
}

/* The function whose bracket is at *pp; `floor` is where its name may begin. */
static int css_function(Scan *s, Text *pp, Text e, Text floor, Text escaped, Open *open,
                        int in_attribute) {
  Text p = *pp, name = p;
  while (name > floor && IS(name[-1], WORD)) name--;
  const Name *function = NULL;
  if (name < p && name != escaped && !(name > floor && among("#@", name[-1])))
    function = find_word(&s->tables->functions, name, (size_t)(p - name));
  *pp = p + 1;
  if (!function) return opens(open, ')');
  if (!function->kind) return STOPS;
  return css_url(s, pp, e, open->depth && open->closers[0] == CUSTOM, in_attribute);
}

/* Reads CSS from `p`, where a statement begins, as Python does. Returns `e` if it got through, else
   the beginning of the statement to go on from; `*looked` is what needs a closer look there, NULL
   after a batch. */
static Text css(Scan *s, Text p, Text e, int in_attribute, size_t batch, Text *looked) {
  int level = 0;
  for (;;) {
    Text begin = p, floor, escaped = NULL;
    size_t mark = s->count;
    Open open = {0, level, {0}};
    *looked = mark >= batch ? NULL : p;
    if (p >= e || !*looked) return p;
    if (css_statement(s, &p, e, &open, in_attribute) != CONTINUES) goto stop;
    floor = p;
    for (;;) {
      while (p < e && !IS(*p, CSS_EVENT)) p++;
      if (p >= e) return e;
      int c = *p;
      switch (c) {
      case '"':
      case '\'':
        if (!(p = css_string(*looked = p, e, in_attribute))) goto stop;
        continue;
      case '\\':
        *looked = p;
        if (in_attribute && (e - p < 2 || p[1] == '&')) goto stop;
        if (!(p = escape_end(p, e))) goto stop;
        escaped = p;
        continue;
      case '/':
        if (e - p < 2 || p[1] != '*') break;
        if (!(p = css_comment_end(*looked = p, e, in_attribute))) goto stop;
        continue;
      case '<':
        if (!begins(p, e, "<!--")) break;
        floor = p += 4;
        continue;
      case '&':
        if (!in_attribute) break;
        if (!(p = css_encoded(*looked = p, e))) goto stop;
        continue;
      case '(':
        *looked = p;
        if (css_function(s, &p, e, floor, escaped, &open, in_attribute) != CONTINUES) goto stop;
        floor = p;
        continue;
      case '[':
        *looked = p;
        if (opens(&open, ']') != CONTINUES) goto stop;
        break;
      case '{':
        if (!open.depth) goto next;
        *looked = p;
        if (opens(&open, '}') != CONTINUES) goto stop;
        break;
      case ';':
        if (!open.depth || is_top(&open, CUSTOM)) goto next;
        break;
      case '}':
        if (!open.depth || is_top(&open, CUSTOM)) goto next;
        /* fall through */
      default:
        open.depth -= is_top(&open, c);
      }
      p++;
    }
  next:
    level += *p == '{' ? 1 : -(*p == '}' && level);
    p++;
    continue;
  stop:
    s->count = mark;
    return begin;
  }
}

/* The CSS of a style element or attribute. */
static int whole_css(Scan *s, Text p, Text e, int in_attribute) {
  Text looked;
  if (without_functions(s, p, e, in_attribute)) return CONTINUES;
  if (!s->ascii_stands && !ascii_stands(p, e)) return STOPS;
  if (begins(p, e, "\xef\xbb\xbf")) p += 3;
  return css(s, p, e, in_attribute, SIZE_MAX, &looked) == e ? CONTINUES : STOPS;
}

/* ---- Other values */

static int srcset(Scan *s, Text p, Text e) {
  for (;;) {
    while (p < e && (IS(*p, WS) || *p == ',')) p++;
    if (p >= e) return CONTINUES;
    Text start = p;
    while (p < e && !IS(*p, WS)) p++;
    Text stop = p;
    while (stop[-1] == ',') stop--;
    if (*start <= 0x20 || stop[-1] <= 0x20) return STOPS;
    if (stop == p) {
      for (; p < e && *p != ','; p++)
        if (*p == '(' || *p == '&') return STOPS;
    }
    int done;
    if (BEGINS_WEB(begins, start, stop)) {
      for (Text q = start; q < stop; q++)
        if (is_encoded(q, stop)) return STOPS;
      done = listed(s, start, stop);
    } else {
      done = relative(s, start, stop, IN_QUOTES);
    }
    if (done != CONTINUES) return done;
  }
}

/* URLs separated by white space, which stay if all are absolute. */
static int list(const Scan *s, Text p, Text e) {
  if (s->mode == ALL) return STOPS;
  for (; p < e; p++) {
    if (IS(*p, WS)) continue;
    if (!BEGINS_WEB(begins, p, e)) return STOPS;
    for (; p < e && !IS(*p, WS); p++)
      if (is_encoded(p, e)) return STOPS;
  }
  return CONTINUES;
}

typedef struct {
  Text name, value, end;
  size_t length;
  int quote; /* -1: no value, 0: unquoted */
} Attribute;

/* The end of a value without what HTML drops there, as it is or as a numeric reference. */
static Text without_controls(Text p, Text e) {
  Text q = e;
  while (p < q) {
    if (is_odd_character(q[-1]) || IS(q[-1], WS)) {
      e = --q;
    } else {
      if (q[-1] == ';')
        for (q--; p < q && e - q < 8 && *q != '&'; q--) continue;
      if (q == e || *q != '&' || q + bad_number(q, e, 1) != e) return e;
      e = q;
    }
  }
  return e;
}

/* The end of a value without references of white space. */
static Text without_spaces(Text p, Text e) {
  enum { LONGEST = 8 };
  for (;;) {
    int number = 0;
    Text q = e;
    if (p == e || q[-1] != ';') return e;
    for (q--; p < q && e - q < LONGEST && *q != '&'; q--) continue;
    if (q + number_at(q, e, &number) != e || !number || !IS(number, WS) || number > 0x20) return e;
    e = q;
  }
}

static int url(Scan *s, const Attribute *a, int holds) {
  Text p = a->value, e = a->end;
  if ((holds & HOLDS_MASK) == URL && !s->in_xml && !s->in_markup &&
      (e = without_spaces(p, e)) == p && p < a->end)
    return STOPS;
  if (s->in_markup && p < e && (e = without_controls(p, e)) == p) return STOPS; /* none is left */
  if (p < e && (IS(*p, WS) || IS(e[-1], WS))) {
    while (p < e && IS(*p, WS)) p++;
    while (p < e && IS(e[-1], WS)) e--;
    if (p == e) return STOPS;
  }
  if (p == e) {
    int is_own = s->own_is_base && (holds & HOLDS_MASK) == URL;
    if (holds & EMPTY_LOOK && !is_own) return STOPS;
    if (!(holds & (EMPTY_IS_BASE | EMPTY_LOOK))) return CONTINUES;
    if (a->quote <= 0 || s->unsure || !has_edit(s, EMPTY, IN_QUOTES)) return STOPS;
    return add(s, p, e, EMPTY);
  }
  int maybe = (holds & HOLDS_MASK) == MAYBE;
  if (maybe && s->mode == ALL) return STOPS;
  /* With white space, or what may mean some, it may be several references; or it may be CSS. */
  for (Text q = p; maybe && q < e; q++)
    if (IS(*q, WS) || *q == '&' || *q == '(') return STOPS;
  if (absolute(p, e)) return listed(s, p, e);
  if (maybe) return STOPS;
  if (!s->in_xml && !s->in_markup && absolute_numbered(p, e)) return listed(s, p, e);
  if (*p == '#' && holds & FRAGMENT_LOOK) return STOPS;
  if (*p == '#' && holds & LOCAL && s->mode != ALL) return CONTINUES;
  s->also = s->normalizes ? 0 : BLANK;
  s->tells_odd = s->flaws_told && !is_odd_character(*p) && !(s->in_markup && *p == '&');
  int done = relative(s, p, e, a->quote ? IN_QUOTES : UNQUOTED);
  if (done == CONTINUES && s->odd && s->in_xml) { /* the whole value stays */
    s->found[s->count - 1].at = a->value - s->text;
    s->found[s->count - 1].end = a->end - s->text;
  }
  s->also = s->tells_odd = s->odd = 0;
  return done;
}

/* The time after which a page is loaded once more, and the URL, if there is one. */
static int refresh(Scan *s, const Attribute *a) {
  Text p = a->value, e = a->end, q;
  for (q = p; (q = find(q, e, '&')); q++)
    if (is_encoded(q, e)) return STOPS;
  while (p < e && IS(*p, WS)) p++;
  if (p >= e || !(IS(*p, ALNUM) || *p == '.') || IS(*p, ALPHA)) return CONTINUES;
  while (p < e && (IS(*p, ALNUM) || *p == '.') && !IS(*p, ALPHA)) p++;
  if (p < e && !IS(*p, WS) && *p != ';' && *p != ',') return CONTINUES;
  while (p < e && IS(*p, WS)) p++;
  if (p < e && (*p == ';' || *p == ',')) p++;
  while (p < e && IS(*p, WS)) p++;
  if (begins_any_case(p, e, REFRESH_KEYWORD)) {
    for (q = p + strlen(REFRESH_KEYWORD); q < e && IS(*q, WS); q++) continue;
    if (q < e && *q == '=') p = q + 1;
  }
  while (p < e && IS(*p, WS)) p++;
  if (p < e && IS(*p, QUOTE)) {
    q = find(p + 1, e, *p);
    p++;
    if (q) e = q;
  }
  while (p < e && IS(*p, WS)) p++;
  while (p < e && IS(e[-1], WS)) e--;
  if (p == e) return CONTINUES;
  return absolute(p, e) ? listed(s, p, e) : s->in_xml ? STOPS : relative(s, p, e, IN_CSS | UNQUOTED);
}

static int value(Scan *s, const Attribute *a, int holds) {
  switch (holds & HOLDS_MASK) {
  case URL:
  case MAYBE:
    return url(s, a, holds);
  case CSS:
    if (a->quote > 0) return whole_css(s, a->value, a->end, 1);
    return without_functions(s, a->value, a->end, 1) ? CONTINUES : STOPS;
  case SRCSET:
    return a->quote > 0 ? srcset(s, a->value, a->end) : a->value == a->end ? CONTINUES : STOPS;
  case LIST:
    return list(s, a->value, a->end);
  case REFRESH:
    return refresh(s, a);
  case ANYTHING:
    return a->value == a->end && !(holds & EMPTY_LOOK) ? CONTINUES : STOPS;
  default:
    return CONTINUES;
  }
}

/* ---- Tags */

/* Reads the attribute whose name begins at *pp; 0 if it is not closed. */
static int attribute(Text *pp, Text e, Attribute *a) {
  Text p = *pp, q;
  a->name = p++;
  while (p < e && !IS(*p, ATTR_END)) p++;
  a->length = (size_t)(p - a->name);
  for (q = p; q < e && IS(*q, WS); q++) continue;
  a->quote = -1;
  a->value = a->end = p;
  if (q < e && *q == '=') {
    for (q++; q < e && IS(*q, WS); q++) continue;
    if (q >= e) return 0;
    if (*q == '"' || *q == '\'') {
      Text close = find_near(q + 1, e, *q);
      if (!close) return 0;
      a->quote = *q;
      a->value = q + 1;
      a->end = close;
      p = close + 1;
    } else {
      a->quote = 0;
      a->value = q;
      while (q < e && !IS(*q, WS) && *q != '>') q++;
      a->end = p = q;
    }
  }
  *pp = p;
  return 1;
}

typedef struct {
  Attribute type; /* the attribute `type`; of length 0 if there is none */
  int slash;      /* whether a slash stands before the end */
} Tag;

/* Finds the first attribute of a number in a tag; 0 if there is none. */
static int stated(const Tables *t, Text p, Text e, int number, Attribute *a) {
  for (;;) {
    while (p < e && (IS(*p, WS) || *p == '/')) p++;
    if (p >= e || *p == '>' || !attribute(&p, e, a)) return 0;
    const Name *known = look_up(&t->attributes, a->name, a->length);
    if (known && known->row == number) return 1;
  }
}

/* What a value holds in a tag whose attributes begin at `p`. */
static int held(const Scan *s, Text p, Text e, const Attribute *a, int holds) {
  const Name *local = &s->tables->local;
  Attribute other;
  if ((holds & HOLDS_MASK) == ON_CODEBASE)
    return (holds & ~HOLDS_MASK) |
           (stated(s->tables, p, e, s->tables->codebase, &other) ? MAYBE : URL);
  if (holds & FRAGMENT_LOOK && a->value < a->end && *a->value == '#') {
    if (stated(s->tables, p, e, local->row, &other))
      for (Text q = other.value; q < other.end; q++)
        if (*q == '&' || ((size_t)(other.end - q) >= local->length &&
                          same(q, local->name, local->length)))
          return holds;
    return holds & ~FRAGMENT_LOOK;
  }
  return holds;
}

/* Reads the attributes of a tag, and its `>`. */
static int attributes(Scan *s, Text *pp, Text e, const unsigned char *row, Tag *tag) {
  uint64_t seen[4] = {0, 0, 0, 0};
  size_t mark = s->count;
  Text p = *pp;
  tag->type.length = 0;
  for (;;) {
    tag->slash = 0;
    for (; p < e && (IS(*p, WS) || *p == '/'); p++) tag->slash = *p == '/';
    if (p >= e) return ENDS;
    if (*p == '>') break;
    Attribute a;
    if (!attribute(&p, e, &a) || p == e) return ENDS;
    const Name *known = look_up(&s->tables->attributes, a.name, a.length);
    if (!known) continue;
    int number = known->row;
    if (seen[number >> 6] >> (number & 63) & 1) continue; /* the first of a name counts */
    seen[number >> 6] |= (uint64_t)1 << (number & 63);
    if (number == s->tables->type) tag->type = a;
    if (row[number] == NOTHING) continue;
    if ((row[number] & HOLDS_MASK) == DECIDES) {
      const Name *word = find_word(&s->tables->deciding, a.value, (size_t)(a.end - a.value));
      if (find(a.value, a.end, '&')) return STOPS;
      if (word && !word->kind) return STOPS;
      if (!word || word->kind != number + 1) continue;
      row = s->tables->rows + word->row * s->tables->width; /* what the others hold then */
      memset(seen, 0, sizeof seen);
      s->count = mark;
      p = *pp;
      continue;
    }
    int done;
    s->attribute = number;
    s->holds = held(s, *pp, e, &a, row[number]);
    if ((done = value(s, &a, s->holds)) != CONTINUES) return done;
  }
  *pp = p + 1;
  return CONTINUES;
}

/* The end of a tag, after its `>`; NULL if it is not closed. */
static Text tag_end(Text p, Text e) {
  Attribute a;
  for (;;) {
    while (p < e && (IS(*p, WS) || *p == '/')) p++;
    if (p >= e) return NULL;
    if (*p == '>') return p + 1;
    if (!attribute(&p, e, &a)) return NULL;
  }
}

/* ---- Raw text */

static int is_end_tag(Text p, Text e, Text name, size_t n) {
  return (size_t)(e - p) > n + 2 && p[1] == '/' && IS(p[2 + n], NAME_END) && same(p + 2, name, n);
}

/* Where the `</name` that ends raw text begins; NULL if there is none. `name` is in lower case. */
static Text raw_end(Text p, Text e, const Name *element) {
  for (; (p = find(p, e, '<')); p++)
    if (is_end_tag(p, e, element->name, element->length)) return p;
  return NULL;
}

/* The same for a script, where `<!--<script>` hides the next end tag. */
static Text script_end(Text p, Text e, const Name *element) {
  enum { DATA, ESCAPED, DOUBLE_ESCAPED } state = DATA;
  size_t n = element->length;
  while (p < e) {
    if (state == DATA) {
      if (!(p = find(p, e, '<'))) return NULL;
      if (is_end_tag(p, e, element->name, n)) return p;
      if (begins(p, e, "<!--")) {
        state = ESCAPED;
        p += 2; /* `<!-->` ends it at once */
      } else {
        p++;
      }
    } else if (begins(p, e, "-->")) {
      state = DATA;
      p += 3;
    } else if (*p != '<') {
      p++;
    } else if (is_end_tag(p, e, element->name, n)) {
      if (state == ESCAPED) return p;
      state = ESCAPED;
      p += n + 3;
    } else if (state == ESCAPED && (size_t)(e - p) > n + 1 && IS(p[1 + n], NAME_END) &&
               same(p + 1, element->name, n)) {
      state = DOUBLE_ESCAPED;
      p += n + 2;
    } else {
      p++;
    }
  }
  return NULL;
}

static const Name *said_type(const Attribute *type, const Words *words) {
  Text p = type->value, e = type->end;
  while (p < e && IS(*p, WS)) p++;
  while (e > p && IS(e[-1], WS)) e--;
  return find_word(words, p, (size_t)(e - p));
}

/* ---- JSON-LD: whether it may have a relative URL, as `json_ld.last_relative` asks */

static Text json_space(Text p, Text e) {
  while (p < e && IS(*p, XML_WS)) p++;
  return p;
}
/* The closing quote of the string whose text begins at `p`; NULL if it has none. */
static Text json_close(Text p, Text e) {
  for (; p < e && *p != '"'; p++)
    if (*p == '\\' && ++p < e && *p == '\n') return NULL;
  return p < e ? p : NULL;
}
static int is_of_web(Text p, Text e) {
  if (!begins(p, e, "\"http")) return 0;
  p += 5 + begins(p + 5, e, "s");
  return begins(p, e, "://") || begins(p, e, ":\\/\\/");
}

/* Whether the value at `p` is no string, or one of the web, or a list that begins with those. */
static int json_value_stays(Text p, Text e) {
  if (p >= e) return 0;
  if (*p != '[') return *p != '"' || is_of_web(p, e);
  for (p = json_space(p + 1, e); is_of_web(p, e);) {
    if (!(p = json_close(p + 1, e))) return 0;
    p = json_space(p + 1, e);
    if (p < e && *p == ',') p++;
    p = json_space(p, e);
  }
  return p < e && (*p == ']' || *p == '{');
}

/* Whether an item follows the object that ends before `p`, and is not one itself. */
static int json_item_follows(Text p, Text e) {
  p = json_space(p, e);
  if (p >= e || *p != ',') return 0;
  p = json_space(p + 1, e);
  if (p >= e || *p != '"') return p >= e || !among("{}]", *p);
  if (!(p = json_close(p + 1, e))) return 1;
  p = json_space(p + 1, e);
  return p >= e || *p != ':';
}

static int json_may_be_relative(const Words *names, Text p, Text e) {
  Text name, after;
  for (; p < e; p++) {
    switch (*p) {
    case '"':
      name = after = p + 1;
      if (after < e && *after == '@') after++;
      while (after < e && IS(*after, ALPHA)) after++;
      if (after >= e || *after != '"') break;
      p = after - 1;
      after = json_space(after + 1, e);
      if (after >= e || *after != ':' || json_value_stays(json_space(after + 1, e), e)) break;
      if (is_among(names, name, (size_t)(p + 1 - name))) return 1;
      break;
    case '}':
      if (json_item_follows(p + 1, e)) return 1;
      break;
    case '\\': /* of a letter, or of `@` */
      if (e - p > 5 && begins(p, e, "\\u00") && among("4567", p[4])) return 1;
    }
  }
  return 0;
}

/* ---- Comments, and what else begins with `<!` */

static Text scan(Scan *s, Text p, Text e);

/* The end of the comment whose text begins at `p`; `e` if it is not closed. */
static Text comment_end(Text p, Text e) {
  if (p < e && *p == '>') return p + 1;
  if (begins(p, e, "->")) return p + 2;
  for (; (p = find(p, e, '-')); p++)
    if (begins(p, e, "-->")) return p + 3;
    else if (begins(p, e, "--!>")) return p + 4;
  return e;
}

/* The inside of `<!--[if IE]> ... <![endif]-->` is markup. */
static int conditional(Scan *s, Text begin, Text end) {
  if (s->in_comment || end - begin < 4 || *begin != '[' || !begins_any_case(begin + 1, end, "if"))
    return CONTINUES;
  Text p = begin + 3, stop = end;
  while (p < end && *p != ']' && *p != '>') p++;
  if (!begins(p, end, "]>")) return CONTINUES;
  p += 2;
  if (end - begin >= 3 && !memcmp(end - 3, "-->", 3)) stop = end - 3;
  else if (end - begin >= 4 && !memcmp(end - 4, "--!>", 4)) stop = end - 4;
  if (stop < p) return STOPS;
  s->in_comment = 1;
  s->depth++;
  Text reached = scan(s, p, stop);
  s->depth--;
  s->in_comment = 0;
  return reached == stop ? CONTINUES : STOPS;
}

/* ---- SVG and MathML: whole elements that hold plain elements and text */

enum { MOST_NESTED = 64 }; /* elements in foreign content */

static int foreign(Scan *s, Text *pp, Text e, const Name *root) {
  const Tables *t = s->tables;
  const Name *open[MOST_NESTED]; /* an end tag of another element may close what is around */
  int svg = root->kind == SVG, depth = 0;
  const Names *names = svg ? &t->svg : &t->math;
  const Name *element = look_up(names, root->name, root->length);
  Text p = *pp;
  Tag tag;
  if (!element) return STOPS;
  s->unsure = !svg; /* HTML elements may be in MathML, and names do not tell them apart */
  for (int first = 1;; first = 0) {
    int done = attributes(s, &p, e, t->rows + element->row * t->width, &tag);
    if (done != CONTINUES || (first && tag.slash) || depth == MOST_NESTED) goto stop;
    if (!first && !tag.slash) open[depth++] = element;
    for (;;) {
      if (!(p = find(p, e, '<')) || e - p < 4) goto stop;
      if (p[1] == '!') {
        if (!begins(p, e, "<!--") || among("[>-", p[4 < e - p ? 4 : 3])) goto stop;
        p = comment_end(p + 4, e);
        continue;
      }
      int closing = p[1] == '/';
      Text name = p + 1 + closing;
      if (!IS(*name, ALPHA)) {
        if (closing || *name == '?') goto stop;
        p++;
        continue;
      }
      for (p = name; p < e && !IS(*p, NAME_END); p++) continue;
      size_t n = (size_t)(p - name);
      if (n == root->length && same(name, root->name, n)) {
        if (!closing || p >= e || *p != '>' || (depth && !svg)) goto stop;
        s->unsure = 0;
        *pp = p + 1;
        return CONTINUES;
      }
      if (!(element = look_up(names, name, n))) goto stop;
      s->name = name;
      s->name_end = p;
      if (element->kind == RAW || element->kind == STYLE) { /* nothing but text */
        if (closing || attributes(s, &p, e, t->rows + element->row * t->width, &tag) != CONTINUES)
          goto stop;
        Text close = find(p, e, '<');
        if (tag.slash || !close || !is_end_tag(close, e, element->name, n) || close[2 + n] != '>')
          goto stop;
        if (element->kind == STYLE && (find(p, close, '&') || !without_functions(s, p, close, 0)))
          goto stop;
        p = close + n + 3;
        continue;
      }
      if (!closing) break;
      if (!depth || open[--depth] != element || !(p = tag_end(p, e))) goto stop;
    }
  }
stop:
  s->unsure = 0;
  return STOPS;
}

/* ---- Elements */

/* Reads a template up to its end tag at *pp, and that. It is left to the exact walk, which counts
   what is open, if anything in it needs a closer look. */
static int template(Scan *s, Text *pp, Text e, const Name *element) {
  if (s->in_template) return STOPS;
  s->in_template = 1;
  s->depth++;
  Text p = scan(s, *pp, e);
  s->depth--;
  s->in_template = 0;
  if (p < e && !(is_end_tag(p, e, element->name, element->length) &&
                 (p = tag_end(p + 2 + element->length, e))))
    return STOPS;
  *pp = p;
  return CONTINUES;
}

/* The text after a start tag. */
static int text_of(Scan *s, Text *pp, Text e, const Name *element, const Tag *tag) {
  Text p = *pp, stop;
  const Attribute *type = tag->type.length ? &tag->type : NULL;
  const Name *said;
  int is_unread = type && find(type->value, type->end, '&');
  switch (element->kind) {
  case SCRIPT:
    said = type ? said_type(type, &s->tables->script_types) : NULL;
    if (is_unread || (said && said->kind == UNREAD)) return STOPS;
    if (!(stop = script_end(p, e, element))) stop = e;
    if (!said || said->kind != JSON_LD || (s->mode == ALL && !said->row)) break;
    if (s->mode == ALL || (!s->ascii_stands && !ascii_stands(p, stop)) ||
        json_may_be_relative(&s->tables->json_names, p, stop))
      return STOPS;
    break;
  case STYLE:
    if (is_unread) return STOPS;
    if (!(stop = raw_end(p, e, element))) stop = e;
    s->attribute = -1;
    s->holds = CSS;
    if ((!type || is_among(&s->tables->style_types, type->value,
                                   (size_t)(type->end - type->value)))) {
      int done = whole_css(s, p, stop, 0);
      if (done != CONTINUES) return done;
    }
    break;
  case NOSCRIPT:
    if (s->in_noscript) return CONTINUES;
    if (!(stop = raw_end(p, e, element))) stop = e;
    s->in_noscript = 1;
    s->depth++;
    p = scan(s, p, stop);
    s->depth--;
    s->in_noscript = 0;
    if (p != stop) return STOPS;
    break;
  case TEMPLATE:
    return template(s, pp, e, element);
  case RAW:
    if (!(stop = raw_end(p, e, element))) stop = e;
    break;
  default:
    return CONTINUES;
  }
  *pp = stop;
  return CONTINUES;
}

static int start_tag(Scan *s, Text *pp, Text e) {
  const Tables *t = s->tables;
  Text name = *pp, p = name;
  while (p < e && !IS(*p, NAME_END)) p++;
  size_t n = (size_t)(p - name);
  const Name *element = look_up(&t->elements, name, n);
  s->name = name;
  s->name_end = p;
  if (!element && t->prefix.length && n >= t->prefix.length &&
      same(name, t->prefix.name, t->prefix.length))
    element = &t->prefix;
  int kind = element ? element->kind : PLAIN;
  Attribute href;
  if (kind == LOOK) return STOPS;
  if (kind == BASE && !s->in_base && stated(t, p, e, t->href, &href) &&
      !(s->past_base && absolute(href.value, href.end)))
    return STOPS;
  if (kind == SVG || kind == MATH) {
    *pp = p;
    return foreign(s, pp, e, element);
  }
  Tag tag;
  size_t mark = s->count;
  int done = attributes(s, &p, e, t->rows + (element ? element->row : t->other) * t->width, &tag);
  /* It is resolved against the base around. */
  if (kind == BASE && !s->in_base && s->count > mark) return STOPS;
  if (done == CONTINUES && kind != PLAIN) done = text_of(s, &p, e, element, &tag);
  *pp = p;
  return done;
}

static int end_tag(const Scan *s, Text *pp, Text e) {
  Text name = *pp, p = name;
  if (p >= e) return ENDS;
  if (!IS(*p, ALPHA)) {
    p = find(p, e, '>');
    *pp = p ? p + 1 : e;
    return CONTINUES;
  }
  while (p < e && !IS(*p, NAME_END)) p++;
  if (LOWER(*name) == 't') { /* the exact walk counts the ends of templates */
    const Name *element = look_up(&s->tables->elements, name, (size_t)(p - name));
    if (element && element->kind == TEMPLATE) return STOPS;
  }
  if (!(p = tag_end(p, e))) return ENDS;
  *pp = p;
  return CONTINUES;
}

static int declaration(Scan *s, Text *pp, Text e) {
  Text p = *pp;
  if (s->in_markup) return STOPS; /* a program may have left the base there */
  if (begins(p, e, "!--")) {
    *pp = comment_end(p + 3, e);
    return conditional(s, p + 3, *pp);
  }
  p = find(p, e, '>');
  *pp = p ? p + 1 : e;
  return CONTINUES;
}

/* Scans from `p` to `e`; returns `e` if it got through, else the place for a closer look. */
static Text scan(Scan *s, Text p, Text e) {
  size_t batch = s->depth ? SIZE_MAX : BATCH; /* the inside of an element is done in one go */
  while (s->count < batch) {
    Text begin = find_near(p, e, '<');
    if (!begin) return e;
    p = begin + 1;
    if (p >= e) return begin;
    size_t mark = s->count;
    int done;
    if (IS(*p, ALPHA)) done = start_tag(s, &p, e);
    else if (*p == '/') p++, done = end_tag(s, &p, e);
    else if (*p == '!' || *p == '?') done = declaration(s, &p, e);
    else continue;
    if (done == CONTINUES) continue;
    s->count = mark;
    return done == STOPS ? begin : e;
  }
  return p;
}

/* ---- XML */

/* What is known of an element, by its name as written. */
typedef struct {
  int text, is_item; /* what its text holds; whether it is an item of a feed */
  void *attributes;
} Known;

/* Functions that look up what was learned from the exact walk. */
typedef struct {
  void *data;
  int (*element)(void *data, Text name, size_t n, Known *known);          /* 0: unknown */
  int (*attribute)(void *data, const Known *known, Text name, size_t n); /* -1: unknown */
  int (*tag)(void *data, Text tag, size_t n); /* what the text after it holds; -1: unknown */
  /* Begins a scope with another base; 0: it needs a closer look. Without a value, ends it. */
  int (*scope)(void *data, Text value, size_t n);
} Lookup;

/* An item of a feed: its start tag. */
typedef struct {
  Text start, name_end, end;
} Item;

/* HTML in the text of an element, in which something was found. */
typedef struct {
  Item item; /* around it; NULL if that began earlier */
  Text text;
  size_t first, last;
  int scope; /* its number, 0 outside */
} Markup;

/* The outermost element with a base of its own, read as a whole: the state before it. */
typedef struct {
  Text start; /* of its start tag */
  size_t found, markups;
  Item item;
  int scopes;
} Scope;

enum { MOST_OPEN = 4 }; /* nested scopes */

typedef struct {
  Scan scan;
  Lookup lookup;
  ptrdiff_t depth, floor; /* how many elements are open, and how many must stay open */
  int reads; /* what it may read, as bits */
  Item item;
  Scope scope; /* zeros outside of scopes */
  struct {
    ptrdiff_t depth;
    int number;
  } opened[MOST_OPEN]; /* the scopes that are being read */
  int open, scopes; /* how many those are; how many were begun */
  size_t flushed; /* how much was found before, and handed on */
  Markup *markups;
  size_t count, room;
} Xml;

static int push_markup(Xml *x, const Markup *markup) {
  if (x->count == x->room) {
    size_t room = x->room ? x->room * 2 : 64;
    Markup *grown = realloc(x->markups, room * sizeof(Markup));
    if (!grown) return STOPS;
    x->markups = grown;
    x->room = room;
  }
  x->markups[x->count++] = *markup;
  return CONTINUES;
}

/* Whether all references in a value are known ones: readers disagree on undefined entities. */
static int is_readable(Text p, Text e) {
  unsigned char means;
  for (; (p = find(p, e, '&')); p++)
    if (!reference_at(p, e, &means) && !is_bare(p, e)) return 0;
  return 1;
}

enum { MAX_FLAWED = 1 << 18 }; /* a longer text with a flaw in it is left to the exact walk */

/* Whether a raw text may have a flaw that readers disagree on. */
static int may_be_flawed(Text p, Text e, int is_escaped) {
  if (is_escaped && !is_readable(p, e)) return 1;
  while (p < e && *p != NO_CHARACTER && (*p >= 0x20 || among("\t\n\r", *p))) p++;
  return p < e;
}

/* Decodes a text to `out`, which has room for it; NULL if it is not read here. An `&` means itself
   if it begins no character reference, or that of an undefined entity. */
static unsigned char *decoded(Text p, Text e, unsigned char *out) {
  while (p < e) {
    Text q = find(p, e, '&');
    size_t n = (size_t)((q ? q : e) - p);
    memcpy(out, p, n);
    out += n;
    if (!q) return out;
    if (begins(q, e, "&#") && !reference_at(q, e, out) && !bad_number(q, e, 0)) return NULL;
    if (!(n = reference_at(q, e, out))) *out = *q, n = 1;
    out++;
    p = q + n;
  }
  return out;
}

/* The place in a text as written that is `n` decoded bytes further on. */
static Text written_at(Text p, Text e, size_t n) {
  unsigned char means;
  while (n-- && p < e) {
    size_t length = *p == '&' ? reference_at(p, e, &means) : 0;
    p += length ? length : 1;
  }
  return p;
}

/* Hands on what was found in a decoded text, with places in the text as written. */
static int outward(Scan *outer, const Scan *inner, Text p, Text e, int is_escaped) {
  ptrdiff_t at = 0;
  for (size_t i = 0; i < inner->count; i++) {
    Found f = inner->found[i];
    ptrdiff_t from = f.from, to = f.to;
    if (from < at || to < from) return STOPS;
    Text start = is_escaped ? written_at(p, e, (size_t)(from - at)) : p + (from - at);
    p = is_escaped ? written_at(start, e, (size_t)(to - from)) : start + (to - from);
    at = to;
    Text end = is_escaped ? written_at(p, e, (size_t)(f.end - to)) : p + (f.end - to);
    int is_flawed = is_escaped && !is_readable(p, end);
    /* No flaw, so it needs a closer look: `&amp;nbsp;`, or `&nbsp;` in a section. */
    if ((f.odd & ODD_NAME && !is_flawed) || (is_flawed && !outer->flaws_told)) return STOPS;
    f.odd = is_flawed || f.odd;
    f.at = f.from = start - outer->text;
    f.to = p - outer->text;
    f.end = end - outer->text;
    if (push(outer, &f) != CONTINUES) return STOPS;
  }
  return CONTINUES;
}

/* Scans the HTML in a text, or in its only CDATA section. */
static int markup(Xml *x, Text p, Text e, int is_escaped) {
  Scan *outer = &x->scan;
  size_t n = (size_t)(e - p);
  unsigned char *room = NULL, *end = NULL;
  if (!(x->reads & READS_MARKUP)) return STOPS;
  if (is_escaped && !find(p, e, '&')) return CONTINUES; /* no tag */
  Scan s = *outer;
  s.found = NULL;
  s.count = s.room = s.in_xml = 0;
  s.in_markup = s.depth = s.ascii_stands = 1;
  s.text = p;
  int done = STOPS;
  if (is_escaped) {
    if (!(room = malloc(n)) || !(end = decoded(p, e, room))) goto stop;
    s.text = room;
    n = (size_t)(end - room);
  }
  if (scan(&s, s.text, s.text + n) == s.text + n) done = outward(outer, &s, p, e, is_escaped);
stop:
  free(s.found);
  free(room);
  return done;
}

static int xml_value(Scan *s, const Attribute *a, int holds) {
  int is_told = s->flaws_told && (holds & HOLDS_MASK) == URL;
  if (find(a->value, a->end, '\f')) return STOPS; /* white space in HTML, a flaw here */
  return is_told || is_readable(a->value, a->end) ? value(s, a, holds) : STOPS;
}

/* Reads the text after a start tag, which ends at the next tag. */
static int xml_text(Xml *x, Text *pp, Text e, int holds) {
  Scan *s = &x->scan;
  Text p = *pp, stop = find(p, e, '<'), begin = p, end = stop;
  if (!stop || e - stop < 2) return STOPS;
  int is_escaped = 1;
  if (stop[1] == '!' || stop[1] == '?') {
    if ((holds & HOLDS_MASK) != MARKUP || !begins(stop, e, "<![CDATA[")) return STOPS;
    while (p < stop && IS(*p, XML_WS)) p++;
    begin = stop + 9;
    if (p != stop) return STOPS;
    for (end = begin; (end = find(end, e, ']')) && !begins(end, e, "]]>"); end++) continue;
    if (!end) return STOPS;
    for (stop = end + 3; stop < e && IS(*stop, XML_WS); stop++) continue;
    is_escaped = 0;
    if (!begins(stop, e, "</")) return STOPS;
  } else if (stop[1] != '/') {
    return (holds & HOLDS_MASK) == URL ? CONTINUES : STOPS; /* there are elements in it */
  }
  Text text = *pp;
  *pp = stop;
  if ((holds & HOLDS_MASK) != MARKUP) {
    Attribute a = {.value = begin, .end = end, .quote = '"'};
    return xml_value(s, &a, holds);
  }
  if (stop - text > MAX_FLAWED && may_be_flawed(begin, end, is_escaped)) return STOPS;
  size_t first = x->flushed + s->count;
  Markup found = {x->item, text, first, first, x->open ? x->opened[x->open - 1].number : 0};
  int done = markup(x, begin, end, is_escaped);
  found.last = x->flushed + s->count;
  return done == CONTINUES && found.last > found.first ? push_markup(x, &found) : done;
}

enum { MOST_HELD = 8 }; /* attributes that hold references */

/* What the text after a start tag holds, looked up by the tag without the base that it states. */
static int text_by_tag(const Xml *x, Text tag, Text end, const Attribute *stated) {
  unsigned char room[MAX_TAG];
  Text cut = stated->value ? stated->value : end, on = stated->value ? stated->end : end;
  size_t before = (size_t)(cut - tag), after = (size_t)(end - on);
  if (before + after > MAX_TAG) return -1;
  memcpy(room, tag, before);
  memcpy(room + before, on, after);
  return x->lookup.tag(x->lookup.data, room, before + after);
}

/* Begins a scope; the base that its tag states is resolved against the one around it. */
static int begin_scope(Xml *x, Text tag, const Attribute *stated) {
  Scope scope = {tag, x->flushed + x->scan.count, x->count, x->item, x->scopes};
  if (x->open == MOST_OPEN || value(&x->scan, stated, URL) != CONTINUES ||
      !x->lookup.scope(x->lookup.data, stated->value, (size_t)(stated->end - stated->value)))
    return STOPS;
  if (!x->open) x->scope = scope;
  x->opened[x->open].depth = x->depth;
  x->opened[x->open++].number = ++x->scopes;
  return CONTINUES;
}

static int end_scope(Xml *x) {
  int done = x->lookup.scope(x->lookup.data, NULL, 0) ? CONTINUES : STOPS;
  if (!--x->open) memset(&x->scope, 0, sizeof x->scope);
  return done;
}

static int xml_tag(Xml *x, Text *pp, Text e) {
  Scan *s = &x->scan;
  Text name = *pp, p = name, q;
  Known known;
  Attribute held[MOST_HELD], stated = {.value = NULL};
  int holdings[MOST_HELD], count = 0, is_empty;
  if (!IS(*p, XML_NAME)) return STOPS;
  while (p < e && IS(*p, XML_NAME)) p++;
  Text name_end = p;
  if (!x->lookup.element(x->lookup.data, name, (size_t)(p - name), &known)) return STOPS;
  for (;; p = q + 1) {
    for (q = p; q < e && IS(*q, XML_WS); q++) continue;
    if (q >= e) return STOPS;
    if ((is_empty = begins(q, e, "/>")) || *q == '>') break;
    Attribute a = {.name = q};
    if (q == p || !IS(*q, XML_NAME) || *q == '!' || *q == '?') return STOPS;
    while (q < e && IS(*q, XML_NAME)) q++;
    a.length = (size_t)(q - a.name);
    while (q < e && IS(*q, XML_WS)) q++;
    if (q >= e || *q != '=') return STOPS;
    for (q++; q < e && IS(*q, XML_WS); q++) continue;
    if (q >= e || !IS(*q, QUOTE)) return STOPS;
    a.quote = *q;
    a.value = q + 1;
    if (!(q = find(a.value, e, a.quote)) || find(a.value, q, '<')) return STOPS;
    a.end = q;
    int holds = x->lookup.attribute(x->lookup.data, &known, a.name, a.length);
    if (holds < 0) return STOPS;
    if (holds == NOTHING) continue;
    if (holds == SCOPE) {
      if (stated.value || count || !is_readable(a.value, a.end)) return STOPS;
      stated = a;
      continue;
    }
    int i = 0; /* a reference that is repeated stays */
    while (i < count && (a.length != held[i].length || memcmp(a.name, held[i].name, a.length))) i++;
    if (i == MOST_HELD || (i < count && (holds & HOLDS_MASK) != URL)) return STOPS;
    holdings[i] = i < count ? NOTHING : holds;
    held[i] = a;
    count += i == count;
  }
  p = q + 1 + is_empty;
  int text = is_empty ? NOTHING : known.text;
  if (text == BY_TAG && (text = text_by_tag(x, name - 1, p, &stated)) < 0) return STOPS;
  if (stated.value && begin_scope(x, name - 1, &stated) != CONTINUES) return STOPS;
  for (int i = 0; i < count; i++)
    if (xml_value(s, &held[i], holdings[i]) != CONTINUES) return STOPS;
  if (is_empty) {
    *pp = p;
    return stated.value ? end_scope(x) : CONTINUES;
  }
  if (text && xml_text(x, &p, e, text) != CONTINUES) return STOPS;
  if (known.is_item) x->item = (Item){name - 1, name_end, q + 1};
  x->depth++;
  *pp = p;
  return CONTINUES;
}

/* The end of the first such `text` at `p` or later; NULL if there is none. */
static Text after(Text p, Text e, const char *text) {
  for (; (p = find(p, e, *text)); p++)
    if (begins(p, e, text)) return p + strlen(text);
  return NULL;
}

/* The end of the comment, section or instruction whose `<` is before `p`; NULL if it has none. */
static Text after_aside(Text p, Text e) {
  if (begins(p, e, "!--")) return after(p + 3, e, "-->");
  if (begins(p, e, "![CDATA[")) return after(p + 8, e, "]]>");
  return *p == '?' ? after(p + 1, e, "?>") : NULL;
}

/* The most elements that are open at once, in the whole of a well-formed document. */
static ptrdiff_t xml_depth(Text p, Text e) {
  ptrdiff_t depth = 0, most = 0;
  while (p && (p = find(p, e, '<')) && e - ++p > 1) {
    if (*p == '/') depth -= depth > 0; /* the document type may hold what looks like end tags */
    else if (*p == '!' && IS(p[1], ALPHA)) continue;
    else if (*p == '!' || *p == '?') p = after_aside(p, e);
    else if ((p = tag_end(p, e))) {
      if (depth >= most) most = depth + 1;
      depth += p[-2] != '/';
    }
  }
  return most;
}

/* Whether a batch has room left. Each scope takes some too; one that is read as a whole has a batch
   of its own. */
static int goes_on(const Xml *x) {
  size_t found = x->flushed + x->scan.count - x->scope.found;
  return found + 8 * (size_t)(x->scopes - x->scope.scopes) < BATCH;
}

/* Reads XML as Python does, but may end inside a scope. */
static Text xml_range(Xml *x, Text p, Text e) {
  Scan *s = &x->scan;
  while (goes_on(x)) {
    Text begin = find(p, e, '<');
    if (!begin) return e;
    p = begin + 1;
    if (p >= e) return begin;
    if (*p == '/') {
      if (x->depth - 1 == x->floor || !(p = find(p, e, '>'))) return begin;
      p++;
      x->depth--;
      if (x->open && x->depth == x->opened[x->open - 1].depth && end_scope(x) != CONTINUES)
        return begin;
    } else if (*p == '!' || *p == '?') {
      if (!(p = after_aside(p, e))) return begin;
    } else {
      size_t mark = s->count, marked = x->count;
      if (xml_tag(x, &p, e) == CONTINUES) continue;
      s->count = mark;
      x->count = marked;
      return begin;
    }
  }
  return p;
}

/* Reads XML from `p` to `e`, after the start tag of the root; returns `e` if it got through, else
   the place for a closer look: the beginning of a scope that was not read as a whole. */
static Text xml(Xml *x, Text p, Text e) {
  p = xml_range(x, p, e);
  if (!x->open) return p;
  Scope scope = x->scope;
  x->depth = x->opened[0].depth;
  x->scan.count = 0;
  while (x->open) end_scope(x);
  x->flushed = scope.found;
  x->count = scope.markups;
  x->item = scope.item;
  return scope.start;
}

/* ---- The head of a page, where programs that save pages leave marks: see `tags.head_tokens` */

/* A comment or a tag of the head: its `<`, what follows that or the name, its end, and that of raw
   text after it. */
typedef struct {
  Text start, inside, after, end;
  int is_comment, kind;
} Token;

/* Reads the first token of the head from `p`; 0 if there is none. */
static int head_token(const Tables *t, Text p, Text e, Token *token) {
  while ((p = find(p, e, '<')) && e - p > 1) {
    token->start = p;
    token->is_comment = begins(p, e, "<!--");
    if (token->is_comment) {
      token->inside = p + 4;
      token->after = token->end = comment_end(p + 4, e);
      return 1;
    }
    if (IS(p[1], ALPHA)) {
      Text name = p + 1;
      for (p = name; p < e && !IS(*p, NAME_END); p++) continue;
      size_t n = (size_t)(p - name);
      if (!is_among(&t->head, name, n) || !(p = tag_end(p, e))) return 0;
      const Name *element = look_up(&t->elements, name, n);
      int kind = token->kind = element ? element->kind : PLAIN;
      token->inside = name + n;
      token->after = p;
      if (kind == SCRIPT) p = script_end(p, e, element);
      else if (kind == RAW || kind == STYLE || kind == NOSCRIPT) p = raw_end(p, e, element);
      token->end = p ? p : e;
      return 1;
    }
    if (p[1] == '/' && e - p > 2 && IS(p[2], ALPHA)) {
      for (p += 2; p < e && !IS(*p, NAME_END); p++) continue;
      if (!(p = tag_end(p, e))) return 0;
      continue;
    }
    if (among("!?/", p[1]) && !(p = find(p + 1, e, '>'))) return 0;
    p++;
  }
  return 0;
}

/* Copies the head without raw text to `out`, and returns the end of its last token. */
static Text head_markup(const Tables *t, Text p, Text e, unsigned char **out) {
  Token token;
  for (; head_token(t, p, e, &token); p = token.end) {
    memcpy(*out, p, (size_t)(token.after - p));
    *out += token.after - p;
  }
  return p;
}

/* Finds the href of the first `<base>` with one in the head; 0 if there is none, or no value. */
static int head_base(const Tables *t, Text p, Text e, Attribute *href) {
  Token token;
  for (; head_token(t, p, e, &token); p = token.end)
    if (!token.is_comment && token.kind == BASE && stated(t, token.inside, e, t->href, href))
      return href->quote >= 0;
  return 0;
}

/* ---- Bytes of a document */

static Text after_ascii(Text p, Text e) {
  enum { AT_A_TIME = 8, AT_ONCE = 8 };
  const uint64_t high = UINT64_C(0x8080808080808080);
  uint64_t words[AT_ONCE], some;
  for (; e - p >= AT_A_TIME * AT_ONCE; p += AT_A_TIME * AT_ONCE) {
    memcpy(words, p, sizeof words);
    some = 0;
    for (int i = 0; i < AT_ONCE; i++) some |= words[i];
    if (some & high) break;
  }
  for (; e - p >= AT_A_TIME; p += AT_A_TIME) {
    memcpy(&some, p, AT_A_TIME);
    if (some & high) break;
  }
  while (p < e && *p < 0x80) p++;
  return p;
}

/* Whether bytes are well-formed (Unicode, table 3-7). */
static int is_utf_8(Text p, Text e) {
  for (;;) {
    if (p < e && *p < 0x80 && e - p > 1) p += p[1] >= 0x80 ? 1 : after_ascii(p, e) - p;
    else if (p < e && *p < 0x80) p++;
    if (p >= e) return 1;
    int more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : 1;
    if (*p < 0xc2 || *p > 0xf4 || e - p <= more) return 0;
    if (p[1] < (*p == 0xe0 ? 0xa0 : *p == 0xf0 ? 0x90 : 0x80)) return 0;
    if (p[1] > (*p == 0xed ? 0x9f : *p == 0xf4 ? 0x8f : 0xbf)) return 0;
    for (int i = 2; i <= more; i++)
      if ((p[i] & 0xc0) != 0x80) return 0;
    p += more + 1;
  }
}
