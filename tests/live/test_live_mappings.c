/* test_live_mappings.c: dicts keep the order of their edges and the very objects. */
#include "live_rows.h"

static live_row_t const rows[] = {
    {"%0 = dict\n", "type(o[0]) is dict and o[0] == {}"},
    {"%0 = str \"b\"\n%1 = str \"a\"\n%2 = list\n%3 = dict %0: %2, %1: %2\n",
     "list(o[3]) == ['b', 'a'] and o[3]['a'] is o[2] and o[3]['b'] is o[2]"},
    {"%0 = int 1\n%1 = bool true\n%2 = none\n%3 = dict %0: %0, %1: %2\n",
     "list(o[3].items()) == [(1, None)] and list(o[3])[0] is o[0]"},
    {"%0 = list\n%1 = int 1\n%2 = dict %0: %1, %1: %0\n", "o[2] == {1: []}"},
    {"%0 = list\n%1 = tuple %0\n%2 = dict %1: %0\n", "o[2] == {}"},
    {"%0 = object Raising\n%1 = dict %0: %0\n", "o[1] == {} and u == []"},
    {"%0 = object Counting\n%1 = dict %0: %0\n", "list(o[1])[0] is o[0] and u == []"},
    {"%0 = object Data\n%1 = dict %0: %0\n", "o[1] == {}"},
    {"%0 = parameter float32[2]\n%1 = dict %0: %0\n", "list(o[1])[0] is o[0]"},
    {"%0 = int 2\n%1 = int 1\n%2 = ordered_dict %0: %1, %1: %0\n",
     "type(o[2]) is collections.OrderedDict and list(o[2]) == [2, 1]"},
    {"%0 = class OrderedDict\n%1 = int 1\n%2 = default_dict %0 %1: %1\n",
     "type(o[2]) is collections.defaultdict and o[2].default_factory is o[0] and o[2] == {1: 1}"},
    {"%0 = int 1\n%1 = default_dict %0\n", "o[1].default_factory is None and len(o[1]) == 0"},
    {"%0 = int 1\n%1 = ordered_dict %0: %0\n%2 = odict_values %1\n",
     "type(o[2]) is type(collections.OrderedDict().values()) and list(o[2]) == [1]"},
    {"%0 = ordered_dict\n%1 = odict_values %0\n%2 = int 1\ndo setitem %0 %2 %2\n",
     "list(o[1]) == [1]"},
};

LIVE_ROWS_MAIN(rows)
