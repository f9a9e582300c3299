"""Start with `streamlit run app.py`."""

from app_pages.shell import main

main()
