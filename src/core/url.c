#include "core/request.h"

#include <string.h>
#include <strings.h>

/* The five parts of RFC 3986 appendix B; absent ones have p == NULL. */
struct parts {
	struct span scheme, authority, path, query, fragment;
};

static struct span until(struct span *rest, const char *stop)
{
	struct span head = {rest->p, 0};

	for (; head.n < rest->n; head.n++) {
		const char *s = stop;

		while (*s && *s != rest->p[head.n])
			s++;
		if (*s)
			break;
	}
	rest->p += head.n;
	rest->n -= head.n;
	return head;
}

static bool is_scheme(struct span s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

		if (!letter && (!i || !c || !strchr("0123456789+-.", c)))
			return false;
	}
	return s.n > 0;
}

static struct parts split(struct span url)
{
	struct parts p = {0};
	struct span rest, head;

	if (!url.p)
		url = SPAN("");		/* the empty span may be NULL */
	rest = url;
	head = until(&rest, ":/?#");
	if (rest.n && rest.p[0] == ':' && is_scheme(head)) {
		p.scheme = head;
		rest.p++;
		rest.n--;
	} else {
		rest = url;
	}
	if (rest.n >= 2 && rest.p[0] == '/' && rest.p[1] == '/') {
		rest.p += 2;
		rest.n -= 2;
		p.authority = until(&rest, "/?#");
	}
	p.path = until(&rest, "?#");
	if (rest.n && rest.p[0] == '?') {
		rest.p++;
		rest.n--;
		p.query = until(&rest, "#");
	}
	if (rest.n) {
		p.fragment = (struct span){rest.p + 1, rest.n - 1};
	}
	return p;
}

/* RFC 3986 5.2.4, over the segments of an absolute path. */
static void add_without_dots(struct buf *out, struct span path)
{
	size_t floor = out->len;

	while (path.n) {
		struct span head = path;
		bool last;

		if (path.p[0] != '/') {
			head = until(&path, "/");
			buf_addspan(out, head);
			continue;
		}
		path.p++;
		path.n--;
		head = until(&path, "/");
		last = !path.n;
		if (span_is(head, ".")) {
			if (last)
				buf_addc(out, '/');
		} else if (span_is(head, "..")) {
			while (out->len > floor &&
			       out->p[--out->len] != '/')
				;
			if (last)
				buf_addc(out, '/');
		} else {
			buf_addc(out, '/');
			buf_addspan(out, head);
		}
	}
	buf_addc(out, 0);
	out->len--;
}

/* RFC 3986 5.2.3 */
static void merge(struct buf *out, const struct parts *base,
		  struct span path)
{
	size_t n = base->path.n;

	if (!n) {
		buf_addc(out, '/');
	} else {
		while (n && base->path.p[n - 1] != '/')
			n--;
		buf_add(out, base->path.p, n);
	}
	buf_addspan(out, path);
}

static void compose(const struct parts *t, struct span path, struct buf *out)
{
	buf_addspan(out, t->scheme);
	buf_addc(out, ':');
	if (t->authority.p) {
		buf_adds(out, "//");
		buf_addspan(out, t->authority);
	}
	add_without_dots(out, path);
	if (t->query.p) {
		buf_addc(out, '?');
		buf_addspan(out, t->query);
	}
}

/* The fragment is dropped: it never goes over the wire. */
bool url_resolve(struct span base, struct span reference, struct buf *out)
{
	struct parts b = split(base), r = split(reference), t = r;
	struct buf path = BUF_INIT;

	if (!b.scheme.n || !b.authority.n ||
	    base.n + reference.n >= 2 * LIMIT_URL_BYTES)
		return false;
	for (size_t i = 0; i < reference.n; i++)
		if (reference.p[i] < 0x21 || reference.p[i] > 0x7e)
			return false;
	if (!r.scheme.p) {
		t.scheme = b.scheme;
		if (!r.authority.p) {
			t.authority = b.authority;
			if (!r.path.n) {
				t.path = b.path;
				if (!r.query.p)
					t.query = b.query;
			} else if (r.path.p[0] != '/') {
				merge(&path, &b, r.path);
				t.path = buf_span(&path);
			}
		}
	}
	compose(&t, t.path, out);
	buf_release(&path);
	return true;
}

struct origin {
	struct span scheme, host;
	int port;			/* -1: not a number */
	bool user;			/* has user information */
};

static bool equal_folded(struct span a, struct span b)
{
	return a.n == b.n && (!a.n || !strncasecmp(a.p, b.p, a.n));
}

static bool folded_is(struct span a, const char *text)
{
	return equal_folded(a, span_of(text));
}

