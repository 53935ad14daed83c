import { describe, expect, it } from 'vitest';
import { parseConfig } from '../config.ts';
import { readableTextColour } from './readable-text-colour.ts';
import { verificationMail } from './verification-message.ts';

const hostile = 'Larch & <b>Sons</b> "Ltd"';

function mailOf(environment: Record<string, string>, purpose: 'sign-up' | 'change-address' = 'sign-up') {
  const { service } = parseConfig(environment);
  const link = 'https://id.company.example/verify?token=abc';
  const to = 'somebody@company.example';
  return verificationMail({ to, purpose, link, lifetimeSeconds: 3600, service });
}

describe('the one mail', () => {
  it('carries the company’s name, picture, colour, product and help address', () => {
    const { subject, text, html } = mailOf({
      SERVICE_NAME: 'Larch',
      SERVICE_LOGO: 'https://cdn.company.example/logo.png?a=1&b=2',
      SERVICE_URL: 'https://app.company.example/',
      BRAND_COLOR: '#0a6c6c',
      SUPPORT_EMAIL: 'help@company.example',
    });
    expect(subject).toBe('Confirm your e-mail for Larch');
    expect(text).toContain('help@company.example');
    expect(html).toContain('<img src="https://cdn.company.example/logo.png?a=1&amp;b=2"');
    expect(html).toContain('href="https://app.company.example/"');
    expect(html).toContain('background:#0a6c6c;color:#ffffff');
    expect(text).toContain('The link works once, within an hour.');
    expect(`${subject}${text}${html}`).not.toContain('Gatehouse');
  });

  it.each(['sign-up', 'change-address'] as const)('for a %s writes no markup that somebody else chose', (purpose) => {
    const { html } = mailOf({ SERVICE_NAME: hostile }, purpose);
    expect(html).toContain('Larch &amp; &lt;b&gt;Sons&lt;/b&gt; &quot;Ltd&quot;');
    expect(html).not.toMatch(/<[bi]>/);
  });

  it.each([
    ['#fff6c2', '#000000'],
    ['#0b0b10', '#ffffff'],
    ['#fff', '#000000'],
    ['#00605f', '#ffffff'],
    ['#ffff00', '#000000'],
    ['#0000ff', '#ffffff'],
  ])('writes on %s in %s', (colour, ink) => {
    expect(readableTextColour(colour)).toBe(ink);
    expect(mailOf({ BRAND_COLOR: colour }).html).toContain(`background:${colour};color:${ink}`);
  });
});
