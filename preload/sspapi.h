/* sspapi.h: what a program that wants to ask while it runs may call.
 *
 * Link with -lsspapi, or run under LD_PRELOAD=libsspapi.so: the same library and the
 * same store.  Functions that return int return PAPI's error codes.
 */
#ifndef SSPAPI_H
#define SSPAPI_H

#ifdef __cplusplus
extern "C" {
#endif

/* Writes a dump of what was counted so far, and counting goes on.
 *
 * path: the file's name, as it is (no template); NULL: the name that the dump at the
 * end will have, which then replaces it.  format: "text", "json", "csv", "hwloc" or
 * "store"; NULL: by path's extension, else text.
 *
 * PAPI_OK; PAPI_EINVAL: no such format; PAPI_ENOINIT: nothing was counted in this
 * process, or sspapi is disabled; PAPI_ESYS: not written, errno says why.
 * Thread-safe; async-signal-safe.
 */
int sspapi_snapshot(const char *path, const char *format);

#ifdef __cplusplus
}
#endif

#endif
