/*
 * spellings: the low level as Fortran programs call it, in the spellings that
 * compilers use; EV_A counts 11, 12 and 13. usage: spellings
 */
#include "scene.h"

void papif_library_init_(int *check);
void papif_create_eventset__(int *set, int *check);
void PAPIF_ADD_NAMED_EVENT(int *set, char *name, int *check, int length);
void papif_start_(int *set, int *check);
void PAPIF_READ(int *set, long long *values, int *check);
void papif_accum__(int *set, long long *values, int *check);
void papif_stop_(int *set, long long *values, int *check);

int main(void)
{
	char name[8] = "EV_A    ";
	struct counted *c = set_of((const char *const[]){"EV_A", NULL});
	int check = fake_version() << 16;
	long long values[1] = {0}, before[1] = {0};

	papif_library_init_(&check);
	if (check < 0)
		return 1;
	c->id = PAPI_NULL;
	papif_create_eventset__(&c->id, &check);
	must("papif_create_eventset", check);
	PAPIF_ADD_NAMED_EVENT(&c->id, name, &check, sizeof(name));
	must("papif_add_named_event", check);
	pin(0);
	papif_start_(&c->id, &check);
	must("papif_start", check);
	fake_count("EV_A", 11);
	papif_accum__(&c->id, values, &check);
	must("papif_accum", check);
	handed_accum(c, before, values);
	fake_count("EV_A", 12);
	PAPIF_READ(&c->id, values, &check);
	must("papif_read", check);
	handed(c, "PAPI_read", values);
	pin(1);
	fake_count("EV_A", 13);
	papif_stop_(&c->id, values, &check);
	must("papif_stop", check);
	handed(c, "PAPI_stop", values);
	return print_handed(c, "");
}
