/* subject_version.c: a subject of another version of the ABI. */
#include "builder/td_abi.h"

static td_abi_subject_v1 const table = {
    .struct_sz      = sizeof table,
    .name           = "from another time",
    .abi_version    = TD_ABI_VERSION + 1,
    .schema_version = 1,
};

td_abi_subject_v1 const *
td_subject_v1(void)
{
    return &table;
}
