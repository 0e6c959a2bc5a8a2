"""Which language texts are in, by their letters and commonest words, and whether rewards read them as English.

It tells texts that are not English from those that are, to name the option that is missing; it decides no score. Close
languages, such as Danish and Norwegian, may be taken for one another.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice

from rewards.text.languages import NAMES
from rewards.text.words import nfc, pattern, words

LOOKED_AT = 300  # texts, of each so many letters
OF_EACH = 1000
MOSTLY = 0.5  # of the letters
# What the signature of a metric has that reads English, unless it names another language.
ENGLISH = re.compile(r"tokenizer:official|stems:nltk|stopwords:(spacy|nltk)")
FEWEST = 30  # words or, without spaces between them, letters
COMMON = 0.06  # the least share of a language's commonest words in its prose; they are an eighth to a third
# Of the languages whose letters another one has, too: their commonest words, without those that are common elsewhere.
COMMONEST = {
    "en": "the of and to in is that for was with on it as by at from his her are be this have has said not but",
    "fr": "le la les des et est une dans pour que qui sur avec par au du pas plus ce son cette ont été",
    "de": "der die das und ist nicht mit von ein eine den dem im zu auf für sich des wird auch als nach wurde",
    "es": "el la los las que en y por con una del se para su al es más fue lo como pero sus",
    "it": "il di che la e un una per non è del della in con sono gli nel alla si da più le dei",
    "pt": "o que de da do não uma com os para em no na um se por mais ao dos das como foi",
    "nl": "de het een van en dat is niet op te zijn met voor die aan er om door ook wordt naar werd",
    "sv": "och att det som en är på för av med till den inte har om ett var från",
    "da": "og at det er en til af på for den med der har ikke et blev som fra",
    "no": "og det er på som en av til for at med har ikke den et ble fra",
    "fi": "ja on ei se että oli hän mukaan myös kun mutta sen ovat joka kanssa",
    "hu": "a az és hogy nem egy is volt meg csak már mint azt szerint vagy",
    "ro": "și de la în a cu nu este un o din pe care că pentru mai fost sau",
    "pl": "i w na się z nie do jest to że o jak po co za od przez są był oraz",
    "cs": "a se na je v že s z do to o pro ve jako by jsou byl ale které podle",
    "sk": "a sa na je v že s z do to o pre vo ako by sú bol ale ktoré podľa",
    "hr": "i je u se na da su za od s koji što kao bi nije iz te će",
    "tr": "ve bir bu için da de ile olarak çok daha en olan gibi sonra ne kadar var",
    "id": "yang dan di untuk dengan ini dari dalam pada tidak itu akan ke juga oleh adalah telah",
    "vi": "và của là có không được cho một trong với các người đã những này khi",
    "sw": "na ya wa kwa ni katika za la kuwa hii cha hiyo alisema pia",
    "hi": "है के में की को से का और ने पर हैं कि यह भी नहीं था इस",
    "mr": "आहे आणि या ने च्या ला ही मध्ये होते केले आहेत तर हे",
    "ne": "छ को मा र ले का पनि गरेको छन् भएको यो हो लागि",
    "ar": "في من على إلى أن عن التي الذي هذا هذه كان ما لا بعد مع وقد",
    "fa": "در از به که این را با است برای آن می بود شده های خود یک",
    "ur": "کے میں کی ہے کا سے اور کو نے کہ اس پر ہیں نہیں ایک بھی",
    "ru": "и в не на что с он по как это за из от но его для был",
    "uk": "і в не на що з та до у як це за від але його для був є",
    "bg": "на и да в за се от е са не по с като че ще беше",
    "sr": "и је у да се на су за од са који што као није из",
}  # fmt: skip
# Languages by a script that is theirs, or that they are the most likely one to write.
SCRIPTS = {
    "ko": "Hangul", "th": "Thai", "lo": "Lao", "km": "Khmer", "my": "Myanmar", "bn": "Bengali", "ta": "Tamil",
    "te": "Telugu", "kn": "Kannada", "ml": "Malayalam", "gu": "Gujarati", "pa": "Gurmukhi", "or": "Oriya",
    "si": "Sinhala", "bo": "Tibetan", "he": "Hebrew", "el": "Greek", "hy": "Armenian", "ka": "Georgian",
    "am": "Ethiopic", "zh": "Han",
}  # fmt: skip


def language_in(texts: Iterable[str]) -> str | None:
    """The ISO 639-1 code of the language that most of the texts are in; None where that is not clear."""
    text = _sample(texts)
    letters = len(pattern(r"\p{L}").findall(text))
    if letters < FEWEST:
        return None
    if len(pattern(r"[\p{Hiragana}\p{Katakana}]").findall(text)) > 0.1 * letters:
        return "ja"
    for code, script in SCRIPTS.items():
        if len(pattern(rf"(?=\p{{L}})\p{{{script}}}").findall(text)) > letters / 2:
            return code
    found = Counter(words(text))
    if found.total() < FEWEST:
        return None
    shares = {code: sum(found[word] for word in of.split()) / found.total() for code, of in COMMONEST.items()}
    best = max(shares, key=lambda code: shares[code])
    return best if shares[best] > COMMON and (best == "en" or shares[best] > 1.5 * shares["en"]) else None


def outside_latin(texts: Iterable[str]) -> float:
    """The share of letters that are not a to z among the letters of some texts; 0 for none."""
    text = _sample(texts)
    letters = len(pattern(r"\p{L}").findall(text))
    return 1 - len(pattern("[a-z]").findall(text)) / letters if letters else 0.0


def _sample(texts: Iterable[str]) -> str:
    return nfc(" ".join(text[:OF_EACH] for text in islice(texts, LOOKED_AT))).lower()


def read_as_english(signatures: Mapping[str, str], texts: Iterable[str], option: str = "--language ") -> list[str]:
    """The line that says that metrics (name -> signature) read texts as English that are not; [] where all is well.

    ``option`` is what to write before the code of a language.
    """
    metrics = [name for name, text in signatures.items() if ENGLISH.search(text) and "|language:" not in text]
    if not metrics:
        return []
    looked_at = list(islice(texts, LOOKED_AT))
    language, outside = language_in(looked_at), outside_latin(looked_at)
    if language == "en" or (language is None and outside <= MOSTLY):
        return []
    what = "are not English" if language is None else f"look {NAMES[language]}"
    lost = f" ({outside:.0%} of their letters are not a to z)" if outside > MOSTLY else ""
    fix = f"{option}{language or 'CODE'}, or tokenizer=unicode and stemmer=false"
    return [f"The texts {what}{lost}, but {', '.join(metrics)} read them as English; give {fix}."]
