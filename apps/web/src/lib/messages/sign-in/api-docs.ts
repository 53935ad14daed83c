import { texts } from '#lib/language/texts.ts';

/** What /api/docs says beside the descriptions of the OpenAPI document, which are English. */
export const apiDocsTexts = texts({
  en: {
    inEnglish: '',
    document: 'OpenAPI 3.1 document',
    endpoints: 'Endpoints',
    access: { public: 'anyone', session: 'a session', shared: 'the shared cookie', key: 'an API key' },
    accessFor: (callers: string) => `For ${callers}.`,
    or: 'or',
    parameters: 'Parameters',
    body: 'Body',
    answer: 'Answer',
    errors: 'Errors',
    optional: ', optional',
  },
  de: {
    inEnglish: 'Die API und ihre Beschreibung sind englisch.',
    document: 'Dokument nach OpenAPI 3.1',
    endpoints: 'Endpunkte',
    access: { public: 'alle', session: 'eine Sitzung', shared: 'das geteilte Cookie', key: 'einen API-Schlüssel' },
    accessFor: (callers) => `Für ${callers}.`,
    or: 'oder',
    parameters: 'Parameter',
    body: 'Inhalt',
    answer: 'Antwort',
    errors: 'Fehler',
    optional: ', optional',
  },
});
