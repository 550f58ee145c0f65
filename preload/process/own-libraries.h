/* own-libraries.h: loads the libraries that are installed with libsspapi.so. */
#ifndef SP_OWN_LIBRARIES_H
#define SP_OWN_LIBRARIES_H

/* Loads one privately (RTLD_DEEPBIND): an application may have its own hwloc (Open MPI does), and
 * neither may call the other's functions. NULL: it cannot be loaded. */
void *sp_own_library_open(const char *name);

/* Unloads it. */
void sp_own_library_close(void *library);

#endif
