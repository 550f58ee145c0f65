/*
 * beside: counts a program that knows nothing of PAPI: page faults and the clock, in main and in
 * each thread that is made by pthread_create.  It says nothing; libsspapi in front of it makes a
 * dump of it.  Linked to libpapi.
 */
#include <dlfcn.h>
#include <papi.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static int code[2], counts;
static __thread int set = PAPI_NULL;
static pthread_key_t at_end;

static unsigned long tid(void)
{
	return (unsigned long)syscall(SYS_gettid);
}

static void begin(void)
{
	if (PAPI_create_eventset(&set) || PAPI_add_events(set, code, 2) || PAPI_start(set))
		abort();
	pthread_setspecific(at_end, &set);
}

static void end(void *which)
{
	long long values[2];

	if (PAPI_read(*(int *)which, values) || PAPI_stop(*(int *)which, values) ||
	    PAPI_cleanup_eventset(*(int *)which) || PAPI_destroy_eventset(which) ||
	    PAPI_unregister_thread())
		abort();
}

struct call {
	void *(*function)(void *);
	void *argument;
};

static void *run(void *arg)
{
	struct call call = *(struct call *)arg;

	free(arg);
	begin();
	return call.function(call.argument);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*function)(void *),
		   void *argument)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		dlsym(RTLD_NEXT, "pthread_create");
	struct call *call = counts ? malloc(sizeof(*call)) : NULL;

	if (!call)
		return real(thread, attr, function, argument);
	*call = (struct call){function, argument};
	return real(thread, attr, run, call);
}

/* A child by fork has its parent's counters: it leaves them alone. */
static void leave(void)
{
	counts = 0;
	pthread_setspecific(at_end, NULL);
}

__attribute__((constructor)) static void first(void)
{
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT || PAPI_thread_init(tid) ||
	    PAPI_event_name_to_code("perf::PAGE-FAULTS", &code[0]) ||
	    PAPI_event_name_to_code("perf::TASK-CLOCK", &code[1]) ||
	    pthread_key_create(&at_end, end))
		return;
	pthread_atfork(NULL, NULL, leave);
	begin();
	counts = 1;
}

__attribute__((destructor)) static void last(void)
{
	if (counts && set != PAPI_NULL && pthread_getspecific(at_end))
		end(&set);
}
