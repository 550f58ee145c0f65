/* out.h: text into a descriptor or into memory, without stdio or malloc.
 *
 * Views write here.  The first error sticks: later writes do nothing and
 * sp_out_finish reports it, so that a view need not look after each line.
 * Async-signal-safe; a struct sp_out belongs to one thread.
 */
#pragma once

#include <stdarg.h>

#include "base.h"

#define SP_OUT_PATIENCE	10		/* the application wants to exit */

struct sp_out {
	int fd;				/* -1: memory only; what does not fit is -ENOSPC */
	int error;			/* 0 or -errno of the first failure */
	char *buffer;
	size_t size, used;
	uint64_t written;		/* bytes that went to fd */
	unsigned patience;		/* seconds for who reads fd to make room; then it is
					 * -ETIMEDOUT */
	int again;			/* sp_out_shared: fd opened once more, for us alone; -1: it
					 * is not */
	size_t piece;			/* bytes that go at once, where there is room; 0: it says
					 * itself that there is none */
	bool socket;
	bool own;			/* the caller says: fd's file is ours alone, from its first
					 * byte on */
	void (*grow)(struct sp_out *o, size_t n);	/* memory only: makes room for n bytes more;
							 * NULL: it has the size it has */
};

void sp_out_init(struct sp_out *o, int fd, char *buffer, size_t size);
int sp_out_finish(struct sp_out *o);	/* flush; 0 or -errno */

/* fd is the program's, whose reader may stall: a pipe, a terminal or a socket keeps us no longer
 * than `patience` seconds for 64 KiB, 0: not at all; and stays blocking for the program.  After
 * sp_out_init; sp_out_finish ends it. */
void sp_out_shared(struct sp_out *o, unsigned patience);

void sp_out_bytes(struct sp_out *o, const void *bytes, size_t n);

/* In place of the bytes that stand from `at` on: into memory, or an own file. */
void sp_out_again(struct sp_out *o, uint64_t at, const void *bytes, size_t n);
void sp_out_text(struct sp_out *o, const char *text);
void sp_out_char(struct sp_out *o, char c);
void sp_out_repeat(struct sp_out *o, char c, size_t n);
void sp_out_u64(struct sp_out *o, uint64_t v);
void sp_out_i64(struct sp_out *o, int64_t v);
void sp_out_hex(struct sp_out *o, uint64_t v);		/* 0x80000032 */
void sp_out_double(struct sp_out *o, double v, int decimals);

/* A spreadsheet takes a cell that begins so for a formula, which may start programs. */
static inline bool sp_is_formula(char c)
{
	return c == '=' || c == '+' || c == '-' || c == '@';
}

/* Text from a store or from the application, as a value of each format:
 * control characters never reach a terminal or break a line. */
void sp_out_json(struct sp_out *o, const char *text);	/* with its quotes; bytes that are not UTF-8
							 * as \ufffd */
void sp_out_csv(struct sp_out *o, const char *text);	/* RFC 4180: quoted where it must be; no
							 * formula */
void sp_out_plain(struct sp_out *o, const char *text);	/* control characters as \xHH */

/* By a format of printf's, a small part of it: %s (control characters escaped), %c, %d, %u, %x
 * (with its 0x: %#x), %f (%.3f; without decimals as few as tell it from others); l with integers; '
 * for 1,234,567, and a blank for nothing where the number is below 0 (% d).  Text in JSON has its
 * quotes, and what is not there (NULL, below 0) is null; text in CSV is quoted where it must be. */
void sp_out_f(struct sp_out *o, const char *format, ...) SP_PRINTF(2, 3);
void sp_out_vf(struct sp_out *o, const char *format, va_list *list);
void sp_json_f(struct sp_out *o, const char *format, ...) SP_PRINTF(2, 3);
void sp_csv_f(struct sp_out *o, const char *format, ...) SP_PRINTF(2, 3);
/* into buf, closed */
const char *sp_text_f(char *buf, size_t size, const char *format, ...) SP_PRINTF(3, 4);
#define SP_MANY(n)	((n) == 1 ? "" : "s")

/* texts as they are; false: no room, path is cut */
bool sp_path_f(char *path, size_t room, const char *format, ...) SP_PRINTF(3, 4);

/* Text into a buffer; what does not fit is left out. */
void sp_memory_init(struct sp_out *o, char *buf, size_t size);
const char *sp_memory_text(struct sp_out *o);

/* Into memory, for columns: the text of v and its length (buf of 32 bytes). */
size_t sp_format_grouped(char buf[32], int64_t v);	/* 1,234,567 */
size_t sp_format_u64(char buf[32], uint64_t v);
