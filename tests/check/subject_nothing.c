/* subject_nothing.c: a shared object that is no subject. */
int td_nothing_here(void);

int
td_nothing_here(void)
{
    return 0;
}
