/* out.c: text into a descriptor or into memory, without stdio or malloc. */
#include "out.h"

#include <float.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "sys.h"

/* ---- bytes ------------------------------------------------------------ */

#define SECOND		UINT64_C(1000000000)
/* The time limit restarts after this many bytes, also for a reader that takes single bytes. */
#define PATIENCE_BYTES	65536u

/* Use the system call: the program may run under libfaketime or the like. */
static uint64_t now_ns(void)
{
	struct timespec t = { 0 };

	(void)sp_sys(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

static bool wait_for_room(int fd, uint64_t until)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	uint64_t now = now_ns(), left = until > now ? until - now : 0;
	struct timespec t = { (time_t)(left / SECOND), (long)(left % SECOND) };
	long n = sp_sys(SYS_ppoll, &p, 1, &t, NULL, 0);

	return n > 0 || (n == -EINTR && left);
}

static long write_some(const struct sp_out *o, const char *p, size_t n)
{
	if (o->socket)
		return sp_sys(SYS_sendto, o->fd, p, n, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, 0);
	return sp_sys(SYS_write, o->fd, p, o->piece ? sp_min(n, o->piece) : n);
}

static void write_all(struct sp_out *o, const char *p, size_t n)
{
	uint64_t until = 0;
	size_t since = 0;

	while (n && !o->error) {
		long w;

		if (!until)
			until = now_ns() + o->patience * SECOND;
		w = o->piece && !wait_for_room(o->fd, until) ? -EAGAIN : write_some(o, p, n);
		if (w > 0) {
			p += w;
			n -= (size_t)w;
			o->written += (uint64_t)w;
			since += (size_t)w;
			if (since >= PATIENCE_BYTES)
				until = since = 0;
		} else if (w == 0) {
			o->error = -EIO;
		} else if (w == -EAGAIN) {
			/* poll may report room that is too small. */
			if (now_ns() >= until || !wait_for_room(o->fd, until))
				o->error = -ETIMEDOUT;
		} else if (w != -EINTR) {
			o->error = (int)w;
		}
	}
}

static void flush(struct sp_out *o)
{
	if (o->fd >= 0) {
		write_all(o, o->buffer, o->used);
		o->used = 0;
	}
}

void sp_out_init(struct sp_out *o, int fd, char *buffer, size_t size)
{
	*o = (struct sp_out){ .fd = fd,
			      .buffer = buffer,
			      .size = size,
			      .patience = SP_OUT_PATIENCE,
			      .reopened = -1 };
}

/* Open fd's file a second time without blocking: O_NONBLOCK on fd itself would affect all its
 * users. The master of a pseudo-terminal cannot be opened again, as that makes a new one. If it
 * cannot be opened (no /proc, the terminal of another user after su), poll before each piece that
 * is certain to fit: PIPE_BUF bytes for a pipe, one byte for a terminal. */
void sp_out_shared(struct sp_out *o, unsigned patience)
{
	char path[48] = "/proc/self/fd/";
	struct stat s;
	int n;

	o->patience = patience;
	if (sp_sys(SYS_newfstatat, o->fd, "", &s, AT_EMPTY_PATH) < 0)
		return;
	o->socket = S_ISSOCK(s.st_mode);
	if (!S_ISFIFO(s.st_mode) &&
	    (!S_ISCHR(s.st_mode) || sp_sys(SYS_ioctl, o->fd, TIOCOUTQ, &n) < 0))
		return;
	sp_format_u64(path + strlen(path), (uint64_t)o->fd);
	if (sp_sys(SYS_ioctl, o->fd, TIOCGPTN, &n) < 0)
		o->reopened = sp_open(path, O_WRONLY | O_NOCTTY | O_NONBLOCK, 0);
	if (o->reopened >= 0)
		o->fd = o->reopened;
	else
		o->piece = S_ISFIFO(s.st_mode) ? PIPE_BUF : 1;
}

int sp_out_finish(struct sp_out *o)
{
	if (!o->error)
		flush(o);
	sp_close(o->reopened);
	return o->error;
}

void sp_out_bytes(struct sp_out *o, const void *bytes, size_t n)
{
	if (o->error || !n)
		return;
	if (n > o->size - o->used && o->fd >= 0) {
		flush(o);
		if (n >= o->size) {
			write_all(o, bytes, n);
			return;
		}
	}
	if (n > o->size - o->used && o->grow)
		o->grow(o, n);
	if (n > o->size - o->used) {
		n = o->size - o->used;
		o->error = -ENOSPC;
	}
	if (n)
		memcpy(o->buffer + o->used, bytes, n);
	o->used += n;
}

void sp_out_overwrite(struct sp_out *o, uint64_t at, const void *bytes, size_t n)
{
	const char *p = bytes;

	if (o->error)
		return;
	if (at >= o->written) {
		memcpy(o->buffer + (at - o->written), p, n);
		return;
	}
	flush(o);
	while (n && !o->error) {
		long w = sp_sys_whole(SYS_pwrite64, o->fd, p, n, at);

		if (w <= 0)
			o->error = w ? (int)w : -EIO;
		else
			p += w, at += (uint64_t)w, n -= (size_t)w;
	}
}

void sp_out_text(struct sp_out *o, const char *text)
{
	sp_out_bytes(o, text, strlen(text));
}

void sp_out_char(struct sp_out *o, char c)
{
	sp_out_bytes(o, &c, 1);
}

void sp_out_repeat(struct sp_out *o, char c, size_t n)
{
	char run[64];

	memset(run, c, sizeof(run));
	while (n) {
		size_t part = sp_min(n, sizeof(run));

		sp_out_bytes(o, run, part);
		n -= part;
	}
}

/* ---- integers --------------------------------------------------------- */

size_t sp_format_u64(char buf[32], uint64_t v)
{
	char digits[20];
	size_t n = 0;

	do {
		digits[n++] = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	for (size_t i = 0; i < n; i++)
		buf[i] = digits[n - 1 - i];
	buf[n] = '\0';
	return n;
}

size_t sp_format_grouped(char buf[32], int64_t v)
{
	char digits[32];
	size_t n = sp_format_u64(digits, v < 0 ? -(uint64_t)v : (uint64_t)v);
	size_t at = 0;

	if (v < 0)
		buf[at++] = '-';
	for (size_t i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			buf[at++] = ',';
		buf[at++] = digits[i];
	}
	buf[at] = '\0';
	return at;
}

void sp_out_u64(struct sp_out *o, uint64_t v)
{
	char buf[32];

	sp_out_bytes(o, buf, sp_format_u64(buf, v));
}

void sp_out_i64(struct sp_out *o, int64_t v)
{
	if (v < 0)
		sp_out_char(o, '-');
	sp_out_u64(o, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

static const char hex_digits[] = "0123456789abcdef";

void sp_out_hex(struct sp_out *o, uint64_t v)
{
	char buf[18];
	size_t at = sizeof(buf);

	do {
		buf[--at] = hex_digits[v & 15];
		v >>= 4;
	} while (v);
	buf[--at] = 'x';
	buf[--at] = '0';
	sp_out_bytes(o, buf + at, sizeof(buf) - at);
}

/* ---- floating point ---------------------------------------------------- */

/* Find the fewest digits that read back as v (positive and finite): v = 0.DIGITS * 10^*exponent;
 * returns their number. strfromd(3) and strtod(3) take neither memory nor locks; skip the decimal
 * point, which depends on the locale. */
static unsigned shortest_digits(double v, char digits[20], int *exponent)
{
	char text[64], format[] = "%.00e";
	unsigned n = 0;
	char *p = text;
	bool below;

	/* Start with 15 digits: for a normal double they are exact or end in zeros beyond the
	 * digits that it needs. */
	for (unsigned behind = v < DBL_MIN ? 0 : DBL_DIG - 1; behind < DBL_DECIMAL_DIG; behind++) {
		format[2] = (char)('0' + behind / 10);
		format[3] = (char)('0' + behind % 10);
		strfromd(text, sizeof(text), format, v);
		if (strtod(text, NULL) >= v && strtod(text, NULL) <= v)
			break;
	}
	for (; *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			digits[n++] = *p;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	below = *++p == '-';
	for (*exponent = 0; *++p;)
		*exponent = 10 * *exponent + *p - '0';
	*exponent = (below ? -*exponent : *exponent) + 1;
	return n;
}

static void out_shortest(struct sp_out *o, double v)
{
	char digits[20];
	int k;
	unsigned n = shortest_digits(v, digits, &k);

	if (k > 17 || k < -4) {
		sp_out_char(o, digits[0]);
		if (n > 1)
			sp_out_char(o, '.');
		sp_out_bytes(o, digits + 1, n - 1);
		sp_out_char(o, 'e');
		sp_out_i64(o, k - 1);
	} else if (k <= 0) {
		sp_out_text(o, "0.");
		sp_out_repeat(o, '0', (size_t)-k);
		sp_out_bytes(o, digits, n);
	} else {
		size_t whole = sp_min(n, (unsigned)k);

		sp_out_bytes(o, digits, whole);
		sp_out_repeat(o, '0', (size_t)k - whole);
		if (n > whole)
			sp_out_char(o, '.');
		sp_out_bytes(o, digits + whole, n - whole);
	}
}

/* If decimals < 0, or fixed decimals would need more than 18 digits, write as few digits as read
 * back as v. Special values are "nan", "inf", "-inf". */
void sp_out_double(struct sp_out *o, double v, int decimals)
{
	uint64_t scale = 1, n;

	if (v != v) {
		sp_out_text(o, "nan");
		return;
	}
	if (__builtin_signbit(v)) {
		sp_out_char(o, '-');
		v = -v;
	}
	if (v == __builtin_inf()) {
		sp_out_text(o, "inf");
		return;
	}
	for (int i = 0; i < decimals && i < 9; i++)
		scale *= 10;
	if (v == 0.0 && decimals < 0) {
		sp_out_char(o, '0');
		return;
	}
	if (decimals < 0 || v * (double)scale >= 1e18) {
		out_shortest(o, v);
		return;
	}
	n = (uint64_t)(v * (double)scale + 0.5);
	sp_out_u64(o, n / scale);
	if (scale > 1)
		sp_out_char(o, '.');
	for (scale /= 10; scale; scale /= 10)
		sp_out_char(o, (char)('0' + n / scale % 10));
}

/* ---- untrusted texts -------------------------------------------------- */

/* The length of the UTF-8 sequence at s, and its code point in *cp; 0 if invalid. The terminating
 * NUL also ends a sequence. */
static unsigned utf8(const unsigned char *s, uint32_t *cp)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned n = s[0] < 0x80		  ? 1
		     : s[0] < 0xc2 || s[0] > 0xf4 ? 0
						  : 2 + (s[0] >= 0xe0) + (s[0] >= 0xf0);

	if (n <= 1) {
		*cp = s[0];
		return n;
	}
	*cp = s[0] & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		*cp = *cp << 6 | (s[i] & 0x3f);
	}
	if (*cp < least[n] || *cp > 0x10ffff || (*cp >= 0xd800 && *cp < 0xe000))
		return 0;
	return n;
}

/* Returns whether the character is a control character, ends a line, or changes the writing
 * direction in a terminal or editor. */
static bool is_control(uint32_t cp)
{
	return cp < 0x20 || (cp >= 0x7f && cp < 0xa0) || (cp >= 0x2028 && cp <= 0x202e) ||
	       (cp >= 0x2066 && cp <= 0x206f) || (cp >= 0x200e && cp <= 0x200f) || cp == 0x61c ||
	       cp == 0xfeff || (cp & 0xfffe) == 0xfffe;
}

static void out_hex_bytes(struct sp_out *o, const unsigned char *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		char x[4] = { '\\', 'x', hex_digits[s[i] >> 4], hex_digits[s[i] & 15] };

		sp_out_bytes(o, x, sizeof(x));
	}
}

struct escapes {
	/* the replacement of a character, or NULL */
	const char *(*special)(unsigned char c);
	/* Write a control character of n bytes; n = 0: one byte of invalid UTF-8. */
	void (*other)(struct sp_out *o, const unsigned char *s, unsigned n, uint32_t cp);
};

static void out_escaped(struct sp_out *o, const char *text, const struct escapes *as)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		const unsigned char *start = s;
		const char *instead = NULL;
		uint32_t cp;
		unsigned n = 0;

		while (*s && (n = utf8(s, &cp)) && !is_control(cp) && !(instead = as->special(*s)))
			s += n;
		sp_out_bytes(o, start, (size_t)(s - start));
		if (!*s)
			return;
		if (instead)
			sp_out_text(o, instead);
		else
			as->other(o, s, n, cp);
		s += n ? n : 1;
	}
}

