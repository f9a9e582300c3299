"""From printed numbers to counts, and sums of them: what all formats share."""
