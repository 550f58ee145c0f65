/* nopapi: a program without PAPI, which must not notice a preload, nor leave files behind. */
#include <stdio.h>

int main(void)
{
	puts("no PAPI here");
	return 0;
}
