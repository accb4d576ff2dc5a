/* td_tables.h: module data of Dynamo, as the harness hands it over.

   The harness reads Dynamo's tables as data (oracle/tables.py) and gives them as
   one dict whose keys are listed here.  Classes and objects are known by
   identity; *ids* are Python sets of id(object).  What a program can change
   (LIVE) is read at each build from the live set. */
#ifndef TD_BUILDER_TABLES_H
#define TD_BUILDER_TABLES_H

#include <stdbool.h>
#include <stddef.h>

#include "py/td_py.h"

/* X(key, kind)  kind: CLASS a class; OPTION a class, or None where the library is
   missing; OBJECT anything; IDS a set of int; TEXT a str. */
#define TD_TABLE_LIST(X)                                                                           \
    X(enum_class, CLASS)                                                                           \
    X(flag_class, CLASS) X(abc_meta, CLASS) X(ordered_dict, CLASS) X(default_dict, CLASS)          \
        X(deque, CLASS) X(odict_values, CLASS) X(tuple_iterator, CLASS) X(nullcontext, CLASS)      \
            X(partial, CLASS) X(special_generic_alias, CLASS) X(union_generic_alias, CLASS)        \
                X(tensor, CLASS) X(parameter, CLASS) X(fake_tensor, CLASS) X(tensor_meta, CLASS)   \
                    X(size, CLASS) X(device, CLASS) X(dtype, CLASS) X(module, CLASS) X(            \
                        op_overload, CLASS) X(op_overload_packet, CLASS) X(op_namespace, CLASS)    \
                        X(higher_order_operator, CLASS) X(script_function, CLASS)                  \
                            X(dummy_module, CLASS) X(function_meta, CLASS) X(function_ctx, CLASS)  \
                                X(generator, CLASS) X(capsule, CLASS) X(stream, CLASS) X(          \
                                    optimizer, CLASS) X(sym_int, CLASS) X(sym_bool, CLASS)         \
                                    X(ndarray, OPTION) X(np_number, OPTION) X(device_mesh, OPTION) \
                                        X(placement, OPTION) X(process_group, OPTION)              \
                                            X(collectives,                                         \
                                              OBJECT) /* tuple of (function, its stand-in) */      \
        X(signature, OBJECT) X(comptime, OBJECT) X(dataclass_fields, OBJECT) X(isinstance, OBJECT) \
            X(as_tensor, OBJECT) X(new_tensor, OBJECT) /* torch.as_tensor, torch.tensor */         \
        X(clone, OBJECT)                               /* torch.clone */                           \
        X(from_numpy, OBJECT) X(cpu, OBJECT)                                                       \
            X(mode_counts, OBJECT) /* tuple of functions: how many modes are on, of each sort */   \
        X(number_dtypes, OBJECT)   /* tuple of (numpy's class of a number, torch's dtype) */       \
        X(tag_checkpoint, OBJECT) X(wrap_checkpoint, OBJECT)                                       \
            X(tensor_dunder_fns, OBJECT) /* tuple of functions */                                  \
        X(tensor_dunder_remap, OBJECT)   /* tuple of (function, what stands for it) */             \
        X(checkpoint, OBJECT) X(supported_nodes, OBJECT) X(object_setattr, OBJECT)                 \
            X(module_setattr, OBJECT) X(skip_allowlist, OBJECT) /* frozenset of file names */      \
        X(skip_dirs, OBJECT) /* tuple of prefixes of file names */                                 \
        X(torch_dir, TEXT) X(dynamo_dir, TEXT)                                                     \
            X(fx_reserved, OBJECT) /* frozenset of names that no node may have */                  \
        X(dataclass_field, OBJECT) /* the sort of a dataclass's fields that are no pseudo-field */ \
        X(no_torch_function, CLASS) /* switches __torch_function__ off while it is entered */      \
        X(memory_formats, OBJECT)   /* tuple */                                                    \
        X(strided, OBJECT)          /* the layout */                                               \
        X(optimized_module, CLASS) X(rnn, CLASS) X(gru, CLASS) X(lstm, CLASS)                      \
            X(lazy_module, CLASS) X(data_parallel, OPTION) X(script_module, CLASS)                 \
                X(module_getattr, OBJECT) X(module_named_parameters, OBJECT)                       \
                    X(module_named_buffers, OBJECT) X(module_named_modules, OBJECT)                \
                        X(module_named_members, OBJECT)                                            \
                            X(generation_tracker, CLASS)        /* its `generation` moves: LIVE */ \
        X(dynamic_classes, OBJECT) X(generation_values, OBJECT) /* LIVE dicts: id -> value */      \
        X(lazy_modules, OBJECT) /* LIVE dict: root module -> what is still to run */               \
        X(default_factory_class, CLASS) X(variable_tracker, CLASS) X(immutable_list, CLASS)        \
            X(int_results, OBJECT) /* tuple of functions whose ints stay in the graph */           \
        X(fx_special,                                                                              \
          OBJECT) /* tuple: set_rng_state, _DisableFuncTorch, _is_in_bad_fork,         \
                                 manual_seed, Stream, current_stream */           \
        X(allowed_ids, IDS) X(disallowed_ids, IDS) X(user_allowed_ids, IDS) /* LIVE */             \
        X(builtin_ids, IDS) X(numpy_ids, IDS)

typedef struct {
#define X(key, kind) PyObject *key; /* borrowed from the dict */
    TD_TABLE_LIST(X)
#undef X
} td_tables_t;

/* td_tables_load fills tables from dict (borrowed, outlives them).  False: a key
   is missing or of another kind; why (why_sz bytes) names it. */
bool td_tables_load(td_tables_t *tables, PyObject *dict, char *why, size_t why_sz);

/* td_dict_find gives dict[key], borrowed from dict, which has keys of type str
   alone, so that no code runs.  NULL, no exception set: it is not there, or memory
   ran out. */
PyObject *td_dict_find(PyObject *dict, char const *key);

/* td_dict_find_kept is td_dict_find(dict, text) whose key is made once: *name is NULL at
   first, then the interned str, which stays for good. */
PyObject *td_dict_find_kept(PyObject *dict, PyObject **name, char const *text);

/* td_tables_has says whether id(object) is in ids.  -1: a Python exception. */
int td_tables_has(PyObject *ids, PyObject *object);

#endif
