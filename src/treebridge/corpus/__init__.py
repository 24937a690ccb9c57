"""Input data: treebanks, bitexts, raw text, artificial languages."""
