"""Which of the doctor's findings are about the observation that is explained."""

from __future__ import annotations

from analysis.diagnosis.finding import Finding
from analysis.doctor import Diagnosis, diagnose
from simulator import Observation


def applying(diagnosis: Diagnosis, subject: Observation) -> tuple[Finding, ...]:
    """Findings of the subject alone, those that name it, and those of a sweep that name nobody.

    What is found in the subject too, but shown on another observation, is told of the subject.
    """
    alone = diagnose(subject)
    found = []
    for each in diagnosis.findings:
        if not each.where or (subject.name and subject.name in each.where):
            found.append(each)
        elif (own := alone.finding(each.code)) is not None:
            found.append(own)
    return tuple(found)
