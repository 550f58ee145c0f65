/* complain.c: what a command says when it cannot go on. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"

/* What is told may come from a store: no control characters to a terminal. */
static void plain(const char *p)
{
	for (; *p; p++)
		fputc((unsigned char)*p < ' ' || *p == 127 ? '?' : *p, stderr);
}

int sp_complain(int status, const char *verb, const char *text, const char *subject)
{
	fprintf(stderr, "sspapi%s%s: ", *verb ? " " : "", verb);
	plain(text);
	if (subject) {
		fputs(", '", stderr);
		plain(subject);
		fputc('\'', stderr);
	}
	fputc('\n', stderr);
	return status;
}

void *sp_need(void *p)
{
	if (!p)
		exit(sp_complain(1, "", "there is not enough memory", NULL));
	return p;
}
