import { AppError, type ErrorCode, errorCodes, invalid } from '@gatehouse/api/platform/errors';
import { message } from '@gatehouse/api/platform/messages';
import { afterEach, describe, expect, it } from 'vitest';
import { type Language, readLanguageFrom } from '#lib/language/language.ts';
import { texts } from '#lib/language/texts.ts';
import { pageErrorOf, sentenceOf } from './page-error.ts';

afterEach(() => readLanguageFrom(() => 'en'));

function sentence(language: Language, ...said: Parameters<typeof sentenceOf>): string {
  readLanguageFrom(() => language);
  return sentenceOf(...said);
}

describe('errors on pages', () => {
  it('are written in the language of the request, with their values', () => {
    const tooShort = message('password_too_short', { minimum: 8 });
    expect(sentence('en', tooShort, 'VALIDATION')).toBe('Use at least 8 characters.');
    expect(sentence('de', tooShort, 'VALIDATION')).toBe('Verwenden Sie mindestens 8 Zeichen.');
    expect(sentence('fr', tooShort, 'VALIDATION')).toBe('Utilisez au moins 8 caractères.');
    const belongs = message('belongs_to', { organisation: 'Larch $& {Sons}' });
    expect(sentence('de', belongs, 'VALIDATION')).toBe('Sie gehören schon zu Larch $& {Sons}.');
  });

  it('name a limit of the known meters in the language, and of others by their name', () => {
    const limit = (meter: string, count: number, name: string, resets = 'none') =>
      message('plan_limit', { plan: 'Free', limit: count, meter, name, resets });
    expect(sentence('en', limit('members', 1, 'member'), 'FORBIDDEN')).toBe('The Free plan allows 1 member.');
    expect(sentence('de', limit('members', 1, 'member'), 'FORBIDDEN')).toBe('Der Tarif Free erlaubt 1 Mitglied.');
    expect(sentence('fr', limit('members', 3, 'members'), 'FORBIDDEN')).toBe('Le forfait Free autorise 3 membres.');
    const calls = limit('api_calls', 1000, 'API calls', 'calendar_month');
    expect(sentence('en', calls, 'LIMIT_REACHED')).toBe('The Free plan allows 1,000 API calls a month.');
    expect(sentence('de', calls, 'LIMIT_REACHED')).toBe('Der Tarif Free erlaubt 1.000 API-Aufrufe pro Monat.');
    expect(sentence('de', limit('seats', 2, 'seats'), 'FORBIDDEN')).toBe('Der Tarif Free erlaubt 2 seats.');
  });

  it('have a text of their own where the sentence for programs is fixed', () => {
    const said = (language: Language) => {
      readLanguageFrom(() => language);
      const pageText = message('account_in_no_organisation');
      return pageErrorOf(new AppError('NO_ORGANISATION', message('account_without_organisation'), { pageText })).body;
    };
    expect(said('en').error).toBe('This account isn’t in an organisation.');
    expect(said('fr').error).toBe('Ce compte n’appartient à aucune organisation.');
    expect(new AppError('NO_ORGANISATION', message('account_without_organisation')).message).toBe(
      'This account is not scoped to an organisation.',
    );
  });

  it('join a list as the language does', () => {
    const plans = message('choose_paid_plan', { plans: { any: ['Silver', 'Gold'] } });
    expect(sentence('en', plans, 'VALIDATION')).toBe('Choose the Silver or Gold plan.');
    expect(sentence('de', plans, 'VALIDATION')).toBe('Wählen Sie den Tarif Silver oder Gold.');
    const failed = message('plans_not_cancelled', {
      count: 2,
      plans: { all: ['Silver', 'Gold'] },
      others: 'done',
      advice: 'wait',
    });
    expect(sentence('en', failed, 'PROVIDER_UNAVAILABLE')).toBe(
      'The Silver and Gold plans could not be cancelled. Everything else was. Try again in a moment.',
    );
    expect(sentence('fr', failed, 'PROVIDER_UNAVAILABLE')).toMatch(/^Non résiliés\s: Silver et Gold\. Tous les autres/);
  });

  it('keep code, facts and fields of the answer, each field in the language', () => {
    readLanguageFrom(() => 'de');
    const thrown = invalid({ password: message('enter_password'), body: 'Invalid input' });
    expect(pageErrorOf(new Error('from the router', { cause: thrown }))).toEqual({
      status: 400,
      body: {
        error: 'Geben Sie Ihr Passwort ein.',
        code: 'VALIDATION',
        fields: { password: 'Geben Sie Ihr Passwort ein.', body: 'Diese Angabe ist nicht gültig.' },
      },
    });
    const limit = new AppError('LIMIT_REACHED', 'For programs.', { facts: { used: 3 } });
    expect(pageErrorOf(limit).body).toMatchObject({ error: 'Das Limit Ihres Tarifs ist erreicht.', used: 3 });
  });

  const codes = Object.keys(errorCodes) as ErrorCode[];
  it.each(codes)('have a general text for %s or for the first code of its status, and leave an English one', (code) => {
    const [first = code] = codes.filter((each) => errorCodes[each].status === errorCodes[code].status);
    expect(sentence('en', 'For programs.', code)).toBe('For programs.');
    for (const language of ['de', 'fr'] as const) {
      const written = sentence(language, 'For programs.', code);
      const general: Partial<Record<ErrorCode, string>> = texts('apiErrorOf');
      expect(general[first]).toEqual(expect.any(String));
      expect(written).toBe(general[code] ?? general[first]);
    }
  });
});
