"""Irregular English words and abbreviated dates, which a treebank has only some of.

The English Web Treebank writes the names of months, days and units of time in full as lemmas.
"""

from collections.abc import Iterator

__all__ = ["abbreviation_lemmas", "irregular_lemmas"]

# The base, the past and the participle.
_VERBS = """
arise arose arisen; awake awoke awoken; bear bore borne; beat beat beaten; become became become;
begin began begun; bend bent bent; beseech besought besought; bid bade bidden; bind bound bound;
bite bit bitten; bleed bled bled; blow blew blown; break broke broken; breed bred bred;
bring brought brought; broadcast broadcast broadcast; build built built; burn burnt burnt;
burst burst burst; buy bought bought; cast cast cast; catch caught caught; choose chose chosen;
cling clung clung; come came come; cost cost cost; creep crept crept; cut cut cut; deal dealt dealt;
dig dug dug; draw drew drawn; dream dreamt dreamt; drink drank drunk; drive drove driven;
dwell dwelt dwelt; eat ate eaten; fall fell fallen; feed fed fed; feel felt felt;
fight fought fought; flee fled fled; fling flung flung; fly flew flown; forbid forbade forbidden;
forecast forecast forecast; foresee foresaw foreseen; forget forgot forgotten;
forgive forgave forgiven; forsake forsook forsaken; freeze froze frozen; get got gotten;
give gave given; go went gone; grow grew grown; hang hung hung; hear heard heard; hide hid hidden;
hit hit hit; hold held held; hurt hurt hurt; keep kept kept; kneel knelt knelt; know knew known;
lead led led; lean leant leant; leap leapt leapt; learn learnt learnt; leave left left;
lend lent lent; let let let; lie lay lain; light lit lit; lose lost lost; make made made;
mean meant meant; meet met met; mislead misled misled; mistake mistook mistaken; mow mowed mown;
outdo outdid outdone; overcome overcame overcome; overdo overdid overdone;
overhear overheard overheard; oversee oversaw overseen; oversleep overslept overslept;
overtake overtook overtaken; overthrow overthrew overthrown; pay paid paid; plead pled pled;
prove proved proven; put put put; quit quit quit; rebuild rebuilt rebuilt; redo redid redone;
repay repaid repaid; rewrite rewrote rewritten; rid rid rid; ride rode ridden; ring rang rung;
rise rose risen; run ran run; say said said; see saw seen; seek sought sought; sell sold sold;
send sent sent; set set set; sew sewed sewn; shake shook shaken; shed shed shed; shine shone shone;
shoot shot shot; show showed shown; shrink shrank shrunk; shut shut shut; sing sang sung;
sink sank sunk; sit sat sat; slay slew slain; sleep slept slept; slide slid slid; sling slung slung;
slink slunk slunk; slit slit slit; smell smelt smelt; sneak snuck snuck; sow sowed sown;
speak spoke spoken; speed sped sped; spell spelt spelt; spend spent spent; spill spilt spilt;
spin spun spun; spit spat spat; split split split; spoil spoilt spoilt; spread spread spread;
spring sprang sprung; stand stood stood; steal stole stolen; stick stuck stuck; sting stung stung;
stink stank stunk; strew strewed strewn; stride strode stridden; strike struck stricken;
string strung strung; strive strove striven; swear swore sworn; sweep swept swept;
swell swelled swollen; swim swam swum; swing swung swung; take took taken; teach taught taught;
tear tore torn; tell told told; think thought thought; throw threw thrown; thrust thrust thrust;
tread trod trodden; undergo underwent undergone; understand understood understood;
undertake undertook undertaken; undo undid undone; uphold upheld upheld; upset upset upset;
wake woke woken; wear wore worn; weave wove woven; weep wept wept; wet wet wet; win won won;
withdraw withdrew withdrawn; withhold withheld withheld; withstand withstood withstood;
wring wrung wrung; write wrote written
"""
_OTHER_BASES = {"bore", "bound", "fell", "lay", "rose", "saw", "wound"}
_NOUNS = """
analysis analyses; axis axes; bacterium bacteria; basis bases; calf calves; child children;
crisis crises; criterion criteria; curriculum curricula; datum data; diagnosis diagnoses; elf elves;
emphasis emphases; foot feet; fungus fungi; goose geese; half halves; hero heroes; hoof hooves;
hypothesis hypotheses; index indices; knife knives; leaf leaves; life lives; loaf loaves;
louse lice; man men; matrix matrices; mouse mice; nucleus nuclei; oasis oases; ox oxen;
parenthesis parentheses; phenomenon phenomena; potato potatoes; radius radii; scarf scarves;
self selves; shelf shelves; stimulus stimuli; synopsis synopses; synthesis syntheses;
thesis theses; thief thieves; tomato tomatoes; tooth teeth; vertebra vertebrae; vertex vertices;
wharf wharves; wife wives; wolf wolves; woman women
"""
# Jan and Sun are names as well.
_DATES = """
February Feb; March Mar; April Apr; June Jun; July Jul; August Aug;
September Sep Sept; October Oct; November Nov; December Dec; Monday Mon; Tuesday Tue Tues;
Wednesday Wed; Thursday Thu Thur Thurs; Friday Fri; Saturday Sat
"""
_TIMES = "second sec secs; minute min mins; hour hr hrs; week wk wks; month mos; year yr yrs"


def abbreviation_lemmas() -> dict[str, str]:
    """Lemmas of `FORM TAB TAG`, for abbreviated months, days and units of time."""
    found: dict[str, str] = {}
    for tag, words in (("PROPN", _DATES), ("NOUN", _TIMES)):
        for row in words.split(";"):
            lemma, *forms = row.split()
            found |= {f"{form}{stop}\t{tag}": lemma for form in forms for stop in ("", ".")}
    return found


def irregular_lemmas() -> dict[str, str]:
    """Lemmas of `FORM TAB TAG`, for forms that have one lemma; also with a capital."""
    found: dict[str, set[str]] = {}
    for tag, words in (("VERB", _VERBS), ("NOUN", _NOUNS)):
        rows = [row.split() for row in words.split(";")]
        bases = {row[0] for row in rows}
        for base, *forms in rows:
            for form in forms:
                # Not what may be the base of another verb: a tree is felled, a pillar bored.
                if form == base or form not in bases | _OTHER_BASES:
                    for written in (form, form.title()):
                        found.setdefault(f"{written}\t{tag}", set()).add(base)
    return dict(_of_one_lemma(found))


def _of_one_lemma(found: dict[str, set[str]]) -> Iterator[tuple[str, str]]:
    for key, lemmas in found.items():
        if len(lemmas) == 1:
            yield key, next(iter(lemmas))
