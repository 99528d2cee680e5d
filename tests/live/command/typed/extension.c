/* An extension of CPython: a type of its own, with memory behind its objects.
 */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "typed.h"

struct sample {
	struct sample *next;
	double value[4];
	char *unit;
};

typedef struct {
	PyObject_HEAD struct sample *samples;
	char *name;
	long count;
} Series;

static PyTypeObject series_type = {
	PyVarObject_HEAD_INIT(NULL, 0).tp_name = "typed.Series",
	.tp_basicsize = sizeof(Series),
	.tp_flags = Py_TPFLAGS_DEFAULT,
	.tp_new = PyType_GenericNew,
};

PyObject *held_series[8]; /* not static: it is written only */

static PyObject *
make_series(const char *what)
{
	Series *series = PyObject_New(Series, &series_type);
	struct sample *sample;
	int i;

	tell(what, series, "typed.Series");
	series->samples = NULL;
	series->count = 5;
	series->name = strdup("the name of a series");
	tell(what, series->name, "char[*]");
	for (i = 0; i < 5; i++) {
		sample = calloc(1, sizeof(*sample));
		tell(what, sample, "sample");
		sample->value[0] = sample->value[3] = 0.5 + i;
		sample->unit = strdup("metres per second");
		tell(what, sample->unit, "char[*]");
		sample->next = series->samples;
		series->samples = sample;
	}
	return (PyObject *)series;
}

static __attribute__((noinline)) void
fill(void)
{
	size_t i;

	for (i = 0; i < 8; i++)
		held_series[i] = make_series("held");
	for (i = 0; i < 8; i++)
		mu_hide(make_series("lost"));
}

/* Python calls it: it tells, and waits. */
static PyObject *
run(PyObject *self, PyObject *arguments)
{
	(void)self;
	(void)arguments;
	also("*"); /* the interpreter's own types */
	fill();
	stay();
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = { { "run", run, METH_NOARGS, NULL }, { 0 } };
static struct PyModuleDef module = { PyModuleDef_HEAD_INIT, "typed", NULL, -1,
	methods, NULL, NULL, NULL, NULL };

PyMODINIT_FUNC
PyInit_typed(void)
{
	if (PyType_Ready(&series_type) < 0)
		return NULL;
	return PyModule_Create(&module);
}
