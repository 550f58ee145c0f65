/*
 * denies: executes a program to which the kernel denies system calls (EACCES), for root as well, as
 * a sandbox does. usage: denies CALL[,CALL...] COMMAND... exit 77: the kernel has no seccomp
 * DENIES_ERRNO: another number than that of EACCES
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../scenes/deny.h"

int main(int argc, char **argv)
{
	const char *error = getenv("DENIES_ERRNO");

	if (argc < 3)
		return 2;
	deny(argv[1], SECCOMP_RET_ERRNO | (error ? (unsigned)atoi(error) : EACCES));
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
