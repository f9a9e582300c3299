"""A target, its draft and a machine as one value: what a round takes and gives at every batch."""
