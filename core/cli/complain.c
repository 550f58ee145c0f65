/* complain.c: what a command says when it cannot go on. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../out.h"
#include "cmd.h"

char *sp_plain(const char *text)
{
	size_t room = 4 * strlen(text) + 1;	/* \xHH of each byte, at most */
	char *plain = sp_need(malloc(room));
	struct sp_out o;

	sp_out_init(&o, -1, plain, room - 1);
	sp_out_plain(&o, text);
	plain[o.used] = 0;
	return plain;
}

void sp_put_plain(FILE *to, const char *text)
{
	char *plain = sp_plain(text);

	fputs(plain, to);
	free(plain);
}

int sp_complain(int status, const char *verb, const char *text, const char *subject)
{
	fprintf(stderr, "sspapi%s%s: ", *verb ? " " : "", verb);
	if (subject) {
		const char *quote = !*subject || strpbrk(subject, " \t") ? "'" : "";

		fputs(quote, stderr);
		sp_put_plain(stderr, subject);
		fprintf(stderr, "%s: ", quote);
	}
	sp_put_plain(stderr, text);
	fputc('\n', stderr);
	return status;
}

void *sp_need(void *p)
{
	if (!p)
		exit(sp_complain(1, "", "there is not enough memory", NULL));
	return p;
}

void *sp_room(void *array, uint32_t *room, uint32_t n, size_t each)
{
	uint32_t old = *room;

	if (n <= old)
		return array;
	*room = (uint32_t)sp_max(64, n + n / 2);
	array = sp_need(reallocarray(array, *room, each));
	memset((char *)array + old * each, 0, (*room - old) * each);
	return array;
}
