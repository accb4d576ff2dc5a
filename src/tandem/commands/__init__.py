"""One module a command; see tandem.cli for what each provides."""
