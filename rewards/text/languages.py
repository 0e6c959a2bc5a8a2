"""What depends on the language of texts: how they fall into words, stems, stop words and sentences. One table."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal

from rewards.errors import RewardError
from rewards.options import nearest

Splitter = Literal["unicode", "character"]

# ISO 639-1 codes. Of all 183, those in which corpora of summaries or tokenizers exist.
NAMES = {
    "af": "Afrikaans", "am": "Amharic", "ar": "Arabic", "az": "Azerbaijani", "be": "Belarusian", "bg": "Bulgarian",
    "bn": "Bengali", "bo": "Tibetan", "bs": "Bosnian", "ca": "Catalan", "cs": "Czech", "cy": "Welsh", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "eo": "Esperanto", "es": "Spanish", "et": "Estonian",
    "eu": "Basque", "fa": "Persian", "fi": "Finnish", "fo": "Faroese", "fr": "French", "ga": "Irish",
    "gd": "Scottish Gaelic", "gl": "Galician", "gu": "Gujarati", "ha": "Hausa", "he": "Hebrew", "hi": "Hindi",
    "hr": "Croatian", "ht": "Haitian", "hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "ig": "Igbo",
    "is": "Icelandic", "it": "Italian", "ja": "Japanese", "jv": "Javanese", "ka": "Georgian", "kk": "Kazakh",
    "km": "Khmer", "kn": "Kannada", "ko": "Korean", "ku": "Kurdish", "ky": "Kyrgyz", "la": "Latin",
    "lb": "Luxembourgish", "lg": "Luganda", "lo": "Lao", "lt": "Lithuanian", "lv": "Latvian", "mg": "Malagasy",
    "mi": "Maori", "mk": "Macedonian", "ml": "Malayalam", "mn": "Mongolian", "mr": "Marathi", "ms": "Malay",
    "mt": "Maltese", "my": "Burmese", "nb": "Norwegian Bokmal", "ne": "Nepali", "nl": "Dutch",
    "nn": "Norwegian Nynorsk", "no": "Norwegian", "om": "Oromo", "or": "Odia", "pa": "Punjabi", "pl": "Polish",
    "ps": "Pashto", "pt": "Portuguese", "rn": "Kirundi", "ro": "Romanian", "ru": "Russian", "rw": "Kinyarwanda",
    "sa": "Sanskrit", "sd": "Sindhi", "si": "Sinhala", "sk": "Slovak", "sl": "Slovenian", "so": "Somali",
    "sq": "Albanian", "sr": "Serbian", "sv": "Swedish", "sw": "Swahili", "ta": "Tamil", "te": "Telugu", "tg": "Tajik",
    "th": "Thai", "ti": "Tigrinya", "tk": "Turkmen", "tl": "Tagalog", "tn": "Tswana", "tr": "Turkish", "tt": "Tatar",
    "ug": "Uyghur", "uk": "Ukrainian", "ur": "Urdu", "uz": "Uzbek", "vi": "Vietnamese", "xh": "Xhosa", "yi": "Yiddish",
    "yo": "Yoruba", "zh": "Chinese", "zu": "Zulu",
}  # fmt: skip

# Scripts of these languages do not separate words by spaces.
UNSPACED = frozenset({"ja", "km", "lo", "my", "th", "zh"})

# The names of NLTK's stemmers; English has Porter's as in rouge-score, the others Snowball's.
STEMMERS = {
    "ar": "arabic", "da": "danish", "de": "german", "en": "porter", "es": "spanish", "fi": "finnish", "fr": "french",
    "hu": "hungarian", "it": "italian", "nb": "norwegian", "nl": "dutch", "nn": "norwegian", "no": "norwegian",
    "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish",
}  # fmt: skip

# A number with a full stop is an ordinal in these languages. Nouns have a capital in some, so that one behind a number
# does not tell whether the sentence ended.
ORDINALS = frozenset(
    {"bs", "cs", "da", "de", "et", "eu", "fi", "fo", "hr", "hu", "is", "lb", "lt", "lv", "nb", "nn", "no", "pl", "sk",
     "sl", "sr", "tr"}
)  # fmt: skip
CAPITAL_NOUNS = frozenset({"de", "lb"})

# spaCy's tokenizer where it needs no further package; other languages have its tokenizer for any language.
PIPELINES = frozenset(
    {"af", "am", "ar", "az", "bg", "bn", "bo", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fo",
     "fr", "ga", "gd", "gu", "he", "hi", "hr", "ht", "hu", "hy", "id", "is", "it", "kn", "ky", "la", "lb", "lg", "lt",
     "lv", "mk", "ml", "mr", "ms", "nb", "ne", "nl", "nn", "pl", "pt", "ro", "ru", "sa", "si", "sk", "sl", "sq", "sr",
     "sv", "ta", "te", "ti", "tl", "tn", "tr", "tt", "uk", "ur", "yo"}
)  # fmt: skip
STOP_WORDS = (PIPELINES | {"ja", "ko", "th", "vi", "zh"}) - {"fo", "nn"}  # with a list in spaCy
DOTTED = frozenset({"az", "tr"})  # the lower case of I is a dotless i


@dataclass(frozen=True)
class Language:
    """What a language, named by its ISO 639-1 ``code``, decides; make it by ``language_of``, which checks the code."""

    code: str

    @property
    def name(self) -> str:
        """The English name."""
        return NAMES[self.code]

    @property
    def splitter(self) -> Splitter:
        """What is a token where no option says it: a word, or a character in languages without spaces."""
        return "character" if self.code in UNSPACED else "unicode"

    @property
    def stemmer(self) -> str | None:
        """NLTK's name of the stemmer; None where it has none."""
        return STEMMERS.get(self.code)

    @property
    def pipeline(self) -> str:
        """spaCy's name of the tokenizer; ``xx`` is its tokenizer for any language."""
        return self._spacy if self._spacy in PIPELINES else "xx"

    @property
    def stop_list(self) -> str | None:
        """spaCy's name of the list of stop words; None where it has none."""
        return self._spacy if self._spacy in STOP_WORDS else None

    @property
    def _spacy(self) -> str:
        return "nb" if self.code == "no" else self.code

    def lower(self, text: str) -> str:
        """Lower case."""
        return (text.replace("\u0130", "i").replace("I", "\u0131") if self.code in DOTTED else text).lower()


ENGLISH = Language("en")


@lru_cache
def language_of(code: str | None) -> Language:
    """The language of an ISO 639-1 code; None is English. Raises RewardError for another code."""
    check_language(code)
    return ENGLISH if code is None else Language(code)


def check_language(code: str | None) -> None:
    """Raise RewardError unless ``code`` is known; None is."""
    if code is None or code in NAMES:
        return
    by_name = {name.lower(): key for key, name in NAMES.items()}
    near = by_name.get(str(code).lower(), str(code).lower().replace("_", "-").partition("-")[0])
    fix = f"; did you mean {near!r}?" if near in NAMES else nearest(str(code), NAMES)
    raise RewardError(f"language={code!r} is unknown{fix}; the codes are {', '.join(NAMES)}")


Code = Annotated[str, check_language]  # of options


@dataclass(eq=False, repr=False, kw_only=True)  # rewards that are dataclasses have their own
class LanguageOption:
    """The option of rewards that read words."""

    language: Code | None = None
    """ISO 639-1 code of the texts, such as fr, hi or ja; none: as for English"""
