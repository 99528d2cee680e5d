#include "lib/writers/exit_status.h"

enum mu_exit
mu_exit_status(const struct UnreachableMemoryInfo *info, bool known)
{
	if (!mu_exit_checked(info))
		return MU_EXIT_UNCHECKED;
	if (info->status == MEMUNREACHABLE_PARTIAL)
		return MU_EXIT_PARTIAL;
	return info->num_leaks > 0 && !known ? MU_EXIT_LEAKS : MU_EXIT_CLEAN;
}
