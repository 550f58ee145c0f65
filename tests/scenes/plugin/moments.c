/*
 * libmoments: a library that measures in its constructor, which runs before
 * libsspapi's, and in its destructor, which runs after it.
 */
#include "../now.h"

void moments(void);

__attribute__((constructor)) static void first(void)
{
	up();
	now(11);
}

void moments(void)
{
	now(12);
}

__attribute__((destructor)) static void last(void)
{
	now(13);
}
