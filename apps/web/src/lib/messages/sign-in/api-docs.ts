import { texts } from '#lib/language/texts.ts';

/** What /api/docs says beside the descriptions of the OpenAPI document, which are English. */
export const apiDocsTexts = texts({
  en: {
    inEnglish: '',
    document: 'OpenAPI 3.1 document',
    endpoints: 'Endpoints',
    access: { public: 'For anyone.', session: 'For a session.', key: 'For an API key.' },
    sessionOrKey: 'For a session or an API key.',
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
    access: { public: 'Für alle.', session: 'Für eine Sitzung.', key: 'Für einen API-Schlüssel.' },
    sessionOrKey: 'Für eine Sitzung oder einen API-Schlüssel.',
    parameters: 'Parameter',
    body: 'Inhalt',
    answer: 'Antwort',
    errors: 'Fehler',
    optional: ', optional',
  },
});
