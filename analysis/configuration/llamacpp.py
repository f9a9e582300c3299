"""llama.cpp: flags of llama-server, for one batch size."""

from __future__ import annotations

from analysis.configuration.asked import Asked, Written
from analysis.configuration.forced import comparison, mean_length, opening, rates
from analysis.configuration.result import ConfigFile
from analysis.configuration.rounds import independent, pmf_of_survival
from analysis.configuration.wording import command, comment, number
from analysis.converting import equivalent_p
from analysis.deployment.undrafted import drafted_share

SERVE, LOAD = "llamacpp_serve.sh", "llamacpp_load_test.sh"

Options = list[tuple[str, str | None]]


def write_llamacpp(asked: Asked) -> Written:
    """The command that serves, and the one for load tests."""
    notes = (*asked.name_notes, *_notes(asked))
    options = _flags(asked)
    text = comment(*asked.introduction, *notes) + _command(asked, options)
    files = [ConfigFile(name=SERVE, text=text, kind="shell")]
    if asked.gamma:
        load = _load_test(asked, options)
        files.append(ConfigFile(name=LOAD, text=load, kind="shell", purpose="load test"))
    return tuple(files), notes


def _command(asked: Asked, options: Options) -> str:
    return command(["llama-server"], [("-m", asked.target_name), *options])


def _flags(asked: Asked) -> Options:
    gamma = asked.gamma
    if gamma == 0:
        return [("--spec-type", "none")]
    options: Options = [] if asked.draft_name is None else [("-md", asked.draft_name)]
    options.append(("--spec-type", asked.method.word))
    if asked.method.method == "ngram":
        return [*options, ("--spec-ngram-simple-size-m", str(gamma))]
    return [
        *options,
        ("--spec-draft-n-max", str(gamma)),
        ("--spec-draft-n-min", "0"),
        ("--spec-draft-p-min", "0"),
    ]


def _notes(asked: Asked) -> tuple[str, ...]:
    notes = list(
        asked.one_length_note(
            "llama.cpp has no schedule by batch size, one draft length for all its slots"
        )
    )
    if asked.devices > 1:
        notes.append(
            f"The plan is for {asked.devices} devices that run each layer together; llama.cpp takes all "
            "devices that it sees and gives each of them some of the layers unless --split-mode row is set."
        )
    if asked.gamma and asked.method.method == "ngram":
        notes.append(
            "--spec-ngram-simple-size-m is how many tokens are drafted behind a match; the n-gram "
            "that is looked up (--spec-ngram-simple-size-n) is left as it is."
        )
    elif asked.gamma:
        notes.append(
            "Names of 2026: before, --draft-max and --draft-min. --spec-draft-p-min 0 keeps drafts "
            "at full length, as the plan takes them: a threshold would end them by confidence, and "
            "accepted / drafted would mean something else."
        )
        if asked.method.method == "block":
            notes.append("llama.cpp cuts the draft at the block that its model was trained for.")
    return tuple(notes)


def _load_test(asked: Asked, options: Options) -> str:
    gamma, fit = asked.gamma, asked.acceptance
    share = drafted_share(fit)
    kept = rates(fit, gamma)
    length = mean_length(fit, gamma, drafted_only=True)
    p = equivalent_p(gamma=gamma, tokens_per_round=length)
    geometric = tuple(p**i for i in range(1, gamma + 1))
    lines = [
        opening(" (llama.cpp pull request 27711, August 2026)"),
    ]
    if kept is None:
        told = independent(pmf_of_survival(geometric, share))
        lines.append(
            "--spec-synth-len, tokens per round with the target's own: the fit has no rates by "
            f"position. llama.cpp takes one p for all positions then, {number(p)}."
        )
        forced = ("--spec-synth-len", number(length))
    else:
        told = independent(pmf_of_survival(kept, share))
        other = independent(pmf_of_survival(geometric, share)).spread(asked.tokens)
        lines.append(
            "--spec-synth-rates: P(the first i drafted tokens are all kept), not given the ones "
            f"before. --spec-synth-len {number(length)} has the same mean with one p for all "
            f"positions (sd of the tokens of a round {number(other.sd, 2)})."
        )
        forced = ("--spec-synth-rates", ",".join(number(share_, 6) for share_ in kept))
    lines += comparison(asked, gamma, told)
    if share < 1.0:
        lines.append(
            f"A draft is there in {share:.1%} of the rounds of the fit; the test needs prompts in "
            "which it is found as often, for without a draft nothing is forced."
        )
    return comment(*lines) + _command(asked, [*options, forced])
