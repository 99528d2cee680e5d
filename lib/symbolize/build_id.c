#include "lib/symbolize/build_id.h"

#include <elfutils/libdwelf.h>
#include <stdint.h>
#include <stdio.h>

struct mu_build_id_hex
mu_build_id_hex(const void *id, ssize_t size)
{
	struct mu_build_id_hex result = { "" };
	ssize_t i;

	if (size <= 0 || size > MU_BUILD_ID_MAX)
		return result;
	for (i = 0; i < size; i++)
		snprintf(
		    result.hex + 2 * i, 3, "%02x", ((const uint8_t *)id)[i]);
	return result;
}

struct mu_build_id_hex
mu_build_id_of(Elf *elf)
{
	const void *id = NULL;
	ssize_t size = dwelf_elf_gnu_build_id(elf, &id);

	return mu_build_id_hex(id, size);
}
