"""The English segmenter that is bundled: tokens that its treebank has few of, and lists."""

import pytest

import treecrf
from treecrf.parser.bundled import model_folder
from treecrf.segment import Segmenter

CASES = [
    ("The talk was given by Prof. Lee.", "The talk was given by Prof. Lee ."),
    ("Dr. Smith and Mrs. Jones left.", "Dr. Smith and Mrs. Jones left ."),
    ("He lived on Baker St., London.", "He lived on Baker St. , London ."),
    ("Baker St., London", "Baker St. , London"),
    ("We live at 221B Baker St., London, now.", "We live at 221B Baker St. , London , now ."),
    ("Thanks to all of y'all!", "Thanks to all of y'all !"),
    ("@taylorswift13 rocks!", "@taylorswift13 rocks !"),
    ("Do you know @taylorswift13? I do.", "Do you know @taylorswift13 ? | I do ."),
    ("I listen to @taylorswift13.", "I listen to @taylorswift13 ."),
    ("Go to www.example.org. It is free.", "Go to www.example.org . | It is free ."),
    ("Look at http://example.net/a/b.html.", "Look at http://example.net/a/b.html ."),
    ("Write to jane.doe@example.com. Thanks!", "Write to jane.doe@example.com . | Thanks !"),
    ("foo.bar(x, y) returns a list.", "foo.bar ( x , y ) returns a list ."),
    ("The I/O was fine. We checked.", "The I/O was fine . | We checked ."),
    ("I met Prof. Lee at noon.", "I met Prof. Lee at noon ."),
    ("Prof. Lee wrote it. She teaches.", "Prof. Lee wrote it . | She teaches ."),
    ("Did y'all see that?", "Did y'all see that ?"),
    ("Y'all should come over.", "Y'all should come over ."),
    ("She shouldn't've said so.", "She should n't 've said so ."),
    ("You couldn't've known.", "You could n't 've known ."),
    ("I'd've stayed at home.", "I 'd 've stayed at home ."),
    ("I saw @taylorswift13 on stage.", "I saw @taylorswift13 on stage ."),
    ("What a day #sunshine #HolidayMood", "What a day #sunshine #HolidayMood"),
    ("#python is fun.", "#python is fun ."),
    ("Everybody talks about #election2024.", "Everybody talks about #election2024 ."),
    (
        "Our site is https://www.example.com/shop. Please visit it.",
        "Our site is https://www.example.com/shop . | Please visit it .",
    ),
    ("It is in ~/notes/2024/todo.md these days.", "It is in ~/notes/2024/todo.md these days ."),
    ("Open ~/notes/2024/todo.md now.", "Open ~/notes/2024/todo.md now ."),
    ("Look at ~/notes/2024/todo.md.", "Look at ~/notes/2024/todo.md ."),
    ("Just call foo.bar(x, y) twice.", "Just call foo.bar ( x , y ) twice ."),
    ("Disk I/O is slow.", "Disk I/O is slow ."),
    ("The page says <b>HTML</b> in bold.", "The page says <b> HTML </b> in bold ."),
    ("<b>HTML</b> is a language.", "<b> HTML </b> is a language ."),
    ("I learned C++ at school.", "I learned C++ at school ."),
    ("C++ is fast. Python is not.", "C++ is fast . | Python is not ."),
    ("She writes C++.", "She writes C++ ."),
    (
        "Things to buy:\n- milk\n- two eggs\n- fresh bread\n",
        "Things to buy : | - milk | - two eggs | - fresh bread",
    ),
    (
        "* Call the bank\n* Pay the rent\n* Write to Anna\n",
        "* Call the bank | * Pay the rent | * Write to Anna",
    ),
    (
        "• apples\n• pears and plums\n• 3 lemons\n\nThat is all.",
        "• apples | • pears and plums | • 3 lemons | That is all .",
    ),
    ("1. Open the door\n2. Go in\n3. Close it\n", "1 . Open the door | 2 . Go in | 3 . Close it"),
]


@pytest.fixture(scope="module", params=["characters", "encoder"])
def segmenter(request: pytest.FixtureRequest) -> Segmenter:
    """The segmenter alone, and with the parser's opinion on sentence ends."""
    if request.param == "characters":
        return Segmenter.load(model_folder(None))
    return treecrf.load(device="cpu").segmenter


@pytest.mark.parametrize(("text", "expected"), CASES)
def test_tokens_and_sentences(segmenter: Segmenter, text: str, expected: str) -> None:
    found = [" ".join(sentence.forms) for sentence in segmenter.segment(text)]
    assert " | ".join(found) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Hi Anna, I will call you tomorrow Best regards Tom",
        "See you soon Thanks Bob",
        "Please see the attached file Regards, Mary",
    ],
)
def test_the_encoder_is_asked_about_unsure_sentence_ends(text: str) -> None:
    with_encoder = treecrf.load(device="cpu").segmenter
    alone = Segmenter.load(model_folder(None))
    assert len(with_encoder.segment(text)) > len(alone.segment(text))
