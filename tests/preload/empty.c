/*
 * empty: a preload that does nothing, to tell what any preload costs a
 * process from what libsspapi costs it.
 */
extern int sspapi_test_empty;
int sspapi_test_empty;