static const char *plain_special(unsigned char c)
{
	(void)c;
	return NULL;
}

static const char *csv_special(unsigned char c)
{
	return c == '"' ? "\"\"" : NULL;
}

static const char *json_special(unsigned char c)
{
	return c == '"' ? "\\\"" : c == '\\' ? "\\\\" : NULL;
}

static void by_bytes(struct sp_out *o, const unsigned char *s, unsigned n, uint32_t cp)
{
	(void)cp;
	out_hex_bytes(o, s, n ? n : 1);
}

void sp_out_plain(struct sp_out *o, const char *text)
{
	out_escaped(o, text, &(const struct escapes){ plain_special, by_bytes });
}

void sp_out_csv(struct sp_out *o, const char *text)
{
	size_t n = strlen(text);
	bool quote = n && (strpbrk(text, ",\"\r\n") || text[0] == ' ' || text[n - 1] == ' ');

	if (quote)
		sp_out_char(o, '"');
	if (sp_is_formula(*text))
		out_hex_bytes(o, (const unsigned char *)text++, 1);
	out_escaped(o, text, &(const struct escapes){ csv_special, by_bytes });
	if (quote)
		sp_out_char(o, '"');
}

static void json_u(struct sp_out *o, uint32_t cp)
{
	char u[6] = { '\\', 'u', hex_digits[cp >> 12 & 15], hex_digits[cp >> 8 & 15],
		      hex_digits[cp >> 4 & 15], hex_digits[cp & 15] };

	if (cp >= 0x10000) {
		json_u(o, 0xd7c0 + (cp >> 10));
		json_u(o, 0xdc00 + (cp & 0x3ff));
	} else {
		sp_out_bytes(o, u, sizeof(u));
	}
}

static void by_code_point(struct sp_out *o, const unsigned char *s, unsigned n, uint32_t cp)
{
	(void)s;
	json_u(o, n ? cp : 0xfffd);
}

void sp_out_json(struct sp_out *o, const char *text)
{
	sp_out_char(o, '"');
	out_escaped(o, text, &(const struct escapes){ json_special, by_code_point });
	sp_out_char(o, '"');
}
