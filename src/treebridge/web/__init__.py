"""`treebridge serve`: a web page and a REST interface (extra `web`)."""
