/* td_plant.h: faults that can be planted in this builder.

   TD_PLANT(NAME) is false wherever the builder is used.  One shared object that
   tests load is compiled with TD_PLANTED: there it says whether the fault NAME of
   tests/planted/planted.def was asked for. */
#ifndef TD_BUILDER_PLANT_H
#define TD_BUILDER_PLANT_H

#include <stdbool.h>
#include <stddef.h>

#include "py/td_py.h"

#ifdef TD_PLANTED

enum {
#define X(number, name, function, field, text) TD_PLANT_##name = (number),
#include "planted.def"
#undef X
};

#define TD_PLANT(name) td_planted(TD_PLANT_##name)

bool td_planted(int number);

/* td_plant_load reads which faults were asked for; false: why has one line. */
bool td_plant_load(char *why, size_t why_sz);

/* td_plant_stale gives *value as it was when it was asked for first, while fault
   STALE_CACHE is planted. */
void td_plant_stale(bool *value);

/* td_plant_ask has Dynamo itself say whether file (a str, or NULL) is skipped: 1, 0,
   or -1 with an exception. */
int td_plant_ask(PyObject *file);

#else

#define TD_PLANT(name)             false
#define td_plant_load(why, why_sz) true
#define td_plant_stale(value)      ((void)(value))
#define td_plant_ask(file)         0

#endif
#endif
