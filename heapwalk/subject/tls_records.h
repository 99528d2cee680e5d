/*
 * Which module each entry of a thread's vector belongs to, by the records of
 * the dynamic linker.
 */
#ifndef HEAPWALK_SUBJECT_TLS_RECORDS_H
#define HEAPWALK_SUBJECT_TLS_RECORDS_H

#include "heapwalk/subject/tls.h"

/* The thread-local variables of a library. */
struct mu_tls_record {
	uintptr_t module; /* where it begins */
	size_t index;     /* of its entry: mu_tls_module() */
	size_t size;      /* bytes */
	intptr_t offset;  /* in the storage, unless they are in a block */
};

/*
 * Call VISIT for each library that the program was linked with or has loaded,
 * but not by dlmopen(), until it returns false. The main program is left out.
 */
void mu_tls_records_each(const struct mu_snapshot *snap,
    bool (*visit)(void *ctx, const struct mu_tls_record *record), void *ctx);

/*
 * *ADDRESS: where the variables of RECORD are in THREAD, whose storage and
 * vector TLS has. False: nowhere yet, or not known.
 */
bool mu_tls_record_address(const struct mu_tls_record *record,
    const struct mu_tls *tls, const struct mu_snapshot *snap,
    const struct mu_thread *thread, uintptr_t *address);

#endif
