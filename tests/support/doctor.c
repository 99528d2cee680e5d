/*
 * The doctor alone, for plays. Usage: doctor [PID]
 */
#include <stdlib.h>

#include "lib/cli/doctor.h"

int
main(int argc, char **argv)
{
	return mu_doctor(argc > 1 ? (pid_t)atoi(argv[1]) : 0, stdout);
}
