/* dlerror.h: calls of the loader that the application's dlerror shows nothing of: an error that was
 * pending before a call is pending after it.  In the calling thread; may take the loader's lock.
 */
#ifndef SP_DLERROR_H
#define SP_DLERROR_H

#include <stdbool.h>

/* The next dlsym behind ours; a plain pointer, so that the assembly in loader.c can jump. NULL
 * until sp_dlsym_find. */
extern void *sp_next_dlsym __attribute__((visibility("hidden")));
void sp_dlsym_find(void);

void *sp_real_dlsym(void *handle, const char *name);
int sp_real_dlclose(void *handle);
char *sp_real_dlerror(void);

struct sp_pending_error {
	bool is;
	char text[512];
};

/* Around our own use of the loader. */
void sp_dlerror_keep(struct sp_pending_error *p);
void sp_dlerror_back(const struct sp_pending_error *p);

/* The application's dlerror says from now on: "object: undefined symbol: name". */
void sp_dlerror_set(const char *object, const char *name);

#endif
