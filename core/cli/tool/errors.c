/* errors.c: prints messages of the command. */
#include "../../base/lock.h"
#include "../../base/out.h"
#include "cmd.h"

char *sp_plain(const char *text)
{
	size_t room = 4 * strlen(text) + 1;	/* \xHH for each byte, at most */
	char *plain = sp_check_alloc(malloc(room));
	struct sp_out o;

	sp_out_init(&o, -1, plain, room - 1);
	sp_out_plain(&o, text);
	plain[o.used] = 0;
	return plain;
}

void sp_print_plain(FILE *to, const char *text)
{
	char *plain = sp_plain(text);

	fputs(plain, to);
	free(plain);
}

void sp_message(const char *verb, const char *format, ...)
{
	char buffer[1024];
	struct sp_quiet quiet;
	struct sp_out o;
	va_list more;

	sp_quiet_begin(&quiet);
	sp_out_init(&o, STDERR_FILENO, buffer, sizeof(buffer));
	if (strcmp(verb, "run") == 0)	/* the program that follows would have started any reader
					 * of its standard error */
		sp_out_shared(&o, 0);
	sp_out_f(&o, "sspapi%s%s: ", *verb ? " " : "", verb);
	va_start(more, format);
	sp_out_vf(&o, format, &more);
	va_end(more);
	sp_out_char(&o, '\n');
	sp_out_finish(&o);
	sp_quiet_end(&quiet);
}

int sp_complain(int status, const char *verb, const char *text, const char *subject)
{
	const char *quote = subject && (!*subject || strpbrk(subject, " \t")) ? "'" : "";

	sp_message(verb, "%s%s%s%s%s", quote, subject ? subject : "", quote, subject ? ": " : "",
		   text);
	return status;
}

void *sp_check_alloc(void *p)
{
	if (!p)
		exit(sp_complain(1, "", "not enough memory", NULL));
	return p;
}

void *sp_grow_array(void *array, uint32_t *room, uint32_t n, size_t each)
{
	uint32_t old = *room;

	if (n <= old)
		return array;
	*room = (uint32_t)sp_max(64, n + n / 2);
	array = sp_check_alloc(reallocarray(array, *room, each));
	memset((char *)array + old * each, 0, (*room - old) * each);
	return array;
}
