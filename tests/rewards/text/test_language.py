"""The language of texts, by their script or stop words; None where it is not clear."""

from __future__ import annotations

from importlib import import_module

import pytest

from rewards.text.identification import language_in

TEXTS = {
    "zh": "市长昨天在市中心宣布了一项新的计划。许多居民对此表示欢迎。",
    "ja": "市長は昨日、新しい計画を発表した。多くの住民が歓迎している。",
    "ko": "시장은 어제 새로운 계획을 발표했다. 많은 주민들이 환영했다.",
    "th": "นายกเทศมนตรีประกาศแผนใหม่เมื่อวานนี้ ชาวบ้านจำนวนมากยินดี",
    "hi": "मेयर ने कल शहर में एक नई योजना की घोषणा की और कई लोगों ने उसका स्वागत किया है।",
    "el": "Ο δήμαρχος ανακοίνωσε χθες ένα νέο σχέδιο.",
    "ru": "Мэр вчера объявил о новом плане, и многие жители города были этому рады, но не все.",
    "uk": "Мер учора оголосив про новий план, і багато мешканців міста були цьому раді, але не всі.",
    "ar": "أعلن رئيس البلدية أمس عن خطة جديدة في المدينة وقد رحب بها كثير من السكان، "
    "لكن بعضهم قال إن ذلك ليس كافيا، وهو ما كان يخشاه الجميع منذ سنوات.",
    "fa": "شهردار دیروز از یک برنامه جدید در شهر خبر داد و بسیاری از مردم از آن استقبال کردند.",
    "de": "Der Bürgermeister eröffnete gestern eine neue Schule in der Stadt, und viele Menschen kamen zu dem Fest.",
    "en": "The mayor opened a new school in the town yesterday, and many people came to it.",
}


@pytest.mark.parametrize(("language", "text"), TEXTS.items())
def test_a_sentence(language, text):
    assert language_in([text]) == language


@pytest.mark.parametrize(
    "language", ["bg", "ca", "cs", "da", "es", "fr", "it", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "uk"]
)
def test_near_languages_are_told_apart(language):
    assert language_in(import_module(f"spacy.lang.{language}.examples").sentences) == language


UNKNOWN = {  # the first article of the Declaration of Human Rights in languages of which spaCy lists no stop words
    "numbers": "12 34",
    "letters": "x y z",
    "nothing": "",
    "Swahili": "Watu wote wamezaliwa huru, hadhi na haki zao ni sawa. Wote wamejaliwa akili na dhamiri, hivyo yapasa "
    "watendeane kindugu. Kila mtu anastahili kuwa na haki zote na uhuru wote ambao umeelezwa katika Taarifa hii.",
    "Welsh": "Genir pawb yn rhydd ac yn gydradd â'i gilydd mewn urddas a hawliau. Fe'u cynysgaeddir â rheswm a "
    "chydwybod, a dylai pawb ymddwyn y naill at y llall mewn ysbryd cymodlon.",
    "Belarusian": "Усе людзі нараджаюцца свабоднымі і роўнымі ў сваёй годнасці і правах. Яны надзелены розумам і "
    "сумленнем і павінны ставіцца адзін да аднаго ў духу брацтва.",
    "Esperanto": "Ĉiuj homoj estas denaske liberaj kaj egalaj laŭ digno kaj rajtoj. Ili posedas racion.",
    "Indonesian, whose list is also that of Malay": "Semua orang dilahirkan merdeka dan mempunyai martabat dan hak-hak "
    "yang sama. Mereka dikaruniai akal dan hati nurani dan hendaknya bergaul satu sama lain.",
}


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN)
def test_what_is_not_clear_is_none(text):
    assert language_in([text]) is None
