/* driver_libfuzzer.c: the entry points that libFuzzer calls, and engines that
   speak its language (AFL++ through its driver library, a fuzzing service). */
#include <stdint.h>
#include <string.h>

#include "target/td_process.h"
#include "target/td_target.h"

#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)
#define STR_(a)    #a
#define STR(a)     STR_(a)

int    LLVMFuzzerInitialize(int *argc, char ***argv);
int    LLVMFuzzerTestOneInput(uint8_t const *data, size_t data_sz);
size_t LLVMFuzzerMutate(uint8_t *data, size_t sz, size_t sz_max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t sz, size_t sz_max, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(uint8_t const *left, size_t left_sz, uint8_t const *right,
                                 size_t right_sz, uint8_t *out, size_t out_sz_max, unsigned seed);

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    td_target_prepare(STR(TD_TARGET));
    return 0;
}

int
LLVMFuzzerTestOneInput(uint8_t const *data, size_t data_sz)
{
    return CAT(td_target_, TD_TARGET)(data, data_sz);
}

size_t
LLVMFuzzerCustomMutator(uint8_t *data, size_t sz, size_t sz_max, unsigned seed)
{
    size_t mutated = td_process_mutate(data, sz, sz_max, seed);

    return mutated != 0 ? mutated : LLVMFuzzerMutate(data, sz, sz_max);
}

size_t
LLVMFuzzerCustomCrossOver(uint8_t const *left, size_t left_sz, uint8_t const *right,
                          size_t right_sz, uint8_t *out, size_t out_sz_max, unsigned seed)
{
    size_t sz = td_process_cross(left, left_sz, right, right_sz, out, out_sz_max, seed);

    if (sz == 0) { /* no room for a program: what there is room for of the left one */
        sz = left_sz < out_sz_max ? left_sz : out_sz_max;
        memcpy(out, left, sz);
    }
    return sz;
}
