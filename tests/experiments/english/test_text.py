"""Unlabelled text: paragraphs of prose in small files of each format, and a share of them."""

import gzip
import io
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

from experiments.english.prose import choose_paragraphs, is_prose, read_prose
from experiments.english.text import choose_sentences, main, read_sources
from treecrf.treebank import Sentence, read_conllu

PROSE = "The bakery on our street was closed for the whole week."


@pytest.mark.parametrize(
    "paragraph",
    [PROSE, "What do you want?", '"Come with me," she said.', "I paid $20 for it at the market!"],
)
def test_prose_is_kept(paragraph: str) -> None:
    assert is_prose(paragraph)


@pytest.mark.parametrize(
    "paragraph",
    [
        "Chapter 4: Installation",
        "int main(void) { return x->y[0] != NULL; } for all of it.",
        "Anna Smith, Peter Jones, Mary Brown, John Miller, Eva Stone, Paul Carter, Jane Hill.",
        "Die Bäckerei in unserer Straße hatte leider die ganze Woche lang geschlossen.",
        "12 34 56 78 of 90 12 34 was 56 78 90 to 12 34 56.",
        "Yes.",
        "Who was it? ███ and ███ were there.",
    ],
)
def test_headings_code_names_tables_and_other_languages_are_dropped(paragraph: str) -> None:
    assert not is_prose(paragraph)


def charsxp(text: bytes) -> bytes:
    return b"\x00\x04\x00\x09" + len(text).to_bytes(4) + text


@pytest.mark.parametrize(
    ("form", "data"),
    [
        (
            "html",
            b"<head><title>Of the bakery and it.</title></head><p>The <b>bakery</b> on our street\n"
            b"  was closed for the whole week."
            b"<p>See <link xref='it'/> for all of it.</p>"
            b"<pre>if it is so: the end of it.</pre><li>News</li>",
        ),
        ("plain", b"CHAPTER I\r\n\r\nThe _bakery_ on our street\r\nwas closed for the whole week."),
        ("one line", PROSE.encode()),
        (
            "pod",
            b"=head1 NAME\n\nThe B<bakery> on our L<street|perlfaq> was closed for the whole week."
            b"\n\n  print 'it is the end of it.'\n",
        ),
        (
            "dictionary",
            b"bakery\n n.\n\n    [common] The {bakery} on our street was\n"
            b"    closed for the whole week.",
        ),
        (
            "wml",
            b'x="It is not said to you."\nmessage= _ "The bakery on our street '
            b'was closed for the whole week."',
        ),
        (
            "wml",
            b'_ "<i>The</i> bakery on our street was closed for the whole week." '
            b'_ "It is $unit.name| who was there."',
        ),
        (
            "quoted",
            b"choice\n\t`The bakery on our street was closed for the whole week.`\n"
            b"\t`They will take off and follow you to <planet>.`\n",
        ),
        (
            "strings",
            b'local text = _"The bakery on our street was\\nclosed for the whole week."\n'
            b'say("I owe you %d for all of it."); say("It is $name who was there.")',
        ),
        ("strings", b"x = [[The bakery on our street\r\nwas closed for the whole week.]]"),
        (
            "angles",
            b"greeting <if= P 1 else it was>\n  CHAT1 <The bakery on our street was closed "
            b"for the whole week.>\n  CHAT2 <%name1% has to be there.> MSG <!1 has to be there.>\n"
            b"  use <GrabItem -23 1 ComTime of it ?>",
        ),
        (
            "aiml",
            b"<pattern>IT IS THAT</pattern><template><random><li>The <set name='it'>bakery</set> "
            b"on our street<br/>was closed for the whole week.</li><li>I am <star/>, it was.</li>"
            b"<li><think>You are not to say it.</think></li><li>who was there for you.</li>"
            b"<li>What is it about ?</li></random></template>",
        ),
        (
            "rdb",
            b"\x00\x00\x00\x09"
            + zlib.compress(
                charsxp(b"The bakery on our street")
                + charsxp(b"was closed for the whole week.")
                + charsxp(b"")
            ),
        ),
    ],
)
def test_paragraphs_of_each_format(form: str, data: bytes) -> None:
    assert read_prose(data, form) == [PROSE]
    assert read_prose(gzip.compress(data), form) == [PROSE]


