#include "lib/writers/command_cure.h"

#include "mu/status.h"

const char *
mu_command_cure(int status)
{
#define CURE(id, public, word, name, cure, command_cure, advice) command_cure,
	static const char *const cures[] = { MU_STATUS_LIST(CURE) };
#undef CURE

	return (unsigned)status < MU_STATUS_COUNT ? cures[status] : "";
}
