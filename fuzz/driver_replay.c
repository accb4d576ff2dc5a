/* driver_replay.c: a main() for a target where there is no engine.

   Runs every file given, and every file below every folder given, four times
   each: a run that differs from the one before it shows state that leaks from
   input to input.  It also stands in for the engine's own mutator, so that ours
   links and can be tested everywhere. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "target/td_target.h"

#define CAT_(a, b) a##b
#define CAT(a, b)  CAT_(a, b)
#define STR_(a)    #a
#define STR(a)     STR_(a)

enum { RUN_CNT = 4, PATH_SZ = 4096, EXIT_BAD_INPUT = 2, EXIT_NOTHING = 3 };

static size_t file_cnt;

/* Changes one byte: all that a mutator without an engine needs. */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t sz, size_t sz_max);

__attribute__((weak)) size_t
LLVMFuzzerMutate(uint8_t *data, size_t sz, size_t sz_max)
{
    if (sz == 0 && sz_max > 0) {
        data[0] = 0;
        return 1;
    }
    for (size_t idx = 0; idx < sz; idx++) {
        data[idx] ^= (uint8_t)(1u << (idx % 8));
    }
    return sz;
}

static int
replay_bytes(char const *path, FILE *file)
{
    int      failed = 1;
    uint8_t *data   = NULL;
    long     sz     = -1;

    if (fseek(file, 0, SEEK_END) == 0) {
        sz = ftell(file);
    }
    rewind(file);
    data = sz < 0 ? NULL : malloc((size_t)sz + 1);
    if (data != NULL && fread(data, 1, (size_t)sz, file) == (size_t)sz) {
        for (int run = 0; run < RUN_CNT; run++) {
            CAT(td_target_, TD_TARGET)(data, (size_t)sz);
        }
        file_cnt++;
        failed = 0;
    } else {
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    free(data);
    return failed;
}

static int replay(char const *path);

static int
replay_folder(char const *path, DIR *folder)
{
    int            failed = 0;
    struct dirent *entry;

    while ((entry = readdir(folder)) != NULL) {
        char below[PATH_SZ];

        if (entry->d_name[0] == '.') {
            continue;
        }
        if (snprintf(below, sizeof below, "%s/%s", path, entry->d_name) >= PATH_SZ) {
            fprintf(stderr, "%s: too long\n", path);
            failed = 1;
        } else {
            failed |= replay(below);
        }
    }
    return failed;
}

static int
replay(char const *path)
{
    int         failed = 1;
    struct stat there;
    FILE       *file   = NULL;
    DIR        *folder = NULL;

    if (stat(path, &there) == 0 && S_ISDIR(there.st_mode)) {
        folder = opendir(path);
        failed = folder == NULL ? 1 : replay_folder(path, folder);
        if (folder != NULL) {
            closedir(folder);
        }
        return failed;
    }
    file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s: No such file or directory\n", path);
        return 1;
    }
    failed = replay_bytes(path, file);
    fclose(file);
    return failed;
}

int
main(int argc, char **argv)
{
    int failed = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: %s FILE|FOLDER...\n", argv[0]);
        return EXIT_BAD_INPUT;
    }
    td_target_prepare(STR(TD_TARGET));
    for (int idx = 1; idx < argc; idx++) {
        failed |= replay(argv[idx]);
    }
    printf("%s: %zu inputs, %d times each\n", STR(TD_TARGET), file_cnt, (int)RUN_CNT);
    if (failed != 0) {
        return EXIT_BAD_INPUT;
    }
    return file_cnt == 0 ? EXIT_NOTHING : 0;
}
