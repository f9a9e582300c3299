"""What `specdec app` hands to `streamlit run`: the same few lines as app.py, inside the package."""

from app_pages.shell import main

main()
