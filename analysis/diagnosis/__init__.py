"""The rules of the doctor, a small file per family; `analysis.doctor` applies them."""
