/*
 * Refuse or cut short each system call that original, collector and sweeper
 * make, in turn: every call that differs from the others in its place, the call
 * before it or its arguments, and some of those that do not (see
 * tests/support/faults/fault_walk.h). The answer of the pass must be true: a
 * failure has the right status, a reason and no numbers, a partial answer names
 * no block that is not lost, a complete one names them all. After each call the
 * program is unharmed and the next pass is right.
 *
 * What has no perfect answer: where close(), munmap() or wait4() is refused in
 * the original, a descriptor, a mapping or (if waitid() is refused as well) a
 * zombie is left; no other process could have removed it.
 */
#ifndef TESTS_SUPPORT_FAULTS_FAULT_SWEEP_H
#define TESTS_SUPPORT_FAULTS_FAULT_SWEEP_H

#include "tests/support/faults/fault_walk.h"

/* Each call of ROLE, once or, if walk_full(), with each error. */
void fault_sweep(enum walk_method method, enum fault_role role,
    enum fault_act act, bool shares);

/* Each kind of call, of all roles, from the first one on. */
void fault_sweep_for_ever(enum walk_method method);

#endif
