/* out-f.c: printf-like formats; see out.h. */
#include "out.h"

struct conversion {
	void (*text)(struct sp_out *o, const char *text);
	const char *none;		/* for NULL and omitted numbers */
};

static void integer(struct sp_out *o, const struct conversion *as, char flag, int64_t v)
{
	char buf[32];

	if (flag == ' ' && v < 0)
		sp_out_text(o, as->none);
	else if (flag == '\'')
		sp_out_bytes(o, buf, sp_format_grouped(buf, v));
	else
		sp_out_i64(o, v);
}

static void natural(struct sp_out *o, char flag, uint64_t v)
{
	char buf[32];

	if (flag == '\'')
		sp_out_bytes(o, buf, sp_format_grouped(buf, (int64_t)sp_min(v, INT64_MAX)));
	else
		sp_out_u64(o, v);
}

static void write_format(struct sp_out *o, const struct conversion *as, const char *p, va_list *a)
{
	while (*p) {
		size_t n = strcspn(p, "%");
		int decimals = -1;
		const char *text;
		char flag = 0;
		bool wide;

		sp_out_bytes(o, p, n);
		p += n;
		if (!*p++)
			return;
		if (*p == '\'' || *p == ' ' || *p == '#')
			flag = *p++;
		if (*p == '.') {
			decimals = p[1] - '0';
			p += 2;
		}
		wide = *p == 'l';
		p += wide;
		switch (*p++) {
		case 's':
			text = va_arg(*a, const char *);
			(text ? as->text : sp_out_text)(o, text ? text : as->none);
			break;
		case 'c':
			sp_out_char(o, (char)va_arg(*a, int));
			break;
		case 'd':
			integer(o, as, flag, wide ? va_arg(*a, long) : va_arg(*a, int));
			break;
		case 'u':
			natural(o, flag, wide ? va_arg(*a, unsigned long) : va_arg(*a, unsigned));
			break;
		case 'x':
			sp_out_hex(o, wide ? va_arg(*a, unsigned long) : va_arg(*a, unsigned));
			break;
		case 'f':
			sp_out_double(o, va_arg(*a, double), decimals);
			break;
		default:
			sp_out_char(o, '%');
			break;
		}
	}
}

#define WRITE(o, format, ...) do { \
	va_list list_; \
	va_start(list_, format); \
	write_format(o, &(const struct conversion){ __VA_ARGS__ }, format, &list_); \
	va_end(list_); \
} while (0)

void sp_out_f(struct sp_out *o, const char *format, ...)
{
	WRITE(o, format, sp_out_plain, "");
}

void sp_out_vf(struct sp_out *o, const char *format, va_list *list)
{
	write_format(o, &(const struct conversion){ sp_out_plain, "" }, format, list);
}

void sp_json_f(struct sp_out *o, const char *format, ...)
{
	WRITE(o, format, sp_out_json, "null");
}

void sp_csv_f(struct sp_out *o, const char *format, ...)
{
	WRITE(o, format, sp_out_csv, "");
}

const char *sp_text_f(char *buf, size_t size, const char *format, ...)
{
	struct sp_out o;

	sp_memory_init(&o, buf, size);
	WRITE(&o, format, sp_out_plain, "");
	return sp_memory_text(&o);
}

bool sp_path_f(char *path, size_t room, const char *format, ...)
{
	struct sp_out o;

	sp_memory_init(&o, path, room);
	WRITE(&o, format, sp_out_text, "");
	sp_memory_text(&o);
	return !o.error;
}

void sp_memory_init(struct sp_out *o, char *buf, size_t size)
{
	sp_out_init(o, -1, buf, size - 1);
}

const char *sp_memory_text(struct sp_out *o)
{
	o->buffer[o->used] = '\0';
	return o->buffer;
}
