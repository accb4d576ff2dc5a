/* _tandem_gen.c: programs from a seed. */
#include "tandem/td_module.h"

#include "base/td_alloc.h"
#include "base/td_limits.h"
#include "gen/td_gen.h"

enum { ONLY_SZ = 4096 };

/* What "--only" says, as weights; false: an exception is set. */
static bool
weights_make(PyObject *module, char const *only, unsigned long long seed, int swarm,
             td_weights_t *weights)
{
    char        done[ONLY_SZ];
    char        why[200];
    td_status_t status;

    td_weights_init(weights);
    if (only != NULL && strcmp(only, "done") == 0) {
        status = td_check_done(NULL, done, sizeof done);
        if (status != TD_OK) {
            td_module_raise(module, status, td_check_why());
            return false;
        }
        only = done;
    }
    status = only == NULL ? TD_OK : td_weights_only(weights, only, why);
    if (status != TD_OK) {
        td_module_raise(module, status, why);
        return false;
    }
    if (swarm) {
        td_weights_t const all = *weights;

        td_weights_swarm(&all, seed, weights);
    }
    return true;
}

PyDoc_STRVAR(gen_doc,
             "gen(seed, nodes=0, only=None, swarm=True, size_max=TD_INPUT_SZ_MAX) -> bytes\n\n"
             "The program that a seed gives, binary.  nodes: how many are aimed at (0:\n"
             "drawn).  only: words as td_weights_only has them, or 'done'.");

static PyObject *
gen_gen(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char       *names[] = {"seed", "nodes", "only", "swarm", "size_max", NULL};
    unsigned long long seed;
    unsigned           node_cnt = 0;
    char const        *only     = NULL;
    int                swarm    = 1;
    Py_ssize_t         sz_max   = TD_INPUT_SZ_MAX;
    td_weights_t       weights;
    td_prog_t          prog;
    td_status_t        status;
    PyObject          *result = NULL;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "K|Izpn:gen", names, &seed, &node_cnt, &only,
                                     &swarm, &sz_max) ||
        !weights_make(module, only, seed, swarm, &weights)) {
        return NULL;
    }
    td_prog_init(&prog);
    status = td_gen(&prog, seed, (size_t)sz_max, node_cnt, &weights);
    result = status == TD_OK ? td_module_encode(module, &prog)
                             : td_module_raise(module, status, td_status_text(status));
    td_prog_clear(&prog);
    return result;
}

PyDoc_STRVAR(weights_doc, "weights(only=None, seed=0, swarm=True) -> str\n\n"
                          "What programs of that draw are made of, as JSON text.");

static PyObject *
gen_weights(PyObject *module, PyObject *args, PyObject *kwargs)
{
    static char       *names[] = {"only", "seed", "swarm", NULL};
    char const        *only    = NULL;
    unsigned long long seed    = 0;
    int                swarm   = 1;
    td_weights_t       weights;
    char              *text; /* owned */
    PyObject          *result;

    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|zKp:weights", names, &only, &seed, &swarm) ||
        !weights_make(module, only, seed, swarm, &weights)) {
        return NULL;
    }
    text   = td_weights_text(&weights);
    result = text == NULL ? PyErr_NoMemory() : PyUnicode_FromString(text);
    td_free(text);
    return result;
}

PyMethodDef td_module_gen_methods[] = {
    {"gen", (PyCFunction)(void (*)(void))gen_gen, METH_VARARGS | METH_KEYWORDS, gen_doc},
    {"weights", (PyCFunction)(void (*)(void))gen_weights, METH_VARARGS | METH_KEYWORDS,
     weights_doc},
    {NULL, NULL, 0, NULL},
};
