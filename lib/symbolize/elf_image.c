#include "lib/symbolize/elf_image.h"

#include <stdlib.h>
#include <string.h>

#define HEADERS_MAX ((size_t)64 << 10)
#define PAGE_MIN ((size_t)4 << 10)
#define IMAGE_MAX ((uint64_t)64 << 20) /* names of a very large library */

/* libelf refuses a file whose section headers are beyond its end. */
static void
open_bytes(struct mu_elf_image *image)
{
	Elf64_Ehdr ehdr;

	if (image->size >= sizeof(ehdr)) {
		memcpy(&ehdr, image->bytes, sizeof(ehdr));
		image->ehdr = ehdr;
		ehdr.e_shoff = 0;
		ehdr.e_shnum = ehdr.e_shstrndx = 0;
		memcpy(image->bytes, &ehdr, sizeof(ehdr));
	}
	image->elf = elf_memory(image->bytes, image->size);
	if (image->elf == NULL || elf_kind(image->elf) != ELF_K_ELF)
		mu_elf_image_close(image);
}

void
mu_elf_image_headers_read(struct mu_elf_image *headers,
    const struct mu_symbols_source *source, const struct mu_loaded *loaded)
{
	const struct mu_mapping *first = loaded->first;
	size_t size = mu_range_size(first->range);

	*headers = (struct mu_elf_image) { 0 };
	if (source->read == NULL || first->offset != 0 || !first->readable ||
	    size == 0)
		return;
	if (size > HEADERS_MAX)
		size = HEADERS_MAX;
	headers->bytes = malloc(size);
	if (headers->bytes == NULL)
		return;
	if (!source->read(
		source->ctx, first->range.begin, headers->bytes, size)) {
		/* A core holds only the first page of each file. */
		size = size < PAGE_MIN ? size : PAGE_MIN;
		if (!source->read(
			source->ctx, first->range.begin, headers->bytes, size))
			size = 0;
	}
	headers->size = size;
	open_bytes(headers);
}

/*
 * Compares the ELF header and the program headers, or the ELF header alone if
 * it places the program headers outside of BYTES.
 */
bool
mu_elf_image_matches(
    const struct mu_elf_image *headers, const void *bytes, size_t size)
{
	const Elf64_Ehdr *ehdr = &headers->ehdr;
	size_t fixed = sizeof(*ehdr);
	uint64_t end =
	    ehdr->e_phoff + (uint64_t)ehdr->e_phnum * ehdr->e_phentsize;

	if (size > headers->size)
		size = headers->size;
	if (size < fixed || memcmp(bytes, ehdr, fixed) != 0)
		return false;
	if (end < fixed || end > size)
		end = fixed;
	return memcmp((const char *)bytes + fixed,
		   (const char *)headers->bytes + fixed, end - fixed) == 0;
}

/*
 * Symbol names are in read-only mappings. The dynamic section, which leads to
 * them, may be in a writable one, since the loader relocates it. Code is not
 * needed, unless it shares the mapping of the ELF header (ld -z
 * noseparate-code).
 */
static bool
is_wanted(const struct mu_mapping *mapping)
{
	return mapping->readable && !mapping->shared &&
	    mapping->name[0] != '\0' && mapping->offset < IMAGE_MAX &&
	    (!mapping->executable || mapping->offset == 0);
}

static size_t
image_size(const struct mu_loaded *loaded)
{
	const struct mu_mapping *part;
	uint64_t size = 0, end;

	for (part = loaded->first; part <= loaded->last; part++) {
		end = part->offset + mu_range_size(part->range);
		if (is_wanted(part) && end > size)
			size = end;
	}
	return size < IMAGE_MAX ? size : IMAGE_MAX;
}

static void
read_parts(struct mu_elf_image *image, const struct mu_symbols_source *source,
    const struct mu_loaded *loaded)
{
	const struct mu_mapping *part;
	size_t size;

	for (part = loaded->first; part <= loaded->last; part++) {
		if (!is_wanted(part) || part->offset >= image->size)
			continue;
		size = mu_range_size(part->range);
		if (size > image->size - part->offset)
			size = image->size - part->offset;
		source->read(source->ctx, part->range.begin,
		    (char *)image->bytes + part->offset, size);
	}
}

void
mu_elf_image_read(struct mu_elf_image *image,
    const struct mu_elf_image *headers, const struct mu_symbols_source *source,
    const struct mu_loaded *loaded)
{
	*image = (struct mu_elf_image) { 0 };
	if (headers->ehdr.e_ident[EI_CLASS] != ELFCLASS64)
		return;
	image->size = image_size(loaded);
	image->bytes = calloc(1, image->size + headers->size);
	if (image->bytes == NULL)
		return;
	read_parts(image, source, loaded);
	memcpy(image->bytes, headers->bytes, headers->size);
	if (image->size < headers->size)
		image->size = headers->size;
	open_bytes(image);
}

void
mu_elf_image_close(struct mu_elf_image *image)
{
	if (image->elf != NULL)
		elf_end(image->elf);
	free(image->bytes);
	*image = (struct mu_elf_image) { 0 };
}
