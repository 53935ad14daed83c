import type { Tone } from '#lib/format/tone.ts';
import { texts } from '#lib/language/texts.ts';

type Evidence = Awaited<ReturnType<App.Locals['api']['operators']['queue']>>['waiting'][number]['evidence'][number];

/** The badge of a fact about an owner. */
export function evidenceText(evidence: Evidence): { tone: Tone; text: string } {
  const t = texts('evidence');
  switch (evidence.code) {
    case 'joined_nothing':
      return { tone: 'warn', text: t.joinedNothing };
    case 'identity_provider':
      return { tone: 'good', text: t.identityProvider };
    case 'other_organisations':
      return { tone: 'good', text: t.otherOrganisations({ count: evidence.count }) };
    case 'mail_opened':
      return { tone: 'plain', text: t.confirmedIn({ duration: durationText(evidence.after_seconds) }) };
    case 'same_browser':
      return { tone: 'good', text: t.sameBrowser };
    case 'another_browser':
      return { tone: 'warn', text: t.differentBrowser };
    case 'same_domain': {
      const { count, more, domain } = evidence;
      return { tone: 'plain', text: t.sameDomain({ count, digits: `${count}${more ? '+' : ''}`, domain }) };
    }
  }
}

/**
 * "1 second", "119 seconds", "2 minutes", "2 hours": precise where a short time distinguishes a person from a program.
 */
function durationText(secondsPassed: number): string {
  const t = texts('evidence');
  const seconds = Math.max(1, secondsPassed);
  if (seconds < 120) return t.seconds({ count: seconds });
  if (seconds < 7200) return t.minutes({ count: Math.round(seconds / 60) });
  return t.hours({ count: Math.round(seconds / 3600) });
}
