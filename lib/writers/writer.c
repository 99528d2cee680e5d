#include "lib/writers/writer.h"

const struct mu_writer *const mu_writers[] = {
	&mu_writer_text,
	&mu_writer_json,
	&mu_writer_html,
	NULL,
};
