/* td_canon_text.c: texts with ids in them. */
#include <stdint.h>
#include <string.h>

#include "base/td_alloc.h"
#include "py/td_canon.h"
#include "py/td_canon_parts.h"

/* A text that grows; nothing is written once memory ran out. */
typedef struct {
    char  *bytes; /* owned */
    size_t sz, cap;
    bool   failed;
} canon_text_t;

static void
canon_text_add(canon_text_t *text, char const *bytes, size_t sz)
{
    if (!text->failed && text->sz + sz > text->cap) {
        size_t cap   = 2 * (text->sz + sz) + 64;
        char  *grown = td_realloc(text->bytes, cap);

        text->failed = grown == NULL;
        if (grown != NULL) {
            text->bytes = grown;
            text->cap   = cap;
        }
    }
    if (!text->failed && sz != 0) {
        memcpy(text->bytes + text->sz, bytes, sz);
        text->sz += sz;
    }
}

static void
canon_text_add_ordinal(canon_text_t *text, uint32_t ordinal)
{
    char number[32];
    int  sz = PyOS_snprintf(number, sizeof(number), "<object %u>", (unsigned)ordinal);

    canon_text_add(text, number, (size_t)sz);
}

static int
canon_digit(char c, unsigned base)
{
    int digit = -1;

    if (c >= '0' && c <= '9') {
        digit = c - '0';
    } else if (c >= 'a' && c <= 'f') {
        digit = c - 'a' + 10;
    }
    return digit >= 0 && digit < (int)base ? digit : -1;
}

/* The number that begins at pos; returns where it ends (pos: none there, or it
   does not fit in 64 bits). */
static size_t
canon_number(char const *bytes, size_t sz, size_t pos, unsigned base, uint64_t *number)
{
    size_t at = pos;

    *number = 0;
    while (at < sz && canon_digit(bytes[at], base) >= 0) {
        if (*number > (UINT64_MAX - 15) / base) {
            return pos;
        }
        *number = *number * base + (uint64_t)canon_digit(bytes[at], base);
        at++;
    }
    return at;
}

/* ---- generated names ----------------------------------------------------- */

static char const dict_key[] = "dict_key_";

static size_t
canon_find_dict_key(char const *bytes, size_t sz, size_t pos)
{
    size_t key_sz = sizeof(dict_key) - 1;

    while (pos + key_sz <= sz) {
        char const *hit = memchr(bytes + pos, dict_key[0], sz - pos - key_sz + 1);

        if (hit == NULL) {
            return sz;
        }
        pos = (size_t)(hit - bytes);
        if (memcmp(hit, dict_key, key_sz) == 0) {
            return pos + key_sz;
        }
        pos++;
    }
    return sz;
}

td_val_t
td_canon_name(td_canon_t *canon, char const *name, size_t sz)
{
    canon_text_t text = {0};
    size_t       done = 0;
    td_val_t     val;

    for (size_t at = canon_find_dict_key(name, sz, 0); at < sz;
         at        = canon_find_dict_key(name, sz, at)) {
        uint64_t number;
        size_t   end = canon_number(name, sz, at, 10, &number);

        if (end == at || number == 0) {
            continue;
        }
        canon_text_add(&text, name + done, at - done);
        canon_text_add_ordinal(&text, td_obs_ordinal(canon->obs, TD_SPACE_OBJECT,
                                                     (void const *)(uintptr_t)number, NULL));
        done = at = end;
    }
    if (done == 0) {
        return td_obs_str(canon->obs, name, sz);
    }
    canon_text_add(&text, name + done, sz - done);
    val = text.failed ? TD_VAL_NONE : td_obs_str(canon->obs, text.bytes, text.sz);
    td_free(text.bytes);
    return val;
}

/* ---- messages ------------------------------------------------------------ */

static bool
canon_known_id(td_canon_t *canon, uint64_t number, PyObject *const *objects, size_t object_cnt,
               uint32_t *ordinal)
{
    void const *identity = (void const *)(uintptr_t)number;

    if (number == 0) {
        return false;
    }
    if (td_obs_find_ordinal(canon->obs, TD_SPACE_OBJECT, identity, ordinal)) {
        return true;
    }
    for (size_t i = 0; i < object_cnt; ++i) {
        if (objects[i] == identity) {
            *ordinal = td_obs_ordinal(canon->obs, TD_SPACE_OBJECT, identity, NULL);
            return true;
        }
    }
    return false;
}

/* Where the number at pos ends if it is the id of a known object, else pos. */
static size_t
canon_id_end(td_canon_t *canon, char const *bytes, size_t sz, size_t pos, PyObject *const *objects,
             size_t object_cnt, uint32_t *ordinal)
{
    uint64_t number;
    size_t   end;

    if (pos + 2 < sz && bytes[pos] == '0' && bytes[pos + 1] == 'x') {
        end = canon_number(bytes, sz, pos + 2, 16, &number);
    } else {
        end = canon_number(bytes, sz, pos, 10, &number);
    }
    return canon_known_id(canon, number, objects, object_cnt, ordinal) ? end : pos;
}

td_val_t
td_canon_text(td_canon_t *canon, PyObject *message, PyObject *const *objects, size_t object_cnt)
{
    canon_text_t text   = {0};
    PyObject    *keep   = NULL;
    Py_ssize_t   len    = 0;
    char const  *bytes  = td_canon_utf8(message, &len, &keep);
    size_t       sz     = (size_t)len;
    size_t       done   = 0;
    bool         inside = false; /* the character before belongs to a number or name */
    td_val_t     val;

    for (size_t at = 0; bytes != NULL && at < sz;) {
        uint32_t ordinal;
        size_t   end = at;

        if (!inside && canon_digit(bytes[at], 10) >= 0) {
            end = canon_id_end(canon, bytes, sz, at, objects, object_cnt, &ordinal);
        }
        inside = canon_digit(bytes[at], 10) >= 0;
        if (end == at) {
            at++;
            continue;
        }
        canon_text_add(&text, bytes + done, at - done);
        canon_text_add_ordinal(&text, ordinal);
        done = at = end;
        inside    = false;
    }
    canon_text_add(&text, bytes == NULL ? "" : bytes + done, sz - done);
    val = text.failed ? TD_VAL_NONE : td_obs_str(canon->obs, text.bytes, text.sz);
    td_free(text.bytes);
    Py_XDECREF(keep);
    return val;
}
