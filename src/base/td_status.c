/* td_status.c: the sentence of each status. */
#include "base/td_status.h"

char const *
td_status_text(td_status_t status)
{
    switch (status) {
#define X(name, value, text) \
    case TD_##name:          \
        return text;
        TD_STATUS_LIST(X)
#undef X
    }
    return "no status of Tandem's";
}
