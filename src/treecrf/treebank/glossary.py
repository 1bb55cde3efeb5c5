"""Names of Universal Dependencies in plain words: relations, tags and features."""

__all__ = ["MEANINGS", "explain"]

# Entries end with a semicolon or a line; `=Plur` is a value of the feature before it.
_TABLE = """
acl: clause that modifies a noun; acl:relcl: relative clause; advcl: adverbial clause modifier
advcl:relcl: relative clause that modifies a clause; advmod: adverbial modifier
advmod:emph: emphasising word; advmod:lmod: locative adverbial modifier
amod: adjectival modifier; appos: apposition; aux: auxiliary; aux:pass: passive auxiliary
case: case marker, such as a preposition; cc: coordinating conjunction
cc:preconj: word before a coordination, such as "both"
ccomp: clausal complement with its own subject; clf: classifier; compound: compound
compound:lvc: light verb construction; compound:prt: particle of a phrasal verb
compound:redup: reduplicated compound; compound:svc: serial verb compound
conj: conjunct, linked by coordination; cop: copula; csubj: clausal subject
csubj:outer: subject of a clause whose predicate is a clause; csubj:pass: clausal passive subject
dep: unspecified dependency; det: determiner
det:numgov: pronominal quantifier that governs the case of the noun
det:nummod: pronominal quantifier that agrees with the noun; det:poss: possessive determiner
discourse: discourse element, such as an interjection; dislocated: dislocated element
expl: expletive; expl:impers: impersonal expletive; expl:pass: reflexive pronoun of a passive
expl:pv: reflexive clitic of a verb that always has one; fixed: fixed multiword expression
flat: flat expression without a head, such as a name; flat:foreign: foreign words
flat:name: name of several words; goeswith: part of a word that is written apart
iobj: indirect object; list: item of a list; mark: marker of a subordinate clause
nmod: nominal modifier; nmod:desc: descriptive nominal modifier
nmod:npmod: noun phrase as a modifier; nmod:poss: possessive nominal modifier
nmod:tmod: temporal nominal modifier; nmod:unmarked: nominal modifier without a case marker
nsubj: nominal subject; nsubj:outer: subject of a clause whose predicate is a clause
nsubj:pass: passive nominal subject; nummod: numeric modifier
nummod:gov: numeric modifier that governs the case of the noun; obj: direct object
obl: oblique nominal; obl:agent: agent of a passive; obl:arg: oblique argument
obl:lmod: locative modifier; obl:npmod: noun phrase as an adverbial modifier
obl:tmod: temporal modifier; obl:unmarked: oblique nominal without a case marker
orphan: remnant of an ellipsis; parataxis: loosely joined clause; punct: punctuation
reparandum: corrected slip of the tongue; root: root of the sentence; vocative: vocative
xcomp: open clausal complement; ADJ: adjective; ADP: adposition; ADV: adverb; AUX: auxiliary
CCONJ: coordinating conjunction; DET: determiner; INTJ: interjection; NOUN: noun; NUM: numeral
PART: particle; PRON: pronoun; PROPN: proper noun; PUNCT: punctuation
SCONJ: subordinating conjunction; SYM: symbol; VERB: verb; X: other
Abbr: abbreviation; AdpType: type of adposition; Clusivity: inclusive or exclusive
ConjType: type of conjunction; Echo: echo word; Evident: evidentiality
ExtPos: tag of a fixed expression as a whole; Foreign: foreign word; NounClass: noun class
Poss: possessive; PunctType: type of punctuation; Reflex: reflexive; Style: style
Typo: misspelt word
Animacy: animacy; =Anim: animate; =Hum: human; =Inan: inanimate
Aspect: aspect; =Hab: habitual; =Imp: imperfective; =Iter: iterative; =Perf: perfective
=Prog: progressive; =Prosp: prospective
Case: case; =Abl: ablative; =Acc: accusative; =Ade: adessive; =All: allative; =Com: comitative
=Dat: dative; =Ela: elative; =Erg: ergative; =Ess: essive; =Gen: genitive; =Ill: illative
=Ine: inessive; =Ins: instrumental; =Loc: locative; =Nom: nominative; =Par: partitive
=Tra: translative; =Voc: vocative
Definite: definiteness; =Com: complex; =Cons: construct state; =Def: definite; =Ind: indefinite
=Spec: specific
Degree: degree of comparison; =Abs: absolute superlative; =Cmp: comparative; =Equ: equative
=Pos: positive; =Sup: superlative
Deixis: deixis; =Prox: near; =Remt: far
Gender: gender; =Com: common; =Fem: feminine; =Masc: masculine; =Neut: neuter
Mood: mood; =Cnd: conditional; =Imp: imperative; =Ind: indicative; =Jus: jussive
=Nec: necessitative; =Opt: optative; =Pot: potential; =Sub: subjunctive
Number: number; =Coll: collective; =Dual: dual; =Plur: plural; =Ptan: always plural
=Sing: singular
NumForm: form of a numeral; =Digit: digits; =Roman: Roman numeral; =Word: word
NumType: type of numeral; =Card: cardinal; =Frac: fraction; =Mult: multiplicative; =Ord: ordinal
=Range: range; =Sets: number of sets
Person: person; =0: impersonal; =1: first; =2: second; =3: third
Polarity: polarity; =Neg: negative; =Pos: affirmative
Polite: politeness; =Form: formal; =Infm: informal
PronType: type of pronoun; =Art: article; =Dem: demonstrative; =Emp: emphatic; =Exc: exclamative
=Ind: indefinite; =Int: interrogative; =Neg: negative; =Prs: personal; =Rcp: reciprocal
=Rel: relative; =Tot: total
Tense: tense; =Fut: future; =Imp: imperfect; =Past: past; =Pqp: pluperfect; =Pres: present
VerbForm: form of the verb; =Conv: converb; =Fin: finite; =Gdv: gerundive; =Ger: gerund
=Inf: infinitive; =Part: participle; =Sup: supine; =Vnoun: verbal noun
Voice: voice; =Act: active; =Cau: causative; =Mid: middle; =Pass: passive
"""


