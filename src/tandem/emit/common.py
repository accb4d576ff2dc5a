"""What every emitted script carries: small things.  Text; never imported here."""

def change(act, *operands):
    """What an object does not allow is left out."""
    try:
        act(*operands)
    except Exception:
        pass


def members_of(cls, members):
    """As many members as the class has fields, None for what is missing."""
    fields = getattr(cls, "n_sequence_fields", None) or len(getattr(cls, "_fields", ()))
    return (members + [None] * fields)[:fields]


def guard_rows(guards):
    """KIND and name of each guard, in a fixed order."""
    return sorted(f"{kind_of(guard)} {guard.name}" for guard in guards)


def kind_of(guard):
    function = getattr(guard.create_fn, "func", guard.create_fn)
    return function.__name__
