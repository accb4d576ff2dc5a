/* td_finding.c: a finding as a folder, or as a line and an abort. */
#include "target/td_finding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/td_alloc.h"
#include "check/td_render.h"
#include "target/td_process.h"

enum { PATH_SZ = 1024 };

/* A finding that cannot be kept would be lost: that ends the campaign, loudly. */
static void
require(bool done, char const *what, char const *path)
{
    char why[PATH_SZ + 200];

    if (!done) {
        snprintf(why, sizeof why, "a finding cannot be written: %s %s: %s", what, path,
                 strerror(errno));
        td_process_stop(why);
    }
}

static void
file_write(char const *folder, char const *name, void const *bytes, size_t sz)
{
    char  path[PATH_SZ];
    FILE *file;
    bool  written;

    require(snprintf(path, sizeof path, "%s/%s", folder, name) < PATH_SZ, "name", folder);
    file = fopen(path, "wb");
    require(file != NULL, "open", path);
    written = fwrite(bytes, 1, sz, file) == sz;
    written &= fflush(file) == 0 && fsync(fileno(file)) == 0;
    written &= fclose(file) == 0;
    require(written, "write", path);
}

static void
program_write(char const *folder, td_prog_t const *prog)
{
    uint8_t *bytes = NULL; /* owned */
    size_t   sz    = 0;
    char    *text  = td_prog_disasm(prog); /* owned */

    require(text != NULL && td_prog_encode(prog, &bytes, &sz) == TD_OK, "program", folder);
    file_write(folder, "program.tdm", bytes, sz);
    file_write(folder, "program.txt", text, strlen(text));
    td_free(bytes);
    td_free(text);
}

/* Several processes write into one folder: each fills one of its own and moves it
   into place; whoever comes second leaves it. */
static void
folder_write(char const *root, td_prog_t const *prog, char const *hash, char const *text,
             char const *json)
{
    char        place[PATH_SZ], temporary[PATH_SZ];
    struct stat there;

    require(snprintf(place, sizeof place, "%s/%s", root, hash) < PATH_SZ, "name", root);
    if (stat(place, &there) == 0) {
        return;
    }
    require(snprintf(temporary, sizeof temporary, "%s/.%s-%ld", root, hash, (long)getpid()) <
                PATH_SZ,
            "name", root);
    require(mkdir(temporary, 0777) == 0 || errno == EEXIST, "folder", temporary);
    program_write(temporary, prog);
    file_write(temporary, "log.txt", text, strlen(text));
    file_write(temporary, "finding.json", json, strlen(json));
    require(rename(temporary, place) == 0 || errno == EEXIST || errno == ENOTEMPTY, "folder",
            place);
}

void
td_finding_announce(td_prog_t const *prog, char const *hash, char const *headline, char const *text,
                    char const *json)
{
    char const *root = getenv("TANDEM_FINDINGS");
    char       *program;

    if (root != NULL && root[0] != '\0') {
        folder_write(root, prog, hash, text, json);
        fprintf(stderr, "tandem: finding %s: %s\n", hash, headline);
        return;
    }
    program = td_prog_disasm(prog);
    fprintf(stderr, "%s\n%s\n", program == NULL ? "" : program, text);
    fprintf(stderr, "ASSERTION FAILED: FuzzerHash=%s %s\n", hash, headline);
    fflush(NULL);
    abort();
}

void
td_finding_broken(td_prog_t const *prog, char const *why)
{
    char        hash[9];
    char const *root    = getenv("TANDEM_FINDINGS");
    char       *program = NULL; /* owned */

    td_render_hash(why, hash);
    if (root != NULL && root[0] != '\0') {
        folder_write(root, prog, hash, why,
                     "{\"schema\": 1, \"class\": \"harness\", \"signature\": null}\n");
        fprintf(stderr, "tandem: broken %s: %s\n", hash, why);
        return;
    }
    program = td_prog_disasm(prog);
    fprintf(stderr, "%s\n", program == NULL ? "" : program);
    td_free(program);
    td_process_stop(why);
}
