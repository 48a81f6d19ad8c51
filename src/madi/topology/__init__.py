"""From the user's graph to the engine's arrays: spanning tree, cut joints, path matrix, layout."""
