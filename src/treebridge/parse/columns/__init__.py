"""The columns beside the tree: XPOS and FEATS by classifiers, LEMMA by edit scripts."""
