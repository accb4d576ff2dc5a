/* test_live_constraint.c: constraints belong to their frame and name their tensors. */
#include "live_rows.h"

#define TENSORS "%0 = tensor float32[4, 6]\n%1 = tensor float32[5, 4]\nexport\n"
#define ROOT    "root build local(\"x\") %0\n"

static live_row_t const rows[] = {
    {TENSORS "frame\n" ROOT "frame\n" ROOT "constraint %0 dim 0 in 2..64\n",
     "e and k[0] is None and len(k[1]) == 1 and k[1][0].t_id == id(o[0]) and k[1][0].dim == 0 "
     "and k[1][0].constraint_range.vr.lower == 2 and k[1][0].constraint_range.vr.upper == 64"},
    {TENSORS "frame\nconstraint %0 dim 0 == %1 dim 1\n" ROOT,
     "k[0][0].t_id == id(o[0]) and k[0][0].shared.t_id == id(o[1]) and k[0][0].shared.dim == 1"},
    {TENSORS "frame\nconstraint %0 dim 1 in 3..5 name \"batch\"\n" ROOT,
     "k[0][0].debug_name == 'batch' and k[0][0].w_tensor() is o[0]"},
    /* torch refuses an empty range while the user writes it: there is no constraint */
    {TENSORS "frame\nconstraint %0 dim 1 in 0..1\n" ROOT, "k == [None]"},
    {"%0 = int 1\nframe\n" ROOT, "not e and k == [None]"},
};

LIVE_ROWS_MAIN(rows)