def _read(table: str) -> dict[str, str]:
    meanings: dict[str, str] = {}
    feature = ""
    for entry in table.strip().replace("\n", "; ").split("; "):
        name, meaning = entry.split(": ", 1)
        if not name.startswith("="):
            feature = name
        meanings[feature + name.removeprefix(feature)] = meaning
    return meanings


MEANINGS = _read(_TABLE)
"""Meanings by name: relations, universal tags, features, and features with a value."""


def explain(name: str) -> str | None:
    """The meaning of a name of Universal Dependencies in a few words; None if it is not known.

    It may be a relation ("nsubj", "nsubj:pass"), a universal tag ("NOUN"), the name of a feature
    ("Case"), a feature with its value ("Case=Gen") or a whole column of them.

    Examples:
        >>> explain("nsubj")
        'nominal subject'
        >>> explain("Number=Plur|Case=Gen")
        'number: plural; case: genitive'
    """
    if "|" in name:
        return "; ".join(explain(item) or item for item in name.split("|"))
    if "=" in name:
        return _feature(*name.split("=", 1))
    if name in MEANINGS:
        return MEANINGS[name]
    relation, _, subtype = name.partition(":")
    known = MEANINGS.get(relation) if subtype and relation.islower() else None
    return f"{known} ({subtype})" if known else None


def _feature(name: str, values: str) -> str | None:
    feature = name.partition("[")[0]  # Number[psor]
    kind = MEANINGS.get(feature)
    if kind is None or values == "Yes":
        return kind
    known = [MEANINGS.get(f"{feature}={value}", value) for value in values.split(",")]
    return f"{kind}: {' or '.join(known)}"
