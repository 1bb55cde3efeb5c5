"""A made-up treebank: English-like sentences with their trees, to train and test parsers on.

A parser has to learn attachment: "with a telescope" is on the verb, "with a beard" on the noun.
Some words are made up, so that held-out sentences have words that training has not.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, pairwise, product

from treecrf.treebank.errors import TreebankError
from treecrf.treebank.sentence import Sentence
from treecrf.treebank.tokens import Token

__all__ = ["generate_treebank"]

_LENGTHS = range(3, 26)

# Symbol = parts | parts ...; the part without a relation is the head of the others, and
# "part:relation@2" hangs on the head of part 2 instead, which is how arcs come to cross. "*4" makes
# a choice four times as likely, "#" stands for singular (s) and plural (p), "<>" for a verb form.
_RULES = """
S = Clause .:punct *60 | Clause Because:advcl .:punct *4 | Clause But:conj .:punct *4
  | Day:obl:tmod Clause .:punct *4 | Front:obl Clause .:punct *4 | Yes:discourse Clause .:punct *3
  | VP<VB> !:punct *4 | VP<VB> Voc:vocative !:punct *2 | did:aux Person#:nsubj VP<VB> ?:punct *5
  | who:nsubj VP<VBD> ?:punct *3 | wh:advmod did:aux Person#:nsubj VP<VB> ?:punct *4;
X = Man#:nsubj rest.VBD manner:advmod Who:acl:relcl@1 .:punct *4
  | Man#:nsubj rest.VBD manner:advmod WithTrait:nmod@1 .:punct *3
  | what:obj@5 did:aux Person#:nsubj say.VB Inner:ccomp ?:punct *4; Inner = Person#:nsubj do.VBD;
Clause = Subject#:nsubj VP<VBD> *20 | Subject#:nsubj VP# *10 | Subject#:nsubj modal:aux VP<VB> *6
  | Subject#:nsubj modal:aux not:advmod VP<VB> *3 | Subject#:nsubj be#:aux VP<VBG> *4
  | Subject#:nsubj try.VBD To:xcomp *4 | Subject#:nsubj be#:cop Adj *4
  | Person#:nsubj be#:cop Mans *3 | Thing#:nsubj:pass be#:aux:pass do.VBN *4
  | Thing#:nsubj:pass be#:aux:pass do.VBN By:obl:agent *3 | there:expl be# Thing#:nsubj *2;
Because = sconj:mark Clause; But = ,:punct but:cc Clause; That = that:mark Clause;
Day = this:det day; Front = InPlace ,:punct; Yes = yes ,:punct; To = to:mark VP<VB>;
VPs = VP<VBZ>; VPp = VP<VBP>; Voc = ,:punct name;
VP<> = do.<> Thing#:obj *12 | do.<> Thing#:obj WithTool:obl *6 | do.<> Thing#:obj InPlace:obl *6
  | do.<> Thing#:obj InPlace:obl On:obl *3 | manner:advmod do.<> Thing#:obj *3
  | do.<> Person#:obj *3 | give.<> Person#:iobj Thing#:obj *5 | give.<> Thing#:obj ToPerson:obl *3
  | rest.<> InPlace:obl *5 | rest.<> manner:advmod *3 | pick.<> up:compound:prt Thing#:obj *2
  | say.<> Clause:ccomp *4 | say.<> That:ccomp *4;
WithTool = with:case Det:det tool; WithTrait = with:case Det:det trait;
WithPart = with:case Det:det part; ToPerson = to.case:case Person#; By = by:case Person#;
On = on:case day; InPlace = in:case Place *4 | in:case Place Near:nmod; Near = near:case Place;
Place = the:det place *4 | the:det Adj:amod place; Adj = adj *6 | degree:advmod adj;
Det = the | a *2; Dets = the *5 | a *4 | this; Detp = the; Owner = his *3 | name 's:case;
Subject# = Person# *6 | Thing# *3; Subjects = he *4; Subjectp = they *3;
Person# = Man# *6; Persons = name *5 | name surname:flat *2; Personp = Mans And:conj *2;
And = and:cc Mans;
Man# = One# *20 | One# WithTrait:nmod *2 | One# Near:nmod *2 | One# Who:acl:relcl *2
  | One# Near:nmod Who:acl:relcl;
One# = Det#:det person# *5 | Det#:det Adj:amod person# *2 | Owner:nmod:poss person#;
Who = who:nsubj VP<VBD> *3 | who:obj name:nsubj do.VBD *2;
Thing# = It# *24 | It# WithPart:nmod *3 | It# InPlace:nmod *3 | It# Which:acl:relcl *2
  | It# Near:nmod Which:acl:relcl | It# AndIt:conj;
It# = Det#:det thing# *8 | Det#:det Adj:amod thing# *3 | Det#:det Adj:amod Adj:amod thing#
  | Owner:nmod:poss thing# *2 | Det#:det place:compound thing#; Itp = number:nummod thingp *2;
