/*
 * smallstack: a thread with the least stack that Linux gives (16 kB) makes a set and counts, after
 * main has made one.
 */
#include "handed.h"

static struct counted *c;

static void *work(void *arg)
{
	long long value = 0;

	must("PAPI_create_eventset", PAPI_create_eventset(&c->id));
	add_events(c);
	must("PAPI_start", PAPI_start(c->id));
	touch(&c->arena, 100);
	must("PAPI_stop", PAPI_stop(c->id, &value));
	printf("handed cpu=-1 event=" DEFAULT_EVENT " value=%lld by=PAPI_stop\n", value);
	return arg;
}

int main(void)
{
	struct counted *first;
	pthread_attr_t attr;
	pthread_t t = 0;

	papi_up();
	must("PAPI_thread_init", PAPI_thread_init(pthread_self));
	first = counted_new(0, NULL, 1);
	make_set(first);
	c = counted_new(0, NULL, 200);
	c->id = PAPI_NULL;
	pthread_attr_init(&attr);
	if (pthread_attr_setstacksize(&attr, 16384) || pthread_create(&t, &attr, work, NULL))
		die("a stack of 16 kB");
	pthread_join(t, NULL);
	return 0;
}