static int port_of(struct span text, struct span scheme)
{
	int port = 0;

	if (!text.n)
		return folded_is(scheme, "https") ? 443 :
			folded_is(scheme, "http") ? 80 : -1;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || port > 65535)
			return -1;
		port = port * 10 + (text.p[i] - '0');
	}
	return port > 0 && port <= 65535 ? port : -1;
}

static struct origin origin_of(struct span url)
{
	struct parts p = split(url);
	struct origin o = {p.scheme, p.authority, -1, false};
	struct span port = {NULL, 0};
	size_t colon;

	for (size_t i = o.host.n; i > 0; i--) {
		if (o.host.p[i - 1] != '@')
			continue;
		o.user = true;
		o.host = (struct span){o.host.p + i, o.host.n - i};
		break;
	}
	colon = o.host.n;
	while (colon && o.host.p[colon - 1] != ':' &&
	       o.host.p[colon - 1] != ']')
		colon--;
	if (colon && o.host.p[colon - 1] == ':') {
		port = (struct span){o.host.p + colon, o.host.n - colon};
		o.host.n = colon - 1;
	}
	o.port = port_of(port, o.scheme);
	return o;
}

bool url_same_origin(struct span a, struct span b)
{
	struct origin x = origin_of(a), y = origin_of(b);

	return x.host.n && x.port > 0 && x.port == y.port && !y.user &&
		equal_folded(x.scheme, y.scheme) &&
		equal_folded(x.host, y.host);
}

void url_encode(struct buf *out, struct span text)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || (c && strchr("-._~", c))) {
			buf_addc(out, (char)c);
			continue;
		}
		buf_addc(out, '%');
		buf_addc(out, hex[c >> 4]);
		buf_addc(out, hex[c & 15]);
	}
}

/* 127.0.0.0/8 as a literal of four numbers, ::1, or localhost. */
static bool loopback(struct span host)
{
	int dots = 0, digits = 0;

	if (folded_is(host, "localhost") || folded_is(host, "[::1]"))
		return true;
	if (!span_starts(host, "127.") || host.n > 15)
		return false;
	for (size_t i = 0; i < host.n; i++) {
		if (host.p[i] == '.') {
			if (!digits)
				return false;
			dots++;
			digits = 0;
		} else if (host.p[i] >= '0' && host.p[i] <= '9') {
			digits++;
		} else {
			return false;
		}
	}
	return dots == 3 && digits > 0;
}

bool url_plain(struct span url)
{
	bool good = url.n < LIMIT_URL_BYTES;

	for (size_t i = 0; i < url.n && good; i++)
		good = url.p[i] >= 0x21 && url.p[i] <= 0x7e && url.p[i] != '\\';
	return good;
}

bool url_allowed(struct span url, struct buf *error)
{
	struct origin o = origin_of(url);
	bool https = folded_is(o.scheme, "https");

	if (url.n >= LIMIT_URL_BYTES)
		buf_addf(error, "the address is over %d bytes",
			 LIMIT_URL_BYTES);
	else if (!url_plain(url))
		buf_adds(error, "the address has a character that must be "
			 "percent-encoded");
	else if (!https && !folded_is(o.scheme, "http"))
		buf_adds(error, "the address must begin with https:// (or "
			 "http:// to loopback)");
	else if (!o.host.n || o.port < 0)
		buf_adds(error, "the address has no host, or a port that is "
			 "no number from 1 to 65535");
	else if (o.user)
		buf_adds(error, "the address holds a user name or password; "
			 "use \"credential\"");
	else if (!https && !loopback(o.host))
		buf_adds(error, "http is allowed to loopback only (127.x.x.x, "
			 "::1, localhost); use https");
	else
		return true;
	return false;
}

/* A space is "+". */
void url_form_encode(struct buf *out, struct span text)
{
	static const char hex[] = "0123456789ABCDEF";

	for (size_t i = 0; i < text.n; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || (c && strchr("*-._", c))) {
			buf_addc(out, (char)c);
		} else if (c == ' ') {
			buf_addc(out, '+');
		} else {
			buf_addc(out, '%');
			buf_addc(out, hex[c >> 4]);
			buf_addc(out, hex[c & 15]);
		}
	}
}

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void url_form_decode(struct buf *out, struct span text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '%' && i + 2 < text.n &&
		    hex_value(text.p[i + 1]) >= 0 &&
		    hex_value(text.p[i + 2]) >= 0) {
			c = (char)(hex_value(text.p[i + 1]) << 4 |
				   hex_value(text.p[i + 2]));
			i += 2;
		} else if (c == '+') {
			c = ' ';
		}
		buf_addc(out, c);
	}
}
