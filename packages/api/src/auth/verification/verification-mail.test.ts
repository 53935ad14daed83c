import type { Language } from '@gatehouse/languages/generated/languages';
import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../platform/config.ts';
import { readableTextColour } from '../../platform/mail/layout.ts';
import { textsIn } from '../../platform/texts.ts';
import { type Purpose, verificationMail } from './verification-mail.ts';

const nameWithMarkup = 'Larch & <b>Sons</b> "Ltd"';

function mailOf(environment: Record<string, string>, purpose: Purpose = 'sign-up', language: Language = 'en') {
  const { service } = parseConfig(environment);
  const url = 'https://id.company.example/verify?token=abc';
  return verificationMail(service, { to: 'jane@company.example', language, purpose, url, lifetimeSeconds: 3600 });
}

describe('the verification mail', () => {
  it('carries the company’s name, logo, colour, product and support address', () => {
    const { subject, text, html } = mailOf({
      SERVICE_NAME: 'Larch',
      SERVICE_LOGO: 'https://cdn.company.example/logo.png?a=1&b=2',
      SERVICE_URL: 'https://app.company.example/',
      BRAND_COLOR: '#0a6c6c',
      SUPPORT_EMAIL: 'help@company.example',
    });
    expect(subject).toBe('Your link for Larch');
    expect(text).toContain('help@company.example');
    expect(html).toContain('Write to help@company.example.');
    expect(html).toContain('<img src="https://cdn.company.example/logo.png?a=1&amp;b=2"');
    expect(html).toContain('href="https://app.company.example/"');
    expect(html).toContain('background:#0a6c6c;color:#ffffff');
    expect(text).toContain('The link works once, within an hour.');
    expect(`${subject}${text}${html}`).not.toContain('Gatehouse');
  });

  it.each([
    ['de', 'Ihr Link für Larch', 'Der Link funktioniert einmal, innerhalb einer Stunde.'],
    ['fr', 'Votre lien pour Larch', 'Le lien ne fonctionne qu’une fois, dans un délai d’une heure.'],
  ] as const)(
    'is written in the language of the request, %s, with nothing of another language',
    (language, about, once) => {
      const { subject, text, html } = mailOf(
        { SERVICE_NAME: 'Larch', SUPPORT_EMAIL: 'help@company.example' },
        'sign-up',
        language,
      );
      expect(subject).toBe(about);
      expect(text).toContain(once);
      expect(html).toContain(`<html lang="${language}">`);
      const en = { ...textsIn('en', 'verificationMail'), ...textsIn('en', 'mail') };
      const english = [
        en.confirm,
        ...Object.values(en.confirmIt),
        en.ignore,
        en.copyLink,
        en.support({ address: 'help@company.example' }),
      ];
      for (const sentence of english) expect(`${subject}${text}${html}`).not.toContain(sentence);
    },
  );

  it('has one text for every link, and a sentence of its own for a change of address', () => {
    expect(mailOf({}, 'sign-up').text).toContain("Confirm it's yours:");
    for (const language of ['en', 'de', 'fr'] as const) {
      expect(mailOf({}, 'lost-password', language)).toEqual(mailOf({}, 'sign-up', language));
    }
    expect(mailOf({}, 'change-address').text).toContain('to sign in with it from now on');
    expect(mailOf({}, 'change-address').subject).toBe('Your link for Gatehouse');
  });

  it.each(['sign-up', 'change-address', 'lost-password'] as const)(
    'escapes the service name in the mail for a %s',
    (purpose) => {
      const { html } = mailOf({ SERVICE_NAME: nameWithMarkup }, purpose);
      expect(html).toContain('Larch &amp; &lt;b&gt;Sons&lt;/b&gt; &quot;Ltd&quot;');
      expect(html).not.toMatch(/<[bi]>/);
    },
  );

  it.each([
    ['#fff6c2', '#000000'],
    ['#0b0b10', '#ffffff'],
    ['#fff', '#000000'],
    ['#00605f', '#ffffff'],
    ['#ffff00', '#000000'],
    ['#0000ff', '#ffffff'],
  ])('writes the button on %s in %s', (background, textColour) => {
    expect(readableTextColour(background)).toBe(textColour);
    expect(mailOf({ BRAND_COLOR: background }).html).toContain(`background:${background};color:${textColour}`);
  });
});
