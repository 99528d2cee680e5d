/* Find a thread's local storage from glibc's records. */
#ifndef HEAPWALK_SUBJECT_TLS_H
#define HEAPWALK_SUBJECT_TLS_H

#include "heapwalk/subject/snapshot.h"

struct mu_tls {
	/*
	 * Variables of the modules loaded when the thread was created, and
	 * struct pthread with the values of pthread_setspecific().
	 */
	struct mu_range storage;
	/*
	 * The dynamic thread vector, which leads to the variables of every
	 * module; may be a block.
	 */
	struct mu_range vector;
};

/* The variables of one module. */
struct mu_tls_module {
	uintptr_t address;
	bool allocated; /* in a block, not in the storage */
};

/*
 * STACK is the whole stack of the thread, or empty. Storage and vector are
 * empty if they cannot be found.
 */
void mu_tls_find(struct mu_tls *tls, const struct mu_snapshot *snap,
    const struct mu_thread *thread, struct mu_range stack);

/*
 * Entry INDEX of the vector, from 0; false after the last. The address in
 * entries of modules without variables is invalid.
 */
bool mu_tls_module(const struct mu_tls *tls, const struct mu_snapshot *snap,
    size_t index, struct mu_tls_module *module);

#endif
