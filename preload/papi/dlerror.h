/* dlerror.h: calls the loader without changing the application's dlerror: an error that was pending
 * before a call is pending after it. Per thread; may take the loader's lock. */
#ifndef SP_DLERROR_H
#define SP_DLERROR_H

#include <stdbool.h>

/* The dlsym after sspapi's own, NULL until sp_dlsym_find. A plain pointer for the assembly in
 * loader.c. */
extern void *sp_next_dlsym __attribute__((visibility("hidden")));
void sp_dlsym_find(void);

void *sp_real_dlsym(void *handle, const char *name);
int sp_real_dlclose(void *handle);
char *sp_real_dlerror(void);

struct sp_pending_error {
	bool is;
	char text[512];
};

/* Save and restore the error around sspapi's own calls of the loader. */
void sp_dlerror_keep(struct sp_pending_error *p);
void sp_dlerror_back(const struct sp_pending_error *p);

/* Set the application's dlerror to "object: undefined symbol: name". */
void sp_dlerror_set(const char *object, const char *name);

#endif
