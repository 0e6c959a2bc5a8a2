"""Public data of judgments: a reader each, from a path to `Judgments`, by name in `READERS`."""

HUB = "hf"
OF_STUDY = "judged.jsonl"  # in the folder that `human-eval analyse` wrote
READERS = {
    "chaganty2018": "rlsum.judgments.public.chaganty:chaganty2018",
    "realsumm": "rlsum.judgments.public.realsumm:realsumm",
    "asap-aes": "rlsum.judgments.public.asap:asap_aes",
    "asap-sas": "rlsum.judgments.public.asap:asap_sas",
    "huse": "rlsum.judgments.public.huse:huse",
    "sts": "rlsum.judgments.public.sts:sts",
    "wmt-da": "rlsum.judgments.public.wmt:wmt_da",
    "zhang2023": "rlsum.judgments.public.pairwise:zhang2023",
    "squality": "rlsum.judgments.public.squality:squality",
    "tldr": "rlsum.judgments.public.pairwise:tldr",
    "summeval": "rlsum.judgments.public.summaries:summeval",
    "frank": "rlsum.judgments.public.summaries:frank",
    "rose": "rlsum.judgments.public.summaries:rose",
    HUB: "rlsum.judgments.registry:hub",
}
