/*
 * An ELF file as mapped in the subject's memory: its headers, or everything
 * except code. Section headers are never loaded.
 */
#ifndef SYMBOLIZE_ELF_IMAGE_H
#define SYMBOLIZE_ELF_IMAGE_H

#include <libelf.h>

#include "lib/symbolize/loaded.h"
#include "lib/symbolize/symbols.h"

struct mu_elf_image {
	Elf *elf;    /* for BYTES; NULL: not available */
	void *bytes; /* free after ELF's end */
	size_t size;
	Elf64_Ehdr ehdr; /* as it is in memory */
};

/* Read the first bytes, which usually include the notes. */
void mu_elf_image_headers_read(struct mu_elf_image *headers,
    const struct mu_symbols_source *source, const struct mu_loaded *loaded);

/* True if a file that begins with the SIZE bytes at BYTES has these headers. */
bool mu_elf_image_matches(
    const struct mu_elf_image *headers, const void *bytes, size_t size);

/*
 * Read the file's contents from memory, each byte to its file offset. Only
 * 64-bit.
 */
void mu_elf_image_read(struct mu_elf_image *image,
    const struct mu_elf_image *headers, const struct mu_symbols_source *source,
    const struct mu_loaded *loaded);

/* Release what IMAGE holds. Accepts the zero value; may be called twice. */
void mu_elf_image_close(struct mu_elf_image *image);

#endif
