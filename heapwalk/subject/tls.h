/* Find a thread's local storage from glibc's records. */
#ifndef HEAPWALK_SUBJECT_TLS_H
#define HEAPWALK_SUBJECT_TLS_H

#include "heapwalk/subject/snapshot.h"

struct mu_tls {
	/*
	 * The variables of the modules that were there when the thread was
	 * born, and struct pthread with the values of pthread_setspecific().
	 */
	struct mu_range storage;
	/* What leads to the variables of every module; may be a block. */
	struct mu_range vector;
};

/* Where one module's variables are. */
struct mu_tls_module {
	uintptr_t address;
	bool allocated; /* in a block, not in the storage */
};

/*
 * STACK is the thread's, whole, or empty. Storage or vector is empty where
 * it could not be found.
 */
void mu_tls_find(struct mu_tls *tls, const struct mu_snapshot *snap,
    const struct mu_thread *thread, struct mu_range stack);

/*
 * Entry INDEX of the vector, from 0; false behind the last. Entries of
 * modules without variables have an address that is none.
 */
bool mu_tls_module(const struct mu_tls *tls, const struct mu_snapshot *snap,
    size_t index, struct mu_tls_module *module);

#endif
