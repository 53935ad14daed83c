import { type Language, language } from './language.ts';

/** The type of another language’s texts: the same names, and functions with the same parameters. */
type Same<Texts> = {
  [Name in keyof Texts]: Texts[Name] extends string
    ? string
    : Texts[Name] extends (...values: infer Values) => infer Text
      ? (...values: Values) => Text extends string ? string : Text
      : Same<Texts[Name]>;
};

/**
 * The texts of a page, or of what several pages share, in every language. English decides which texts
 * there are: the type check fails for a text that another language lacks or has in addition, and for one
 * with other parameters. A component reads the texts once: `const t = signInTexts();`.
 *
 * @returns a function that returns the texts in the language of the page or request.
 * @__NO_SIDE_EFFECTS__
 */
export function texts<English extends object>(
  all: { en: English } & Record<Exclude<Language, 'en'>, Same<English>>,
): () => Same<English> {
  return () => all[language()] as Same<English>;
}
