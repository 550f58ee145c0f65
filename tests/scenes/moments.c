/* moments: measures before main, in it, and after it, in a library's and its own constructors and
 * destructors. */
#include "now.h"

void moments(void);

__attribute__((constructor)) static void first(void)
{
	now(21);
}

__attribute__((destructor)) static void last(void)
{
	now(23);
}

int main(void)
{
	moments();
	now(22);
	return 0;
}