Which = which:obj Person#:nsubj do.VBD; AndIt = and:cc It#
"""

# Words: class, UPOS, XPOS, features, then lemmas, the frequent ones first. "~ist" is a made-up word
# that ends so; "her/she" is a form and its lemma.
_WORDS = """
. PUNCT . _ .; ! PUNCT . _ !; ? PUNCT . _ ?; , PUNCT , _ ,; 's PART POS _ 's; to PART TO _ to
persons NOUN NN Number=Sing man woman girl doctor farmer teacher sailor painter king ~ist ~ner
personp NOUN NNS Number=Plur girl boy doctor farmer teacher man sailor painter woman ~ist ~ner
things NOUN NN Number=Sing book letter box picture bag key boat song story lamp ~ket ~dle
thingp NOUN NNS Number=Plur book letter box picture bag key boat song story lamp ~ket ~dle
place NOUN NN Number=Sing garden house city church kitchen forest castle harbour ~dom
tool NOUN NN Number=Sing telescope hammer brush rope camera knife ~scope
trait NOUN NN Number=Sing beard hat scar coat smile ~dana
part NOUN NN Number=Sing lid handle label lock cover ~lug
name PROPN NNP Number=Sing Anna Peter Mary John Sarah Tom Lucy Paul ~us ~a ~o
surname PROPN NNP Number=Sing Miller Brown Carter Hill; day PROPN NNP Number=Sing Monday Friday
he PRON PRP Case=Nom|Number=Sing|PronType=Prs she he it
they PRON PRP Case=Nom|Number=Plur|PronType=Prs they we you
his PRON PRP$ Poss=Yes|PronType=Prs her/she his/he their/they my/I
who PRON WP PronType=Rel who; what PRON WP PronType=Int what; there PRON EX _ there
which PRON WDT PronType=Rel that which; this DET DT Number=Sing|PronType=Dem this that
the DET DT Definite=Def|PronType=Art the; a DET DT Definite=Ind|PronType=Art a
adj ADJ JJ Degree=Pos old young small tall red happy famous strange quiet ~ous ~ful
manner ADV RB _ often quickly slowly never quietly ~ously; degree ADV RB _ very quite too
wh ADV WRB PronType=Int why when where; number NUM CD NumType=Card two three four ten
not PART RB Polarity=Neg not; yes INTJ UH _ yes well no; up ADP RP _ up
and CCONJ CC _ and or; but CCONJ CC _ but and; that SCONJ IN _ that; sconj SCONJ IN _ because when
with ADP IN _ with; in ADP IN _ in behind under; near ADP IN _ near; by ADP IN _ by
on ADP IN _ on; to.case ADP IN _ to; modal AUX MD VerbForm=Fin will can must
did AUX VBD Tense=Past|VerbForm=Fin did/do; bes AUX VBZ Number=Sing|VerbForm=Fin was/be is/be
bep AUX VBP Number=Plur|VerbForm=Fin were/be are/be
"""
_VERBS = {
    "do": "see find paint open draw carry break watch clean hold lose admire ~ify ~ise",
    "give": "give send show offer",
    "say": "say think know believe",
    "rest": "sleep laugh wait stand",
    "try": "try want hope",
    "pick": "pick",
}
_VERB_FORMS = {
    "VB": "VerbForm=Inf",
    "VBD": "Tense=Past|VerbForm=Fin",
    "VBZ": "Number=Sing|Tense=Pres|VerbForm=Fin",
    "VBP": "Number=Plur|Tense=Pres|VerbForm=Fin",
    "VBN": "Tense=Past|VerbForm=Part",
    "VBG": "VerbForm=Ger",
}
_IRREGULAR = """
man men; woman women; see saw seen; find found found; draw drew drawn; break broke broken
hold held held; lose lost lost; give gave given; send sent sent; show showed shown; say said said
think thought thought; know knew known; sleep slept slept; stand stood stood
"""
_SYLLABLES = "ba do fi gu ka lo mi ne po ra su te vi zu tel mor bin dal"


@dataclass(eq=False, slots=True)
class _Word:
    form: str
    lemma: str
    upos: str
    xpos: str
    feats: str
    head: "_Word | None" = None
    deprel: str = "root"


def _entries(text: str) -> list[str]:
    return text.strip().replace("; ", "\n").splitlines()


@cache
def _grammar() -> tuple[dict[str, list[tuple[float, list[str]]]], dict[str, list[str]]]:
    """Rules by symbol, each a weight and parts; and by class of words UPOS, XPOS, ... as above."""
    rules: dict[str, list[tuple[float, list[str]]]] = {}
    for rule in _RULES.split(";"):
        head, _, choices = rule.partition("=")
        for form, number, choice in product(_VERB_FORMS, "sp", choices.split("|")):
            if ("<>" in head or form == "VB") and ("#" in head + choice or number == "s"):
                symbol = head.strip().replace("#", number).replace("<>", f"<{form}>")
                parts, _, weight = choice.partition("*")
                parts = parts.replace("#", number).replace("<>", form)
                rules.setdefault(symbol, []).append((float(weight or 1), parts.split()))
    words = {name: entry for name, *entry in map(str.split, _entries(_WORDS))}
    for name, lemmas in _VERBS.items():
        for form, feats in _VERB_FORMS.items():
            words[f"{name}.{form}"] = ["VERB", form, feats, *lemmas.split()]
    return rules, words


@cache
def _inflected(lemma: str, xpos: str) -> str:
    irregular = dict(forms.split(" ", 1) for forms in _entries(_IRREGULAR))
    if lemma in irregular and xpos in ("NNS", "VBD", "VBN"):
        return irregular[lemma].split()[xpos == "VBN"]
    short_y = lemma.endswith("y") and lemma[-2] not in "aeiou"
    match xpos:
        case "NNS" | "VBZ":
            hissing = lemma.endswith(("s", "x", "ch", "sh"))
            return lemma[:-1] + "ies" if short_y else lemma + ("es" if hissing else "s")
        case "VBD" | "VBN":
            return lemma[:-1] + "ied" if short_y else lemma.removesuffix("e") + "ed"
        case "VBG":
            return lemma.removesuffix("e") + "ing"
    return lemma


class _Draw:
    """Random phrases; all draws go through `random()`, whose numbers no Python version changes."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed).random

    def phrase(self, symbol: str) -> tuple[list[_Word], _Word]:
        """The words of a phrase and the one that heads it."""
        rules, classes = _grammar()
        if symbol in classes:
            word = self.word(*classes[symbol])
            return [word], word
        sums = list(accumulate(weight for weight, _ in rules[symbol]))
        point = self.random() * sums[-1]
        parts = rules[symbol][next(k for k, limit in enumerate(sums) if point < limit)][1]
        names = [part.partition(":") if len(part) > 1 else (part, "", "") for part in parts]
        phrases = [self.phrase(name) for name, _, _ in names]
        head = next(word for (_, word), name in zip(phrases, names, strict=True) if not name[2])
        for (_, word), (_, _, relation) in zip(phrases, names, strict=True):
            if relation:
                word.deprel, _, other = relation.partition("@")
                word.head = phrases[int(other) - 1][1] if other else head
        return [word for words, _ in phrases for word in words], head

    def word(self, upos: str, xpos: str, feats: str, *lemmas: str) -> _Word:
        form, _, lemma = lemmas[int(self.random() ** 1.5 * len(lemmas))].partition("/")
        if form.startswith("~"):
            syllables = _SYLLABLES.split()
            stem = (syllables[int(self.random() * len(syllables))] for _ in range(2))
            form = "".join(stem) + form[1:]
            form = form.capitalize() if upos == "PROPN" else form
        if upos in ("NOUN", "VERB"):
            return _Word(_inflected(form, xpos), form, upos, xpos, feats)
        return _Word(form, lemma or form, upos, xpos, feats)


