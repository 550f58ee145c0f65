/*
 * denied: PAPI refuses everything that may be refused, in C and in Fortran's spelling; a line for
 * each call. usage: denied
 */
#include "scene.h"

void papif_add_named_event_(int *set, char *name, int *check, int length);
void papif_add_event_(int *set, int *event, int *check);
void papif_set_domain_(int *domain, int *check);

static void overflowed(int set, void *address, long long vector, void *context)
{
	(void)set, (void)address, (void)vector, (void)context;
}

static void fails(const char *function)
{
	char line[80];

	snprintf(line, sizeof(line), "fail %s -15", function);
	if (fake_do(line) < 0)
		die(line);
}

static void option(int id, int which)
{
	PAPI_option_t o = {.inherit = {.eventset = id, .inherit = 1}};

	printf("set_opt %d\n", PAPI_set_opt(which, &o));
}

int main(void)
{
	static unsigned short buffer[16];
	char name[12] = "EV_Y        ";
	struct counted *c;
	int check, code = 0x7ffffff1, domain = 1, event = 0, one = 1;

	up();
	c = SET("EV_A");
	for (const char *const *f =
		     (const char *const[]){ "PAPI_set_opt", "PAPI_overflow", "PAPI_profil",
					    "PAPI_add_event", "PAPI_add_events",
					    "PAPI_add_named_event", "PAPI_thread_init",
					    "PAPI_assign_eventset_component", "PAPI_attach",
					    "PAPI_detach", "PAPI_set_multiplex", "PAPI_set_domain",
					    "PAPI_remove_event", "PAPI_hl_region_begin", NULL };
	     *f; f++)
		fails(*f);
	PAPI_list_events(c->id, &event, &one);
	option(c->id, PAPI_INHERIT);
	option(c->id, PAPI_GRANUL);
	printf("overflow %d\n", PAPI_overflow(c->id, event, 1000, 0, overflowed));
	printf("profil %d\n", PAPI_profil(buffer, sizeof(buffer), 0, 65536, c->id, event, 1000, 0));
	printf("add_event %d\n", PAPI_add_event(c->id, 0x7ffffff0));
	printf("add_event %d\n", PAPI_add_event(c->id, event));
	printf("add_events %d\n", PAPI_add_events(c->id, &code, 1));
	printf("add_named_event %d\n", PAPI_add_named_event(c->id, "EV_Z"));
	printf("thread_init %d\n", PAPI_thread_init((unsigned long (*)(void))pthread_self));
	printf("assign %d\n", PAPI_assign_eventset_component(c->id, 0));
	printf("attach %d\n", PAPI_attach(c->id, 1));
	printf("detach %d\n", PAPI_detach(c->id));
	printf("multiplex %d\n", PAPI_set_multiplex(c->id));
	printf("remove %d\n", PAPI_remove_event(c->id, event));
	printf("region %d\n", PAPI_hl_region_begin("region"));
	papif_add_named_event_(&c->id, name, &check, sizeof(name));
	printf("papif_add_named_event %d\n", check);
	papif_add_event_(&c->id, &code, &check);
	printf("papif_add_event %d\n", check);
	papif_set_domain_(&domain, &check);
	printf("papif_set_domain %d\n", check);
	return 0;
}
