/* out.h: writes text to a descriptor or into memory, without stdio or malloc.
 *
 * All formats are written through it. After the first error further writes do nothing, and
 * sp_out_finish reports the error, so that callers need not check each write. Async-signal-safe; a
 * struct sp_out belongs to one thread.
 */
#pragma once

#include <stdarg.h>

#include "base.h"

#define SP_OUT_PATIENCE	10		/* seconds; the application wants to exit */

struct sp_out {
	int fd;				/* -1: memory only; an overflow is -ENOSPC */
	int error;			/* 0, or -errno of the first failure */
	char *buffer;
	size_t size, used;
	uint64_t written;		/* bytes written to fd */
	/* seconds to wait until the reader of fd makes room; then -ETIMEDOUT */
	unsigned patience;
	/* another, non-blocking descriptor of fd's file (sp_out_shared); -1: none */
	int reopened;
	/* bytes that a write takes without blocking once poll reports room; 0: fd is
	 * non-blocking */
	size_t piece;
	bool socket;
	/* set by the caller if fd's file contains only this output */
	bool own;
	/* memory only: makes room for n more bytes; NULL: the size is fixed */
	void (*grow)(struct sp_out *o, size_t n);
};

void sp_out_init(struct sp_out *o, int fd, char *buffer, size_t size);
int sp_out_finish(struct sp_out *o);	/* flush; 0 or -errno */

/* Call it after sp_out_init if fd is also the program's: a pipe, terminal or socket with a slow
 * reader then delays the caller by at most `patience` seconds per 64 KiB (0: not at all). fd stays
 * blocking for the program. sp_out_finish ends it. */
void sp_out_shared(struct sp_out *o, unsigned patience);

void sp_out_bytes(struct sp_out *o, const void *bytes, size_t n);

/* Overwrite the bytes from offset `at` on; in memory or in an own file. */
void sp_out_overwrite(struct sp_out *o, uint64_t at, const void *bytes, size_t n);
void sp_out_text(struct sp_out *o, const char *text);
void sp_out_char(struct sp_out *o, char c);
void sp_out_repeat(struct sp_out *o, char c, size_t n);
void sp_out_u64(struct sp_out *o, uint64_t v);
void sp_out_i64(struct sp_out *o, int64_t v);
void sp_out_hex(struct sp_out *o, uint64_t v);		/* for example 0x80000032 */
void sp_out_double(struct sp_out *o, double v, int decimals);

/* Spreadsheets interpret a cell that begins with such a character as a formula, which may start
 * programs. */
static inline bool sp_is_formula(char c)
{
	return c == '=' || c == '+' || c == '-' || c == '@';
}

/* Write a text from a store or the application as a value of a format. Control characters never
 * reach a terminal or break a line. */
/* with its quotes; invalid UTF-8 becomes \ufffd */
void sp_out_json(struct sp_out *o, const char *text);
/* quoted as RFC 4180 requires; never a formula */
void sp_out_csv(struct sp_out *o, const char *text);
void sp_out_plain(struct sp_out *o, const char *text);	/* control characters as \xHH */

/* Write by a subset of printf's formats: %s (control characters escaped), %c, %d, %u, %x (with 0x),
 * %f (%.3f; without decimals as few digits as identify the number). l is for long integers, ' for
 * 1,234,567, and a blank writes nothing for a negative number. sp_json_f quotes texts and writes
 * null for NULL and for `% d` of a negative number; sp_csv_f quotes texts if necessary. */
void sp_out_f(struct sp_out *o, const char *format, ...) SP_PRINTF(2, 3);
void sp_out_vf(struct sp_out *o, const char *format, va_list *list);
void sp_json_f(struct sp_out *o, const char *format, ...) SP_PRINTF(2, 3);
void sp_csv_f(struct sp_out *o, const char *format, ...) SP_PRINTF(2, 3);
/* Format into buf, always NUL-terminated; buf is returned. */
const char *sp_text_f(char *buf, size_t size, const char *format, ...) SP_PRINTF(3, 4);
#define SP_MANY(n)	((n) == 1 ? "" : "s")

/* Format without escapes; false if the path was cut. */
bool sp_path_f(char *path, size_t room, const char *format, ...) SP_PRINTF(3, 4);

/* Write text into a buffer; an overflow is cut. */
void sp_memory_init(struct sp_out *o, char *buf, size_t size);
const char *sp_memory_text(struct sp_out *o);

/* Format v into buf and return the length, to align columns. */
size_t sp_format_grouped(char buf[32], int64_t v);	/* 1,234,567 */
size_t sp_format_u64(char buf[32], uint64_t v);