def test_keys_pressed_together_are_joined() -> None:
    page = b"<p>Press <key>Ctrl</key><key>H</key> if you want to see them.</p>"
    assert read_prose(page, "html") == ["Press Ctrl+H if you want to see them."]


def test_signs_of_colours_and_quotes_in_strings() -> None:
    code = rb'say("`%Smallwood for \"King\"! Read all about it!"); say("`4It is [b]you[/b]!")'
    assert read_prose(code, "strings") == [
        'Smallwood for "King"! Read all about it!',
        "It is you!",
    ]


def test_a_text_without_line_breaks_is_cut_at_sentence_ends() -> None:
    sentence = "It was the best of all times that Mr. Lee had seen. "
    paragraphs = read_prose((sentence * 100).strip().encode(), "one line")
    assert len(paragraphs) > 5
    assert " ".join(paragraphs) == (sentence * 100).strip()
    assert all(len(paragraph.split()) < 130 for paragraph in paragraphs)


def test_a_share_of_the_paragraphs_has_each_once_and_is_the_same_for_a_seed() -> None:
    paragraphs = [f"This is paragraph {number} of the text." for number in range(50)]
    doubled = [*paragraphs, *map(str.upper, paragraphs)]
    chosen = choose_paragraphs(doubled, words=70, seed=1)
    assert len(chosen) == len({paragraph.lower() for paragraph in chosen}) == 10
    assert chosen == choose_paragraphs(list(doubled), words=70, seed=1)
    assert chosen != choose_paragraphs(doubled, words=70, seed=2)
    assert len(choose_paragraphs(doubled, words=10_000, seed=1)) == 50


def test_sentences_have_3_to_60_words_and_come_once() -> None:
    of_lengths = [Sentence([f"w{n}"] * n) for n in (2, 3, 60, 61)]
    of_lengths.append(Sentence(["[", "Op.", "Cit.", ",", "p.", "89", "]"]))
    seen: set[tuple[str, ...]] = set()
    chosen = choose_sentences([*of_lengths, *of_lengths], name="here", seen=seen)
    assert [len(sentence) for sentence in chosen] == [3, 60]
    assert choose_sentences([Sentence(["W3"] * 3)], name="there", seen=seen) == []


def test_the_command_reads_archives_and_writes_forms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = f"{PROSE} We went home.\n\nINDEX\n".encode()
    with tarfile.open(tmp_path / "made-up-1.0.tgz", "w:gz") as archive:
        for name in ("package/data/a.txt", "package/other.txt"):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    sources = tmp_path / "sources.toml"
    sources.write_text(
        '[[source]]\nname = "Made up"\nkind = "news"\nmanager = "npm"\npackages = ["made-up"]\n'
        'files = "/data/"\nformat = "plain"\nlicence = "none"\nwords = 100\n'
    )
    out = tmp_path / "text.conllu"
    options = ["--archives", str(tmp_path), "--sources", str(sources)]
    assert main([str(out), *options]) == 0
    assert "Made up: 2 sentences" in capsys.readouterr().out
    sentences = list(read_conllu(out))
    assert sorted(len(sentence) for sentence in sentences) == [4, 12]
    assert all(
        line.split("\t")[2:] == ["_"] * 8 for line in out.read_text().splitlines() if "\t" in line
    )

    sources.write_text(sources.read_text().replace("npm", "pypi"))
    with zipfile.ZipFile(tmp_path / "made-up-1.0.zip", "w") as archive:
        archive.writestr("made-up-1.0/data/a.txt", data)
        archive.writestr("made-up-1.0/other.txt", data)
    (tmp_path / "made-up-1.0.tgz").unlink()
    assert main([str(out), *options]) == 0
    assert "Made up: 2 sentences" in capsys.readouterr().out

    sources.write_text(sources.read_text().replace("plain", "PDF"))
    assert main([str(out), *options]) == 2
    assert "Made up: format must be one of html" in capsys.readouterr().err


def test_the_sources_can_be_read() -> None:
    sources = read_sources(Path("experiments/english/text.toml"))
    assert all(source.licence and source.packages for source in sources)
