#include "lib/writers/writer.h"

const struct mu_writer *const mu_writers[] = {
	&mu_writer_text,
	&mu_writer_json,
	&mu_writer_html,
	&mu_writer_sarif,
	&mu_writer_junit,
	&mu_writer_github,
	&mu_writer_gitlab,
	&mu_writer_folded,
	&mu_writer_pprof,
	&mu_writer_lsan,
	&mu_writer_markdown,
	NULL,
};
