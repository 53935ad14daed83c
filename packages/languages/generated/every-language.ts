// Written by `npm run languages` from the files of the languages.
import enApi from './en/api.ts';
import enApp from './en/app.ts';
import enMail from './en/mail.ts';
import enOperator from './en/operator.ts';
import enShared from './en/shared.ts';
import enSignIn from './en/sign-in.ts';
import deApi from './de/api.ts';
import deApp from './de/app.ts';
import deMail from './de/mail.ts';
import deOperator from './de/operator.ts';
import deShared from './de/shared.ts';
import deSignIn from './de/sign-in.ts';
import frApi from './fr/api.ts';
import frApp from './fr/app.ts';
import frMail from './fr/mail.ts';
import frOperator from './fr/operator.ts';
import frShared from './fr/shared.ts';
import frSignIn from './fr/sign-in.ts';

/** All texts, for the server. */
export const everyLanguage = {
  en: { ...enApi, ...enApp, ...enMail, ...enOperator, ...enShared, ...enSignIn },
  de: { ...deApi, ...deApp, ...deMail, ...deOperator, ...deShared, ...deSignIn },
  fr: { ...frApi, ...frApp, ...frMail, ...frOperator, ...frShared, ...frSignIn },
};
