#include "heapwalk/subject/read_buffer.h"

#include "mu/sys.h"

bool
mu_read_buffer_helps(struct mu_memory *memory)
{
	return memory != NULL && memory->ops != NULL &&
	    memory->ops->read != NULL &&
	    memory->ops->read(memory, (struct mu_range) { 0, 0 }, NULL);
}

void
mu_read_buffer_open(struct mu_read_buffer *buffer, struct mu_memory *memory)
{
	long at;

	*buffer = (struct mu_read_buffer) { .memory = memory };
	if (!mu_read_buffer_helps(memory))
		return;
	/* Room for the pages in which RANGE begins and ends. */
	buffer->size = MU_READ_BUFFER + 2 * memory->page_size;
	at = mu_sys_mmap(NULL, buffer->size, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS);
	buffer->bytes = mu_sys_failed(at) ? NULL : (char *)at;
}

const char *
mu_read_buffer_fill(
    struct mu_read_buffer *buffer, struct mu_range range, const char *view)
{
	size_t page, front;
	struct mu_range pages;

	if (buffer->bytes == NULL || mu_range_size(range) > MU_READ_BUFFER)
		return view;
	page = buffer->memory->page_size;
	front = range.begin % page;
	pages.begin = range.begin - front;
	pages.end = range.end + (-range.end & (page - 1));
	return buffer->memory->ops->read(buffer->memory, pages, buffer->bytes)
	    ? buffer->bytes + front
	    : view;
}

void
mu_read_buffer_close(struct mu_read_buffer *buffer)
{
	if (buffer->bytes != NULL)
		mu_sys_munmap(buffer->bytes, buffer->size);
	buffer->bytes = NULL;
}
