/* ending: tests/apps/ending.c on the scripted libpapi, which counts what it is told to. */
#include "scene.h"

#define COUNT(set)	(fake_count_set(set, event, 1), 1)
static const char *event;
#include "apps/ending.c"
