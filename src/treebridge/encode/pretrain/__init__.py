"""A small BERT from raw text, for languages that have none: `treebridge pretrain`."""
