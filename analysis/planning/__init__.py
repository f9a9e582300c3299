"""Which draft length at which batch: the plan, its schedule, and what a schedule loses."""
