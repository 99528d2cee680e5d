/* Arrays: of numbers, of structures, of pointers, of arrays. */
#include "typed.h"

struct point {
	double x, y, z;
};

struct mesh {
	struct point *points;
	unsigned *indices;
	size_t num_points, num_indices;
	float (*matrices)[16];
	struct mesh *children[4];
	char *label;
};

struct row {
	long id;
	char **cells;
	int width;
};

struct sheet {
	struct row *rows;
	int count;
	double *sums;
	char *title;
};

/* Not static: they are written only. */
struct mesh *mesh;
struct sheet sheets[4];
long *counts;

static void *
named(const char *what, void *block, const char *name)
{
	tell(what, block, name);
	return block;
}

static char *
text(const char *what, const char *words)
{
	char *copy = calloc(1, 48);

	snprintf(copy, 48, "%s", words);
	return named(what, copy, "char[*]");
}

static struct mesh *
make_mesh(const char *what, int depth)
{
	struct mesh *made = named(what, calloc(1, sizeof(*made)), "mesh");
	int i;

	made->num_points = 20;
	made->points =
	    named(what, calloc(20, sizeof(*made->points)), "point[20]");
	for (i = 0; i < 20; i++)
		made->points[i].x = made->points[i].z = 0.75 * (i + 1);
	made->num_indices = 60;
	made->indices =
	    named(what, calloc(60, sizeof(*made->indices)), "unsigned int[60]");
	for (i = 0; i < 60; i++)
		made->indices[i] = (unsigned)(i * 7 % 20);
	made->matrices =
	    named(what, calloc(3, sizeof(*made->matrices)), "float[3][16]");
	for (i = 0; i < 16; i++)
		made->matrices[i % 3][i] = 1.5f;
	made->label = text(what, "a mesh with a label");
	for (i = 0; depth > 0 && i < 3; i++)
		made->children[i] = make_mesh(what, depth - 1);
	return made;
}

static void
fill_sheet(const char *what, struct sheet *sheet)
{
	int i, j;

	sheet->count = 5;
	sheet->title = text(what, "a sheet of five rows");
	sheet->rows = named(what, calloc(5, sizeof(*sheet->rows)), "row[5]");
	sheet->sums = named(what, calloc(6, sizeof(*sheet->sums)), "double[6]");
	for (i = 0; i < 5; i++) {
		sheet->sums[i] = 100.5 * i;
		sheet->rows[i].id = 1000 + i;
		sheet->rows[i].width = 4;
		sheet->rows[i].cells =
		    named(what, calloc(4, sizeof(char *)), "char*[4]");
		for (j = 0; j < 4; j++)
			sheet->rows[i].cells[j] = text(what, "what is in it");
	}
}

static __attribute__((noinline)) void
fill(void)
{
	struct sheet *sheet;
	int i;

	mesh = make_mesh("held", 2);
	for (i = 0; i < 4; i++)
		fill_sheet("held", &sheets[i]);
	counts = named("held", calloc(100, sizeof(*counts)), "long*[100]");
	for (i = 0; i < 100; i++)
		counts[i] = i * 12345;
	for (i = 0; i < 2; i++)
		mu_hide(make_mesh("lost", 2));
	for (i = 0; i < 4; i++) {
		sheet = named("lost", calloc(1, sizeof(*sheet)), "sheet");
		fill_sheet("lost", sheet);
		mu_hide(sheet);
	}
}

int
main(void)
{
	also("point[*]");
	also("unsigned int[*]");
	also("row[*]");
	also("double[*]");
	also("char*[*]");
	fill();
	return stay();
}
