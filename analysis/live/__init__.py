"""Charts that recompute in the browser while a slider is dragged: Vega-Lite with bound parameters."""
