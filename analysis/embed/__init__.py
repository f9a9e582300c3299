"""The explorer as one HTML file that needs no network: `specdec embed`."""
