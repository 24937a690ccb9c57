"""What comes in: treebanks, bitext, raw text, artificial languages."""
