/* td_obs_private.h: what the files of this room share about td_obs_t.

   A value is a row of obs->vals, its id the row's index; row 0 is no value.
   Rows are found through an open addressing table of (hash, id) pairs, which is
   emptied slot by slot through the rows that use it, so that a reset costs what
   the input did. */
#ifndef TD_OBSERVE_OBS_PRIVATE_H
#define TD_OBSERVE_OBS_PRIVATE_H

#include "base/td_arena.h"
#include "observe/td_forms.h"
#include "observe/td_obs.h"

typedef struct {
    union {
        int64_t         number; /* INT; BOOL: 0 or 1 */
        uint64_t        bits;   /* FLOAT */
        char const     *text;   /* STR, BIGINT: in the arena, NUL behind it */
        td_val_t const *items;  /* LIST, BAG, RECORD: in the arena */
    };
    uint32_t cnt;         /* items, or bytes of text */
    uint32_t slot;        /* of the table */
    uint32_t ref;         /* codec: its number, valid when epoch is obs->epoch */
    uint32_t epoch;
    uint16_t class_id;    /* RECORD */
    uint16_t depth;       /* 0 for atoms */
    uint8_t  kind;        /* td_val_kind_t */
    uint8_t  has_record;  /* a record, or one is inside */
} td_obs_row_t;

typedef struct {
    uint32_t hash;
    td_val_t val; /* TD_VAL_NONE: free */
} td_obs_slot_t;

typedef struct {
    void const *identity; /* NULL: free */
    uint32_t    ordinal;
} td_obs_identity_t;

typedef struct {
    td_obs_identity_t *slots;    /* owned */
    uint32_t          *used;     /* owned: slot of each ordinal */
    uint32_t           cnt;
    uint32_t           slot_cnt; /* a power of two, or 0 */
} td_obs_space_t;

enum {
    TD_OBS_WHY_SZ   = 192,
    TD_OBS_WORD_CNT = TD_SOURCE_CLASS_CNT + 16, /* words that forms use again and again */
};

struct td_obs {
    td_arena_t      arena;
    td_obs_row_t   *vals;      /* owned */
    uint32_t        val_cnt, val_cap;
    td_obs_slot_t  *slots;     /* owned */
    uint32_t        slot_cnt;  /* a power of two */
    uint32_t        epoch;     /* of the codec's numbers */
    td_val_t       *scratch;   /* owned: sorting and collecting */
    size_t          scratch_cap;
    uint8_t        *bytes;     /* owned: the codec's output in the making */
    size_t          bytes_sz, bytes_cap;
    td_obs_space_t  spaces[TD_SPACE_CNT];
    td_val_t        atoms[4];  /* absent, null, false, true once made */
    td_val_t        words[TD_OBS_WORD_CNT]; /* td_forms.c: once made */
    td_status_t     status;
    char            why[TD_OBS_WHY_SZ];
};

/* td_obs_fail makes status stick (the first one only) and gives TD_VAL_NONE. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
td_val_t td_obs_fail(td_obs_t *obs, td_status_t status, char const *format, ...);

/* td_obs_scratch gives room for cnt values, good until the next call; NULL: no
   memory, which sticks. */
td_val_t *td_obs_scratch(td_obs_t *obs, size_t cnt);

/* td_obs_container makes a list, a bag from sorted members, or a record from
   values in schema order (class_id TD_CLASS_NONE but for the last). */
td_val_t td_obs_container(td_obs_t *obs, td_val_kind_t kind, td_class_t class_id,
                          td_val_t const *items, size_t item_cnt);

/* td_obs_room sees to it that need more bytes fit into obs->bytes; false: no
   memory, which sticks. */
bool td_obs_room(td_obs_t *obs, size_t need);

/* td_form_source_class gives the class of a source tree (outermost link only);
   TD_SOURCE_CLASS_CNT when val is none. */
td_source_class_t td_form_source_class(td_obs_t const *obs, td_val_t val);

/* td_form_is_guard says whether val has the shape of a guard row. */
bool td_form_is_guard(td_obs_t const *obs, td_val_t val);

/* td_form_is_form says whether val is a list that begins with a word and holds
   no record: one value for whoever compares or shows. */
bool td_form_is_form(td_obs_t const *obs, td_val_t val);

/* td_obs_is_guards says whether val is a bag of guard rows, at least one. */
bool td_obs_is_guards(td_obs_t const *obs, td_val_t val);

/* td_obs_guards_by_name gives the members of such a bag in the order in which
   people look for them: by name, then kind, then content.  Lives in the arena;
   NULL: no memory, which sticks. */
td_val_t const *td_obs_guards_by_name(td_obs_t *obs, td_val_t guards);

/* td_obs_find_item gives record's value of attribute, TD_VAL_NONE when its class
   compares no such attribute. */
td_val_t td_obs_find_item(td_obs_t const *obs, td_val_t record, char const *attribute);

/* td_obs_source_text is td_form_source_name, "?" for a tree that has no name. */
char const *td_obs_source_text(td_obs_t *obs, td_val_t tree, size_t *sz);

/* td_obs_is_left_out says whether a record's field is not worth showing: absent,
   or the null that a Root has for what did not come out of it. */
bool td_obs_is_left_out(td_obs_t const *obs, td_val_t record, size_t idx);

/* Of shown text: shared values are written out, hostile ones without end. */
enum { TD_SHOW_SZ_MAX = 1 << 28 };

/* td_utf8_next reads one character (lone surrogates count as characters) from
   text at *off and moves *off behind it; UINT32_MAX when there is none that is
   well-formed. */
uint32_t td_utf8_next(char const *text, size_t sz, size_t *off);

/* The two checks of text that values are held to. */
bool td_utf8_is_valid  (char const *text, size_t sz);
bool td_bigint_is_valid(char const *text, size_t sz); /* as str(int) spells one outside int64 */

static inline td_obs_row_t const *
td_obs_row(td_obs_t const *obs, td_val_t val)
{
    return &obs->vals[val];
}

#endif
