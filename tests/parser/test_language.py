# ruff: noqa: RUF001 (letters and commas of other scripts are meant)
"""Text in another language than the model's is told of; English of every kind is not."""

import warnings

import pytest

import treecrf
from treecrf.parser import Parser
from treecrf.parser.batching.words import SentenceTable
from treecrf.parser.files.language import is_foreign
from treecrf.treebank import Sentence

GERMAN = (
    "Die Regierung hat am Montag beschlossen, dass die neuen Regeln erst im kommenden Jahr gelten. "
    "Viele Leute warten schon seit langem darauf, und niemand weiß, was danach kommt."
)
FOREIGN = {
    "German": GERMAN,
    "more German": "Der Hund schläft auf dem Sofa und die Katze liegt daneben, weil "
    "es draußen regnet und niemand mehr hinausgehen will heute Abend.",
    "French": "Le petit village où ma grand-mère a grandi se trouve au bord d'une rivière. Chaque "
    "été, nous y passons quelques semaines avec les enfants, et personne ne veut rentrer.",
    "Italian": "Ieri sera siamo andati a cena da un amico che abita vicino al mare. Il pesce era "
    "freschissimo, ma il vino non ci è piaciuto per niente, e siamo tornati a casa presto.",
    "Czech": "Včera jsem celý den hledal klíče od auta a nakonec jsem je našel v lednici. Moje "
    "žena se mi smála, ale pak sama zjistila, že nechala telefon v práci.",
    "Hungarian": "A gyerekek egész délután a kertben játszottak, és csak akkor jöttek be, amikor "
    "már sötét volt. Az anyjuk meleg levest adott nekik, és mindenki korán lefeküdt aludni.",
    "Spanish": "No sé por qué siempre llegas tarde cuando tenemos que coger el tren. La próxima "
    "vez me voy sin ti, aunque luego tenga que pedirte perdón durante toda la semana.",
    "Latin": "Milites cum ad flumen pervenissent, pontem ab hostibus deletum esse viderunt. Itaque "
    "dux naves quaerere iussit, ut omnes copias ante noctem in alteram ripam traduceret.",
    "Dutch": "We hebben gisteren de hele dag door de stad gelopen, maar nergens konden we een "
    "goede kop koffie krijgen. Vandaag blijven we gewoon thuis en zetten we die zelf.",
    "romanised Japanese": "Kinou wa tomodachi to issho ni eiga o mimashita. Totemo omoshirokatta "
    "desu ga, sukoshi nagakatta to omoimasu. Sono ato kissaten de koohii o nomimashita.",
    "romanised Russian": "Vchera my khodili v teatr i videli ochen skuchnuyu pyesu. Potom poshel "
    "dozhd, i nam prishlos zhdat taksi pochti chas, potomu chto zonta u nas ne bylo.",
    "Russian": "Вчера мы ходили в театр и видели очень скучную пьесу. Потом пошёл дождь, и нам "
    "пришлось ждать такси почти час, потому что зонта у нас не было.",
    "Chinese": "昨天我们去看了一场电影，故事很有意思，但是时间太长了。看完以后我们在附近的咖啡馆"
    "坐了一会儿，聊了聊各自的工作，然后坐地铁回家。今天早上大家都起得很晚，谁也不想出门。",
}
ENGLISH = {
    "news": "Shares in the region fell sharply on Tuesday after the central bank unexpectedly "
    "raised interest rates, analysts said, citing persistent inflation fears.",
    "tweet": "omg just saw @jenny_k at the airport lol 😂😂 she was like totally ignoring us... "
    "#awkward gonna text her later tho, prob nothing",
    "code": "def read(path, size=10):\n    with open(path) as file:\n        return [line.strip() "
    "for line in file][:size]\n\nresult = read('notes.txt')\nprint(len(result), result[0])\n",
    "titles": "Fresh Spinach Salad with Goat Cheese. Slow Roasted Tomato Soup. Grilled Salmon, "
    "Lemon Butter Sauce. Chocolate Hazelnut Torte. Vanilla Ice Cream. Espresso, Double Espresso",
    "names": "Maria García, Hans-Peter Müller, Giuseppe Verdi, Jean-Luc Dubois, Zsófia Nagy, Jiří "
    "Novák, Yuki Tanaka, Olga Ivanova, Ahmed Hassan, Li Wei, Ingrid Svensson, Piet de Vries",
    "capitals": "DO NOT OPEN THIS DOOR WHEN THE RED LIGHT IS ON. CALL THE OFFICE AND WAIT FOR "
    "SOMEONE TO COME AND LET YOU IN. THANK YOU FOR YOUR PATIENCE.",
    "list": "2 cups flour\n1 tsp salt\n3 eggs\n1/2 cup sugar\n1 stick butter\n2 tbsp olive oil\n"
    "1 onion\n4 cloves garlic\n1 lb ground beef\n2 cans diced tomatoes\n",
    "terms": "Deep neural networks with residual connections achieve competitive accuracy on image "
    "classification benchmarks, though training remains computationally expensive.",
}


