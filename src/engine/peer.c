#include "engine/peer.h"

#include <string.h>

#include "core/timefmt.h"

static struct span after(const char *line, const char *label)
{
	size_t n = strlen(label);

	return strncmp(line, label, n) ? (struct span){NULL, 0}
				       : span_of(line + n);
}

/* "Nov 29 12:00:00 2027 GMT" is an HTTP date of the third form, but for the
 * day's name, which nobody compares. */
static int64_t certificate_ms(struct span text, int64_t now_ms)
{
	struct buf date = BUF_INIT;
	int64_t ms = 0;

	buf_adds(&date, "Mon ");
	buf_addspan(&date, text);
	if (date.len > 4 && !strcmp(date.p + date.len - 4, " GMT"))
		date.p[date.len -= 4] = '\0';
	if (!time_http(buf_span(&date), now_ms, &ms))
		ms = 0;
	buf_release(&date);
	return ms;
}

void peer_certificate(struct wire_peer *peer, const char *line,
		      int64_t now_ms)
{
	static const char alternative[] = "X509v3 Subject Alternative Name:";
	struct span s;

	if ((s = after(line, "Subject:")).p)
		text_set(peer->name, sizeof(peer->name), s);
	else if ((s = after(line, alternative)).p && !peer->name[0])
		text_set(peer->name, sizeof(peer->name), s);
	else if ((s = after(line, "Issuer:")).p)
		text_set(peer->issuer, sizeof(peer->issuer), s);
	else if ((s = after(line, "Expire date:")).p)
		peer->expires_ms = certificate_ms(s, now_ms);
}
