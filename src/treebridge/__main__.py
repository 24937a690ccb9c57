"""`python -m treebridge`."""

from treebridge.cli import main

main()
