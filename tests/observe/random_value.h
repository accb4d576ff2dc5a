/* random_value.h: random values for the tests of this room.

   The pieces come from small sets, so that equal sub-values are common, as they
   are in observations. */
#ifndef TESTS_OBSERVE_RANDOM_VALUE_H
#define TESTS_OBSERVE_RANDOM_VALUE_H

#include <stdint.h>

#include "base/td_rng.h"
#include "observe/td_obs.h"

enum { RANDOM_ITEM_CNT_MAX = 12 };

static td_val_t
random_atom(td_obs_t *obs, td_rng_t *rng)
{
    static char const *const texts[] = {
        "", "a", "AttrSource", "L['x']", "\xC3\xA9", "\xED\xA0\x80", "a text of more than 24 bytes",
    };
    static char const *const bigs[]   = {"9223372036854775808", "-9223372036854775809",
                                         "100000000000000000000000"};
    static double const      floats[] = {0.0, -0.0, 1.5, 1e300, -1.0 / 3};
    static int64_t const     ints[]   = {0, 63, 64, -1, -64, 1000, INT64_MAX, INT64_MIN};

    switch (td_rng_below(rng, 9)) {
    case 0:
        return td_obs_absent(obs);
    case 1:
        return td_obs_null(obs);
    case 2:
        return td_obs_bool(obs, td_rng_below(rng, 2) == 1);
    case 3:
        return td_obs_int(obs, ints[td_rng_below(rng, 8)]);
    case 4:
        return td_obs_int(obs, (int64_t)td_rng_below(rng, 70));
    case 5:
        return td_obs_bigint(obs, bigs[td_rng_below(rng, 3)]);
    case 6:
        return td_obs_float(obs, floats[td_rng_below(rng, 5)]);
    default:
        return td_obs_cstr(obs, texts[td_rng_below(rng, 7)]);
    }
}

/* Sources are trees and guards are rows: they have no records. */
static bool
is_record_class(td_class_t class_id)
{
    return class_id != TD_CLASS_NONE && !td_class_is_a(class_id, TD_CLASS_Source) &&
           class_id != TD_CLASS_Guard;
}

static td_val_t
random_value(td_obs_t *obs, td_rng_t *rng, int depth)
{
    td_val_t          items[TD_CLASS_FIELD_CNT_MAX];
    size_t            cnt  = td_rng_below(rng, RANDOM_ITEM_CNT_MAX);
    uint64_t          kind = td_rng_below(rng, 5);
    td_obs_field_t    fields[TD_CLASS_FIELD_CNT_MAX];
    td_class_t        class_id = TD_CLASS_NONE;
    td_field_t const *order;

    if (depth == 0 || kind < 2) {
        return random_atom(obs, rng);
    }
    if (kind == 4) {
        while (!is_record_class(class_id)) {
            class_id = (td_class_t)td_rng_below(rng, TD_CLASS_CNT);
        }
        order = td_class_fields(class_id, &cnt);
        for (size_t idx = 0; idx < cnt; idx++) {
            fields[idx] = (td_obs_field_t){order[idx], random_value(obs, rng, depth - 1)};
        }
        return td_obs_record(obs, class_id, fields, cnt);
    }
    for (size_t idx = 0; idx < cnt; idx++) {
        items[idx] = random_value(obs, rng, depth - 1);
    }
    return kind == 2 ? td_obs_list(obs, items, cnt) : td_obs_bag(obs, items, cnt);
}

#endif
