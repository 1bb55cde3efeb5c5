// Sentences to try, by language.

const EXAMPLES = {
  en: {
    "an attachment": "I saw Sarah with a telescope.",
    "a garden path": "The horse raced past the barn fell.",
    contractions: "They don't think she's seen it, but we've told them twice.",
    coordination: "Old men and women who live in the mountains need visitors and news.",
    "two clauses":
      "The committee that met in Geneva last week didn't approve the budget which the ministers had proposed.",
    "a long sentence":
      "Although the engineers who designed the bridge had warned the city council that its cables wouldn't last " +
      "longer than thirty years, nobody replaced them until a storm tore two of them loose and the mayor, who had " +
      "ignored every report, resigned.",
  },
  de: {
    "an attachment": "Anna sah den Mann mit dem Fernglas.",
    contractions: "Im Sommer fahren wir zum Meer.",
    "two clauses": "Die Brücke, vor der die Ingenieure gewarnt hatten, wurde erst nach dem Sturm gesperrt.",
  },
  es: {
    "an attachment": "Ana vio al hombre con el telescopio.",
    contractions: "Dámelo cuando vuelvas del mercado.",
    "two clauses": "El puente del que hablaban los ingenieros se cerró después de la tormenta.",
  },
  fr: {
    "an attachment": "Anne a vu l'homme avec un télescope.",
    contractions: "Le chat du voisin dort au soleil.",
    "two clauses": "Le pont dont parlaient les ingénieurs a été fermé après la tempête.",
  },
  it: {
    "an attachment": "Anna ha visto l'uomo con il telescopio.",
    contractions: "Dammelo quando torni dal mercato della città.",
    "two clauses": "Il ponte di cui parlavano gli ingegneri è stato chiuso dopo la tempesta.",
  },
};

/** Texts by name for a model: those of its language, or English ones where that is not known. */
export function examplesFor({ language, segmenter }) {
  const texts = Object.entries(EXAMPLES[language || "en"] ?? {});
  // A model that cannot cut text reads words with spaces between them.
  const asRead = segmenter ? (text) => text : (text) => text.replace(/([.,])/gu, " $1");
  return texts.map(([name, text]) => [name, asRead(text)]);
}