def generate_treebank(count: int, *, seed: int = 1, crossing: float = 0.0) -> Iterator[Sentence]:
    """Generate sentences, of which about the share `crossing` has arcs that cross.

    A sentence depends on the seed and its number alone: a longer treebank begins with the shorter.
    """
    if count < 0:
        raise TreebankError(f"the number of sentences is at least 0, not {count}")
    if not 0 <= crossing <= 1:
        raise TreebankError(f"the share of crossing sentences is between 0 and 1, not {crossing}")
    for number in range(1, count + 1):
        draw = _Draw(f"{seed} {number}")
        symbol = "X" if draw.random() < crossing else "S"
        words, _ = draw.phrase(symbol)
        while len(words) not in _LENGTHS:
            words, _ = draw.phrase(symbol)
        yield _sentence(words, f"generated-{seed}-{number}")


def _sentence(words: list[_Word], name: str) -> Sentence:
    for word, following in pairwise(words):
        if word.form == "a" and following.form[0] in "aeiou":
            word.form = "an"
    words[0].form = words[0].form[0].upper() + words[0].form[1:]
    places = {word: place for place, word in enumerate(words, 1)}
    glued = {word for word, following in pairwise(words) if following.xpos in (".", ",", "POS")}
    tokens = []
    for word, place in places.items():
        columns = place, word.form, word.lemma, word.upos, word.xpos, word.feats
        head = places[word.head] if word.head else 0
        misc = "SpaceAfter=No" if word in glued else "_"
        tokens.append(Token(*columns, head=head, deprel=word.deprel, misc=misc))
    sentence = Sentence.from_tokens(tokens)
    sentence.comments = [f"# sent_id = {name}", f"# text = {sentence.text}"]
    return sentence
