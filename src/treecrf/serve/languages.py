"""Languages of treebanks: their codes (ISO 639-1, 639-2, 639-3) and their English names."""

__all__ = ["LANGUAGES"]

LANGUAGES: tuple[tuple[str, ...], ...] = tuple(
    tuple(line.split())
    for line in """
af afr afrikaans
am amh amharic
ar ara arabic
be bel belarusian
bg bul bulgarian
bn ben bengali
br bre breton
ca cat catalan
cop coptic
cs ces cze czech
cu chu old_church_slavonic
cy cym wel welsh
da dan danish
de deu ger german
el ell gre greek
en eng english
eo epo esperanto
es spa spanish
et est estonian
eu eus baq basque
fa fas per persian
fi fin finnish
fo fao faroese
fr fra fre french
fro old_french
ga gle irish
gd gla scottish_gaelic
gl glg galician
got gothic
grc ancient_greek
gv glv manx
he heb hebrew
hi hin hindi
hr hrv croatian
hsb upper_sorbian
hu hun hungarian
hy hye arm armenian
hyw western_armenian
id ind indonesian
is isl ice icelandic
it ita italian
ja jpn japanese
ka kat geo georgian
kk kaz kazakh
ko kor korean
kmr kurmanji
ky kir kyrgyz
la lat latin
lt lit lithuanian
lv lav latvian
lzh classical_chinese
mk mkd mac macedonian
mr mar marathi
mt mlt maltese
nb nob bokmaal
nl nld dut dutch
nn nno nynorsk
no nor norwegian
orv old_east_slavic
pcm naija
pl pol polish
pt por portuguese
ro ron rum romanian
ru rus russian
sa san sanskrit
se sme north_sami
sk slk slo slovak
sl slv slovenian
sq sqi alb albanian
sr srp serbian
sv swe swedish
ta tam tamil
te tel telugu
th tha thai
tl tgl tagalog
tr tur turkish
ug uig uyghur
uk ukr ukrainian
ur urd urdu
vi vie vietnamese
wo wol wolof
yo yor yoruba
yue cantonese
zh zho chi chinese
""".strip().splitlines()
)
"""The names of each, the shortest code first; a name of two words has an underscore."""
