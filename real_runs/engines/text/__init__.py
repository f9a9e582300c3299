"""From a stream to lines and objects, within bounds; what the text is made of, not what it means."""
