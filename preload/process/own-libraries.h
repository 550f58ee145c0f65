/* own-libraries.h: the libraries beside libsspapi.so. */
#ifndef SP_OWN_LIBRARIES_H
#define SP_OWN_LIBRARIES_H

/* A library beside us, private (RTLD_DEEPBIND): an application may bring an hwloc of its own (Open
 * MPI does); neither must get the other's functions. NULL: it cannot be opened. */
void *sp_own_library_open(const char *name);

/* Unloads it. */
void sp_own_library_close(void *library);

#endif
