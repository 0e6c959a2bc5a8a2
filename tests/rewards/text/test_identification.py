"""Texts that are not English are told from those that are, and metrics that read them so are named."""

# ruff: noqa: E501 - wide letters count twice

from __future__ import annotations

from importlib import import_module

import pytest

from rewards.text.identification import language_in, outside_latin, read_as_english

TEXTS = {
    "en": "The mayor said that the storm was over and that the bridge to the town is closed for the rest of the week. "
    "Some forty people are in a hotel by the river, and nobody was hurt.",
    "fr": "Le maire a annoncé que la tempête est terminée et que le pont de la ville est fermé pour la semaine. Une "
    "quarantaine de personnes sont dans un hôtel, et il n'y a pas de blessés.",
    "de": "Der Bürgermeister sagte, dass der Sturm vorbei ist und die Brücke in die Stadt für den Rest der Woche gesperrt "
    "wird. Etwa vierzig Menschen sind in einem Hotel an dem Fluss, verletzt wurde niemand.",
    "es": "El alcalde dijo que la tormenta terminó y que el puente de la ciudad está cerrado por el resto de la semana. "
    "Unas cuarenta personas se alojan en un hotel del centro y no hay heridos en los barrios.",
    "pl": "Burmistrz powiedział, że burza się skończyła i most do miasta jest zamknięty do końca tygodnia. Około "
    "czterdziestu osób jest w hotelu nad rzeką, nikt nie został ranny, jak podało radio, a na drogach jest spokój.",
    "hi": "महापौर ने कहा कि तूफान खत्म हो गया है और शहर का पुल सप्ताह के अंत तक बंद है। करीब चालीस लोग नदी के पास के होटल में हैं और "
    "किसी को चोट नहीं आई है। पुल के पास की सड़क भी बंद है।",
    "ja": "市長は嵐が去り、町への橋は週末まで閉鎖されると発表した。約四十人が川沿いのホテルに避難しており、けが人はいない。",
    "zh": "市长宣布暴风雨已经结束，通往城镇的桥梁将关闭到周末。大约四十人住在河边的旅馆里，没有人受伤。",
    "ko": "시장은 폭풍이 끝났고 마을로 가는 다리는 주말까지 폐쇄된다고 말했다. 약 사십 명이 강가의 호텔에 머물고 있다.",
    "th": "นายกเทศมนตรีกล่าวว่าพายุสงบแล้วและสะพานเข้าเมืองปิดจนถึงสุดสัปดาห์",
    "ar": "قال رئيس البلدية إن العاصفة انتهت وإن الجسر إلى المدينة مغلق حتى نهاية الأسبوع. حوالي أربعين شخصا في فندق على "
    "النهر ولم يصب أحد من الناس في هذه العاصفة التي ضربت المدينة بعد يوم من المطر.",
    "ru": "Мэр сказал, что буря закончилась и мост в город закрыт до конца недели. Около сорока человек находятся в "
    "гостинице у реки, и никто не пострадал, но на дорогах это ещё не всё.",
    "el": "Ο δήμαρχος ανακοίνωσε χθες ένα νέο σχέδιο.",
    "fa": "شهردار دیروز از یک برنامه جدید در شهر خبر داد و بسیاری از مردم از آن استقبال کردند.",
}
OFFICIAL = "rouge-1|direction:f1|stemmer:yes|tokenizer:official|stems:nltk-3|version:2"


@pytest.mark.parametrize("code", TEXTS)
def test_the_language_of_texts(code: str) -> None:
    assert language_in([TEXTS[code]]) == code
    lines = read_as_english({"rouge-1": OFFICIAL}, [TEXTS[code]])
    assert bool(lines) == (code != "en")
    assert all(f"--language {code}" in line and "rouge-1" in line for line in lines)


@pytest.mark.parametrize(
    "language", ["bg", "ca", "cs", "da", "es", "fr", "it", "nb", "nl", "pl", "pt", "ro", "ru", "sk", "uk"]
)
def test_near_languages_are_told_apart(language):
    assert language_in(import_module(f"spacy.lang.{language}.examples").sentences) == language


UNKNOWN = {  # the first article of the Declaration of Human Rights in languages of which spaCy lists no stop words
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


@pytest.mark.parametrize(
    "text", [*UNKNOWN.values(), "", "storm hits ohio", "Velmora Tilia zelkova " * 20, "12 34 .", "de la " * 3]
)
def test_nothing_is_said_of_texts_that_tell_nothing(text: str) -> None:
    assert language_in([text]) is None
    assert bool(read_as_english({"rouge-1": OFFICIAL}, [text])) == (text == UNKNOWN["Belarusian"])  # another script


def test_letters_that_official_rouge_does_not_read_are_said_in_an_unknown_language() -> None:
    text = ["ᐃᓄᒃᑎᑐᑦ ᐅᖃᐅᓯᖅ ᓄᓇᕗᒻᒥ"]
    assert outside_latin(text) == 1
    (line,) = read_as_english({"rouge-1": OFFICIAL}, text, "language: ")
    assert "100%" in line
    assert "language: CODE" in line


@pytest.mark.parametrize(
    "signature",
    [
        "rouge-1|stemmer:no|tokenizer:unicode|words:regex-1|version:2",
        "rouge-1|stemmer:yes|tokenizer:official|language:en|stems:nltk-3|version:2",
        "rouge-1|stemmer:yes|tokenizer:unicode|language:fr|stems:french-nltk-3|version:2",
        "bertscore|encoder:x|version:2",
    ],
)
def test_metrics_that_do_not_read_english_or_were_told_to_are_not_named(signature: str) -> None:
    assert read_as_english({"metric": signature}, [TEXTS["fr"]]) == []


def test_a_part_of_a_sum_reads_english_too() -> None:
    assert read_as_english({"reward": f"weighted|sum:0.5*[{OFFICIAL}]|version:2"}, [TEXTS["fr"]])