@pytest.fixture(scope="module")
def english() -> Parser:
    return treecrf.load(device="cpu")


@pytest.mark.parametrize("name", FOREIGN)
def test_other_languages_are_told_of(name: str, english: Parser) -> None:
    with pytest.warns(treecrf.LanguageWarning, match="does not look like English"):
        english.parse(FOREIGN[name])


@pytest.mark.parametrize("name", ENGLISH)
def test_english_is_not(name: str, english: Parser) -> None:
    english.parse(ENGLISH[name])  # a warning is an error


def test_long_texts_and_many_texts_are_judged_as_well(english: Parser) -> None:
    mixed = "\n\n".join([*ENGLISH.values()] * 2)
    assert len(english.parse(mixed)) > 20
    with pytest.warns(treecrf.LanguageWarning) as told:
        english.parse(f"{mixed}\n\n" + "\n\n".join(FOREIGN.values()))
    assert len(told) == 1
    with pytest.warns(treecrf.LanguageWarning) as told:
        list(english.pipe([*ENGLISH.values(), GERMAN]))
    assert len(told) == 1


def test_a_short_text_is_not_judged(english: Parser) -> None:
    words = english.segmenter.segment(GERMAN)[0].forms
    assert not is_foreign(SentenceTable([Sentence(words[:15])]), "en")
    assert is_foreign(SentenceTable([Sentence([*words, *words])]), "en")


@pytest.mark.parametrize(
    "text",
    [
        "Привет",
        "Я видел Сару .",
        "你好",
        "我 爱 你",
        "안녕하세요",
        "مرحبا",
        "Γειά σου",
        "שלום",
        "สวัสดี",
        "नमस्ते",
        "OK да нет",
    ],
)
def test_a_short_text_in_another_script_is_told_of(text: str) -> None:
    assert is_foreign(SentenceTable([Sentence(text.split())]), "en")


@pytest.mark.parametrize(
    "text",
    [
        "π = 3.14",
        "The letters α β γ are Greek",
        "𝓗𝓮𝓵𝓵𝓸 everyone",
        "ＨＥＬＬＯ",
        "ﬁne",
        "1 2 3 ! 😂😂",
        "I said привет to the man",
        "naïve café Łódź Nguyễn",
        "_ %",
    ],
)
def test_a_short_text_in_latin_letters_is_not(text: str) -> None:
    assert not is_foreign(SentenceTable([Sentence(text.split())]), "en")


def test_a_few_foreign_words_at_the_end_are_judged_with_those_before() -> None:
    words = [
        "the",
        "dog",
        "and",
        "her",
        "friend",
        "went",
        "home",
        "because",
        "they",
        "were",
        "not",
        "hungry",
    ]
    before = [Sentence(words)] * 20
    assert not is_foreign(SentenceTable([*before, Sentence(GERMAN.replace(",", "").split())]), "en")


def test_a_model_that_says_no_language_never_warns(parser: Parser) -> None:
    assert parser.language == ""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parser.parse(GERMAN)
    assert not is_foreign(SentenceTable([Sentence(GERMAN.split())]), "")
