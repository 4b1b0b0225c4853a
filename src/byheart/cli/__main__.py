"""`python -m byheart.cli`, where the `byheart` command is not on the path."""

from byheart.cli import main

main()
