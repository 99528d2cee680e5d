/*
 * What would stop a check here, and what helps: --doctor.
 *
 * Makes no ptrace call that could reach anybody.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define MU_DOCTOR_STOPPED 3 /* exit status: could not check */

/*
 * Look at the process PID, or, if that is 0, at this machine and user alone.
 * MAX_PAUSE_MS: how long a check may stop it (--max-pause).
 * One line a finding to OUT, "blocker  tracer: cause; cure". The exit status: 0
 * or MU_DOCTOR_STOPPED.
 */
int mu_doctor(pid_t pid, uint64_t max_pause_ms, FILE *out);

#endif
