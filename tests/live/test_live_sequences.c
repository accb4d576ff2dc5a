/* test_live_sequences.c: sequences hold the very objects of their edges. */
#include "live_rows.h"

static live_row_t const rows[] = {
    {"%0 = size [2, 3]\n", "type(o[0]) is torch.Size and o[0] == (2, 3)"},
    {"%0 = size []\n", "type(o[0]) is torch.Size and len(o[0]) == 0"},
    {"%0 = list\n", "type(o[0]) is list and o[0] == []"},
    {"%0 = list\n%1 = list %0 %0\n", "o[1][0] is o[0] and o[1][1] is o[0]"},
    {"%0 = int 5000\n%1 = tuple %0 %0\n", "type(o[1]) is tuple and o[1][1] is o[0]"},
    {"%0 = int 1\n%1 = int 2\n%2 = namedtuple Point %0 %1\n",
     "type(o[2]) is objects.Point and o[2] == (1, 2)"},
    {"%0 = list\n%1 = namedtuple Pair %0\n",
     "type(o[1]) is objects.Pair and o[1].first is o[0] and o[1].second is None"},
    {"%0 = namedtuple Unit\n", "type(o[0]) is objects.Unit and o[0] == ()"},
    {"%0 = int 1\n%1 = namedtuple Unit %0\n", "o[1] == ()"},
    {"%0 = tensor float32[2]\n%1 = namedtuple torch_max %0\n",
     "type(o[1]) is torch.return_types.max and o[1].values is o[0] and o[1].indices is None"},
    {"%0 = int 1\n%1 = namedtuple LoggingPair %0 %0\n",
     "type(o[1]) is objects.LoggingPair and objects.LoggingPair.__bases__ == (tuple,) and u == [] "
     "and o[1].second == 1 and list(o[1]) == [1, 1] and u[0] == '1.__iter__'"},
    {"%0 = int 1\n%1 = deque %0 %0\n",
     "type(o[1]) is collections.deque and list(o[1]) == [1, 1] and o[1].maxlen is None"},
    {"%0 = range 2 9 3\n", "o[0] == range(2, 9, 3)"},
    {"%0 = range 9 -2 -3\n", "list(o[0]) == [9, 6, 3, 0]"},
    {"%0 = none\n%1 = list\n%2 = slice %0 %1 %0\n", "o[2].stop is o[1] and o[2].start is None"},
    {"%0 = int 1\n%1 = tuple %0 %0\n%2 = tuple_iterator %1\n",
     "type(o[2]) is type(iter(())) and list(o[2]) == [1, 1]"},
    {"%0 = tuple\n%1 = tuple_iterator %0\n%2 = list %1 %1\n", "o[2][0] is o[1]"},
    /* sets: what has a hash, and where an order could show, a fixed one */
    {"%0 = int 1\n%1 = str \"a\"\n%2 = list\n%3 = set %0 %1 %2 %0\n",
     "type(o[3]) is set and o[3] == {1, 'a'}"},
    {"%0 = int 1\n%1 = frozenset %0\n%2 = set %1 %0\n", "o[2] == {1, frozenset({1})}"},
    {"%0 = class Plain\n%1 = set %0 %0\n", "o[1] == {objects.Plain}"},
    {"%0 = class Plain\n%1 = int 1\n%2 = frozenset %0 %1\n",
     "type(o[2]) is frozenset and o[2] == {1}"},
    {"%0 = none\n%1 = set %0\n%2 = int 1\n%3 = set %0 %2\n", "o[1] == {None} and o[3] == {1}"},
    {"%0 = float nan\n%1 = float 1.5\n%2 = set %0 %1\n", "o[2] == {1.5}"},
    {"%0 = object Raising\n%1 = set %0\n", "o[1] == set() and u == []"},
    {"%0 = object Counting\n%1 = frozenset %0\n", "len(o[1]) == 1 and u == []"},
};

LIVE_ROWS_MAIN(rows)
