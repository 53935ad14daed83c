// Written by `npm run languages` from the files of the languages.
import enApp from './en/app.ts';
import enOperator from './en/operator.ts';
import enShared from './en/shared.ts';
import enSignIn from './en/sign-in.ts';
import deApp from './de/app.ts';
import deOperator from './de/operator.ts';
import deShared from './de/shared.ts';
import deSignIn from './de/sign-in.ts';
import frApp from './fr/app.ts';
import frOperator from './fr/operator.ts';
import frShared from './fr/shared.ts';
import frSignIn from './fr/sign-in.ts';

/** All texts, for the server. */
export const everyLanguage = {
  en: { ...enApp, ...enOperator, ...enShared, ...enSignIn },
  de: { ...deApp, ...deOperator, ...deShared, ...deSignIn },
  fr: { ...frApp, ...frOperator, ...frShared, ...frSignIn },
};
