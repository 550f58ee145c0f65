/* complain.c: what a command says when it cannot go on. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"

int sp_complain(int status, const char *verb, const char *text, const char *subject)
{
	fprintf(stderr, "sspapi%s%s: %s", *verb ? " " : "", verb, text);
	if (subject) {
		fputs(", '", stderr);
		for (const char *p = subject; *p; p++)
			fputc((unsigned char)*p < ' ' || *p == 127 ? '?' : *p, stderr);
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
