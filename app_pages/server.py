"""How the app is served when no .streamlit/config.toml lies in the working directory."""

from __future__ import annotations

STREAMLIT_FLAGS: tuple[str, ...] = (
    "--browser.gatherUsageStats=false",
    "--server.maxUploadSize=10",
    "--server.enableXsrfProtection=true",
    "--server.enableCORS=true",
    "--client.showErrorDetails=type",
    "--client.toolbarMode=minimal",
    "--global.disableWidgetStateDuplicationWarning=true",
    "--theme.light.primaryColor=#0072B2",
    "--theme.light.greenColor=#00795A",
    "--theme.light.redColor=#C24E00",
    "--theme.light.orangeColor=#8F6200",
    "--theme.light.blueColor=#0072B2",
    "--theme.dark.primaryColor=#1F7BC0",
    "--theme.dark.greenColor=#3FC79A",
    "--theme.dark.redColor=#F08A4B",
    "--theme.dark.orangeColor=#E69F00",
    "--theme.dark.blueColor=#56B4E9",
)
"""The settings of .streamlit/config.toml as flags of `streamlit run`."""
