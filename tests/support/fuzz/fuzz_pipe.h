/*
 * A sweeper's answer of any bytes: the rest of the input, its header put right
 * if FUZZ_MENDED is set, so that what is behind it is reached.
 */
#ifndef TESTS_SUPPORT_FUZZ_FUZZ_PIPE_H
#define TESTS_SUPPORT_FUZZ_FUZZ_PIPE_H

#include <string.h>
#include <unistd.h>

#include "lib/pipe/answer.h"
#include "tests/support/fuzz/fuzz_input.h"
#include "tests/support/pass/sweeper_pipe.h"

#define FUZZ_MENDED 1
#define FUZZ_PIPE_MAX 60000 /* a pipe holds it until it is read */

/*
 * IMAGE reads INPUT, and then the end of file. MEND_ENTRIES changes what
 * follows the header, or is NULL.
 */
static void
fuzz_pipe_open(struct mu_image *image, const struct fuzz_input *input,
    enum mu_pipe_kind kind, unsigned flags,
    void (*mend_entries)(uint8_t *bytes, size_t size))
{
	static uint8_t bytes[FUZZ_PIPE_MAX];
	struct mu_pipe_header header;
	int end = sweeper_pipe_open(image, (size_t)1 << 30);

	require(end >= 0);
	memcpy(bytes, input->data, input->size);
	if ((flags & FUZZ_MENDED) != 0 && input->size >= sizeof(header)) {
		memcpy(&header, bytes, sizeof(header));
		header.magic = MU_PIPE_MAGIC;
		header.version = MU_PIPE_VERSION;
		header.header_size = sizeof(header);
		header.kind = kind;
		if (kind == MU_PIPE_REFERENCES)
			header.entries_size =
			    header.num_entries * sizeof(struct mu_referrer);
		header.why.text[sizeof(header.why.text) - 1] = '\0';
		header.why.cure = 0;
		memcpy(bytes, &header, sizeof(header));
	}
	if (mend_entries != NULL && input->size >= sizeof(header))
		mend_entries(
		    bytes + sizeof(header), input->size - sizeof(header));
	require(write(end, bytes, input->size) == (ssize_t)input->size);
	close(end);
}

#endif
