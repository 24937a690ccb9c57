"""`treebridge serve`: a page and a REST interface (extra `web`)."""
