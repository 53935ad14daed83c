import type { Tone } from '#lib/format/tone.ts';

type Evidence = Awaited<ReturnType<App.Locals['api']['operators']['queue']>>['waiting'][number]['evidence'][number];

/** The badge of a fact about an owner. */
export function evidenceText(evidence: Evidence): { tone: Tone; text: string } {
  switch (evidence.code) {
    case 'joined_nothing':
      return { tone: 'warn', text: 'Invited, joined nothing' };
    case 'identity_provider':
      return { tone: 'good', text: 'Signed in through the identity provider' };
    case 'mail_opened':
      return { tone: 'plain', text: `Confirmed in ${durationText(evidence.after_seconds)}` };
    case 'same_browser':
      return { tone: 'good', text: 'Same browser' };
    case 'another_browser':
      return { tone: 'warn', text: 'Different browser' };
    case 'same_domain':
      return { tone: 'plain', text: sameDomainText(evidence) };
  }
}

/** "One other account at company.example", "100+ other accounts at mail.example" */
function sameDomainText({ count, more, domain }: Extract<Evidence, { code: 'same_domain' }>): string {
  return count === 1 ? `One other account at ${domain}` : `${count}${more ? '+' : ''} other accounts at ${domain}`;
}

/** "1 second", "119 seconds", "2 minutes", "2 hours": precise where a short time tells a person from a program. */
function durationText(secondsPassed: number): string {
  const seconds = Math.max(1, secondsPassed);
  if (seconds < 120) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} minutes`;
  return `${Math.round(seconds / 3600)} hours`;
}
