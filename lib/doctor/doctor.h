/*
 * --doctor: what would prevent or limit a check here, and what helps.
 *
 * Makes no ptrace call that could affect another process.
 */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define MU_DOCTOR_STOPPED 3 /* exit status: could not check */

/*
 * Examine the process PID or, if that is 0, only this machine and user.
 * MAX_PAUSE_MS: how long a check may stop it (--max-pause). Writes one line per
 * finding to OUT, "blocker  tracer: cause; cure". Returns the exit status: 0 or
 * MU_DOCTOR_STOPPED.
 */
int mu_doctor(pid_t pid, uint64_t max_pause_ms, FILE *out);

#endif
